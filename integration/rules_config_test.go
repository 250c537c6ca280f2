//go:build unix

package integration

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// whereAmI is a hook that notes where it runs.
const whereAmI = `pwd >> "$WORLD/trace"`

// invalid checks both faces of a configuration that cannot be used: `hook check`, and a stop, which runs nothing.
func (w *world) invalid(first string, shown ...string) {
	w.t.Helper()
	text := lines(append([]string{first}, shown...)...)
	w.hook("check").is(1, "", text)
	text = "The stop hooks cannot be run: " + text + noHookRun
	w.stop().is(1, tellBoth("brepl: the stop hooks cannot be run: "+first, text), text+"\n")
	assert.Equal(w.t, w.wrote("trace"), "absent")
}

var configRules = []ruleTest{
	{title: "without a host nothing above the current directory is looked at", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", whereAmI)), fakes.WithDir("src", 0o755), fakes.WithGit())
		w.dir = w.project.Path("src")
		w.env = append(w.env, "CLAUDE_PROJECT_DIR=")
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "absent")
	}},
	{title: "under a host the configuration is found in CLAUDE_PROJECT_DIR", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", whereAmI), eval("repl", "1")), fakes.WithDir("src", 0o755))
		w.withREPL().On("1").Value("1")
		w.dir = w.project.Path("src")
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "$PROJECT\n")
	}},
	{title: "under a host the configuration is found at the root of the git repository", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", whereAmI), eval("repl", "1")), fakes.WithDir("a/b", 0o755), fakes.WithGit())
		w.withREPL().On("1").Value("1")
		w.dir = w.project.Path("a/b")
		w.env = append(w.env, "CLAUDE_PROJECT_DIR="+w.project.Path("a"))
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "$PROJECT\n")
	}},
	{title: "the configuration of the current directory comes first", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("outer", whereAmI)))
		w.project.Write("sub/.brepl/hooks.edn", hooksEDN(bash("inner", whereAmI)))
		w.dir = w.project.Path("sub")
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "$PROJECT/sub\n")
	}},
	{title: "a configuration of more than 1 MiB is refused", run: func(t *testing.T) {
		head, tail := "{:stop [\n"+bash("tests", whereAmI)+"\n] ", "}"
		w := newWorld(t, head+strings.Repeat(" ", 1<<20-len(head)-len(tail))+tail)
		w.hook("check").is(0, ".brepl/hooks.edn can be used: 1 hook (tests)\n", "")
		w.project.Write(".brepl/hooks.edn", head+strings.Repeat(" ", 1<<20-len(head)-len(tail)+1)+tail)
		w.invalid("$PROJECT/.brepl/hooks.edn has 1048577 bytes, more than the 1048576 that a configuration may have")
	}},
	{title: "a FIFO or a folder in the place of hooks.edn is exit 1 at once", run: func(t *testing.T) {
		for _, replace := range []func(string) error{fifo, func(path string) error { return os.Mkdir(path, 0o755) }} {
			w := newWorld(t, "", fakes.WithDir(".brepl", 0o755))
			assert.NilError(t, replace(w.project.Path(hooksFile)))
			// The project is not compared: reading a FIFO would wait.
			r := w.result(fakes.Run(t, w.spec("hook", "stop"), fakes.OneLine(w.stopEvent())))
			text := "The stop hooks cannot be run: $PROJECT/.brepl/hooks.edn is not a regular file\n" + noHookRun
			r.is(1, tellBoth("brepl: the stop hooks cannot be run: $PROJECT/.brepl/hooks.edn is not a regular file", text), text+"\n")
		}
	}},
	{title: "a configuration deeper than 512 is refused", run: func(t *testing.T) {
		nested := func(depth int) string {
			return "{:stop [] :x " + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "}"
		}
		w := newWorld(t, nested(512))
		w.hook("check").is(0, lines(
			".brepl/hooks.edn:1:11: unknown key :x", "1 | {:stop [] :x "+strings.Repeat("[", 87)+"…", "  | "+strings.Repeat(" ", 10)+"^",
			".brepl/hooks.edn can be used: 0 hooks",
		), "")
		w.project.Write(".brepl/hooks.edn", nested(513))
		w.invalid(".brepl/hooks.edn:1:525: Nested too deep: more than 512 delimiters and prefixes are open here; reading stopped",
			"1 | …"+strings.Repeat("[", 51)+strings.Repeat("]", 49)+"…", "  | "+strings.Repeat(" ", 51)+"^")
		w.project.Write(".brepl/hooks.edn", strings.Repeat("[", 1_000_000))
		assert.Equal(t, w.stop().exit, 1)
	}},
	{title: ":loop-on-failure? is the old name of :retry-on-failure?", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", ":loop-on-failure? true")))
		w.stop().blocks("tests", 1)
	}},
	{title: ":loop-on-failure? beside :retry-on-failure? is an error", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(`{:type :bash :name "t" :command "x"`, ` :retry-on-failure? true`, ` :loop-on-failure? true}`))
		w.invalid(".brepl/hooks.edn:4:20: hook 't': :loop-on-failure? is the old name of :retry-on-failure?; give one of them",
			"4 |  :loop-on-failure? true}", "  |                    ^")
	}},
	{title: ":code as a form is sent as written", run: func(t *testing.T) {
		const form = "(do ; a comment\n  (require  'my.test) #_gone\n  #(inc %) @x ^:m [] #\"a\\d\" ::k #:a{:b 1}\n  (my.test/run))"
		w := newWorld(t, hooksEDN(`{:type :repl :name "tests" :code `+form+"}"))
		w.withREPL().On(form).Value("nil")
		w.stop().is(0, approve, "")
	}},
	{title: ":code that is not balanced is found when the file is read", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(`{:type :repl :name "tests" :code "(run-tests"}`))
		w.invalid(".brepl/hooks.edn:2:34: hook 'tests': :code cannot be read: at its line 1, column 11: "+
			"EOF while reading, starting at line 1: expected ) to match ( at line 1, column 1",
			`2 | {:type :repl :name "tests" :code "(run-tests"}`, "  |                                  ^")
	}},
	{title: "all errors are reported at once, with columns in UTF-16 units", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(
			`{:type :bash :name "😀é" :cmd "x"}`,
			`	{:type :rest :name ""}`,
			`{:name "r" :type :repl :code "1" :timeout 0 :max-retries -1 :required? "yes"}`,
			`17`,
			`{:type :bash :name "e" :command "x"`,
			` :env {:A "1"} :cwd 3 :when-changed "src"}`,
			`{:type :bash :name "e" :command "x"}`,
		))
		w.invalid(".brepl/hooks.edn:2:1: hook '😀é': :command is missing; expected a string with a shell command (there is `:cmd`; did you mean `:command`?)",
			`2 | {:type :bash :name "😀é" :cmd "x"}`, "  | ^",
			`.brepl/hooks.edn:3:9: hook '': :type must be :tests, :repl or :bash, found the keyword :rest`,
			`3 | 	{:type :rest :name ""}`, "  | 	       ^",
			`.brepl/hooks.edn:3:21: hook '': :name must be a string that is not empty, on one line, found the string ""`,
			`3 | 	{:type :rest :name ""}`, "  | 	                   ^",
			`.brepl/hooks.edn:4:43: hook 'r': :timeout must be a positive integer (seconds), found 0`,
			`4 | {:name "r" :type :repl :code "1" :timeout 0 :max-retries -1 :required? "yes"}`, "  |                                           ^",
			`.brepl/hooks.edn:4:58: hook 'r': :max-retries must be an integer of 0 or more (0: no limit), found -1`,
			`4 | {:name "r" :type :repl :code "1" :timeout 0 :max-retries -1 :required? "yes"}`, "  |                                                          ^",
			`.brepl/hooks.edn:4:72: hook 'r': :required? must be true or false, found the string "yes"`,
			`4 | {:name "r" :type :repl :code "1" :timeout 0 :max-retries -1 :required? "yes"}`, "  |                                                                        ^",
			`.brepl/hooks.edn:5:1: hook 4 must be a map, found 17`, `5 | 17`, "  | ^",
			`.brepl/hooks.edn:7:8: hook 'e': :env must be a map of strings to strings, found the keyword :A`,
			`7 |  :env {:A "1"} :cwd 3 :when-changed "src"}`, "  |        ^",
			`.brepl/hooks.edn:7:21: hook 'e': :cwd must be a string with a directory, found 3`,
			`7 |  :env {:A "1"} :cwd 3 :when-changed "src"}`, "  |                     ^",
			`.brepl/hooks.edn:7:37: hook 'e': :when-changed must be a vector of glob patterns (strings), found the string "src"`,
			`7 |  :env {:A "1"} :cwd 3 :when-changed "src"}`, "  |                                     ^",
			`.brepl/hooks.edn:8:20: hook 6: the :name "e" is taken by the hook at line 6; names tell counts apart`,
			`8 | {:type :bash :name "e" :command "x"}`, "  |                    ^",
		)
	}},
	{title: "a column counts UTF-16 units, and the caret stands under it", run: func(t *testing.T) {
		w := newWorld(t, "{:stop [{:type :bash :name \"😀é\" :command 1}]}")
		w.invalid(".brepl/hooks.edn:1:43: hook '😀é': :command must be a string with a shell command, found 1",
			`1 | {:stop [{:type :bash :name "😀é" :command 1}]}`, "  | "+strings.Repeat(" ", 42)+"^")
	}},
	{title: "a name that stands twice is an error", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("lint", whereAmI), bash("lint", whereAmI)))
		w.invalid(`.brepl/hooks.edn:3:20: hook 2: the :name "lint" is taken by the hook at line 2; names tell counts apart`,
			`3 | `+bash("lint", whereAmI), "  |                    ^")
	}},
	{title: "unknown keys are silent at stop time and reported by hook check", run: func(t *testing.T) {
		w := newWorld(t, "{:stopp 1 :stop [\n"+bash("tests", whereAmI, ":timout 5 :my/note 1 :code \"x\"")+"]}\n")
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "$PROJECT\n")
		hook := `2 | {:type :bash :name "tests" :command "pwd >> \"$WORLD/trace\"" :timout 5 :my/note 1 :code "x"}]}`
		w.hook("check").is(0, lines(
			".brepl/hooks.edn:1:2: unknown key :stopp (did you mean `:stop`?)", "1 | {:stopp 1 :stop [", "  |  ^",
			".brepl/hooks.edn:2:63: hook 'tests': unknown key :timout (did you mean `:timeout`?)", hook, "  | "+strings.Repeat(" ", 62)+"^",
			".brepl/hooks.edn:2:73: hook 'tests': unknown key :my/note", hook, "  | "+strings.Repeat(" ", 72)+"^",
			".brepl/hooks.edn:2:84: hook 'tests': :code has no meaning in a hook of :type :bash", hook, "  | "+strings.Repeat(" ", 83)+"^",
			".brepl/hooks.edn can be used: 1 hook (tests)",
		), "")
	}},
	{title: "nothing in the file is evaluated by reading it", run: func(t *testing.T) {
		w := newWorld(t, "{:stop [#=(spit \"ran\" 1)]}")
		w.invalid(".brepl/hooks.edn:1:9: hook 1 must be a map, found a read-eval", `1 | {:stop [#=(spit "ran" 1)]}`, "  |         ^")

		w = newWorld(t, hooksEDN(`{:type :bash :name "t" :command #my/secret "x"}`))
		w.invalid(".brepl/hooks.edn:2:33: hook 't': :command must be a string with a shell command, found a tagged literal #my/secret",
			`2 | {:type :bash :name "t" :command #my/secret "x"}`, "  |                                 ^")
	}},
	{title: ":when-changed skips the hook until something matching changes", run: func(t *testing.T) {
		for _, inGit := range []bool{true, false} {
			options := []fakes.ProjectOption{fakes.WithFile("src/a/b.clj", "1", 0o644), fakes.WithFile(".gitignore", "ignored/\n", 0o644)}
			if inGit {
				options = append(options, fakes.WithGit())
			}
			w := newWorld(t, hooksEDN(bash("tests", `echo tests >> "$WORLD/trace"; test ! -e "$WORLD/fail"`, `:when-changed ["src/**" "deps.edn"]`), bash("lint", `echo lint >> "$WORLD/trace"`)), options...)
			trace := ""
			stops := func(want string) {
				t.Helper()
				r := w.stop()
				assert.Equal(t, r.exit, 0, r.stderr)
				trace += want
				assert.Equal(t, w.wrote("trace"), trace, "in git: %v", inGit)
			}
			stops("tests\nlint\n")
			stops("lint\n")
			w.project.Write("README.md", "no match")
			stops("lint\n")
			w.project.Write("src/a/b.clj", "12")
			stops("tests\nlint\n")
			stops("lint\n")
			w.project.Write("src/new.clj", "untracked") // tracked or not
			stops("tests\nlint\n")
			w.project.Remove("src/new.clj")
			stops("tests\nlint\n")
			stops("lint\n")
			// A failure is no pass: it runs again although nothing changed.
			w.project.Write("deps.edn", "{}")
			w.write("fail", "")
			for range 2 {
				assert.Equal(t, w.stop().exit, 1)
				trace += "tests\nlint\n"
				assert.Equal(t, w.wrote("trace"), trace)
			}
			// Another session has seen nothing yet.
			assert.NilError(t, removeFile(w.scratch, "fail"))
			stops("tests\nlint\n")
			w.session += "-other"
			stops("tests\nlint\n")
		}
	}},
	{title: "a skip by :when-changed neither resets nor deletes counts", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "true", retry, `:when-changed ["src/**"]`)), fakes.WithFile("src/a.clj", "1", 0o644))
		w.stop().is(0, approve, "")
		w.keep(w.countsFile(), "{\"tests\" 3}\n")
		w.stop().is(0, approve, "")
		assert.Equal(t, w.counts(), "{\"tests\" 3}\n")
	}},
	{title: "a hook has the defaults of the document", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("b", "true"), eval("r", "1")))
		w.hook("stop", "--dry-run").is(0, lines(
			"2 hooks of $PROJECT/.brepl/hooks.edn",
			" 1. b",
			"      runs      true",
			"      in        $PROJECT",
			"      timeout   60 s",
			"      failure   is reported, the agent can stop",
			" 2. r",
			"      evaluates 1",
			"      in        an nREPL server that runs in this project: there is no .nrepl-port, and BREPL_PORT is not set",
			"      timeout   60 s",
			"      failure   is reported, the agent can stop",
			"Timeouts sum up to 120 s. The host gives 600 s, of which 595 s are used.",
		), "")
	}},
}
