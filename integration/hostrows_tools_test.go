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
			{"a missing field fails the call", func(t *testing.T) {
				h := newHost(t, hooks{"PreToolUse": says("0", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"content":"x"}}}`, "")})
				turn := h.Write("a", "b")
				assert.Assert(t, turn.ToolFailed && len(turn.Files) == 0)
			}},
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
			{"allow skips the user", func(t *testing.T) {
				h := newHost(t, hooks{"PreToolUse": preAnswer(`,"permissionDecision":"allow"`)}, fakes.ClaudeMode("default"))
				turn := h.Write("a", "(old")
				assert.Assert(t, !turn.Asked && turn.ToolRan)
			}},
			{"deny at any exit code and under bypassPermissions", func(t *testing.T) {
				for _, exit := range []string{"0", "1", "2"} {
					object := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}}`
					turn := newHost(t, hooks{"PreToolUse": says(exit, object, "")}, fakes.ClaudeMode("bypassPermissions")).Write("a", "b")
					assert.Assert(t, turn.Blocked && !turn.ToolRan)
					assert.Equal(t, turn.ToolResult, "PreToolUse:Write hook error: why")
				}
			}},
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
			{"an Edit rewritten to a larger region", func(t *testing.T) {
				h := newHost(t, hooks{"PreToolUse": `printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"file_path":"%s/a","old_string":"a b c","new_string":"A B C","replace_all":false}}}' "$PWD"`})
				h.project.Write("a", "a b c")
				assert.Assert(t, !h.Edit("a", "b", "x").ToolFailed)
				assert.Equal(t, h.project.Read("a"), "A B C")
			}},
			{"an Edit rewritten to what is not in the file fails", func(t *testing.T) {
				h := newHost(t, hooks{"PreToolUse": `printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"file_path":"%s/a","old_string":"absent","new_string":"x"}}}' "$PWD"`})
				h.project.Write("a", "a b c")
				assert.Assert(t, h.Edit("a", "b", "x").ToolFailed)
				assert.Equal(t, h.project.Read("a"), "a b c")
			}},
		}},
		{"- `continue:false` lets the tool run", nil, []hostFact{
			{"continue:false lets the tool run, then ends the run", func(t *testing.T) {
				h := newHost(t, hooks{"PreToolUse": says("0", `{"continue":false}`, "")})
				turn := h.Write("a", "b")
				assert.Assert(t, turn.ToolRan && turn.Ended)
			}},
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
			{"the seed's literal object: allow is refused, block is a deny", func(t *testing.T) {
				for decision, blocked := range map[string]bool{"allow": false, "block": true} {
					object := `{"continue":true,"decision":"` + decision + `","stopReason":"s","reason":"r","suppressOutput":true,"warnings":[]}`
					turn := newHost(t, hooks{"PreToolUse": says("0", object, "")}).Write("a", "b")
					assert.Equal(t, turn.Blocked, blocked)
				}
			}},
		}},
		{"| event form, valid | exit 0, nothing |", []string{"write-clean"}, []hostFact{
			{"we send nothing for a valid file", func(t *testing.T) {
				turn := newHost(t, hooks{"PreToolUse": sends("PreToolUse", hk.Claude, hk.AllowTool())}).Write("a", "b")
				assert.Assert(t, turn.ToolRan && len(turn.Told)+len(turn.Shown) == 0)
				assert.Equal(t, turn.Hooks[0].Stdout, "")
			}},
		}},
		{"| event form, repaired | exit 0", []string{"write-bracket-autofix", "edit-multistep"}, []hostFact{
			{"we send a repair: on disk, and told", func(t *testing.T) {
				h := newHost(t, nil)
				input, err := json.Marshal(map[string]string{"file_path": h.project.Path("a.clj"), "content": "(f)"})
				assert.NilError(t, err)
				h.project.Write(".claude/settings.local.json", settingsFor(t, hooks{
					"PreToolUse": sends("PreToolUse", hk.Claude, hk.RewriteTool(input, "brepl: added ')' at line 1 of a.clj")),
				}))
				turn := h.Write("a.clj", "(f")
				assert.Equal(t, turn.Files[0].After, "(f)")
				assert.DeepEqual(t, turn.Told, []claudecode.Text{told("system", "PreToolUse:Write hook additional context: brepl: added ')' at line 1 of a.clj")})
				assert.Equal(t, turn.Hooks[0].Reaction.Permission+turn.Hooks[0].Reaction.Fault, "")
			}},
		}},
		{"| event form, unfixable → block", []string{"edit-multistep", "write-unfixable-deny"}, []hostFact{
			{"we send a deny", func(t *testing.T) {
				turn := newHost(t, hooks{"PreToolUse": sends("PreToolUse", hk.Claude, hk.DenyTool("Syntax error", "Unmatched ')' at line 7"))}).Write("a", "b")
				assert.Assert(t, turn.Blocked && !turn.Ended)
				assert.Equal(t, turn.ToolResult, "PreToolUse:Write hook error: Unmatched ')' at line 7")
				assert.Equal(t, turn.Hooks[0].Exit, 0)
			}},
		}},
		{"| timeout exceeded → allow with warning", nil, []hostFact{
			{"we send a warning to the user", func(t *testing.T) {
				turn := newHost(t, hooks{"PreToolUse": sends("PreToolUse", hk.Claude, hk.AllowTool().TellUser("took too long"))}).Write("a", "b")
				assert.Assert(t, turn.ToolRan && len(turn.Told) == 0)
				assert.DeepEqual(t, turn.Shown, []claudecode.Text{told("message", "PreToolUse:Write says: took too long")})
			}},
		}},
	}
}

