package hooksedn

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hookkit/brepl/hookkit/internal/growth"
	"github.com/hookkit/brepl/hookkit/proc"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"
)

func parseText(text string) (*Config, error) { return parse("/p/.brepl/hooks.edn", "/p", []byte(text)) }

func TestParse(t *testing.T) {
	config, err := parseText(`
{:subagents? true
 :skip-while-background? true
 :inform :user
 :stop
 [{:type :repl :name "tests" :code "(run-tests)" :retry-on-failure? true :max-retries 3 :required? true :timeout 120}
  {:type :repl :name "form" :code (do (require 'x) @y #(z %)
                                      #_ignored (run)) :loop-on-failure? true :max-retries 0}
  {:type :bash :name "lint" :command "clj-kondo --lint src" :cwd "sub" :env {"CI" "true", "DEBUG" "1"} :when-changed ["src/**" "*.edn"]}]}`)
	assert.NilError(t, err)
	assert.Equal(t, config.Subagents, true)
	assert.Equal(t, config.SkipWhileBackground, true)
	assert.Equal(t, config.InformUser, true)
	assert.Equal(t, len(config.Doubts), 0)
	for _, h := range config.Hooks {
		h.Source = ""
	}
	assert.DeepEqual(t, config.Hooks, []*Hook{
		{Type: REPL, Name: "tests", Code: "(run-tests)", Retry: true, MaxRetries: 3, Required: true, Timeout: 120 * time.Second, Cwd: "."},
		{
			Type: REPL, Name: "form", Retry: true, Timeout: time.Minute, Cwd: ".",
			Code: "(do (require 'x) @y #(z %)\n                                      #_ignored (run))",
		},
		{
			Type: Bash, Name: "lint", Command: "clj-kondo --lint src", MaxRetries: 10, Timeout: time.Minute, Cwd: "sub",
			Env: []proc.Var{{Name: "CI", Value: "true"}, {Name: "DEBUG", Value: "1"}}, WhenChanged: []string{"src/**", "*.edn"},
		},
	}, cmp.AllowUnexported(Hook{}))
	assert.Equal(t, config.Budget(), 240*time.Second)
}

