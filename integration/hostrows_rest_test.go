//go:build unix

package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
	hk "github.com/hookkit/brepl/hookkit"
)

// active is what stop_hook_active said at a stop.
func active(turn *fakes.Turn) bool {
	return strings.Contains(turn.Event("Stop").Input, `"stop_hook_active":true`)
}

func stopRows() []hostRow {
	report := hk.ReportStop("Hook 'lint' failed: unused alias").TellUser("lint failed")
	return []hostRow{
		{"- `stop_hook_active`", []string{"stop-blocked-twice", "clear-and-continue", "gauntlet-gate"}, []hostFact{
			{"stop_hook_active", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": "test -e ok && exit 0; echo no >&2; exit 2"})
				assert.Assert(t, !active(h.Stop()))
				h.Write("a", "b")
				assert.Assert(t, active(h.Stop()))
				assert.Assert(t, active(h.Stop()))
				h.Prompt("next")
				assert.Assert(t, !active(h.Stop()))
			}},
		}},
		{"- Cap: 8 blocks in a row", []string{"stop-block-cap"}, []hostFact{
			{"8 blocks are honoured, the 9th is overridden", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": "echo no >&2; exit 2"})
				for range 8 {
					assert.Assert(t, h.Stop().Blocked)
				}
				ninth := h.Stop()
				assert.Assert(t, !ninth.Blocked && !ninth.GoesOn && len(ninth.Told) == 0)
				assert.Equal(t, ninth.ShownText(), "A hook blocked the turn from ending 9 consecutive times—overriding and ending turn. "+
					"For Stop/SubagentStop hooks, check stop_hook_active in the input and return success while it's true. "+
					"Set CLAUDE_CODE_STOP_HOOK_BLOCK_CAP to raise this limit.")
			}},
			{"a tool use resets the count", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": "echo no >&2; exit 2"})
				for i := range 20 {
					assert.Assert(t, h.Stop().Blocked)
					if i%8 == 7 {
						h.Read("absent")
					}
				}
			}},
			{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", func(t *testing.T) {
				for value, honoured := range map[string]int{"2": 2, "0": 12, "x": 8} {
					h := newHost(t, hooks{"Stop": "exit 2"}, fakes.ClaudeEnv(append(os.Environ(), claudecode.CapVariable+"="+value)))
					n := 0
					for n < 12 && h.Stop().Blocked {
						n++
					}
					assert.Equal(t, n, honoured, value)
				}
			}},
		}},
		{"- `additionalContext` on Stop", nil, []hostFact{
			{"additionalContext makes the agent go on, as a reminder", func(t *testing.T) {
				for _, exit := range []string{"0", "1"} {
					h := newHost(t, hooks{"Stop": "test -e told && exit 0; touch told; " + says(exit, `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"by the way"}}`, "")})
					turn := h.Stop()
					assert.Assert(t, turn.GoesOn && !turn.Blocked)
					assert.Equal(t, len(turn.Told), 1)
					assert.Equal(t, turn.Told[0].As, claudecode.AsReminder)
					assert.Assert(t, cmp.Contains(turn.Told[0].Text, "by the way"))
					assert.Assert(t, active(h.Stop()))
				}
			}},
			{"additionalContext counts toward the cap", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": says("0", `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"again"}}`, "")})
				for range 8 {
					assert.Assert(t, h.Stop().GoesOn)
				}
				assert.Assert(t, !h.Stop().GoesOn)
			}},
		}},
		{"- The transcript holds the last message at Stop", []string{"stop-blocked-twice", "stop-block-cap"}, []hostFact{
			{"the transcript lags", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": `p=$(sed -n 's/.*"transcript_path":"\([^"]*\)".*/\1/p'); grep -q '"text":"Last words' "$p" && exit 3; exit 0`},
					fakes.ClaudeLag(time.Minute))
				assert.Equal(t, h.Stop("Last words").Hooks[0].Exit, 0)
				assert.Assert(t, cmp.Contains(h.Turns()[2].Event("Stop").Input, `"last_assistant_message":"Last words"`))
				data, err := os.ReadFile(h.Transcript())
				assert.NilError(t, err)
				assert.Assert(t, cmp.Contains(string(data), `"text":"Last words"`))
			}},
			{"the transcript need not exist yet", func(t *testing.T) {
				h := newHost(t, hooks{"UserPromptSubmit": `test -e "$(sed -n 's/.*"transcript_path":"\([^"]*\)".*/\1/p')" && exit 3; exit 0`})
				assert.Equal(t, h.Prompt("first").Hooks[0].Exit, 0)
			}},
		}},
		{"- Stop fires while background tasks run", []string{"background-shell", "subagent-background", "api-error"}, []hostFact{
			{"Stop while a task runs, and again after its report", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": "true"})
				sub := h.Subagent("Explore", "Look", "Look around")
				assert.Assert(t, cmp.Contains(h.Stop().Event("Stop").Input,
					`"background_tasks":[{"id":"`+sub.TaskID+`","type":"subagent","status":"running","description":"Look","agent_type":"Explore"}]`))
				sub.Agent.Stop("Found it.")
				assert.Assert(t, cmp.Contains(h.Report(sub.TaskID).Event("UserPromptSubmit").Input, "<result>Found it.</result>"))
				assert.Equal(t, len(h.Stop().Hooks), 1)
			}},
			{"no Stop on an interrupt or an API error", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": "touch stopped", "StopFailure": "true"})
				h.Write("a", "b")
				assert.Equal(t, len(h.Interrupt().Events), 0)
				turn := h.Fail("API Error: 400")
				assert.Equal(t, turn.Events[0].Event, "StopFailure")
				sameKeysAsRecorded(t, "StopFailure", turn.Events[0].Input)
				_, err := os.Stat(h.project.Path("stopped"))
				assert.Assert(t, os.IsNotExist(err))
			}},
		}},
		{"| all passed / no configuration", []string{"write-clean", "start-in-subdir"}, []hostFact{
			{"we send approve: no effect", func(t *testing.T) {
				turn := stopAfter(t, sends("Stop", hk.Claude, hk.AllowStop()))
				assert.Assert(t, !turn.Blocked && !turn.GoesOn && len(turn.Told)+len(turn.Shown) == 0)
				assert.Equal(t, turn.Hooks[0].Reaction.Fault, "")
				assert.Equal(t, strings.TrimSpace(turn.Hooks[0].Stdout), `{"decision":"approve"}`)
			}},
		}},
		{"| exit 2, details on stderr: Claude must continue", nil, []hostFact{
			{"we send a block: told once, the user told, the downgrade disarmed", func(t *testing.T) {
				details := "Hook 'tests' failed\nslurp: x.edn (No such file or directory)"
				decision := hk.BlockStop(details).TellUser("brepl: 'tests' failed, attempt 2/10")
				command := sends("Stop", hk.Claude, decision)
				turn := stopAfter(t, command)
				assert.Assert(t, turn.Blocked)
				assert.Equal(t, turn.Hooks[0].Exit, 2)
				assert.Equal(t, len(turn.Told), 1)
				assert.Equal(t, strings.TrimSpace(turn.Told[0].Text), feedback+"["+command+"]: "+details)
				assert.DeepEqual(t, turn.Shown, []claudecode.Text{told("message", "Stop says: brepl: 'tests' failed, attempt 2/10")})
				assert.Equal(t, turn.Hooks[0].Reaction.Fault, "")
			}},
			{"we send a portable block: the object's reason, and stderr for who reads no JSON", func(t *testing.T) {
				command := sends("Stop", hk.Portable, hk.BlockStop("details"))
				turn := stopAfter(t, command)
				assert.Assert(t, turn.Blocked)
				assert.Equal(t, turn.Hooks[0].Exit, 2)
				assert.Assert(t, cmp.Contains(turn.Hooks[0].Stderr, "details"))
				assert.DeepEqual(t, turn.Told, toldTwice(command, "details"))
			}},
		}},
		{"| exit 1: Claude is informed, can stop", nil, []hostFact{
			{"we send a report the first time: the agent gets a turn to read it, then can stop", func(t *testing.T) {
				first := sends("Stop", hk.Claude, report.TellAgent("Hook 'lint' failed: unused alias"))
				h := newHost(t, hooks{"Stop": "if test -e told; then " + sends("Stop", hk.Claude, report) + "; fi; touch told; " + first})
				turn := h.Stop()
				assert.Assert(t, turn.GoesOn && !turn.Blocked)
				assert.Equal(t, turn.Hooks[0].Exit, 1)
				assert.Equal(t, len(turn.Told), 1)
				assert.Equal(t, turn.Told[0].As, claudecode.AsReminder)
				assert.DeepEqual(t, turn.Shown, []claudecode.Text{told("message", "Stop says: lint failed")})
				second := h.Stop()
				assert.Assert(t, active(second) && !second.GoesOn && len(second.Told) == 0)
				assert.DeepEqual(t, second.Shown, []claudecode.Text{told("message", "Stop says: lint failed")})
			}},
		}},
		{"| required REPL missing", nil, []hostFact{
			{"we send a report for a missing REPL", func(t *testing.T) {
				text := "Hook 'run-tests' requires nREPL but none available. Please start REPL and retry. Pause and tell the user."
				turn := stopAfter(t, sends("Stop", hk.Claude, hk.ReportStop(text).TellUser(text).TellAgent(text)))
				assert.Assert(t, turn.GoesOn && !turn.Blocked)
				assert.Assert(t, cmp.Contains(turn.ToldText(), "Pause and tell the user."))
				assert.Assert(t, cmp.Contains(turn.ShownText(), "none available"))
			}},
		}},
		{"| invalid configuration | as exit 1 |", nil, []hostFact{
			{"we send a report for an invalid configuration", func(t *testing.T) {
				w := newWorld(t, "{:stop [")
				claude := w.claude()
				turn := claude.Stop()
				assert.Equal(t, turn.Hooks[0].Exit, 1, "%s", turn)
				assert.Assert(t, !turn.Blocked)
				assert.Assert(t, cmp.Contains(turn.ShownText(), "hooks.edn"))
			}},
		}},
		{"| SessionEnd cleans up", []string{"write-clean"}, []hostFact{
			{"our session-end is in time and silent", func(t *testing.T) {
				turn := newWorld(t, "").claude().Exit("other")
				assert.Equal(t, turn.Hooks[0].Exit, 0)
				assert.Equal(t, len(turn.Shown), 0)
			}},
		}},
	}
}

