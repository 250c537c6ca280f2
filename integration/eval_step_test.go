//go:build unix

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// What keeps the REPL in step, and the agent told of where it is not: files that could not be loaded at once, errors that others have
// read, servers that come back.

// Issue 5: a file that was left out because it requires what failed is loaded as soon as that loads.
func TestEvalDependentsFollow(t *testing.T) {
	brepl(t)
	t.Parallel()
	w, server := inStep(t)
	w.project.Write("src/a.clj", "(ns a)\n  (foo)\n")
	w.project.Write("src/b.clj", "(ns b (:require a))\n")
	w.project.Write("src/c.clj", "(ns c (:require b))\n")
	w.project.Write("src/gone.clj", "(ns gone (:require a))\n")
	compileError(server.OnLoadFile(w.project.Path("src/a.clj")).Times(2), w.project.Path("src/a.clj"), 2)
	w.ranBash().is(0, tells(evalFailed+fooFails("src/a.clj", 2, "  (foo)")+mayBeMeant), "")

	// Not with another edit, nor while it fails.
	w.project.Write("src/d.clj", "(ns d)\n")
	server.OnLoadFile(w.project.Path("src/d.clj")).Value("nil")
	w.evals("src/d.clj").is(0, "", "")
	w.evals("src/a.clj").is(0, tells("still fails as before: src/a.clj:2"), "")
	assert.DeepEqual(t, loadedFiles(w, server), []string{"src/a.clj", "src/d.clj", "src/a.clj"})

	assert.NilError(t, os.Remove(w.project.Path("src/gone.clj")))
	w.project.Write("src/a.clj", "(ns a)\n")
	server.OnMatch("any file", func(m fakes.Message) bool { return m.Op() == "load-file" }).Times(3).Value("nil")
	w.evals("src/a.clj").is(0, "", "")
	assert.DeepEqual(t, loadedFiles(w, server)[3:], []string{"src/a.clj", "src/b.clj", "src/c.clj"})
	// Once.
	server.OnLoadFile(w.project.Path("src/d.clj")).Value("nil")
	w.evals("src/d.clj").is(0, "", "")
	allClosed(t, server)
}

// Issue 5: what a file that takes too long keeps from being loaded is said, and loaded with the next edit.
func TestEvalRestFollowsTimeout(t *testing.T) {
	brepl(t)
	t.Parallel()
	w, server := inStep(t)
	for _, name := range []string{"a", "b", "c"} {
		w.project.Write("src/"+name+".clj", "(ns "+name+")\n")
	}
	server.OnLoadFile(w.project.Path("src/a.clj")).Hang()
	event := fakes.PostBashEvent("true", "", fakes.InProject(w.dir), fakes.InSession(w.session))
	w.run(fakes.OneLine(event.JSON()), "hook", "eval", "--timeout", "1").is(0, tells("src/a.clj: the evaluation timed out after $TOOK and was interrupted. "+
		"If it needs longer: `brepl hook install --timeout SECONDS`. Other changed files were not loaded either (2); that follows with the next edit."), "")
	server.OnMatch("any file", func(m fakes.Message) bool { return m.Op() == "load-file" }).Times(3).Value("nil")
	w.evals("src/a.clj").is(0, "", "")
	assert.DeepEqual(t, loadedFiles(w, server)[1:], []string{"src/a.clj", "src/b.clj", "src/c.clj"})
	allClosed(t, server)
}

// Fault 34: the server of the current directory is not the server of a file of another project.
func TestEvalOtherProject(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n", 0o644), fakes.WithGit())
	server := w.evalServer()
	for name, files := range map[string][]string{"work tree": {".git/HEAD"}, "project": {"deps.edn"}, "server": {"deps.edn", ".git/HEAD"}} {
		other := fakes.NewProject(t, nil)
		for _, file := range files {
			other.Write(file, "{}")
		}
		other.Write("src/b.clj", "  (foo)\n")
		w.session = "session-" + strings.ReplaceAll(name, " ", "-")
		event := fakes.PostWriteEvent(other.Path("src/b.clj"), "", fakes.InProject(w.dir), fakes.InSession(w.session))
		want := tells(noServer)
		if name == "server" {
			own := fakes.NewNREPL(t)
			own.WritePortFile(other.Dir())
			knowsNothing(own)
			compileError(own.OnLoadFile(other.Path("src/b.clj")), other.Path("src/b.clj"), 1)
			want = tells(evalFailed + fooFails(other.Path("src/b.clj"), 1, "  (foo)") + mayBeMeant)
		}
		w.run(fakes.OneLine(event.JSON()), "hook", "eval").is(0, want, "")
	}
	assert.Equal(t, server.Connections(), 0)
	// Below the current directory it is, and anywhere in its work tree.
	w.project.Write("app/deps.edn", "{}")
	w.project.Write("app/src/c.clj", "(ns c)\n")
	server.OnLoadFile(w.project.Path("app/src/c.clj")).Value("nil")
	w.mayChange = true
	w.evals("app/src/c.clj").is(0, "", "")
}