func TestParseErrors(t *testing.T) {
	for _, row := range []struct{ title, text, want string }{
		{"empty", "", "1:1: the file is empty; expected a map such as {:stop []}"},
		{"only a comment", "; nothing", "1:1: the file is empty; expected a map such as {:stop []}"},
		{"not a map", "[]", "1:1: expected a map such as {:stop []}, found a vector"},
		{"two maps", "{} {}", "1:4: expected one map, found something after it"},
		{":stop is no vector", "{:stop {}}", "1:8: :stop must be a vector of hooks, found a map"},
		{"hook is no map", "{:stop [1]}", "1:9: hook 1 must be a map, found 1"},
		{"missing name", `{:stop [{:type :bash :command "x"}]}`, "1:9: hook 1: :name is missing; expected a string that is not empty, on one line"},
		{"missing type", `{:stop [{:name "a"}]}`, "1:9: hook 'a': :type is missing; expected :tests, :repl or :bash"},
		{"wrong type", `{:stop [{:type :shell :name "a"}]}`, "1:16: hook 'a': :type must be :tests, :repl or :bash, found the keyword :shell"},
		{"missing code", `{:stop [{:type :repl :name "a"}]}`, "1:9: hook 'a': :code is missing; expected a string with Clojure code, or a form"},
		{
			"missing command, near miss", `{:stop [{:type :bash :name "a" :cmd "x"}]}`,
			"1:9: hook 'a': :command is missing; expected a string with a shell command (there is `:cmd`; did you mean `:command`?)",
		},
		{"timeout is a string", `{:stop [{:type :bash :name "a" :command "x" :timeout "sixty"}]}`, `1:54: hook 'a': :timeout must be a positive integer (seconds), found the string "sixty"`},
		{"timeout is 0", `{:stop [{:type :bash :name "a" :command "x" :timeout 0}]}`, "1:54: hook 'a': :timeout must be a positive integer (seconds), found 0"},
		{"timeout is a ratio", `{:stop [{:type :bash :name "a" :command "x" :timeout 1/2}]}`, "1:54: hook 'a': :timeout must be a positive integer (seconds), found 1/2"},
		{"timeout is infinite", `{:stop [{:type :bash :name "a" :command "x" :timeout ##Inf}]}`, "1:54: hook 'a': :timeout must be a positive integer (seconds), found ##Inf"},
		{"negative retries", `{:stop [{:type :bash :name "a" :command "x" :max-retries -1}]}`, "1:58: hook 'a': :max-retries must be an integer of 0 or more (0: no limit), found -1"},
		{"retry is no boolean", `{:stop [{:type :bash :name "a" :command "x" :retry-on-failure? nil}]}`, "1:64: hook 'a': :retry-on-failure? must be true or false, found nil"},
		{"env with a number", `{:stop [{:type :bash :name "a" :command "x" :env {"A" 1}}]}`, "1:55: hook 'a': :env must be a map of strings to strings, found 1"},
		{"empty name", `{:stop [{:type :bash :name " " :command "x"}]}`, `1:28: hook ' ': :name must be a string that is not empty, on one line, found the string " "`},
		{"duplicate names", "{:stop [{:type :bash :name \"a\" :command \"x\"}\n {:type :bash :name \"a\" :command \"y\"}]}", `2:21: hook 2: the :name "a" is taken by the hook at line 1; names tell counts apart`},
		{
			"old and new name of one key", `{:stop [{:type :bash :name "a" :command "x" :retry-on-failure? true :loop-on-failure? true}]}`,
			"1:87: hook 'a': :loop-on-failure? is the old name of :retry-on-failure?; give one of them",
		},
		{"unbalanced code in a string", `{:stop [{:type :repl :name "a" :code "(run"}]}`, "1:38: hook 'a': :code cannot be read: at its line 1, column 5: "},
		{"code is empty", `{:stop [{:type :repl :name "a" :code " "}]}`, "1:38: hook 'a': :code is empty"},
		{"code is a keyword", `{:stop [{:type :repl :name "a" :code :x}]}`, "1:38: hook 'a': :code must be a string with Clojure code, or a form, found the keyword :x"},
		{"pattern outside the project", `{:stop [{:type :bash :name "a" :command "x" :when-changed ["../x"]}]}`, "1:60: hook 'a': :when-changed must be a vector of glob patterns (strings), found the string \"../x\", which is a pattern outside the project"},
		{"env with a keyword", `{:stop [{:type :bash :name "a" :command "x" :env {:CI "1"}}]}`, "1:51: hook 'a': :env must be a map of strings to strings, found the keyword :CI"},
		{"env with an empty name", `{:stop [{:type :bash :name "a" :command "x" :env {"" "1"}}]}`, `1:51: hook 'a': :env must be a map of strings to strings, found the string "", which is no name of a variable`},
		{"misspelt :stop", "{:stops []}", "1:2: :stop is missing (there is `:stops`; did you mean `:stop`?)"},
		{"stop without a colon", "{stop []}", "1:2: :stop is missing (there is `stop`; did you mean `:stop`?)"},
		{"duplicate keys do not hide other errors", "{:inform :user :inform :user :stop 1}", "1:36: :stop must be a vector of hooks, found 1"},
		{"inform", `{:inform :nobody}`, "1:10: :inform must be :user or :agent, found the keyword :nobody"},
		{"subagents", `{:subagents? 1}`, "1:14: :subagents? must be true or false, found 1"},
		{"read-eval is never run", `{:stop #=(java.lang.System/exit 1)}`, "1:8: :stop must be a vector of hooks, found a read-eval"},
		{"a quoted name", `{:stop [{:type :bash :name 'a :command "x"}]}`, "1:28: hook 1: :name must be a string that is not empty, on one line, found a quote"},
		{"not UTF-8", "{:stop \xff}", "1:1: the file is not UTF-8"},
		{"columns are UTF-16 units", `{:stop [{:type :bash :name "😀" :command 1}]}`, "1:42: hook '😀': :command must be a string with a shell command, found 1"},
	} {
		t.Run(row.title, func(t *testing.T) {
			_, err := parseText(row.text)
			assert.ErrorContains(t, err, ".brepl/hooks.edn:"+row.want)
		})
	}
}

