//go:build unix

package fakes_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// Misuse is the test's own mistake and ends it.
func TestClaudeMisuse(t *testing.T) {
	r := newRecorder(t)
	claude := fakes.NewClaude(r, t.TempDir())
	during(func() { claude.Report("nobody") })
	during(func() { claude.Start("reboot") })
	during(func() { claude.Exit("boredom") })
	during(func() { claude.Tool("mcp__db", `{"sql":`, "") })
	during(func() { claude.Tool("mcp__db", `["sql"]`, "") })
	during(func() { claude.Tool("mcp__db", `null`, "") })
	agent := claude.Subagent("Explore", "Look", "Look around").Agent
	during(func() { claude.Report(agent.ID) })
	agent.Stop()
	during(func() { agent.Stop("Again.") })
	during(func() { agent.Write("a", "1") })
	during(func() { fakes.NewClaude(r, t.TempDir(), fakes.ClaudeMode("yolo")) })
	assert.DeepEqual(t, r.finish(), []string{
		`fatal: fakes: claude: no background task "nobody" that has not reported`,
		`fatal: fakes: claude: no session starts with "reboot": it is startup, resume or fork`,
		`fatal: fakes: claude: no session ends with "boredom": it is clear, resume, logout, prompt_input_exit or other`,
		`fatal: fakes: claude: the input of mcp__db is no JSON object: unexpected end of JSON input`,
		`fatal: fakes: claude: the input of mcp__db is no JSON object: json: cannot unmarshal array into Go value of type map[string]json.RawMessage`,
		`fatal: fakes: claude: the input of mcp__db is no JSON object: it is null`,
		`fatal: fakes: claude: the sub-agent a0000000000000001 cannot report, it has not stopped`,
		`fatal: fakes: claude: sub-agent's stop: Again.: the sub-agent a0000000000000001 has stopped`,
		`fatal: fakes: claude: sub-agent: Write a: the sub-agent a0000000000000001 has stopped`,
		`fatal: fakes: claude: no permission mode "yolo": it is default, acceptEdits, plan or bypassPermissions`,
	})
}

// Without a test to fail, misuse is a turn in which nothing happens.
func TestClaudeMisuseWithoutATest(t *testing.T) {
	claude, err := fakes.StartClaude(t.TempDir())
	assert.NilError(t, err)
	defer claude.Close()
	turn := claude.Report("nobody")
	assert.Equal(t, turn.Skipped, `no background task "nobody" that has not reported`)
	agent := claude.Subagent("Explore", "Look", "Look around").Agent
	agent.Stop()
	assert.Equal(t, len(agent.Stop().Events), 0)
	assert.Assert(t, cmp.Contains(claude.Story(), "* misuse (skipped: sub-agent's stop: Done.: the sub-agent a0000000000000001 has stopped)\n"))
}

// What hooks and commands leave behind in their groups, and tasks that never reported, end with the session: also where the shell of the
// background command has ended long ago.
func TestClaudeLeavesNothingBehind(t *testing.T) {
	nap := func(name string) string { return "sleep 60 >/dev/null 2>&1 </dev/null & echo $! >" + name }
	p := fakes.NewProject(t, nil, withHooks(map[string]string{"Stop": nap("hook")}))
	claude, err := fakes.StartClaude(p.Dir())
	assert.NilError(t, err)
	claude.Background("echo $$ >running; exec sleep 60", "Nap")
	ended := claude.Background(nap("ended"), "Leave a nap")
	claude.Bash(nap("command"))
	claude.Report(ended.TaskID)
	claude.Stop()
	for !exists(p.Path("running")) {
		time.Sleep(10 * time.Millisecond)
	}
	home := claude.Home()
	for _, name := range []string{"hook", "running", "ended", "command"} {
		assert.Assert(t, alive(p, name), name)
	}
	claude.Close()
	for _, name := range []string{"hook", "running", "ended", "command"} {
		assert.Assert(t, eventually(func() bool { return !alive(p, name) }), name)
	}
	assert.Assert(t, !exists(home))
}

