package claudecode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Run is what one hook did.
type Run struct {
	Event   string
	Value   string // the tool's name, the source, the reason; it stands in delivered texts
	Command string // as configured
	Exit    int
	Signal  string // "" or the signal that ended it

	Stdout, Stderr []byte

	TimedOut    bool
	StreamsHeld bool // something still held stdout or stderr 0.5 s after the exit
	NotStarted  bool

	// SaveDir is the folder in which the client keeps texts that are too long
	// for the agent; it stands in front of the file's name in a preview.
	SaveDir string
	// SaveID tells this run apart from all others of the session in those
	// names; "" leaves it out.
	SaveID string
}

// How a text reaches the agent or the user: Text.As.
const (
	AsUser     = "user"     // the agent: text of a user message
	AsSystem   = "system"   // the agent: a system message after it
	AsReminder = "reminder" // the agent: a reminder, not an error
	AsResult   = "result"   // the agent: the content of the tool's result

	AsMessage = "message" // the user: the hook's systemMessage
	AsNotice  = "notice"  // the user: the client's own words, headless too
	AsScreen  = "screen"  // the user: only on the screen of an interactive session
)

// Text is one text as it was delivered.
type Text struct {
	As   string
	Text string
	// Full is the whole text where Text is a preview of it, and Saved the
	// file in which the client keeps it.
	Full, Saved string `json:",omitempty"`
}

// Names of the protocol faults in a hook's output: Reaction.Fault.
const (
	FaultTwoDocuments       = "two-documents"
	FaultTextAroundJSON     = "text-around-json"
	FaultBadJSON            = "bad-json"
	FaultWrongValue         = "wrong-value"
	FaultMissingEventName   = "missing-event-name"
	FaultForeignEventName   = "foreign-event-name"
	FaultDowngrade          = "downgrade"
	FaultStreamHeld         = "stream-held"
	FaultBlockWithoutReason = "block-without-reason"
	FaultBlockWithoutText   = "block-without-text"
	FaultContinueFalse      = "continue-false"
	FaultTimedOut           = "timed-out"
	FaultNotStarted         = "not-started"
)

// Reaction is what the client does after a hook.
type Reaction struct {
	Blocked      bool // the action (stop, tool, prompt) does not go on
	GoesOn       bool // at Stop and SubagentStop: the agent gets another turn, by a block or by additionalContext
	Ended        bool // continue:false: the agent's work ends
	Told         []Text
	Shown        []Text
	Permission   string // PreToolUse: "", "allow", "deny", "ask"; PermissionRequest: "", "allow", "deny"
	UpdatedInput json.RawMessage
	Fault        string   // one of the Fault names, "" if none
	Note         string   // the same in a sentence for people
	Unknown      []string // keys of the object that the client dropped
	Parts        Parts    // of one hook; a combined reaction has none
}

// Parts are a hook's own words in what is told and shown, without those that the
// client puts around them; "" where the hook did not say the thing.
type Parts struct {
	Feedback   string // at Stop and SubagentStop: what the agent reads as a user message
	Error      string // what it reads as a blocking error
	Context    string // additionalContext
	Message    string // systemMessage
	StopReason string // of continue:false
	Taken      bool   // it printed an object, and the client took it
	Refused    bool   // it printed one, and the client refused it
}

// IsStop reports whether an event is Stop or SubagentStop.
func IsStop(event string) bool { return event == "Stop" || event == "SubagentStop" }

// canBlock reports whether a block stops something at an event (host-protocol,
// Output: "Exit 2 blocks where blocking exists").
func canBlock(event string) bool {
	return IsStop(event) || slices.Contains([]string{"PreToolUse", "UserPromptSubmit", "PreCompact", "PermissionRequest"}, event)
}

// tellsBlock reports whether the agent reads a block although nothing is
// undone (host-protocol, PostToolUse).
func tellsBlock(event string) bool { return event == "PostToolUse" || event == "PostToolUseFailure" }