// Tagged literals are data: where a value is expected they are a wrong one, and nothing is run for them.
func TestParseTaggedLiteral(t *testing.T) {
	_, err := parseText(`{:stop [{:type :bash :name "a" :command #js/x "rm"}]}`)
	assert.ErrorContains(t, err, "hook 'a': :command must be a string with a shell command, found a tagged literal #js/x")
}

func TestParseReportsAllErrorsAtOnce(t *testing.T) {
	_, err := parseText(`{:stop [{:type :bash :name "a" :timeout "sixty"}
        {:type :repl :code "(x)" :max-retries 1.5}]}`)
	assert.Error(t, err, `.brepl/hooks.edn:1:9: hook 'a': :command is missing; expected a string with a shell command
1 | {:stop [{:type :bash :name "a" :timeout "sixty"}
  |         ^
.brepl/hooks.edn:1:41: hook 'a': :timeout must be a positive integer (seconds), found the string "sixty"
1 | {:stop [{:type :bash :name "a" :timeout "sixty"}
  |                                         ^
.brepl/hooks.edn:2:9: hook 2: :name is missing; expected a string that is not empty, on one line
2 |         {:type :repl :code "(x)" :max-retries 1.5}]}
  |         ^
.brepl/hooks.edn:2:47: hook 2: :max-retries must be an integer of 0 or more (0: no limit), found 1.5
2 |         {:type :repl :code "(x)" :max-retries 1.5}]}
  |                                               ^`)
}

// Issue 4: a wrong :validate is passed over by the edit hooks, so `hook check` says it.
func TestParseValidate(t *testing.T) {
	for text, want := range map[string]string{
		`5`:                     "1:12: :validate must be a map such as {:exclude [\"test/broken/**\"]}, found 5",
		`{:exclude "x"}`:        "1:22: :validate: :exclude must be a vector of glob patterns (strings), found the string \"x\"",
		`{:exclude ["src" :x]}`: "1:29: :validate: :exclude must hold glob patterns (strings), found the keyword :x",
		`{:exclude ["["]}`:      "1:23: :validate: :exclude must hold glob patterns of files in the project, found the string \"[\", which is a malformed pattern",
		`{:exclude ["/etc/x"]}`: "1:23: :validate: :exclude must hold glob patterns of files in the project, found the string \"/etc/x\", which is a pattern outside the project",
		`{}`:                    "",
		`{:exclude []}`:         "",
		`{:exclude ["a/**/[x]*.{clj,edn}" "./b/" "src/\\[x]"]}`: "",
	} {
		for _, key := range []string{":validate", ":eval    "} {
			_, err := parseText("{" + key + " " + text + "}")
			if want == "" {
				assert.NilError(t, err, text)
			} else {
				assert.ErrorContains(t, err, ".brepl/hooks.edn:"+strings.Replace(want, ":validate", strings.TrimSpace(key), 1), text)
			}
		}
	}
	config, err := parseText(`{:validate {:exlude ["a"]}}`)
	assert.NilError(t, err)
	assert.Equal(t, len(config.Doubts), 1)
	assert.Equal(t, config.Doubts[0].Text, ":validate: unknown key :exlude (did you mean `:exclude`?)")
}

func TestParseDoubts(t *testing.T) {
	config, err := parseText(`{:stopp 1 :stop [{:type :bash :name "a" :command "x" :retries 3 :retry-on-failure true :code "x" "str" 1}]}`)
	assert.NilError(t, err)
	var texts []string
	for _, d := range config.Doubts {
		texts = append(texts, d.Text)
	}
	assert.DeepEqual(t, texts, []string{
		"unknown key :stopp (did you mean `:stop`?)",
		"hook 'a': unknown key :retries",
		"hook 'a': unknown key :retry-on-failure (did you mean `:retry-on-failure?`?)",
		"hook 'a': :code has no meaning in a hook of :type :bash",
		`hook 'a': unknown key "str"`,
	})
}

