package lab

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// Every request and every answer of the format, as a client gets them.
func TestREPLAnswers(t *testing.T) {
	script, err := parseREPL("s.repl", `# a comment
preset jvm-1.0.0
eval (run-tests)
  out Testing a
  err "no newline"
  delay 20ms
  value {:fail 1}
contains (/ 1
  exception java.lang.ArithmeticException "Divide by zero"
eval "(prn\n 1)"
  value 1
  value 2
any
  value :anything
`)
	assert.NilError(t, err)
	server := fakes.NewNREPL(t, script.options...)
	for _, answer := range script.answers {
		answer(server)
	}
	conn, err := nrepl.Connect(t.Context(), nrepl.Lookup{Port: server.Port(), Host: server.Host(), Getenv: func(string) string { return "" }})
	assert.NilError(t, err)
	session, err := conn.Clone(t.Context())
	assert.NilError(t, err)
	eval := func(code string) nrepl.Result {
		result, err := session.Eval(t.Context(), nrepl.Request{Code: code}, nil)
		assert.NilError(t, err)
		return result
	}
	for range 2 { // any number of times
		began := time.Now()
		r := eval("(run-tests)")
		assert.DeepEqual(t, r.Values, []string{"{:fail 1}"})
		assert.Equal(t, r.Out.Text, "Testing a\n")
		assert.Equal(t, r.Err.Text, "no newline")
		assert.Assert(t, time.Since(began) >= 20*time.Millisecond)
	}
	r := eval("(/ 1 0)")
	assert.Assert(t, r.Failed)
	assert.Assert(t, strings.Contains(r.Ex, "ArithmeticException"), r.Ex)
	assert.DeepEqual(t, eval("(prn\n 1)").Values, []string{"1", "2"})
	assert.DeepEqual(t, eval("(+ 1 2)").Values, []string{":anything"})
	assert.NilError(t, session.Close())
	assert.NilError(t, conn.Close())
}
