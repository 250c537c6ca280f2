//go:build unix

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

const (
	replExecution   = "REPL Hook Execution"
	bashExecution   = "Bash Hook Execution"
	sequential      = "Sequential Execution with Failure Handling"
	retryTracking   = "State Persistence for Retry Tracking"
	stopIntegration = "Claude Code Stop Event Integration"
)

// retry makes a hook's failure block.
const retry = ":retry-on-failure? true"

var stopScenarios = []scenario{
	{seed000, exitCodes, "All hooks pass", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", "true"), eval("run-tests", "(run-tests)", retry)))
		w.withREPL().On("(run-tests)").Value("{:test 42, :pass 100, :fail 0, :error 0, :type :summary}")
		w.stop().is(0, approve, "")
	}},
	{seed000, exitCodes, "Hook fails with :loop-on-failure? true (retry count < max)", func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("run-tests", "(run-tests)", ":loop-on-failure? true")))
		w.withREPL().On("(run-tests)").Out("3 tests failed\n").Value("{:test 42, :pass 39, :fail 3, :error 0, :type :summary}")
		w.stop().is(2, tellUser("brepl: 'run-tests' failed, attempt 1/10"), blocked(
			"Hook 'run-tests' failed: 3 failures in 42 tests",
			"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
			outputOf("run-tests"),
			"| 3 tests failed",
			"| => {:test 42, :pass 39, :fail 3, :error 0, :type :summary}",
		))
	}},
	{seed000, exitCodes, "Hook fails with :loop-on-failure? true (retry limit reached)", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("run-tests", "exit 1", ":loop-on-failure? true")))
		w.keep(w.countsFile(), `{"run-tests" 10}`)
		stderr, agent := reported(
			"Hook 'run-tests' failed after 10 retries. Giving up.",
			"Last failure: exit 1",
		)
		w.stop().is(1, tellBoth("brepl: 'run-tests' failed after 10 retries, giving up", agent), stderr)
	}},
	{seed000, exitCodes, "Hook fails with :loop-on-failure? false", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", "echo 2 warnings found; exit 1", ":loop-on-failure? false")))
		stderr, agent := reported(
			"Hook 'lint' failed: exit 1",
			outputOf("lint"),
			"| 2 warnings found",
		)
		w.stop().is(1, tellBoth("brepl: 'lint' failed: exit 1", agent), stderr)
	}},
	{seed000, exitCodes, "Required hook can't run (no nREPL)", func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("run-tests", "(run-tests)", ":required? true")))
		stderr, agent := pausing(
			"Hook 'run-tests' requires nREPL but none available. Please start REPL and retry.",
			"What was tried: no nREPL server: no --port, no .nrepl-port, and BREPL_PORT is not set"+nowhere,
			"Pause and tell the user.",
		)
		w.stop().is(1, tellBoth("brepl: 'run-tests' requires nREPL but none is available", agent), stderr)
	}},

	{seed000, statePersistence, "Created on first hook failure", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("run-tests", `test -e "$WORLD/pass"`, retry), bash("lint", "exit 1", retry)))
		w.inTmp()
		assert.Equal(t, w.counts(), "absent")
		w.stop().blocks("run-tests", 1)
		assert.Equal(t, w.counts(), "{\"run-tests\" 1}\n")
	}},
	{seed000, statePersistence, "Updated on each retry", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("run-tests", "exit 1", retry)))
		for i := 1; i <= 2; i++ {
			w.stop().blocks("run-tests", i)
			assert.Equal(t, w.counts(), fmt.Sprintf("{\"run-tests\" %d}\n", i))
		}
	}},
	{seed000, statePersistence, "Reset to 0 on success", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("run-tests", "exit 1", retry), bash("lint", "true", retry)))
		w.keep(w.countsFile(), "{\"run-tests\" 3\n \"lint\" 2}")
		w.stop().blocks("run-tests", 4)
		// The run ended before lint, which keeps its count.
		assert.Equal(t, w.counts(), "{\"lint\" 2\n \"run-tests\" 4}\n")
		w.project.Write(".brepl/hooks.edn", hooksEDN(bash("lint", "true", retry), bash("run-tests", "exit 1", retry)))
		w.stop().blocks("run-tests", 5)
		assert.Equal(t, w.counts(), "{\"lint\" 0\n \"run-tests\" 5}\n")
	}},
	{seed000, statePersistence, "Deleted by SessionEnd hook or when all hooks pass", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("run-tests", `test -e "$WORLD/pass"`, retry)))
		w.stop().blocks("run-tests", 1)
		assert.Equal(t, w.counts(), "{\"run-tests\" 1}\n")
		w.run(fakes.OneLine(w.endEvent()), "hook", "session-end").is(0, "", "")
		assert.Equal(t, w.counts(), "absent")

		w.stop().blocks("run-tests", 1)
		assert.Equal(t, w.counts(), "{\"run-tests\" 1}\n")
		w.write("pass", "")
		w.stop().is(0, approve, "")
		assert.Equal(t, w.counts(), "absent")
	}},

	{seed001, replExecution, "Successful REPL hook execution", func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("sum", "(+ 1 2)")))
		server := w.withREPL()
		server.On("(+ 1 2)").Value("3")
		w.stop().is(0, approve, "")
		// The session is closed behind the evaluation; the answer is not awaited.
		assert.Assert(t, server.AwaitOp("close", 1, waitLimit))
		assert.DeepEqual(t, server.Sessions(), []fakes.SessionInfo{{ID: server.Sessions()[0].ID, Evals: 1, Closed: true}})
	}},
	{seed001, replExecution, "REPL hook with evaluation error", func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("division", "(/ 1 0)")))
		w.withREPL().On("(/ 1 0)").Exception("java.lang.ArithmeticException", "Divide by zero")
		const why = "Execution error (ArithmeticException) at user/eval2366 (REPL:1). Divide by zero"
		stderr, agent := reported(
			"Hook 'division' failed: "+why,
			outputOf("division"),
			"| Execution error (ArithmeticException) at user/eval2366 (REPL:1).",
			"| Divide by zero",
		)
		w.stop().is(1, tellBoth("brepl: 'division' failed: "+why, agent), stderr)
	}},
	{seed001, replExecution, "No nREPL available with required hook", func(t *testing.T) {
		w := newWorld(t, hooksEDN(
			eval("tests", "(run-tests)", ":required? true", retry),
			bash("after", `touch "$WORLD/after"`),
		))
		w.project.Write(".nrepl-port", strconv.Itoa(w.stalePort()))
		stderr, agent := pausing(
			"Hook 'tests' requires nREPL but none available. Please start REPL and retry.",
			"What was tried: no nREPL server: "+staleFile+nowhere,
			"Pause and tell the user.",
		)
		w.stop().is(1, tellBoth("brepl: 'tests' requires nREPL but none is available", agent), stderr)
		// The run ends here, and nothing is counted.
		assert.Equal(t, w.wrote("after"), "absent")
		assert.Equal(t, w.counts(), "absent")
	}},
	{seed001, replExecution, "No nREPL available with optional hook", func(t *testing.T) {
		w := newWorld(t, hooksEDN(
			eval("omitted", "(run-tests)", retry),
			eval("false", "(run-tests)", ":required? false"),
			bash("after", `touch "$WORLD/after"`),
		))
		w.project.Write(".nrepl-port", strconv.Itoa(w.stalePort()))
		// The agent hears nothing; the user is told once that two gates are not there.
		const why = "no nREPL server: " + staleFile + nowhere
		w.stop().is(0, approveTelling("brepl: 'omitted' was skipped: "+why+"; 'false' was skipped: "+why), "")
		assert.Equal(t, w.wrote("after"), "")
		w.stop().is(0, approve, "")
	}},

	{seed001, bashExecution, "Successful bash hook execution", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("hello", "echo hello")))
		w.stop().is(0, approve, "")
		assert.Equal(t, content(t, filepath.Join(w.private(), "hook-hello.log")), "hello\n")
	}},
	{seed001, bashExecution, "Bash hook with non-zero exit", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("bad", "echo to stdout; echo to stderr >&2; exit 1")))
		stderr, agent := reported(
			"Hook 'bad' failed: exit 1",
			outputOf("bad"),
			"| to stdout",
			"| to stderr",
		)
		w.stop().is(1, tellBoth("brepl: 'bad' failed: exit 1", agent), stderr)
	}},
	{seed001, bashExecution, "Bash hook with custom working directory", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("there", `pwd > "$WORLD/pwd"`, `:cwd "test"`)), fakes.WithDir("test", 0o755))
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("pwd"), "$PROJECT/test\n")
	}},
	{seed001, bashExecution, "Bash hook with environment variables", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("env", `echo "$CI $DEBUG $INHERITED" > "$WORLD/env"`, `:env {"CI" "true", "DEBUG" "1"}`)))
		w.env = append(w.env, "INHERITED=from the host", "CI=false")
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("env"), "true 1 from the host\n")
	}},

	{seed001, sequential, "All hooks succeed", func(t *testing.T) {
		w := newWorld(t, hooksEDN(
			bash("a", `echo a >> "$WORLD/trace"`), bash("b", `sleep 0.05; echo b >> "$WORLD/trace"`), bash("c", `echo c >> "$WORLD/trace"`),
		))
		w.stop().is(0, `{"decision": "approve"}`, "")
		assert.Equal(t, w.wrote("trace"), "a\nb\nc\n")
	}},
	{seed001, sequential, "Blocking hook fails with loop-on-failure", func(t *testing.T) {
		w := newWorld(t, hooksEDN(
			bash("tests", "echo expected 1, got 2; exit 3", retry),
			bash("after", `touch "$WORLD/after"`),
		))
		w.stop().is(2, tellUser("brepl: 'tests' failed, attempt 1/10"), blocked(
			"Hook 'tests' failed: exit 3",
			"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
			outputOf("tests"),
			"| expected 1, got 2",
		))
		assert.Equal(t, w.wrote("after"), "absent")
	}},
	{seed001, sequential, "Blocking hook exhausts retry limit", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry, ":max-retries 10")))
		for i := 1; i <= 10; i++ {
			// From the third equal failure with nothing changed on, another approach is asked for.
			if i < 3 {
				w.stop().blocks("tests", i)
			} else {
				w.stop().blocks("tests", i, stuck)
			}
		}
		stderr, agent := reported(
			"Hook 'tests' failed after 10 retries. Giving up.",
			"Last failure: exit 1",
			stuck,
		)
		w.stop().is(1, tellBoth("brepl: 'tests' failed after 10 retries, giving up", agent), stderr)
		w.stop().is(1, tellUser("brepl: 'tests' failed after 10 retries, giving up"), stderr)
		assert.Equal(t, w.counts(), "{\"tests\" 10}\n")
	}},
	{seed001, sequential, "Blocking hook with infinite retries", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", `test -e "$WORLD/pass"`, retry, ":max-retries 0")))
		w.keep(w.countsFile(), `{"tests" 123456}`)
		w.stop().is(2, tellUser("brepl: 'tests' failed, attempt 123457"), blocked(
			"Hook 'tests' failed: exit 1",
			"This stop is blocked: attempt 123457, without a limit. Fix the cause, then stop again.",
		))
		assert.Equal(t, w.counts(), "{\"tests\" 123457}\n")
		w.write("pass", "")
		w.stop().is(0, approve, "")
	}},
	{seed001, sequential, "Non-looping hook fails", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("omitted", "exit 4"), bash("false", "exit 5", ":retry-on-failure? false")))
		stderr, agent := reported("Hook 'omitted' failed: exit 4", "", "Hook 'false' failed: exit 5")
		w.stop().is(1, tellBoth("brepl: 'omitted' failed: exit 4; 'false' failed: exit 5", agent), stderr)
		assert.Equal(t, w.counts(), "absent")
	}},

	{seed001, retryTracking, "Track retry count across invocations", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.inTmp()
		for i, want := range []string{"{\"tests\" 1}\n", "{\"tests\" 2}\n"} {
			w.stop().blocks("tests", i+1)
			assert.Equal(t, w.counts(), want)
		}
	}},
	{seed001, retryTracking, "Reset retry count on success", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "true", retry), bash("lint", "exit 1")))
		w.keep(w.countsFile(), `{"tests" 5}`)
		stderr, agent := reported("Hook 'lint' failed: exit 1")
		w.stop().is(1, tellBoth("brepl: 'lint' failed: exit 1", agent), stderr)
		assert.Equal(t, w.counts(), "{\"tests\" 0}\n")
	}},
	{seed001, retryTracking, "Isolate state by session", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		for i := 1; i <= 2; i++ {
			for _, session := range []string{"maya", "dev"} {
				w.session = session
				w.stop().blocks("tests", i)
				assert.Equal(t, w.counts(), fmt.Sprintf("{\"tests\" %d}\n", i))
			}
		}
	}},

	{seed001, stopIntegration, "Receive stop event input", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("look",
			`cat "$BREPL_EVENT_FILE" > "$WORLD/event"; echo "$BREPL_SESSION_ID" > "$WORLD/session"; exit 1`, retry, ":max-retries 0")))
		event := w.stopEvent(fakes.Set("a_field_of_tomorrow", []int{1}))
		// The slow shape has a test of its own: on a loaded machine its pauses sum up to seconds.
		shapes := slices.DeleteFunc(fakes.WholeShapes(event), func(in fakes.Stdin) bool { return strings.HasPrefix(in.String(), "slow") })
		for i, in := range shapes {
			text := []string{
				"Hook 'look' failed: exit 1",
				fmt.Sprintf("This stop is blocked: attempt %d, without a limit. Fix the cause, then stop again.", i+1),
			}
			if i >= 2 {
				text = append(text, stuck)
			}
			w.run(in, "hook", "stop").is(2, tellUser(fmt.Sprintf("brepl: 'look' failed, attempt %d", i+1)), blocked(text...))
			assert.Equal(t, w.wrote("session"), "$SESSION\n", "%v", in)
			assert.Equal(t, canonical(t, w.wrote("event")), canonical(t, normalize(event, w.names())), "%v", in)
		}
		assert.Equal(t, w.counts(), fmt.Sprintf("{\"look\" %d}\n", len(shapes)))
	}},
	{seed001, stopIntegration, "All hooks pass", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "true", retry), bash("lint", "true")))
		w.stop().is(0, approve, "")
	}},
	{seed001, stopIntegration, "Hook fails with loop-on-failure", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "echo 1 test failed; exit 1", retry, ":max-retries 2")))
		w.stop().is(2, tellUser("brepl: 'tests' failed, attempt 1/2"), blocked(
			"Hook 'tests' failed: exit 1",
			"This stop is blocked: attempt 1 of 2. Fix the cause, then stop again.",
			outputOf("tests"),
			"| 1 test failed",
		))
	}},
	{seed001, stopIntegration, "Hook fails without loop-on-failure", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "echo 1 test failed; exit 1")))
		stderr, agent := reported("Hook 'tests' failed: exit 1", outputOf("tests"), "| 1 test failed")
		w.stop().is(1, tellBoth("brepl: 'tests' failed: exit 1", agent), stderr)
	}},
}

// stuck is said of a hook that fails the same way for the third time while nothing changes.
const stuck = "Nothing changed since the last attempt: explain to the user what blocks you."

// inTmp keeps this world's state where the documents say, in /tmp.
func (w *world) inTmp() {
	w.state = "/tmp"
	w.env = append(w.env, "BREPL_STATE_DIR=")
	w.t.Cleanup(func() {
		_ = os.Remove(w.countsFile()) // the test may have removed it
		_ = os.RemoveAll(w.private())
	})
}

// endEvent is the end of this world's session.
func (w *world) endEvent() string {
	return fakes.SessionEndEvent("other", fakes.InProject(w.dir), fakes.InSession(w.session)).JSON()
}
