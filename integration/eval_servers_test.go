//go:build unix

package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// What `brepl hook eval` does about servers and files: which file goes where, what happens without a server, what stays behind.

// No server: the agent is told once a session, whatever runs at once, and a server that starts is found.
func TestEvalWithoutServer(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n", 0o644))
	w.evals("src/a.clj").is(0, tells(noServer), "")
	for range 3 {
		w.evals("src/a.clj").is(0, "", "")
		w.evals("src/a.clj", "--strict-eval").is(0, "", "")
	}
	server := w.evalServer()
	server.OnLoadFile(w.project.Path("src/a.clj")).Value("nil")
	w.evals("src/a.clj").is(0, "", "")
	server.Close()
	w.evals("src/a.clj").is(0, "", "")
	// Another session is told, once.
	w.session += "-next"
	var calls []call
	for range 8 {
		calls = append(calls, call{w.posted("Edit", "src/a.clj"), []string{"eval"}})
	}
	told := 0
	for _, r := range w.atOnce(calls...) {
		assert.Equal(t, r.exit, 0)
		if r.stdout != "" {
			r.is(0, tells(noServer), "")
			told++
		}
	}
	assert.Equal(t, told, 1)
	// The form with a file says it each time, in the seed's words.
	for range 2 {
		w.hook("eval", "src/a.clj").is(0, `{"continue":true,"decision":"allow","suppressOutput":true,"warnings":["`+noServer+`"]}`+"\n", "")
	}
}

// What is nothing for this server, or for any, is passed over in silence, mostly without a connection.
func TestEvalOnlySources(t *testing.T) {
	brepl(t)
	t.Parallel()
	files := map[string]string{
		"deps.edn": `{:paths ["src" "."] :aliases {:test {:extra-paths ["test"]}}}`, "project.clj": "(defproject a \"1\")", "build.clj": "(ns build)",
		"bb.edn": "{}", "src/data_readers.clj": "{}", "src/a.edn": "{}", "README.md": "x", "src/a.clj.orig": "(ns a)", "elsewhere.txt": "",
		".hidden/a.clj": "(ns a)", "resources/clj-kondo.exports/x/y.clj": "(ns y)", "src/notes.ipynb": "{}",
	}
	w := newWorld(t, "")
	w.mayChange = true
	for name, text := range files {
		w.project.Write(name, text)
	}
	server := w.evalServer()
	for name := range files {
		for _, tool := range []string{"Edit", "Write", "MultiEdit", "NotebookEdit"} {
			w.run(w.posted(tool, name), "hook", "eval").is(0, "", "")
		}
		r := w.hook("eval", name)
		assert.Check(t, r.exit == 0 && r.stdout == accepted, "%s: %s", name, r.stdout)
	}
	assert.Equal(t, server.Connections(), 0)
	// Off the source paths.
	w.project.Write("deps.edn", `{:paths ["src"]}`)
	w.project.Write("dev/user.clj", "(ns user)\n")
	w.evals("dev/user.clj").is(0, "", "")
	w.hook("eval", "dev/user.clj").is(0, accepted, "brepl hook eval: dev/user.clj is not on the source paths of the project: not loaded\n")
	assert.Equal(t, server.Connections(), 0)
	// --skip-eval does nothing at all, whatever the file holds.
	w.project.Write("src/a.clj", "(ns a")
	w.evals("src/a.clj", "--skip-eval").is(0, "", "")
	w.hook("eval", "--skip-eval", "src/a.clj").is(0, accepted, "")
	assert.Equal(t, w.project.Read("src/a.clj"), "(ns a")
	assert.Equal(t, server.Connections(), 0)
}

// Which file goes to which server.
func TestEvalKinds(t *testing.T) {
	brepl(t)
	t.Parallel()
	names := []string{"src/a.bb", "src/b.clj", "src/c.cljc", "src/d.cljs"}
	for preset, want := range map[fakes.Preset][]string{
		fakes.JVM1_0:   {"src/b.clj", "src/c.cljc"},
		fakes.JVM1_7:   {"src/b.clj", "src/c.cljc"},
		fakes.Babashka: {"src/a.bb", "src/b.clj", "src/c.cljc"},
		fakes.NBB:      {"src/c.cljc", "src/d.cljs"},
		fakes.LetGo:    {"src/b.clj"},
	} {
		t.Run(string(preset), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			w.mayChange = true
			server := w.evalServer(fakes.NREPLPreset(preset))
			server.OnMatch("a good file", func(m fakes.Message) bool {
				return m.Op() == "load-file" && !strings.Contains(m.Text("file"), "(/ 1 0)")
			}).AnyTimes().Value("nil")
			for _, name := range names {
				w.project.Write(name, "(def x 1)\n")
				w.evals(name).is(0, "", "")
				w.hook("eval", name)
			}
			var twice []string
			for _, name := range want {
				twice = append(twice, name, name)
			}
			assert.DeepEqual(t, loadedFiles(w, server), twice)
			// And each tells of an error in its own way.
			failing := server.OnLoadFile(w.project.Path(want[0]))
			failing.Exception("java.lang.ArithmeticException", "Divide by zero")
			w.project.Write(want[0], "(ns x)\n(/ 1 0)\n")
			r := w.evals(want[0])
			assert.Check(t, r.exit == 0 && strings.Contains(r.stdout, "Divide by zero") && strings.Contains(r.stdout, `"additionalContext":"File evaluation failed:\n`), "%s", r.stdout)
			allClosed(t, server)
		})
	}
}

