package client

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/failure"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// Text on stderr is held back only until it is known to be no report of an exception.
func TestHeldText(t *testing.T) {
	const theirs = "Execution error (ArithmeticException) at user/eval1 (REPL:1).\nDivide by zero\n"
	threw := nrepl.Message{"ex": "class java.lang.ArithmeticException", "status": []any{"eval-error"}}
	told := &failure.Failure{Class: "java.lang.ArithmeticException", Message: "Divide by zero"}
	ours := told.Text(nil)
	for _, tt := range []struct {
		name     string
		messages []nrepl.Message
		wait     time.Duration
		before   string // on stderr before the evaluation ends
		after    string
		told     *failure.Failure
	}{
		{"a warning while the code runs", []nrepl.Message{{"err": "warn\n"}}, heldTime, "warn\n", "warn\n", nil},
		{"it comes before what follows on stdout", []nrepl.Message{{"err": "warn\n"}, {"out": "x\n"}}, 0, "warn\n", "warn\n", nil},
		{"a report at the end", []nrepl.Message{{"err": theirs}, threw}, heldTime, "", ours, told},
		{"a report in pieces", []nrepl.Message{{"err": theirs[:30]}, {"err": theirs[30:]}, threw}, heldTime, "", ours, told},
		{"a warning before it", []nrepl.Message{{"err": "warn\n"}, {"err": theirs}, threw}, heldTime, "", "warn\n" + ours, told},
		{"a report, and the code goes on for long", []nrepl.Message{{"err": theirs}, threw}, reportTime, theirs, theirs + ours, told},
		{"a report, and another form has a value", []nrepl.Message{{"err": theirs}, threw, {"value": "3", "ns": "user"}}, 0, theirs, theirs + ours, told},
		{"two reports", []nrepl.Message{{"err": theirs}, threw, {"err": theirs}, threw}, 0, theirs, theirs + ours, told},
		{"babashka's", []nrepl.Message{{"err": "java.lang.ArithmeticException: Divide by zero user REPL:1:1\n"}, threw}, 0, "", ours, told},
		{"one that reads like none", []nrepl.Message{{"err": "mine\n"}, {"err": "oh: Divide by zero\n"}, threw}, 0, "", "mine\n" + ours, told},
		{"nothing but the exception", []nrepl.Message{threw}, 0, "", ours, told},
		{"interrupted", []nrepl.Message{{"err": "mine\n"}, {"err": "Execution error (InterruptedException) at a.\n"}, threw}, 0, "", "mine\n", nil},
		{"a report, and the server goes away", []nrepl.Message{{"err": theirs}, threw}, 0, "", theirs, nil},
		{"what somebody printed, and an exception without a report", []nrepl.Message{{"err": "mine\n"}, threw}, 0, "", "mine\n" + ours, told},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, err bytes.Buffer
				p := newPrinter(&cli.Program{Name: "brepl", Stdout: &out, Stderr: &err}, nil)
				for _, m := range tt.messages {
					p.message(m)
				}
				time.Sleep(tt.wait)
				synctest.Wait()
				assert.Equal(t, err.String(), tt.before)
				p.message(nrepl.Message{"status": []any{"done"}})
				var r *report
				if tt.told != nil {
					r = &report{tt.told}
				}
				p.finish(r, tt.name == "interrupted")
				assert.Equal(t, err.String(), tt.after)
			})
		})
	}
}
