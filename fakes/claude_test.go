//go:build unix

package fakes_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// withHooks writes settings.local.json: event to shell command.
func withHooks(hooks map[string]string) fakes.ProjectOption {
	return func(p *fakes.Project) {
		entries := map[string]any{}
		for event, command := range hooks {
			entries[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}}}
		}
		data, err := json.Marshal(map[string]any{"hooks": entries})
		if err != nil {
			panic(err)
		}
		p.Write(".claude/settings.local.json", string(data))
	}
}

// The whole of a session, as the example has it: what a turn leaves out happens by itself, a block keeps the agent at work.
func TestClaudeSession(t *testing.T) {
	p := fakes.NewProject(t, nil, withHooks(map[string]string{
		"SessionStart": `echo "$CLAUDE_PROJECT_DIR" >>log`, "UserPromptSubmit": "echo prompt >>log",
		"PreToolUse": "echo pre >>log", "PostToolUse": "echo post >>log", "PostToolUseFailure": "echo failed >>log",
		"Stop": "echo stop >>log; test -e ok || { echo no ok >&2; exit 2; }", "SessionEnd": "echo end >>log",
	}))
	claude := fakes.NewClaude(t, p.Dir())

	write := claude.Write("src/a.clj", "(ns a)\n")
	assert.DeepEqual(t, write.Files, []fakes.FileChange{{Path: "src/a.clj", After: "(ns a)\n", Created: true}})
	assert.Assert(t, write.ToolRan)

	first := claude.Stop()
	assert.Assert(t, first.Blocked && first.GoesOn)
	assert.Equal(t, first.ToldText(), "Stop hook feedback:\n[echo stop >>log; test -e ok || { echo no ok >&2; exit 2; }]: no ok\n")
	assert.Equal(t, first.Hooks[0].Exit, 2)

	bash := claude.Bash("touch ok; exit 3")
	assert.Equal(t, bash.ToolResult, "Exit code 3\n")
	second := claude.Stop("All done.")
	assert.Assert(t, !second.Blocked && !second.GoesOn && !second.Ended)
	assert.Assert(t, cmp.Contains(second.Event("Stop").Input, `"stop_hook_active":true,"last_assistant_message":"All done."`))
	claude.Exit("other")
	assert.Equal(t, p.Read("log"), p.Dir()+"\nprompt\npre\npost\nstop\npre\nfailed\nstop\nend\n")

	assert.Equal(t, claude.Story(), `* start (startup)
    SessionStart  echo "$CLAUDE_PROJECT_DIR" >>log  exit 0
* prompt: Go on.
    UserPromptSubmit  echo prompt >>log  exit 0
* Write src/a.clj
    PreToolUse  echo pre >>log  exit 0
    PostToolUse  echo post >>log  exit 0
    created src/a.clj
* stop: Done.
    Stop  echo stop >>log; test -e ok || { echo no ok >&2; exit 2; }  exit 2
    => blocked: the agent goes on
    the agent reads (user): Stop hook feedback:
      [echo stop >>log; test -e ok || { echo no ok >&2; exit 2; }]: no ok
* Bash touch ok; exit 3
    PreToolUse  echo pre >>log  exit 0
    PostToolUseFailure  echo failed >>log  exit 0
    created ok
    the tool failed: Exit code 3
* stop: All done.
    Stop  echo stop >>log; test -e ok || { echo no ok >&2; exit 2; }  exit 0
* exit (other)
    SessionEnd  echo end >>log  exit 0
`)
}

// 20 sessions side by side, each with its own state, block count and folder.
func TestClaudesSideBySide(t *testing.T) {
	t.Parallel()
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			p := fakes.NewProject(t, nil, withHooks(map[string]string{
				"Stop": `echo x >>"n-$CLAUDE_CODE_SESSION_ID"; echo "` + fmt.Sprint(i) + ` $(pwd)" >&2; exit 2`,
			}))
			claude := fakes.NewClaude(t, p.Dir())
			for n := range 8 {
				stop := claude.Stop()
				assert.Assert(t, stop.Blocked, "stop %d", n)
				assert.Assert(t, cmp.Contains(stop.ToldText(), fmt.Sprintf("]: %d %s\n", i, p.Dir())))
			}
			assert.Assert(t, !claude.Stop().Blocked)
			assert.Equal(t, p.Read("n-"+claude.SessionID()), strings.Repeat("x\n", 9))
		})
	}
}

