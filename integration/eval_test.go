//go:build unix

package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// What `brepl hook eval` says where all tests need it.
const (
	noServer   = "No nREPL server found, skipping evaluation. Syntax validation passed."
	evalFailed = "File evaluation failed:\n"
	mayBeMeant = "\n\nIf this is intentional (writing tests, incremental refactoring), you can proceed."
	accepted   = `{"continue":true,"decision":"allow","suppressOutput":true}` + "\n"
)

// evalServer is a scripted server that lets itself be asked about *e, and knows nothing.
func (w *world) evalServer(options ...fakes.NREPLOption) *fakes.NREPL {
	w.t.Helper()
	server := w.withREPL(options...)
	knowsNothing(server)
	return server
}

// knowsNothing lets a server be asked about *e and about the vars of a file.
func knowsNothing(server *fakes.NREPL) {
	server.OnMatch("a question", func(m fakes.Message) bool {
		return m.Op() == "eval" && (strings.Contains(m.Text("code"), "*e") || strings.Contains(m.Text("code"), "brepl reload"))
	}).AnyTimes().Value("nil")
}

// inStep is a project whose REPL has seen all its files: what changes from here on is to be loaded.
func inStep(t *testing.T) (*world, *fakes.NREPL) {
	t.Helper()
	w := newWorld(t, "", fakes.WithDir("src", 0o755))
	server := w.evalServer()
	w.ranBash().is(0, "", "")
	w.mayChange = true
	return w, server
}

// compileError is the script of a file that names something unknown.
func compileError(e *fakes.Expect, path string, line int) {
	e.Thrown(fmt.Sprintf("Syntax error compiling at (%s:%d:3).\nUnable to resolve symbol: foo in this context\n", path, line),
		"class clojure.lang.Compiler$CompilerException", "class clojure.lang.Compiler$CompilerException")
}

// loadedFiles are the paths below the project of the files that a server was given, in order.
func loadedFiles(w *world, server *fakes.NREPL) []string {
	var list []string
	for _, m := range server.Received() {
		if m.Op() == "load-file" {
			rel, err := filepath.Rel(w.project.Dir(), m.Text("file-path"))
			assert.NilError(w.t, err)
			list = append(list, filepath.ToSlash(rel))
		}
	}
	return list
}

// allClosed fails on sessions that a server would keep.
func allClosed(t *testing.T, server *fakes.NREPL) {
	t.Helper()
	sessions := server.Sessions()
	server.AwaitOp("close", len(sessions), waitLimit)
	for _, s := range server.Sessions() {
		assert.Check(t, s.Closed && !s.Running, "%+v", s)
	}
}

// posted is the event after a tool has changed a file of the project.
func (w *world) posted(tool, name string) fakes.Stdin {
	event := fakes.PostWriteEvent(w.project.Path(name), "", fakes.InProject(w.dir), fakes.InSession(w.session), fakes.Set("tool_name", tool))
	return fakes.OneLine(event.JSON())
}

// evals runs the hook after an edit of a file.
func (w *world) evals(name string, args ...string) result {
	w.t.Helper()
	return w.run(w.posted("Edit", name), append([]string{"hook", "eval"}, args...)...)
}

// ranBash runs the hook after a command of the agent.
func (w *world) ranBash() result {
	w.t.Helper()
	event := fakes.PostBashEvent("true", "", fakes.InProject(w.dir), fakes.InSession(w.session))
	return w.run(fakes.OneLine(event.JSON()), "hook", "eval")
}

// tells is the answer of the event form that the agent reads as context.
func tells(text string) string {
	return `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":` + quoted(text) + "}}\n"
}

// blocks is the answer of the event form with --strict-eval.
func evalBlocks(stopReason, reason string) string {
	return `{"continue":true,"decision":"block","reason":` + quoted(reason) + `,"stopReason":` + quoted(stopReason) + "}\n"
}

// fooFails is what is told of compileError at a line of a file.
func fooFails(name string, line int, source string) string {
	return fmt.Sprintf("%s:%d:4: Syntax error compiling: Unable to resolve symbol: foo in this context\n%d | %s\n%*s |    ^", name, line, line, source,
		len(strconv.Itoa(line)), "")
}

