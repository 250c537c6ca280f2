package stop

import (
	"context"
	"fmt"
	"io"

	"github.com/hookkit/brepl/hookkit/nrepl"
)

// liveREPL evaluates in the server that Lookup finds, each hook in a session and connection of its own:
// what one hook leaves behind in *ns* or *1 does not reach the next.
type liveREPL struct {
	lookup nrepl.Lookup
	warn   func(line string) // nil: nobody to tell
}

// Eval implements [Evaluator].
func (l liveREPL) Eval(ctx context.Context, code string, out io.Writer) (nrepl.Result, error) {
	conn, err := nrepl.Connect(ctx, l.lookup)
	if err != nil {
		return nrepl.Result{}, err
	}
	defer func() { _ = conn.Close() }()
	for _, place := range conn.PassedOver() {
		_, _ = fmt.Fprintf(out, "brepl passed over %s\n", place)
		if l.warn != nil {
			l.warn("passed over " + place)
		}
	}
	session, err := conn.Clone(ctx)
	if err != nil {
		return nrepl.Result{}, err
	}
	defer func() { _ = session.Close() }() // sent, the answer is not awaited
	return session.Eval(ctx, nrepl.Request{Code: code}, func(m nrepl.Message) {
		for _, key := range [...]string{"out", "err"} {
			_, _ = io.WriteString(out, m.Text(key)) // keeps what it can; never fails
		}
		if value := m.Text("value"); value != "" && value != "nil" {
			_, _ = fmt.Fprintf(out, "=> %s\n", value)
		}
	})
}
