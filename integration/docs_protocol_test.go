//go:build unix

package integration

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
	"github.com/hookkit/brepl/hookkit"
)

// protocolRows play the rows of the protocol's table in docs/hook-authors.md: a hook that answers so, and what must follow.
func protocolRows() []protocolRow {
	const reason = "echo REASON >&2; exit 2"
	specific := func(event, fields string) string {
		return `echo '{"hookSpecificOutput":{"hookEventName":"` + event + `",` + fields + `}}'`
	}
	deny := specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"REASON"`)
	rewrite := specific("PreToolUse", `"updatedInput":{"file_path":"'"$PWD"'/a.txt","content":"other"}`)
	return []protocolRow{
		{[]string{"Stop", "PreToolUse", "UserPromptSubmit"}, "exit 0, nothing", "true", "goes on"},
		{[]string{"Stop", "PreToolUse", "UserPromptSubmit"}, "`systemMessage`", `echo '{"systemMessage":"REASON"}'`, "goes on, shown 1"},
		{[]string{"Stop", "PreToolUse", "UserPromptSubmit"}, "exit 1, text on stderr", "echo REASON >&2; exit 1", "goes on, shown 1"},
		{[]string{"Stop", "PostToolUse"}, "`continue:false`, `stopReason`", `echo '{"continue":false,"stopReason":"REASON"}'`, "ended, shown 1"},
		{[]string{"Stop"}, "exit 2, reason on stderr, `{}` on stdout", "echo '{}'; " + reason, "blocked, told 1"},
		{[]string{"Stop"}, "`decision:\"block\"`, `reason`", `echo '{"decision":"block","reason":"REASON"}'`, "blocked, told 2"},
		{[]string{"Stop"}, "`additionalContext`", specific("Stop", `"additionalContext":"REASON"`), "another turn, told 1"},
		{[]string{"PreToolUse"}, "exit 2, reason on stderr", reason, "blocked, told 1"},
		{[]string{"PreToolUse"}, "`permissionDecision:\"deny\"`, `permissionDecisionReason`", deny, "blocked, told 1"},
		{[]string{"PreToolUse"}, "`permissionDecision:\"ask\"`", specific("PreToolUse", `"permissionDecision":"ask"`), "goes on, asked"},
		{[]string{"PreToolUse"}, "`permissionDecision:\"allow\"`", specific("PreToolUse", `"permissionDecision":"allow"`), "goes on"},
		{[]string{"PreToolUse"}, "`updatedInput`", rewrite, "goes on, other content"},
		{[]string{"PreToolUse"}, "`additionalContext`", specific("PreToolUse", `"additionalContext":"REASON"`), "goes on, told 1"},
		{[]string{"PostToolUse"}, "`additionalContext`", specific("PostToolUse", `"additionalContext":"REASON"`), "goes on, told 1"},
		{[]string{"PostToolUse"}, "`decision:\"block\"`, `reason`", `echo '{"decision":"block","reason":"REASON"}'`, "goes on, told 1"},
		{[]string{"UserPromptSubmit"}, "`decision:\"block\"`, `reason`", `echo '{"decision":"block","reason":"REASON"}'`, "blocked, shown 1"},
		{[]string{"UserPromptSubmit"}, "`additionalContext`, or plain text", "echo REASON", "goes on, told 1"},
		{[]string{"SessionStart"}, "`additionalContext`, or plain text", specific("SessionStart", `"additionalContext":"REASON"`), "goes on, told 1"},
		{[]string{"SessionEnd"}, "anything", `echo '{"decision":"block","reason":"REASON"}'; exit 2`, "goes on"},
	}
}

type protocolRow struct {
	events               []string
	answer, hook, follow string
}

// Pins issue 3, 7: what follows an answer is what the page says, row by row, and no row is left out.
func TestDocsHookAuthorsProtocol(t *testing.T) {
	t.Parallel()
	var shown, played []string
	for _, cells := range docTable(t, page(t, "docs/hook-authors.md"), "| event | you answer |") {
		shown = append(shown, cells[1])
	}
	for _, row := range protocolRows() {
		played = append(played, row.answer)
		for _, event := range row.events {
			t.Run(event+" "+row.answer, func(t *testing.T) {
				t.Parallel()
				assert.Equal(t, playRow(t, event, row.hook), row.follow)
			})
		}
	}
	slices.Sort(shown)
	slices.Sort(played)
	assert.DeepEqual(t, slices.Compact(shown), slices.Compact(played))
}