// The whole story of issue 5: an edit is repaired before it is written, loaded after it, fails, is mended, and all is quiet.
func TestEvalStory(t *testing.T) {
	brepl(t)
	t.Parallel()
	a := newAgent(t, "{}\n")
	server := a.evalServer()
	file := a.project.Path(stockFile)

	// Repaired before, fine after: the REPL has what is on disk.
	server.OnLoadFile(file).Out("loading\n").Value("#'stock/low?")
	turn := a.Write(stockFile, strings.Replace(stock, "items)))", "items))", 1))
	a.onDisk(stockFile, stock)
	assert.DeepEqual(t, toldOf(turn), repaired(stockFile, "added `)` at the end of line 4."))

	// An edit that does not compile: the agent reads why, the file stays as it was written.
	broken := strings.Replace(stock, "(< n 10)", "(foo n 10)", 1)
	compileError(server.OnLoadFile(file), file, 7)
	turn = a.Edit(stockFile, "(< n 10)", "(foo n 10)")
	a.onDisk(stockFile, broken)
	assert.Assert(t, turn.ToolRan && !turn.Blocked && !turn.ToolFailed, a.Story())
	assert.DeepEqual(t, a.texts(turn.Told), []string{"system: PostToolUse:Edit hook additional context: " +
		evalFailed + fooFails(stockFile, 7, "  (foo n 10))") + mayBeMeant})

	// Another edit, the same error: it is known. Issue 14: nothing was said, which means that the file was loaded.
	compileError(server.OnLoadFile(file), file, 7)
	turn = a.Edit(stockFile, "[items]", "[items ]")
	assert.DeepEqual(t, a.texts(turn.Told), []string{"system: PostToolUse:Edit hook additional context: still fails as before: " + stockFile + ":7"})

	// Mended: nothing is said. Broken anew: that is news again.
	server.OnLoadFile(file).Value("nil")
	turn = a.Edit(stockFile, "(foo n 10)", "(< n 10)")
	assert.Equal(t, len(turn.Told), 0, a.Story())
	compileError(server.OnLoadFile(file), file, 7)
	turn = a.Edit(stockFile, "(< n 10)", "(foo n 10)")
	assert.Equal(t, len(turn.Told), 1, a.Story())

	// Each load had the file as it was on disk at that moment.
	var contents []string
	for _, m := range server.Received() {
		if m.Op() == "load-file" {
			assert.Equal(t, m.Text("file-name"), "stock.clj")
			contents = append(contents, m.Text("file"))
		}
	}
	spaced := strings.Replace(stock, "[items]", "[items ]", 1)
	assert.DeepEqual(t, contents, []string{stock, broken, strings.Replace(broken, "[items]", "[items ]", 1), spaced, strings.Replace(spaced, "(< n", "(foo n", 1)})
	allClosed(t, server)

	assert.Assert(t, cmp.Contains(strings.Join(a.stateFiles(), "\n"), "$PRIVATE/eval.edn"))
	a.Exit("other")
	assert.Equal(t, content(t, a.private()), "absent")
}

// --strict-eval: the agent is blocked with what failed, and the file is written.
func TestEvalStrict(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newProgramWorld(t)
	assert.Equal(t, w.byHand("install", "--strict-eval").exit, 0)
	a := w.agent()
	server := a.evalServer()
	file := a.project.Path("src/a.clj")
	compileError(server.OnLoadFile(file).Times(2), file, 2)
	const text = "(ns a)\n  (foo)\n"
	turn := a.Write("src/a.clj", text)
	a.onDisk("src/a.clj", text)
	event := turn.Event("PostToolUse")
	assert.Equal(t, event.Hooks[0].Reaction.Fault, "")
	assert.Assert(t, turn.ToolRan && !turn.ToolFailed, a.Story())
	assert.Equal(t, normalize(event.Hooks[0].Stdout, a.names()), evalBlocks("Evaluation failed", "already written; "+fooFails("src/a.clj", 2, "  (foo)")))
	// The same error after another edit: a block, and not the whole text again.
	turn = a.Edit("src/a.clj", "(ns a)", "(ns  a)")
	assert.Equal(t, normalize(turn.Event("PostToolUse").Hooks[0].Stdout, a.names()),
		evalBlocks("Evaluation failed", "already written; it fails as before: src/a.clj:2:4: Syntax error compiling: Unable to resolve symbol: foo in this context"))
	// Brackets that nobody can repair block as well, and nothing is loaded. (Another tool has broken the file.)
	w.project.Write("src/b.clj", "(ns b)\n(f \"x)\n")
	w.evals("src/b.clj", "--strict-eval").is(0, evalBlocks("Syntax error: unclosed string",
		"already written; src/b.clj is on disk now and is not balanced. Found unclosed string at line 2. Please add missing closing quote."), "")
	assert.Equal(t, len(loadedFiles(w, server)), 2)
	allClosed(t, server)
}

