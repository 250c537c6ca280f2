//go:build unix

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

func removeFile(dir, name string) error { return os.Remove(filepath.Join(dir, name)) }

// cannotRun expects a hook to be passed over with one line for the user, and as a required one to end the run.
func cannotRun(t *testing.T, w *world, name, why string, hook func(more ...string) string) {
	t.Helper()
	after := bash("after", `echo after >> "$WORLD/after"`)
	w.project.Write(".brepl/hooks.edn", hooksEDN(hook(retry), after))
	w.stop().is(0, approveTelling("brepl: '"+name+"' cannot run: "+why), "")
	assert.Equal(t, w.wrote("after"), "after\n")
	assert.Equal(t, w.counts(), "absent")

	w.project.Write(".brepl/hooks.edn", hooksEDN(hook(retry, ":required? true"), after))
	r := w.stop()
	assert.Equal(t, r.exit, 1)
	assert.Equal(t, r.stderr, lines("Hook '"+name+"' cannot run: "+why, "Pause and tell the user."))
	assert.Equal(t, r.stdout, tellBoth("brepl: '"+name+"' cannot run: "+why,
		"Hook '"+name+"' cannot run: "+why+"\nPause and tell the user."))
	assert.Equal(t, w.wrote("after"), "after\n")
	assert.Equal(t, w.counts(), "absent")
}

