package install

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"

	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/settings"
)

// world is a home folder with a project in it, and brepl on the PATH.
type world struct {
	*fs.Dir
	env    surroundings
	budget StopBudget
}

type surroundings struct{ Dir, Home, State, Executable, Path string }

func (s surroundings) env() settings.Env {
	vars := map[string]string{"HOME": s.Home, "XDG_STATE_HOME": s.State, "PATH": s.Path}
	return settings.Env{Dir: s.Dir, Executable: s.Executable, Getenv: func(name string) string { return vars[name] }}
}

var (
	gitDir = fs.WithDir(".git", fs.WithFile("HEAD", "ref: refs/heads/main\n"))
	binary = fs.WithFile("brepl", "#!", fs.WithMode(0o755))
)

func newWorld(t *testing.T, project ...fs.PathOp) world {
	t.Helper()
	dir := fs.NewDir(t, "install", fs.WithDir("bin", binary), fs.WithDir("home", fs.WithDir("project", project...)))
	return world{Dir: dir, env: surroundings{
		Dir: dir.Join("home", "project"), Home: dir.Join("home"), State: dir.Join("state"),
		Executable: dir.Join("bin", "brepl"), Path: dir.Join("bin"),
	}}
}

func withLocal(text string) fs.PathOp {
	return fs.WithDir(".claude", fs.WithFile("settings.local.json", text))
}

func (w world) path(names ...string) string {
	return filepath.Join(append([]string{w.env.Dir}, names...)...)
}

func (w world) local() string { return w.path(".claude", "settings.local.json") }

// do is brepl's install or uninstall with these flags.
func (w world) do(t *testing.T, action string, args ...string) (Report, error) {
	t.Helper()
	c := command{Program: Brepl(w.budget), action: action}
	set := flag.NewFlagSet(action, flag.ContinueOnError)
	c.declare(set)
	assert.NilError(t, set.Parse(args))
	return c.do(t.Context(), w.env.env(), "brepl hook uninstall")
}

func (w world) install(t *testing.T, args ...string) Report {
	t.Helper()
	r, err := w.do(t, installAction, args...)
	assert.NilError(t, err)
	return r
}

func (w world) uninstall(t *testing.T, args ...string) Report {
	t.Helper()
	r, err := w.do(t, uninstallAction, args...)
	assert.NilError(t, err)
	return r
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	return string(data)
}

// commands are our handlers in a file: "Stop: brepl hook stop".
func commands(path string) []string {
	var ours []settings.Handler
	for _, h := range settings.Handlers(path) {
		if Brepl(nil).Own(h) {
			ours = append(ours, h)
		}
	}
	return describe(ours)
}

// Seed 000, "Example".
func TestInstallSeedExample(t *testing.T) {
	w := newWorld(t, withLocal(read(t, "testdata/seed-before.json")))
	w.install(t)
	after := read(t, "testdata/seed-after.json")
	assert.Equal(t, read(t, w.local()), after)
	r := w.install(t)
	assert.Equal(t, r.Files[0].Status, Unchanged)
	assert.Equal(t, read(t, w.local()), after)
}

// Seed 001: "Install creates template config".
func TestInstallCreatesTemplate(t *testing.T) {
	w := newWorld(t)
	r := w.install(t)
	assert.Equal(t, r.Template.Status, Created)
	assert.Equal(t, read(t, w.path(".brepl", "hooks.edn")), read(t, "testdata/hooks.edn"))
	assert.DeepEqual(t, commands(w.local()), []string{
		"PreToolUse: brepl hook validate", "PostToolUse: brepl hook eval", "Stop: brepl hook stop", "SessionEnd: brepl hook session-end",
	})
}

// Seed 001: "Install preserves existing brepl config".
func TestInstallPreservesHooksEdn(t *testing.T) {
	w := newWorld(t, fs.WithDir(".brepl", fs.WithFile("hooks.edn", "{:stop []}")))
	r := w.install(t)
	assert.Equal(t, r.Template.Status, Present)
	assert.Equal(t, read(t, w.path(".brepl", "hooks.edn")), "{:stop []}")
	assert.Equal(t, len(commands(w.local())), 4)

	w = newWorld(t, fs.WithDir(".brepl", fs.WithSymlink("hooks.edn", "elsewhere")))
	r = w.install(t)
	assert.Equal(t, r.Template.Status, Present)
	assert.DeepEqual(t, r.Warnings, []string{w.path(".brepl", "hooks.edn") + " is a symbolic link to " + w.path(".brepl", "elsewhere") + ", which is not there: no stop hooks run"})
	_, err := os.Stat(w.path(".brepl", "elsewhere"))
	assert.ErrorIs(t, err, os.ErrNotExist)

	w = newWorld(t, fs.WithDir(".brepl", fs.WithSymlink("hooks.edn", "real.edn"), fs.WithFile("real.edn", "{}")))
	assert.Equal(t, len(w.install(t).Warnings), 0)
}