// claude is a session in the world's project, with our program on the hooks.
func (w *world) claude() *fakes.Claude {
	w.t.Helper()
	program := shellQuote(brepl(w.t))
	w.project.Write(".claude/settings.local.json", settingsFor(w.t, hooks{
		"Stop": program + " hook stop", "SessionEnd": program + " hook session-end",
	}))
	return fakes.NewClaude(w.t, w.dir, fakes.ClaudeEnv(append(os.Environ(), w.env...)), fakes.ClaudeHome(w.home), fakes.ClaudeSession(w.session))
}

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
				assert.DeepEqual(t, turn.Told, []claudecode.Text{told("system", `PostToolUse:Write hook blocking error from command: "`+command+`": because`)})
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
				assert.DeepEqual(t, turn.Told, []claudecode.Text{told("system", `PostToolUseFailure:Bash hook blocking error from command: "`+command+`": because`)})
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

func settingsRows() []hostRow {
	return []hostRow{
		{"- `.claude/settings.local.json`: found from a sub-directory", []string{"start-in-subdir"}, []hostFact{
			{"only the local file is found from a sub-folder, and all files merge", func(t *testing.T) {
				project := fakes.NewProject(t, map[string]string{
					".git/HEAD": "", "sub/.claude/settings.json": settingsFor(t, hooks{"Stop": "echo sub"}),
					".claude/settings.json":       settingsFor(t, hooks{"Stop": "echo project"}),
					".claude/settings.local.json": settingsFor(t, hooks{"Stop": "echo local"}),
				})
				for dir, want := range map[string]int{"": 2, "sub": 2, "sub/.claude": 1} {
					turn := fakes.NewClaude(t, project.Path(dir)).Stop()
					assert.Equal(t, len(turn.Hooks), want, "%q: %s", dir, turn)
					assert.Equal(t, strings.Contains(turn.String(), "echo project"), dir == "")
				}
			}},
			{"a comment or a trailing comma drops the file, a byte order mark does not", func(t *testing.T) {
				whole := settingsFor(t, hooks{"Stop": "x"})
				for text, want := range map[string]int{
					"\ufeff" + whole: 1, "// note\n" + whole: 0, strings.TrimSuffix(whole, "}") + ",}": 0, "": 0, "[]": 0,
				} {
					assert.Equal(t, len(loaded(t, text)), want, text)
				}
				project := fakes.NewProject(t, map[string]string{".claude/settings.json": "{\n  // note\n}"})
				dropped := fakes.NewClaude(t, project.Dir()).Dropped()
				assert.Equal(t, len(dropped), 1)
				assert.Assert(t, cmp.Contains(dropped[0].Why, "line 2"))
			}},
		}},
		{"- Matcher:", []string{"write-clean", "start-in-subdir", "gauntlet-gate"}, []hostFact{
			{"matchers", func(t *testing.T) {
				for _, c := range []struct {
					matcher, value string
					want           bool
				}{
					{"", "Edit", true},
					{"*", "Edit", true},
					{"Edit|Write", "Write", true},
					{"Edit,Write", "Write", true},
					{"Edit, Write", "Write", true},
					{"Edit", "MultiEdit", false},
					{"edit", "Edit", false},
					{"Edi.", "MultiEdit", true},
					{"^Edi.$", "MultiEdit", false},
					{"mcp__.*", "mcp__x__y", true},
					{"(", "Edit", false},
				} {
					assert.Equal(t, claudecode.Match(c.matcher, c.value), c.want, "%q, %q", c.matcher, c.value)
				}
			}},
			{"a matcher is ignored on Stop, and held against SessionEnd's reason", func(t *testing.T) {
				project := fakes.NewProject(t, map[string]string{".claude/settings.json": `{"hooks":{
					"Stop":[{"matcher":"nothing","hooks":[{"type":"command","command":"true"}]}],
					"SessionEnd":[{"matcher":"clear","hooks":[{"type":"command","command":"true"}]}]}}`})
				claude := fakes.NewClaude(t, project.Dir())
				assert.Equal(t, len(claude.Stop().Hooks), 1)
				assert.Equal(t, len(claude.Clear().Hooks), 1)
				assert.Equal(t, len(claude.Exit("other").Hooks), 0)
			}},
		}},
		{"- An entry without `hooks`", nil, []hostFact{
			{"what drops an entry, a handler, a file", func(t *testing.T) {
				good := `{"hooks":[{"type":"command","command":"x"}]}`
				for text, want := range map[string]int{
					`{"hooks":{"Stop":[{"matcher":""},` + good + `]}}`:                             1,
					`{"hooks":{"Stopp":[` + good + `],"Stop":[` + good + `]}}`:                     1,
					`{"hooks":{"Stop":[{"hooks":[{"type":"shell","command":"x"}]},` + good + `]}}`: 1,
					`{"hooks":{"Stop":[` + good + `],"PreToolUse":{}}}`:                            0,
					`{"hooks":{"Stop":[` + good + `],"PreToolUse":"x"}}`:                           0,
					`{"hooks":[]}`: 0,
				} {
					assert.Equal(t, len(loaded(t, text)), want, text)
				}
			}},
			{"changes are picked up within a session", func(t *testing.T) {
				h := newHost(t, nil)
				assert.Equal(t, len(h.Stop().Hooks), 0)
				h.project.Write(".claude/settings.json", settingsFor(t, hooks{"Stop": "true"}))
				assert.Equal(t, len(h.Stop().Hooks), 1)
			}},
		}},
		{"- Hooks' PATH is the client's", nil, []hostFact{
			{"a hook is looked up on the client's PATH", func(t *testing.T) {
				bin := realTempDir(t)
				assert.NilError(t, os.WriteFile(filepath.Join(bin, "mine"), []byte("#!/bin/sh\nexit 2\n"), 0o755))
				for path, code := range map[string]int{bin + ":/usr/bin:/bin": 2, "/usr/bin:/bin": 127} {
					assert.Equal(t, newHost(t, hooks{"Stop": "mine"}, fakes.ClaudeEnv([]string{"PATH=" + path})).Stop().Hooks[0].Exit, code)
				}
			}},
		}},
		{"`~/.claude/projects/<cwd", []string{"stop-blocked-twice", "clear-and-continue", "memory-triage"}, []hostFact{
			{"the transcript's path", func(t *testing.T) {
				h := newHost(t, nil)
				key := strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(h.project.Dir())
				assert.Equal(t, h.Transcript(), filepath.Join(h.Home(), ".claude", "projects", key, h.SessionID()+".jsonl"))
			}},
			{"the transcript's lines", transcriptLines},
		}},
		{"The client adds 15–50 ms", nil, []hostFact{
			{"the simulator adds less than the client", func(t *testing.T) {
				h := newHost(t, hooks{"PostToolUse": ":"})
				best := time.Minute
				for range 10 {
					began := time.Now()
					run := h.Write("a", time.Now().String()).Hooks[0]
					best = min(best, time.Since(began)-run.Duration)
				}
				assert.Assert(t, best < 15*time.Millisecond, "%v", best)
			}},
		}},
	}
}

