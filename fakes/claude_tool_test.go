//go:build unix

package fakes_test

import (
	"encoding/json"
	"os"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

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

// Pins that a rewrite to a relative path means the project's file, not one beside the test.
func TestClaudeRewritesRelativePaths(t *testing.T) {
	rewrite := func(input string) string {
		return `printf %s '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":` + input + `}}'`
	}
	for _, c := range []struct {
		name, hook string
		use        func(*fakes.Claude) *fakes.Turn
		want       string
	}{
		{"Write", rewrite(`{"file_path":"sub/b","content":"new"}`), func(c *fakes.Claude) *fakes.Turn { return c.Write("a", "x") }, "new"},
		{"Edit", rewrite(`{"file_path":"sub/b","old_string":"old","new_string":"edited"}`), func(c *fakes.Claude) *fakes.Turn { return c.Edit("a", "x", "y") }, "edited"},
		{"Read", rewrite(`{"file_path":"sub/b"}`), func(c *fakes.Claude) *fakes.Turn { return c.Read("a") }, "old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := fakes.NewProject(t, map[string]string{"a": "x", "sub/b": "old"}, withHooks(map[string]string{"PreToolUse": c.hook}))
			turn := c.use(fakes.NewClaude(t, p.Dir()))
			assert.Assert(t, turn.ToolRan && !turn.ToolFailed && !turn.Asked, turn.ToolResult)
			assert.Equal(t, p.Read("sub/b"), c.want)
			if c.name == "Read" {
				assert.Equal(t, turn.ToolResult, "1\told")
				return
			}
			assert.DeepEqual(t, turn.Files, []fakes.FileChange{{Path: "sub/b", Before: "old", After: c.want}})
			assert.Assert(t, cmp.Contains(turn.ToolResult, p.Path("sub/b")))
			_, err := os.Lstat("sub")
			assert.Assert(t, os.IsNotExist(err))
		})
	}
}

// PermissionRequest: a hook's decision stands for the user's, its rewrite is what runs, exit 2 is a deny.
func TestClaudePermissionRequest(t *testing.T) {
	decide := func(decision string) string {
		return `printf %s '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":` + decision + `}}'`
	}
	for _, c := range []struct {
		name, hook, result, want string
		asked                    bool
	}{
		{"allow", decide(`{"behavior":"allow"}`), "", "old", false},
		{"allow with a rewrite", decide(`{"behavior":"allow","updatedInput":{"file_path":"a","content":"new"}}`), "", "new", false},
		{"deny", decide(`{"behavior":"deny","message":"not on a Friday"}`), "not on a Friday", "", false},
		{"deny without a message", decide(`{"behavior":"deny"}`), "Blocked by hook", "", false},
		{"exit 2", "echo no >&2; exit 2", "[echo no >&2; exit 2]: no\n", "", false},
		{"no behavior", decide(`{}`), "The user doesn't want to proceed with this tool use. The tool use was rejected.", "", true},
		{"an unknown behavior", decide(`{"behavior":"ask"}`), "The user doesn't want to proceed with this tool use. The tool use was rejected.", "", true},
		{"nothing", ":", "The user doesn't want to proceed with this tool use. The tool use was rejected.", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := fakes.NewProject(t, nil, withHooks(map[string]string{"PermissionRequest": c.hook, "PostToolUse": "cat >post"}))
			claude := fakes.NewClaude(t, p.Dir(), fakes.ClaudeMode("default"), fakes.ClaudeApprove(func(string, json.RawMessage) bool { return false }))
			turn := claude.Write("a", "old")
			assert.Equal(t, turn.Asked, c.asked)
			assert.Equal(t, turn.Blocked, c.want == "")
			if c.want == "" {
				assert.Equal(t, turn.ToolResult, c.result)
				assert.Assert(t, !exists(p.Path("a")))
				return
			}
			assert.Equal(t, p.Read("a"), c.want)
			assert.Assert(t, cmp.Contains(p.Read("post"), `"content":"`+c.want+`"`))
		})
	}
}

// Field names of a rewrite are held against the tool's with their case.
func TestClaudeRewriteWithWrongCase(t *testing.T) {
	p := fakes.NewProject(t, nil, withHooks(map[string]string{
		"PreToolUse": `printf %s '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"File_Path":"b","content":"new"}}}'`,
	}))
	turn := fakes.NewClaude(t, p.Dir()).Write("a", "old")
	assert.Assert(t, turn.ToolFailed)
	assert.Equal(t, turn.ToolResult, "InputValidationError: Write failed due to a missing or wrong field")
	assert.Equal(t, len(turn.Files), 0)
}
