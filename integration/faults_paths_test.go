//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// hostileIDs are session ids that want to be paths, flags or lines.
var hostileIDs = []string{
	"../../x", "/etc/brepl-x", "..", ".", "", strings.Repeat("../", 50) + "tmp/brepl-fault-11", strings.Repeat("y", 4096), strings.Repeat("/", 4096),
	"a\nb", "a\rb\x1b[31m", "a\x00b", "é😀\u202e", "-rf", "~", "~root/x", `C:\x`, "$(touch x)`touch y`", "lock", "%2e%2e", ".brepl", "x.tmp",
}

// unknownDirectory is what is said where the current directory was deleted.
const unknownDirectory = "the current directory is not known; change to your project and try again"

var pathFaults = []fault{
	{11, "a session id is never a path part", func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		outer := realTempDir(t)
		w.env = append(w.env, "BREPL_HOOK_DEBUG=1")
		for _, id := range hostileIDs {
			w.state = filepath.Join(outer, "state")
			w.env = append(w.env, "BREPL_STATE_DIR="+w.state)
			sane := func() {
				t.Helper()
				snapshot, err := fakes.TakeSnapshot(outer)
				assert.NilError(t, err)
				for name := range snapshot {
					_, inState := strings.CutPrefix(name+"/", "state/")
					assert.Check(t, inState && regexp.MustCompile(`^[A-Za-z0-9._%/-]+$`).MatchString(name) && strings.Count(name, "/") <= 3, "%q made %q", id, name)
				}
			}
			event := func(c reader) fakes.Stdin { return fakes.OneLine(c.event) }
			for _, c := range w.readers(fakes.Set("session_id", id)) {
				want := 0
				if c.name == "stop" {
					want = 2
				}
				r := w.run(event(c), "hook", c.name)
				assert.Check(t, r.exit == want, "%q: %s: exit %d\n%s", id, c.name, r.exit, r.stderr)
				sane()
			}
			if strings.Contains(id, "\x00") {
				continue // no environment and no argument can hold it
			}
			w.env = append(w.env, "CLAUDE_CODE_SESSION_ID="+id)
			for _, args := range [][]string{{"pause"}, {"stop", "--dry-run"}, {"resume"}, {"pause", "1h"}, {"resume"}, {"session-end", id}} {
				r := w.hook(args...)
				assert.Check(t, r.exit == 0, "%q: %q: exit %d\n%s", id, args, r.exit, r.stderr)
				sane()
			}
			w.env = slices.DeleteFunc(w.env, func(v string) bool { return strings.HasPrefix(v, "CLAUDE_CODE_SESSION_ID=") })
		}
	}},
	{11, "the end of a hostile session removes its state and nobody else's", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", "echo x; exit 1", retry)))
		assert.Equal(t, w.stop().exit, 2)
		kept := w.stateFiles()
		for _, id := range hostileIDs {
			if id == "" {
				continue // is an unknown session
			}
			assert.Equal(t, w.run(fakes.OneLine(w.stopEvent(fakes.Set("session_id", id))), "hook", "stop").exit, 2)
			assert.Assert(t, len(w.stateFiles()) > len(kept), "%q left no state", id)
			w.run(fakes.OneLine(fakes.SessionEndEvent("other", fakes.Set("session_id", id)).JSON()), "hook", "session-end").is(0, "", "")
			assert.DeepEqual(t, w.stateFiles(), kept)
		}
	}},
	{13, "cwd deleted: the gate holds where the host names the project", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", whereAmI+"; exit 1", retry)))
		readers := w.readers()
		for i, c := range readers {
			w.dir = filepath.Join(w.scratch, "gone")
			assert.NilError(t, os.Mkdir(w.dir, 0o755))
			r := w.result(fakes.Run(t, w.through(`rmdir "$PWD" && exec "$@"`, "hook", c.name), fakes.OneLine(c.event)))
			if i > 0 {
				r.is(0, "", "")
				continue
			}
			r.is(2, tellUser(attempt1), blocked("Hook 'tests' failed: exit 1", "This stop is blocked: attempt 1 of 10. Fix the cause, then stop again."))
			assert.Equal(t, w.wrote("trace"), "$PROJECT\n")
		}
	}},
	{13, "cwd and project deleted: nothing is run and nothing is said", func(t *testing.T) {
		w := newWorld(t, "")
		for _, project := range []string{filepath.Join(w.scratch, "gone"), ""} {
			w.env = append(w.env, "CLAUDE_PROJECT_DIR="+project)
			for _, c := range w.readers() {
				w.dir = filepath.Join(w.scratch, "gone")
				assert.NilError(t, os.Mkdir(w.dir, 0o755))
				w.result(fakes.Run(t, w.through(`rmdir "$PWD" && exec "$@"`, "hook", c.name), fakes.OneLine(c.event))).is(0, c.allowed, "")
			}
		}
		w.nothingLeft(w.state)
	}},
	{13, "cwd deleted: commands for people say so", func(t *testing.T) {
		w := newFaultWorld(t, "")
		w.env = slices.Concat(w.env, []string{"CLAUDE_PROJECT_DIR=", "CLAUDE_CODE_SESSION_ID="})
		for _, args := range [][]string{{"check"}, {"run"}, {"pause"}, {"resume"}, {"install"}, {"uninstall"}, {"install", "--scope", "project"}, {"install", "--dry-run"}} {
			w.dir = filepath.Join(w.scratch, "gone")
			assert.NilError(t, os.Mkdir(w.dir, 0o755))
			r := w.result(fakes.Run(t, w.through(`rmdir "$PWD" && exec "$@"`, append([]string{"hook"}, args...)...), fakes.DevNull()))
			assert.Check(t, r.exit == 1 && r.stdout == "" && strings.HasSuffix(r.stderr, unknownDirectory+"\n"), "%q: exit %d\n%s%s", args, r.exit, r.stdout, r.stderr)
		}
		assert.DeepEqual(t, w.stateFiles(), []string(nil))
	}},
	{13, "cwd unreadable", func(t *testing.T) {
		w, program := openWorld(t, hooksEDN(bash("tests", whereAmI+"; exit 1", retry)))
		const locked = `cd "$1" && chmod 0 . && dir=$1 && shift && "$@"; code=$?; chmod 700 "$dir"; exit $code`
		dir := filepath.Join(w.scratch, "locked")
		assert.NilError(t, os.Mkdir(dir, 0o700))
		w.giveAway(dir)
		run := func(stdin string, args ...string) ended {
			return w.native(native{stdin: strings.NewReader(stdin), unprivileged: true}, "sh", slices.Concat([]string{"-c", locked, "sh", dir, program, "hook"}, args)...)
		}
		for _, c := range w.readers() {
			e := run(c.event, c.name)
			if c.name != "stop" {
				e.is(t, 0, "", "")
				continue
			}
			e.is(t, 2, tellUser(attempt1), blocked("Hook 'tests' failed: exit 1", "This stop is blocked: attempt 1 of 10. Fix the cause, then stop again."))
			assert.Equal(t, w.wrote("trace"), "$DIR\n")
		}
		w.env = append(w.env, "CLAUDE_PROJECT_DIR=", "CLAUDE_CODE_SESSION_ID=")
		for _, args := range [][]string{{"check"}, {"run"}, {"install"}, {"uninstall"}, {"pause"}, {"resume"}} {
			e := run("", args...)
			assert.Check(t, e.exit == 1 && e.stdout == "" && strings.HasSuffix(e.stderr, unknownDirectory+"\n"), "%q: exit %d\n%s%s", args, e.exit, e.stdout, e.stderr)
		}
		w.nothingLeft(w.state, w.home)
	}},
	{13, "a worktree is a project of its own", func(t *testing.T) {
		w := newFaultProgram(t, fakes.WithHooks(hooksEDN(bash("tests", whereAmI))), fakes.WithFile("src/a.clj", "", 0o644), fakes.WithGit())
		tree := filepath.Join(w.scratch, "tree")
		w.project.Git("worktree", "add", "--quiet", "-b", "other", tree)
		main := w.project.Snapshot()
		w.dir = filepath.Join(tree, "src")
		w.env = append(w.env, "CLAUDE_PROJECT_DIR="+w.dir)
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "$WORLD/tree\n")
		r := w.hook("install")
		assert.Equal(t, r.exit, 0, r.stderr)
		assert.Assert(t, strings.Contains(r.stdout, "note: the project is the git work tree $WORLD/tree\n"), r.stdout)
		assert.Assert(t, strings.Contains(readOr(t, filepath.Join(tree, localSettings), "absent"), "brepl hook stop"))
		assert.DeepEqual(t, main.Changes(w.project.Snapshot()), []string(nil))
		assert.Equal(t, w.hook("uninstall").exit, 0)
		assert.Equal(t, readOr(t, filepath.Join(tree, localSettings), "absent"), "absent")
	}},
	{14, "file_path relative, ~, spaces, quotes, $(), backslashes, newline, non-UTF-8", func(t *testing.T) {
		w := newFaultWorld(t, "")
		w.rules = append(w.rules, literal("touch", "touch"))
		for _, name := range []string{
			"a.clj", "./../a.clj", "../../../../etc/a.clj", "~/a.clj", "~root/a.clj", "a b.clj", `a"b'c.clj`, "$(touch x).clj", "`touch x`.clj", "a;touch x;.clj",
			`a\b.clj`, "a\nb.clj", "a\r\x1b[31mb.clj", "a\x00b.clj", "-x.clj", "--help", "é😀.clj", strings.Repeat("x", 5000) + ".clj", strings.Repeat("d/", 3000) + "a.clj",
			"/dev/zero", "/dev/stdin", "/proc/self/mem", "/", "", ".",
		} {
			for _, event := range []fakes.Event{
				fakes.PreWriteEvent(name, "(ns a)\n", fakes.InProject(w.dir), fakes.InSession(w.session)),
				fakes.PreEditEvent(name, "(ns a)", "(ns b)", fakes.InProject(w.dir), fakes.InSession(w.session)),
			} {
				w.run(fakes.OneLine(event.JSON()), "hook", "validate").is(0, "", "")
			}
			r := w.run(fakes.OneLine(fakes.PostWriteEvent(name, "(ns a)\n", fakes.InProject(w.dir), fakes.InSession(w.session)).JSON()), "hook", "eval")
			assert.Check(t, r.exit == 0 && !strings.Contains(r.stdout, `"block"`), "%q: exit %d, %s%s", name, r.exit, r.stdout, r.stderr)
		}
		odd := strings.Replace(fakes.PreWriteEvent("ODD.clj", "(ns a)\n", fakes.InProject(w.dir)).JSON(), "ODD", "a\xff\xfe\\ud800", 1)
		w.run(fakes.OneLine(odd), "hook", "validate").is(0, "", "")
		w.run(fakes.OneLine(odd), "hook", "eval").is(0, "", "")
	}},
	{14, "the form with arguments takes the same names", func(t *testing.T) {
		w := newFaultWorld(t, "")
		for _, name := range []string{"a.clj", "../../a.clj", "~/a.clj", "a b.clj", `a"b'c.clj`, "$(touch x).clj", `a\b.clj`, "a\nb.clj", "a\xff\xfe.clj", "é😀.clj", strings.Repeat("x", 5000) + ".clj"} {
			r := w.hook("validate", name, "(ns a)\n")
			assert.Check(t, r.exit == 0 && strings.HasPrefix(r.stdout, `{"continue":true,"decision":"allow"`), "%q: exit %d, %s%s", name, r.exit, r.stdout, r.stderr)
			r = w.hook("eval", name)
			assert.Check(t, r.exit <= 1 && strings.HasPrefix(r.stdout, `{"continue":true`), "%q: exit %d, %s%s", name, r.exit, r.stdout, r.stderr)
		}
		// The host sets neither variable, so both arrive empty.
		w.run(fakes.OneLine(w.readers()[2].event), "hook", "validate", "", "").is(0, "", "")
		w.run(fakes.OneLine(w.readers()[3].event), "hook", "eval", "").is(0, "", "")
	}},
}