// Two switches of a branch change the same number of files: each is said.
func TestEvalManyFilesTwice(t *testing.T) {
	brepl(t)
	t.Parallel()
	w, server := inStep(t)
	for round := range 2 {
		for i := range 65 {
			w.project.Write(fmt.Sprintf("src/a%d.clj", i), strings.Repeat(";\n", round)+"(ns a)\n")
		}
		w.ranBash().is(0, tells("65 Clojure files have changed at once: they were not loaded into the REPL. Reload what you need, or restart it."), "")
	}
	assert.Equal(t, server.Connections(), 0)
}

// A sub-agent has a context of its own: what it has read, the agent has not.
func TestEvalSubAgent(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n  (foo)\n", 0o644))
	server := w.evalServer()
	compileError(server.OnLoadFile(w.project.Path("src/a.clj")).Times(5), w.project.Path("src/a.clj"), 2)
	told := tells(evalFailed + fooFails("src/a.clj", 2, "  (foo)") + mayBeMeant)
	again := tells("still fails as before: src/a.clj:2")
	for _, step := range []struct{ agent, want string }{{"sub", told}, {"sub", again}, {"", told}, {"", again}, {"sub", again}} {
		event := fakes.PostWriteEvent(w.project.Path("src/a.clj"), "", fakes.InProject(w.dir), fakes.InSession(w.session), fakes.Set("agent_id", step.agent))
		w.run(fakes.OneLine(event.JSON()), "hook", "eval").is(0, step.want, "")
	}
}

// Fault 35: that a server is silent is said again after it was well.
func TestEvalSilentAgain(t *testing.T) {
	fullRun(t)
	brepl(t)
	t.Parallel()
	w := newWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n", 0o644))
	server := w.evalServer()
	load := func(timeout string) result { return w.evals("src/a.clj", "--timeout", timeout) }
	silent := tells("The nREPL server accepts connections but does not answer; it may be busy. Files are not evaluated after edits until it does.")
	for range 2 {
		server.OnOp("describe").Hang()
		load("1").is(0, silent, "")
		load("1").is(0, "", "")
		// Ten seconds later.
		file := filepath.Join(w.private(), "eval.edn")
		data, err := os.ReadFile(file)
		assert.NilError(t, err)
		assert.NilError(t, os.WriteFile(file, regexp.MustCompile(`:retry \d+`).ReplaceAll(data, []byte(":retry 0")), 0o600))
		server.OnLoadFile(w.project.Path("src/a.clj")).Value("nil")
		load("5").is(0, "", "")
	}
}

// Errors for which there is no room are counted, and told when the file is loaded again.
func TestEvalManyErrors(t *testing.T) {
	brepl(t)
	t.Parallel()
	w, server := inStep(t)
	for i := range 64 {
		name := fmt.Sprintf("src/a%02d.clj", i)
		w.project.Write(name, "(ns a)\n")
		server.OnLoadFile(w.project.Path(name)).AnyTimes().Thrown(fmt.Sprintf("Syntax error compiling at (%s:1:1).\n%s\n", w.project.Path(name), strings.Repeat("many words ", 100)),
			"class clojure.lang.Compiler$CompilerException", "class clojure.lang.Compiler$CompilerException")
	}
	first := w.ranBash()
	assert.Assert(t, cmp.Contains(first.stdout, "src/a00.clj:1:1: "))
	assert.Assert(t, cmp.Contains(first.stdout, "More files failed, which are not shown here ("))
	assert.Assert(t, !strings.Contains(first.stdout, "src/a63.clj"))
	assert.Assert(t, len(first.stdout) < 10_000, "%d bytes", len(first.stdout))
	w.evals("src/a00.clj").is(0, tells("still fails as before: src/a00.clj:1"), "")
	assert.Assert(t, cmp.Contains(w.evals("src/a63.clj").stdout, "src/a63.clj:1:1: "))
}

