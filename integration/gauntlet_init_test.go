//go:build unix

package integration

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// newBareGauntlet is a Go project under git without .gauntlet, in which agent-gauntlet is on the PATH.
func newBareGauntlet(t *testing.T) *gauntletWorld {
	t.Helper()
	w := &gauntletWorld{newWorld(t, "")}
	w.mayChange = true
	w.env = append(w.env, "PATH="+filepath.Dir(gauntletProgram(t))+":/usr/bin:/bin")
	w.project.Write("go.mod", "module example.com/till\n\ngo 1.26\n")
	w.project.Git("init", "-q", "-b", "main")
	w.commit("first")
	return w
}

// seedEntry is the file of the seed's "Hook Configuration", as its JSON value.
func seedEntry(t *testing.T) any {
	t.Helper()
	return parsedJSON(t, `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "agent-gauntlet stop-hook", "timeout": 300}]}]}}`)
}

func parsedJSON(t *testing.T, text string) (value any) {
	t.Helper()
	assert.NilError(t, json.Unmarshal([]byte(text), &value), "%s", text)
	return value
}

// answering is what somebody types at init's question.
func (w *gauntletWorld) answering(answer string, args ...string) result {
	w.t.Helper()
	return w.result(fakes.Run(w.t, w.spec(append([]string{"init"}, args...)...), fakes.Bytes([]byte(answer))))
}

// Seed 003, "Init Command Enhancement": the dialogue, and the entry of "Hook Configuration".
func TestGauntletInitDialogue(t *testing.T) {
	t.Parallel()
	w := newBareGauntlet(t)
	r := w.answering("y\n")
	assert.Equal(t, r.exit, 0, r.stderr)
	assert.Equal(t, r.stderr, "")
	assert.Equal(t, r.stdout, `Creating .gauntlet/config.yml...
✓ Configuration created
  check go-vet: go vet ./... (go.mod)
  check go-test: go test ./... (go.mod)
  stop_hook.on_active: rerun (gates run again when a blocked agent stops again)

Install Claude Code stop hook? (y/n): y
Creating .claude/settings.local.json...
✓ Stop hook installed - gauntlet will run automatically when agent stops
`)
	assert.DeepEqual(t, parsedJSON(t, w.project.Read(localSettings)), seedEntry(t))
	assert.Equal(t, w.gauntlet("validate").exit, 0)
}

func TestGauntletInitAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer    string
		args      []string
		installed bool
	}{
		"n":                {"n\n", nil, false},
		"Y":                {"Y\n", nil, true},
		"yes":              {" yes \n", nil, true},
		"nothing":          {"\n", nil, false},
		"the end":          {"", nil, false},
		"without line end": {"y", nil, true},
		"something else":   {"maybe\n", nil, false},
		"-y asks nothing":  {"", []string{"-y"}, true},
		"--yes":            {"n\n", []string{"--yes"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBareGauntlet(t)
			r := w.answering(tt.answer, tt.args...)
			assert.Equal(t, r.exit, 0, r.stderr)
			assert.Equal(t, content(t, filepath.Join(w.dir, localSettings)) != "absent", tt.installed)
			assert.Equal(t, strings.Contains(r.stdout, "(y/n)"), len(tt.args) == 0)
			assert.Assert(t, w.project.Read(".gauntlet/config.yml") != "")
		})
	}
}

// What is there already stays: the configuration, a user's own hooks, and an entry of ours.
func TestGauntletInitKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	w := newBareGauntlet(t)
	const mine = "base_branch: main\nentry_points: [] # mine\n"
	w.project.Write(".gauntlet/config.yml", mine)
	w.project.Write(localSettings, "{\n\t\"model\": \"x\", // keep\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}\n}\n")
	r := w.answering("y\n")
	assert.Equal(t, r.exit, 0, r.stderr)
	assert.Assert(t, cmp.Contains(r.stdout, ".gauntlet/config.yml is there already and stays as it is"))
	assert.Assert(t, cmp.Contains(r.stdout, "Changing .claude/settings.local.json..."))
	assert.Equal(t, w.project.Read(".gauntlet/config.yml"), mine)
	settings := w.project.Read(localSettings)
	assert.Assert(t, cmp.Contains(settings, "\"model\": \"x\", // keep"))
	assert.Assert(t, cmp.Contains(settings, "say done"))
	assert.Equal(t, strings.Count(settings, "agent-gauntlet stop-hook"), 1)
	again := w.answering("y\n")
	assert.Assert(t, cmp.Contains(again.stdout, "✓ Stop hook is installed already"))
	assert.Equal(t, w.project.Read(localSettings), settings)
}

