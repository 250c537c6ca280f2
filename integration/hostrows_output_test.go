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

// toldTwice is how a JSON block at Stop reaches the agent.
func toldTwice(command, reason string) []claudecode.Text {
	return []claudecode.Text{
		told("user", feedback+reason),
		told("system", `Stop hook blocking error from command: "`+command+`": `+reason),
	}
}

// outcomes checks that a Stop hook with each of these answers blocks or does not, with this fault.
func outcomes(cases ...struct {
	exit, stdout, stderr string
	blocked              bool
	fault                string
},
) func(t *testing.T) {
	return func(t *testing.T) {
		for _, c := range cases {
			turn := stopAfter(t, says(c.exit, c.stdout, c.stderr))
			assert.Equal(t, turn.Blocked, c.blocked, "exit %s, stdout %q, stderr %q", c.exit, c.stdout, c.stderr)
			assert.Equal(t, turn.Hooks[0].Reaction.Fault, c.fault, "exit %s, stdout %q, stderr %q", c.exit, c.stdout, c.stderr)
			if !c.blocked {
				assert.Equal(t, len(turn.Told), 0, "%s", turn)
			}
		}
	}
}

type stopCase = struct {
	exit, stdout, stderr string
	blocked              bool
	fault                string
}

func outputRows() []hostRow {
	return []hostRow{
		{"- JSON on stdout is read at *any* exit code", []string{"stop-blocked-twice", "stop-retry-limit", "interactive-clear-exit"}, []hostFact{
			{"JSON at any exit code", outcomes(
				stopCase{"0", blockObject, "", true, ""}, stopCase{"1", blockObject, "", true, ""},
				stopCase{"2", blockObject, "", true, ""}, stopCase{"75", blockObject, "", true, ""},
			)},
			{"pretty-printed and with a byte order mark", outcomes(
				stopCase{"0", "{\n  \"decision\": \"block\",\n  \"reason\": \"because-hk\"\n}\n", "", true, ""},
				stopCase{"0", "\ufeff" + blockObject, "", true, ""}, stopCase{"0", "\n \t" + blockObject + "\n\n", "", true, ""},
			)},
			{"text around JSON makes it plain text", outcomes(
				stopCase{"0", "log\n" + blockObject, "", false, claudecode.FaultTextAroundJSON},
				stopCase{"0", blockObject + "\nlog", "", false, claudecode.FaultTextAroundJSON},
				stopCase{"2", "log\n" + blockObject, "err", true, claudecode.FaultTextAroundJSON},
				stopCase{"0", `{"decision":"block"`, "", false, claudecode.FaultBadJSON},
				stopCase{"0", "hello", "", false, ""},
			)},
			{"two documents are an error", outcomes(
				stopCase{"0", blockObject + blockObject, "", false, claudecode.FaultTwoDocuments},
				stopCase{"0", "{}\n" + blockObject + "\n", "", false, claudecode.FaultTwoDocuments},
			)},
		}},
		{"- Unknown keys are dropped.", []string{"seed-allow-object"}, []hostFact{
			{"unknown keys are dropped", outcomes(stopCase{"0", `{"warnings":["w"],"decision":"block","reason":"because-hk","x":{"y":1}}`, "", true, ""})},
			{"a wrong value refuses the object", outcomes(
				stopCase{"0", `{"decision":"allow"}`, "", false, claudecode.FaultWrongValue},
				stopCase{"0", `{"decision":"block","reason":5}`, "", false, claudecode.FaultWrongValue},
				stopCase{"0", `{"decision":"block","reason":"because-hk","continue":"yes"}`, "", false, claudecode.FaultWrongValue},
				stopCase{"0", `{"decision":"block","reason":"because-hk","systemMessage":null}`, "", false, claudecode.FaultWrongValue},
			)},
			{"a missing or foreign hookEventName refuses the object", outcomes(
				stopCase{"0", `{"decision":"block","reason":"because-hk","hookSpecificOutput":{}}`, "", false, claudecode.FaultMissingEventName},
				stopCase{"0", `{"decision":"block","reason":"because-hk","hookSpecificOutput":{"hookEventName":"PreToolUse"}}`, "", false, claudecode.FaultForeignEventName},
			)},
			{"before a tool the user reads that nothing was checked", func(t *testing.T) {
				turn := newHost(t, hooks{"PreToolUse": says("0", `{"decision":"allow"}`, "")}).Write("a", "b")
				assert.Assert(t, turn.ToolRan && !turn.Blocked)
				assert.DeepEqual(t, turn.Shown, []claudecode.Text{told("notice", claudecode.NoUsableAnswer)})
			}},
		}},
		{"- Exit 2 blocks where blocking exists", []string{"stop-blocked-plain-exit2", "deny-exit2", "stop-nonblocking-failure", "stop-blocked-twice"}, []hostFact{
			{"exit 2 tells stderr verbatim with the command in front", func(t *testing.T) {
				command := says("2", "", "\x1b[31mred\x1b[0m\n\n")
				turn := stopAfter(t, command)
				assert.DeepEqual(t, turn.Told, []claudecode.Text{told("user", feedback+"["+command+"]: \x1b[31mred\x1b[0m\n\n")})
			}},
			{"exit 2 with a blocking object tells the object's reason", func(t *testing.T) {
				command := says("2", blockObject, "other")
				assert.DeepEqual(t, stopAfter(t, command).Told, toldTwice(command, "because-hk"))
			}},
			{"exit 2 before a tool refuses it", func(t *testing.T) {
				command := says("2", "", "no\n")
				turn := newHost(t, hooks{"PreToolUse": command}).Write("a", "b")
				assert.Assert(t, turn.Blocked && !turn.ToolRan && len(turn.Files) == 0)
				assert.Equal(t, turn.ToolResult, "PreToolUse:Write hook error: ["+command+"]: no\n")
			}},
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
			{"exit 0 tells stderr to nobody", func(t *testing.T) {
				turn := stopAfter(t, says("0", "", "quiet"))
				assert.Equal(t, len(turn.Told)+len(turn.Shown), 0)
			}},
		}},
		{"- **Downgrade**", nil, []hostFact{
			{"the downgrade", outcomes(
				stopCase{"2", "", "FAIL: slurp: x.edn (No such file or directory)", false, claudecode.FaultDowngrade},
				stopCase{"2", " \n", "sh: can't open 'x'", false, claudecode.FaultDowngrade},
				stopCase{"2", "{}", "No such file or directory", true, ""},
				stopCase{"2", "text", "No such file or directory", true, ""},
				stopCase{"2", "", "no such file", true, ""},
			)},
			{"the downgrade at SubagentStop, and not before a tool", func(t *testing.T) {
				command := says("2", "", "No such file or directory")
				h := newHost(t, hooks{"SubagentStop": command, "PreToolUse": `grep -q '"Bash"' || exit 0; ` + command})
				assert.Assert(t, !h.Subagent("Explore", "d", "p").Agent.Stop().Blocked)
				assert.Assert(t, h.Bash("true").Blocked)
			}},
		}},
		{"- **A JSON block on Stop reaches the agent twice**", []string{"stop-blocked-twice", "gauntlet-gate", "subagent-background", "memory-triage"}, []hostFact{
			{"a JSON block is told twice", func(t *testing.T) {
				command := says("0", blockObject, "")
				assert.DeepEqual(t, stopAfter(t, command).Told, toldTwice(command, "because-hk"))
			}},
			{"a sub-agent's JSON block is told twice under its own name", func(t *testing.T) {
				command := says("0", blockObject, "")
				turn := newHost(t, hooks{"SubagentStop": command}).Subagent("Explore", "d", "p").Agent.Stop()
				assert.DeepEqual(t, turn.Told, []claudecode.Text{
					told("user", feedback+"because-hk"), told("system", `SubagentStop hook blocking error from command: "`+command+`": because-hk`),
				})
			}},
			{"stderr with an object that does not block is told once", func(t *testing.T) {
				for _, object := range []string{"{}", `{"systemMessage":"hello"}`, `{"decision":"approve"}`} {
					command := says("2", object, "details\n")
					assert.DeepEqual(t, stopAfter(t, command).Told, []claudecode.Text{told("user", feedback+"["+command+"]: details\n")})
				}
			}},
		}},
		{"- `decision:\"block\"` without reason", nil, []hostFact{
			{"a block without a reason", func(t *testing.T) {
				command := says("2", `{"decision":"block"}`, "lost")
				turn := stopAfter(t, command)
				assert.DeepEqual(t, turn.Told, toldTwice(command, "Blocked by hook"))
				assert.Equal(t, turn.Hooks[0].Reaction.Fault, claudecode.FaultBlockWithoutReason)
			}},
		}},
		{"- **A child that still holds our stdout or stderr", nil, []hostFact{
			{"a held stream loses a block", func(t *testing.T) {
				turn := stopAfter(t, "sleep 5 & "+says("0", blockObject, ""))
				assert.Assert(t, !turn.Blocked && turn.Hooks[0].StreamsHeld)
				assert.Equal(t, turn.Hooks[0].Reaction.Fault, claudecode.FaultStreamHeld)
				assert.Assert(t, turn.Hooks[0].Duration < 4*time.Second)
			}},
			{"a held stream loses a rewrite", func(t *testing.T) {
				h := newHost(t, hooks{"PreToolUse": `sleep 5 >&2 & printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"file_path":"%s/a","content":"new"}}}' "$PWD"`})
				assert.Equal(t, h.Write("a", "old").Files[0].After, "old")
			}},
			{"exit 2 and stderr still count", func(t *testing.T) {
				assert.Assert(t, stopAfter(t, "sleep 5 & "+says("2", "{}", "details")).Blocked)
			}},
			{"a child with streams of its own is harmless", func(t *testing.T) {
				turn := stopAfter(t, "sleep 5 <&- >/dev/null 2>&1 & "+says("0", blockObject, ""))
				assert.Assert(t, turn.Blocked && !turn.Hooks[0].StreamsHeld)
			}},
		}},
		{"- No cap on block reasons", nil, []hostFact{
			{"a megabyte of stderr arrives whole", func(t *testing.T) {
				turn := stopAfter(t, "head -c 1048576 /dev/zero | tr '\\0' x >&2; exit 2")
				assert.Assert(t, strings.HasSuffix(turn.Told[0].Text, "]: "+strings.Repeat("x", 1<<20)))
			}},
			{"a long reason arrives whole", func(t *testing.T) {
				reason := strings.Repeat("r", 50_000)
				assert.Equal(t, stopAfter(t, says("0", `{"decision":"block","reason":"`+reason+`"}`, "")).Told[0].Text, feedback+reason)
			}},
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
			{"continue:false of one hook beats the block of another", func(t *testing.T) {
				project := fakes.NewProject(t, map[string]string{
					".claude/settings.json":       settingsFor(t, hooks{"Stop": says("2", "", "no")}),
					".claude/settings.local.json": settingsFor(t, hooks{"Stop": says("0", `{"continue":false}`, "")}),
				})
				turn := fakes.NewClaude(t, project.Dir()).Stop()
				assert.Assert(t, turn.Ended && !turn.Blocked && len(turn.Told) == 0)
			}},
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
				project := fakes.NewProject(t, map[string]string{".claude/settings.json": strings.Replace(withTimeout("Stop", "0.2"), `"x"`,
					`"trap 'touch term' TERM; (trap 'touch child; exit' TERM; sleep 5 & wait) & printf '{\"decision\":\"block\",\"reason\":\"r\"}'; sleep 5 & wait; exit 2"`, 1)})
				turn := fakes.NewClaude(t, project.Dir()).Stop()
				assert.Assert(t, turn.Hooks[0].TimedOut && !turn.Blocked && len(turn.Told)+len(turn.Shown) == 0, "%s", turn)
				assert.Equal(t, project.Read("term")+project.Read("child"), "")
			}},
			{"KILL 1.5 s after TERM", func(t *testing.T) {
				project := fakes.NewProject(t, map[string]string{".claude/settings.json": strings.Replace(withTimeout("Stop", "0.2"), `"x"`,
					`"trap '' TERM; sleep 20; sleep 20"`, 1)})
				run := fakes.NewClaude(t, project.Dir()).Stop().Hooks[0]
				assert.Assert(t, run.TimedOut && run.Signal == "killed", "%+v", run)
				assert.Assert(t, run.Duration > 1500*time.Millisecond && run.Duration < 10*time.Second, "%v", run.Duration)
			}},
			{"SessionEnd has 1.5 s and says when it was too short", func(t *testing.T) {
				turn := newHost(t, hooks{"SessionEnd": "sleep 20"}).Exit("other")
				assert.DeepEqual(t, turn.Shown, []claudecode.Text{told("notice", "SessionEnd hook [sleep 20] failed: Hook cancelled")})
				assert.Assert(t, turn.Hooks[0].Duration < 10*time.Second)
			}},
			{"SessionEnd ignores JSON", func(t *testing.T) {
				turn := newHost(t, hooks{"SessionEnd": says("0", `{"continue":false,"systemMessage":"m"}`, "")}).Exit("other")
				assert.Assert(t, !turn.Ended && len(turn.Told)+len(turn.Shown) == 0)
			}},
		}},
		{"- Hooks of one event run in parallel", nil, []hostFact{
			{"feedback in order of completion", func(t *testing.T) {
				project := fakes.NewProject(t, map[string]string{
					".claude/settings.json":       settingsFor(t, hooks{"Stop": "until test -e go; do sleep 0.01; done; sleep 0.2; echo late >&2; exit 2"}),
					".claude/settings.local.json": settingsFor(t, hooks{"Stop": "touch go; echo early >&2; exit 2"}),
				})
				turn := fakes.NewClaude(t, project.Dir()).Stop()
				assert.Assert(t, strings.HasSuffix(turn.Told[0].Text, "early\n") && strings.HasSuffix(turn.Told[1].Text, "late\n"), "%s", turn)
			}},
			{"the same command text runs once, a plugin's copy again", func(t *testing.T) {
				one := []byte(settingsFor(t, hooks{"Stop": "x"}))
				all, _ := claudecode.LoadHooks([]claudecode.Source{
					{Scope: "user", Path: "a", Data: one}, {Scope: "local", Path: "b", Data: one}, {Scope: "plugin", Path: "c", Data: one},
				})
				assert.Equal(t, len(all.For("Stop", "", nil)), 2)
			}},
			{"if is judged on tool events, and never lets a handler run on others", func(t *testing.T) {
				entry := `{"hooks":[{"type":"command","if":"Edit(**/*.clj)","command":"touch ran"}]}`
				project := fakes.NewProject(t, map[string]string{
					".claude/settings.json": `{"hooks":{"PreToolUse":[` + entry + `],"Stop":[` + entry + `]}}`, "a.clj": "1", "a.txt": "1",
				})
				claude := fakes.NewClaude(t, project.Dir())
				assert.Equal(t, len(claude.Edit("a.clj", "1", "2").Hooks), 1)
				assert.Equal(t, len(claude.Edit("a.txt", "1", "2").Hooks), 0)
				assert.Equal(t, len(claude.Write("a.clj", "3").Hooks), 0)
				assert.Equal(t, len(claude.Stop().Hooks), 0)
			}},
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
