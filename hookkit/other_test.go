package hookkit

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

type recordedEvent struct {
	name string
	data []byte
}

// others are events without a type of their own, as real clients wrote them, from a file in the txtar format.
func others(tb testing.TB) []recordedEvent {
	tb.Helper()
	data, err := os.ReadFile("testdata/others.txtar")
	assert.NilError(tb, err)
	var events []recordedEvent
	for _, section := range strings.Split(string(data), "\n-- ")[1:] {
		name, event, found := strings.Cut(section, " --\n")
		assert.Assert(tb, found, section)
		events = append(events, recordedEvent{name, []byte(event)})
	}
	return events
}

// said is what a hook left: stdout, and after a bar stderr.
func said(stdout, stderr string) string {
	return strings.TrimSuffix(stdout, "\n") + " | " + strings.TrimSuffix(stderr, "\n")
}

func TestOtherRecorded(t *testing.T) {
	// Every recorded event without a type reaches its handler, and each decision is written only where the host takes it.
	const (
		permission = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`
		noBlock    = " | A hook wanted to block this event, which this host has no way for: no"
		noGrant    = " | A hook granted a permission, which this host does not take from a hook here."
		noAgent    = "The agent cannot be told at this event: a"
		user       = `{"systemMessage":"u"}`
	)
	withContext := func(event string) string {
		return `{"systemMessage":"u","hookSpecificOutput":{"hookEventName":"` + event + `","additionalContext":"a"}} | `
	}
	tests := map[string]struct {
		host                             Host
		name                             EventName
		block, grant, rewritten, telling string
	}{
		"claude-code-2.1.329/interactive-permission/PermissionRequest": {
			Claude, EventPermissionRequest, permission + `{"behavior":"deny","message":"no"}}} | `, permission + `{"behavior":"allow"}}} | `,
			permission + `{"behavior":"allow","updatedInput":{"command": "ls"}}}} | `, user + " | " + noAgent,
		},
		"claude-code-2.1.329/interactive-permission/Notification": {Claude, EventNotification, noBlock, noGrant, noGrant, withContext("Notification")},
		"claude-code-2.1.329/subagent-background/SubagentStart":   {Claude, EventSubagentStart, noBlock, noGrant, noGrant, withContext("SubagentStart")},
		"claude-code-2.1.329/compact/PreCompact":                  {Claude, EventPreCompact, `{"decision":"block","reason":"no"} | `, noGrant, noGrant, user + " | " + noAgent},
		"claude-code-2.1.329/compact/PostCompact":                 {Claude, "PostCompact", noBlock, noGrant, noGrant, user + " | " + noAgent},
		"claude-code-2.1.329/api-error/StopFailure":               {Claude, "StopFailure", noBlock, noGrant, noGrant, user + " | " + noAgent},
		"claude-code-2.1.330/batch-context/PostToolBatch":         {Claude, EventPostToolBatch, noBlock, noGrant, noGrant, withContext("PostToolBatch")},
		"codex-0.169.0/tui-approval-bash/PermissionRequest": {
			Codex, EventPermissionRequest, permission + `{"behavior":"deny","message":"no"}}} | `, permission + `{"behavior":"allow"}}} | `,
			" | A hook granted a permission with another input, which this host cannot take: it is not granted.", user + " | " + noAgent,
		},
		"codex-0.169.0/compact-auto/PreCompact":    {Codex, EventPreCompact, noBlock, noGrant, noGrant, user + " | " + noAgent},
		"codex-0.169.0/subagent/SubagentStart":     {Codex, EventSubagentStart, noBlock, noGrant, noGrant, withContext("SubagentStart")},
		"codex-0.169.0/interrupt/Interrupt":        {Codex, "Interrupt", noBlock, noGrant, noGrant, user + " | " + noAgent},
		"copilot-1.0.102/interactive/Notification": {Copilot, EventNotification, noBlock, noGrant, noGrant, " | u\n" + noAgent},
	}
	events := others(t)
	assert.Equal(t, len(events), len(tests))
	for _, event := range events {
		t.Run(event.name, func(t *testing.T) {
			want, known := tests[event.name]
			assert.Assert(t, known)
			answer := func(d OtherDecision) string {
				var got *Other
				var out, errOut bytes.Buffer
				code := Run(t.Context(), IO{In: bytes.NewReader(event.data), Out: &out, Err: &errOut}, Handlers{
					Other: func(_ context.Context, e *Other) (OtherDecision, error) { got = e; return d, nil },
				})
				assert.Equal(t, code, 0)
				assert.Equal(t, got.Host, want.host)
				assert.Equal(t, got.Name(), want.name)
				assert.Equal(t, string(got.Bytes()), strings.TrimSuffix(string(event.data), "\n"))
				assert.Equal(t, len(got.Warnings()), 0, "%v", got.Warnings())
				return said(out.String(), errOut.String())
			}
			assert.Equal(t, answer(PassEvent()), " | ")
			assert.Equal(t, answer(BlockEvent("no")), want.block)
			assert.Equal(t, answer(GrantPermission()), want.grant)
			assert.Equal(t, answer(GrantRewritten(json.RawMessage(`{"command": "ls"}`))), want.rewritten)
			assert.Equal(t, answer(PassEvent().TellUser("u").TellAgent("a")), want.telling)
			assert.Equal(t, answer(AnswerEvent(json.RawMessage("{\"retry\": true}\n"))), `{"retry": true} | `)
		})
	}
}

func TestOtherFields(t *testing.T) {
	e, err := ParseEvent(others(t)[0].data)
	assert.NilError(t, err)
	request := e.(*Other)
	assert.Equal(t, request.ToolName, "Bash")
	command, ok := request.InputString("command")
	assert.Assert(t, ok)
	assert.Equal(t, command, "touch new-file.txt && echo made")
	input, err := request.WithInput("command", "ls")
	assert.NilError(t, err)
	assert.Equal(t, string(input), `{"command":"ls","description":"Make a file"}`)
	value, ok := request.Input("description")
	assert.Assert(t, ok)
	assert.Equal(t, string(value), `"Make a file"`)
	level, ok := request.Raw("effort")
	assert.Assert(t, ok)
	assert.Equal(t, string(level), `{"level":"medium"}`)
	_, ok = request.RawString("effort")
	assert.Assert(t, !ok)
	mode, ok := request.RawString("permission_mode")
	assert.Assert(t, ok)
	assert.Equal(t, mode, "default")
}

func TestEncodeOther(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, c := range []struct {
		row   string
		host  Host
		event EventName
		d     OtherDecision
		want  string
	}{
		{"a block without a reason", Claude, EventPermissionRequest, BlockEvent(" "), `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"A hook blocked this and gave no reason."}}} | `},
		{"the agent reads a text after the reason", Claude, EventPermissionRequest, BlockEvent("no").TellAgent("a").TellUser("u"), `{"systemMessage":"u","hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no\na"}}} | `},
		{"the user reads the reason, the agent nothing", Claude, EventPreCompact, BlockEvent("no").TellAgent("a"), `{"decision":"block","reason":"no"} | The agent cannot be told at this event: a`},
		{"Qwen Code, which sends Claude's format, takes a rewrite", Portable, EventPermissionRequest, GrantRewritten(raw(`{"a":1}`)), `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"a":1}}}} | `},
		{"what is no object grants nothing", Claude, EventPermissionRequest, GrantRewritten(raw(`{"a":1} {}`)), " | A hook granted a permission with another input, but what it made is not a JSON object: it is not granted."},
		{"an answer that is no object", Claude, "Elicitation", AnswerEvent(raw(`[1]`)).TellUser("u"), `{"systemMessage":"u"} | A hook's answer is not sent: it is not a JSON object.`},
		{"an answer with messages beside it", Claude, "Elicitation", AnswerEvent(raw(`{}`)).TellUser("u").TellAgent("a"), "{} | u\na"},
		{"an empty answer", Claude, "Elicitation", AnswerEvent(nil), " | A hook's answer is not sent: it is not a JSON object."},
		{"an event that nobody knows yet", Claude, "Elicitation", PassEvent().TellUser("u").TellAgent("a"), `{"systemMessage":"u"} | The agent cannot be told at this event: a`},
		{"ECA", ECA, "preCompact", PassEvent().TellUser("u"), `{"systemMessage":"u"} | `},
		{"Gemini CLI", Gemini, EventNotification, PassEvent().TellUser("u"), `{"systemMessage":"u"} | `},
		{"Cursor", Cursor, "preCompact", PassEvent().TellUser("u"), " | u"},
	} {
		out := Encode(c.host, c.event, c.d)
		assert.Equal(t, out.Exit, 0, c.row)
		assert.Equal(t, said(string(out.Stdout), string(out.Stderr)), c.want, c.row)
	}
}
