package hookkit

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

type hostCase struct {
	name, input string
	want        Event
}

// hostCases are events in the formats of the other hosts, after their published references.
func hostCases() []hostCase {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	return []hostCase{
		{
			"Codex Stop", `{"session_id":"s","turn_id":"t","transcript_path":"/home/dev/.codex/sessions/r.jsonl","cwd":"/p","hook_event_name":"Stop","model":"m","permission_mode":"default","stop_hook_active":true,"last_assistant_message":"done"}`,
			&Stop{Common: Common{Host: Codex, SessionID: "s", TranscriptPath: "/home/dev/.codex/sessions/r.jsonl", CWD: "/p", PermissionMode: "default", PromptID: "t"}, StopHookActive: true, LastAssistantMessage: "done"},
		},
		{
			"Codex SessionStart, known by its transcript", `{"session_id":"s","transcript_path":"/home/dev/.codex/sessions/r.jsonl","hook_event_name":"SessionStart","source":"startup"}`,
			&SessionStart{Common: Common{Host: Codex, SessionID: "s", TranscriptPath: "/home/dev/.codex/sessions/r.jsonl"}, Source: "startup"},
		},
		{
			"ECA postRequest", `{"hook_name":"gate","hook_type":"postRequest","workspaces":["/p"],"db_cache_path":"/c/db","session_id":"w","chat_id":"c1","agent":"code","response":"done","follow_up_active":true}`,
			&Stop{Common: Common{Host: ECA, SessionID: "c1", CWD: "/p"}, StopHookActive: true, LastAssistantMessage: "done"},
		},
		{
			"ECA preToolCall", `{"hook_name":"v","hook_type":"preToolCall","cwd":"/q","workspaces":["/p"],"chat_id":"c1","tool_name":"write_file","server":"eca","tool_input":{"path":"a.clj","content":"x"},"tool_call_id":"t1","approval":"ask"}`,
			&PreToolUse{Common: Common{Host: ECA, SessionID: "c1", CWD: "/q"}, ToolName: "write_file", ToolInput: raw(`{"path":"a.clj","content":"x"}`), ToolUseID: "t1"},
		},
		{
			"ECA postToolCall", `{"hook_type":"postToolCall","chat_id":"c1","tool_name":"write_file","tool_input":{},"tool_response":[{"type":"text"}],"error":false}`,
			&PostToolUse{Common: Common{Host: ECA, SessionID: "c1"}, ToolName: "write_file", ToolInput: raw(`{}`), ToolResponse: raw(`[{"type":"text"}]`)},
		},
		{"ECA sessionEnd", `{"hook_type":"sessionEnd","session_id":"w","workspaces":["/p"]}`, &SessionEnd{Common: Common{Host: ECA, SessionID: "w", CWD: "/p"}}},
		{"ECA event without counterpart", `{"hook_type":"preCompact","chat_id":"c"}`, &Other{Common: Common{Host: ECA, SessionID: "c"}, Event: "preCompact"}},
		{
			"Gemini AfterAgent", `{"session_id":"s","transcript_path":"/t.json","cwd":"/p","hook_event_name":"AfterAgent","timestamp":"2026-01-01T00:00:00Z","prompt":"do","prompt_response":"done","stop_hook_active":false}`,
			&Stop{Common: Common{Host: Gemini, SessionID: "s", TranscriptPath: "/t.json", CWD: "/p"}, LastAssistantMessage: "done"},
		},
		{
			"Gemini BeforeTool", `{"session_id":"s","hook_event_name":"BeforeTool","timestamp":"x","tool_name":"write_file","tool_input":{"file_path":"/a.clj"}}`,
			&PreToolUse{Common: Common{Host: Gemini, SessionID: "s"}, ToolName: "write_file", ToolInput: raw(`{"file_path":"/a.clj"}`)},
		},
		{
			"Gemini AfterTool", `{"session_id":"s","hook_event_name":"AfterTool","tool_name":"replace","tool_input":{},"tool_response":{"llmContent":"x"}}`,
			&PostToolUse{Common: Common{Host: Gemini, SessionID: "s"}, ToolName: "replace", ToolInput: raw(`{}`), ToolResponse: raw(`{"llmContent":"x"}`)},
		},
		{"Gemini BeforeAgent", `{"session_id":"s","hook_event_name":"BeforeAgent","prompt":"do"}`, &UserPromptSubmit{Common: Common{Host: Gemini, SessionID: "s"}, Prompt: "do"}},
		{
			"Copilot agentStop", `{"sessionId":"s","timestamp":1700000000000,"cwd":"/p","transcriptPath":"/t","stopReason":"end_turn"}`,
			&Stop{Common: Common{Host: Copilot, SessionID: "s", TranscriptPath: "/t", CWD: "/p"}},
		},
		{
			"Copilot subagentStop", `{"sessionId":"s","timestamp":1,"cwd":"/p","transcriptPath":"/t","agentName":"task","stopReason":"end_turn"}`,
			&SubagentStop{Common: Common{Host: Copilot, SessionID: "s", TranscriptPath: "/t", CWD: "/p", AgentType: "task"}},
		},
		{
			"Copilot preToolUse", `{"sessionId":"s","timestamp":1,"cwd":"/p","toolName":"edit","toolArgs":{"path":"a.clj"}}`,
			&PreToolUse{Common: Common{Host: Copilot, SessionID: "s", CWD: "/p"}, ToolName: "edit", ToolInput: raw(`{"path":"a.clj"}`)},
		},
		{
			"Copilot preToolUse, arguments in a string", `{"sessionId":"s","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`,
			&PreToolUse{Common: Common{Host: Copilot, SessionID: "s"}, ToolName: "bash", ToolInput: raw(`{"command":"ls"}`)},
		},
		{
			"Copilot preToolUse, arguments are text", `{"sessionId":"s","toolName":"bash","toolArgs":"ls"}`,
			&PreToolUse{Common: Common{Host: Copilot, SessionID: "s"}, ToolName: "bash", ToolInput: raw(`"ls"`)},
		},
		{
			"Copilot postToolUse", `{"sessionId":"s","timestamp":1,"toolName":"edit","toolArgs":{},"toolResult":{"resultType":"success"}}`,
			&PostToolUse{Common: Common{Host: Copilot, SessionID: "s"}, ToolName: "edit", ToolInput: raw(`{}`), ToolResponse: raw(`{"resultType":"success"}`)},
		},
		{
			"Copilot postToolUseFailure", `{"sessionId":"s","toolName":"bash","toolArgs":{},"error":"boom"}`,
			&PostToolUseFailure{Common: Common{Host: Copilot, SessionID: "s"}, ToolName: "bash", ToolInput: raw(`{}`), Error: "boom"},
		},
		{"Copilot userPromptSubmitted", `{"sessionId":"s","prompt":"do"}`, &UserPromptSubmit{Common: Common{Host: Copilot, SessionID: "s"}, Prompt: "do"}},
		{"Copilot sessionStart", `{"sessionId":"s","source":"new"}`, &SessionStart{Common: Common{Host: Copilot, SessionID: "s"}, Source: "new"}},
		{"Copilot sessionEnd", `{"sessionId":"s","reason":"complete"}`, &SessionEnd{Common: Common{Host: Copilot, SessionID: "s"}, Reason: "complete"}},
		{"Copilot, no telling which event", `{"sessionId":"s"}`, &Other{Common: Common{Host: Copilot, SessionID: "s"}}},
		{
			"Copilot Stop in the other spelling", `{"hook_event_name":"Stop","session_id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/p","transcript_path":"/t","stop_reason":"end_turn"}`,
			&Stop{Common: Common{Host: Copilot, SessionID: "s", TranscriptPath: "/t", CWD: "/p"}},
		},
		{
			"Cursor stop", `{"conversation_id":"c","generation_id":"g","hook_event_name":"stop","cursor_version":"2.0","workspace_roots":["/p"],"status":"completed","loop_count":1}`,
			&Stop{Common: Common{Host: Cursor, SessionID: "c", CWD: "/p", PromptID: "g"}, StopHookActive: true},
		},
		{"Cursor sends Claude's format for Claude's settings", `{"conversation_id":"c","cursor_version":"2.0","session_id":"s","hook_event_name":"Stop"}`, &Stop{Common: Common{SessionID: "s"}}},
	}
}