// Judge says what the client does with one hook's output (host-protocol,
// Output).
func Judge(r Run) Reaction {
	switch {
	case r.Event == "SessionEnd":
		return judgeSessionEnd(r)
	case r.TimedOut:
		// Recording stop-timeout: everything printed is ignored, nothing is blocked.
		re := Reaction{Fault: FaultTimedOut, Note: "the hook ran into its timeout; what it printed is ignored and nothing is blocked"}
		if r.Event == "PreToolUse" {
			re.Shown = []Text{{As: AsNotice, Text: NoAnswerInTime}}
		}
		return re
	case r.NotStarted:
		return nonBlocking(r, Reaction{Fault: FaultNotStarted, Note: "the hook could not be started; nothing is blocked"}, true)
	}
	read := readOutput(r.Event, r.Stdout)
	object := read.bad || read.answer != nil
	if r.StreamsHeld {
		read = read.held(r)
	}
	foreign := read.bad && read.fault == FaultForeignEventName
	if foreign && r.Exit == 2 && r.Event == "PreToolUse" {
		read.refuse = unreadable
	}
	taken := read.answer != nil
	re := Reaction{Fault: read.fault, Note: read.note, Parts: Parts{Taken: taken, Refused: object && !taken}}
	switch {
	case read.refuse != "":
		re.Permission = "deny"
		re.block(r, "["+r.Command+"]: "+read.refuse, false)
		return re
	case read.bad && r.Exit == 2 && !foreign: // observed on 2.1.330
		re.exit2(r)
		return re
	case read.bad: // recording seed-allow-object
		return nonBlocking(r, re, true)
	case read.answer != nil:
		re.Unknown = read.answer.unknown
		re.apply(r, read.answer)
	case read.plain != "":
		re.plain(r, read.plain)
	}
	blockedByAnswer := read.answer != nil && read.answer.blocks(r.Event)
	switch {
	case r.Signal != "" || r.Exit != 0 && r.Exit != 2:
		if read.answer == nil {
			re = nonBlocking(r, re, r.Exit == noSuchCommand)
		}
	case r.Exit == 2 && !blockedByAnswer:
		re.exit2(r)
	}
	if re.Ended && IsStop(r.Event) {
		re.Blocked, re.GoesOn, re.Told = false, false, nil // recording gauntlet-continue-false
		re.Parts.Feedback, re.Parts.Error, re.Parts.Context = "", "", ""
	}
	return re
}

// judgeSessionEnd: JSON is ignored, a failure is printed (recording
// sessionend-too-slow).
func judgeSessionEnd(r Run) Reaction {
	why := ""
	var re Reaction
	switch {
	case r.TimedOut:
		why = "Hook cancelled"
		re.Fault, re.Note = FaultTimedOut, "the hook was still running when its time at SessionEnd was over"
	case r.NotStarted:
		why = strings.TrimSpace(string(r.Stderr))
		re.Fault, re.Note = FaultNotStarted, "the hook could not be started"
	case r.Exit != 0 || r.Signal != "":
		why = strings.TrimSpace(string(r.Stderr))
	}
	if why != "" {
		re.Shown = []Text{{As: AsNotice, Text: fmt.Sprintf("SessionEnd hook [%s] failed: %s", r.Command, why)}}
	}
	return re
}

// blocks reports whether an object blocks by itself.
func (a *answer) blocks(event string) bool {
	return a.Decision == "block" && (canBlock(event) || tellsBlock(event)) || a.Permission == "deny" || a.Behavior == "deny"
}

