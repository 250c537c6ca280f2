package hookkit

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// EventName is the name of an event as Claude Code spells it. Events of other hosts are given these names when they mean the same.
type EventName string

// The events that have a type of their own.
const (
	EventStop               EventName = "Stop"
	EventSubagentStop       EventName = "SubagentStop"
	EventPreToolUse         EventName = "PreToolUse"
	EventPostToolUse        EventName = "PostToolUse"
	EventPostToolUseFailure EventName = "PostToolUseFailure"
	EventSessionStart       EventName = "SessionStart"
	EventSessionEnd         EventName = "SessionEnd"
	EventUserPromptSubmit   EventName = "UserPromptSubmit"
)

// Events that come as an [Other], as every event does that is named neither here nor above. A host that calls them otherwise keeps its own
// names.
const (
	EventPermissionRequest EventName = "PermissionRequest" // before the user is asked whether a tool may run
	EventPreCompact        EventName = "PreCompact"        // before the conversation is summarised; its trigger is manual or auto
	EventNotification      EventName = "Notification"      // the host tells the user something: message, notification_type
	EventSubagentStart     EventName = "SubagentStart"     // a sub-agent begins: AgentID, AgentType
	EventPostToolBatch     EventName = "PostToolBatch"     // after all tools of one reply: tool_calls
)

// Session ids that [Run] puts into an event when the host gave none.
const (
	SessionUnknown = "unknown" // nothing, or no session_id, arrived on stdin
	SessionManual  = "manual"  // stdin is a terminal: a person started the hook
)

// Event is one event of the host: a pointer to one of the event types of this package, and to no other type.
type Event interface {
	// Name is the event's name in Claude Code's spelling, whatever the host calls it.
	Name() EventName
	// Base is the part that all events have.
	Base() *Common

	event()
}

// Common is what all events have. A field that the host did not send, or sent as null, is empty.
type Common struct {
	SessionID      string // may hold anything: never use it as a part of a path as it is
	TranscriptPath string // absolute; the file may not exist
	CWD            string // follows the agent's cd; may have been deleted since
	PermissionMode string
	PromptID       string
	AgentID        string // not empty: the event comes from inside a sub-agent
	AgentType      string
	Host           Host // recognised from the event

	env      []string
	data     []byte
	fields   []field
	input    parsedInput // of a PreToolUse
	warnings []string
}

// Base returns c. It makes every event type an [Event].
func (c *Common) Base() *Common { return c }

func (*Common) event() {}

// Getenv returns a variable of the environment that the host started the hook in ([IO.Env]), "" if it is not set. Of a name given
// twice the last one counts. An event that [ParseEvent] made has no environment.
func (c *Common) Getenv(name string) string { return getenv(c.env, name) }