// Faults 17: what was done until then is reported, and what failed too.
func TestInstallTemplateFails(t *testing.T) {
	w := newWorld(t, fs.WithFile(".brepl", ""))
	for _, flags := range [][]string{{"--dry-run"}, nil} {
		r, err := w.do(t, installAction, flags...)
		assert.ErrorContains(t, err, "cannot look at "+w.path(".brepl", "hooks.edn")+": ")
		assert.Equal(t, r.Files[0].Status, Created)
		assert.Equal(t, r.Template.Status, Failed)
		assert.Assert(t, strings.Contains(r.Text(), "\n.brepl/hooks.edn: not created\n"), r.Text())
	}
	code, stdout, _ := w.runCommand(t, nil, "install", "--scope", "project", "--json")
	assert.Equal(t, code, 1)
	assert.Assert(t, strings.Contains(stdout, `"status": "failed"`) && strings.Contains(stdout, `"error": "cannot look at `), stdout)
}

// Faults 18: what a killed install has left beside hooks.edn goes.
func TestStraysBesideTemplateGo(t *testing.T) {
	w := newWorld(t)
	w.install(t)
	stray := w.path(".brepl", ".hooks.edn.4194999-1.tmp")
	for _, call := range []func(){func() { w.install(t) }, func() { w.uninstall(t) }} {
		assert.NilError(t, os.WriteFile(stray, nil, 0o600))
		w.install(t, "--dry-run")
		w.uninstall(t, "--dry-run")
		_, err := os.Lstat(stray)
		assert.NilError(t, err)
		call()
		_, err = os.Lstat(stray)
		assert.ErrorIs(t, err, os.ErrNotExist)
	}
}

