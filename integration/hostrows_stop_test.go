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
)

// active is what stop_hook_active said at a stop.
func active(turn *fakes.Turn) bool {
	return strings.Contains(turn.Event("Stop").Input, `"stop_hook_active":true`)
}

func stopRows() []hostRow {
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
			{"8 blocks are honoured, the 9th is overridden", nil},
			{"a tool use resets the count", nil},
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
			{"additionalContext makes the agent go on, as a reminder", nil},
			{"additionalContext counts toward the cap", nil},
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
			{"we send approve: no effect", nil},
		}},
		{"| exit 2, details on stderr: Claude must continue", nil, []hostFact{
			{"we send a block: told once, the user told, the downgrade disarmed", nil},
			{"we send a portable block: the object's reason, and stderr for who reads no JSON", nil},
		}},
		{"| exit 1: Claude is informed, can stop", nil, []hostFact{
			{"we send a report the first time: the agent gets a turn to read it, then can stop", nil},
		}},
		{"| required REPL missing", nil, []hostFact{
			{"we send a report for a missing REPL", nil},
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