func TestParseEventOtherHosts(t *testing.T) {
	// Pins the table "Other hosts": recognised from the event, mapped to our types.
	for _, c := range hostCases() {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseEvent([]byte(c.input))
			assert.NilError(t, err)
			assert.Equal(t, len(got.Base().Warnings()), 0, "%v", got.Base().Warnings())
			sameEvent(t, got, c.want)
		})
	}
}

func TestClaudeStaysClaude(t *testing.T) {
	// Pins "unknown fields are normal": whatever one field a new version adds to a recorded event, its host and name stay.
	paths, err := filepath.Glob("testdata/events/*.json")
	assert.NilError(t, err)
	events := map[string][]field{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		assert.NilError(t, err)
		_, fields, err := parseObject(data)
		assert.NilError(t, err)
		events[filepath.Base(path)] = fields
	}
	assert.Assert(t, len(events) > 5)
	name := rapid.OneOf(rapid.StringMatching(`[a-z_]{1,12}`), rapid.SampledFrom([]string{
		"turn_id", "model", "timestamp", "stop_reason", "tool_result", "conversation_id", "cursor_version", "generation_id", "hook_type",
		"hook_name", "sessionId", "stopReason", "toolName", "chat_id", "workspaces", "prompt_response",
	}))
	value := rapid.SampledFrom([]string{`"x"`, `1`, `true`, `null`, `{}`, `["/.codex/"]`, `"/home/dev/.codex/sessions/r.jsonl"`})
	rapid.Check(t, func(t *rapid.T) {
		file := rapid.SampledFrom(slices.Sorted(maps.Keys(events))).Draw(t, "event")
		added := field{name.Draw(t, "name"), []byte(value.Draw(t, "value"))}
		if _, known := lookup(events[file], added.name); known {
			t.Skip("no new field")
		}
		fields := slices.Clone(events[file])
		own, _ := lookup(fields, "hook_event_name")
		fields = slices.Insert(fields, rapid.IntRange(0, len(fields)).Draw(t, "at"), added)
		host, name := recognise(&fieldReader{fields: fields}, false)
		if host != Claude || string(name) != unquote(own) {
			t.Fatalf("%s of %s", name, host)
		}
	})
}

