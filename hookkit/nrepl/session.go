package nrepl

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Session is a session of our own in the server, made by Conn.Clone.
type Session struct {
	conn *Conn
	id   string
}

// ID returns the server's name for the session.
func (s *Session) ID() string { return s.id }

// Request is code to evaluate.
type Request struct {
	Code string
	// Ns is the namespace to evaluate in; empty: the session's current one.
	// babashka.nrepl and the JVM fail if it does not exist, others ignore it.
	Ns string
	// File, Line and Column (from 1) say where Code stands, for the positions
	// in compile errors. Only the JVM uses Line and Column.
	File         string
	Line, Column int
	// PrintQuota asks the server to stop printing a value after so many
	// characters, so that an endless one does not fill its memory; 0: no
	// limit. nbb and let-go ignore it. Status then has
	// "nrepl.middleware.print/truncated".
	PrintQuota int
	// Input is asked for text when the code reads standard input.
	Input Input
}

// Input gives code that reads standard input the next text: usually a line with
// its line feed. "" or an error is the end of the input. It runs on a goroutine
// of its own, while the evaluation's messages go on to arrive, and must return
// when its context ends, which it does with the evaluation. A nil Input is at
// its end.
type Input func(ctx context.Context) (text string, err error)

// LoadRequest is a file to load.
type LoadRequest struct {
	// Content is what is loaded: the server need not find the file.
	Content string
	// Path is where the file is for the server, Name its last element. Both are
	// for positions in errors and for metadata.
	Path, Name string
	// PrintQuota is that of Request, for the value.
	PrintQuota int
	// Input is asked for text when the code reads standard input.
	Input Input
}

const quotaKey = "nrepl.middleware.print/quota"

// Handler is given each message of an evaluation as it arrives, the last one
// included. It runs on the goroutine that called Eval, which reads nothing
// until it returns.
type Handler func(Message)

// Eval evaluates all forms of the request, in order, and returns when the
// server says "done". The handler may be nil.
//
// An exception is no error: it is in the Result. The errors are *TimeoutError,
// ErrClosed and *ProtocolError; the Result then holds what had arrived.
//
// When the context ends first, the server is sent an interrupt and has
// Limits.Grace to confirm it. Then the session and the connection are closed.
//
// Code that reads standard input is given what Request.Input returns, unless
// Stdin was called before.
func (s *Session) Eval(ctx context.Context, r Request, h Handler) (Result, error) {
	request := map[string]any{"op": "eval", "code": r.Code}
	for key, value := range map[string]string{"ns": r.Ns, "file": r.File} {
		if value != "" {
			request[key] = value
		}
	}
	// Always integers: nREPL on the JVM never answers a line of "100".
	for key, value := range map[string]int{"line": r.Line, "column": r.Column, quotaKey: r.PrintQuota} {
		if value > 0 {
			request[key] = value
		}
	}
	return s.eval(ctx, request, r.Input, h)
}

// LoadFile evaluates a file. The JVM gives one value, that of the last form.
// Otherwise like Eval.
func (s *Session) LoadFile(ctx context.Context, r LoadRequest, h Handler) (Result, error) {
	request := map[string]any{"op": "load-file", "file": r.Content, "file-path": r.Path, "file-name": r.Name}
	if r.PrintQuota > 0 {
		request[quotaKey] = r.PrintQuota
	}
	return s.eval(ctx, request, r.Input, h)
}

