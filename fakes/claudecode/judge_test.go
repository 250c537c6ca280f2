package claudecode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes/claudecode"
)

const block = `{"decision":"block","reason":"because"}`

// Each row pins which answers at Stop the client refuses, what for, and whether the stop is blocked all the same.
func TestJudgeFaults(t *testing.T) {
	for _, c := range []struct {
		exit           int
		stdout, stderr string
		blocked        bool
		fault          string
	}{
		{0, "\n \t" + block + "\n\n", "", true, ""},
		{0, "hello", "", false, ""},
		{0, "log\n" + block, "", false, claudecode.FaultTextAroundJSON},
		{0, block + "\nlog", "", false, claudecode.FaultTextAroundJSON},
		{2, "log\n" + block, "err", true, claudecode.FaultTextAroundJSON},
		{0, `{"decision":"block"`, "", false, claudecode.FaultBadJSON},
		{0, block + block, "", false, claudecode.FaultTwoDocuments},
		{0, "{}\n" + block + "\n", "", false, claudecode.FaultTwoDocuments},
		{0, `{"decision":"allow"}`, "", false, claudecode.FaultWrongValue},
		{0, `{"decision":"block","reason":5}`, "", false, claudecode.FaultWrongValue},
		{0, `{"decision":"block","reason":"because","continue":"yes"}`, "", false, claudecode.FaultWrongValue},
		{0, `{"decision":"block","reason":"because","systemMessage":null}`, "", false, claudecode.FaultWrongValue},
		{0, `{"decision":"block","reason":"because","hookSpecificOutput":{}}`, "", false, claudecode.FaultMissingEventName},
		{0, `{"decision":"block","reason":"because","hookSpecificOutput":{"hookEventName":"PreToolUse"}}`, "", true, claudecode.FaultForeignEventName},
		{0, `{"continue":false,"hookSpecificOutput":{"hookEventName":"PreToolUse"}}`, "", false, claudecode.FaultForeignEventName},
		{2, "", "FAIL: slurp: x.edn (No such file or directory)", false, claudecode.FaultDowngrade},
		{2, " \n", "sh: can't open 'x'", false, claudecode.FaultDowngrade},
		{2, "{}", "No such file or directory", true, ""},
		{2, "text", "No such file or directory", true, ""},
		{2, "", "no such file", true, ""},
		{2, `{"decision":"block"}`, "lost", true, claudecode.FaultBlockWithoutReason},
	} {
		got := claudecode.Judge(claudecode.Run{Event: "Stop", Command: "hook", Exit: c.exit, Stdout: []byte(c.stdout), Stderr: []byte(c.stderr)})
		assert.Equal(t, got.Blocked, c.blocked, "exit %d, stdout %q, stderr %q", c.exit, c.stdout, c.stderr)
		assert.Equal(t, got.Fault, c.fault, "exit %d, stdout %q, stderr %q", c.exit, c.stdout, c.stderr)
		assert.Assert(t, got.Blocked || len(got.Told) == 0, "%+v", got)
	}
}

