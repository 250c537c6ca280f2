//go:build unix

package integration

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
	hk "github.com/hookkit/brepl/hookkit"
)

// preAnswer is a PreToolUse hook's answer with a rewrite of the written content.
func preAnswer(more string) string {
	return `printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"file_path":"%s/a","content":"(new)"}` + more + `}}' "$PWD"`
}

func preToolUseRows() []hostRow {
	return []hostRow{
		{"- `updatedInput` replaces the whole tool_input", []string{"write-bracket-autofix", "edit-multistep"}, []hostFact{
			{"a rewrite without a decision lands on disk", func(t *testing.T) {
				turn := newHost(t, hooks{"PreToolUse": preAnswer("")}).Write("a", "(old")
				assert.DeepEqual(t, turn.Files, []fakes.FileChange{{Path: "a", After: "(new)", Created: true}})
				assert.Assert(t, cmp.Contains(turn.Event("PostToolUse").Input, `"content":"(new)"`))
			}},
			{"a missing field fails the call", nil},
			{"the permission flow judges the rewritten input", func(t *testing.T) {
				var asked string
				h := newHost(t, hooks{"PreToolUse": preAnswer("")}, fakes.ClaudeMode("default"), fakes.ClaudeApprove(func(_ string, input json.RawMessage) bool {
					asked = string(input)
					return false
				}))
				turn := h.Write("a", "(old")
				assert.Assert(t, turn.Asked && !turn.ToolRan)
				assert.Assert(t, cmp.Contains(asked, `"content":"(new)"`))
			}},
			{"allow skips the user", nil},
			{"deny at any exit code and under bypassPermissions", nil},
		}},
		{"- **The agent is not told of a rewrite**", []string{"write-bracket-autofix"}, []hostFact{
			{"a rewrite tells the agent nothing, its additionalContext does", func(t *testing.T) {
				h := newHost(t, hooks{"PreToolUse": preAnswer("")})
				assert.Equal(t, len(h.Write("a", "(old").Told), 0)
				data, err := os.ReadFile(h.Transcript())
				assert.NilError(t, err)
				assert.Assert(t, cmp.Contains(string(data), `"content":"(old"`)) // the history keeps the original
				turn := newHost(t, hooks{"PreToolUse": preAnswer(`,"additionalContext":"added )"`)}).Write("a", "(old")
				assert.DeepEqual(t, turn.Told, []claudecode.Text{told("system", "PreToolUse:Write hook additional context: added )")})
			}},
		}},
		{"- The rewrite forwards every field", nil, []hostFact{
			{"our rewrite forwards fields byte for byte", func(t *testing.T) {
				input := json.RawMessage(`{"file_path":"/x","content":"\ud800 \u003c","more":1.50}`)
				out := hk.Encode(hk.Claude, "PreToolUse", hk.RewriteTool(input, "changed"))
				r := claudecode.Judge(claudecode.Run{Event: "PreToolUse", Value: "Write", Stdout: out.Stdout})
				assert.Equal(t, string(r.UpdatedInput), string(input))
			}},
		}},
		{"- Edit: old_string and new_string may both be rewritten", nil, []hostFact{
			{"an Edit rewritten to a larger region", nil},
			{"an Edit rewritten to what is not in the file fails", nil},
		}},
		{"- `continue:false` lets the tool run", nil, []hostFact{
			{"continue:false lets the tool run, then ends the run", nil},
			{"timeouts, exit 1 and a missing command let the tool run", func(t *testing.T) {
				for _, command := range []string{"exit 1", "/does/not/exist", "kill -9 $$"} {
					turn := newHost(t, hooks{"PreToolUse": command}).Write("a", "b")
					assert.Assert(t, turn.ToolRan && !turn.Blocked, command)
				}
				project := fakes.NewProject(t, map[string]string{".claude/settings.json": strings.Replace(withTimeout("PreToolUse", "0.1"), `"x"`, `"sleep 9"`, 1)})
				assert.Assert(t, fakes.NewClaude(t, project.Dir()).Write("a", "b").ToolRan)
				args := fakes.NewProject(t, map[string]string{".claude/settings.json": strings.Replace(withTimeout("PreToolUse", `9,"args":[]`), `"x"`, `"/does/not/exist"`, 1)})
				turn := fakes.NewClaude(t, args.Dir()).Write("a", "b")
				assert.Assert(t, turn.ToolRan && turn.Hooks[0].NotStarted)
			}},
		}},
		{"| argv form: `hook validate FILE CONTENT`", []string{"write-unfixable-deny"}, []hostFact{
			{"the seed's literal object: allow is refused, block is a deny", nil},
		}},
		{"| event form, valid | exit 0, nothing |", []string{"write-clean"}, []hostFact{
			{"we send nothing for a valid file", nil},
		}},
		{"| event form, repaired | exit 0", []string{"write-bracket-autofix", "edit-multistep"}, []hostFact{
			{"we send a repair: on disk, and told", nil},
		}},
		{"| event form, unfixable → block", []string{"edit-multistep", "write-unfixable-deny"}, []hostFact{
			{"we send a deny", nil},
		}},
		{"| timeout exceeded → allow with warning", nil, []hostFact{
			{"we send a warning to the user", nil},
		}},
	}
}

// post is what a PostToolUse hook with this answer makes of a Write.
func post(t *testing.T, command string) *fakes.Turn {
	t.Helper()
	return newHost(t, hooks{"PostToolUse": command}).Write("a", "b")
}

func postToolUseRows() []hostRow {
	return []hostRow{
		{"- `decision:\"block\"` + reason: shown to the agent", []string{"eval-strict-block", "seed-allow-object"}, []hostFact{
			{"a block after a tool is told and undoes nothing", nil},
			{"exit 2 after a tool is told", nil},
			{"PostToolUseFailure tells as PostToolUse does", nil},
			{"permissionDecision keys and warnings vanish, allow discards everything", nil},
		}},
		{"- When a hook changes the file", nil, []hostFact{
			{"the client tells that a hook changed the file", func(t *testing.T) {
				turn := post(t, "printf formatted >a")
				assert.Assert(t, cmp.Contains(turn.ToldText(), "/a after your edit (likely a formatter). "))
				assert.DeepEqual(t, turn.Files, []fakes.FileChange{
					{Path: "a", After: "b", Created: true}, {Path: "a", Before: "b", After: "formatted", ByHook: true},
				})
			}},
		}},
		{"- Held stream and a rewrite", nil, []hostFact{
			{"a held stream refuses the tool for a rewrite", nil},
		}},
		{"| argv form `hook eval FILE`", []string{"seed-allow-object"}, []hostFact{
			{"the seed's literal object after a tool: discarded", nil},
		}},
		{"| event form, fine | exit 0, nothing |", []string{"write-clean"}, []hostFact{
			{"we send nothing for a fine file", nil},
		}},
		{"| warning (default) |", nil, []hostFact{
			{"we send a warning as additionalContext", nil},
		}},
		{"| strict | exit 0", []string{"eval-strict-block"}, []hostFact{
			{"we send a strict failure as a block", nil},
		}},
		{"| no server | once a session", nil, []hostFact{
			{"we send that there is no server as additionalContext", nil},
		}},
		{"003 block: exit 0", []string{"gauntlet-gate", "gauntlet-continue-false"}, []hostFact{
			{"003's block is told twice, its allow is silent, its literal form ends the agent", nil},
		}},
		{"004 block: exit 2", nil, []hostFact{
			{"004's block is told once and shown", nil},
		}},
	}
}