func getenv(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// ProjectDir is the folder in which the agent was started, from CLAUDE_PROJECT_DIR; it need not be the repository's root. A host that
// does not say has its current directory taken for it, [Common.CWD], which moves with the agent's cd.
func (c *Common) ProjectDir() string {
	if dir := c.Getenv("CLAUDE_PROJECT_DIR"); dir != "" {
		return dir
	}
	return c.CWD
}

// Raw returns the value of a top-level field byte for byte as received, null included. Names are compared exactly; of a name given
// twice the last one counts, as in the host. The bytes must not be changed.
func (c *Common) Raw(name string) (json.RawMessage, bool) {
	value, ok := lookup(c.fields, name)
	return value, ok
}

// RawString returns a top-level string field, decoded as by [PreToolUse.InputString]; false if it is absent or no string.
func (c *Common) RawString(name string) (string, bool) { return stringValue(c.Raw(name)) }

// Bytes returns the whole event as received, without a byte order mark and without what surrounds the object. It is nil for an event
// that did not arrive on stdin. The bytes must not be changed.
func (c *Common) Bytes() []byte { return c.data }

// Warnings says which known fields had a value of another type than expected. Such a field is left empty, so that a new version of
// the host cannot break a hook.
func (c *Common) Warnings() []string { return c.warnings }

// Stop is the event at the end of the agent's turn.
type Stop struct {
	Common
	// StopHookActive is true when the agent is still at work because a hook blocked an earlier stop; one bit for all hooks.
	StopHookActive bool
	// LastAssistantMessage is the agent's last message. At this moment the transcript seldom holds it yet.
	LastAssistantMessage string
	BackgroundTasks      []BackgroundTask
	SessionCrons         json.RawMessage
}

// Name returns [EventStop].
func (*Stop) Name() EventName { return EventStop }

// BackgroundTask is a task that runs on while the agent stops.
type BackgroundTask struct{ ID, Type, Status, Description, Command, AgentType string }

// SubagentStop is the event at the end of a sub-agent's turn. It also comes once, with an empty AgentType, when a session is compacted.
type SubagentStop struct {
	Common
	StopHookActive       bool
	LastAssistantMessage string
	BackgroundTasks      []BackgroundTask
	SessionCrons         json.RawMessage
	AgentTranscriptPath  string
}

// Name returns [EventSubagentStop].
func (*SubagentStop) Name() EventName { return EventSubagentStop }

// PreToolUse is the event before a tool runs.
type PreToolUse struct {
	Common
	ToolName  string
	ToolInput json.RawMessage // byte for byte as received; nil if absent
	ToolUseID string
}

// Name returns [EventPreToolUse].
func (*PreToolUse) Name() EventName { return EventPreToolUse }

// Input returns a field of the tool's input byte for byte as received.
func (e *PreToolUse) Input(name string) (json.RawMessage, bool) {
	value, ok := lookup(e.input.of(e.ToolInput), name)
	return value, ok
}

// InputString returns a string field of the tool's input, decoded; false if it is absent or no string. Lone surrogates and bytes that
// are no UTF-8 become U+FFFD; [PreToolUse.Input] has them.
func (e *PreToolUse) InputString(name string) (string, bool) {
	return stringValue(lookup(e.input.of(e.ToolInput), name))
}

// WithInput returns the tool's input with another text in one string field, for [RewriteTool]; the field is added if it is absent.
// Every other byte is as received. The error says that the tool's input is no object, that the field is no string, that its present
// text holds lone surrogates or bytes that are no UTF-8, so that a text made from [PreToolUse.InputString] would lose them, or that
// the new text is not valid UTF-8. The event itself is not changed.
func (e *PreToolUse) WithInput(name, text string) (json.RawMessage, error) {
	return withString(e.ToolInput, name, text)
}

// FilePath returns the file that the tool works on, or "": the path in its input, which for a search is a folder. It may be relative,
// and may hold any character.
func (e *PreToolUse) FilePath() string { return pathIn(e.input.of(e.ToolInput)) }

// PostToolUse is the event after a tool has succeeded.
type PostToolUse struct {
	Common
	ToolName     string
	ToolInput    json.RawMessage // byte for byte as received
	ToolResponse json.RawMessage // byte for byte as received
	ToolUseID    string
}

// Name returns [EventPostToolUse].
func (*PostToolUse) Name() EventName { return EventPostToolUse }

// Input returns a field of the tool's input byte for byte as received.
func (e *PostToolUse) Input(name string) (json.RawMessage, bool) { return member(e.ToolInput, name) }

// InputString returns a string field of the tool's input, decoded as by [PreToolUse.InputString].
func (e *PostToolUse) InputString(name string) (string, bool) { return stringMember(e.ToolInput, name) }

// Response returns a field of the tool's response byte for byte as received.
func (e *PostToolUse) Response(name string) (json.RawMessage, bool) {
	return member(e.ToolResponse, name)
}

// FilePath returns the file that the tool worked on, or "".
func (e *PostToolUse) FilePath() string { return filePath(e.ToolInput) }

// PostToolUseFailure is the event after a tool has failed. A shell command that exits non-zero comes here, not to [PostToolUse].
type PostToolUseFailure struct {
	Common
	ToolName    string
	ToolInput   json.RawMessage // byte for byte as received
	ToolUseID   string
	Error       string // the whole output, for example "Exit code 3\n…"
	IsInterrupt bool
	Duration    time.Duration
}

// Name returns [EventPostToolUseFailure].
func (*PostToolUseFailure) Name() EventName { return EventPostToolUseFailure }

// Input returns a field of the tool's input byte for byte as received.
func (e *PostToolUseFailure) Input(name string) (json.RawMessage, bool) {
	return member(e.ToolInput, name)
}

// InputString returns a string field of the tool's input, decoded as by [PreToolUse.InputString].
func (e *PostToolUseFailure) InputString(name string) (string, bool) {
	return stringMember(e.ToolInput, name)
}

// FilePath returns the file that the tool worked on, or "".
func (e *PostToolUseFailure) FilePath() string { return filePath(e.ToolInput) }

// SessionStart is the event at the start of a session, and after it was cleared, resumed, compacted or forked.
type SessionStart struct {
	Common
	Source string // startup, resume, clear, compact, fork, or a newer value
}

// Name returns [EventSessionStart].
func (*SessionStart) Name() EventName { return EventSessionStart }

// SessionEnd is the event at the end of a session. The host waits 1.5 s for it and reads no answer.
type SessionEnd struct {
	Common
	Reason string // clear, resume, logout, prompt_input_exit, other, or a newer value
}

// Name returns [EventSessionEnd].
func (*SessionEnd) Name() EventName { return EventSessionEnd }

// UserPromptSubmit is the event before a prompt is given to the agent. Reports of background tasks come as prompts too.
type UserPromptSubmit struct {
	Common
	Prompt string
}

// Name returns [EventUserPromptSubmit].
func (*UserPromptSubmit) Name() EventName { return EventUserPromptSubmit }

// Other is an event that has no type of its own: [EventPermissionRequest] and its neighbours, and whatever a new version of a host adds.
// [Common.Raw] and [Common.RawString] have its fields.
type Other struct {
	Common
	Event     EventName       // as the host spells it; empty if the event has no name
	ToolName  string          // of an event about a tool's call
	ToolInput json.RawMessage // byte for byte as received; nil if absent
}

// Name returns the name as the host spells it.
func (e *Other) Name() EventName { return e.Event }

// Input returns a field of the tool's input byte for byte as received.
func (e *Other) Input(name string) (json.RawMessage, bool) { return member(e.ToolInput, name) }

// InputString returns a string field of the tool's input, decoded as by [PreToolUse.InputString].
func (e *Other) InputString(name string) (string, bool) { return stringMember(e.ToolInput, name) }

// WithInput is [PreToolUse.WithInput], for [GrantRewritten].
func (e *Other) WithInput(name, text string) (json.RawMessage, error) {
	return withString(e.ToolInput, name, text)
}