// Files that a command has changed, also one that fails, in the order in which they need each other.
func TestEvalAllTools(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newProgramWorld(t, fakes.WithFile("src/old.clj", "(ns old)\n", 0o644), fakes.WithFile(".gitignore", "/src/gen/\n*.bak.clj\n", 0o644), fakes.WithGit())
	assert.Equal(t, w.byHand("install", "--all-tools").exit, 0)
	assert.Equal(t, canonical(t, w.project.Read(localSettings)), canonical(t, `{"hooks":{
		"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook validate"}]}],
		"PostToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"brepl hook eval"}]}],
		"PostToolUseFailure":[{"matcher":"*","hooks":[{"type":"command","command":"brepl hook eval"}]}],
		"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]}],
		"SessionEnd":[{"matcher":"*","hooks":[{"type":"command","command":"brepl hook session-end"}]}]}}`))
	a := w.agent()
	server := a.evalServer()
	quiet := func(turn *fakes.Turn) {
		t.Helper()
		assert.Equal(t, len(turn.Told), 0, a.Story())
	}
	// The first look of a session only takes the stamps.
	quiet(a.Bash("mkdir -p src/app test/app && echo '(ns app.early)' > src/app/early.clj"))
	assert.DeepEqual(t, loadedFiles(w, server), []string(nil))
	quiet(a.Bash("true"))
	assert.Equal(t, server.Connections(), 0)

	server.OnMatch("any file", func(m fakes.Message) bool { return m.Op() == "load-file" }).Times(4).Value("nil")
	turn := a.Bash(`
		printf '(ns app.web (:require [app.db :as db] [app.log]))\n' > src/app/web.clj
		printf '(ns app.db (:require app.log))\n' > src/app/db.cljc
		printf '(ns app.log)\n' > src/app/log.clj
		mkdir -p src/gen target/x node_modules/y .cpcache/z && echo '(ns gen)' | tee src/gen/gen.clj src/x.bak.clj target/x/t.clj node_modules/y/n.clj .cpcache/z/c.clj top.clj
		exit 3`)
	assert.Assert(t, turn.ToolFailed && len(turn.Told) == 0, a.Story())
	assert.Equal(t, len(turn.Event("PostToolUseFailure").Hooks), 1)
	assert.DeepEqual(t, loadedFiles(w, server), []string{"src/app/log.clj", "src/app/db.cljc", "src/app/web.clj"})

	// What an edit has changed was loaded with the edit: the next command does not load it again.
	quiet(a.Write("src/app/new.clj", "(ns app.new)\n"))
	quiet(a.Bash("true"))
	quiet(a.Read("src/app/new.clj"))
	assert.DeepEqual(t, loadedFiles(w, server)[3:], []string{"src/app/new.clj"})

	// Brackets that a command has lost are put back on disk, and the file is loaded.
	server.OnLoadFile(a.project.Path("src/old.clj")).Value("nil")
	turn = a.Bash(`printf '(ns old)\n\n(defn f [x]\n  (inc x)\n' > src/old.clj`)
	assert.DeepEqual(t, a.texts(turn.Told)[:1], []string{"system: PostToolUse:Bash hook additional context: " +
		"src/old.clj was not balanced on disk, and brepl repaired it there: added `)` at the end of line 4. What was there is backup 1."})
	a.onDisk("src/old.clj", "(ns old)\n\n(defn f [x]\n  (inc x))\n")
	quiet(a.Bash("true"))
	// An error is told at a failed command too.
	compileError(server.OnLoadFile(a.project.Path("src/old.clj")), a.project.Path("src/old.clj"), 1)
	turn = a.Bash("echo '(foo)' > src/old.clj; exit 1")
	assert.Assert(t, cmp.Contains(turn.ToldText(), "PostToolUseFailure:Bash hook additional context: "+evalFailed+"src/old.clj:1:3: "), a.Story())
	// Brackets that nobody can put back: the agent reads what is wrong, and of the state that was kept.
	turn = a.Bash("printf '(ns old)\\n(f \"x)\\n' > src/old.clj")
	assert.Assert(t, cmp.Contains(turn.ToldText(), "src/old.clj is on disk now and is not balanced. Found unclosed string at line 2. Please add missing closing quote. "+
		"`brepl backup restore "+a.project.Path("src/old.clj")+"` brings back what was there at "), a.Story())
	server.OnLoadFileContains("(inc x))\n").Value("nil") // the state before the repair, repaired again
	turn = a.Bash("brepl backup restore src/old.clj")
	assert.Assert(t, cmp.Contains(normalize(turn.ToolResult, measured()), "src/old.clj is restored from backup 1, as it was on $WHEN; what was there is backup 2"), a.Story())
	// A branch that is switched is no edit.
	turn = a.Bash("for i in $(seq 70); do echo \"(ns many$i)\" > src/many$i.clj; done")
	assert.Assert(t, cmp.Contains(turn.ToldText(), "70 Clojure files have changed at once: they were not loaded into the REPL."), a.Story())
	allClosed(t, server)
}