// A handler of ours is written as we want it; what somebody had added to it is named.
func TestInstallNamesWhatItDrops(t *testing.T) {
	w := newWorld(t, withLocal(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"brepl hook stop","async":true,"if":"Edit(*)"}]}]}}`))
	r := w.install(t)
	assert.DeepEqual(t, r.Warnings, []string{w.local() + `: "brepl hook stop" for Stop is replaced, and what was added to it goes: async, if`})
	assert.Equal(t, len(w.install(t).Warnings), 0)
}

// Seed 002, "Hook Flags".
func TestInstallFlags(t *testing.T) {
	tests := map[string]struct {
		flags  string
		budget time.Duration
		want   []string
	}{
		"strict":  {"--strict-eval", 0, []string{"PreToolUse: brepl hook validate", "PostToolUse: brepl hook eval --strict-eval", "Stop: brepl hook stop", "SessionEnd: brepl hook session-end"}},
		"skip":    {"--skip-eval", 0, []string{"PreToolUse: brepl hook validate", "Stop: brepl hook stop", "SessionEnd: brepl hook session-end"}},
		"timeout": {"--timeout 90 --strict-eval", 0, []string{"PreToolUse: brepl hook validate", "PostToolUse: brepl hook eval --strict-eval --timeout 90", "Stop: brepl hook stop", "SessionEnd: brepl hook session-end"}},
		"debug":   {"--debug", 0, []string{"PreToolUse: brepl hook validate --debug", "PostToolUse: brepl hook eval --debug", "Stop: brepl hook stop --debug", "SessionEnd: brepl hook session-end --debug"}},
		"all":     {"--all-tools --timeout 7", 0, []string{"PreToolUse: brepl hook validate", "PostToolUse: brepl hook eval --timeout 7", "PostToolUseFailure: brepl hook eval --timeout 7", "Stop: brepl hook stop", "SessionEnd: brepl hook session-end"}},
		"budget":  {"--timeout 541", 1201 * time.Second, []string{"PreToolUse: brepl hook validate", "PostToolUse: brepl hook eval --timeout 541 (timeout 610 s)", "Stop: brepl hook stop (timeout 1270 s)", "SessionEnd: brepl hook session-end"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.install(t, "--debug", "--timeout", "5") // something else was there
			w.budget = func(string) (time.Duration, error) { return tt.budget, nil }
			back := "--strict-eval=false --skip-eval=false --all-tools=false --timeout=false --debug=false "
			w.install(t, strings.Fields(back+tt.flags)...)
			assert.DeepEqual(t, commands(w.local()), tt.want)
			// Issue 14: what was not given again was taken back.
			r := w.install(t)
			assert.DeepEqual(t, commands(w.local()), tt.want)
			assert.Equal(t, r.Files[0].Status, Unchanged)
			assert.Equal(t, len(r.Notes), 1)
			w.install(t, strings.Fields(back)...)
			assert.Equal(t, len(commands(w.local())), 4)
		})
	}
}

// Issue 14: a flag that is not given stays as the entries have it, whoever wrote them; what is given beats them.
func TestInstallRemembers(t *testing.T) {
	entries := func(eval string) string {
		return `{"hooks":{"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"/x/brepl hook validate"}]}],` +
			`"PostToolUse":[` + eval + `]}}`
	}
	const strict = `{"matcher":"*","hooks":[{"type":"command","command":"/x/brepl","args":["hook","eval","--strict-eval","--timeout=9"]}]}`
	for _, row := range []struct{ name, file, flags, eval, note string }{
		{"all of it", entries(strict), "", "eval --strict-eval --timeout 9 everywhere", "kept from the hooks that are there: --strict-eval, --all-tools, --timeout 9 (--strict-eval=false takes it back)"},
		{"one is another", entries(strict), "--timeout 5", "eval --strict-eval --timeout 5 everywhere", "kept from the hooks that are there: --strict-eval, --all-tools (--strict-eval=false takes it back)"},
		{"two are taken back", entries(strict), "--strict-eval=false --all-tools=false", "eval --timeout 9", "kept from the hooks that are there: --timeout 9 (--timeout=false takes it back)"},
		{"none is evaluated any more", entries(strict), "--skip-eval", "", ""},
		{"none was evaluated", entries(""), "", "", "kept from the hooks that are there: --skip-eval (--skip-eval=false takes it back)"},
		{"by a flag of the command", entries(`{"hooks":[{"type":"command","command":"brepl hook eval --skip-eval"}]}`), "", "", "kept from the hooks that are there: --skip-eval (--skip-eval=false takes it back)"},
		{"none was, and it is asked for", entries(""), "--skip-eval=false", "eval", ""},
		{"none was, and what is about it is given", entries(""), "--strict-eval", "eval --strict-eval", ""},
		{"only a stop hook, by hand", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"brepl hook stop"}]}]}}`, "", "eval", ""},
		{"a timeout that eval refuses", entries(`{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook eval --timeout soon"}]}`), "", "eval", ""},
		{"another program's", entries(`{"hooks":[{"type":"command","command":"other hook eval --strict-eval"}]}`), "--skip-eval=false", "eval", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, withLocal(row.file))
			r := w.install(t, strings.Fields(row.flags)...)
			eval := ""
			for _, h := range settings.Handlers(w.local()) {
				if after, ok := strings.CutPrefix(h.Command, "brepl hook eval"); ok && h.Event == "PostToolUse" {
					eval = "eval" + after
					if h.Matcher == "*" {
						eval += " everywhere"
					}
				}
			}
			assert.Equal(t, eval, row.eval)
			assert.Equal(t, strings.Join(r.Notes, "\n"), row.note)
		})
	}
}

func TestHostTimeoutWritten(t *testing.T) {
	for budget, want := range map[time.Duration]time.Duration{
		0: 0, 540 * time.Second: 0, 541 * time.Second: 610 * time.Second, 600 * time.Second: 660 * time.Second, time.Hour: 3660 * time.Second,
		settings.MaxTimeout: settings.MaxTimeout, 2147410 * time.Second: 2147470 * time.Second, math.MaxInt64: settings.MaxTimeout,
	} {
		assert.Equal(t, hostTimeout(budget), want, budget)
	}
}

