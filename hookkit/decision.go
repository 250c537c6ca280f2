package hookkit

import "encoding/json"

// Decision is what a hook decided: one of the decision types of this package.
type Decision interface{ decision() }

type stopKind uint8

const (
	stopAllow stopKind = iota
	stopBlock
	stopReport
	stopEnd
)

// StopDecision answers [Stop] and [SubagentStop]. The zero value is [AllowStop].
type StopDecision struct {
	kind   stopKind
	silent bool
	object bool // a block is told by an object and exit 0
	short  string
	reason string
	user   string
	agent  string
}

func (StopDecision) decision() {}

// AllowStop lets the agent stop: exit 0 and {"decision":"approve"}.
func AllowStop() StopDecision { return StopDecision{} }

// BlockStop makes the agent go on. It reads the reason, of any length: the caller cuts it. An empty reason is replaced by a sentence
// that says so.
func BlockStop(reason string) StopDecision { return StopDecision{kind: stopBlock, reason: reason} }

// ReportStop lets the agent stop and reports a trouble: exit 1 with the text on stderr. The agent reads nothing of it (see
// [StopDecision.TellAgent]), the user sees it; make its first line understandable alone.
func ReportStop(text string) StopDecision { return StopDecision{kind: stopReport, reason: text} }

// EndWork ends the agent's work: {"continue":false}. It is the opposite of [BlockStop]: the agent reads nothing and does not go on, and
// no other hook can make it. The user reads the reason.
func EndWork(reason string) StopDecision { return StopDecision{kind: stopEnd, reason: reason} }

// InJSON tells a block by one object on stdout and exit 0, for a program that must end with 0 whatever it decides. In Claude Code the
// agent then reads the reason twice, so keep it short. The short form is the object's stopReason.
func (d StopDecision) InJSON(short string) StopDecision {
	d.object, d.short = true, short
	return d
}

// TellUser adds a message for the user. Above 10,000 characters it is cut.
func (d StopDecision) TellUser(message string) StopDecision {
	d.user = message
	return d
}

// TellAgent adds a text for the agent, which costs it one more turn: an agent cannot be told anything at a stop without one. Above
// 10,000 characters it is cut. With [BlockStop] the text follows the reason.
func (d StopDecision) TellAgent(text string) StopDecision {
	d.agent = text
	return d
}

// Silently makes [AllowStop] print nothing where it has nothing to tell.
func (d StopDecision) Silently() StopDecision {
	d.silent = true
	return d
}

// Blocks reports whether the agent must go on.
func (d StopDecision) Blocks() bool { return d.kind == stopBlock }

// PreToolUseDecision answers [PreToolUse]. The zero value is [AllowTool].
type PreToolUseDecision struct {
	deny    bool
	reason  string
	summary string
	input   string
	context string
	user    string
}

func (PreToolUseDecision) decision() {}

// AllowTool says nothing: the host's own permissions decide. No decision about this event skips the user's permission prompt;
// [GrantPermission] answers it.
func AllowTool() PreToolUseDecision { return PreToolUseDecision{} }

// RewriteTool replaces the tool's whole input; a field that is missing in it fails the call. The input is forwarded byte for byte. The
// agent is not told by the host that its call was changed, so context must say what was changed and where.
// An input that is no JSON object in valid UTF-8 is not sent: the tool runs as it is and the user is told.
func RewriteTool(input json.RawMessage, context string) PreToolUseDecision {
	return PreToolUseDecision{input: string(input), context: context}
}

// DenyTool refuses the call. Summary is a few words; the agent reads the reason, of any length. An empty reason is replaced by the summary.
func DenyTool(summary, reason string) PreToolUseDecision {
	return PreToolUseDecision{deny: true, summary: summary, reason: reason}
}

// TellUser adds a message for the user. Above 10,000 characters it is cut.
func (d PreToolUseDecision) TellUser(message string) PreToolUseDecision {
	d.user = message
	return d
}

// TellAgent adds a text for the agent; with [RewriteTool] it replaces the context given there. Above 10,000 characters it is cut.
func (d PreToolUseDecision) TellAgent(text string) PreToolUseDecision {
	d.context = text
	return d
}

// Denies reports whether the call is refused.
func (d PreToolUseDecision) Denies() bool { return d.deny }

// PostToolUseDecision answers [PostToolUse] and [PostToolUseFailure]. The zero value is [AcceptResult]. What the agent is told stays in
// its context for good: tell only what is new.
type PostToolUseDecision struct {
	block   bool
	reason  string
	summary string
	context string
	user    string
}

func (PostToolUseDecision) decision() {}

// AcceptResult says nothing.
func AcceptResult() PostToolUseDecision { return PostToolUseDecision{} }