// Each row pins what the client does with one output; whole sessions are held against the recordings in integration.
func TestJudge(t *testing.T) {
	type run = claudecode.Run
	for _, c := range []struct {
		name string
		run  run
		want claudecode.Reaction
	}{
		{"silence", run{Event: "Stop"}, claudecode.Reaction{}},
		{
			"exit 2",
			run{Event: "Stop", Exit: 2, Stderr: []byte("no\n")},
			claudecode.Reaction{Blocked: true, GoesOn: true, Told: texts("user", "Stop hook feedback:\n[hook]: no\n")},
		},
		{
			"JSON block",
			run{Event: "Stop", Stdout: []byte(block)},
			claudecode.Reaction{Blocked: true, GoesOn: true, Told: texts(
				"user", "Stop hook feedback:\nbecause", "system", `Stop hook blocking error from command: "hook": because`)},
		},
		{
			"JSON block at SessionStart blocks nothing", run{Event: "SessionStart", Value: "startup", Stdout: []byte(block)}, claudecode.Reaction{},
		},
		{
			"exit 2 at SessionStart is shown",
			run{Event: "SessionStart", Value: "startup", Exit: 2, Stderr: []byte("no")},
			claudecode.Reaction{Shown: texts("screen", "no")},
		},
		{
			"plain text at SessionStart is context",
			run{Event: "SessionStart", Value: "startup", Stdout: []byte("hello\n")},
			claudecode.Reaction{Told: texts("system", "SessionStart:startup hook success: hello")},
		},
		{
			"plain text at exit 1 is nothing", run{Event: "UserPromptSubmit", Exit: 1, Stdout: []byte("hello\n")}, claudecode.Reaction{},
		},
		{
			"a prompt is blocked",
			run{Event: "UserPromptSubmit", Stdout: []byte(block)},
			claudecode.Reaction{Blocked: true, Shown: texts("notice", "UserPromptSubmit operation blocked by hook:\nbecause")},
		},
		{
			"exit 2 without a word",
			run{Event: "Stop", Exit: 2},
			claudecode.Reaction{
				Blocked: true, GoesOn: true, Told: texts("user", "Stop hook feedback:\n[hook]: No stderr output"),
				Fault: claudecode.FaultBlockWithoutText, Note: "exit 2 with nothing on stderr: the agent is not told why",
			},
		},
		{
			"legacy approve is an allow",
			run{Event: "PreToolUse", Value: "Edit", Stdout: []byte(`{"decision":"approve"}`)},
			claudecode.Reaction{Permission: "allow"},
		},
		{
			"ask",
			run{Event: "PreToolUse", Value: "Edit", Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}`)},
			claudecode.Reaction{Permission: "ask"},
		},
		{
			"exit 2 beats a rewrite",
			run{
				Event: "PreToolUse", Value: "Edit", Exit: 2, Stderr: []byte("no"),
				Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{}}}`),
			},
			claudecode.Reaction{Blocked: true, Permission: "deny", Told: texts("result", "PreToolUse:Edit hook error: [hook]: no")},
		},
		{
			"a signal blocks nothing",
			run{Event: "Stop", Exit: -1, Signal: "killed", Stderr: []byte("half")},
			claudecode.Reaction{Shown: texts("screen", "Failed with non-blocking status code: half")},
		},
		{
			"a timeout",
			run{Event: "PreToolUse", Exit: -1, TimedOut: true, Stdout: []byte(block), Stderr: []byte("x")},
			claudecode.Reaction{
				Fault: claudecode.FaultTimedOut, Note: "the hook ran into its timeout; what it printed is ignored and nothing is blocked",
				Shown: texts("notice", claudecode.NoAnswerInTime),
			},
		},
		{
			"exit 1 before a tool",
			run{Event: "PreToolUse", Value: "Edit", Exit: 1, Stderr: []byte("x")},
			claudecode.Reaction{Shown: texts("screen", "Failed with non-blocking status code: x")},
		},
		{
			"no such command before a tool",
			run{Event: "PreToolUse", Value: "Edit", Exit: 127},
			claudecode.Reaction{Shown: texts("notice", claudecode.NoUsableAnswer)},
		},
		{
			"SessionEnd says a failure",
			run{Event: "SessionEnd", Value: "other", Exit: 1, Stderr: []byte("broken\n")},
			claudecode.Reaction{Shown: texts("notice", "SessionEnd hook [hook] failed: broken")},
		},
		{
			"an unknown key is noted",
			run{Event: "Stop", Stdout: []byte(`{"warnings":[],"decision":"approve"}`)},
			claudecode.Reaction{Note: "keys the client does not know are dropped: warnings", Unknown: []string{"warnings"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run.Command = "hook"
			got := claudecode.Judge(c.run)
			got.Parts = claudecode.Parts{} // TestParts
			assert.DeepEqual(t, got, c.want)
		})
	}
}

// The hook's own words, for who writes them down: the client's are around them in what is told and shown.
func TestParts(t *testing.T) {
	type run = claudecode.Run
	long := strings.Repeat("x", 10_001)
	for _, c := range []struct {
		name string
		run  run
		want claudecode.Parts
	}{
		{"silence", run{Event: "Stop"}, claudecode.Parts{}},
		{"exit 2", run{Event: "Stop", Exit: 2, Stderr: []byte("no\n")}, claudecode.Parts{Feedback: "[hook]: no\n"}},
		{"a block", run{Event: "Stop", Stdout: []byte(block)}, claudecode.Parts{Feedback: "because", Error: "because", Taken: true}},
		{"a block after a tool", run{Event: "PostToolUse", Value: "Edit", Stdout: []byte(block)}, claudecode.Parts{Error: "because", Taken: true}},
		{"a deny", run{Event: "PreToolUse", Value: "Edit", Stdout: []byte(block)}, claudecode.Parts{Taken: true}},
		{
			"a message and a context",
			run{Event: "Stop", Stdout: []byte(`{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"Stop hook additional context: c"}}`)},
			claudecode.Parts{Message: "m", Context: "Stop hook additional context: c", Taken: true},
		},
		{
			"an end keeps the rest from the agent",
			run{Event: "Stop", Stdout: []byte(`{"continue":false,"stopReason":"r","decision":"block","reason":"x","systemMessage":"m"}`)},
			claudecode.Parts{Message: "m", StopReason: "r", Taken: true},
		},
		{"a refused object", run{Event: "Stop", Stdout: []byte(`{"decision":"allow"}`)}, claudecode.Parts{Refused: true}},
		{"a held block", run{Event: "Stop", StreamsHeld: true, Stdout: []byte(block)}, claudecode.Parts{Refused: true}},
		{"a held message", run{Event: "Stop", StreamsHeld: true, Stdout: []byte(`{"systemMessage":"m"}`)}, claudecode.Parts{Message: "m", Taken: true}},
		{"text", run{Event: "Stop", Stdout: []byte("text")}, claudecode.Parts{}},
		{
			"a preview", run{Event: "Stop", Stdout: []byte(`{"systemMessage":"` + long + `"}`)}, claudecode.Parts{Taken: true, Message: "<persisted-output>\n" +
				"Output too large (9.8KB). Full output saved to: hook-Stop-systemMessage.txt\n\nPreview (first 2KB):\n" + long[:2000] + "\n...\n</persisted-output>"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run.Command = "hook"
			assert.DeepEqual(t, claudecode.Judge(c.run).Parts, c.want)
		})
	}
}