// Pins fault 23: sizes and depths that a reader could be exhausted with.
func TestParseBounds(t *testing.T) {
	for _, row := range []struct {
		title string
		text  func(size int) string
		want  string
	}{
		{"100,000 nested vectors", func(size int) string { return strings.Repeat("[", size) }, "hooks.edn:1:"},
		{"balanced, but deeper than 512", func(size int) string {
			return "{:stop " + strings.Repeat("[", size) + strings.Repeat("]", size) + "}"
		}, "512"},
		{"a huge integer", func(size int) string {
			return `{:stop [{:type :bash :name "a" :command "x" :timeout ` + strings.Repeat("9", size) + `}]}`
		}, ":timeout must be a positive integer"},
	} {
		t.Run(row.title, func(t *testing.T) {
			assert.NilError(t, growth.Linear(25_000, func(size int) func() {
				text := row.text(size)
				return func() {
					_, err := parseText(text)
					assert.ErrorContains(t, err, row.want)
					assert.Assert(t, len(err.Error()) < 10_000, "%d", len(err.Error()))
				}
			}))
		})
	}
}

func TestLongTimeoutsDoNotOverflow(t *testing.T) {
	config, err := parseText(`{:stop [{:type :bash :name "a" :command "x" :timeout 9223372036854775807} {:type :bash :name "b" :command "x" :timeout 9223372036854775807}]}`)
	assert.NilError(t, err)
	assert.Assert(t, config.Budget() > 0)
}

func TestLocate(t *testing.T) {
	tree := fs.NewDir(t, "locate",
		fs.WithDir("repo",
			fs.WithDir(".git", fs.WithFile("HEAD", "ref: refs/heads/main\n")),
			fs.WithDir(".brepl", fs.WithFile("hooks.edn", "{}")),
			fs.WithDir("sub", fs.WithDir("deep")),
			fs.WithDir("own", fs.WithDir(".brepl", fs.WithFile("hooks.edn", "{}"))),
		),
		fs.WithDir("none"),
		fs.WithFile("file", ""),
	)
	repo := tree.Join("repo")
	for _, row := range []struct {
		title, dir, hostDir, want string
		ok                        bool
	}{
		{"here", repo, "", repo, true},
		{"no walking up for a person", filepath.Join(repo, "sub"), "", filepath.Join(repo, "sub"), false},
		{"the host's project", filepath.Join(repo, "sub"), repo, repo, true},
		{"here beats the host's project", filepath.Join(repo, "own"), repo, filepath.Join(repo, "own"), true},
		{"the host started in a sub-directory: the git root", filepath.Join(repo, "sub", "deep"), filepath.Join(repo, "sub"), repo, true},
		{"the working directory is gone", "", repo, repo, true},
		{"nowhere", tree.Join("none"), tree.Join("none"), tree.Join("none"), false},
		{"a file where .brepl would be", tree.Join("file"), "", tree.Join("file"), false},
	} {
		t.Run(row.title, func(t *testing.T) {
			got, ok := Locate(row.dir, row.hostDir)
			assert.Equal(t, got, row.want)
			assert.Equal(t, ok, row.ok)
		})
	}
}

// Pins fault 26: a file that others can write holds commands that would run as the user.
func TestLoadTrust(t *testing.T) {
	tree := fs.NewDir(t, "trust", fs.WithDir(".brepl", fs.WithFile("hooks.edn", "{}")), fs.WithFile("elsewhere.edn", "{:stop []}"))
	path := tree.Join(".brepl", "hooks.edn")
	_, err := Load(tree.Path())
	assert.NilError(t, err)

	assert.NilError(t, os.Chmod(path, 0o666))
	_, err = Load(tree.Path())
	assert.ErrorContains(t, err, "can be written by every user of this machine, so its hooks are not run; `chmod o-w ")

	assert.NilError(t, os.Remove(path))
	assert.NilError(t, os.Symlink(tree.Join("elsewhere.edn"), path))
	_, err = Load(tree.Path())
	assert.NilError(t, err, "a link is as good as its target")

	assert.NilError(t, os.Remove(path))
	assert.NilError(t, os.Mkdir(path, 0o700))
	_, err = Load(tree.Path())
	assert.ErrorContains(t, err, "is not a regular file")

	assert.NilError(t, os.Remove(path))
	assert.NilError(t, os.WriteFile(path, make([]byte, maxBytes+1), 0o600))
	_, err = Load(tree.Path())
	assert.ErrorContains(t, err, "has 1048577 bytes, more than the 1048576 that a configuration may have")
}