// 400 tool calls with two hooks each take what so many processes take, and little more.
func TestClaudeFourHundredCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	p := fakes.NewProject(t, nil, withHooks(map[string]string{"PreToolUse": ":", "PostToolUse": ":"}))
	claude := fakes.NewClaude(t, p.Dir())
	var took, bare time.Duration
	hooks := 0
	for i := range 400 {
		began := time.Now()
		hooks += len(claude.Write("a.clj", fmt.Sprint(i)).Hooks)
		between := time.Now()
		assert.NilError(t, exec.Command("sh", "-c", ":").Run())
		took, bare = took+between.Sub(began), bare+time.Since(between)
	}
	assert.Equal(t, hooks, 800)
	t.Logf("400 tool calls with 800 hooks: %v, 400 commands alone: %v", took, bare)
	assert.Assert(t, took < 10*bare, "%v, %v", took, bare)
}

// The hooks of one event run at the same time, and what they say comes in the order in which they end.
func TestClaudeRunsHooksOfOneEventInParallel(t *testing.T) {
	p := fakes.NewProject(t, map[string]string{".claude/settings.json": `{"hooks":{"Stop":[{"hooks":[
		{"type":"command","command":"until test -e second; do sleep 0.01; done; sleep 0.1; echo first >&2; exit 2"},
		{"type":"command","command":"touch second; echo second >&2; exit 2"}]}]}}`})
	stop := fakes.NewClaude(t, p.Dir()).Stop()
	assert.Equal(t, len(stop.Told), 2)
	assert.Assert(t, strings.HasSuffix(stop.Told[0].Text, "second\n") && strings.HasSuffix(stop.Told[1].Text, "first\n"), stop.ToldText())
}

// Scopes: the user's, the project's and the local file all count; the same command text runs once.
func TestClaudeReadsAllSettings(t *testing.T) {
	one := `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo same >>log"},{"type":"command","command":"echo %s >>log"}]}]}}`
	home := t.TempDir()
	assert.NilError(t, os.MkdirAll(filepath.Join(home, ".claude"), 0o755))
	assert.NilError(t, os.WriteFile(filepath.Join(home, ".claude", "settings.json"), fmt.Appendf(nil, one, "user"), 0o600))
	p := fakes.NewProject(t, map[string]string{
		".claude/settings.json":       fmt.Sprintf(one, "project"),
		".claude/settings.local.json": fmt.Sprintf(one, "local"),
		"sub/file":                    "", ".git/HEAD": "",
	})
	run := func(dir string) []string {
		var commands []string
		for _, h := range fakes.NewClaude(t, dir, fakes.ClaudeHome(home)).Stop().Hooks {
			commands = append(commands, h.Command)
		}
		return commands
	}
	count := func(commands []string, name string) int {
		n := 0
		for _, c := range commands {
			if c == "echo "+name+" >>log" {
				n++
			}
		}
		return n
	}
	all, sub := run(p.Dir()), run(p.Path("sub"))
	for name, want := range map[string][2]int{"same": {1, 1}, "user": {1, 1}, "project": {1, 0}, "local": {1, 1}} {
		assert.Equal(t, count(all, name), want[0], name)
		assert.Equal(t, count(sub, name), want[1], name)
	}
}

// The transcript lags: at a quick Stop hook the last message is not there, after the stop it is.
func TestClaudeTranscriptLags(t *testing.T) {
	p := fakes.NewProject(t, nil, withHooks(map[string]string{
		"UserPromptSubmit": `sed -n 's/.*"transcript_path":"\([^"]*\)".*/\1/p' >path; test ! -e "$(cat path)"; echo $? >absent`,
		"Stop":             `grep -c 'The very last' "$(cat path)" >seen; cat >/dev/null`,
	}))
	claude := fakes.NewClaude(t, p.Dir(), fakes.ClaudeLag(10*time.Second))
	claude.Stop("The very last")
	assert.Equal(t, p.Read("absent"), "0\n")
	assert.Equal(t, p.Read("path"), claude.Transcript()+"\n")
	assert.Equal(t, p.Read("seen"), "0\n")
	data, err := os.ReadFile(claude.Transcript())
	assert.NilError(t, err)
	assert.Equal(t, strings.Count(string(data), `"text":"The very last"`), 1)

	late := fakes.NewProject(t, nil, withHooks(map[string]string{
		"Stop": `path=$(sed -n 's/.*"transcript_path":"\([^"]*\)".*/\1/p'); for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do grep -q 'The very last' "$path" && exit 0; sleep 0.1; done; exit 1`,
	}))
	assert.Equal(t, fakes.NewClaude(t, late.Dir()).Stop("The very last").Hooks[0].Exit, 0)
}