// Observed on 2.1.330: what counts of an answer while a child holds the hook's streams, and of one that names another event.
func TestJudgeHeldAndForeign(t *testing.T) {
	const (
		specific = `{"hookSpecificOutput":{"hookEventName":"PreToolUse",`
		deny     = `"permissionDecision":"deny","permissionDecisionReason":"no"`
		half     = "[hook]: hook output opens a JSON payload"
		injects  = "[hook]: hook output parsed as a document that grants"
	)
	for _, c := range []struct {
		event, stdout string
		exit          int
		held          bool
		blocked       bool
		says          string // in what is told or shown; "": nothing is
	}{
		{"PreToolUse", specific + deny + `}}`, 0, true, true, "hook error: no"},
		{"PreToolUse", block, 1, true, true, "hook error: because"},
		{"PreToolUse", specific + deny + `,"additionalContext":"c"}}`, 0, true, true, injects},
		{"PreToolUse", specific + `"permissionDecision":"allow"}}`, 0, true, true, injects},
		{"PreToolUse", specific + `"updatedInput":{}}}`, 0, true, true, injects},
		{"PreToolUse", specific + `"updatedInput":{}}}`, 2, true, true, "[hook]: err"},
		{"PreToolUse", `{"decision":"approve"}`, 0, true, true, injects},
		{"PreToolUse", `{"decision":"allow"}`, 0, true, true, half},
		{"PreToolUse", `{"decision":`, 0, true, true, half},
		{"PreToolUse", block + block, 0, true, true, half},
		{"PreToolUse", specific + `"permissionDecision":"ask"}}`, 0, true, false, ""},
		{"PreToolUse", `{"systemMessage":"m"}`, 0, true, false, "says: m"},
		{"PreToolUse", "text", 0, true, false, ""},
		{"PreToolUse", "", 0, true, false, ""},
		{"UserPromptSubmit", block, 0, true, true, "because"},
		{"Stop", block, 0, true, false, ""},
		{"Stop", block, 2, true, true, "[hook]: err"},
		{"Stop", `{"decision":"approve","systemMessage":"m"}`, 0, true, false, ""},
		{"Stop", `{"systemMessage":"m"}`, 0, true, false, "says: m"},
		{"Stop", `{"decision":"allow"}`, 0, true, false, ""},
		{"PostToolUse", block, 0, true, false, ""},

		{"Stop", block[:len(block)-1] + `,"systemMessage":"m",` + specific[1:] + deny + `}}`, 0, false, true, "because"},
		{"Stop", specific + deny + `}}`, 0, false, false, ""},
		{"Stop", specific + deny + `}}`, 2, false, false, "non-blocking status code: err"},
		{"Stop", block[:len(block)-1] + `,` + specific[1:] + deny + `},"systemMessage":5}`, 0, false, false, ""},
		{"PostToolUse", block[:len(block)-1] + `,` + specific[1:] + deny + `}}`, 0, false, false, "because"},
		{"PreToolUse", block[:len(block)-1] + `,"hookSpecificOutput":{"hookEventName":"Stop"}}`, 0, false, true, "because"},
		{"PreToolUse", `{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"Stop",` + deny + `}}`, 0, false, false, claudecode.NoUsableAnswer},
		{"PreToolUse", `{"hookSpecificOutput":{"hookEventName":"Stop",` + deny + `}}`, 0, true, false, claudecode.NoUsableAnswer},
		{"PreToolUse", `{"hookSpecificOutput":{"hookEventName":"Stop",` + deny + `}}`, 2, false, true, "[hook]: blocked (exit 2); its output could not be processed"},

		{"Stop", `{"decision":"allow"}`, 2, false, true, "[hook]: err"},
		{"Stop", block + block, 2, false, true, "[hook]: err"},
		{"PreToolUse", `{"decision":}`, 2, false, true, "[hook]: err"},
		{"UserPromptSubmit", `{"decision":"allow"}`, 2, false, true, "[hook]: err"},
	} {
		r := claudecode.Run{Event: c.event, Value: "Edit", Command: "hook", Exit: c.exit, Stdout: []byte(c.stdout), StreamsHeld: c.held}
		if c.exit == 2 {
			r.Stderr = []byte("err")
		}
		got := claudecode.Judge(r)
		assert.Equal(t, got.Blocked, c.blocked, "%+v", r)
		var said []string
		for _, text := range append(got.Told, got.Shown...) {
			said = append(said, text.Text)
		}
		all := strings.Join(said, "\n")
		assert.Assert(t, c.says == "" && all == "" || c.says != "" && strings.Contains(all, c.says), "%+v: %q", r, all)
	}
}