// RejectResult shows the reason to the agent beside the tool's result, as an error. Nothing is undone. Summary is a few words.
func RejectResult(summary, reason string) PostToolUseDecision {
	return PostToolUseDecision{block: true, summary: summary, reason: reason}
}

// TellUser adds a message for the user. Above 10,000 characters it is cut.
func (d PostToolUseDecision) TellUser(message string) PostToolUseDecision {
	d.user = message
	return d
}

// TellAgent adds a text for the agent, the quiet form. Above 10,000 characters it is cut.
func (d PostToolUseDecision) TellAgent(text string) PostToolUseDecision {
	d.context = text
	return d
}

// SessionStartDecision answers [SessionStart]: it can add to what the agent knows. The zero value adds nothing.
type SessionStartDecision struct {
	context string
	user    string
}

func (SessionStartDecision) decision() {}

// AddContext adds a text for the agent; "" adds nothing. Above 10,000 characters it is cut.
func AddContext(text string) SessionStartDecision { return SessionStartDecision{context: text} }

// TellUser adds a message for the user. Above 10,000 characters it is cut.
func (d SessionStartDecision) TellUser(message string) SessionStartDecision {
	d.user = message
	return d
}

// UserPromptSubmitDecision answers [UserPromptSubmit]. The zero value is [AllowPrompt].
type UserPromptSubmitDecision struct {
	block   bool
	reason  string
	context string
	user    string
}

func (UserPromptSubmitDecision) decision() {}

// AllowPrompt lets the agent have the prompt.
func AllowPrompt() UserPromptSubmitDecision { return UserPromptSubmitDecision{} }

// BlockPrompt keeps the prompt from the agent. The user reads the reason, the agent reads nothing, whatever it is told otherwise. An
// empty reason is replaced by a sentence that says so.
func BlockPrompt(reason string) UserPromptSubmitDecision {
	return UserPromptSubmitDecision{block: true, reason: reason}
}

// TellUser adds a message for the user. Above 10,000 characters it is cut.
func (d UserPromptSubmitDecision) TellUser(message string) UserPromptSubmitDecision {
	d.user = message
	return d
}

// TellAgent adds a text for the agent beside the prompt. Above 10,000 characters it is cut.
func (d UserPromptSubmitDecision) TellAgent(text string) UserPromptSubmitDecision {
	d.context = text
	return d
}

// Blocks reports whether the prompt is kept from the agent.
func (d UserPromptSubmitDecision) Blocks() bool { return d.block }

type otherKind uint8

const (
	otherPass otherKind = iota
	otherBlock
	otherGrant
	otherAnswer
)

// OtherDecision answers an [Other]. The zero value is [PassEvent]. Hosts take few answers to these events: what this one has no way to be
// told there is not sent, and a line on stderr says so. docs/hook-authors.md has the table.
type OtherDecision struct {
	kind    otherKind
	reason  string
	object  string // the input of a grant, or the whole answer
	context string
	user    string
}

func (OtherDecision) decision() {}

// PassEvent says nothing.
func PassEvent() OtherDecision { return OtherDecision{} }

// BlockEvent keeps from happening what the event announces, where the host has a way for that: at [EventPermissionRequest] the tool does
// not run, and the agent reads the reason; at [EventPreCompact] nothing is summarised, and the user reads it. An empty reason is replaced
// by a sentence that says so.
func BlockEvent(reason string) OtherDecision { return OtherDecision{kind: otherBlock, reason: reason} }

// GrantPermission answers [EventPermissionRequest] in the user's place: the tool runs, and nobody is asked. To leave it to the user,
// [PassEvent].
func GrantPermission() OtherDecision { return OtherDecision{kind: otherGrant} }

// GrantRewritten is [GrantPermission] with another input, whole as for [RewriteTool]: see [Other.WithInput]. Where the host takes no other
// input, or this is no JSON object in valid UTF-8, nothing is granted.
func GrantRewritten(input json.RawMessage) OtherDecision {
	return OtherDecision{kind: otherGrant, object: string(input)}
}

// AnswerEvent says this JSON object, byte for byte and with exit 0, to whatever host: for an event whose answers this package does not
// know. What is no JSON object in valid UTF-8 is not sent. What TellUser and TellAgent add goes to stderr: put it into the object.
func AnswerEvent(object json.RawMessage) OtherDecision {
	return OtherDecision{kind: otherAnswer, object: string(object)}
}

// TellUser adds a message for the user. Above 10,000 characters it is cut.
func (d OtherDecision) TellUser(message string) OtherDecision {
	d.user = message
	return d
}

// TellAgent adds a text for the agent. Above 10,000 characters it is cut. With [BlockEvent] the text follows the reason where the agent
// reads that.
func (d OtherDecision) TellAgent(text string) OtherDecision {
	d.context = text
	return d
}

// Blocks reports whether the decision is [BlockEvent].
func (d OtherDecision) Blocks() bool { return d.kind == otherBlock }