// A file in which the agent runs no hook is changed all the same, and the user is told.
func TestGauntletInitWarns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"hooks":{"PreToolUse":{}}}`: "has a PreToolUse that is not an array: the agent drops every hook of such a file, and hooks in it do not run\n",
		`{"disableAllHooks":true}`:    "says \"disableAllHooks\": true: hooks in it do not run\n",
	} {
		w := newBareGauntlet(t)
		w.project.Write(localSettings, text)
		r := w.answering("y\n")
		assert.Equal(t, r.exit, 0, r.stderr)
		assert.Assert(t, strings.HasPrefix(r.stderr, "agent-gauntlet: ") && strings.HasSuffix(r.stderr, localSettings+" "+want), r.stderr)
	}
}

func TestGauntletInitRefuses(t *testing.T) {
	t.Parallel()
	w := newBareGauntlet(t)
	w.project.Write(localSettings, `{"hooks": {"Stop": [`)
	r := w.answering("y\n")
	assert.Equal(t, r.exit, 1)
	assert.Assert(t, cmp.Contains(r.stderr, "settings.local.json:1:"))
	assert.Equal(t, w.project.Read(localSettings), `{"hooks": {"Stop": [`)

	outside := &gauntletWorld{newWorld(t, "")}
	r = outside.answering("y\n")
	assert.Equal(t, r.exit, 1)
	assert.Assert(t, cmp.Contains(r.stderr, "is in no git repository"))
}

// In a checkout of this very module the entry runs the program from source.
func TestGauntletInitInItsOwnSource(t *testing.T) {
	t.Parallel()
	w := newBareGauntlet(t)
	w.project.Write("go.mod", "module github.com/hookkit/brepl\n")
	w.project.Write("cmd/agent-gauntlet/main.go", "package main\n")
	assert.Equal(t, w.answering("", "-y").exit, 0)
	assert.Assert(t, cmp.Contains(w.project.Read(localSettings), `"command": "go run ./cmd/agent-gauntlet stop-hook"`))
}

// `ci init` writes a workflow whose matrix is what `ci list-jobs` prints.
func TestGauntletCI(t *testing.T) {
	t.Parallel()
	w := newGauntlet(t, map[string]string{
		"config.yml":       "base_branch: main\nentry_points:\n  - path: .\n    checks: [tests, slow, local]\n  - path: api\n    checks: [tests]\n",
		"checks/tests.yml": "command: 'true'\n",
		"checks/slow.yml":  "command: 'true'\n",
		"checks/local.yml": "command: 'true'\nrun_in_ci: false\n",
	})
	r := w.gauntlet("ci", "init")
	assert.Equal(t, r.exit, 0, r.stderr)
	const workflow = ".github/workflows/gauntlet.yml"
	text := w.project.Read(workflow)
	assert.Assert(t, cmp.Contains(text, "agent-gauntlet ci list-jobs --json"))
	w.project.Write(workflow, "mine")
	assert.Assert(t, cmp.Contains(w.gauntlet("ci", "init").stdout, "stays as it is"))
	assert.Equal(t, w.project.Read(workflow), "mine")

	w.project.Git("checkout", "-q", "-b", "work")
	w.project.Write("api/x.txt", "new\n")
	w.commit("second")
	jobs := w.gauntlet("ci", "list-jobs", "--json")
	assert.Equal(t, jobs.exit, 0, jobs.stderr)
	assert.Equal(t, jobs.raw.Stdout, `[{"name":"tests","kind":"check","entry_points":[".","api"]},{"name":"slow","kind":"check","entry_points":["."]}]`+"\n")
	assert.Equal(t, w.gauntlet("ci", "list-jobs").stdout, "check   tests\ncheck   slow\n")
}