// Background commands: Stop names them, their report is a prompt, and Stop comes again.
func TestClaudeBackground(t *testing.T) {
	p := fakes.NewProject(t, nil, withHooks(map[string]string{"Stop": "true", "UserPromptSubmit": "true"}))
	claude := fakes.NewClaude(t, p.Dir())
	started := claude.Background("until test -e go; do sleep 0.01; done; exit 4", "Slow tests")
	assert.Assert(t, cmp.Contains(claude.Stop().Event("Stop").Input,
		`"background_tasks":[{"id":"`+started.TaskID+`","type":"shell","status":"running","description":"Slow tests","command":"until`))
	p.Write("go", "")
	report := claude.Report(started.TaskID)
	assert.Assert(t, cmp.Contains(report.Event("UserPromptSubmit").Input, `Background command \"Slow tests\" failed with exit code 4`))
	assert.Assert(t, cmp.Contains(claude.Stop().Event("Stop").Input, `"background_tasks":[]`))
}

// What a sub-agent is asked, what a block tells it and what its hooks did stand in its own transcript, not in the agent's.
func TestClaudeSubagentTranscript(t *testing.T) {
	p := fakes.NewProject(t, nil, withHooks(map[string]string{
		"PreToolUse":   `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"looked at"}}'`,
		"SubagentStop": `test -e done && exit 0; touch done; echo '{"decision":"block","reason":"Name the test."}'`,
	}))
	claude := fakes.NewClaude(t, p.Dir(), fakes.ClaudeEnv([]string{"PATH=" + os.Getenv("PATH"), "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=8"}))
	agent := claude.Subagent("Explore", "Look", "Look around").Agent
	agent.Write("a", "1")
	agent.Stop("It fails.")
	agent.Stop("The test is x.")
	main, err := os.ReadFile(claude.Transcript())
	assert.NilError(t, err)
	own, err := os.ReadFile(filepath.Join(strings.TrimSuffix(claude.Transcript(), ".jsonl"), "subagents", "agent-"+agent.ID+".jsonl"))
	assert.NilError(t, err)
	for _, text := range []string{"Look around", "looked at", "Stop hook feedback:\\nName the test.", `"type":"hook_blocking_error","hookName":"SubagentStop"`, "The test is x."} {
		assert.Assert(t, cmp.Contains(string(own), text))
		if text == "looked at" || text == "Look around" {
			continue // the call of Agent has them too
		}
		assert.Assert(t, !strings.Contains(string(main), text), text)
	}
	assert.Assert(t, strings.HasPrefix(string(own), `{"parentUuid":null,"isSidechain":true,"agentId":"`+agent.ID+`"`))
}

// Every long text has a file of its own: two hooks at one event, and the next event, do not overwrite it.
func TestClaudeKeepsEveryLongText(t *testing.T) {
	says := func(letter string) string {
		return `{"type":"command","command":"head -c 12000 /dev/zero | tr '\\0' ` + letter + `"}`
	}
	p := fakes.NewProject(t, map[string]string{".claude/settings.json": `{"hooks":{"UserPromptSubmit":[{"hooks":[` + says("a") + "," + says("b") + `]}]}}`})
	claude := fakes.NewClaude(t, p.Dir())
	saved := map[string]bool{}
	for range 2 {
		told := claude.Prompt("Go.").Told
		assert.Equal(t, len(told), 2)
		for _, text := range told {
			assert.Assert(t, !saved[text.Saved], text.Saved)
			saved[text.Saved] = true
			data, err := os.ReadFile(text.Saved)
			assert.NilError(t, err)
			assert.Equal(t, string(data), text.Full)
			assert.Assert(t, cmp.Contains(text.Text, text.Saved))
		}
	}
	assert.Equal(t, len(saved), 4)
}
