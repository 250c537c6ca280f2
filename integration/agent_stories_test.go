//go:build unix

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

// agentStories are what an agent lives through beyond single scenarios.
var agentStories = []ruleTest{
	{title: "pause and resume inside of a session", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", "exit 1", retry)))
		a.stops(refusesAt("tests", 1))
		// The session's own shell knows which session it is in.
		assert.Equal(t, a.Bash("brepl hook pause").ToolResult+"\n", pausedSession)
		a.stops(letsTelling(pausedByAgent).again())
		a.Prompt("And now?")
		a.stops(letsTelling(pausedByAgent))
		assert.Equal(t, a.Bash("brepl hook resume").ToolResult, "Stop hooks run again.")
		a.stops(refusesAt("tests", 2))
	}},
	{title: "a pause typed in another terminal holds for the session that runs", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", "exit 1", retry)))
		a.stops(refusesAt("tests", 1))
		assert.Equal(t, a.byHand("pause", "1h").exit, 0)
		a.stops(letsTelling("brepl: stop hooks are paused until $TIME; `brepl hook resume` ends this").again())
		assert.Equal(t, a.byHand("resume").exit, 0)
		a.Prompt("And now?")
		a.stops(refusesAt("tests", 2))
	}},
	{title: "a sub-agent stops without the hooks, the agent does not", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", leaveTrace+"; exit 1", retry)))
		// Wired to SubagentStop by hand as well: it still lets sub-agents stop.
		a.project.Write(".claude/settings.json", `{"hooks":{"SubagentStop":[{"hooks":[{"type":"command","command":"brepl hook stop"}]}]}}`)
		started := a.Subagent("Explore", "Look around", "Find the tests.")
		stopped := started.Agent.Stop("There are none.")
		assert.DeepEqual(t, commands(stopped, "SubagentStop"), []string{stopCommand})
		assert.Assert(t, !stopped.Blocked && !stopped.GoesOn, a.Story())
		assert.Equal(t, len(stopped.Told)+len(stopped.Shown), 0, a.Story())
		assert.Equal(t, a.wrote("trace"), "absent")
		a.stops(refusesAt("tests", 1))
		a.Report(started.TaskID)
		a.stops(refusesAt("tests", 2))
		assert.Equal(t, a.wrote("trace"), "$SESSION\n$SESSION\n")
	}},
	{title: "what install writes leaves sub-agents and compacting alone", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", "exit 1", retry)))
		a.stops(refusesAt("tests", 1))
		started := a.Subagent("Explore", "Look around", "Find the tests.")
		assert.Equal(t, len(started.Agent.Stop("There are none.").Hooks), 0)
		assert.Equal(t, len(a.Compact().Hooks), 0)
		// The count outlives the compacting: it is the same session.
		a.stops(refusesAt("tests", 2).again())
	}},
	{title: "the hooks run while a background task runs, and again after its report", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", `test -e src/fixed.clj`, retry)))
		task := a.Background(`until test -e go; do sleep 0.01; done`, "Slow tests")
		first := a.stops(refusesAt("tests", 1))
		assert.Assert(t, cmp.Contains(first.Event("Stop").Input, `"id":"`+task.TaskID+`","type":"shell","status":"running"`))
		a.Write("src/fixed.clj", "(ns fixed)\n")
		a.stops(lets().again())
		a.project.Write("go", "")
		a.Report(task.TaskID)
		a.stops(lets())
	}},
	{title: ":skip-while-background? true waits for the stop after the report", run: func(t *testing.T) {
		a := newAgent(t, "{:skip-while-background? true :stop ["+bash("tests", "exit 1", retry)+"]}")
		task := a.Background(`until test -e go; do sleep 0.01; done`, "Slow tests")
		a.stops(letsTelling("brepl: 1 background task running, so the stop hooks wait for the stop after that"))
		a.project.Write("go", "")
		a.Report(task.TaskID)
		a.stops(refusesAt("tests", 1))
	}},
	{title: "two sessions in one project: one's pass and end leave the other's count", run: func(t *testing.T) {
		maya := newAgent(t, hooksEDN(bash("tests", `test -e "$WORLD/$BREPL_SESSION_ID"`, retry)))
		dev := maya.agent(fakes.ClaudeSession(maya.session + "-dev"))
		dev.session = dev.SessionID()
		maya.stops(refusesAt("tests", 1))
		dev.stops(refusesAt("tests", 1))
		maya.write(maya.session, "")
		maya.stops(lets().again())
		assert.Equal(t, maya.counts(), "absent")
		dev.stops(refusesAt("tests", 2).again())
		maya.Exit("other")
		assert.Equal(t, content(t, maya.private()), "absent")
		dev.stops(attempts(3).again())
		assert.Equal(t, dev.counts(), "{\"tests\" 3}\n")
	}},
	{title: "the session's end is within its budget, says nothing and leaves no state", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", "echo out; exit 1", retry), bash("lint", "exit 1")))
		a.Stop()
		assert.Assert(t, len(a.stateFiles()) > 0)
		end := a.Exit("prompt_input_exit")
		assert.DeepEqual(t, commands(end, "SessionEnd"), []string{"brepl hook session-end"})
		assert.Assert(t, !end.Hooks[0].TimedOut && end.Hooks[0].Exit == 0, a.Story())
		assert.Equal(t, end.Hooks[0].Stdout+end.Hooks[0].Stderr+end.ShownText(), "")
		a.nothingLeft()
	}},
	{title: "/clear ends the counts of the session before it", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", "exit 1", retry)))
		a.stops(refusesAt("tests", 1))
		a.stops(refusesAt("tests", 2).again())
		a.Clear()
		a.nothingLeft()
		assert.Assert(t, a.SessionID() != a.session)
		a.stops(refusesAt("tests", 1))
	}},
	{title: "output with \"No such file or directory\" still blocks", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", "echo 'slurp: config.edn (No such file or directory)'; echo \"can't open x\" >&2; exit 1", retry)))
		turn := a.stops(refusesAt("tests", 1, outputOf("tests"), "| slurp: config.edn (No such file or directory)", "| can't open x"))
		// The very same answer without an object on stdout would not have held the agent: that is what the object is for.
		hook := turn.Hooks[0]
		bare := claudecode.Judge(claudecode.Run{Event: "Stop", Command: hook.Command, Exit: hook.Exit, Stderr: []byte(hook.Stderr)})
		assert.Assert(t, !bare.Blocked)
		assert.Equal(t, bare.Fault, claudecode.FaultDowngrade)
	}},
	{title: "of 1 MB of output the agent reads the end, whole and in one piece", run: func(t *testing.T) {
		for _, more := range []string{retry, ""} {
			a := newAgent(t, hooksEDN(bash("tests", `seq -f 'line %.0f of a test report that does not end' 20000; exit 1`, more)))
			turn := a.Stop()
			assert.Assert(t, turn.GoesOn)
			assert.Equal(t, turn.Blocked, more == retry)
			assert.Equal(t, len(turn.Told), 1)
			text := turn.Told[0]
			// The client put no file in its place.
			assert.Equal(t, text.Saved, "")
			assert.Assert(t, units(text.Text) > 9000 && units(text.Text) < 9600, "%d", units(text.Text))
			assert.Equal(t, strings.Count(text.Text, "| line 20000 of a test report that does not end\n"), 1)
			assert.Assert(t, cmp.Contains(text.Text, "Hook 'tests' failed: exit 1\n"))
			assert.Assert(t, cmp.Contains(text.Text, "log: "+filepath.Join(a.private(), "hook-tests.log")))
		}
	}},
	{title: "an agent in a sub-folder, and one that walks into it, are held by the project's hooks", run: func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithHooks(hooksEDN(bash("tests", `pwd > "$WORLD/pwd"; exit 1`, retry))), fakes.WithDir("src/deep", 0o755), fakes.WithGit())
		w.install()
		walker := w.agent()
		walker.Bash("cd src/deep")
		walker.stops(refusesAt("tests", 1))
		assert.Equal(t, w.wrote("pwd"), "$PROJECT\n")

		w.dir = w.project.Path("src/deep")
		w.session += "-below"
		w.env = append(w.env, "CLAUDE_PROJECT_DIR="+w.dir)
		w.agent().stops(refusesAt("tests", 1))
		assert.Equal(t, w.wrote("pwd"), "$PROJECT\n")
	}},
	{title: "brepl is not on the client's PATH: the settings hold its path, with blanks too", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.mayChange = true
		place := filepath.Join(w.scratch, "my tools", "brepl")
		program, err := os.ReadFile(brepl(t))
		assert.NilError(t, err)
		assert.NilError(t, os.MkdirAll(filepath.Dir(place), 0o700))
		assert.NilError(t, fakes.WriteProgram(place, string(program)))
		install := w.spec("hook", "install")
		install.Path = place
		assert.Equal(t, fakes.Run(t, install, fakes.DevNull()).Exit, 0)
		a := w.agent()
		turn := a.Stop()
		assert.Assert(t, turn.Blocked, a.Story())
		assert.DeepEqual(t, a.texts(turn.Told), []string{
			strings.Replace(refusesAt("tests", 1).Told[0], stopCommand, "'$WORLD/my tools/brepl' hook stop", 1),
		})
	}},
	{title: "beside a hook of somebody else that blocks as well, each text arrives once", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", "sleep 0.3; exit 1", retry)))
		a.project.Write(".claude/settings.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo not yet >&2; exit 2"}]}]}}`)
		turn := a.Stop()
		assert.Assert(t, turn.Blocked)
		assert.DeepEqual(t, a.texts(turn.Told), append([]string{"user: Stop hook feedback:\n[echo not yet >&2; exit 2]: not yet\n"}, refusesAt("tests", 1).Told...))
	}},
	{title: "a hook that leaves a child behind does not lose its block", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("tests", "sleep 20000 & exit 1", retry)))
		a.stops(refusesAt("tests", 1))
	}},
	{title: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=2 overrides the third block, and 0 none", run: func(t *testing.T) {
		for value, blocks := range map[string]int{"2": 2, "0": 12} {
			w := newProgramWorld(t, fakes.WithHooks(hooksEDN(bash("tests", "exit 1", retry, ":max-retries 0"))))
			w.install()
			w.env = append(w.env, claudecode.CapVariable+"="+value)
			a := w.agent()
			for i := 1; i <= blocks; i++ {
				want := unlimited(i)
				want.Active = i > 1
				a.stops(want)
			}
			if value == "2" {
				a.stops(unlimited(3).again().overridden(3))
			}
		}
	}},
	{title: "a report before a block rides along with it: one turn, one text", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(bash("lint", "exit 2"), hookWhile("tests", "pass", retry)))
		a.stops(refuses("brepl: 'lint' failed: exit 2; 'tests' failed, attempt 1/10", blocked(
			"Hook 'lint' failed: exit 2",
			"",
			"Hook 'tests' failed: exit 1",
			"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
		)))
		a.write("pass", "")
		a.stops(informsUser("brepl: 'lint' failed: exit 2").again())
	}},
	{title: "the turn for a report counts toward the client's cap", run: func(t *testing.T) {
		a := newAgent(t, hooksEDN(hookWhile("lint", "linted"), bash("tests", `test ! -e "$WORLD/linted"`, retry)))
		_, text := reported("Hook 'lint' failed: exit 1")
		a.stops(informs("brepl: 'lint' failed: exit 1", text))
		a.write("linted", "")
		for i := 1; i <= 7; i++ {
			a.stops(attempts(i).again())
		}
		a.stops(attempts(8).again().overridden(9))
	}},
}

func TestAgentStories(t *testing.T) {
	fullRun(t)
	brepl(t)
	t.Parallel()
	for _, s := range agentStories {
		t.Run(s.title, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
}

// nothingLeft demands that the state folder holds nothing but the user's own empty folder.
func (a *agent) nothingLeft() {
	a.t.Helper()
	assert.DeepEqual(a.t, a.stateFiles(), []string{fmt.Sprintf("drwx------ %s", normalize(filepath.Dir(a.private()), a.names()))})
}