// apply acts on an object that the client accepted.
func (re *Reaction) apply(r Run, a *answer) {
	if a.Continue != nil && !*a.Continue {
		re.Ended, re.Parts.StopReason = true, a.StopReason
		re.Shown = append(re.Shown, Text{As: AsScreen, Text: hookName(r) + " hook stopped continuation: " + a.StopReason})
		re.Fault, re.Note = FaultContinueFalse, "continue:false ends the agent's work; it is the opposite of blocking"
	}
	if a.SystemMessage != "" {
		t := cut(r, "systemMessage", a.SystemMessage)
		re.Parts.Message = t.Text
		t.As, t.Text = AsMessage, hookName(r)+" says: "+t.Text
		re.Shown = append(re.Shown, t)
	}
	switch {
	case r.Event == "PreToolUse":
		re.permission(r, a)
	case a.Behavior == "allow":
		re.Permission, re.UpdatedInput = "allow", a.UpdatedInput
	case a.Behavior == "deny":
		message := a.Message
		if message == "" {
			message = BlockedByHook
			re.Fault, re.Note = FaultBlockWithoutReason, "a deny without a message: the agent reads \""+BlockedByHook+"\" and nothing else"
		}
		re.block(r, message, true)
	case a.Decision == "block":
		reason := a.Reason
		if reason == "" {
			reason = BlockedByHook
			re.Fault, re.Note = FaultBlockWithoutReason, "a block without a reason: the agent reads \""+BlockedByHook+"\" and nothing else"
		}
		re.block(r, reason, true)
	}
	if a.Context != "" {
		re.context(r, a.Context)
	}
}

// permission acts on PreToolUse's decisions. The legacy decision block is a
// deny (recording write-unfixable-deny), approve an allow; permissionDecision
// wins over both.
func (re *Reaction) permission(r Run, a *answer) {
	re.UpdatedInput = a.UpdatedInput
	re.Permission = a.Permission
	reason := a.PermissionReason
	if re.Permission == "" {
		switch a.Decision {
		case "approve":
			re.Permission = "allow"
		case "block":
			re.Permission, reason = "deny", a.Reason
		}
	}
	if re.Permission != "deny" {
		return
	}
	if reason == "" {
		reason = a.Reason
	}
	if reason == "" {
		reason = BlockedByHook
		re.Fault, re.Note = FaultBlockWithoutReason, "a deny without a reason: the agent reads \""+BlockedByHook+"\" and nothing else"
	}
	re.UpdatedInput = nil
	re.block(r, reason, true)
}

// exit2 blocks with stderr (recordings stop-blocked-plain-exit2, deny-exit2).
func (re *Reaction) exit2(r Run) {
	if IsStop(r.Event) && len(bytes.TrimSpace(r.Stdout)) == 0 && downgraded(string(r.Stderr)) {
		re.Fault = FaultDowngrade
		re.Note = "exit 2 with a blank stdout, and stderr speaks of a missing file: the client takes that for a missing command and does not block"
		return
	}
	text := string(r.Stderr)
	if strings.TrimSpace(text) == "" {
		text = NoStderr
		if canBlock(r.Event) && re.Fault == "" {
			re.Fault, re.Note = FaultBlockWithoutText, "exit 2 with nothing on stderr: the agent is not told why"
		}
	}
	switch {
	case canBlock(r.Event) || tellsBlock(r.Event):
		re.block(r, "["+r.Command+"]: "+text, false)
	default:
		re.Shown = append(re.Shown, Text{As: AsScreen, Text: text})
	}
	if r.Event == "PreToolUse" || r.Event == "PermissionRequest" {
		re.Permission, re.UpdatedInput = "deny", nil
	}
}

// downgraded reports whether stderr reads like that of a shell that did not
// find the command (host-protocol, Output: "Downgrade").
func downgraded(stderr string) bool {
	return strings.Contains(stderr, "No such file or directory") || strings.Contains(stderr, "can't open")
}

// noSuchCommand is the exit code of a shell that did not find the command.
const noSuchCommand = 127

// nonBlocking is a hook that failed and blocks nothing (recordings
// stop-nonblocking-failure, seed-allow-object): the agent is told nothing, the
// screen of an interactive session shows stderr. Before a tool the user reads
// that an unusable hook did not check it; exit 1 alone does not make one.
func nonBlocking(r Run, re Reaction, unusable bool) Reaction {
	re.Blocked, re.Told = false, nil
	if stderr := strings.TrimSpace(string(r.Stderr)); stderr != "" {
		re.Shown = append(re.Shown, Text{As: AsScreen, Text: "Failed with non-blocking status code: " + stderr})
	}
	if r.Event == "PreToolUse" && unusable {
		re.Shown = append(re.Shown, Text{As: AsNotice, Text: NoUsableAnswer})
	}
	return re
}