// At a timeout TERM goes to the group and KILL comes 1.5 s after it: what the hook's shell leaves behind has that time to clean up.
func TestClaudeGivesTheGroupItsGrace(t *testing.T) {
	t.Parallel()
	p := fakes.NewProject(t, map[string]string{
		".claude/settings.json": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh polite & sh deaf & wait","timeout":3}]}]}}`,
		"polite":                `exec >/dev/null 2>&1; trap 'sleep 0.5; echo done >cleaned; exit' TERM; while :; do sleep 0.05; done`,
		"deaf":                  `exec >/dev/null 2>&1; echo $$ >pid; trap '' TERM; while :; do sleep 0.05; done`,
	})
	claude := fakes.NewClaude(t, p.Dir())
	began := time.Now()
	hook := claude.Stop().Hooks[0]
	assert.Assert(t, hook.TimedOut)
	assert.Assert(t, alive(p, "pid"))
	assert.Assert(t, eventually(func() bool { return exists(p.Path("cleaned")) }))
	assert.Assert(t, eventually(func() bool { return !alive(p, "pid") }))
	assert.Assert(t, time.Since(began) > 4500*time.Millisecond, "KILL came %v after the start of a hook with a timeout of 3 s", time.Since(began))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// alive reports whether the process lives whose id is in a file. A zombie is gone, whoever collects it.
func alive(p *fakes.Project, name string) bool {
	stat, err := exec.Command("ps", "-o", "stat=", "-p", strings.TrimSpace(p.Read(name))).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(stat)), "Z")
}

// Pins that a test with this process's whole environment does not work in the home of whoever runs it.
func TestClaudeKeepsOutOfTheRealHome(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	p := fakes.NewProject(t, nil, withHooks(map[string]string{"Stop": `printf %s "$HOME" >home`}))
	claude := fakes.NewClaude(t, p.Dir(), fakes.ClaudeEnv(os.Environ()))
	claude.Stop()
	assert.Assert(t, claude.Home() != os.Getenv("HOME"))
	assert.Equal(t, p.Read("home"), claude.Home())
	entries, err := os.ReadDir(os.Getenv("HOME"))
	assert.NilError(t, err)
	assert.Equal(t, len(entries), 0)
	given := t.TempDir()
	assert.Equal(t, fakes.NewClaude(t, p.Dir(), fakes.ClaudeEnv([]string{"HOME=" + given})).Home(), given)
}

// After a refused prompt there is no turn: no tool runs, no Stop fires, and nobody prompts but the script.
func TestClaudeDoesNothingAfterARefusedPrompt(t *testing.T) {
	p := fakes.NewProject(t, nil, withHooks(map[string]string{
		"UserPromptSubmit": `grep -q secret && { echo no secrets >&2; exit 2; }; exit 0`, "PreToolUse": "echo pre >>log", "Stop": "echo stop >>log",
	}))
	claude := fakes.NewClaude(t, p.Dir())
	assert.Assert(t, claude.Prompt("the secret").Blocked)
	for _, turn := range []*fakes.Turn{
		claude.Write("a", "1"), claude.Bash("touch b"), claude.Stop(), claude.Background("touch c", "C"), claude.Fail("overloaded"),
		claude.Subagent("Explore", "Look", "Look around"),
	} {
		assert.Equal(t, turn.Skipped, "the prompt was refused", turn.Action)
		assert.Equal(t, len(turn.Events), 0)
		assert.Assert(t, !turn.ToolRan)
	}
	for _, name := range []string{"a", "b", "c", "log"} {
		assert.Assert(t, !exists(p.Path(name)), name)
	}
	claude.Prompt("something else")
	assert.Assert(t, claude.Write("a", "1").ToolRan)
	assert.Equal(t, claude.Stop().Skipped, "")
	assert.Equal(t, p.Read("log"), "pre\nstop\n")
}

// A session that was left is over: the next one has another id and another transcript, unless it is resumed.
func TestClaudeStartsANewSessionAfterExit(t *testing.T) {
	claude := fakes.NewClaude(t, fakes.NewProject(t, nil).Dir())
	claude.Start("startup")
	first, log := claude.SessionID(), claude.Transcript()
	claude.Exit("other")
	claude.Start("resume")
	assert.Equal(t, claude.SessionID(), first)
	claude.Exit("other")
	claude.Start("startup")
	assert.Assert(t, claude.SessionID() != first && claude.Transcript() != log)
	second := claude.SessionID()
	claude.Exit("other")
	claude.Write("a", "1") // starts by itself
	assert.Assert(t, claude.SessionID() != second)
	assert.DeepEqual(t, claude.Sessions(), []string{first, second, claude.SessionID()})
	claude.Sessions()[0], claude.Turns()[0] = "", nil // copies
	assert.Equal(t, claude.Sessions()[0], first)
	assert.Assert(t, claude.Turns()[0] != nil)
}
