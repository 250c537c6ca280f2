package claudecode

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Texts of the client.
const (
	// BlockedByHook stands for the reason of a block that has none.
	BlockedByHook = "Blocked by hook"
	// NoStderr stands for stderr where exit 2 came without any. It is in no
	// recording.
	NoStderr = "No stderr output"
	// NoUsableAnswer is shown to the user where a hook before a tool failed
	// (recording seed-allow-object).
	NoUsableAnswer = "A hook gave no usable answer, so it didn't check this action."
	// NoAnswerInTime is shown to the user where a hook before a tool ran into
	// its timeout (observed on 2.1.330).
	NoAnswerInTime = "A hook didn't answer in time, so it didn't check this action."
)

// Why a tool is refused although no hook said so (observed on 2.1.330).
const (
	heldAnswer = "hook output parsed as a document that grants, rewrites or injects, but its stdio went quiet before end-of-stream and a dropped later document could have changed it; refusing to honor the suspect capture"
	heldHalf   = "hook output opens a JSON payload that never completed before its stdio went quiet; refusing to read the partial capture as a verdict"
	unreadable = "blocked (exit 2); its output could not be processed"
)

// maxText is the length from which on the client replaces additionalContext,
// systemMessage and plain stdout by a preview, and previewText the length of
// that (host-protocol, Output: "No cap on block reasons").
const (
	maxText     = 10_000
	previewText = 2_000
)

// hookName is how the client names a hook in its texts: the event, on tool
// events and SessionStart with the value (recordings edit-multistep,
// eval-strict-block).
func hookName(r Run) string {
	if r.Value != "" && (IsToolEvent(r.Event) || r.Event == "SessionStart") {
		return r.Event + ":" + r.Value
	}
	return r.Event
}

// block delivers a block's text. fromJSON says that it comes from an object:
// then it reaches the agent twice at Stop and SubagentStop, as text of a user
// message and as a system message (recordings stop-blocked-twice and
// subagent-background against stop-blocked-plain-exit2).
func (re *Reaction) block(r Run, text string, fromJSON bool) {
	asError := Text{As: AsSystem, Text: hookName(r) + ` hook blocking error from command: "` + r.Command + `": ` + text}
	switch {
	case IsStop(r.Event):
		re.Blocked, re.GoesOn = true, true
		re.Parts.Feedback = text
		re.Told = append(re.Told, Text{As: AsUser, Text: "Stop hook feedback:\n" + text})
		if fromJSON {
			re.Parts.Error = text
			re.Told = append(re.Told, asError)
		}
	case r.Event == "PreToolUse":
		re.Blocked = true
		re.Told = append(re.Told, Text{As: AsResult, Text: hookName(r) + " hook error: " + text})
	case r.Event == "PermissionRequest": // the words are in no recording
		re.Blocked, re.Permission = true, "deny"
		re.Told = append(re.Told, Text{As: AsResult, Text: text})
	case r.Event == "UserPromptSubmit":
		re.Blocked = true
		re.Shown = append(re.Shown, Text{As: AsNotice, Text: "UserPromptSubmit operation blocked by hook:\n" + text})
	case tellsBlock(r.Event):
		re.Parts.Error = text
		re.Told = append(re.Told, asError)
	case canBlock(r.Event):
		re.Blocked = true
		re.Shown = append(re.Shown, Text{As: AsNotice, Text: text})
	}
}

// context delivers additionalContext: a system message beside the tool's
// result (recordings edit-multistep, write-bracket-autofix); at Stop a
// reminder and one more turn (host-protocol, Stop; its words are taken from
// the tool events).
func (re *Reaction) context(r Run, text string) {
	t := cut(r, "additionalContext", text)
	t.As = AsSystem
	re.Parts.Context = t.Text
	t.Text = hookName(r) + " hook additional context: " + t.Text
	if IsStop(r.Event) {
		t.As = AsReminder
		re.GoesOn = true
	}
	re.Told = append(re.Told, t)
}

// plain delivers standard output that is no object: at UserPromptSubmit and
// SessionStart it is context for the agent, elsewhere nobody reads it. The
// words in front of it are in no recording.
func (re *Reaction) plain(r Run, stdout string) {
	if r.Exit != 0 || r.Event != "UserPromptSubmit" && r.Event != "SessionStart" {
		return
	}
	t := cut(r, "stdout", strings.TrimRight(stdout, "\n"))
	t.As, t.Text = AsSystem, hookName(r)+" hook success: "+t.Text
	re.Told = append(re.Told, t)
}

// cut replaces a text of more than 10,000 characters by a reference to a file
// and a preview. Block reasons, deny reasons and stderr are never cut. The
// frame's words are in no recording.
func cut(r Run, name, text string) Text {
	if utf16Len(text) <= maxText {
		return Text{Text: text}
	}
	preview := text[:previewText]
	for !utf8.ValidString(preview) && len(preview) > previewText-utf8.UTFMax {
		preview = preview[:len(preview)-1]
	}
	file := "hook-" + r.Event + "-" + name
	if r.SaveID != "" {
		file += "-" + r.SaveID // one run says each of the three at most once
	}
	saved := path.Join(r.SaveDir, file+".txt")
	return Text{
		Full: text, Saved: saved,
		Text: fmt.Sprintf("<persisted-output>\nOutput too large (%.1fKB). Full output saved to: %s\n\nPreview (first 2KB):\n%s\n...\n</persisted-output>",
			float64(len(text))/1024, saved, preview),
	}
}

// utf16Len is a string's length as JavaScript counts it.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
