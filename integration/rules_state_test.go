//go:build unix

package integration

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

const attempt1 = "brepl: 'tests' failed, attempt 1/10"

var stateRules = []ruleTest{
	{title: "the state file is an EDN map of names to counts with mode 0600, and all else is in a private folder", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash(`run "all" \ tests λ`, "echo x; exit 1", retry)))
		assert.Equal(t, w.stop().exit, 2)
		assert.Equal(t, w.counts(), `{"run \"all\" \\ tests λ" 1}`+"\n")
		user := "$STATE/brepl-" + strconv.Itoa(os.Geteuid())
		assert.DeepEqual(t, w.stateFiles(), []string{
			"-rw------- $PRIVATE/hook-run%20%22all%22%20%5C%20tests%20%CE%BB.log",
			"-rw------- $PRIVATE/lock",
			"-rw------- $PRIVATE/stop.edn",
			"-rw------- $STATE/brepl-stop-hook-$SESSION.edn",
			"drwx------ $PRIVATE",
			"drwx------ " + user,
		})
	}},
	{title: "a state file that another program wrote is read", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.keep(w.countsFile(), "; kept by hand\n{\"lint\", 0, \"tests\" 3, #_#_\"x\" 1}")
		w.stop().blocks("tests", 4)
		assert.Equal(t, w.counts(), "{\"lint\" 0\n \"tests\" 4}\n")
	}},
	{title: "a state file that does not parse is set aside as .bad and said once", run: func(t *testing.T) {
		for _, bad := range []string{"", "{", "[1]", `{"tests" -1}`, `{"tests" "3"}`, `{:tests 3}`, "\x00\xff", `{"tests" 1 "lint"}`} {
			w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
			w.keep(w.countsFile(), bad)
			r := w.stop()
			assert.Equal(t, r.exit, 2)
			assert.Equal(t, r.stdout, tellUser(attempt1))
			first, rest, _ := strings.Cut(r.stderr, "\n")
			matches(t, first, `^brepl: \$STATE/brepl-stop-hook-\$SESSION\.edn does not parse \(.+\); it counts as empty and is now \$STATE/brepl-stop-hook-\$SESSION\.edn\.bad$`)
			assert.Equal(t, rest, blocked(
				"Hook 'tests' failed: exit 1",
				"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
			))
			assert.Equal(t, w.counts(), "{\"tests\" 1}\n")
			assert.Equal(t, content(t, w.countsFile()+".bad"), bad)
			r = w.stop()
			assert.Assert(t, strings.HasPrefix(r.stderr, "Hook 'tests' failed"), r.stderr)
		}
	}},
	{title: "a symlinked state file is neither followed nor believed, and counting goes on in the private folder", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(hookWhile("tests", "pass", retry)))
		w.write("victim", "{\"tests\" 9}\n")
		assert.NilError(t, os.Symlink(filepath.Join(w.scratch, "victim"), w.countsFile()))
		// Said once in a session.
		for i, said := range []string{
			"brepl: $STATE/brepl-stop-hook-$SESSION.edn is not used: it is a symbolic link; remove it; counting goes on in $PRIVATE\n", "",
		} {
			w.stop().is(2, tellUser(fmt.Sprintf("brepl: 'tests' failed, attempt %d/10", i+1)), said+blocked(
				"Hook 'tests' failed: exit 1",
				fmt.Sprintf("This stop is blocked: attempt %d of 10. Fix the cause, then stop again.", i+1),
			))
		}
		assert.Equal(t, w.wrote("victim"), "{\"tests\" 9}\n")
		assert.Equal(t, content(t, filepath.Join(w.private(), filepath.Base(w.countsFile()))), "{\"tests\" 2}\n")
		w.write("pass", "")
		w.stop().is(0, approve, "")
		assert.Equal(t, content(t, filepath.Join(w.private(), filepath.Base(w.countsFile()))), "absent")
		target, err := os.Readlink(w.countsFile())
		assert.NilError(t, err)
		assert.Equal(t, target, filepath.Join(w.scratch, "victim"))
	}},
	{title: "a FIFO or a folder under the name of the state file cannot hold the hook", run: func(t *testing.T) {
		for _, make := range []func(string) error{fifo, func(path string) error { return os.Mkdir(path, 0o700) }} {
			w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
			assert.NilError(t, make(w.countsFile()))
			r := w.stop()
			assert.Equal(t, r.exit, 2, r.stderr)
			assert.Equal(t, r.stdout, tellUser(attempt1))
		}
	}},
	{title: "a session id becomes a file name whatever it holds", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", `printf %s "$BREPL_SESSION_ID" > "$WORLD/id"; exit 1`, retry)))
		for _, c := range []struct{ id, file string }{
			{"../../etc/passwd", `brepl-stop-hook-..%2F..%2Fetc%2Fpasswd.edn`},
			{"..", `brepl-stop-hook-%2E%2E.edn`},
			{".", `brepl-stop-hook-%2E.edn`},
			{"a b\nc", `brepl-stop-hook-a%20b%0Ac.edn`},
			{"%2F", `brepl-stop-hook-%252F.edn`},
			{"é😀", `brepl-stop-hook-%C3%A9%F0%9F%98%80.edn`},
			{"$(touch x)`;", `brepl-stop-hook-%24%28touch%20x%29%60%3B.edn`},
			{strings.Repeat("x", 100), `brepl-stop-hook-` + strings.Repeat("x", 100) + `.edn`},
			{strings.Repeat("x", 101), `brepl-stop-hook-%hash-[0-9a-f]{32}.edn`},
			{strings.Repeat("/", 5000), `brepl-stop-hook-%hash-[0-9a-f]{32}.edn`},
		} {
			w.state = realTempDir(t)
			w.env = append(w.env, "BREPL_STATE_DIR="+w.state)
			event := w.stopEvent(fakes.Set("session_id", c.id))
			r := w.run(fakes.OneLine(event), "hook", "stop")
			r.blocks("tests", 1)
			files, err := filepath.Glob(filepath.Join(w.state, "*.edn"))
			assert.NilError(t, err)
			assert.Equal(t, len(files), 1, "%q: %q", c.id, files)
			expression := "^" + strings.ReplaceAll(regexp.QuoteMeta(c.file), `\[0-9a-f\]\{32\}`, "[0-9a-f]{32}") + "$"
			matches(t, filepath.Base(files[0]), expression)
			assert.Equal(t, content(t, filepath.Join(w.scratch, "id")), c.id)
			w.run(fakes.OneLine(fakes.SessionEndEvent("other", fakes.Set("session_id", c.id)).JSON()), "hook", "session-end").is(0, "", "")
			files, err = filepath.Glob(filepath.Join(w.state, "*.edn"))
			assert.NilError(t, err)
			assert.Equal(t, len(files), 0, "%q: %q", c.id, files)
		}
	}},
	{title: "an empty session id is an unknown session", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", leaveTrace)))
		w.run(fakes.OneLine(w.stopEvent(fakes.Set("session_id", ""))), "hook", "stop").is(0, approve, "")
		matches(t, w.wrote("trace"), `^unknown-[0-9a-f]{16}\n$`)
	}},
	// Backups and debug logs went by the current directory, a stop's counts by the project, so the end of the session left the former.
	{title: "the hooks of a session without an id share one state, wherever the agent stands", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", leaveTrace+"; exit 1", retry)), fakes.WithFile("src/a.clj", "(a)\n", 0o644))
		noID := fakes.Unset("session_id")
		edit := fakes.PreWriteEvent(w.project.Path("src/a.clj"), "(b)\n", fakes.InProject(w.dir), noID).JSON()
		stop := w.stopEvent(noID)
		for _, dir := range []string{w.project.Path("src"), w.dir} {
			w.dir = dir
			assert.Equal(t, w.run(fakes.OneLine(edit), "hook", "validate", "--debug").exit, 0)
			assert.Equal(t, w.run(fakes.OneLine(stop), "hook", "stop", "--debug").exit, 2)
		}
		id, _, _ := strings.Cut(w.wrote("trace"), "\n")
		var files []string
		for _, file := range w.stateFiles() {
			_, name, _ := strings.Cut(strings.ReplaceAll(file, id, "$ID"), "$STATE/")
			files = append(files, path.Base(name))
		}
		slices.Sort(files)
		assert.DeepEqual(t, slices.Compact(files), []string{
			"$ID", "1.bak", "backups", filepath.Base(filepath.Dir(w.private())), "brepl-stop-hook-$ID.edn", "debug.log", "lock", "manifest.edn", "stop.edn",
		})
		w.run(fakes.OneLine(fakes.SessionEndEvent("other", noID).JSON()), "hook", "session-end").is(0, "", "")
		assert.Equal(t, len(w.stateFiles()), 1, "%q", w.stateFiles()) // the folder of all sessions
	}},
	{title: "session-end removes everything of its session, at once", run: func(t *testing.T) {
		costs(t, 10, func() time.Duration { return newWorld(t, "").nothing() }, func() time.Duration {
			w := newWorld(t, hooksEDN(bash("tests", "echo x; exit 1", retry)))
			w.keep(w.countsFile(), "bad")
			assert.Equal(t, w.stop().exit, 2)
			other := w.session
			w.session += "-ending"
			w.keep(w.countsFile(), "bad")
			assert.Equal(t, w.stop().exit, 2)
			ending := w.session
			r := w.run(fakes.HeldOpenNoNewline(w.endEvent()), "hook", "session-end")
			r.is(0, "", "")
			for _, file := range w.stateFiles() {
				assert.Assert(t, !strings.Contains(file, ending), file)
			}
			w.session = other
			assert.Equal(t, w.counts(), "{\"tests\" 1}\n")
			return r.raw.AfterBrace
		})
	}, alone: true},
	{title: "session-end takes the session as an argument, and an empty one means the event", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.stop().blocks("tests", 1)
		w.hook("session-end", w.session).is(0, "", "")
		assert.Equal(t, w.counts(), "absent")
		w.stop().blocks("tests", 1)
		w.run(fakes.OneLine(w.endEvent()), "hook", "session-end", "").is(0, "", "")
		assert.Equal(t, w.counts(), "absent")
	}},
	{title: "session-end is exit 0 whatever it reads", run: func(t *testing.T) {
		w := newWorld(t, "")
		for _, in := range []fakes.Stdin{fakes.EOF(), fakes.OneLine("no json"), fakes.HalfEOF(w.endEvent()), fakes.DevNull()} {
			r := w.run(in, "hook", "session-end")
			assert.Equal(t, r.exit, 0, "%v: %s", in, r.stderr)
			assert.Equal(t, r.stdout, "", "%v", in)
		}
	}},
	{title: "leftovers older than 7 days are swept at the first use of state and at the session's end", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		user := filepath.Join(w.state, "brepl-"+strconv.Itoa(os.Geteuid()))
		leave := func() {
			w.keep(filepath.Join(user, "old", "stop.edn"), "{}")
			w.keep(filepath.Join(user, "young", "stop.edn"), "{}")
			for name, age := range map[string]time.Duration{
				"brepl-stop-hook-old.edn": 8, "brepl-stop-hook-old.edn.bad": 8, "brepl-stop-hook-young.edn": 6, "not-ours.edn": 8,
			} {
				path := filepath.Join(w.state, name)
				w.keep(path, "{}")
				when := time.Now().Add(-age * 24 * time.Hour)
				assert.NilError(t, os.Chtimes(path, when, when))
			}
			for name, age := range map[string]time.Duration{"old": 8, "young": 6} {
				for _, path := range []string{filepath.Join(user, name, "stop.edn"), filepath.Join(user, name)} {
					when := time.Now().Add(-age * 24 * time.Hour)
					assert.NilError(t, os.Chtimes(path, when, when))
				}
			}
		}
		foreign := func() []string {
			return slices.DeleteFunc(w.stateFiles(), func(file string) bool {
				return strings.Contains(file, "$PRIVATE") || strings.Contains(file, "$SESSION") || strings.HasSuffix(file, user)
			})
		}
		want := []string{
			"-rw------- $STATE/brepl-" + strconv.Itoa(os.Geteuid()) + "/young/stop.edn",
			"-rw------- $STATE/brepl-stop-hook-young.edn",
			"-rw------- $STATE/not-ours.edn",
			"drwx------ $STATE/brepl-" + strconv.Itoa(os.Geteuid()),
			"drwx------ $STATE/brepl-" + strconv.Itoa(os.Geteuid()) + "/young",
		}
		leave()
		w.stop().blocks("tests", 1)
		assert.DeepEqual(t, foreign(), want)
		leave()
		w.run(fakes.OneLine(w.endEvent()), "hook", "session-end").is(0, "", "")
		assert.DeepEqual(t, foreign(), want)
	}},
	{title: "a held lock is waited for at most 5 s, and what cannot be counted does not block", run: func(t *testing.T) {
		fullRun(t)
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		defer w.holdLock()()
		r := w.stop()
		assert.Equal(t, r.exit, 1, r.stderr)
		// Not "after 10 retries": there were none.
		assert.Assert(t, strings.Contains("\n"+r.stderr, "\nHook 'tests' failed: exit 1\n"), r.stderr)
		assert.Assert(t, !strings.Contains(r.stdout, "additionalContext"), r.stdout) // it could not be noted as told
		assert.Assert(t, r.raw.Elapsed > 5*time.Second, "%v", r.raw.Elapsed)
		assert.Equal(t, w.counts(), "absent")
	}},
	{title: "60 stops of one session at once lose no count", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry, ":max-retries 0")))
		spec, in := w.spec("hook", "stop"), fakes.OneLine(w.stopEvent())
		spec.Limit = time.Minute
		attempts := map[string]int{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 60 {
			all.Go(func() {
				o, err := spec.Run(in)
				mu.Lock()
				defer mu.Unlock()
				if err != nil || o.Exit != 2 {
					t.Errorf("exit %d, %v\n%s", o.Exit, err, o.Stderr)
				}
				attempts[o.Stdout]++
			})
		}
		all.Wait()
		want := map[string]int{}
		for i := 1; i <= 60; i++ {
			want[tellUser(fmt.Sprintf("brepl: 'tests' failed, attempt %d", i))] = 1
		}
		assert.DeepEqual(t, attempts, want)
		assert.Equal(t, w.counts(), "{\"tests\" 60}\n")
	}, alone: true},
	{title: "100 sessions at once do not mix", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", `echo "$BREPL_SESSION_ID"; grep -o '"session_id":"[^"]*"' "$BREPL_EVENT_FILE"; exit 1`, retry)))
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				id := fmt.Sprintf("session-%d", i)
				spec := w.spec("hook", "stop")
				spec.Limit = time.Minute
				o, err := spec.Run(fakes.OneLine(fakes.StopEvent(fakes.InProject(w.dir), fakes.InSession(id)).JSON()))
				if err != nil || o.Exit != 2 || o.Stdout != tellUser(attempt1) ||
					!strings.Contains(o.Stderr, "\n| "+id+"\n| \"session_id\":\""+id+"\"\n") {
					t.Errorf("%s: exit %d, %v, %s\n%s", id, o.Exit, err, o.Stdout, o.Stderr)
				}
			})
		}
		all.Wait()
		for i := range 100 {
			w.session = fmt.Sprintf("session-%d", i)
			assert.Equal(t, w.counts(), "{\"tests\" 1}\n")
		}
	}, alone: true},
}

// holdLock takes the session's lock, as another stop does, and returns the function that gives it back.
func (w *world) holdLock() (unlock func()) {
	w.t.Helper()
	path := filepath.Join(w.private(), "lock")
	w.keep(path, "")
	lock, err := os.OpenFile(path, os.O_RDWR, 0)
	assert.NilError(w.t, err)
	assert.NilError(w.t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	return func() { assert.Check(w.t, lock.Close()) }
}
