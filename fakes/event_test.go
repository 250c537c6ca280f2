package fakes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

// TestEventsAreAsRecorded builds each recorded event of the real client: same
// fields, same order, same bytes.
func TestEventsAreAsRecorded(t *testing.T) {
	const (
		core      = "/project/src/inventory/core.clj"
		imported  = "/project/src/inventory/import.clj"
		importSrc = "(ns inventory.import)\n\n;; TODO: CSV import is deferred, see README; workaround: paste EDN\n(defn read-edn [s] (read-string s))\n"
	)
	builders := map[string]func(opts ...fakes.EventOption) fakes.Event{
		"Stop":             fakes.StopEvent,
		"SubagentStop":     fakes.SubagentStopEvent,
		"SessionStart":     func(o ...fakes.EventOption) fakes.Event { return fakes.SessionStartEvent("startup", o...) },
		"SessionEnd":       func(o ...fakes.EventOption) fakes.Event { return fakes.SessionEndEvent("other", o...) },
		"UserPromptSubmit": func(o ...fakes.EventOption) fakes.Event { return fakes.UserPromptSubmitEvent("p", o...) },
		"PreToolUse Edit": func(o ...fakes.EventOption) fakes.Event {
			return fakes.PreEditEvent(core, "  (- qty n))", "  (max 0 (- qty n)))", o...)
		},
		"PreToolUse Write": func(o ...fakes.EventOption) fakes.Event { return fakes.PreWriteEvent(imported, importSrc, o...) },
		"PreToolUse Bash":  func(o ...fakes.EventOption) fakes.Event { return fakes.PreBashEvent("sh bin/test", o...) },
		"PostToolUse Edit": func(o ...fakes.EventOption) fakes.Event {
			return fakes.PostEditEvent(core, "  (- qty n))", "  (max 0 (- qty n)))", "", o...)
		},
		"PostToolUse Write": func(o ...fakes.EventOption) fakes.Event { return fakes.PostWriteEvent(imported, importSrc, o...) },
		"PostToolUse Bash": func(o ...fakes.EventOption) fakes.Event {
			return fakes.PostBashEvent("sh bin/test", "Testing inventory.core-test\n\nRan 2 tests containing 3 assertions.\n0 failures, 0 errors.", o...)
		},
		"PostToolUseFailure Bash": func(o ...fakes.EventOption) fakes.Event {
			return fakes.BashFailureEvent("sh bin/test", "Exit code 1", o...)
		},
	}
	// These vary from run to run, or are the text of the session.
	varying := []string{"prompt_id", "permission_mode", "last_assistant_message", "background_tasks", "prompt", "tool_use_id", "duration_ms", "error"}
	seen := map[string]bool{}
	for line := range strings.Lines(testdata(t, "events", "claude-code-2.1.329.jsonl")) {
		line = strings.TrimSuffix(line, "\n")
		var fields map[string]json.RawMessage
		assert.NilError(t, json.Unmarshal([]byte(line), &fields))
		name := strings.TrimSpace(text(fields["hook_event_name"]) + " " + text(fields["tool_name"]))
		t.Run(name, func(t *testing.T) {
			build, ok := builders[name]
			assert.Assert(t, ok, "no builder")
			seen[name] = true
			opts := []fakes.EventOption{fakes.InSession(text(fields["session_id"]))}
			for _, v := range varying {
				if raw, ok := fields[v]; ok {
					opts = append(opts, fakes.Set(v, raw))
				}
			}
			if id, ok := fields["agent_id"]; ok {
				opts = append(opts, fakes.InSubagent(text(id), text(fields["agent_type"])))
			}
			if strings.HasSuffix(name, " Bash") { // the description is the agent's
				opts = append(opts, fakes.Set("tool_input", fields["tool_input"]))
			}
			if name == "PostToolUse Edit" { // no patch is computed
				assert.Assert(t, cmp.Contains(build().JSON(), `"userModified":false,"replaceAll":false}`))
				opts = append(opts, fakes.Set("tool_response", fields["tool_response"]))
			}
			assert.Equal(t, build(opts...).JSON(), line)
		})
	}
	for name := range builders {
		assert.Assert(t, seen[name], "no recording of %s", name)
	}
}

// text decodes a JSON string; "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // absent fields are ""
	return s
}

func TestEventOptions(t *testing.T) {
	e := fakes.SessionEndEvent("other", fakes.InProject("/home/dev/my app"), fakes.InSession("s1"),
		fakes.Unset("prompt_id"), fakes.Set("reason", "logout"), fakes.Set("new", json.RawMessage(`"\ud83d"`)),
		fakes.Set("list", []string{"<a>"}), fakes.Set("none", nil))
	assert.Equal(t, e.JSON(), `{"session_id":"s1","transcript_path":"/home/dev/.claude/projects/-home-dev-my-app/s1.jsonl",`+
		`"cwd":"/home/dev/my app","hook_event_name":"SessionEnd","reason":"logout","new":"\ud83d","list":["<a>"],"none":null}`)

	sub := fakes.SubagentStopEvent(fakes.InSubagent("a1", ""), fakes.InSession("s2"))
	assert.Assert(t, cmp.Contains(sub.JSON(), `"agent_id":"a1","agent_type":"","effort":`))
	assert.Assert(t, cmp.Contains(sub.JSON(), `"agent_transcript_path":"/home/dev/.claude/projects/-project/s2/subagents/agent-a1.jsonl"`))

	in := fakes.PreBashEvent("ls", fakes.InSubagent("a2", "Explore"))
	assert.Assert(t, cmp.Contains(in.JSON(), `"permission_mode":"acceptEdits","agent_id":"a2","agent_type":"Explore","effort"`))
	bare := fakes.SessionStartEvent("clear", fakes.Unset("hook_event_name"), fakes.InSubagent("a3", "x"))
	assert.Assert(t, strings.HasPrefix(bare.JSON(), `{"agent_id":"a3","agent_type":"x","session_id"`))
}

// The client escapes as JSON.stringify does: no <, no U+2028.
func TestEventEscapes(t *testing.T) {
	e := fakes.UserPromptSubmitEvent("\"\\\n\r\t\b\f\x00\x1f\x7f<&>é🐴\u2028")
	assert.Assert(t, cmp.Contains(e.JSON(), `"prompt":"\"\\\n\r\t\b\f\u0000\u001f`+"\x7f<&>é🐴\u2028"+`"`))
	var back struct{ Prompt string }
	assert.NilError(t, json.Unmarshal([]byte(e.JSON()), &back))
	assert.Equal(t, back.Prompt, "\"\\\n\r\t\b\f\x00\x1f\x7f<&>é🐴\u2028")
}