// Issue 14: what left a file stays in the REPL only where hooks.edn says so.
func TestParseUnmap(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, ":eval {}": false, ":eval {:unmap true}": false, ":eval {:unmap false}": true} {
		config, err := parseText("{:stop [] " + text + "}")
		assert.NilError(t, err, text)
		assert.Equal(t, config.Eval.KeepGone, want, text)
	}
	_, err := parseText("{:stop [] :eval {:unmap 1}}")
	assert.ErrorContains(t, err, ":eval: :unmap must be true or false, found 1")
}

func TestLoadForEdits(t *testing.T) {
	tree := fs.NewDir(t, "exclude", fs.WithDir(".brepl", fs.WithFile("hooks.edn", "")))
	path := tree.Join(".brepl", "hooks.edn")
	for text, want := range map[string]string{
		`{:validate {:exclude ["a" "b/**"]}}`:                              "a b/**",
		`{:stop [{:type 7}] :nonsense 1 :validate {:exclude ["a" 7 "["]}}`: "a",
		`{:validate {:exclude ["a"]`:                                       "",
		`{:validate {:exclude "a"}}`:                                       "",
		`{:eval {:exclude 7} :validate {:exclude ["a"]}}`:                  "a",
		"":     "",
		"\xff": "",
	} {
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := LoadForEdits(tree.Path())
		assert.NilError(t, err, text)
		assert.Equal(t, strings.Join(got.Exclude, " "), want, text)
		assert.Equal(t, len(got.Eval.Exclude), 0, text)
	}
	assert.NilError(t, os.Chmod(path, 0o602))
	got, err := LoadForEdits(tree.Path())
	assert.Equal(t, len(got.Exclude), 0)
	assert.ErrorContains(t, err, "so what it excludes does not count; `chmod o-w ")
}

func TestMatches(t *testing.T) {
	for _, row := range []struct {
		pattern, name string
		want          bool
	}{
		{"src/a.clj", "src/a.clj", true},
		{"src", "src/a/b.clj", true},
		{"./src/", "src/a.clj", true},
		{"src/*.clj", "src/a/b.clj", false},
		{"src/**/*.clj", "src/b.clj", true},
		{"src", "srcs/a.clj", false},
		{"", "src/a.clj", false},
		{"./", "src/a.clj", false},
	} {
		assert.Equal(t, Matches(row.pattern, row.name), row.want, "%q %q", row.pattern, row.name)
	}
}

func TestSuggestion(t *testing.T) {
	assert.Equal(t, suggestion("tiemout", fieldKeys()), " (did you mean `:timeout`?)")
	assert.Equal(t, suggestion("cmd", fieldKeys()), " (did you mean `:command`?)")
	assert.Equal(t, suggestion("zzz", fieldKeys()), "")
	assert.Equal(t, suggestion("", fieldKeys()), "")
}

func TestConfigErrorCanBeTakenApart(t *testing.T) {
	_, err := parseText("{:stop 1}")
	var faulty *ConfigError
	assert.Assert(t, errors.As(err, &faulty))
	assert.Equal(t, faulty.Faults[0].Pos.Column, 8)
}

// Issue 14: the excerpt of each fault went through the whole line; 10,000 faults on one line took seconds.
func TestManyFaultsOnOneLine(t *testing.T) {
	assert.NilError(t, growth.Linear(2500, func(size int) func() {
		text := "{:stop [" + strings.Repeat("{:type :bash :name 7} ", size) + "]}"
		return func() {
			_, err := parseText(text)
			assert.Equal(t, strings.Count(err.Error(), ":command is missing;"), size)
		}
	}))
}
