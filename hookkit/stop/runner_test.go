package stop

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/proc"
)

func bashRunner(t *testing.T) *Runner {
	t.Helper()
	return &Runner{Dir: t.TempDir(), Env: os.Environ(), Grace: 100 * time.Millisecond}
}

func TestRunBash(t *testing.T) {
	r := bashRunner(t)
	assert.NilError(t, os.WriteFile(filepath.Join(r.Dir, "plain.txt"), []byte("no program"), 0o600))
	for _, row := range []struct {
		title, command string
		kind           Kind
		why, output    string
	}{
		{"passes", "echo hello", Passed, "", "hello"},
		{"fails", "echo out; echo err >&2; exit 3", Failed, "exit 3", "out\nerr"},
		{"stdin is empty", "cat; exit 1", Failed, "exit 1", ""},
		{"killed", "kill -KILL $$", Failed, "killed by SIGKILL", ""},
		{"fault 30: 75 means not now", "exit 75", CannotRun, "it says that it cannot run now (exit 75)", ""},
		{"fault 30: the command is missing", "no-such-command --x", CannotRun, "the command no-such-command was not found or cannot be executed", "bash: line 1: no-such-command: command not found"},
		{"fault 30: missing after an assignment", "A=1 no-such-command", CannotRun, "the command no-such-command was not found or cannot be executed", "bash: line 1: no-such-command: command not found"},
		{"fault 30: it exists and exits with 127 itself", "exit 127", Failed, "exit 127", ""},
		{"fault 30: something within it is missing", "true && no-such-command", Failed, "exit 127", "bash: line 1: no-such-command: command not found"},
		{"fault 30: a path that is no program", "./plain.txt", CannotRun, "the command ./plain.txt was not found or cannot be executed", "bash: line 1: ./plain.txt: Permission denied"},
		{"fault 30: 137 is a signal's code", "exit 137", Failed, "exit 137 (SIGKILL)", ""},
	} {
		t.Run(row.title, func(t *testing.T) {
			o := r.Run(t.Context(), &hooksedn.Hook{Type: hooksedn.Bash, Name: "h", Command: row.command, Cwd: ".", Timeout: time.Minute})
			assert.Equal(t, o.Kind, row.kind, "%s", o.Why)
			assert.Equal(t, o.Why, row.why)
			assert.Equal(t, o.Output, row.output)
		})
	}
}

func TestRunBashTimeout(t *testing.T) {
	r := bashRunner(t)
	// A machine that is too busy to say anything in time gets more of it.
	for limit := 200 * time.Millisecond; ; limit *= 2 {
		o := r.Run(t.Context(), &hooksedn.Hook{Type: hooksedn.Bash, Name: "h", Command: "echo before; sleep 20000", Cwd: ".", Timeout: limit})
		assert.Equal(t, o.Kind, Failed)
		assert.Equal(t, o.Why, fmt.Sprintf("timed out after %g s", limit.Seconds()))
		if o.Output != "" || limit > time.Minute {
			assert.Equal(t, o.Output, "before")
			return
		}
	}
}

func TestRunBashSurroundings(t *testing.T) {
	r := bashRunner(t)
	r.Env = append(r.Env, "KEPT=1", "CHANGED=old")
	assert.NilError(t, os.Mkdir(filepath.Join(r.Dir, "sub"), 0o700))
	o := r.Run(t.Context(), &hooksedn.Hook{
		Type: hooksedn.Bash, Name: "a b", Cwd: "sub", Env: []proc.Var{{Name: "CHANGED", Value: "new\nline"}},
		Command: `echo $KEPT "$CHANGED" $BREPL_HOOK_NAME; basename $PWD`, Timeout: time.Minute,
	})
	assert.Equal(t, o.Output, "1 new\nline a b\nsub")

	missing := r.Run(t.Context(), &hooksedn.Hook{Type: hooksedn.Bash, Name: "h", Command: "true", Cwd: "nowhere", Timeout: time.Minute})
	assert.Equal(t, missing.Kind, CannotRun)
	assert.Equal(t, missing.Why, ":cwd nowhere is not a directory")
}

func TestRunBashWithoutAShell(t *testing.T) {
	r := bashRunner(t)
	r.Env = []string{"PATH=" + t.TempDir()}
	o := r.Run(t.Context(), &hooksedn.Hook{Type: hooksedn.Bash, Name: "h", Command: "true", Cwd: ".", Timeout: time.Minute})
	assert.Equal(t, o.Kind, CannotRun)
	assert.Assert(t, strings.Contains(o.Why, "neither bash nor sh is on the PATH"), o.Why)
}

