package fakes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// What an event says when no option says otherwise; the values of the recorded
// sessions.
const (
	DefaultProjectDir = "/project"
	DefaultSessionID  = "11111111-1111-4111-8111-000000000001"
	defaultHome       = "/home/dev"
	defaultPromptID   = "22222222-2222-4222-8222-000000000001"
	defaultToolUseID  = "toolu_01Fake000000000000000001"
)

// Event is the object a host sends to a hook, its fields in the order in which
// Claude Code 2.1.329 sends them. Make one with [StopEvent] and its sisters.
type Event struct {
	home   string
	fields object
}

// object is a JSON object that keeps the order of its fields.
type object []field

type field struct {
	name  string
	value any
}

// EventOption changes an event.
type EventOption func(*Event)

// Set gives a field a value: a string, a bool, a number, nil, or anything else
// that encoding/json can write. json.RawMessage is sent byte for byte. A field
// the event does not have comes last.
func Set(name string, value any) EventOption {
	return func(e *Event) { e.fields.set(name, value) }
}

// Unset removes a field, as older versions of the host and other hosts leave
// it out.
func Unset(name string) EventOption {
	return func(e *Event) {
		e.fields = slices.DeleteFunc(e.fields, func(f field) bool { return f.name == name })
	}
}

// InProject sets cwd, and moves the transcript path to what belongs to it.
// Files named in the event are not touched.
func InProject(dir string) EventOption {
	return func(e *Event) {
		e.fields.set("cwd", dir)
		e.place()
	}
}

// InSession sets session_id, and moves the transcript path to what belongs to
// it.
func InSession(id string) EventOption {
	return func(e *Event) {
		e.fields.set("session_id", id)
		e.place()
	}
}

// InSubagent adds agent_id and agent_type, which every event inside of a
// sub-agent has.
func InSubagent(id, agentType string) EventOption {
	return func(e *Event) {
		if e.fields.get("agent_id") != nil {
			e.fields.set("agent_id", id)
			e.fields.set("agent_type", agentType)
			e.place()
			return
		}
		at := slices.IndexFunc(e.fields, func(f field) bool { return f.name == "effort" || f.name == "hook_event_name" })
		at = max(at, 0) // both can be unset
		e.fields = slices.Insert(e.fields, at, field{"agent_id", id}, field{"agent_type", agentType})
	}
}

func (o object) get(name string) any {
	for _, f := range o {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

func (o *object) set(name string, value any) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, field{name, value})
}

// place sets the paths that follow from session, folder and agent.
func (e *Event) place() {
	cwd, _ := e.fields.get("cwd").(string)
	id, _ := e.fields.get("session_id").(string)
	base := path.Join(e.home, ".claude/projects", projectKey(cwd), id)
	e.fields.set("transcript_path", base+".jsonl")
	if e.fields.get("agent_transcript_path") != nil {
		agent, _ := e.fields.get("agent_id").(string)
		e.fields.set("agent_transcript_path", base+"/subagents/agent-"+agent+".jsonl")
	}
}

// projectKey is the folder name the host makes of a project's path.
func projectKey(cwd string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, cwd)
}

// JSON returns the event as the host writes it, without the final newline.
func (e Event) JSON() string {
	var b bytes.Buffer
	writeJSON(&b, e.fields)
	return b.String()
}

// writeJSON writes what JSON.stringify of the client would: no spaces, and
// nothing escaped that need not be. It panics on a value that JSON does not
// have, which is a mistake in the test.
func writeJSON(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case object:
		b.WriteByte('{')
		for i, f := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeString(b, f.name)
			b.WriteByte(':')
			writeJSON(b, f.value)
		}
		b.WriteByte('}')
	case []object:
		b.WriteByte('[')
		for i, o := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, o)
		}
		b.WriteByte(']')
	case string:
		writeString(b, v)
	case json.RawMessage:
		b.Write(v)
	default:
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			panic(fmt.Sprintf("fakes: a field of an event: %v", err))
		}
		b.Truncate(b.Len() - 1) // the encoder's newline
	}
}

func writeString(b *bytes.Buffer, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		default:
			if r < ' ' {
				fmt.Fprintf(b, `\u%04x`, r)
			} else {
				b.WriteRune(r) // invalid UTF-8 becomes U+FFFD; json.RawMessage sends it as it is
			}
		}
	}
	b.WriteByte('"')
}

// newEvent makes an event with the fields that stand before hook_event_name,
// then the rest.
func newEvent(name string, common []string, rest object, opts []EventOption) Event {
	values := map[string]any{
		"prompt_id":       defaultPromptID,
		"permission_mode": "acceptEdits",
		"agent_id":        "a4324c120aab8b848",
		"agent_type":      "general-purpose",
		"effort":          object{{"level", "medium"}},
	}
	e := Event{home: defaultHome, fields: object{
		{"session_id", DefaultSessionID}, {"transcript_path", ""}, {"cwd", DefaultProjectDir},
	}}
	for _, c := range common {
		e.fields = append(e.fields, field{c, values[c]})
	}
	e.fields = append(append(e.fields, field{"hook_event_name", name}), rest...)
	e.place()
	for _, o := range opts {
		o(&e)
	}
	return e
}

func commonFields() []string { return []string{"prompt_id", "permission_mode", "effort"} }

// StopEvent is what a hook reads when the agent stops: stop_hook_active false,
// last_assistant_message "Done.", background_tasks and session_crons empty.
func StopEvent(opts ...EventOption) Event {
	return newEvent("Stop", commonFields(), object{
		{"stop_hook_active", false},
		{"last_assistant_message", "Done."},
		{"background_tasks", []object{}},
		{"session_crons", []object{}},
	}, opts)
}

// SubagentStopEvent is what a hook reads when a sub-agent stops.
func SubagentStopEvent(opts ...EventOption) Event {
	return newEvent("SubagentStop", []string{"prompt_id", "permission_mode", "agent_id", "agent_type", "effort"}, object{
		{"stop_hook_active", false},
		{"agent_transcript_path", "-"},
		{"last_assistant_message", "Done."},
		{"background_tasks", []object{}},
		{"session_crons", []object{}},
	}, opts)
}

// SessionStartEvent has source startup, resume, clear, compact or fork.
func SessionStartEvent(source string, opts ...EventOption) Event {
	return newEvent("SessionStart", nil, object{{"source", source}}, opts)
}

// SessionEndEvent has reason clear, resume, logout, prompt_input_exit or
// other.
func SessionEndEvent(reason string, opts ...EventOption) Event {
	return newEvent("SessionEnd", []string{"prompt_id"}, object{{"reason", reason}}, opts)
}

// UserPromptSubmitEvent is what a hook reads before the agent sees a prompt.
func UserPromptSubmitEvent(prompt string, opts ...EventOption) Event {
	return newEvent("UserPromptSubmit", []string{"prompt_id", "permission_mode"}, object{{"prompt", prompt}}, opts)
}