// transcriptLines holds the kinds of lines and the marks of what is not human against the recorded transcripts.
func transcriptLines(t *testing.T) {
	h := newHost(t, hooks{"Stop": "test -e ok && exit 0; echo no >&2; exit 2"})
	h.Prompt("Please do")
	h.Write("ok2", "x")
	h.Stop("First")
	h.Bash("touch ok")
	h.Stop("Second")
	h.Exit("other")
	data, err := os.ReadFile(h.Transcript())
	assert.NilError(t, err)
	recordedTypes := map[string]bool{}
	files, err := filepath.Glob(filepath.Join("testdata", "replay", "*.transcript.jsonl"))
	assert.NilError(t, err)
	for _, f := range files {
		theirs, err := os.ReadFile(f)
		assert.NilError(t, err)
		for line := range strings.Lines(string(theirs)) {
			recordedTypes[lineType(t, line)] = true
		}
	}
	human := 0
	for line := range strings.Lines(string(data)) {
		kind := lineType(t, line)
		assert.Assert(t, recordedTypes[kind], "no recorded transcript has a line of type %s", kind)
		var l struct {
			Type          string          `json:"type"`
			IsMeta        bool            `json:"isMeta"`
			ToolUseResult json.RawMessage `json:"toolUseResult"`
			Message       struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		assert.NilError(t, json.Unmarshal([]byte(line), &l))
		if l.Type == "user" && !l.IsMeta && l.ToolUseResult == nil {
			human++
			assert.Equal(t, string(l.Message.Content), `"Please do"`)
		}
		if strings.Contains(line, "Stop hook feedback") && l.Type == "user" {
			assert.Assert(t, l.IsMeta)
		}
	}
	assert.Equal(t, human, 1)
}

// lineType is a line's type, with that of what it attaches.
func lineType(t *testing.T, line string) string {
	t.Helper()
	var l struct {
		Type       string `json:"type"`
		Subtype    string `json:"subtype"`
		Attachment struct {
			Type string `json:"type"`
		} `json:"attachment"`
	}
	assert.NilError(t, json.Unmarshal([]byte(line), &l), "%s", line)
	return strings.Join([]string{l.Type, l.Subtype, l.Attachment.Type}, "/")
}