func TestInstallProgram(t *testing.T) {
	stop := func(w world) string { return commands(w.local())[2] }
	t.Run("another brepl on the PATH", func(t *testing.T) {
		w := newWorld(t)
		other := fs.NewDir(t, "other one", binary)
		w.env.Executable = other.Join("brepl")
		r := w.install(t)
		assert.Equal(t, stop(w), "Stop: '"+other.Join("brepl")+"' hook stop")
		assert.DeepEqual(t, r.Warnings, []string{"brepl on your PATH is another file (" + w.Join("bin", "brepl") + "): the hooks call this one, " + other.Join("brepl")})
		assert.Equal(t, w.install(t).Files[0].Status, Unchanged)
		w.uninstall(t)
		assert.Equal(t, len(commands(w.local())), 0)
	})
	t.Run("same file under another name on the PATH", func(t *testing.T) {
		w := newWorld(t)
		link := fs.NewDir(t, "link")
		assert.NilError(t, os.Symlink(w.Join("bin", "brepl"), link.Join("brepl")))
		w.env.Path = "relative" + string(filepath.ListSeparator) + link.Path()
		w.install(t)
		assert.Equal(t, stop(w), "Stop: brepl hook stop")
	})
	t.Run("not on the PATH", func(t *testing.T) {
		w := newWorld(t)
		w.env.Path = ""
		r := w.install(t)
		assert.Equal(t, stop(w), "Stop: "+w.Join("bin", "brepl")+" hook stop")
		assert.Equal(t, len(r.Warnings), 0)
	})
	t.Run("project scope", func(t *testing.T) {
		w := newWorld(t)
		w.env.Path = ""
		r := w.install(t, "--scope", "project")
		assert.Equal(t, commands(w.path(".claude", "settings.json"))[2], "Stop: brepl hook stop")
		assert.Equal(t, len(r.Warnings), 1)
	})
	t.Run("called otherwise", func(t *testing.T) {
		w := newWorld(t)
		w.env.Path, w.env.Executable = "", w.Join("bin", "brepl-dev")
		_, err := w.do(t, installAction)
		assert.Error(t, err, `this program is called "brepl-dev"; name it brepl, or its hooks could not be found again`)
	})
	t.Run("not known", func(t *testing.T) {
		w := newWorld(t)
		w.env.Path, w.env.Executable = "", ""
		_, err := w.do(t, installAction)
		assert.ErrorContains(t, err, "cannot tell where this program is")
	})
}

// Faults 20.
func TestInstallWhere(t *testing.T) {
	t.Run("git root", func(t *testing.T) {
		w := newWorld(t, gitDir, fs.WithDir("sub"))
		w.env.Dir = w.path("sub")
		r := w.install(t)
		assert.Equal(t, r.Root, w.Join("home", "project"))
		assert.Equal(t, len(commands(w.Join("home", "project", ".claude", "settings.local.json"))), 4)
		_, err := os.Lstat(w.Join("home", "project", ".brepl", "hooks.edn"))
		assert.NilError(t, err)
	})
	t.Run("submodule", func(t *testing.T) {
		w := newWorld(t, gitDir, fs.WithDir("sub", fs.WithFile(".git", "gitdir: ../.git/modules/sub\n")))
		w.env.Dir = w.path("sub")
		assert.Equal(t, w.install(t).Root, w.env.Dir)
	})
	t.Run("home is a git work tree", func(t *testing.T) {
		w := newWorld(t)
		fs.Apply(t, fs.DirFromPath(t, w.Join("home")), gitDir)
		r := w.install(t)
		assert.Equal(t, r.Root, w.env.Dir)
		assert.DeepEqual(t, r.Notes, []string{w.env.Home + " is a git work tree, but it is the home folder; the project is taken to be " + w.env.Dir})
	})
	t.Run("home", func(t *testing.T) {
		w := newWorld(t)
		w.env.Dir = w.env.Home
		assert.DeepEqual(t, w.install(t).Notes, []string{
			"this is the home folder: the hooks run only when the agent is started right here",
			"the agent's skill is not written here, where it would count for every project; `brepl skill install` does it",
		})
		_, err := w.do(t, installAction, "--scope", "project")
		assert.ErrorContains(t, err, "counts for every project of yours")
		_, err = os.Lstat(w.Join("home", ".claude", "settings.json"))
		assert.ErrorIs(t, err, os.ErrNotExist)
	})
	t.Run("root", func(t *testing.T) {
		w := newWorld(t)
		w.env.Dir = string(filepath.Separator)
		_, err := w.do(t, installAction, "--dry-run")
		assert.Error(t, err, "/ is no project; change to your project and try again")
	})
	t.Run("nowhere", func(t *testing.T) {
		_, err := world{env: surroundings{Dir: "."}}.do(t, installAction)
		assert.ErrorContains(t, err, "the current directory is not known")
	})
}

// Seed 001: "Preserve non-brepl hooks during install", and faults 15: wrappers.
func TestInstallLeavesForeign(t *testing.T) {
	const text = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh -c \"brepl hook stop && x\""},{"type":"command","command":"brepl hook stop"},{"type":"command","command":"brepl hook stop"}]}]}}`
	w := newWorld(t, withLocal(text))
	r := w.install(t, "--skip-eval")
	assert.Equal(t, read(t, w.local()), `{"hooks":{"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook validate"}]}],`+
		`"Stop":[{"hooks":[{"type":"command","command":"sh -c \"brepl hook stop && x\""},{"type":"command","command":"brepl hook stop"}]}],`+
		`"SessionEnd":[{"matcher":"*","hooks":[{"type":"command","command":"brepl hook session-end"}]}]}}`)
	assert.DeepEqual(t, r.Warnings, []string{w.local() + `: "sh -c \"brepl hook stop && x\"" for Stop is a line of your own and stays as it is; it runs brepl too`})
	w.uninstall(t)
	assert.Equal(t, read(t, w.local()), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh -c \"brepl hook stop && x\""}]}]}}`)
}

