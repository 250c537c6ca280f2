package hookkit

import (
	"strings"
	"unicode/utf8"
)

// Output is what a hook leaves for its host.
type Output struct {
	Exit   int // 0; 1 for a report; 2 for a block, and for advice after a failed tool in Copilot CLI
	Stdout []byte
	Stderr []byte
}

const (
	exitOK     = 0
	exitReport = 1
	exitBlock  = 2
)

// Encode says how a decision about an event is told to a host. It is pure. Event decides the hookEventName; the name is ours whatever
// the host calls it. Stdout is empty or one JSON object in valid UTF-8; it is one line unless a rewritten tool input has line ends.
// systemMessage and additionalContext are cut at 10,000 characters; reasons and stderr are not. A nil decision says nothing, and so
// does a decision that does not answer this event: both give the zero Output.
//
// What a host has no way to be told is left out, or goes to stderr where that harms nothing.
func Encode(host Host, event EventName, d Decision) Output {
	if !answers(d, event) {
		return Output{}
	}
	switch d := d.(type) {
	case StopDecision:
		if d.kind != stopAllow && strings.TrimSpace(d.reason) == "" {
			d.reason = noReason(d.kind)
		}
		return encodeStop(host, event, d)
	case PreToolUseDecision:
		return encodePreToolUse(host, d.checked())
	case PostToolUseDecision:
		return encodePostToolUse(host, event, d.checked())
	case SessionStartDecision:
		return encodeContext(host, event, d.context, d.user)
	case UserPromptSubmitDecision:
		if d.block {
			return encodeBlockedPrompt(host, d)
		}
		return encodeContext(host, event, d.context, d.user)
	case OtherDecision:
		return encodeOther(host, event, d)
	}
	return Output{}
}

// answers reports whether a decision of this type can be made about the event.
func answers(d Decision, event EventName) bool {
	var ok bool
	switch event {
	case EventStop, EventSubagentStop:
		_, ok = d.(StopDecision)
	case EventPreToolUse:
		_, ok = d.(PreToolUseDecision)
	case EventPostToolUse, EventPostToolUseFailure:
		_, ok = d.(PostToolUseDecision)
	case EventSessionStart:
		_, ok = d.(SessionStartDecision)
	case EventUserPromptSubmit:
		_, ok = d.(UserPromptSubmitDecision)
	case EventSessionEnd:
	default:
		_, ok = d.(OtherDecision)
	}
	return ok
}

func noReason(kind stopKind) string {
	switch kind {
	case stopBlock:
		return "A stop hook blocked and gave no reason."
	case stopEnd:
		return "A stop hook ended the work and gave no reason."
	default:
	}
	return "A stop hook reported a trouble and did not say which."
}

// checked completes a refusal without texts, and drops a rewrite that would make the whole output unreadable.
func (d PreToolUseDecision) checked() PreToolUseDecision {
	d.summary, d.reason = bothTexts(d.summary, d.reason, "A hook refused this tool call and gave no reason.")
	if d.input == "" {
		return d
	}
	if !isObject(d.input) {
		d.input, d.context = "", ""
		d.user = joined(d.user, "A hook wanted to change the tool's input, but what it made is not a JSON object: the tool runs unchanged.")
	}
	return d
}

// isObject reports whether a text is one JSON object in valid UTF-8.
func isObject(text string) bool {
	object, _, err := parseObject([]byte(text))
	return err == nil && utf8.ValidString(text) && strings.TrimSpace(text) == string(object)
}

func (d PostToolUseDecision) checked() PostToolUseDecision {
	d.summary, d.reason = bothTexts(d.summary, d.reason, "A hook rejected this result and gave no reason.")
	return d
}

