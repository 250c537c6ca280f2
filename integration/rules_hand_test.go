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

var handRules = []ruleTest{
	{title: "hook stop --dry-run prints what would run, where, with which timeout, and runs nothing", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(
			bash("lint", `touch "$WORLD/ran"`, `:cwd "src"`, ":timeout 30"),
			eval("tests", "(run\n  :all)", retry, ":max-retries 0", ":required? true", ":timeout 700", `:when-changed ["src/**" "test/**"]`),
			bash("gate", "true", retry),
		))
		w.project.Write(".nrepl-port", strconv.Itoa(w.stalePort()))
		w.env = append(w.env, "BREPL_PORT=no port")
		w.stop("--dry-run").is(0, lines(
			"3 hooks of $PROJECT/.brepl/hooks.edn",
			" 1. lint",
			`      runs      touch "$WORLD/ran"`,
			"      in        $PROJECT/src",
			"      timeout   30 s",
			"      failure   is reported, the agent can stop",
			" 2. tests",
			"      evaluates (run :all)",
			`      in        nREPL at localhost:$STALE (.nrepl-port), then BREPL_PORT: "no port" is not a port number, then a server that runs in this project`,
			"      timeout   700 s",
			"      failure   makes the agent go on, without a limit; required",
			"      only when src/**, test/** changed",
			" 3. gate",
			"      runs      true",
			"      in        $PROJECT",
			"      timeout   60 s",
			"      failure   makes the agent go on, up to 10 times",
			"Timeouts sum up to 790 s. The host gives 600 s, of which 595 s are used.",
			"That is more than the host gives. Run `brepl hook install` again: it writes a timeout that fits.",
		), "")
		assert.Equal(t, w.wrote("ran"), "absent")
		assert.DeepEqual(t, w.stateFiles(), []string(nil))
	}},
	{title: "hook stop --dry-run without a configuration, and with a broken one", run: func(t *testing.T) {
		w := newWorld(t, "")
		w.stop("--dry-run").is(0, "No .brepl/hooks.edn here: every stop is allowed.\n", "")
		w.project.Write(".brepl/hooks.edn", "[]")
		w.stop("--dry-run").is(1, "", ".brepl/hooks.edn:1:1: expected a map such as {:stop []}, found a vector\n1 | []\n  | ^\n")
	}},
	{title: "hook run is exit 0 when all pass, and counts nothing", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", "echo fine"), bash("tests", "true", retry)))
		w.keep(w.countsFile(), "{\"tests\" 3}\n")
		w.byHand("run").is(0, lines("passed lint ($TOOK)", "passed tests ($TOOK)", "2 passed, 0 failed, 0 skipped"), "")
		assert.Equal(t, w.counts(), "{\"tests\" 3}\n")
	}},
	// Issue 14: a hook that could not run was taken for one that passed.
	{title: "hook run is exit 75 when nothing failed and something was skipped", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", "echo fine"), bash("tests", "true", retry), bash("gone", "exit 75"), eval("repl", "1")))
		w.keep(w.countsFile(), "{\"tests\" 3}\n")
		w.byHand("run").is(75, lines(
			"passed lint ($TOOK)",
			"passed tests ($TOOK)",
			"skipped gone: it says that it cannot run now (exit 75)",
			"skipped repl: no nREPL server: no --port, no .nrepl-port, and BREPL_PORT is not set"+nowhere,
			"2 passed, 0 failed, 2 skipped",
		), "")
		assert.Equal(t, w.counts(), "{\"tests\" 3}\n")
	}},
	{title: "hook run is exit 1 when one fails, runs them all, and counts nothing", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "echo expected 1; exit 3", retry), bash("lint", "true"), eval("repl", "1", ":required? true")))
		w.byHand("run").is(1, lines(
			"| expected 1",
			"failed tests: exit 3 ($TOOK)",
			"passed lint ($TOOK)",
			"failed repl: it is required and cannot run: no nREPL server: no --port, no .nrepl-port, and BREPL_PORT is not set"+nowhere,
			"1 passed, 2 failed, 0 skipped",
		), "")
		assert.Equal(t, w.counts(), "absent")
	}},
	{title: "hook run says what ran, and that nothing did", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("tests", "(run)"), bash("py", "echo 'no tests ran in 0.00s'; exit 5")))
		w.withREPL().On("(run)").Out("\nTesting a-test\n\nTesting b-test\n").Value("{:test 42 :pass 180 :fail 0 :error 0}")
		w.byHand("run").is(1, lines(
			"passed tests: 42 tests, 180 assertions in 2 namespaces ($TOOK)",
			"| no tests ran in 0.00s",
			"failed py: no test ran ($TOOK)",
			"1 passed, 1 failed, 0 skipped",
		), "")
	}},
	{title: "hook run NAME runs only that one", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("a", "exit 1"), bash("b", "true"), bash("c", "true")))
		w.byHand("run", "c", "b").is(0, lines("passed b ($TOOK)", "passed c ($TOOK)", "2 passed, 0 failed, 0 skipped"), "")
		w.byHand("run", "d").is(1, "", "brepl hook run: there is no hook \"d\"; there is a, b, c\nRun 'brepl hook run --help' for usage.\n")
	}},
	{title: "hook check and hook run without a configuration are exit 1", run: func(t *testing.T) {
		w := newWorld(t, "")
		w.byHand("check").is(1, "", "there is no .brepl/hooks.edn in $PROJECT; `brepl hook install` writes one with examples\n")
		w.byHand("run").is(1, "", "there is no .brepl/hooks.edn in $PROJECT; `brepl hook install` writes one with examples\n")
	}},
	{title: "hook check --json is one object", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("a", "true", ":timout 1")))
		r := w.byHand("check", "--json")
		assert.Equal(t, r.exit, 0)
		assert.Equal(t, canonical(t, r.stdout), canonical(t, `{"file":".brepl/hooks.edn","ok":true,"hooks":["a"],"errors":[],
			"doubts":[{"line":2,"column":40,"message":"hook 'a': unknown key :timout (did you mean `+"`:timeout`"+`?)"}]}`))
		w.project.Write(".brepl/hooks.edn", "[]")
		r = w.byHand("check", "--json")
		assert.Equal(t, r.exit, 1)
		assert.Equal(t, canonical(t, r.stdout), canonical(t, `{"file":".brepl/hooks.edn","ok":false,"hooks":[],"doubts":[],
			"errors":[{"line":1,"column":1,"message":"expected a map such as {:stop []}, found a vector"}]}`))
	}},
	{title: "brepl hooks is the same as brepl hook", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.run(fakes.OneLine(w.stopEvent()), "hooks", "stop").blocks("tests", 1)
		w.run(fakes.OneLine(w.endEvent()), "hooks", "session-end").is(0, "", "")
	}},
	{title: "debugging writes a file of 0600 and a line on stderr, never stdout", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "true")))
		w.stop().is(0, approve, "")
		assert.Equal(t, content(t, filepath.Join(w.private(), "debug.log")), "absent")
		r := w.stop("--debug")
		assert.Equal(t, r.exit, 0)
		assert.Equal(t, r.stdout, approve)
		matches(t, r.stderr, `^brepl debug: stop session="\$SESSION" read=\d+ bytes in \S+, handled in \S+, exit 0 \$PRIVATE/debug\.log\n$`)
		w.env = append(w.env, "BREPL_HOOK_DEBUG=1")
		r = w.stop()
		assert.Equal(t, r.stdout, approve)
		matches(t, r.stderr, `^brepl debug: stop .*\n$`)
		log := content(t, filepath.Join(w.private(), "debug.log"))
		matches(t, log, `(?s)^\S+ brepl hook stop pid=\d+\n.*\n  exit    0\n  stdout  {"decision":"approve"}\n.* brepl hook stop pid=\d+\n`)
		assert.Assert(t, contains(w.stateFiles(), "-rw------- $PRIVATE/debug.log"), "%q", w.stateFiles())
	}},
	{title: "the log of a hook named debug and the debug log are two files", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("debug", "echo hi; exit 1", retry)))
		r := w.stop("--debug")
		assert.Equal(t, r.exit, 2)
		_, rest, _ := strings.Cut(r.raw.Stderr, "; log: ")
		log, _, _ := strings.Cut(rest, "):\n")
		assert.Equal(t, content(t, log), "hi\n")
	}},
}

func contains(list []string, item string) bool { return count(list, item) == 1 }