// playRow says what follows when a hook of an event answers so.
func playRow(t *testing.T, event, hook string) string {
	t.Helper()
	settings, err := json.Marshal(map[string]any{"hooks": map[string]any{event: []any{map[string]any{
		"hooks": []any{map[string]any{"type": "command", "command": hook}},
	}}}})
	assert.NilError(t, err)
	project := fakes.NewProject(t, map[string]string{".claude/settings.json": string(settings)})
	allowed := fakes.ClaudeAllow("Write")
	if strings.Contains(hook, `"allow"`) {
		allowed = fakes.ClaudeAllow() // without the hook the user would be asked
	}
	claude := fakes.NewClaude(t, project.Dir(), fakes.ClaudeMode("default"), allowed)
	var turn *fakes.Turn
	switch event {
	case "Stop":
		turn = claude.Stop()
	case "UserPromptSubmit":
		turn = claude.Prompt("Go.")
	case "SessionStart":
		turn = claude.Start("startup")
	case "SessionEnd":
		claude.Start("startup")
		turn = claude.Exit("other")
	default:
		turn = claude.Write("a.txt", "content")
	}
	assert.Equal(t, len(turn.Hooks), 1, claude.Story())
	follow := []string{"goes on"}
	switch {
	case turn.Ended:
		follow[0] = "ended"
	case turn.Blocked:
		follow[0] = "blocked"
	case turn.GoesOn:
		follow[0] = "another turn"
	}
	count := func(name string, texts []claudecode.Text) {
		n := 0
		for _, text := range texts {
			n += strings.Count(strings.ReplaceAll(text.Text, hook, "the hook"), "REASON")
		}
		if n > 0 {
			follow = append(follow, name+" "+strconv.Itoa(n))
		}
	}
	count("told", turn.Told)
	count("shown", turn.Shown)
	if turn.Asked {
		follow = append(follow, "asked")
	}
	for _, f := range turn.Files {
		if f.Path == "a.txt" && f.After != "content" {
			follow = append(follow, f.After+" content")
		}
	}
	return strings.Join(follow, ", ")
}

// Pins issue 3, 7: the traps of settings that the page names, each with what the simulator makes of it.
func TestDocsHookAuthorsSettings(t *testing.T) {
	t.Parallel()
	const hook = `{"type":"command","command":"echo \"[$FILE_PATH$SESSION_ID]\" >>ran"`
	cases := []struct {
		trap, settings string
		runs           int // of the hook, at a Write and a Stop
		dropped        bool
	}{
		{"a comment or a trailing comma in the settings", `{"hooks":{"Stop":[{"hooks":[` + hook + `}]}],}}`, 0, true},
		{"`\"PreToolUse\": {…}` in place of a list", `{"hooks":{"PreToolUse":{},"Stop":[{"hooks":[` + hook + `}]}]}}`, 0, true},
		{"`\"timeout\": 0`, or a string", `{"hooks":{"Stop":[{"hooks":[` + hook + `,"timeout":0}]}]}}`, 0, true},
		{"`\"matcher\": \"edit\"` on PreToolUse", `{"hooks":{"PreToolUse":[{"matcher":"write","hooks":[` + hook + `}]}]}}`, 0, false},
		{"`if` on an event that is no tool's", `{"hooks":{"Stop":[{"hooks":[` + hook + `,"if":"Write(**)"}]}]}}`, 0, false},
		{"`\"$FILE_PATH\"`, `\"$SESSION_ID\"` as arguments", `{"hooks":{"PreToolUse":[{"hooks":[` + hook + `}]}]}}`, 1, false},
		{"the same command twice, in two files", `{"hooks":{"Stop":[{"hooks":[` + hook + `}]}]}}`, 1, false},
	}
	var shown, played []string
	for _, cells := range docTable(t, page(t, "docs/hook-authors.md"), "| trap | what the client does |") {
		shown = append(shown, cells[0])
	}
	for _, c := range cases {
		played = append(played, c.trap)
		project := fakes.NewProject(t, map[string]string{".claude/settings.json": c.settings, ".claude/settings.local.json": c.settings, "ran": ""})
		claude := fakes.NewClaude(t, project.Dir())
		claude.Write("a.txt", "content")
		claude.Stop()
		assert.Equal(t, project.Read("ran"), strings.Repeat("[]\n", c.runs), c.trap)
		assert.Equal(t, len(claude.Dropped()) > 0, c.dropped, c.trap)
	}
	assert.DeepEqual(t, shown, played)
}

// TestDocsHookAuthorsOtherEvents: what the page says that a host takes at an event without a type is what is written there.
func TestDocsHookAuthorsOtherEvents(t *testing.T) {
	t.Parallel()
	decisions := []struct {
		name, key string
		d         hookkit.OtherDecision
	}{
		{"`GrantPermission`", `"allow"`, hookkit.GrantPermission()},
		{"`GrantRewritten`", `"updatedInput"`, hookkit.GrantRewritten(json.RawMessage("{}"))},
		{"`BlockEvent`", "REASON", hookkit.BlockEvent("REASON")},
		{"`TellAgent`", "TEXT", hookkit.PassEvent().TellAgent("TEXT")},
	}
	for _, cells := range docTable(t, page(t, "docs/hook-authors.md"), "| event | what it carries |") {
		event := hookkit.EventName(strings.Trim(cells[0], "`"))
		for i, host := range []hookkit.Host{hookkit.Claude, hookkit.Codex} {
			var takes []string
			for _, c := range decisions {
				if out := hookkit.Encode(host, event, c.d); strings.Contains(string(out.Stdout), c.key) {
					takes = append(takes, c.name)
				} else {
					assert.Check(t, len(out.Stdout) == 0 && len(out.Stderr) > 0, "%s %s %s: %s", host, event, c.name, out.Stdout)
				}
			}
			if len(takes) == 0 {
				takes = []string{"nothing more"}
			}
			assert.Check(t, cells[2+i] == strings.Join(takes, ", "), "%s at %s takes %s", host, event, takes)
		}
	}
}
