//go:build unix

package integration

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

const (
	blockObject = `{"decision":"block","reason":"because-hk"}`
	feedback    = "Stop hook feedback:\n"
)

// toldTwice is how a JSON block of the hook "stop" at Stop reaches the agent.
func toldTwice(reason string) []claudecode.Text {
	return []claudecode.Text{
		told("user", feedback+reason),
		told("system", `Stop hook blocking error from command: "{stop}": `+reason),
	}
}

func outputRows() []hostRow {
	return []hostRow{
		{"- JSON on stdout is read at *any* exit code", []string{"stop-blocked-twice", "stop-retry-limit", "interactive-clear-exit"}, []hostFact{
			{"JSON at any exit code", nil},
			{"pretty-printed and with a byte order mark", nil},
			{"text around JSON makes it plain text", nil},
			{"two documents are an error", nil},
		}},
		{"- Unknown keys are dropped.", []string{"seed-allow-object"}, []hostFact{
			{"unknown keys are dropped", nil},
			{"a wrong value refuses the object", nil},
			{"a missing hookEventName refuses the object", nil},
			{"a refused object at exit 2 blocks with stderr", nil},
			{"a foreign hookEventName drops all but a block beside it", nil},
			{"a foreign deny lets the tool run, and the user reads that nothing was checked", nil},
			{"before a tool the user reads that nothing was checked", nil},
		}},
		{"- Exit 2 blocks where blocking exists", []string{"stop-blocked-plain-exit2", "deny-exit2", "stop-nonblocking-failure", "stop-blocked-twice"}, []hostFact{
			{"exit 2 tells stderr verbatim with the command in front", nil},
			{"exit 2 with a blocking object tells the object's reason", nil},
			{"exit 2 before a tool refuses it", nil},
			{"exit 2 keeps a prompt from the agent", func(t *testing.T) {
				h := newHost(t, hooks{"UserPromptSubmit": says("2", "", "no")})
				turn := h.Prompt("secret")
				assert.Assert(t, turn.Blocked && len(turn.Told) == 0)
				_, err := os.Stat(h.Transcript())
				assert.Assert(t, os.IsNotExist(err))
			}},
			{"other codes tell the agent nothing, and the screen everything", func(t *testing.T) {
				for _, options := range [][]fakes.ClaudeOption{nil, {fakes.ClaudeHeadless()}} {
					turn := newHost(t, hooks{"Stop": says("1", "", "one\ntwo\n")}, options...).Stop()
					assert.Assert(t, !turn.Blocked && len(turn.Told) == 0)
					assert.Equal(t, strings.Contains(turn.ShownText(), "one\ntwo"), options == nil)
				}
			}},
			{"before a tool exit 1 shows nothing, a timeout and a missing command do", nil},
			{"exit 0 tells stderr to nobody", func(t *testing.T) {
				turn := stopAfter(t, says("0", "", "quiet"))
				assert.Equal(t, len(turn.Told)+len(turn.Shown), 0)
			}},
		}},
		{"- **Downgrade**", nil, []hostFact{
			{"the downgrade", nil},
			{"the downgrade at SubagentStop, and not before a tool", func(t *testing.T) {
				command := says("2", "", "No such file or directory")
				h := newHost(t, hooks{"SubagentStop": command, "PreToolUse": `grep -q '"Bash"' || exit 0; ` + command})
				assert.Assert(t, !h.Subagent("Explore", "d", "p").Agent.Stop().Blocked)
				assert.Assert(t, h.Bash("true").Blocked)
			}},
		}},
		{"- **A JSON block on Stop reaches the agent twice**", []string{"stop-blocked-twice", "gauntlet-gate", "subagent-background", "memory-triage"}, []hostFact{
			{"a JSON block is told twice", nil},
			{"a sub-agent's JSON block is told twice under its own name", func(t *testing.T) {
				command := says("0", blockObject, "")
				turn := newHost(t, hooks{"SubagentStop": command}).Subagent("Explore", "d", "p").Agent.Stop()
				assert.DeepEqual(t, turn.Told, []claudecode.Text{
					told("user", feedback+"because-hk"), told("system", `SubagentStop hook blocking error from command: "`+command+`": because-hk`),
				})
			}},
			{"stderr with an object that does not block is told once", nil},
		}},
		{"- `decision:\"block\"` without reason", nil, []hostFact{
			{"a block without a reason", nil},
		}},
		{"- **A child that still holds our stdout or stderr", nil, []hostFact{
			{"a held stream loses a block", nil},
			{"a held stream keeps a deny", nil},
			{"exit 2 and stderr still count", nil},
			{"a child with streams of its own is harmless", nil},
		}},
		{"- No cap on block reasons", nil, []hostFact{
			{"a megabyte of stderr arrives whole", nil},
			{"a long reason arrives whole", nil},
			{"additionalContext, systemMessage and plain stdout above 10,000 characters become a preview", func(t *testing.T) {
				for n, whole := range map[int]bool{10_000: true, 10_001: false} {
					long := strings.Repeat("x", n)
					h := newHost(t, hooks{
						"SessionStart": "printf %s " + long,
						"Stop":         says("0", `{"systemMessage":"`+long+`","hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"`+long+`"}}`, ""),
					})
					stop, start := h.Stop(), h.Turns()[0]
					for _, text := range []claudecode.Text{stop.Told[0], stop.Shown[0], start.Told[0]} {
						assert.Equal(t, strings.Contains(text.Text, long), whole, "%d: %.80q", n, text.Text)
						if whole {
							continue
						}
						assert.Assert(t, cmp.Contains(text.Text, strings.Repeat("x", 2000)))
						assert.Assert(t, len(text.Text) < 3000)
						data, err := os.ReadFile(text.Saved)
						assert.NilError(t, err)
						assert.Equal(t, string(data), long)
					}
				}
			}},
		}},
		{"- `continue:false` ends the agent's work", []string{"gauntlet-continue-false"}, []hostFact{
			{"continue:false beats a block and tells the agent nothing", func(t *testing.T) {
				turn := stopAfter(t, says("2", `{"continue":false,"stopReason":"enough","decision":"block","reason":"because-hk"}`, "details"))
				assert.Assert(t, turn.Ended && !turn.Blocked && !turn.GoesOn && len(turn.Told) == 0)
				assert.Assert(t, cmp.Contains(turn.ShownText(), "enough"))
			}},
			{"continue:false of one hook beats the block of another", nil},
		}},
		{"- Timeout (default 600 s", []string{"stop-timeout", "sessionend-too-slow"}, []hostFact{
			{"the time limits", func(t *testing.T) {
				for event, want := range map[string]time.Duration{
					"Stop": 600 * time.Second, "UserPromptSubmit": 30 * time.Second, "SessionEnd": 1500 * time.Millisecond,
				} {
					assert.Equal(t, loaded(t, settingsFor(t, hooks{event: "x"}))[0].Timeout, want)
				}
				for event, want := range map[string]time.Duration{"Stop": 90 * time.Second, "SessionEnd": 60 * time.Second} {
					assert.Equal(t, loaded(t, withTimeout(event, "90"))[0].Timeout, want)
				}
			}},
			{"a timeout of 0, below 0, or a string drops the handler", func(t *testing.T) {
				for _, timeout := range []string{"0", "-1", `"30"`, "null"} {
					assert.Equal(t, len(loaded(t, withTimeout("Stop", timeout))), 0, timeout)
				}
				assert.Equal(t, loaded(t, withTimeout("Stop", "0.5"))[0].Timeout, 500*time.Millisecond)
			}},
			{"TERM to the group, and what was printed is ignored", func(t *testing.T) {
				for timeout := 0.2; ; timeout *= 4 { // more for a machine on which the hook is not ready to be ended
					project := fakes.NewProject(t, map[string]string{".claude/settings.json": strings.Replace(withTimeout("Stop", fmt.Sprint(timeout)), `"x"`,
						`"trap 'touch term' TERM; (trap 'touch child; exit' TERM; touch ready; sleep 20000 & wait) & printf '{\"decision\":\"block\",\"reason\":\"r\"}'; sleep 20000 & wait; exit 2"`, 1)})
					turn := fakes.NewClaude(t, project.Dir()).Stop()
					assert.Assert(t, turn.Hooks[0].TimedOut && !turn.Blocked && len(turn.Told)+len(turn.Shown) == 0, "%s", turn)
					if _, err := os.Stat(project.Path("ready")); err == nil || timeout > 60 {
						assert.Equal(t, project.Read("term")+project.Read("child"), "")
						return
					}
				}
			}},
			{"KILL 1.5 s after TERM", func(t *testing.T) {
				fullRun(t)
				project := fakes.NewProject(t, map[string]string{".claude/settings.json": strings.Replace(withTimeout("Stop", "0.2"), `"x"`,
					`"trap '' TERM; sleep 20; sleep 20"`, 1)})
				run := fakes.NewClaude(t, project.Dir()).Stop().Hooks[0]
				assert.Assert(t, run.TimedOut && run.Signal == "killed", "%+v", run)
				assert.Assert(t, run.Duration > 1500*time.Millisecond, "%v", run.Duration)
			}},
			{"SessionEnd has 1.5 s and says when it was too short", nil},
			{"SessionEnd ignores JSON", nil},
		}},
		{"- Hooks of one event run in parallel", nil, []hostFact{
			{"feedback in order of completion", nil},
			{"the same command text runs once, a plugin's copy again", func(t *testing.T) {
				one := []byte(settingsFor(t, hooks{"Stop": "x"}))
				all, _ := claudecode.LoadHooks([]claudecode.Source{
					{Scope: "user", Path: "a", Data: one}, {Scope: "local", Path: "b", Data: one}, {Scope: "plugin", Path: "c", Data: one},
				})
				assert.Equal(t, len(all.For("Stop", "", nil)), 2)
			}},
			{"if is judged on tool events, and never lets a handler run on others", nil},
		}},
	}
}

// loaded are the handlers of one settings file.
func loaded(t *testing.T, settings string) []claudecode.Handler {
	t.Helper()
	all, _ := claudecode.LoadHooks([]claudecode.Source{{Scope: "project", Path: "settings.json", Data: []byte(settings)}})
	return slices.Clone(all.All())
}

func withTimeout(event, timeout string) string {
	return fmt.Sprintf(`{"hooks":{%q:[{"hooks":[{"type":"command","command":"x","timeout":%s}]}]}}`, event, timeout)
}
