//go:build unix

package integration

import (
	"os"
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