var runRules = []ruleTest{
	{title: "a command that is not found cannot run", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN())
		// What the shell says of it is output like any other, and stands in the log.
		w.project.Write(".brepl/hooks.edn", hooksEDN(bash("lint", "no-such-linter --all", retry), bash("after", `echo after >> "$WORLD/after"`)))
		w.stop().is(0, approveTelling("brepl: 'lint' cannot run: the command no-such-linter was not found or cannot be executed"), "")
		assert.Equal(t, w.wrote("after"), "after\n")
		assert.Equal(t, w.counts(), "absent")
	}},
	{title: "a required command that is not found ends the run", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", "no-such-linter --all", retry, ":required? true"), bash("after", `touch "$WORLD/after"`)))
		stderr, agent := pausing(
			"Hook 'lint' cannot run: the command no-such-linter was not found or cannot be executed",
			"Pause and tell the user.",
			outputOf("lint"),
			"| bash: line 1: no-such-linter: command not found",
		)
		w.stop().is(1, tellBoth("brepl: 'lint' cannot run: the command no-such-linter was not found or cannot be executed", agent), stderr)
		assert.Equal(t, w.wrote("after"), "absent")
		assert.Equal(t, w.counts(), "absent")
	}},
	{title: "a quoted command that is not found cannot run", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", `'no-such-linter' --all`, retry)))
		w.stop().is(0, approveTelling("brepl: 'lint' cannot run: the command no-such-linter was not found or cannot be executed"), "")
	}},
	{title: "a file that is not executable cannot run", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", "./lint.sh", retry)), fakes.WithFile("lint.sh", "#!/bin/sh\n", 0o644))
		w.stop().is(0, approveTelling("brepl: 'lint' cannot run: the command ./lint.sh was not found or cannot be executed"), "")
	}},
	{title: "exit 127 of a program that is there is a failure", run: func(t *testing.T) {
		for _, code := range []int{126, 127} {
			w := newWorld(t, hooksEDN(bash("lint", fmt.Sprintf("CI=1 ./lint.sh %d", code))), fakes.WithFile("lint.sh", "#!/bin/sh\nexit $1\n", 0o755))
			why := fmt.Sprintf("exit %d", code)
			stderr, agent := reported("Hook 'lint' failed: " + why)
			w.stop().is(1, tellBoth("brepl: 'lint' failed: "+why, agent), stderr)
		}
	}},
	{title: "the PATH of :env and the folder of :cwd decide whether a command is found", run: func(t *testing.T) {
		w := newWorld(t, "", fakes.WithFile("sub/tool", "#!/bin/sh\nexit 127\n", 0o755))
		w.project.Write(".brepl/hooks.edn", hooksEDN(bash("there", "./tool", `:cwd "sub"`), bash("not there", "./tool"), bash("path", "tool", `:env {"PATH" "`+w.project.Path("sub")+`:/usr/bin:/bin"}`)))
		stderr, agent := reported("Hook 'there' failed: exit 127", "", "Hook 'path' failed: exit 127")
		w.stop().is(1, tellBoth("brepl: 'there' failed: exit 127; 'not there' cannot run: the command ./tool was not found or cannot be executed; 'path' failed: exit 127", agent), stderr)
	}},
	{title: "exit 75 means not now", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN())
		cannotRun(t, w, "gate", "it says that it cannot run now (exit 75)", func(more ...string) string { return bash("gate", "exit 75", more...) })
	}},
	{title: "a missing :cwd cannot run", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN())
		cannotRun(t, w, "there", ":cwd no/such is not a directory", func(more ...string) string {
			return bash("there", "true", append(more, `:cwd "no/such"`)...)
		})
	}},
	{title: "without a shell nothing can run", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN())
		w.env = append(w.env, "PATH="+w.scratch)
		w.project.Write(".brepl/hooks.edn", hooksEDN(bash("lint", "true", ":required? true")))
		const why = "neither bash nor sh is on the PATH ($WORLD): no shell"
		stderr, agent := pausing("Hook 'lint' cannot run: "+why, "Pause and tell the user.")
		w.stop().is(1, tellBoth("brepl: 'lint' cannot run: "+why, agent), stderr)
	}},
	{title: "the shell is bash, else sh", run: func(t *testing.T) {
		const which = `echo "${BASH_VERSION:+bash}" > "$WORLD/trace"`
		w := newWorld(t, hooksEDN(bash("which", which)))
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "bash\n")

		bin := filepath.Join(w.scratch, "bin")
		assert.NilError(t, os.Mkdir(bin, 0o700))
		assert.NilError(t, os.Symlink("/bin/sh", filepath.Join(bin, "sh")))
		w.env = append(w.env, "PATH="+bin)
		w.project.Write(".brepl/hooks.edn", hooksEDN(bash("which", `echo "sh: $0" > "$WORLD/trace"`)))
		w.stop().is(0, approve, "")
		matches(t, w.wrote("trace"), `^sh: (.*/)?sh\n$`)
	}},
	{title: "stdin of a command is empty", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("cat", `cat > "$WORLD/stdin"`, ":timeout 5")))
		w.run(fakes.HeldOpen(w.stopEvent()), "hook", "stop").is(0, approve, "")
		assert.Equal(t, w.wrote("stdin"), "")
	}},
	{title: "a timeout sends TERM to the process group", run: func(t *testing.T) {
		fullRun(t)
		w := newWorld(t, hooksEDN(bash("slow", `trap 'echo term >> "$WORLD/trace"; exit 0' TERM; (trap 'echo child >> "$WORLD/trace"; exit' TERM; sleep 20000 & wait) & echo started; wait`, ":timeout 3")))
		stderr, agent := reported("Hook 'slow' failed: timed out after 3 s", outputOf("slow"), "| started")
		r := w.stop()
		r.is(1, tellBoth("brepl: 'slow' failed: timed out after 3 s", agent), stderr)
		assert.Assert(t, r.raw.Elapsed > 3*time.Second, "%v", r.raw.Elapsed)
		trace := w.wrote("trace")
		assert.Assert(t, trace == "term\nchild\n" || trace == "child\nterm\n", "%q", trace)
	}},
	{title: "2 s after TERM comes KILL", run: func(t *testing.T) {
		fullRun(t)
		w := newWorld(t, hooksEDN(bash("deaf", `exec 2>/dev/null; trap 'echo term >> "$WORLD/trace"' TERM; while :; do sleep 0.1; done`, ":timeout 3", retry)))
		r := w.stop()
		r.is(2, tellUser("brepl: 'deaf' failed, attempt 1/10"), blocked(
			"Hook 'deaf' failed: timed out after 3 s",
			"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
		))
		assert.Assert(t, r.raw.Elapsed > 5*time.Second, "%v", r.raw.Elapsed)
		assert.Equal(t, w.wrote("trace"), "term\n")
	}},
	{title: "children left behind get TERM", run: func(t *testing.T) {
		fullRun(t)
		w := newWorld(t, hooksEDN(bash("server", `(trap 'echo term > "$WORLD/trace"; exit' TERM; touch "$WORLD/ready"; sleep 20000 & wait) & while ! test -e "$WORLD/ready"; do sleep 0.01; done; echo $! > "$WORLD/pid"`)))
		r := w.stop()
		r.is(0, approve, "")
		pid := w.pid()
		assert.Assert(t, eventually(func() bool { return !alive(pid) && w.wrote("trace") == "term\n" }), "alive: %v, %q", alive(pid), w.wrote("trace"))
	}},
	{title: "a child that left the group may live on but cannot hold the hook", run: func(t *testing.T) {
		if _, err := exec.LookPath("setsid"); err != nil {
			t.Skipf("SKIPPED: a command that leaves its process group needs setsid(1): %v", err)
		}
		// run fails when a stream of ours is still held.
		w := newWorld(t, hooksEDN(bash("daemon", `setsid sh -c 'echo $$ > "$WORLD/pid"; exec sleep 20' & while ! test -s "$WORLD/pid"; do sleep 0.01; done; echo up`)))
		r := w.stop()
		r.is(0, approve, "")
		pid := w.pid()
		assert.Assert(t, alive(pid), "it was ended too")
		assert.NilError(t, syscall.Kill(pid, syscall.SIGKILL))
	}},
	{title: "a command that is killed says by what", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("killed", "kill -9 $$")))
		stderr, agent := reported("Hook 'killed' failed: killed by SIGKILL")
		w.stop().is(1, tellBoth("brepl: 'killed' failed: killed by SIGKILL", agent), stderr)
	}},
	{title: "our own deadline is the host's timeout of 3 s less what a verdict needs", run: func(t *testing.T) {
		fullRun(t)
		inHostTime(t, 3, func(host int) result {
			w := newWorld(t, hooksEDN(bash("deaf", `trap '' TERM; while :; do sleep 0.1; done`), bash("after", `touch "$WORLD/after"`), bash("last", "true", retry)))
			w.settings(host)
			const again = "run `brepl hook install` again, which raises that"
			why := fmt.Sprintf("timed out: the host gives the stop hook %d s in all; ", host) + again
			late := fmt.Sprintf("the hooks before it took the %d s that the host gives the stop hook; ", host) + again
			stderr, _ := reported("Hook 'deaf' failed: "+why, "", "Hook 'after' was not run: "+late, "", "Hook 'last' was not run: "+late)
			_, agent := reported("Hook 'deaf' failed: " + why) // what was not run says nothing about itself
			r := w.stop()
			r.is(1, tellBoth("brepl: 'deaf' failed: "+why+"; 'after' was not run: "+late+"; 'last' was not run: "+late, agent), stderr)
			assert.Equal(t, w.wrote("after"), "absent")
			assert.Equal(t, w.counts(), "absent")
			return r
		})
	}},
	{title: "a retrying hook at our own deadline is counted and blocks", run: func(t *testing.T) {
		fullRun(t)
		inHostTime(t, 2, func(host int) result {
			w := newWorld(t, hooksEDN(bash("slow", "sleep 20000", retry)))
			w.settings(host)
			r := w.stop()
			r.is(2, tellUser("brepl: 'slow' failed, attempt 1/10"), blocked(
				fmt.Sprintf("Hook 'slow' failed: timed out: the host gives the stop hook %d s in all; run `brepl hook install` again, which raises that", host),
				"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
			))
			assert.Equal(t, w.counts(), "{\"slow\" 1}\n")
			return r
		})
	}},
	{title: "an evaluation at our own deadline leaves time for the verdict, whatever the server does", run: func(t *testing.T) {
		fullRun(t)
		for _, script := range []func(*fakes.Expect){
			func(e *fakes.Expect) { e.Hang() },
			func(e *fakes.Expect) { e.HangUninterruptible() },
		} {
			inHostTime(t, 2, func(host int) result {
				w := newWorld(t, hooksEDN(eval("tests", "(run-tests)", retry)))
				w.settings(host)
				script(w.withREPL().On("(run-tests)"))
				r := w.stop()
				r.is(2, tellUser(attempt1), blocked(
					fmt.Sprintf("Hook 'tests' failed: timed out: the host gives the stop hook %d s in all; run `brepl hook install` again, which raises that", host),
					"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
				))
				return r
			})
		}
	}},
	{title: "a lock that is held does not take the verdict over the host's timeout", run: func(t *testing.T) {
		for host := 2; ; host *= 2 { // more for a machine that is too busy; the lock is not waited for longer than 5 s anyway
			w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
			w.settings(host)
			unlock := w.holdLock()
			r := w.stop()
			unlock()
			assert.Equal(t, r.exit, 1, r.stderr)
			if r.raw.Elapsed < time.Duration(host)*time.Second {
				return
			}
			assert.Assert(t, host < 5, "%v of %d s", r.raw.Elapsed, host)
		}
	}},
	{title: "a host that gives up ends the command too, and nothing is counted", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("slow", `echo $$ > "$WORLD/pid"; sleep 20000`, retry)))
		cmd := exec.CommandContext(t.Context(), brepl(t), "hook", "stop")
		cmd.Dir, cmd.Env, cmd.Stdin = w.dir, w.environment(), strings.NewReader(w.stopEvent())
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		assert.NilError(t, cmd.Start())
		assert.Assert(t, eventually(func() bool { return strings.HasSuffix(w.wrote("pid"), "\n") }))
		pid := w.pid()
		// The host's way: TERM to the group of the hook, 1.5 s later KILL.
		assert.NilError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM))
		err := cmd.Wait()
		assert.Assert(t, cmd.ProcessState.ExitCode() != 2, "%v", err)
		assert.Assert(t, eventually(func() bool { return !alive(pid) }), "the command lives on")
		assert.Equal(t, w.counts(), "absent")
	}, alone: true},
	{title: "hook check says when the timeouts sum up to more than the host gives", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("a", "true", ":timeout 400"), bash("b", "true", ":timeout 195")))
		w.hook("check").is(0, ".brepl/hooks.edn can be used: 2 hooks (a, b)\n", "")
		w.project.Write(".brepl/hooks.edn", hooksEDN(bash("a", "true", ":timeout 400"), bash("b", "true", ":timeout 196")))
		w.hook("check").is(0, "The timeouts of the hooks sum up to 596 s. That is more than the host gives. "+
			"Run `brepl hook install` again: it writes a timeout that fits.\n.brepl/hooks.edn can be used: 2 hooks (a, b)\n", "")
	}},
}

// settings writes an entry for our Stop hook with this timeout, in seconds.
func (w *world) settings(timeout int) {
	w.project.Write(".claude/settings.local.json", fmt.Sprintf(
		`{"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"echo not ours","timeout":1},{"type":"command","command":"'%s' hook stop","timeout":%d}]}]}}`,
		brepl(w.t), timeout))
}

// pid is what a command has written to $WORLD/pid.
func (w *world) pid() int {
	w.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(w.wrote("pid")))
	assert.NilError(w.t, err)
	return pid
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// eventually waits for what happens just after the hook has ended.
func eventually(done func() bool) bool {
	for deadline := time.Now().Add(waitLimit); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