// post is what a PostToolUse hook with this answer makes of a Write.
func post(t *testing.T, command string) *fakes.Turn {
	t.Helper()
	return newHost(t, hooks{"PostToolUse": command}).Write("a", "b")
}

func postToolUseRows() []hostRow {
	context := []claudecode.Text{told("system", "PostToolUse:Write hook additional context: note")}
	return []hostRow{
		{"- `decision:\"block\"` + reason: shown to the agent", []string{"eval-strict-block", "seed-allow-object"}, []hostFact{
			{"a block after a tool is told and undoes nothing", func(t *testing.T) {
				command := says("0", blockObject, "")
				turn := post(t, command)
				assert.DeepEqual(t, turn.Told, []claudecode.Text{told("system", `PostToolUse:Write hook blocking error from command: "`+command+`": because-hk`)})
				assert.Assert(t, turn.ToolRan && !turn.Blocked && !turn.ToolFailed)
				assert.Equal(t, turn.Files[0].After, "b")
			}},
			{"exit 2 after a tool is told", func(t *testing.T) {
				command := says("2", "", "bad\n")
				assert.DeepEqual(t, post(t, command).Told, []claudecode.Text{
					told("system", `PostToolUse:Write hook blocking error from command: "`+command+`": [`+command+"]: bad\n"),
				})
			}},
			{"PostToolUseFailure tells as PostToolUse does", func(t *testing.T) {
				command := says("0", blockObject, "")
				turn := newHost(t, hooks{"PostToolUseFailure": command}).Bash("false")
				assert.DeepEqual(t, turn.Told, []claudecode.Text{told("system", `PostToolUseFailure:Bash hook blocking error from command: "`+command+`": because-hk`)})
			}},
			{"permissionDecision keys and warnings vanish, allow discards everything", func(t *testing.T) {
				both := `"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"deny","additionalContext":"note"}`
				assert.DeepEqual(t, post(t, says("0", `{"warnings":["w"],`+both+`}`, "")).Told, context)
				assert.Equal(t, len(post(t, says("0", `{"decision":"allow",`+both+`}`, "")).Told), 0)
			}},
		}},
		{"- When a hook changes the file", nil, []hostFact{
			{"the client tells that a hook changed the file", func(t *testing.T) {
				turn := post(t, "printf formatted >a")
				assert.Assert(t, cmp.Contains(turn.ToldText(), "/a was modified"))
				assert.DeepEqual(t, turn.Files, []fakes.FileChange{
					{Path: "a", After: "b", Created: true}, {Path: "a", Before: "b", After: "formatted", ByHook: true},
				})
			}},
		}},
		{"| argv form `hook eval FILE`", []string{"seed-allow-object"}, []hostFact{
			{"the seed's literal object after a tool: discarded", func(t *testing.T) {
				turn := post(t, says("0", `{"continue":true,"decision":"allow","suppressOutput":false,"warnings":["w"]}`, ""))
				assert.Equal(t, len(turn.Told)+len(turn.Shown), 0)
			}},
		}},
		{"| event form, fine | exit 0, nothing |", []string{"write-clean"}, []hostFact{
			{"we send nothing for a fine file", func(t *testing.T) {
				turn := post(t, sends("PostToolUse", hk.Claude, hk.AcceptResult()))
				assert.Equal(t, len(turn.Told)+len(turn.Shown)+len(turn.Hooks[0].Stdout), 0)
			}},
		}},
		{"| warning (default) |", nil, []hostFact{
			{"we send a warning as additionalContext", func(t *testing.T) {
				assert.DeepEqual(t, post(t, sends("PostToolUse", hk.Claude, hk.AcceptResult().TellAgent("note"))).Told, context)
			}},
		}},
		{"| strict | exit 0", []string{"eval-strict-block"}, []hostFact{
			{"we send a strict failure as a block", func(t *testing.T) {
				turn := post(t, sends("PostToolUse", hk.Claude, hk.RejectResult("Evaluation failed", "already written; x")))
				assert.Assert(t, strings.HasSuffix(turn.ToldText(), ": already written; x"), turn.ToldText())
				assert.Assert(t, !turn.Ended)
			}},
		}},
		{"| no server | once a session", nil, []hostFact{
			{"we send that there is no server as additionalContext", func(t *testing.T) {
				turn := post(t, sends("PostToolUse", hk.Claude, hk.AcceptResult().TellAgent("note")))
				assert.Equal(t, len(turn.Told), 1)
			}},
		}},
		{"003 block: exit 0", []string{"gauntlet-gate", "gauntlet-continue-false"}, []hostFact{
			{"003's block is told twice, its allow is silent, its literal form ends the agent", func(t *testing.T) {
				command := says("0", `{"decision":"block","reason":"R","stopReason":"S"}`, "[gauntlet] log\n")
				assert.DeepEqual(t, stopAfter(t, command).Told, toldTwice(command, "R"))
				allow := stopAfter(t, says("0", "", "[gauntlet] passed\n"))
				assert.Assert(t, !allow.GoesOn && len(allow.Told)+len(allow.Shown) == 0)
				assert.Assert(t, stopAfter(t, says("0", `{"continue":false,"stopReason":"S"}`, "")).Ended)
			}},
		}},
		{"004 block: exit 2", nil, []hostFact{
			{"004's block is told once and shown", func(t *testing.T) {
				command := says("2", `{"systemMessage":"4 memories to save"}`, "Save the following memories before stopping:\n")
				turn := stopAfter(t, command)
				assert.DeepEqual(t, turn.Told, []claudecode.Text{told("user", feedback+"["+command+"]: Save the following memories before stopping:\n")})
				assert.DeepEqual(t, turn.Shown, []claudecode.Text{told("message", "Stop says: 4 memories to save")})
			}},
		}},
	}
}
