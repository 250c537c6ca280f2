//go:build unix

package integration

import (
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// hostRows are all rows, in the order of the page.
func hostRows() []hostRow {
	var rows []hostRow
	for _, section := range [][]hostRow{inputRows(), outputRows(), stopRows(), preToolUseRows(), postToolUseRows(), settingsRows()} {
		rows = append(rows, section...)
	}
	return rows
}

func inputRows() []hostRow {
	return []hostRow{
		{"One line of JSON", []string{"stop-blocked-twice"}, []hostFact{
			{"one line, one newline, EOF", nil},
			{"the streams are sockets that cannot be opened by path", nil},
			{"not reading the event is harmless", nil},
		}},
		{"Common fields:", []string{"stop-blocked-twice", "subagent-background"}, []hostFact{
			{"cwd follows cd", nil},
			{"inside of a sub-agent there are agent_id and agent_type", func(t *testing.T) {
				h := newHost(t, hooks{"PreToolUse": "true"})
				agent := h.Subagent("Explore", "Look", "Look around").Agent
				run := agent.Write("x", "")
				assert.Assert(t, cmp.Contains(run.Event("PreToolUse").Input, `"agent_id":"`+agent.ID+`","agent_type":"Explore"`))
			}},
		}},
		{"| Stop | stop_hook_active", []string{"background-shell", "stop-blocked-twice"}, []hostFact{
			{"the fields of Stop", func(t *testing.T) {
				h := newHost(t, nil)
				sameKeysAsRecorded(t, "Stop", h.Stop().Event("Stop").Input)
				h.Background("sleep 9", "Nap")
				sameKeysAsRecorded(t, "Stop", h.Stop().Event("Stop").Input)
			}},
		}},
		{"| SubagentStop | the same", []string{"subagent-background", "compact"}, []hostFact{
			{"the fields of SubagentStop", func(t *testing.T) {
				h := newHost(t, nil)
				sub := h.Subagent("general-purpose", "Look", "Look around")
				sameKeysAsRecorded(t, "SubagentStop", sub.Agent.Stop().Event("SubagentStop").Input)
			}},
			{"compact fires SubagentStop once with an empty agent_type", func(t *testing.T) {
				turn := newHost(t, nil).Compact()
				var fired []string
				for _, e := range turn.Events {
					fired = append(fired, e.Event)
				}
				assert.DeepEqual(t, fired, []string{"PreCompact", "SubagentStop", "SessionStart", "PostCompact"})
				assert.Assert(t, cmp.Contains(turn.Event("SubagentStop").Input, `"agent_type":""`))
			}},
		}},
		{"| PreToolUse | tool_name", []string{"edit-multistep", "write-clean", "memory-triage"}, []hostFact{
			{"the fields of PreToolUse", nil},
			{"file_path is absolute and replace_all always there", func(t *testing.T) {
				h := newHost(t, nil)
				h.Write("a", "b")
				assert.Assert(t, cmp.Contains(h.Edit("a", "b", "c").Event("PreToolUse").Input,
					`"tool_input":{"file_path":"`+h.project.Path("a")+`","old_string":"b","new_string":"c","replace_all":false}`))
				assert.Assert(t, cmp.Contains(h.Edit("a", "c", "d", fakes.ReplaceAll()).Event("PreToolUse").Input, `"replace_all":true`))
			}},
		}},
		{"| PostToolUse | + tool_response", []string{"edit-multistep", "write-clean", "memory-triage"}, []hostFact{
			{"the fields of PostToolUse", nil},
			{"a Write says create or update", nil},
			{"a Bash has its standard error merged in", nil},
		}},
		{"| PostToolUseFailure | error", []string{"clear-and-continue", "stop-blocked-twice"}, []hostFact{
			{"a Bash that fails goes to PostToolUseFailure", nil},
		}},
		{"| SessionStart | source", []string{"clear-and-continue", "resume-and-fork", "compact"}, []hostFact{
			{"SessionStart and its sources", func(t *testing.T) {
				h := newHost(t, nil, fakes.ClaudeHeadless())
				for _, source := range []string{"startup", "resume", "fork"} {
					run := h.Start(source).Event("SessionStart")
					sameKeysAsRecorded(t, "SessionStart", run.Input)
					assert.Assert(t, cmp.Contains(run.Input, `"source":"`+source+`"`))
				}
				first := h.SessionID()
				turn := h.Clear()
				assert.Equal(t, turn.Events[0].Event+" "+turn.Events[1].Event, "SessionEnd SessionStart")
				assert.Assert(t, cmp.Contains(turn.Events[0].Input, `"reason":"clear"`))
				assert.Assert(t, cmp.Contains(turn.Events[1].Input, `"source":"clear"`))
				assert.Assert(t, first != h.SessionID())
			}},
		}},
		{"| SessionEnd | reason", []string{"clear-and-continue", "interactive-clear-exit"}, []hostFact{
			{"SessionEnd and its reasons", func(t *testing.T) {
				for _, reason := range []string{"resume", "logout", "prompt_input_exit", "other"} {
					h := newHost(t, nil)
					h.Prompt("x")
					input := h.Exit(reason).Event("SessionEnd").Input
					sameKeysAsRecorded(t, "SessionEnd", input)
					assert.Assert(t, cmp.Contains(input, `"reason":"`+reason+`"`))
				}
			}},
		}},
		{"| UserPromptSubmit | prompt", []string{"background-shell", "subagent-background"}, []hostFact{
			{"UserPromptSubmit, for notifications too", func(t *testing.T) {
				h := newHost(t, nil)
				sameKeysAsRecorded(t, "UserPromptSubmit", h.Prompt("hello").Event("UserPromptSubmit").Input)
				task := h.Background("true", "Quick").TaskID
				h.Stop()
				input := h.Report(task).Event("UserPromptSubmit").Input
				assert.Assert(t, cmp.Contains(input, `"prompt":"<task-notification>\n<task-id>`+task))
				assert.Assert(t, cmp.Contains(input, `Background command \"Quick\" completed (exit code 0)`))
			}},
		}},
		{"An Edit whose old_string does not match", nil, []hostFact{
			{"an Edit that does not match fires nothing", func(t *testing.T) {
				h := newHost(t, hooks{"PreToolUse": "touch ran"})
				h.project.Write("a", "text text")
				for _, turn := range []*fakes.Turn{h.Edit("a", "absent", "x"), h.Edit("a", "text", "x"), h.Edit("no file", "a", "b")} {
					assert.Equal(t, len(turn.Events), 0)
					assert.Assert(t, turn.ToolFailed && !turn.ToolRan && !turn.Blocked)
				}
				assert.Equal(t, h.project.Read("a"), "text text")
			}},
			{"Edit and Write need no Read before", nil},
		}},
		{"Environment: CLAUDE_PROJECT_DIR", []string{"start-in-subdir", "stop-blocked-twice"}, []hostFact{
			{"CLAUDE_PROJECT_DIR is the start folder", nil},
			{"there is no FILE_PATH, NEW_STRING, SESSION_ID", nil},
			{"CLAUDE_ENV_FILE at SessionStart only", nil},
		}},
		{"The hook runs under `/bin/sh -c`", nil, []hostFact{
			{"a hook has its own process group and no terminal", nil},
			{"the args form has no shell and CLAUDE_PROJECT_DIR replaced", nil},
		}},
	}
}
