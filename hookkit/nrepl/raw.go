package nrepl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// ErrNeedsInput says that code which reads standard input was sent without a
// session: it cannot be given any, nor told that there is none.
var ErrNeedsInput = errors.New("the code reads standard input, and without a session it cannot be given any")

// Raw sends a message as it is and gives the handler all messages of the answer,
// the one with "done" included. Without an id it gets one. What the status says
// is the caller's to judge: an error of the server is no error here. The message
// may hold strings, int, int64, []any and map[string]any.
//
// When the context ends first nothing is interrupted; the connection is closed.
// Code that reads standard input finds it at its end where the message has a
// session, else Raw ends with ErrNeedsInput and closes the connection.
func (c *Conn) Raw(ctx context.Context, m Message, h Handler) error {
	request := maps.Clone(m)
	if request == nil {
		request = Message{}
	}
	if _, given := request["id"]; !given {
		request["id"] = c.nextID()
	}
	op, start := "raw "+request.Text("op"), time.Now()
	ctx, cancel := withTimeout(ctx, evalTimeout)
	defer cancel()
	release, err := c.begin(ctx, op, start)
	if err != nil {
		return err
	}
	defer release()
	if _, err = appendDict(nil, request); err != nil {
		return err
	}
	if err = c.send(ctx, request); err == nil {
		defer guard(ctx, c.nc.SetReadDeadline)()
		err = c.await(request, h)
	}
	if errors.Is(err, ErrNeedsInput) {
		_ = c.end(err, false) // the sessions that we have can be closed
		return err
	}
	if err != nil {
		return c.fail(ctx, op, start, err)
	}
	return nil
}

// await reads the answer to a message of Raw.
func (c *Conn) await(request Message, h Handler) error {
	id := fmt.Sprint(request["id"]) // let-go sends an integer back as text
	for {
		m, err := c.receive()
		if err != nil {
			return err
		}
		if fmt.Sprint(m["id"]) != id {
			continue
		}
		if h != nil {
			h(m)
		}
		status := m.Status()
		if status["done"] {
			return nil
		}
		if status["need-input"] {
			s := Session{conn: c, id: request.Text("session")}
			if s.id == "" {
				return ErrNeedsInput
			}
			if err = s.Stdin(""); err != nil {
				return err
			}
		}
	}
}
