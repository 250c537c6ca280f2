//go:build unix

package integration

import (
	"path/filepath"
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
const notWanted = "What was tried: no nREPL server: no --port, no .nrepl-port, and BREPL_PORT is not set" + nowhere

var agentStopScenarios = []scenario{
	{seed001, configurationFile, "Invalid configuration format", func(t *testing.T) {
		// The agent, which can mend the file, reads what is wrong with it.
		a := newAgent(t, "{:stop {:type :bash}}")
		a.informedOnce("brepl: the stop hooks cannot be run: .brepl/hooks.edn:1:8: :stop must be a vector of hooks, found a map",
			"The stop hooks cannot be run: .brepl/hooks.edn:1:8: :stop must be a vector of hooks, found a map\n"+
				"1 | {:stop {:type :bash}}\n  |        ^\n"+noHookRun)
		a.Edit(hooksFile, "{:type :bash}", "["+bash("tests", "exit 1", retry)+"]")
		a.stops(refusesAt("tests", 1))
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
