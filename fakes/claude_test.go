//go:build unix

package fakes_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// 400 tool calls with two hooks each stay far below the limit of 15 s.
func TestClaudeFourHundredCalls(t *testing.T) {
	p := fakes.NewProject(t, nil, withHooks(map[string]string{"PreToolUse": ":", "PostToolUse": ":"}))
	claude := fakes.NewClaude(t, p.Dir())
	began := time.Now()
	hooks := 0
	for i := range 400 {
		hooks += len(claude.Write("a.clj", fmt.Sprint(i)).Hooks)
	}
	assert.Equal(t, hooks, 800)
	took := time.Since(began)
	t.Logf("400 tool calls with 800 hooks: %v", took)
	assert.Assert(t, took < 15*time.Second, "%v", took)
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

// Permission flow: a rewrite is judged by the mode; allow skips the user, ask does not, deny holds everywhere.
func TestClaudePermissionFlow(t *testing.T) {
	decide := func(decision string) string {
		return `printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"` + decision + `","permissionDecisionReason":"why"}}'`
	}
	rewrite := `printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"file_path":"%s/b","content":"new"}}}' "$PWD"`
	for _, c := range []struct {
		name, mode, hook string
		yes, asked, runs bool
	}{
		{"default asks", "default", ":", true, true, true},
		{"default, the user says no", "default", ":", false, true, false},
		{"acceptEdits does not ask", "acceptEdits", ":", false, false, true},
		{"plan refuses", "plan", ":", true, false, false},
		{"bypassPermissions asks nobody", "bypassPermissions", ":", false, false, true},
		{"allow skips the user", "default", decide("allow"), false, false, true},
		{"ask asks in acceptEdits", "acceptEdits", decide("ask"), false, true, false},
		{"deny under bypassPermissions", "bypassPermissions", decide("deny"), true, false, false},
		{"a rewrite is asked for", "default", rewrite, false, true, false},
		{"a rewrite is accepted", "acceptEdits", rewrite, false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := fakes.NewProject(t, nil, withHooks(map[string]string{"PreToolUse": c.hook}))
			var saw string
			claude := fakes.NewClaude(t, p.Dir(), fakes.ClaudeMode(c.mode), fakes.ClaudeApprove(func(_ string, input json.RawMessage) bool {
				saw = string(input)
				return c.yes
			}))
			turn := claude.Write("a", "old")
			assert.Equal(t, turn.Asked, c.asked)
			assert.Equal(t, turn.ToolRan, c.runs)
			assert.Equal(t, len(turn.Files) == 1, c.runs, "%+v", turn.Files)
			if c.hook == rewrite && c.asked {
				assert.Equal(t, saw, `{"file_path":"`+p.Dir()+`/b","content":"new"}`)
			}
		})
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

// Misuse is the test's own mistake and ends it.
func TestClaudeMisuse(t *testing.T) {
	r := newRecorder(t)
	claude := fakes.NewClaude(r, t.TempDir())
	during(func() { claude.Report("nobody") })
	during(func() { fakes.NewClaude(r, t.TempDir(), fakes.ClaudeMode("yolo")) })
	assert.DeepEqual(t, r.finish(), []string{
		`fatal: fakes: claude: no background task "nobody" that has not reported`,
		`fatal: fakes: claude: no permission mode "yolo": it is default, acceptEdits, plan or bypassPermissions`,
	})
}

// What a hook leaves behind in its group, and tasks that never reported, end with the session.
func TestClaudeLeavesNothingBehind(t *testing.T) {
	p := fakes.NewProject(t, nil, withHooks(map[string]string{"Stop": "sleep 60 >/dev/null 2>&1 </dev/null & echo $! >pid"}))
	claude, err := fakes.StartClaude(p.Dir())
	assert.NilError(t, err)
	claude.Background("sleep 60", "Nap")
	claude.Stop()
	home := claude.Home()
	claude.Close()
	var gone sync.WaitGroup
	gone.Go(func() {
		for range 200 {
			stat, statErr := os.ReadFile("/proc/" + strings.TrimSpace(p.Read("pid")) + "/stat")
			if statErr != nil || strings.Contains(string(stat), ") Z ") {
				return // a zombie is gone, whoever collects it
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Error("the hook's child is still there")
	})
	gone.Wait()
	_, err = os.Stat(home)
	assert.Assert(t, os.IsNotExist(err))
}

// Other tools, such as an MCP server's, go the same way: matched by name, asked for, answered by the script.
func TestClaudeTool(t *testing.T) {
	p := fakes.NewProject(t, map[string]string{".claude/settings.json": `{"hooks":{"PreToolUse":[{"matcher":"mcp__.*","hooks":[{"type":"command","command":"cat >in"}]}]}}`})
	claude := fakes.NewClaude(t, p.Dir())
	turn := claude.Tool("mcp__db__query", `{"sql":"select 1","limit":2}`, "1 row")
	assert.Assert(t, turn.ToolRan && turn.Asked)
	assert.Equal(t, turn.ToolResult, "1 row")
	assert.Assert(t, cmp.Contains(p.Read("in"), `"tool_name":"mcp__db__query","tool_input":{"sql":"select 1","limit":2},`))
	assert.Equal(t, len(claude.Tool("Other", "{}", "").Hooks), 0)
}

// After continue:false the agent works no more until the user speaks again.
func TestClaudeEnded(t *testing.T) {
	p := fakes.NewProject(t, nil, withHooks(map[string]string{"PostToolUse": `test -e once && exit 0; touch once; echo '{"continue":false}'`}))
	claude := fakes.NewClaude(t, p.Dir())
	assert.Assert(t, claude.Write("a", "1").Ended)
	claude.Write("a", "2")
	assert.Equal(t, claude.Turns()[3].Action, "prompt: Go on.")
	assert.Equal(t, p.Read("a"), "2")
}