// spec/stop-semantics.md "Installing": two scopes.
func TestInstallTwoScopes(t *testing.T) {
	w := newWorld(t)
	w.install(t, "--scope", "project")
	shared := w.path(".claude", "settings.json")
	r := w.install(t)
	assert.DeepEqual(t, r.Notes, []string{shared + " has the same commands; the agent runs each once"})
	assert.Equal(t, len(r.Warnings), 0)
	r = w.install(t, "--strict-eval")
	assert.DeepEqual(t, r.Warnings, []string{shared + ` has "brepl hook eval" for PostToolUse, which is not what was installed here: both run; remove them with: brepl hook uninstall --scope project`})
	r = w.uninstall(t)
	assert.DeepEqual(t, r.Warnings, []string{shared + " still has hooks of brepl; remove them with: brepl hook uninstall --scope project"})
	assert.Equal(t, r.Files[0].Status, Deleted)
	// Issue 14: the skill was taken from the hooks that stay.
	assert.Assert(t, r.Skill == nil)
	assert.DeepEqual(t, r.Notes, []string{"the agent's skill stays for the hooks in " + shared})
	assert.Assert(t, len(read(t, skillPath(w.env.Dir))) > 0)
	assert.Equal(t, w.uninstall(t, "--scope", "project").Files[0].Status, Deleted)
	bare := fs.Expected(t, fs.MatchAnyFileMode, fs.WithDir(".brepl", fs.MatchExtraFiles))
	assert.Assert(t, fs.Equal(w.env.Dir, bare))
	// The folder that the first has made goes with the last.
	w.install(t)
	w.install(t, "--scope", "project")
	w.uninstall(t)
	w.uninstall(t, "--scope", "project")
	assert.Assert(t, fs.Equal(w.env.Dir, bare))
}

func TestUninstallHereToo(t *testing.T) {
	w := newWorld(t, gitDir, fs.WithDir("sub", withLocal(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"brepl hook stop"}]}]},"a":1}`)))
	w.install(t)
	w.env.Dir = w.path("sub")
	r := w.uninstall(t)
	assert.Equal(t, len(r.Files), 2)
	assert.Equal(t, read(t, w.local()), `{"a":1}`)
}

func TestDryRunWritesNothing(t *testing.T) {
	w := newWorld(t, withLocal("{\n  \"a\": 1\n}\n"))
	before := fs.ManifestFromDir(t, w.Path())
	r := w.install(t, "--dry-run", "--skip-eval")
	assert.Assert(t, fs.Equal(w.Path(), before))
	start := "diff " + w.local() + " " + w.local() + "\n--- " + w.local() + "\n+++ " + w.local() + "\n@@ -1,3 +1,38 @@\n {\n-  \"a\": 1\n+  \"a\": 1,\n+  \"hooks\": {\n"
	assert.Equal(t, r.Diff[:len(start)], start)
	edn := w.path(".brepl", "hooks.edn")
	assert.Assert(t, strings.Contains(r.Diff, "\n--- /dev/null\n+++ "+edn+"\n@@ -0,0 +1,"), r.Diff)

	w.install(t)
	before = fs.ManifestFromDir(t, w.Path())
	r = w.uninstall(t, "--dry-run")
	assert.Assert(t, fs.Equal(w.Path(), before))
	assert.Equal(t, r.Files[0].Status, Updated)
}

// A refused settings file stops install before anything else is written.
func TestInstallRefused(t *testing.T) {
	w := newWorld(t, withLocal("{\n  \"hooks\": []\n}"))
	r, err := w.do(t, installAction)
	assert.Error(t, err, w.local()+`:2:12: "hooks" must be an object, found an array`)
	assert.Equal(t, r.Files[0].Status, Failed)
	assert.Equal(t, read(t, w.local()), "{\n  \"hooks\": []\n}")
	_, err = os.Lstat(w.path(".brepl"))
	assert.ErrorIs(t, err, os.ErrNotExist)

	w = newWorld(t, fs.WithDir(".claude", fs.WithFile("settings.local.json", "{}", fs.WithMode(0o400))))
	_, err = w.do(t, installAction)
	assert.ErrorIs(t, err, session.ErrReadOnly)
}
