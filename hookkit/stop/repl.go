package stop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/reload"
)

// liveREPL evaluates in the server that Lookup finds, each hook in a session and connection of its own:
// what one hook leaves behind in *ns* or *1 does not reach the next.
type liveREPL struct {
	lookup nrepl.Lookup
	warn   func(line string) // nil: nobody to tell
	grace  time.Duration     // how long code may take to end after an interrupt; 0: the client's default
	files  reload.Options    // for bringing the server in step with the files

	used []*nrepl.Conn // whose sessions are closed, but not confirmed
}

// session opens a session in a server that is in step with the project's files, and writes to out where it looked in vain, and what does not
// load. Closing it is sent; leave waits for the answer.
func (l *liveREPL) session(ctx context.Context, out io.Writer) (*nrepl.Session, error) {
	conn, err := nrepl.Connect(ctx, l.lookup)
	if err != nil {
		return nil, err
	}
	l.used = append(l.used, conn)
	conn.Limits.Grace, conn.Limits.Linger = l.grace, nrepl.FarewellTime
	for _, place := range conn.PassedOver() {
		_, _ = fmt.Fprintf(out, "brepl passed over %s\n", place)
		if l.warn != nil {
			l.warn("passed over " + place)
		}
	}
	session, err := conn.Clone(ctx)
	if err != nil {
		return nil, err
	}
	report, err := reload.Step(ctx, session, l.lookup.Dir, l.files)
	if err == nil {
		err = report.Err()
	}
	if broken, ok := errors.AsType[*reload.Error](err); ok {
		_, _ = fmt.Fprintln(out, broken.Text())
	}
	if err != nil {
		_ = session.Close()
		return nil, err
	}
	return session, nil
}

// Eval implements [Evaluator].
func (l *liveREPL) Eval(ctx context.Context, code string, out io.Writer) (nrepl.Result, error) {
	session, err := l.session(ctx, out)
	if err != nil {
		return nrepl.Result{}, err
	}
	defer func() { _ = session.Close() }()
	atStart := true // of a line
	return session.Eval(ctx, nrepl.Request{Code: code}, func(m nrepl.Message) {
		for _, key := range [...]string{"out", "err"} {
			if text := m.Text(key); text != "" {
				_, _ = io.WriteString(out, text) // keeps what it can; never fails
				atStart = strings.HasSuffix(text, "\n")
			}
		}
		if value := m.Text("value"); value != "" && value != "nil" {
			if !atStart {
				value = "\n=> " + value
			} else {
				value = "=> " + value
			}
			_, _ = fmt.Fprintln(out, value)
			atStart = true
		}
	})
}

// leave closes the connections when the servers have confirmed that our sessions are closed, after nrepl.FarewellTime at the latest. It is
// called when the verdict is written, which must not wait for it.
func (l *liveREPL) leave() {
	var all sync.WaitGroup
	for _, conn := range l.used {
		all.Go(func() { _ = conn.Close() }) // there is nothing left to tell
	}
	all.Wait()
	l.used = nil
}
