//go:build unix

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// aged makes files and folders look as if nothing had happened to them for so long.
func aged(t *testing.T, age time.Duration, paths ...string) {
	t.Helper()
	when := time.Now().Add(-age)
	for _, path := range paths {
		assert.NilError(t, os.Chtimes(path, when, when))
	}
}

const day = 24 * time.Hour

// userState is the folder of the private folders.
func (w *world) userState() string { return filepath.Dir(w.private()) }

var attemptOne = []string{"Hook 'tests' failed: exit 1", "This stop is blocked: attempt 1 of 10. Fix the cause, then stop again."}

var stateFaults = []fault{
	{49, "60 hooks of one session at once, with other commands between them: no lost count", func(t *testing.T) {
		fullRun(t)
		w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry, ":max-retries 0")))
		var all sync.WaitGroup
		var mu sync.Mutex
		said := map[string]int{}
		for i := range 60 {
			all.Go(func() {
				spec := w.spec("hook", "stop")
				spec.Limit = time.Minute
				o, err := spec.Run(fakes.OneLine(w.stopEvent()))
				mu.Lock()
				defer mu.Unlock()
				if err != nil || o.Exit != 2 {
					t.Errorf("exit %d, %v\n%s", o.Exit, err, o.Stderr)
				}
				said[o.Stdout]++
			})
			if i%10 == 0 {
				c := w.readers()[2+i/10%2]
				all.Go(func() {
					if o, err := w.spec("hook", c.name).Run(fakes.OneLine(c.event)); err != nil || o.Exit != 0 {
						t.Errorf("%s: exit %d, %v\n%s", c.name, o.Exit, err, o.Stderr)
					}
				})
			}
		}
		all.Wait()
		assert.Equal(t, w.counts(), "{\"tests\" 60}\n")
		for i := range 60 {
			assert.Equal(t, said[tellUser(fmt.Sprintf("brepl: 'tests' failed, attempt %d", i+1))], 1)
		}
	}},
	{49, "two sessions at once: no cross-talk", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", `echo "$BREPL_SESSION_ID"; grep -o '"session_id":"[^"]*"' "$BREPL_EVENT_FILE"; exit 1`, retry, ":max-retries 0")))
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				id := fmt.Sprintf("session-%d", i%2)
				o, err := w.spec("hook", "stop").Run(fakes.OneLine(fakes.StopEvent(fakes.InProject(w.dir), fakes.InSession(id)).JSON()))
				if err != nil || o.Exit != 2 || !strings.Contains(o.Stderr, "\n| "+id+"\n| \"session_id\":\""+id+"\"\n") {
					t.Errorf("%s: exit %d, %v\n%s", id, o.Exit, err, o.Stderr)
				}
			})
		}
		all.Wait()
		for _, id := range []string{"session-0", "session-1"} {
			w.session = id
			assert.Equal(t, w.counts(), "{\"tests\" 10}\n")
		}
		w.run(fakes.OneLine(w.endEvent()), "hook", "session-end").is(0, "", "")
		assert.Equal(t, w.counts(), "absent")
		w.session = "session-0"
		assert.Equal(t, w.counts(), "{\"tests\" 10}\n")
	}},
	{49, "the holder is killed: the lock is free", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		assert.Equal(t, w.stop().exit, 2)
		lock := filepath.Join(w.private(), "lock")
		holder := fakes.Spec{Path: "perl", Args: []string{"-e", `use Fcntl ":flock"; open(my $f, "+<", $ARGV[0]) or die; flock($f, LOCK_EX) or die; open(my $g, ">", $ARGV[1]); close $g; kill 9, $$`, lock, filepath.Join(w.scratch, "held")}, Env: w.environment()}
		o, err := holder.Run(fakes.DevNull())
		if err != nil {
			skipOrFail(t, "no perl to hold a lock: %v", err)
		}
		assert.Equal(t, o.Signal, "killed", o.Stderr)
		assert.Equal(t, w.wrote("held"), "")
		r := w.stop()
		assert.Equal(t, r.stdout, tellUser("brepl: 'tests' failed, attempt 2/10"))
	}},
	{49, "a stop that is killed leaves nothing that holds or breaks the next", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", `test -e "$WORLD/slow" && sleep 20000; exit 1`, retry)))
		w.write("slow", "")
		spec := w.spec("hook", "stop")
		spec.Limit = 500 * time.Millisecond
		o := fakes.Run(t, spec, fakes.OneLine(w.stopEvent()))
		assert.Assert(t, o.TimedOut)
		assert.NilError(t, removeFile(w.scratch, "slow"))
		w.stop().is(2, tellUser(attempt1), blocked(attemptOne...))
		w.run(fakes.OneLine(w.endEvent()), "hook", "session-end").is(0, "", "")
		assert.DeepEqual(t, w.stateFiles(), []string{"drwx------ " + normalize(w.userState(), w.names())})
	}},
	{49, "a lock that is never given back is waited for 5 s, and nothing blocks without a count", func(t *testing.T) {
		fullRun(t)
		w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		defer w.holdLock()()
		r := w.stop()
		assert.Equal(t, r.exit, 1, r.stderr)
		matches(t, r.stderr, `(?m)^It asks for a retry, but the retries cannot be counted, so nothing blocks: session "\$SESSION": another process holds the lock, for 5s now; try again when it has finished$`)
		for _, c := range w.readers()[1:] {
			r := w.run(fakes.OneLine(c.event), "hook", c.name)
			assert.Check(t, r.exit == 0, "%s: exit %d\n%s", c.name, r.exit, r.stderr)
		}
	}},
	{50, "corrupt and truncated", func(t *testing.T) {
		const whole = "{\"tests\" 3\n \"lint\" 1}\n"
		texts := []string{"\x00\x00\x00\x00", "[1]", "nil", "5", `"x"`, "{\"tests\" 3} {\"tests\" 4}", "{\"tests\" 3.5}", "{\"tests\" -3}", "{\"tests\" 99999999999999999999}", "{:tests 3}", "{\"tests\" \"3\"}", "#=(spit \"ran\" 1)", strings.Repeat("[", 100_000), "{\"tests\" 1 \"tests\" 2}", "\xff\xfe{\x00}\x00"}
		for n := range len(whole) - 1 {
			if n != 0 && n%5 == 0 {
				texts = append(texts, whole[:n])
			}
		}
		for _, text := range append(texts, "") {
			w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
			w.keep(w.countsFile(), text)
			r := w.stop()
			assert.Check(t, r.exit == 2 && r.stdout == tellUser(attempt1), "%.50q: exit %d\n%s%s", text, r.exit, r.stdout, r.stderr)
			first, _, _ := strings.Cut(r.stderr, "\n")
			matches(t, first, `^brepl: \$STATE/brepl-stop-hook-\$SESSION\.edn does not parse \(.+\); it counts as empty and is now \$STATE/brepl-stop-hook-\$SESSION\.edn\.bad$`)
			assert.Assert(t, len(first) < 400, first)
			assert.Equal(t, readOr(t, w.countsFile()+".bad", "absent"), text)
			assert.Equal(t, w.counts(), "{\"tests\" 1}\n")
			w.run(fakes.OneLine(w.endEvent()), "hook", "session-end").is(0, "", "")
			assert.Equal(t, readOr(t, w.countsFile()+".bad", "absent"), "absent")
		}
	}},
	{50, "what else is kept: corrupt, truncated, newer", func(t *testing.T) {
		for _, name := range []string{"stop.edn", "pause"} {
			for _, text := range []string{"", "{", "\x00\xff", "[]", "{:version 99 :new {:shape [1]}}", "2999", strings.Repeat("[", 100_000), strings.Repeat("x", 2<<20)} {
				w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
				w.keep(filepath.Join(w.private(), name), text)
				assert.NilError(t, os.Chmod(w.userState(), 0o700))
				r := w.stop() // the gate stays up
				assert.Check(t, r.exit == 2 && r.stdout == tellUser(attempt1) && strings.HasSuffix(r.stderr, blocked(attemptOne...)), "%s %.50q: exit %d\n%s%.500s", name, text, r.exit, r.stdout, r.stderr)
				assert.Equal(t, w.counts(), "{\"tests\" 1}\n")
				for _, args := range [][]string{{"pause"}, {"resume"}} {
					r := w.hook(args...)
					assert.Check(t, r.exit == 0 && r.stderr == "", "%s %.50q: %q: exit %d\n%s", name, text, args, r.exit, r.stderr)
				}
			}
		}
	}},
	{50, "a newer version's counts", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.keep(w.countsFile(), "{:version 2 :counts {\"tests\" 3}}\n")
		r := w.stop()
		assert.Equal(t, r.exit, 2)
		assert.Equal(t, readOr(t, w.countsFile()+".bad", "absent"), "{:version 2 :counts {\"tests\" 3}}\n") // nothing is lost
	}},
	{50, "too large", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.keep(w.countsFile(), "{}")
		assert.NilError(t, os.Truncate(w.countsFile(), 1<<30))
		e := w.native(native{stdin: strings.NewReader(w.stopEvent())}, brepl(t), "hook", "stop")
		assert.Assert(t, e.exit == 2 && strings.Contains(e.stderr, "$STATE/brepl-stop-hook-$SESSION.edn is not used: it is too large (over 1048576 bytes); remove it"), "exit %d\n%s", e.exit, e.stderr)
		lessThan(t, e.peak, 60)
	}},
	{50, "another owner's", func(t *testing.T) {
		needRoot(t, "make files of other users")
		w, program := openWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		assert.NilError(t, os.Chmod(w.state, 0o1777))
		assert.NilError(t, os.WriteFile(w.countsFile(), []byte("{\"tests\" 9}\n"), 0o644))
		assert.NilError(t, os.Chown(w.countsFile(), 12345, 12345))
		e := w.native(native{stdin: strings.NewReader(w.stopEvent()), unprivileged: true}, program, "hook", "stop")
		assert.Equal(t, e.exit, 2, e.stderr)
		assert.Equal(t, e.stdout, tellUser(attempt1))
		first, _, _ := strings.Cut(e.stderr, "\n")
		assert.Equal(t, first, fmt.Sprintf("brepl: $STATE/brepl-stop-hook-$SESSION.edn is not used: it belongs to another user (user id 12345, ours is %d); "+
			"ask for its removal, or set BREPL_STATE_DIR to a folder of your own; counting goes on in $STATE/brepl-%d/$SESSION", nobody, nobody))
		assert.Equal(t, w.counts(), "{\"tests\" 9}\n")
		e = w.native(native{stdin: strings.NewReader(w.endEvent()), unprivileged: true}, program, "hook", "session-end")
		assert.Check(t, e.exit == 0 && e.stdout == "" && strings.Count(e.stderr, "\n") <= 1, "exit %d\n%s", e.exit, e.stderr)
		assert.Equal(t, w.counts(), "{\"tests\" 9}\n")
	}},
	{50, "another owner's private folder, or one that others can look into", func(t *testing.T) {
		needRoot(t, "make files of other users")
		for _, prepare := range []func(folder string) error{
			func(folder string) error { return os.Chown(folder, 12345, 12345) },
			func(folder string) error { return os.Chmod(folder, 0o755) },
		} {
			w, program := openWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
			folder := filepath.Join(w.state, "brepl-"+strconv.Itoa(nobody))
			assert.NilError(t, os.Mkdir(folder, 0o700))
			w.giveAway(folder)
			assert.NilError(t, prepare(folder))
			e := w.native(native{stdin: strings.NewReader(w.stopEvent()), unprivileged: true}, program, "hook", "stop")
			assert.Equal(t, e.exit, 1, e.stderr)
			matches(t, e.stderr, `(?m)^It asks for a retry, but the retries cannot be counted, so nothing blocks: \$STATE/brepl-\d+ is not used: (it belongs to another user|other users can access it) \(.+\); .+$`)
			for _, args := range [][]string{{"pause"}, {"resume"}} {
				e = w.native(native{unprivileged: true}, program, append([]string{"hook"}, args...)...)
				assert.Check(t, e.exit == 1 && e.stdout == "" && strings.HasPrefix(e.stderr, "brepl: cannot "+args[0]+": $STATE/brepl-"), "%q: exit %d\n%s%s", args, e.exit, e.stdout, e.stderr)
			}
			e = w.native(native{stdin: strings.NewReader(w.endEvent()), unprivileged: true}, program, "hook", "session-end")
			assert.Check(t, e.exit == 0 && strings.Contains(e.stderr, "$STATE/brepl-"), "exit %d\n%s", e.exit, e.stderr)
			entries, err := os.ReadDir(folder)
			assert.NilError(t, err)
			assert.Equal(t, len(entries), 0)
		}
	}},
	{50, "a symlink is neither followed nor believed", func(t *testing.T) {
		for _, name := range []string{"", "stop.edn", "pause", "lock"} {
			w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
			w.write("victim", "until resumed\n")
			path := w.countsFile()
			if name != "" {
				w.keep(filepath.Join(w.private(), "x"), "")
				assert.NilError(t, os.Chmod(w.userState(), 0o700))
				path = filepath.Join(w.private(), name)
			}
			assert.NilError(t, os.Symlink(filepath.Join(w.scratch, "victim"), path))
			r := w.stop()
			assert.Check(t, r.exit == 2 || r.exit == 1 && name != "" && strings.Contains(r.stderr, "/"+name+" is not used: it is a symbolic link"), "%q: exit %d\n%s", name, r.exit, r.stderr)
			for _, args := range [][]string{{"pause"}, {"resume"}} {
				r = w.hook(args...)
				assert.Check(t, r.exit <= 1, "%q: %q: exit %d\n%s", name, args, r.exit, r.stderr)
			}
			r = w.run(fakes.OneLine(w.endEvent()), "hook", "session-end")
			assert.Equal(t, r.exit, 0)
			assert.Equal(t, w.wrote("victim"), "until resumed\n")
		}
	}},
	{50, "a symlinked private folder", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		assert.NilError(t, os.Symlink(w.scratch, w.userState()))
		r := w.stop()
		assert.Equal(t, r.exit, 1, r.stderr)
		assert.Assert(t, strings.Contains(r.stderr, "is not used: it is a symbolic link; remove it, or set BREPL_STATE_DIR to a folder of your own"), r.stderr)
		entries, err := os.ReadDir(w.scratch)
		assert.NilError(t, err)
		assert.Equal(t, len(entries), 0)
		assert.Equal(t, w.run(fakes.OneLine(w.endEvent()), "hook", "session-end").exit, 0)
	}},
	{50, "the state folder is a file, is missing, is relative", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.write("file", "mine")
		w.env = append(w.env, "BREPL_STATE_DIR="+filepath.Join(w.scratch, "file"))
		r := w.stop()
		assert.Assert(t, r.exit == 1 && strings.Contains(r.stderr, "BREPL_STATE_DIR: mkdir $WORLD/file: not a directory"), "exit %d\n%s", r.exit, r.stderr)
		r = w.run(fakes.OneLine(w.endEvent()), "hook", "session-end")
		assert.Equal(t, r.exit, 0)
		assert.Equal(t, w.wrote("file"), "mine")
		w.env = append(w.env, "BREPL_STATE_DIR="+filepath.Join(w.scratch, "new/deep"))
		assert.Equal(t, w.stop().exit, 2)
		w.env = append(w.env, "BREPL_STATE_DIR=relative")
		const relative = `BREPL_STATE_DIR="relative": give an absolute path, or unset it` + "\n"
		w.stop().is(1, "", relative)
		w.hook("pause").is(1, "", "brepl: cannot pause: "+relative)
		w.hook("resume").is(1, "", "brepl: cannot resume: "+relative)
		for _, c := range w.readers()[1:] {
			assert.Equal(t, w.run(fakes.OneLine(c.event), "hook", c.name).exit, 0)
		}
	}},
	{51, "no SessionEnd: swept later", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", "echo x; exit 1", retry)))
		leave := func(id string, age time.Duration) {
			w.session = id
			assert.Equal(t, w.stop().exit, 2)
			aged(t, age, filepath.Join(w.private(), "lock"), filepath.Join(w.private(), "stop.edn"), w.logOf("tests"), w.private(), w.countsFile())
		}
		for _, sweep := range []func(){
			stopOfNewSession(t, w),
			func() { w.run(fakes.OneLine(w.endEvent()), "hook", "session-end").is(0, "", "") },
		} {
			leave("young", 6*day)
			leave("held", 8*day)
			unlock := w.holdLock()
			aged(t, 8*day, filepath.Join(w.private(), "lock"), w.private())
			leave("old", 8*day)
			w.session = "old"
			gone := w.private()
			w.session = "sweeping"
			sweepUntil(t, sweep, func() bool { return !exists(gone) })
			unlock()
			for id, stays := range map[string]bool{"young": true, "held": true, "old": false} {
				w.session = id
				_, err := os.Stat(w.private())
				assert.Check(t, (err == nil) == stays, "%s: %v", id, err)
			}
			w.session = "young"
			assert.Equal(t, w.counts(), "{\"tests\" 1}\n")
			w.session = "old"
			assert.Equal(t, w.counts(), "absent")
			assert.NilError(t, os.RemoveAll(w.state))
		}
	}},
	{51, "SessionEnd killed: what it left is swept later", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", "echo x; exit 1", retry, ":max-retries 0")))
		for i := range 10 {
			w.session = fmt.Sprintf("ended-%d", i)
			assert.Equal(t, w.stop().exit, 2)
			spec := w.spec("hook", "session-end")
			spec.Limit = time.Duration(1+i) * 300 * time.Microsecond
			fakes.Run(t, spec, fakes.OneLine(w.endEvent()))
		}
		err := filepath.WalkDir(w.state, func(path string, _ os.DirEntry, err error) error {
			if err == nil && path != w.state && path != w.userState() {
				aged(t, 8*day, path)
			}
			return err
		})
		assert.NilError(t, err)
		w.session = "next"
		sweepUntil(t, stopOfNewSession(t, w), func() bool {
			return !slices.ContainsFunc(w.stateFiles(), func(file string) bool { return strings.Contains(file, "ended-") })
		})
	}},
	{51, "the sweep follows no link and takes nothing that is not ours", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		w.write("precious", "1")
		w.keep(filepath.Join(w.userState(), "old", "stop.edn"), "{}")
		assert.NilError(t, os.Symlink(w.scratch, filepath.Join(w.userState(), "old", "link")))
		assert.NilError(t, os.Symlink(w.scratch, filepath.Join(w.userState(), "linked")))
		assert.NilError(t, os.Symlink(filepath.Join(w.scratch, "precious"), filepath.Join(w.state, "brepl-stop-hook-linked.edn")))
		w.keep(filepath.Join(w.state, "notes.edn"), "mine")
		aged(t, 30*day, filepath.Join(w.state, "notes.edn"), filepath.Join(w.scratch, "precious"), w.scratch)
		assert.Equal(t, w.stop().exit, 2)
		assert.Equal(t, w.wrote("precious"), "1")
		assert.Equal(t, readOr(t, filepath.Join(w.state, "notes.edn"), "absent"), "mine")
	}},
}

// sweepUntil sweeps until what is left has gone: one sweep takes at most 20 ms, which are few on a busy machine, and the next goes on.
func sweepUntil(t *testing.T, sweep func(), done func() bool) {
	t.Helper()
	for range 50 {
		sweep()
		if done() {
			return
		}
	}
	t.Fatal("50 sweeps have not removed it")
}

// stopOfNewSession stops in a session of its own each time: a session sweeps at its first failure.
func stopOfNewSession(t *testing.T, w *world) func() {
	t.Helper()
	return func() {
		w.session += "+"
		assert.Equal(t, w.stop().exit, 2)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
