package hookkit

import "strings"

// otherAnswers says what a host takes as an answer to an event that has no type here.
type otherAnswers struct {
	permission bool // a decision in the user's place
	input      bool // another input beside it
	block      bool // decision:"block"
	context    bool // additionalContext
	message    bool // systemMessage
}

// takes is the table of docs/hook-authors.md. Of Claude Code's answers that to PostToolBatch is observed, the others are its public
// reference's; of Codex CLI's the message is observed, the others stand in the schemas that it carries.
func takes(host Host, event EventName) otherAnswers {
	var t otherAnswers
	switch host {
	case Claude, Portable:
		t.message = true
		t.permission, t.input = event == EventPermissionRequest, event == EventPermissionRequest
		t.block = event == EventPreCompact
		t.context = event == EventSubagentStart || event == EventNotification || event == EventPostToolBatch
	case Codex:
		t.message = true
		t.permission = event == EventPermissionRequest // with another input it refuses the tool
		t.context = event == EventSubagentStart
	case ECA, Gemini:
		t.message = true
	default:
	}
	return t
}

func encodeOther(host Host, event EventName, d OtherDecision) Output {
	may := takes(host, event)
	var o, inner, decision object
	unsaid := "" // what nobody is told
	leaveOut := func(why string) { unsaid = joined(unsaid, why) }
	switch d.kind {
	case otherAnswer:
		if isObject(d.object) {
			return Output{Stdout: []byte(strings.TrimSpace(d.object) + "\n"), Stderr: stderrText(joined(d.user, d.context))}
		}
		leaveOut("A hook's answer is not sent: it is not a JSON object.")
	case otherGrant:
		switch {
		case !may.permission:
			leaveOut("A hook granted a permission, which this host does not take from a hook here.")
		case d.object == "":
			decision.str("behavior", "allow")
		case !may.input:
			leaveOut("A hook granted a permission with another input, which this host cannot take: it is not granted.")
		case !isObject(d.object):
			leaveOut("A hook granted a permission with another input, but what it made is not a JSON object: it is not granted.")
		default:
			decision.str("behavior", "allow")
			decision.raw("updatedInput", d.object)
		}
	case otherBlock:
		if strings.TrimSpace(d.reason) == "" {
			d.reason = "A hook blocked this and gave no reason."
		}
		switch {
		case may.permission: // the agent reads the message
			decision.str("behavior", "deny")
			decision.str("message", joined(d.reason, d.context))
			d.context = ""
		case may.block:
			o.str("decision", "block")
			o.str("reason", d.reason)
		default:
			leaveOut("A hook wanted to block this event, which this host has no way for: " + d.reason)
		}
	default:
	}
	if d.context != "" && !may.context {
		leaveOut("The agent cannot be told at this event: " + d.context)
		d.context = ""
	}
	if d.user != "" && !may.message {
		unsaid = joined(d.user, unsaid)
		d.user = ""
	}
	if d.context != "" || !decision.empty() {
		inner.str("hookEventName", string(event))
	}
	inner.obj("decision", decision)
	inner.text("additionalContext", d.context)
	o.text("systemMessage", d.user)
	o.specific(inner)
	return Output{Stdout: o.line(), Stderr: stderrText(unsaid)}
}