func TestRunKeepsTheEndOfLongOutput(t *testing.T) {
	r := bashRunner(t)
	var live bytes.Buffer
	r.Live = &live
	o := r.Run(t.Context(), &hooksedn.Hook{Type: hooksedn.Bash, Name: "h", Command: "seq 1 100000; exit 1", Cwd: ".", Timeout: time.Minute})
	assert.Assert(t, strings.HasSuffix(o.Output, "\n99999\n100000"))
	assert.Assert(t, len(o.Output) <= 200<<10)
	first, _, _ := strings.Cut(o.Output, "\n")
	assert.Equal(t, fmt.Sprint(o.Omitted+1), first, "every line before the first kept one is counted")
	assert.Assert(t, bytes.HasPrefix(o.log, []byte("[")), "the log says what is missing: %.60q", o.log)
	assert.Assert(t, bytes.HasPrefix(live.Bytes(), []byte("1\n2\n")))
}

func TestRunREPL(t *testing.T) {
	status := func(words ...string) nrepl.Status {
		s := nrepl.Status{}
		for _, w := range words {
			s[w] = true
		}
		return s
	}
	for _, row := range []struct {
		title  string
		result nrepl.Result
		err    error
		kind   Kind
		why    string
	}{
		{"a value", nrepl.Result{Values: []string{"3"}}, nil, Passed, ""},
		{"no value", nrepl.Result{}, nil, Passed, ""},
		{
			"an exception on the JVM",
			nrepl.Result{
				Failed: true, Ex: "class java.lang.ArithmeticException",
				Err: nrepl.Output{Text: "Reflection warning, x\nExecution error (ArithmeticException) at user/eval1 (REPL:1).\nDivide by zero\n"},
			},
			nil, Failed, "Execution error (ArithmeticException) at user/eval1 (REPL:1). Divide by zero",
		},
		{
			"an exception in an early form fails the hook even if later forms run",
			nrepl.Result{Failed: true, Ex: "class X", Values: []string{"1", "{:fail 0 :error 0}"}},
			nil, Failed, "class X",
		},
		{"no exception class", nrepl.Result{Failed: true, Status: status("namespace-not-found", "done")}, nil, Failed, "the evaluation ended with status done namespace-not-found"},
		{"failing tests", nrepl.Result{Values: []string{"nil", "{:test 42 :fail 3 :error 1}"}}, nil, Failed, "3 failures, 1 error in 42 tests"},
		{"only the last value counts", nrepl.Result{Values: []string{"{:test 42 :fail 3 :error 1}", "nil"}}, nil, Passed, ""},
		{"passing tests", nrepl.Result{Values: []string{"{:test 42 :fail 0 :error 0}"}}, nil, Passed, ""},
		{"no server", nrepl.Result{}, &nrepl.NoServerError{Tried: []string{"localhost:1 refused"}}, CannotRun, "no nREPL server: localhost:1 refused"},
		{"server gone", nrepl.Result{}, nrepl.ErrClosed, Failed, "the nREPL server closed the connection"},
		{"silent server", nrepl.Result{}, &nrepl.TimeoutError{Op: "eval", After: time.Second}, Failed, "timed out after 60 s; the server did not confirm the interrupt, so the code may still be running"},
		{"endless code", nrepl.Result{}, &nrepl.TimeoutError{Op: "eval", Stopped: true}, Failed, "timed out after 60 s and was interrupted"},
	} {
		t.Run(row.title, func(t *testing.T) {
			evaluator := newMockEvaluator(t)
			evaluator.EXPECT().Eval(mock.Anything, "(run)", mock.Anything).RunAndReturn(
				func(ctx context.Context, _ string, out io.Writer) (nrepl.Result, error) {
					deadline, ok := ctx.Deadline()
					assert.Assert(t, ok && time.Until(deadline) <= time.Minute, "the hook's timeout bounds the evaluation")
					_, _ = io.WriteString(out, "FAIL in x\n")
					return row.result, row.err
				})
			r := &Runner{Evaluator: evaluator}
			o := r.Run(t.Context(), &hooksedn.Hook{Type: hooksedn.REPL, Name: "h", Code: "(run)", Timeout: time.Minute})
			assert.Equal(t, o.Kind, row.kind)
			assert.Equal(t, o.Why, row.why)
			assert.Equal(t, o.Output, "FAIL in x")
		})
	}
}