func TestOneFieldAloneMakesNoOtherHost(t *testing.T) {
	// Faults of one unknown field: exit 2 with blank stdout, which is Codex's block, is no block in Claude Code when stderr has certain words.
	const claude = `"session_id":"s","transcript_path":"/home/dev/.claude/projects/p/s.jsonl","hook_event_name":"Stop"`
	for input, want := range map[string]Host{
		`{` + claude + `,"turn_id":"t"}`:                                                     Claude,
		`{` + claude + `,"turn_id":"t","model":"m"}`:                                         Claude,
		`{` + claude + `,"timestamp":1,"stop_reason":"end_turn"}`:                            Claude,
		`{"hook_event_name":"Stop","prompt_id":"p","turn_id":"t","model":"m"}`:               Claude,
		`{"hook_event_name":"Stop","turn_id":"t"}`:                                           Claude,
		`{"hook_event_name":"Stop","turn_id":"t","model":"m"}`:                               Codex,
		`{"hook_event_name":"Stop","timestamp":1,"stop_reason":"x","transcript_path":"/t"}`:  Copilot,
		`{"hook_event_name":"Stop","transcript_path":"/home/dev/.codex/r.jsonl","cwd":"/p"}`: Codex,
	} {
		e, err := ParseEvent([]byte(input))
		assert.NilError(t, err)
		assert.Equal(t, e.Base().Host, want, input)
	}
}

func TestParseHost(t *testing.T) {
	for _, h := range []Host{Claude, Portable, Codex, ECA, Gemini, Copilot, Cursor} {
		got, err := ParseHost(h.String())
		assert.NilError(t, err)
		assert.Equal(t, got, h)
	}
	_, err := ParseHost("Claude")
	assert.Error(t, err, `unknown host "Claude": one of claude, portable, codex, eca, gemini, copilot, cursor`)
	assert.Equal(t, Host(99).String(), "Host(99)")
}

func TestFilePathOfOtherHosts(t *testing.T) {
	for _, input := range []string{`{"file_path":"/a"}`, `{"notebook_path":"/a"}`, `{"path":"/a"}`, `{"filePath":"/a"}`, `{"file_path":5,"path":"/a"}`} {
		e := &PreToolUse{ToolInput: json.RawMessage(input)}
		assert.Equal(t, e.FilePath(), "/a", input)
	}
}

func TestEventNamesOfOtherHosts(t *testing.T) {
	tests := []struct {
		input string
		host  Host
		names map[string]EventName
	}{
		{`{"hook_type":%q}`, ECA, map[string]EventName{
			"postRequest": EventStop, "subagentPostRequest": EventSubagentStop, "preToolCall": EventPreToolUse, "postToolCall": EventPostToolUse,
			"chatStart": EventSessionStart, "chatEnd": EventSessionEnd, "sessionEnd": EventSessionEnd, "preRequest": EventUserPromptSubmit,
			"sessionStart": "sessionStart",
		}},
		{`{"hook_event_name":%q,"transcript_path":"/t"}`, Gemini, map[string]EventName{
			"AfterAgent": EventStop, "BeforeTool": EventPreToolUse, "AfterTool": EventPostToolUse, "BeforeAgent": EventUserPromptSubmit,
		}},
		{`{"hook_event_name":%q,"conversation_id":"c"}`, Cursor, map[string]EventName{
			"stop": EventStop, "subagentStop": EventSubagentStop, "preToolUse": EventPreToolUse, "postToolUse": EventPostToolUse,
			"postToolUseFailure": EventPostToolUseFailure, "sessionStart": EventSessionStart, "sessionEnd": EventSessionEnd,
			"beforeSubmitPrompt": EventUserPromptSubmit,
		}},
		{`{"hook_event_name":%q}`, Claude, map[string]EventName{"Stop": EventStop, "stop": "stop", "AfterModel": "AfterModel"}},
	}
	for _, c := range tests {
		for own, want := range c.names {
			e, err := ParseEvent([]byte(fmt.Sprintf(c.input, own)))
			assert.NilError(t, err)
			assert.Equal(t, e.Base().Host, c.host, own)
			assert.Equal(t, e.Name(), want, own)
		}
	}
}
