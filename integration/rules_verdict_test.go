//go:build unix

package integration

import (
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// hookWhile is a hook that passes while the file is in $WORLD.
func hookWhile(name, file string, more ...string) string {
	return bash(name, `test -e "$WORLD/`+file+`"`, more...)
}

var verdictRules = []ruleTest{
	{title: "an empty or missing :stop allows every stop", run: func(t *testing.T) {
		for _, config := range []string{"{}", "{:stop []}", "{:validate {:x 1}} ; not ours"} {
			w := newWorld(t, config)
			w.stop().is(0, approve, "")
			assert.DeepEqual(t, w.stateFiles(), []string(nil))
		}
	}},
	{title: "a hook at its limit is reported, and the next one still runs and can block", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry, ":max-retries 2"), bash("lint", "echo a.clj; exit 2", retry)))
		w.keep(w.countsFile(), `{"tests" 2}`)
		w.stop().is(2, tellUser("brepl: 'tests' failed after 2 retries, giving up; 'lint' failed, attempt 1/10"), blocked(
			"Hook 'tests' failed after 2 retries. Giving up.",
			"Last failure: exit 1",
			"",
			"Hook 'lint' failed: exit 2",
			"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
			outputOf("lint"),
			"| a.clj",
		))
		assert.Equal(t, w.counts(), "{\"lint\" 1\n \"tests\" 2}\n")
	}},
	{title: "a failing linter listed first cannot hide the tests listed after it", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", "exit 2"), bash("style", "exit 3"), bash("tests", "exit 1", retry), bash("never", `touch "$WORLD/ran"`)))
		w.stop().is(2, tellUser("brepl: 'lint' failed: exit 2; 'style' failed: exit 3; 'tests' failed, attempt 1/10"), blocked(
			"Hook 'lint' failed: exit 2",
			"",
			"Hook 'style' failed: exit 3",
			"",
			"Hook 'tests' failed: exit 1",
			"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
		))
		assert.Equal(t, w.wrote("ran"), "absent")
		assert.Equal(t, w.counts(), "{\"tests\" 1}\n")
	}},
	{title: "zero tests are reported, to the agent once a name, and count as no retry", run: func(t *testing.T) {
		const summary = "{:test 0, :pass 0, :fail 0, :error 0, :type :summary}"
		w := newWorld(t, hooksEDN(eval("repl-tests", "(run)", retry, ":max-retries 2"), bash("sh-tests", "echo Ran 0 tests containing 0 assertions.", retry)))
		w.keep(w.countsFile(), `{"repl-tests" 2}`)
		server := w.withREPL()
		server.On("(run)").Value(summary).Times(2)
		stderr, agent := reported(
			"Hook 'repl-tests' ran no test, which is no pass.",
			"The test namespaces may not be loaded: :code has to require them before it runs them.",
			outputOf("repl-tests"),
			"| => "+summary,
			"",
			"Hook 'sh-tests' ran no test, which is no pass.",
			"Look at which tests its command selects.",
			outputOf("sh-tests"),
			"| Ran 0 tests containing 0 assertions.",
		)
		const user = "brepl: 'repl-tests' ran no test; 'sh-tests' ran no test"
		w.stop().is(1, tellBoth(user, agent), stderr)
		w.stop().is(1, tellUser(user), stderr)
		assert.Equal(t, w.counts(), `{"repl-tests" 2}`+"\n")
		// A failure after it is news, and so is the next empty run after a pass.
		server.On("(run)").Value("{:test 1 :fail 1 :error 0}")
		r := w.stop()
		assert.Assert(t, r.exit == 1 && strings.Contains(r.stdout, `"additionalContext":"brepl: Hook 'repl-tests' failed after 2 retries. Giving up.`), r.stdout)
		server.On("(run)").Value("{:test 1 :fail 0 :error 0}")
		assert.Equal(t, w.stop().exit, 1)
		server.On("(run)").Value(summary)
		r = w.stop()
		assert.Assert(t, strings.Contains(r.stdout, `"additionalContext":"brepl: Hook 'repl-tests' ran no test`), r.stdout)
	}},
	{title: "a report stands before a required hook that cannot run, which ends the run", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", "exit 2"), eval("repl", "1", ":required? true"), bash("tests", "exit 1", retry)))
		stderr, agent := pausing(
			"Hook 'lint' failed: exit 2",
			"",
			"Hook 'repl' requires nREPL but none available. Please start REPL and retry.",
			"What was tried: no nREPL server: no --port, no .nrepl-port, and BREPL_PORT is not set"+nowhere,
			"Pause and tell the user.",
		)
		w.stop().is(1, tellBoth("brepl: 'lint' failed: exit 2; 'repl' requires nREPL but none is available", agent), stderr)
		assert.Equal(t, w.counts(), "absent")
	}},
	{title: "a failure that does not block reaches the agent once per name and is armed again by a pass", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", `cat "$WORLD/out" && test -e "$WORLD/pass"`), hookWhile("style", "style")))
		w.write("style", "")
		w.write("out", "1 warning\n")
		stderr, agent := reported("Hook 'lint' failed: exit 1", outputOf("lint"), "| 1 warning")
		w.stop().is(1, tellBoth("brepl: 'lint' failed: exit 1", agent), stderr)
		w.stop().is(1, tellUser("brepl: 'lint' failed: exit 1"), stderr)

		// Another output is the same hook: one that varies cannot loop.
		w.write("out", "2 warnings\n")
		stderr, _ = reported("Hook 'lint' failed: exit 1", outputOf("lint"), "| 2 warnings")
		w.stop().is(1, tellUser("brepl: 'lint' failed: exit 1"), stderr)

		// Another hook is news, and only that one is told.
		assert.NilError(t, removeFile(w.scratch, "style"))
		_, agent = reported("Hook 'style' failed: exit 1")
		w.stop().is(1, tellBoth("brepl: 'lint' failed: exit 1; 'style' failed: exit 1", agent),
			strings.TrimSuffix(stderr, "\n")+"\n\nHook 'style' failed: exit 1\n")

		// Only its own pass arms a hook again.
		w.write("style", "")
		w.stop().is(1, tellUser("brepl: 'lint' failed: exit 1"), stderr)
		w.write("pass", "")
		w.stop().is(0, approve, "")
		assert.NilError(t, removeFile(w.scratch, "pass"))
		_, agent = reported("Hook 'lint' failed: exit 1", outputOf("lint"), "| 2 warnings")
		w.stop().is(1, tellBoth("brepl: 'lint' failed: exit 1", agent), stderr)
	}},
	{title: "what the agent has read in a text that blocks is not told again", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", "exit 2"), hookWhile("tests", "pass", retry)))
		w.stop().is(2, tellUser("brepl: 'lint' failed: exit 2; 'tests' failed, attempt 1/10"), blocked(
			"Hook 'lint' failed: exit 2",
			"",
			"Hook 'tests' failed: exit 1",
			"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
		))
		w.write("pass", "")
		stderr, _ := reported("Hook 'lint' failed: exit 2")
		w.stop().is(1, tellUser("brepl: 'lint' failed: exit 2"), stderr)
	}},
	{title: ":inform :user tells only the user", run: func(t *testing.T) {
		w := newWorld(t, "{:inform :user :stop ["+bash("lint", "exit 2")+"]}")
		w.stop().is(1, tellUser("brepl: 'lint' failed: exit 2"), "Hook 'lint' failed: exit 2\n")
	}},
	{title: "another session is told too", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", "exit 2")))
		stderr, agent := reported("Hook 'lint' failed: exit 2")
		for range 2 {
			w.stop().is(1, tellBoth("brepl: 'lint' failed: exit 2", agent), stderr)
			w.session += "x"
		}
	}},
	{title: "the third equal failure with nothing changed names the log", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", `echo "at $(date +%H:%M:%S).$RANDOM in 0x$RANDOM-a$RANDOM: expected 1"; exit 1`, retry)), fakes.WithGit())
		w.rules = append(w.rules, rule{regexp.MustCompile(`at \d\d:\d\d:\d\d\.\d+ in 0x\d+-a\d+`), "at $$TIME in $$ADDRESS"})
		stop := func(attempt int, more ...string) {
			t.Helper()
			w.stop().blocks("tests", attempt, append(more, outputOf("tests"), "| at $TIME in $ADDRESS: expected 1")...)
		}
		stop(1)
		stop(2)
		const stuck = "Nothing changed since the last attempt: read the whole log at $PRIVATE/hook-tests.log, or explain to the user what blocks you."
		stop(3, stuck)
		stop(4, stuck)
		// A change of any file starts anew, and it counted all the time.
		w.project.Write("src.clj", "new")
		stop(5)
		stop(6)
		stop(7, stuck)
		assert.Equal(t, w.counts(), "{\"tests\" 7}\n")
	}},
	{title: "another failure is progress", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", `cat "$WORLD/out"; exit 1`, retry)))
		for i, out := range []string{"a failed", "a failed", "b failed", "a failed", "a failed"} {
			w.write("out", out)
			w.stop().blocks("tests", i+1, outputOf("tests"), "| "+out)
		}
	}},
	{title: "a skip neither resets nor deletes a count", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(
			bash("cannot", "exit 75", retry), eval("repl", "1", retry), bash("passes", "true"),
		))
		w.keep(w.countsFile(), "{\"cannot\" 3\n \"repl\" 4}\n")
		w.stop().is(0, approveTelling("brepl: 'cannot' cannot run: it says that it cannot run now (exit 75); "+
			"'repl' was skipped: no nREPL server: no --port, no .nrepl-port, and BREPL_PORT is not set"+nowhere), "")
		assert.Equal(t, w.counts(), "{\"cannot\" 3\n \"repl\" 4}\n")
	}},
	{title: "a failure that is not retrying is never counted", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", "exit 2")))
		stderr, agent := reported("Hook 'lint' failed: exit 2")
		w.stop().is(1, tellBoth("brepl: 'lint' failed: exit 2", agent), stderr)
		w.stop().is(1, tellUser("brepl: 'lint' failed: exit 2"), stderr)
		assert.Equal(t, w.counts(), "absent")
	}},
	{title: "after the limit a pass starts the count anew", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(hookWhile("tests", "pass", retry, ":max-retries 1"), bash("lint", "exit 75")))
		stderr, agent := reported("Hook 'tests' failed after 1 retry. Giving up.", "Last failure: exit 1")
		const giveUp = "brepl: 'tests' failed after 1 retry, giving up; 'lint' cannot run: it says that it cannot run now (exit 75)"
		block := blocked("Hook 'tests' failed: exit 1", "This stop is blocked: attempt 1 of 1. Fix the cause, then stop again.")
		w.stop().is(2, tellUser("brepl: 'tests' failed, attempt 1/1"), block)
		w.stop().is(1, tellBoth(giveUp, agent), stderr)
		w.stop().is(1, tellUser(giveUp), strings.Replace(stderr, "exit 1\n", "exit 1\n"+stuck+"\n", 1))
		w.write("pass", "")
		w.stop().is(0, approveTelling("brepl: 'lint' cannot run: it says that it cannot run now (exit 75)"), "")
		assert.Equal(t, w.counts(), "{\"tests\" 0}\n")
		assert.NilError(t, removeFile(w.scratch, "pass"))
		w.stop().is(2, tellUser("brepl: 'tests' failed, attempt 1/1"), block)
		w.stop().is(1, tellBoth(giveUp, agent), stderr)
	}},
	{title: "a broken configuration is told once, and again after it was whole", run: func(t *testing.T) {
		w := newWorld(t, "{")
		const fault = ".brepl/hooks.edn:1:2: EOF while reading, starting at line 1: expected } to match { at line 1, column 1"
		const user, text = "brepl: the stop hooks cannot be run: " + fault, "The stop hooks cannot be run: " + fault + "\n1 | {\n  |  ^\n" + noHookRun
		w.stop().is(1, tellBoth(user, text), text+"\n")
		w.stop().is(1, tellUser(user), text+"\n")
		w.project.Write(".brepl/hooks.edn", hooksEDN(bash("tests", "true")))
		w.stop().is(0, approve, "")
		w.project.Write(".brepl/hooks.edn", "{")
		w.stop().is(1, tellBoth(user, text), text+"\n")
	}},
}
