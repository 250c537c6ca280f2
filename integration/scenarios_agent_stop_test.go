//go:build unix

package integration

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// informedOnce is the whole of "Claude is informed but can stop": one extra turn in which the agent reads the text, then
// it stops; from then on only the user is told, until the hook has passed.
func (a *agent) informedOnce(user, text string) {
	a.t.Helper()
	a.stops(informs(user, text))
	a.stops(informsUser(user).again())
	a.Prompt("Anything else?")
	a.stops(informsUser(user))
}

// notWanted is said where there is no REPL and no trace of one.
const notWanted = "What was tried: no nREPL server: no --port, no .nrepl-port file, and BREPL_PORT is not set. Start a REPL, or give --port"

var agentStopScenarios = []scenario{
	{seed000, exitCodes, "All hooks pass", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("lint", "true"), eval("run-tests", "(run-tests)", retry)))
		a.withREPL().On("(run-tests)").Value("{:test 42, :pass 100, :fail 0, :error 0, :type :summary}")
		a.stops(lets())
	}},
	{seed000, exitCodes, "Hook fails with :loop-on-failure? true (retry count < max)", func(t *testing.T) {
		a := newAgent(t, hooksEDN(eval("run-tests", "(run-tests)", ":loop-on-failure? true")))
		server := a.withREPL()
		server.On("(run-tests)").Out("3 tests failed\n").Value("{:test 42, :pass 39, :fail 3, :error 0, :type :summary}").Times(1)
		server.On("(run-tests)").Value("{:test 42, :pass 42, :fail 0, :error 0, :type :summary}")
		server.OnLoadFile(a.project.Path("src/fixed.clj")).Value("nil") // `hook eval`, after the edit
		a.stops(refuses("brepl: 'run-tests' failed, attempt 1/10", blocked(
			"Hook 'run-tests' failed: 3 failures in 42 tests",
			"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
			outputOf("run-tests"),
			"| 3 tests failed",
			"| => {:test 42, :pass 39, :fail 3, :error 0, :type :summary}",
		)))
		a.Write("src/fixed.clj", "(ns fixed)\n")
		a.stops(lets().again())
	}},
	{seed000, exitCodes, "Hook fails with :loop-on-failure? true (retry limit reached)", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("run-tests", "exit 1", ":loop-on-failure? true")))
		a.keep(a.countsFile(), `{"run-tests" 10}`)
		_, text := reported("Hook 'run-tests' failed after 10 retries. Giving up.", "Last failure: exit 1")
		a.stops(informs("brepl: 'run-tests' failed after 10 retries, giving up", text))
		a.stops(informsUser("brepl: 'run-tests' failed after 10 retries, giving up").again())
	}},
	{seed000, exitCodes, "Hook fails with :loop-on-failure? false", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("lint", "echo 2 warnings found; exit 1", ":loop-on-failure? false")))
		_, text := reported("Hook 'lint' failed: exit 1", outputOf("lint"), "| 2 warnings found")
		a.informedOnce("brepl: 'lint' failed: exit 1", text)
	}},
	{seed000, exitCodes, "Required hook can't run (no nREPL)", func(t *testing.T) {
		a := newAgent(t, hooksEDN(eval("run-tests", "(run-tests)", ":required? true")))
		_, text := pausing("Hook 'run-tests' requires nREPL but none available. Please start REPL and retry.", notWanted, "Pause and tell the user.")
		a.informedOnce("brepl: 'run-tests' requires nREPL but none is available", text)
	}},

	{seed001, configurationFile, "Load valid configuration", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("first", `echo first >> "$WORLD/trace"`), bash("second", `echo second >> "$WORLD/trace"`)))
		a.stops(lets())
		assert.Equal(t, a.wrote("trace"), "first\nsecond\n")
	}},
	{seed001, configurationFile, "No configuration file exists", func(t *testing.T) {
		a := newAgent(t, "")
		a.stops(lets())
		assert.DeepEqual(t, a.stateFiles(), []string(nil))
	}},
	{seed001, configurationFile, "Invalid configuration format", func(t *testing.T) {
		// The agent, which can mend the file, reads what is wrong with it.
		a := newAgent(t, "{:stop {:type :bash}}")
		a.informedOnce("brepl: the stop hooks cannot be run: .brepl/hooks.edn:1:8: :stop must be a vector of hooks, found a map",
			"The stop hooks cannot be run: .brepl/hooks.edn:1:8: :stop must be a vector of hooks, found a map\n"+
				"1 | {:stop {:type :bash}}\n  |        ^\n"+noHookRun)
		a.Edit(hooksFile, "{:type :bash}", "["+bash("tests", "exit 1", retry)+"]")
		a.stops(refusesAt("tests", 1))
	}},
	{seed001, schemaValidation, "Missing required field", func(t *testing.T) {
		a := newAgent(t, hooksEDN(`{:type :bash :command "true"}`))
		const fault = ".brepl/hooks.edn:2:1: hook 1: :name is missing; expected a string that is not empty, on one line"
		a.informedOnce("brepl: the stop hooks cannot be run: "+fault,
			"The stop hooks cannot be run: "+fault+"\n2 | {:type :bash :command \"true\"}\n  | ^\n"+noHookRun)
	}},

	{seed001, replExecution, "Successful REPL hook execution", func(t *testing.T) {
		a := newAgent(t, hooksEDN(eval("sum", "(+ 1 2)")))
		a.withREPL().On("(+ 1 2)").Value("3")
		a.stops(lets())
	}},
	{seed001, replExecution, "REPL hook with evaluation error", func(t *testing.T) {
		a := newAgent(t, hooksEDN(eval("division", "(/ 1 0)")))
		a.withREPL().On("(/ 1 0)").Exception("java.lang.ArithmeticException", "Divide by zero").Times(3)
		const why = "Execution error (ArithmeticException) at user/eval2366 (REPL:1). Divide by zero"
		_, text := reported("Hook 'division' failed: "+why, outputOf("division"),
			"| Execution error (ArithmeticException) at user/eval2366 (REPL:1).", "| Divide by zero")
		a.informedOnce("brepl: 'division' failed: "+why, text)
	}},
	{seed001, replExecution, "No nREPL available with required hook", func(t *testing.T) {
		a := newAgent(t, hooksEDN(eval("tests", "(run-tests)", ":required? true", retry)))
		_, text := pausing("Hook 'tests' requires nREPL but none available. Please start REPL and retry.", notWanted, "Pause and tell the user.")
		a.informedOnce("brepl: 'tests' requires nREPL but none is available", text)
		// The user has read it and starts a REPL.
		a.withREPL().On("(run-tests)").Value("nil")
		a.Prompt("It runs now.")
		a.stops(lets())
	}},
	{seed001, replExecution, "No nREPL available with optional hook", func(t *testing.T) {
		a := newAgent(t, hooksEDN(eval("tests", "(run-tests)", retry), bash("after", `touch "$WORLD/after"`)))
		a.project.Write(".nrepl-port", strconv.Itoa(a.stalePort()))
		a.stops(lets())
		assert.Equal(t, a.wrote("after"), "")
	}},

	{seed001, bashExecution, "Successful bash hook execution", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("hello", "echo hello")))
		a.stops(lets())
		assert.Equal(t, content(t, filepath.Join(a.private(), "hook-hello.log")), "hello\n")
	}},
	{seed001, bashExecution, "Bash hook with non-zero exit", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("bad", "echo to stdout; echo to stderr >&2; exit 1")))
		_, text := reported("Hook 'bad' failed: exit 1", outputOf("bad"), "| to stdout", "| to stderr")
		a.informedOnce("brepl: 'bad' failed: exit 1", text)
	}},

	{seed001, stopIntegration, "Receive stop event input", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("look",
			`cat "$BREPL_EVENT_FILE" > "$WORLD/event"; echo "$BREPL_SESSION_ID" > "$WORLD/session"; test -e "$WORLD/pass"`, retry)))
		read := func(turn *fakes.Turn) {
			t.Helper()
			assert.Equal(t, content(t, filepath.Join(a.scratch, "event")), turn.Event("Stop").Input)
			assert.Equal(t, content(t, filepath.Join(a.scratch, "session")), a.SessionID()+"\n")
		}
		first := a.stops(refusesAt("look", 1))
		read(first)
		input := first.Event("Stop").Input
		assert.Assert(t, strings.Contains(input, `"transcript_path":"`+a.Transcript()+`"`), input)
		a.write("pass", "")
		read(a.stops(lets().again()))
	}},
	{seed001, stopIntegration, "All hooks pass", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", "true", retry), bash("lint", "true")))
		a.stops(lets())
		a.Prompt("And now?")
		a.stops(lets())
	}},
	{seed001, stopIntegration, "Hook fails with loop-on-failure", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", `test -e src/fixed.clj || { echo 1 test failed; exit 1; }`, retry, ":max-retries 2")))
		a.stops(refuses("brepl: 'tests' failed, attempt 1/2", blocked(
			"Hook 'tests' failed: exit 1",
			"This stop is blocked: attempt 1 of 2. Fix the cause, then stop again.",
			outputOf("tests"),
			"| 1 test failed",
		)))
		a.Write("src/fixed.clj", "(ns fixed)\n")
		a.stops(lets().again())
		a.Prompt("And now?")
		a.stops(lets())
	}},
	{seed001, stopIntegration, "Hook fails without loop-on-failure", func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", `test -e src/fixed.clj || { echo 1 test failed; exit 1; }`)))
		_, text := reported("Hook 'tests' failed: exit 1", outputOf("tests"), "| 1 test failed")
		a.informedOnce("brepl: 'tests' failed: exit 1", text)
		// A pass arms it: the next failure is news again.
		a.Write("src/fixed.clj", "(ns fixed)\n")
		a.stops(lets())
		a.Bash("rm src/fixed.clj")
		a.stops(informs("brepl: 'tests' failed: exit 1", text))
	}},
}
