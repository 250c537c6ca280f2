package hookkit

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Host is the program that runs the agent and starts the hook. The zero value is Claude Code.
type Host uint8

// The hosts that [Encode] knows. What it sends Claude Code was observed on the real program and is held by recordings. What it sends the
// others was written after their documentation; docs/hook-authors.md says what came of it where a real one was tried.
const (
	Claude   Host = iota // Claude Code; observed, 2.1.329 and 2.1.330
	Portable             // any host that reads Claude's format but looks at the JSON only; observed on none
	Codex                // Codex CLI; a few answers tried on 0.169.0
	ECA                  // Editor Code Assistant; never observed
	Gemini               // Gemini CLI; a few answers tried on 0.61.0
	Copilot              // GitHub Copilot CLI; a few answers tried on 1.0.102
	Cursor               // Cursor; never observed
)

var hostNames = [...]string{
	Claude: "claude", Portable: "portable", Codex: "codex", ECA: "eca", Gemini: "gemini", Copilot: "copilot", Cursor: "cursor",
}

// String returns the name that [ParseHost] understands.
func (h Host) String() string {
	if int(h) < len(hostNames) {
		return hostNames[h]
	}
	return fmt.Sprintf("Host(%d)", uint8(h))
}

// ParseHost returns the host with this name: claude, portable, codex, eca, gemini, copilot or cursor.
func ParseHost(name string) (Host, error) {
	for h, known := range hostNames {
		if name == known {
			return Host(h), nil
		}
	}
	return Claude, fmt.Errorf("unknown host %q: one of %s", name, strings.Join(hostNames[:], ", "))
}

// recognise tells from the fields which host sent the event, and the event's name in Claude Code's spelling. An event that has no
// counterpart keeps its own name; "" means that it has none. underClaude says that the environment is Claude Code's.
//
// Claude Code adds fields with every version, so one field alone never makes its event another host's.
func recognise(r *fieldReader, underClaude bool) (Host, EventName) {
	name, transcript := r.str("hook_event_name"), r.quiet("transcript_path")
	inCodex := strings.Contains(transcript, "/.codex/")
	isClaude := strings.Contains(transcript, "/.claude/") || r.has("prompt_id") || underClaude && !inCodex
	switch {
	case name == "" && r.has("hook_type"):
		own := r.str("hook_type")
		return ECA, renamed(own, ecaEvent(own))
	case name == "" && r.has("sessionId"):
		return Copilot, copilotEvent(r)
	case geminiEvent(name) != "":
		return Gemini, geminiEvent(name)
	case r.has("cursor_version", "conversation_id") && cursorEvent(name) != "":
		return Cursor, cursorEvent(name)
	case isClaude:
		return Claude, EventName(name)
	case inCodex || r.has("turn_id") && r.has("model"):
		return Codex, EventName(name)
	case r.has("timestamp") && (r.has("stop_reason", "tool_result") || !r.has("transcript_path")):
		return Copilot, EventName(name)
	}
	return Claude, EventName(name)
}

// quiet is str without a warning, for fields that are read again later.
func (r *fieldReader) quiet(name string) string {
	if _, value := r.raw(name); value != nil && value[0] == '"' {
		return unquote(value)
	}
	return ""
}

func renamed(own string, ours EventName) EventName {
	if ours != "" {
		return ours
	}
	return EventName(own)
}

func ecaEvent(name string) EventName {
	switch name {
	case "postRequest":
		return EventStop
	case "subagentPostRequest":
		return EventSubagentStop
	case "preToolCall":
		return EventPreToolUse
	case "postToolCall":
		return EventPostToolUse
	case "chatStart":
		return EventSessionStart
	case "chatEnd", "sessionEnd":
		return EventSessionEnd
	case "preRequest":
		return EventUserPromptSubmit
	}
	return ""
}

func geminiEvent(name string) EventName {
	switch name {
	case "AfterAgent":
		return EventStop
	case "BeforeTool":
		return EventPreToolUse
	case "AfterTool":
		return EventPostToolUse
	case "BeforeAgent":
		return EventUserPromptSubmit
	}
	return ""
}

func cursorEvent(name string) EventName {
	switch name {
	case "stop":
		return EventStop
	case "subagentStop":
		return EventSubagentStop
	case "preToolUse":
		return EventPreToolUse
	case "postToolUse":
		return EventPostToolUse
	case "postToolUseFailure":
		return EventPostToolUseFailure
	case "sessionStart":
		return EventSessionStart
	case "sessionEnd":
		return EventSessionEnd
	case "beforeSubmitPrompt":
		return EventUserPromptSubmit
	}
	return ""
}