func (s *Session) eval(ctx context.Context, request map[string]any, input Input, h Handler) (Result, error) {
	c := s.conn
	op := Message(request).Text("op")
	start := time.Now()
	limits := c.Limits.withDefaults()
	all := newCollector(limits)
	ctx, cancel := withTimeout(ctx, evalTimeout)
	defer cancel()
	release, err := c.begin(ctx, op, start)
	if err != nil {
		return all.finish(), err
	}
	defer release()

	id, interruptID := c.nextID(), c.nextID()
	request["id"], request["session"] = id, s.id
	if err = c.send(ctx, request); err != nil {
		return all.finish(), c.fail(ctx, op, start, err)
	}

	// From here on the end of the context does not end the reading, which would
	// lose our place in the stream: it interrupts the evaluation, and reading
	// goes on until that has an effect or the grace is over.
	_ = c.nc.SetReadDeadline(time.Time{}) // a closed connection says so when read
	interrupted := make(chan struct{})
	var after time.Duration
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		after = time.Since(start)
		_ = c.nc.SetReadDeadline(time.Now().Add(limits.Grace))
		// If it cannot be sent, no answer comes, and the read deadline is near.
		_ = s.interrupt(interruptID, id)
	})
	asker := s.asker(ctx, input)
	err = s.await(id, interruptID, asker.ask, h, all)
	asker.end()
	if stop() {
		if err != nil {
			err = c.fail(ctx, op, start, err)
		}
		return all.finish(), err
	}
	<-interrupted
	stopped := err == nil
	err = &TimeoutError{Op: op, Addr: c.addr, After: after, Stopped: stopped, cause: ctx.Err()}
	_ = c.end(err, stopped)
	return all.finish(), err
}

// errNoInterrupt ends the wait for an evaluation that cannot be stopped.
var errNoInterrupt = errors.New("the server does not know the op interrupt")

// await reads until the evaluation id is done, and gives its messages to the
// handler and the collector. ask is called when the code reads input.
func (s *Session) await(id, interruptID string, ask func() error, h Handler, all *collector) error {
	for {
		m, err := s.conn.receive()
		if err != nil {
			return err
		}
		status := m.Status()
		switch m.Text("id") {
		case id:
		case interruptID:
			if status["unknown-op"] {
				return errNoInterrupt
			}
			continue
		default: // late output of an earlier evaluation, an answer not waited for
			continue
		}
		if h != nil {
			h(m)
		}
		all.add(m)
		if status["done"] {
			return nil
		}
		if status["need-input"] {
			if err = ask(); err != nil {
				return err
			}
		}
	}
}

// Interrupt asks the server to stop what this session evaluates. It is sent,
// not awaited: a running Eval returns when the server confirms it, with
// Result.Interrupted. babashka.nrepl, nbb and let-go cannot interrupt.
func (s *Session) Interrupt() error {
	return s.interrupt(s.conn.nextID(), "")
}

func (s *Session) interrupt(id, evalID string) error {
	request := map[string]any{"op": "interrupt", "session": s.id, "id": id}
	if evalID != "" {
		request["interrupt-id"] = evalID
	}
	return s.tell(request)
}

// Stdin gives text to code in this session that reads standard input, now or
// later; "" is its end. It is sent, not awaited.
func (s *Session) Stdin(text string) error {
	return s.tell(map[string]any{"op": "stdin", "session": s.id, "stdin": text, "id": s.conn.nextID()})
}

// Close tells the server that the session is no longer needed. It is sent, not
// awaited: nREPL 1.0 takes 100 ms to answer. Closing twice is fine.
func (s *Session) Close() error {
	c := s.conn
	c.mu.Lock()
	i := slices.Index(c.sessions, s)
	if i >= 0 {
		c.sessions = slices.Delete(c.sessions, i, i+1)
	}
	gone := i < 0 || c.dead != nil
	c.mu.Unlock()
	if gone {
		return nil
	}
	id := c.nextID()
	if err := s.tell(map[string]any{"op": "close", "session": s.id, "id": id}); err != nil {
		return err
	}
	c.mu.Lock()
	c.closing = append(c.closing, id)
	c.mu.Unlock()
	return nil
}

// tell sends a request whose answer nobody waits for. It comes with an id that
// no call waits for, and is passed over.
func (s *Session) tell(request map[string]any) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.conn.Limits.withDefaults().Grace)
	defer cancel()
	return s.conn.send(ctx, request)
}