// Files that require what failed are not loaded: their errors would say nothing.
func TestEvalDependents(t *testing.T) {
	brepl(t)
	t.Parallel()
	w, server := inStep(t)
	w.project.Write("src/a.clj", "(ns a)\n  (foo)\n")
	w.project.Write("src/b.clj", "(ns b (:require a))\n")
	w.project.Write("src/c.clj", "(ns c (:require b))\n")
	w.project.Write("src/d.clj", "(ns d)\n")
	compileError(server.OnLoadFile(w.project.Path("src/a.clj")), w.project.Path("src/a.clj"), 2)
	server.OnLoadFile(w.project.Path("src/d.clj")).Value("nil")
	w.ranBash().is(0, tells(evalFailed+fooFails("src/a.clj", 2, "  (foo)")+mayBeMeant), "")
	assert.DeepEqual(t, loadedFiles(w, server), []string{"src/a.clj", "src/d.clj"})
	allClosed(t, server)
}

// The same error with other output, other addresses and other made names is the same error; with another place it is another one.
func TestEvalSameError(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n(f)\n(f)\n", 0o644))
	server := w.evalServer()
	fails := func(line, n int) result {
		e := server.OnLoadFile(w.project.Path("src/a.clj")).Out(fmt.Sprintf("took %d ms\n", n))
		e.Thrown(fmt.Sprintf("Execution error (ExceptionInfo) at a/eval%d (a.clj:%d).\nno #object[A 0x%x]\n", n, line, n), "class clojure.lang.ExceptionInfo", "class clojure.lang.ExceptionInfo")
		return w.evals("src/a.clj")
	}
	first := fails(2, 1)
	assert.Assert(t, cmp.Contains(first.stdout, `| took 1 ms`))
	fails(2, 2).is(0, tells("still fails as before: src/a.clj:2"), "")
	fails(2, 0xabc).is(0, tells("still fails as before: src/a.clj:2"), "")
	assert.Assert(t, cmp.Contains(fails(3, 4).stdout, "src/a.clj:3: "))
	assert.Assert(t, cmp.Contains(fails(2, 5).stdout, "src/a.clj:2: "))
}

// Two projects in one repository, each with its server; the order is one for both.
func TestEvalTwoProjects(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "", fakes.WithFile("app/deps.edn", "{}", 0o644), fakes.WithFile("lib/deps.edn", `{:paths ["clj"]}`, 0o644), fakes.WithGit())
	w.ranBash().is(0, "", "")
	w.mayChange = true
	app, lib := fakes.NewNREPL(t), fakes.NewNREPL(t)
	knowsNothing(app)
	knowsNothing(lib)
	app.WritePortFile(w.project.Path("app"))
	lib.WritePortFile(w.project.Path("lib"))
	w.project.Write("app/src/a.clj", "(ns a (:require lib.core))\n")
	w.project.Write("lib/clj/lib/core.clj", "(ns lib.core)\n")
	w.project.Write("lib/src/no.clj", "(ns no)\n")
	app.OnLoadFile(w.project.Path("app/src/a.clj")).Value("nil")
	lib.OnLoadFile(w.project.Path("lib/clj/lib/core.clj")).Value("nil")
	w.ranBash().is(0, "", "")
	allClosed(t, app)
	allClosed(t, lib)
}

// evalObject reads an answer of the form with a file.
func evalObject(t *testing.T, r result) (object map[string]any) {
	t.Helper()
	assert.Equal(t, r.exit, 0)
	assert.Equal(t, r.stderr, "")
	assert.NilError(t, json.Unmarshal([]byte(r.stdout), &object), r.stdout)
	return object
}