func bothTexts(summary, reason, none string) (s, r string) {
	switch {
	case reason == "" && summary == "":
		return none, none
	case reason == "":
		return summary, summary
	case summary == "":
		first, _, _ := strings.Cut(reason, "\n")
		return first, reason
	}
	return summary, reason
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// stderrText ends a text with a newline.
func stderrText(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(strings.TrimRight(s, "\n") + "\n")
}

// about is a hookSpecificOutput with a context for the agent, empty without one.
func about(event EventName, context string) object {
	var o object
	if context != "" {
		o.str("hookEventName", string(event))
		o.text("additionalContext", context)
	}
	return o
}

func encodeStop(host Host, event EventName, d StopDecision) Output {
	if d.kind == stopEnd {
		return endWork(d)
	}
	if d.kind == stopBlock && d.object {
		return blockObject(host, d)
	}
	switch host {
	case Codex:
		return codexStop(d)
	case ECA:
		return ecaStop(d)
	case Gemini:
		return geminiStop(d)
	case Copilot:
		return copilotStop(d)
	case Cursor:
		return cursorStop(d)
	default:
		return claudeStop(host, event, d)
	}
}

func claudeStop(host Host, event EventName, d StopDecision) Output {
	var o object
	switch d.kind {
	case stopBlock:
		reason := d.fullReason()
		// The reason goes to stderr, which reaches the agent once. A block object on stdout would replace it and arrive twice.
		if host == Portable {
			o.str("decision", "block")
			o.str("reason", reason)
		}
		o.text("systemMessage", d.user)
		stdout := o.line()
		if stdout == nil {
			// Never blank: the client takes exit 2 with blank stdout for a broken hook when stderr holds words like
			// "No such file or directory".
			stdout = []byte("{}\n")
		}
		return Output{Exit: exitBlock, Stdout: stdout, Stderr: stderrText(reason)}
	case stopReport:
		o.text("systemMessage", d.user)
		o.specific(about(event, d.agent))
		return Output{Exit: exitReport, Stdout: o.line(), Stderr: stderrText(d.reason)}
	default:
		if !d.silent {
			o.str("decision", "approve")
		}
		o.text("systemMessage", d.user)
		o.specific(about(event, d.agent))
		return Output{Stdout: o.line()}
	}
}

// endWork is the same in all hosts that know it; the others ignore the object.
func endWork(d StopDecision) Output {
	var o object
	o.raw("continue", "false")
	o.str("stopReason", d.reason)
	o.text("systemMessage", d.user)
	return Output{Stdout: o.line()}
}

// blockObject is a block at exit 0, in the form that each host reads there.
func blockObject(host Host, d StopDecision) Output {
	var o object
	switch host {
	case ECA:
		o.str("followUp", d.fullReason())
		o.text("systemMessage", d.user)
	case Cursor:
		return cursorStop(d)
	case Codex, Copilot: // no other keys
		o.str("decision", "block")
		o.str("reason", d.fullReason())
		return Output{Stdout: o.line(), Stderr: stderrText(d.user)}
	default:
		o.str("decision", "block")
		o.str("reason", d.fullReason())
		o.str("stopReason", d.short)
		o.text("systemMessage", d.user)
	}
	return Output{Stdout: o.line()}
}

// fullReason is what the agent reads when it must go on.
func (d StopDecision) fullReason() string { return joined(d.reason, d.agent) }

func encodePreToolUse(host Host, d PreToolUseDecision) Output {
	switch host {
	case Codex:
		return codexPreToolUse(d)
	case ECA:
		return ecaPreToolUse(d)
	case Gemini:
		return geminiPreToolUse(d)
	case Copilot:
		return copilotPreToolUse(d)
	case Cursor:
		return cursorPreToolUse(d)
	default:
		return claudePreToolUse(d)
	}
}

func claudePreToolUse(d PreToolUseDecision) Output {
	var o, inner object
	if d.deny || d.input != "" || d.context != "" {
		inner.str("hookEventName", string(EventPreToolUse))
	}
	if d.deny {
		o.yes("continue")
		o.str("decision", "block")
		o.str("reason", d.reason)
		o.str("stopReason", d.summary)
		inner.str("permissionDecision", "deny")
		inner.str("permissionDecisionReason", d.reason)
	}
	inner.raw("updatedInput", d.input)
	inner.text("additionalContext", d.context)
	o.text("systemMessage", d.user)
	o.specific(inner)
	return Output{Stdout: o.line()}
}

func encodePostToolUse(host Host, event EventName, d PostToolUseDecision) Output {
	if host != Claude && host != Portable {
		return otherPostToolUse(host, event, d)
	}
	var o object
	if d.block {
		o.yes("continue")
		o.str("decision", "block")
		o.str("reason", d.reason)
		o.str("stopReason", d.summary)
	}
	o.text("systemMessage", d.user)
	o.specific(about(event, d.context))
	return Output{Stdout: o.line()}
}

func encodeContext(host Host, event EventName, context, user string) Output {
	var o object
	switch host {
	case ECA:
		o.text("additionalContext", context)
		o.text("systemMessage", user)
	case Copilot, Cursor: // neither can be told anything for the agent at these events
		return Output{Stderr: stderrText(user)}
	case Codex:
		o.specific(about(event, context))
		return Output{Stdout: o.line(), Stderr: stderrText(user)}
	case Gemini:
		o.text("systemMessage", user)
		o.specific(about(geminiName(event), context))
	default:
		o.text("systemMessage", user)
		o.specific(about(event, context))
	}
	return Output{Stdout: o.line()}
}

func encodeBlockedPrompt(host Host, d UserPromptSubmitDecision) Output {
	if strings.TrimSpace(d.reason) == "" {
		d.reason = "A hook blocked this prompt and gave no reason."
	}
	var o object
	switch host {
	case Codex, ECA, Gemini:
		return Output{Exit: exitBlock, Stderr: stderrText(joined(d.reason, d.user))}
	case Copilot: // it reads no answer: the prompt goes on
		return Output{Stderr: stderrText(joined(d.reason, d.user))}
	case Cursor:
		o.raw("continue", "false")
		o.str("user_message", joined(d.reason, d.user))
	default:
		o.str("decision", "block")
		o.str("reason", d.reason)
		o.text("systemMessage", d.user)
	}
	return Output{Stdout: o.line()}
}
