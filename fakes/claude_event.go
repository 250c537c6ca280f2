package fakes

import (
	"path/filepath"
	"strings"
)

// event makes an event with its common fields in the client's order. which
// names those that the event has beside session, transcript and folder.
func (c *Claude) event(a *actor, name, which string, rest object) Event {
	e := Event{fields: object{
		{"session_id", c.sessionID}, {"transcript_path", c.log.path}, {"cwd", a.cwd},
	}}
	add := func(key, field string, value any) {
		if strings.Contains(which, key) {
			e.fields = append(e.fields, object{{field, value}}...)
		}
	}
	if c.promptID != "" {
		add("p", "prompt_id", c.promptID)
	}
	add("m", "permission_mode", c.opts.mode)
	if a.id != "" {
		add("a", "agent_id", a.id)
		add("a", "agent_type", a.kind)
	}
	add("e", "effort", object{{"level", "medium"}})
	e.fields = append(e.fields, field{"hook_event_name", name})
	e.fields = append(e.fields, rest...)
	return e
}

// Which common fields an event has (the recordings' stdin).
const (
	fieldsOfWork   = "pmae" // tools, Stop, SubagentStop
	fieldsOfPrompt = "pm"   // UserPromptSubmit
	fieldsOfEnd    = "p"    // SessionEnd, PreCompact, PostCompact
	fieldsOfAgent  = "pa"   // SubagentStart
	fieldsOfStart  = ""     // SessionStart, but for compact
)

func (c *Claude) stopEvent(a *actor, message string) Event {
	name := "Stop"
	rest := object{{"stop_hook_active", a.active}}
	if a.log != "" {
		name = "SubagentStop"
		rest = append(rest, field{"agent_transcript_path", a.log})
	}
	return c.event(a, name, fieldsOfWork, append(rest, object{
		{"last_assistant_message", message},
		{"background_tasks", c.runningTasks()},
		{"session_crons", []object{}},
	}...))
}

// agentLog is the path of a sub-agent's transcript.
func (c *Claude) agentLog(id string) string {
	return filepath.Join(strings.TrimSuffix(c.log.path, ".jsonl"), "subagents", "agent-"+id+".jsonl")
}