// A server in a container knows the files by other names.
func TestEvalPathMap(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n  (foo)\n", 0o644))
	server := w.evalServer()
	w.env = append(w.env, "BREPL_PATH_MAP="+w.project.Dir()+"=/app")
	compileError(server.OnLoadFile("/app/src/a.clj"), "/app/src/a.clj", 2)
	w.evals("src/a.clj").is(0, tells(evalFailed+fooFails("src/a.clj", 2, "  (foo)")+mayBeMeant), "")
	server.OnLoadFile("/srv/src/a.clj").Value("nil")
	w.evals("src/a.clj", "--path-map", ".=/srv").is(0, "", "")
	allClosed(t, server)
}

// A file without a name for us returns without a connection, and soon.
func TestEvalOfOtherFilesIsQuick(t *testing.T) {
	w := newWorld(t, "")
	server := w.withREPL()
	costs(t, 5, w.nothing, func() time.Duration {
		r := w.evals("README.md")
		r.is(0, "", "")
		return r.raw.Elapsed
	})
	assert.Equal(t, server.Connections(), 0)
	assert.Equal(t, len(w.stateFiles()), 0, "%v", w.stateFiles())
}

// A session of 400 edits: no session stays on the server, no file of state grows, each load is there once.
func TestEvalFourHundredEdits(t *testing.T) {
	fullRun(t)
	brepl(t)
	t.Parallel()
	w := newWorld(t, "")
	w.mayChange = true
	server := w.evalServer()
	for i := range 10 {
		path := w.project.Path(fmt.Sprintf("src/n%d.clj", i))
		server.OnMatch("a good file", func(m fakes.Message) bool {
			return m.Op() == "load-file" && m.Text("file-path") == path && !strings.Contains(m.Text("file"), "foo")
		}).AnyTimes().Value("nil")
		compileError(server.OnMatch("a bad file", func(m fakes.Message) bool {
			return m.Op() == "load-file" && m.Text("file-path") == path && strings.Contains(m.Text("file"), "foo")
		}).AnyTimes(), path, 2)
	}
	told, size := 0, []int64{}
	for i := range 400 {
		name := fmt.Sprintf("src/n%d.clj", i%10)
		text := fmt.Sprintf("(ns n%d)\n  (+ 1 %d)\n", i%10, i)
		if i%4 == 3 {
			text = strings.Replace(text, "+", "foo", 1)
		}
		w.project.Write(name, text)
		r := w.evals(name)
		assert.Equal(t, r.exit, 0)
		if r.stdout != "" {
			told++
		}
		if i%40 == 39 {
			info, err := os.Stat(filepath.Join(w.private(), "eval.edn"))
			assert.NilError(t, err)
			size = append(size, info.Size())
		}
	}
	assert.Equal(t, len(loadedFiles(w, server)), 400)
	assert.Assert(t, told >= 50 && told <= 100, "%d", told)
	allClosed(t, server)
	assert.Equal(t, len(server.Sessions()), 400)
	assert.Assert(t, slices.Max(size) <= size[0]+200, "%v", size)
	assert.DeepEqual(t, w.stateFiles(), []string{"-rw------- $PRIVATE/eval.edn", "-rw------- $PRIVATE/lock", "drwx------ $PRIVATE", "drwx------ $STATE/brepl-" + fmt.Sprint(os.Geteuid())})
}

// The host ends the hook: what the server evaluates is interrupted, and no session stays. Nothing counts as told.
func TestEvalEndedByHost(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n", 0o644))
	server := w.evalServer()
	server.OnLoadFile(w.project.Path("src/a.clj")).Hang()
	spec := w.spec("hook", "eval", "--timeout", "60")
	cmd := exec.CommandContext(t.Context(), spec.Path, spec.Args...)
	cmd.Dir, cmd.Env = spec.Dir, spec.Env
	cmd.Stdin = strings.NewReader(fakes.PostWriteEvent(w.project.Path("src/a.clj"), "", fakes.InProject(w.dir), fakes.InSession(w.session)).JSON())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	assert.NilError(t, cmd.Start())
	assert.Assert(t, server.AwaitOp("load-file", 1, waitLimit))
	assert.NilError(t, cmd.Process.Signal(syscall.SIGTERM))
	assert.NilError(t, cmd.Wait())
	assert.Equal(t, out.String(), "")
	assert.Assert(t, server.AwaitOp("interrupt", 1, waitLimit))
	allClosed(t, server)
	assert.Equal(t, content(t, filepath.Join(w.private(), "eval.edn")), "absent")
}
