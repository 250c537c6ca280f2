//go:build unix

package integration

import (
	"fmt"
	"runtime"
	"strings"
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
			{"one line, one newline, EOF", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": "cat >in"})
				h.Stop("two\nlines")
				in := h.project.Read("in")
				assert.Assert(t, strings.HasPrefix(in, "{") && strings.HasSuffix(in, "}\n"))
				assert.Equal(t, strings.Count(in, "\n"), 1)
			}},
			{"the streams are sockets that cannot be opened by path", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": "for fd in 0 1 2; do test -S /dev/fd/$fd || exit 1; done; (: </dev/stdin) 2>/dev/null && exit 3; exit 0"})
				code := h.Stop().Hooks[0].Exit
				// What a socket does when it is opened by path was observed on Linux.
				assert.Assert(t, code == 0 || code == 3 && runtime.GOOS != "linux", "%d", code)
			}},
			{"not reading the event is harmless", func(t *testing.T) {
				turn := newHost(t, hooks{"Stop": says("2", "", "unread")}).Stop(strings.Repeat("x", 1<<20))
				assert.Assert(t, turn.Blocked)
			}},
		}},
		{"Common fields:", []string{"stop-blocked-twice", "subagent-background"}, []hostFact{
			{"cwd follows cd", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": "pwd >&2"})
				h.project.Write("sub/file", "")
				h.Bash("cd sub && true")
				turn := h.Stop()
				assert.Equal(t, turn.Hooks[0].Stderr, h.project.Path("sub")+"\n")
				assert.Assert(t, cmp.Contains(turn.Event("Stop").Input, `"cwd":"`+h.project.Path("sub")+`"`))
				assert.Assert(t, cmp.Contains(turn.Event("Stop").Input, `"transcript_path":"`+h.Transcript()+`"`))
			}},
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
			{"the fields of PreToolUse", func(t *testing.T) {
				h := newHost(t, nil)
				for _, turn := range []*fakes.Turn{h.Write("a", "b"), h.Edit("a", "b", "c"), h.Bash("true"), h.Read("a")} {
					sameKeysAsRecorded(t, "PreToolUse", turn.Event("PreToolUse").Input)
				}
			}},
			{"file_path is absolute and replace_all always there", func(t *testing.T) {
				h := newHost(t, nil)
				h.Write("a", "b")
				assert.Assert(t, cmp.Contains(h.Edit("a", "b", "c").Event("PreToolUse").Input,
					`"tool_input":{"file_path":"`+h.project.Path("a")+`","old_string":"b","new_string":"c","replace_all":false}`))
				assert.Assert(t, cmp.Contains(h.Edit("a", "c", "d", fakes.ReplaceAll()).Event("PreToolUse").Input, `"replace_all":true`))
			}},
		}},
		{"| PostToolUse | + tool_response", []string{"edit-multistep", "write-clean", "memory-triage"}, []hostFact{
			{"the fields of PostToolUse", func(t *testing.T) {
				h := newHost(t, nil)
				h.project.Write("old", "a\nb\nc\n")
				for _, turn := range []*fakes.Turn{
					h.Write("new", "b"), h.Edit("old", "b\n", "x\n"), h.Read("old"), h.Edit("old", "x\n", "y\n"), h.Bash("true"),
				} {
					sameKeysAsRecorded(t, "PostToolUse", turn.Event("PostToolUse").Input)
				}
			}},
			{"a Write says create or update", func(t *testing.T) {
				h := newHost(t, nil)
				assert.Assert(t, cmp.Contains(h.Write("a", "1\n").Event("PostToolUse").Input, `"structuredPatch":[],"originalFile":null`))
				assert.Assert(t, cmp.Contains(h.Write("a", "2\n").Event("PostToolUse").Input, `"tool_response":{"type":"update"`))
			}},
			{"a Bash has its standard error merged in", func(t *testing.T) {
				turn := newHost(t, nil).Bash("echo one; echo two >&2; echo three")
				assert.Equal(t, turn.ToolResult, "one\ntwo\nthree")
				assert.Assert(t, cmp.Contains(turn.Event("PostToolUse").Input, `"stdout":"one\ntwo\nthree","stderr":""`))
			}},
		}},
		{"| PostToolUseFailure | error", []string{"clear-and-continue", "stop-blocked-twice"}, []hostFact{
			{"a Bash that fails goes to PostToolUseFailure", func(t *testing.T) {
				turn := newHost(t, nil).Bash("echo out; exit 3")
				assert.Assert(t, turn.Event("PostToolUse") == nil)
				sameKeysAsRecorded(t, "PostToolUseFailure", turn.Event("PostToolUseFailure").Input)
				assert.Assert(t, cmp.Contains(turn.Event("PostToolUseFailure").Input, `"error":"Exit code 3\nout","is_interrupt":false`))
			}},
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
			{"Edit and Write need no Read before", func(t *testing.T) {
				h := newHost(t, nil)
				h.project.Write("a", "text")
				assert.Assert(t, !h.Edit("a", "text", "more").ToolFailed)
				assert.Assert(t, !h.Write("a", "other").ToolFailed)
				assert.Equal(t, h.project.Read("a"), "other")
			}},
		}},
		{"Environment: CLAUDE_PROJECT_DIR", []string{"start-in-subdir", "stop-blocked-twice"}, []hostFact{
			{"CLAUDE_PROJECT_DIR is the start folder", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": `echo "$CLAUDE_PROJECT_DIR $CLAUDE_CODE_SESSION_ID $CLAUDECODE" >&2`})
				h.project.Write("sub/.git/HEAD", "")
				h.Bash("cd sub")
				assert.Equal(t, h.Stop().Hooks[0].Stderr, h.project.Dir()+" "+h.SessionID()+" 1\n")
			}},
			{"there is no FILE_PATH, NEW_STRING, SESSION_ID", func(t *testing.T) {
				h := newHost(t, hooks{"PreToolUse": `printf '<%s>' "$FILE_PATH" "$NEW_STRING" "$SESSION_ID" >&2`})
				assert.Equal(t, h.Write("a", "b").Hooks[0].Stderr, "<><><>")
			}},
			{"CLAUDE_ENV_FILE at SessionStart only", func(t *testing.T) {
				h := newHost(t, hooks{"SessionStart": `echo "$CLAUDE_ENV_FILE" >&2`, "Stop": `echo "<$CLAUDE_ENV_FILE>" >&2`})
				assert.Assert(t, strings.HasSuffix(h.Start("startup").Hooks[0].Stderr, "sessionstart-hook-0.sh\n"))
				assert.Equal(t, h.Stop().Hooks[0].Stderr, "<>\n")
			}},
		}},
		{"The hook runs under `/bin/sh -c`", nil, []hostFact{
			{"a hook has its own process group and no terminal", func(t *testing.T) {
				h := newHost(t, hooks{"Stop": `ps -o pgid= -p $$ >&2; echo $$ >&2; test -t 0 && exit 1; exit 0`})
				var group, pid int
				run := h.Stop().Hooks[0]
				_, err := fmt.Sscan(run.Stderr, &group, &pid)
				assert.NilError(t, err, run.Stderr)
				assert.Equal(t, group, pid)
				assert.Equal(t, run.Exit, 0)
			}},
			{"the args form has no shell and CLAUDE_PROJECT_DIR replaced", func(t *testing.T) {
				project := fakes.NewProject(t, map[string]string{
					".claude/settings.json": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh","args":["${CLAUDE_PROJECT_DIR}/hook.sh","$HOME"]}]}]}}`,
					"hook.sh":               `printf '%s' "$1" >&2; exit 2`,
				})
				turn := fakes.NewClaude(t, project.Dir()).Stop()
				assert.Assert(t, strings.HasSuffix(turn.ToldText(), "]: $HOME"), turn.ToldText())
			}},
		}},
	}
}
