//go:build unix

package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/hookkit/brepl/hookkit/lab"
)

// simulationEnv is the environment of a scripted agent: brepl is on its PATH, and nothing of an agent around this test.
func simulationEnv(t *testing.T) []string {
	t.Helper()
	return []string{"PATH=" + filepath.Dir(brepl(t)) + string(filepath.ListSeparator) + os.Getenv("PATH"), "LC_ALL=C"}
}

func simulate(t *testing.T, name, text, dir string) (*lab.Simulation, error) {
	t.Helper()
	return lab.Simulate(t.Context(), name, text, lab.SimulateOptions{Dir: dir, Env: simulationEnv(t)})
}

// Pins issue 3, 5: the scripts that `hookkit simulate` plays run as tests too.
func TestSimulate(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/simulate/*.txtar")
	assert.NilError(t, err)
	assert.Assert(t, len(scripts) > 0, "no script in testdata/simulate")
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(script)
			assert.NilError(t, err)
			sim, err := simulate(t, script, string(text), "")
			assert.NilError(t, err)
			for _, failure := range sim.Failures {
				t.Error(failure)
			}
			assert.Equal(t, len(sim.Ignored), 0, "%q", sim.Ignored)
			if t.Failed() {
				t.Log(sim.Story)
			}
		})
	}
}

// settingsWith are a project's settings with one Stop hook.
func settingsWith(command string) string {
	return `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": ` + quoted(command) + `}]}]}}` + "\n"
}

// An expectation that does not come true names its line, says what came, and lets the script go on.
func TestSimulateSaysWhatCame(t *testing.T) {
	t.Parallel()
	sim, err := simulate(t, "s.txtar", "prompt Go.\n\nstop\nexpect blocked\nexpect hooks 2\nexpect told nothing\nexpect not allowed\nexpect silent\n"+
		"-- .claude/settings.json --\n"+settingsWith("exit 0"), "")
	assert.NilError(t, err)
	turn := "the turn was:\n* stop: Done.\n    Stop  exit 0  exit 0"
	assert.DeepEqual(t, sim.Failures, []string{
		"s.txtar:4: expected blocked; " + turn, "s.txtar:5: expected hooks 2; 1 ran; " + turn,
		"s.txtar:6: expected told nothing; " + turn, "s.txtar:7: expected not allowed; " + turn,
	})
}

// Every mistake in a script is said with file and line, before anything runs where that is possible.
func TestSimulateNamesTheLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, want string }{
		{"", "s.txtar: the script has no command"},
		{"# nothing\n-- a --\n", "s.txtar: the script has no command"},
		{"stop\n-- a --\n-- a --\n", `s.txtar:3: there are two files named "a"`},
		{"stop\n-- ../a --\n", `s.txtar:2: "../a" leads out of the project`},
		{"stop\nwrite a \"b\n", `s.txtar:2: a " is not closed: "b`},
		{"stop\nwrite a 'b\n", "s.txtar:2: a ' is not closed: 'b"},
		{"stop\nwrite a \"b\"c\n", "s.txtar:2: white space is missing before c"},
		{"stop\nwrite a \"\\q\"\n", `s.txtar:2: there is no escape \q; there are \n, \t, \" and \\`},
		{"write a <<b\n", "s.txtar:1: there is no file section -- b --"},
		{"write a\n", "s.txtar:1: write it as: write PATH TEXT|<<FILE"},
		{"prompt\n", "s.txtar:1: write it as: prompt TEXT"},
		{"expect blocked\n", "s.txtar:1: there is no turn yet to expect something of"},
		{"stop\nexpect exit x\n", `s.txtar:2: "x" is no number`},
		{"stop\nmode plan\n", "s.txtar:2: mode must stand before the first turn"},
		{"mode plans\nstop\n", `s.txtar:1: mode is one of default, acceptEdits, plan, bypassPermissions, not "plans"`},
		{"user maybe\n", `s.txtar:1: user is one of approves, refuses, not "maybe"`},
		{"stop\nexit now\n", `s.txtar:2: exit is one of clear, resume, logout, prompt_input_exit, other, not "now"`},
		{"start late\n", `s.txtar:1: start is one of startup, resume, fork, not "late"`},
		{"env X\n", `s.txtar:1: "X" is not NAME=VALUE`},
		{"report\n", "s.txtar:1: there is no background task or sub-agent that has not reported"},
		{"agent stop\n", "s.txtar:1: there is no sub-agent; start one with: subagent TYPE TEXT"},
	} {
		_, err := simulate(t, "s.txtar", c.script, "")
		assert.Error(t, err, c.want)
	}
	_, err := simulate(t, "s.txtar", "stop\nstopp\n", "")
	assert.ErrorContains(t, err, `s.txtar:2: there is no command "stopp"; there are agent, background, bash, `)
	_, err = simulate(t, "s.txtar", "stop\nexpect happiness\n", "")
	assert.ErrorContains(t, err, "s.txtar:2: write it as: expect [not] blocked|allowed|")
}

// A real project: its hooks run, the agent's work lands there, and nothing in it is replaced.
func TestSimulateInAProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.project.Write(".claude/settings.json", settingsWith("cat a.txt >&2; exit 2"))
	sim, err := simulate(t, "s.txtar", "write a.txt <<text\nstop\nexpect blocked\nexpect told written\n-- text --\nwritten\n", w.project.Dir())
	assert.NilError(t, err)
	assert.Equal(t, len(sim.Failures), 0, "%q", sim.Failures)
	assert.Equal(t, w.project.Read("a.txt"), "written\n")
	_, err = simulate(t, "s.txtar", "stop\n-- a.txt --\nother\n", w.project.Dir())
	assert.Error(t, err, "s.txtar:2: "+w.project.Path("a.txt")+" exists; a script replaces nothing in a project that it did not make")
	assert.Equal(t, w.project.Read("a.txt"), "written\n")
}

func TestSimulateCommand(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	script := filepath.Join(dir, "s.txtar")
	assert.NilError(t, os.WriteFile(script, []byte("prompt Greet.\nwrite a.txt hello\nstop\nexpect blocked\n-- .claude/settings.json --\n"+
		settingsWith("echo The tests fail. >&2; echo {}; exit 2")+"-- .claude/settings.local.json --\n{},\n"), 0o600))
	exit, stdout, stderr := runHookkit(t, dir, "simulate", "s.txtar")
	assert.Equal(t, stderr, "")
	assert.Equal(t, exit, 0)
	project := projectIn(t, stdout)
	golden.Assert(t, strings.ReplaceAll(stdout, project, "$PROJECT"), "simulate/story.golden")

	exit, stdout, stderr = runHookkit(t, dir, "simulate", "s.txtar", "--json")
	assert.Equal(t, stderr, "")
	assert.Equal(t, exit, 0)
	var sim lab.Simulation
	assert.NilError(t, json.Unmarshal([]byte(stdout), &sim))
	assert.Equal(t, sim.Version, 1)
	last := sim.Turns[len(sim.Turns)-1]
	assert.Equal(t, last.Line, 3)
	assert.Assert(t, last.Blocked)
	assert.Equal(t, last.Hooks[0].Exit, 2)

	assert.NilError(t, os.WriteFile(script, []byte("stop\nexpect blocked\n"), 0o600))
	exit, _, stderr = runHookkit(t, dir, "simulate", "s.txtar", "--dir", dir)
	assert.Equal(t, exit, 1)
	assert.Equal(t, stderr, "WARNING: the script plays in "+dir+"; what the agent and the hooks do there is real\n"+
		"s.txtar:2: expected blocked; the turn was:\n* stop: Done.\n1 expectation did not come true\n")

	exit, stdout, stderr = runHookkit(t, dir, "simulate")
	assert.Equal(t, exit, 1)
	assert.Equal(t, stdout, "")
	assert.Equal(t, stderr, "hookkit simulate: expected one SCRIPT\nRun 'hookkit simulate --help' for usage.\n")
}

// projectIn finds the scratch project's path in a story.
func projectIn(t *testing.T, story string) string {
	t.Helper()
	_, after, _ := strings.Cut(story, "ignored by the client: ")
	path, _, ok := strings.Cut(after, "/.claude/")
	assert.Assert(t, ok, story)
	return path
}