// copilotEvent tells the event by its fields: Copilot's own format has no event name.
func copilotEvent(r *fieldReader) EventName {
	switch {
	case r.has("stopReason") && r.has("agentName"):
		return EventSubagentStop
	case r.has("stopReason"):
		return EventStop
	case r.has("toolName") && r.has("toolResult"):
		return EventPostToolUse
	case r.has("toolName") && r.has("error"):
		return EventPostToolUseFailure
	case r.has("toolName"):
		return EventPreToolUse
	case r.has("prompt"):
		return EventUserPromptSubmit
	case r.has("source"):
		return EventSessionStart
	case r.has("reason"):
		return EventSessionEnd
	}
	return ""
}

// build fills the event type that belongs to the name.
func build(r *fieldReader, host Host, name EventName, c Common) Event {
	readCommon(r, host, &c)
	switch name {
	case EventStop:
		return &Stop{
			Common: c, StopHookActive: stopActive(r, host),
			LastAssistantMessage: lastMessage(r, host),
			BackgroundTasks:      r.tasks("background_tasks"), SessionCrons: r.message("session_crons"),
		}
	case EventSubagentStop:
		return &SubagentStop{
			Common: c, StopHookActive: stopActive(r, host),
			LastAssistantMessage: lastMessage(r, host),
			BackgroundTasks:      r.tasks("background_tasks"), SessionCrons: r.message("session_crons"),
			AgentTranscriptPath: r.str("agent_transcript_path"),
		}
	case EventPreToolUse:
		input := toolInput(r, host)
		c.input = parseInput(input)
		return &PreToolUse{
			Common: c, ToolName: r.str("tool_name", "toolName"),
			ToolInput: input, ToolUseID: r.str("tool_use_id", "tool_call_id"),
		}
	case EventPostToolUse:
		return &PostToolUse{
			Common: c, ToolName: r.str("tool_name", "toolName"),
			ToolInput: toolInput(r, host), ToolUseID: r.str("tool_use_id", "tool_call_id"),
			ToolResponse: r.message("tool_response", "tool_result", "toolResult", "tool_output"),
		}
	case EventPostToolUseFailure:
		return &PostToolUseFailure{
			Common: c, ToolName: r.str("tool_name", "toolName"),
			ToolInput: toolInput(r, host), ToolUseID: r.str("tool_use_id", "tool_call_id"),
			Error: r.str("error", "error_message"), IsInterrupt: r.boolean("is_interrupt"), Duration: r.milliseconds("duration_ms"),
		}
	case EventSessionStart:
		return &SessionStart{Common: c, Source: r.str("source")}
	case EventSessionEnd:
		return &SessionEnd{Common: c, Reason: r.str("reason")}
	case EventUserPromptSubmit:
		return &UserPromptSubmit{Common: c, Prompt: r.str("prompt")}
	default:
		return &Other{Common: c, Event: name, ToolName: r.str("tool_name", "toolName"), ToolInput: toolInput(r, host)}
	}
}

func readCommon(r *fieldReader, host Host, c *Common) {
	switch host {
	case ECA: // its session_id is the workspace's, one for all chats
		c.SessionID = r.str("chat_id", "session_id")
	case Cursor:
		c.SessionID = r.str("conversation_id", "session_id")
	default:
		c.SessionID = r.str("session_id", "sessionId")
	}
	c.TranscriptPath = r.str("transcript_path", "transcriptPath")
	c.CWD = r.str("cwd")
	if c.CWD == "" && (host == ECA || host == Cursor) {
		if roots := r.elements("workspaces", "workspace_roots"); len(roots) > 0 && roots[0][0] == '"' {
			c.CWD = unquote(roots[0])
		}
	}
	c.PermissionMode = r.str("permission_mode")
	c.PromptID = r.str("prompt_id", "turn_id", "generation_id")
	c.AgentID = r.str("agent_id")
	c.AgentType = r.str("agent_type", "agentName", "agent_name")
}

func stopActive(r *fieldReader, host Host) bool {
	switch host {
	case ECA:
		return r.boolean("follow_up_active", "stop_hook_active")
	case Cursor:
		return r.number("loop_count") > 0
	default:
		return r.boolean("stop_hook_active")
	}
}

func lastMessage(r *fieldReader, host Host) string {
	switch host {
	case ECA:
		return r.str("response")
	case Gemini:
		return r.str("prompt_response")
	default:
		return r.str("last_assistant_message")
	}
}

// toolInput is the input as received, except that Copilot CLI may send it as JSON inside a string: that is unpacked.
func toolInput(r *fieldReader, host Host) json.RawMessage {
	input := r.message("tool_input", "toolArgs")
	if host == Copilot && len(input) > 0 && input[0] == '"' {
		if object, _, err := parseObject([]byte(unquote(input))); err == nil {
			return object
		}
	}
	return input
}