// What git ignores is not loaded, in submodules either; a file that was added all the same is, and so is one in a folder named target
// that git does not ignore, which only the stop hooks saw.
func TestEvalIgnored(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "", fakes.WithGit(), fakes.WithFile(".gitignore", "/src/gen/\n*.gen.clj\n", 0o644), fakes.WithFile("src/a.clj", "(ns a)\n", 0o644))
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e", "-c", "protocol.file.allow=always"}, args...)...)
		cmd.Dir = w.project.Dir()
		out, err := cmd.CombinedOutput()
		assert.NilError(t, err, "%s", out)
	}
	library := fakes.NewProject(t, map[string]string{".gitignore": "/gen/\n", "src/lib.clj": "(ns lib)\n"}, fakes.WithGit())
	git("submodule", "--quiet", "add", library.Dir(), "lib")
	w.project.Write("src/gen/added.clj", "(ns gen.added)\n")
	git("add", "-f", "src/gen/added.clj")
	server := w.evalServer()
	w.ranBash().is(0, "", "")
	w.mayChange = true
	for _, name := range []string{"src/a.clj", "src/gen/added.clj", "src/gen/x.clj", "src/y.gen.clj", "lib/src/lib.clj", "lib/gen/src/z.clj", "test/z.gen.clj", "src/target/t.clj"} {
		w.project.Write(name, "(def some 1)\n")
	}
	server.OnMatch("any file", func(m fakes.Message) bool { return m.Op() == "load-file" }).Times(4).Value("nil")
	w.ranBash().is(0, "", "")
	assert.DeepEqual(t, loadedFiles(w, server), []string{"lib/src/lib.clj", "src/a.clj", "src/gen/added.clj", "src/target/t.clj"})
}

// Issue 14: a file that starts a system when it is loaded could be kept out of the REPL only together with the check of its brackets.
func TestEvalExclude(t *testing.T) {
	brepl(t)
	t.Parallel()
	w, server := inStep(t)
	w.project.Write(hooksFile, `{:eval {:exclude ["src/user.clj" "src/gen"]}}`)
	w.project.Write("src/user.clj", "(ns user)\n")
	w.project.Write("src/a.clj", "(ns a (:require user))\n")
	w.evals("src/user.clj").is(0, "", "")
	server.OnLoadFile(w.project.Path("src/a.clj")).Value("nil")
	for i := range 70 { // they do not count for what has changed at once
		w.project.Write(fmt.Sprintf("src/gen/g%d.clj", i), "(ns g)\n")
	}
	w.ranBash().is(0, "", "")
	assert.DeepEqual(t, loadedFiles(w, server), []string{"src/a.clj"})
	event := fakes.PreWriteEvent(w.project.Path("src/user.clj"), "(ns user\n(f \"x)\n", fakes.InProject(w.dir), fakes.InSession(w.session))
	assert.Assert(t, cmp.Contains(w.run(fakes.OneLine(event.JSON()), "hook", "validate").stdout, `"permissionDecision":"deny"`))
	by := w.run(fakes.EOF(), "hook", "eval", "src/user.clj")
	by.is(0, accepted, "brepl hook eval: src/user.clj is excluded by :eval in .brepl/hooks.edn: not loaded\n")
	allClosed(t, server)
}

// Issue 14: a file whose ns form does not match its path loads, and no other process finds its namespace.
func TestEvalMisplacedNamespace(t *testing.T) {
	brepl(t)
	t.Parallel()
	w, server := inStep(t)
	server.OnMatch("any file", func(m fakes.Message) bool { return m.Op() == "load-file" }).Times(6).Value("nil")
	text := tells("src/shop/cart_item.clj is loaded, but its ns form says shop.cart-itme, and by its path it is shop.cart-item: `require` in another process will not find it. Rename the one or the other.")
	for _, step := range []struct{ ns, want string }{
		{"(ns shop.cart-item)\n", ""}, {"(ns shop.cart-itme)\n", text}, {"(ns shop.cart-itme)\n1\n", ""}, {"(ns shop.cart-item)\n", ""}, {"(ns shop.cart-itme)\n", text}, {"(def x 1)\n", ""},
	} {
		w.project.Write("src/shop/cart_item.clj", step.ns)
		w.evals("src/shop/cart_item.clj").is(0, step.want, "")
	}
	allClosed(t, server)
}