// texts makes texts of pairs of kind and text.
func texts(pairs ...string) []claudecode.Text {
	var each []claudecode.Text
	for i := 0; i < len(pairs); i += 2 {
		each = append(each, claudecode.Text{As: pairs[i], Text: pairs[i+1]})
	}
	return each
}

func TestCombine(t *testing.T) {
	rewrite := func(v string) claudecode.Reaction { return claudecode.Reaction{UpdatedInput: json.RawMessage(v)} }
	for _, c := range []struct {
		name, event string
		each        []claudecode.Reaction
		want        claudecode.Reaction
	}{
		{"none", "Stop", nil, claudecode.Reaction{}},
		{
			"deny beats ask beats allow", "PreToolUse",
			[]claudecode.Reaction{{Permission: "ask"}, {Permission: "deny", Blocked: true}, {Permission: "allow"}},
			claudecode.Reaction{Permission: "deny", Blocked: true},
		},
		{"the last rewrite stands", "PreToolUse", []claudecode.Reaction{rewrite(`{"a":1}`), {}, rewrite(`{"a":2}`)}, rewrite(`{"a":2}`)},
		{"a block drops a rewrite", "PreToolUse", []claudecode.Reaction{rewrite(`{}`), {Blocked: true}}, claudecode.Reaction{Blocked: true}},
		{
			"an end beats blocks at Stop", "Stop",
			[]claudecode.Reaction{{Blocked: true, GoesOn: true, Told: texts("user", "x")}, {Ended: true, Shown: texts("screen", "y")}},
			claudecode.Reaction{Ended: true, Shown: texts("screen", "y")},
		},
		{"faults and notes", "Stop", []claudecode.Reaction{{Fault: "a", Note: "one"}, {Note: "two"}, {Fault: "b"}}, claudecode.Reaction{Fault: "a", Note: "one; two"}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.DeepEqual(t, claudecode.Combine(c.event, c.each), c.want) })
	}
}

func TestCap(t *testing.T) {
	limit := claudecode.NewCap("")
	for range 8 {
		assert.Assert(t, limit.Block())
	}
	assert.Assert(t, !limit.Block())
	assert.Assert(t, strings.Contains(limit.Notice(), " 9 consecutive times"))
	limit.ToolUsed()
	assert.Equal(t, limit.Count(), 0)
	assert.Assert(t, limit.Block())
	limit.Prompted()
	assert.Equal(t, limit.Count(), 0)
	off := claudecode.NewCap("0")
	for range 100 {
		assert.Assert(t, off.Block())
	}
}

// Whatever a hook prints, nothing panics, and an output that says nothing of blocking at exit 0 blocks nothing.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{"", "{", "{}", block, block + block, "x" + block, "\ufeff{}", `{"decision":5}`, `{"hookSpecificOutput":[]}`, "{\"a\":}", "}{"} {
		f.Add("Stop", seed, "No such file or directory", 2)
		f.Add("PreToolUse", seed, "", 0)
	}
	f.Fuzz(func(t *testing.T, event, stdout, stderr string, exit int) {
		r := claudecode.Judge(claudecode.Run{Event: event, Value: "Edit", Command: "hook", Exit: exit, Stdout: []byte(stdout), Stderr: []byte(stderr)})
		if exit == 0 && !strings.Contains(stdout, "block") && !strings.Contains(stdout, "deny") && !strings.Contains(stdout, `\`) {
			assert.Assert(t, !r.Blocked)
		}
		if r.Blocked && claudecode.IsStop(event) {
			assert.Assert(t, len(r.Told) > 0 && r.GoesOn)
		}
	})
}
