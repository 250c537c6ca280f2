package hookkit

// How the hosts other than Claude Code are told a decision, after their documentation. Where a host is thought to have no channel for a
// message to the user, the message goes to stderr. "Tried" below names what has been seen on the real program; the rest has not.

// Tried on Codex CLI 0.169.0: a block at a stop and context after a tool arrive; a report's text reaches nobody, nor does stderr at exit 0.
// Codex CLI refuses an object with a key that its schema does not have, and every approval: silence, or exit 2 and stderr.

func codexStop(d StopDecision) Output {
	switch d.kind {
	case stopBlock:
		return Output{Exit: exitBlock, Stderr: stderrText(d.fullReason())}
	case stopReport:
		return Output{Exit: exitReport, Stderr: stderrText(d.reason)}
	default:
		return Output{Stderr: stderrText(d.user)}
	}
}

func codexPreToolUse(d PreToolUseDecision) Output {
	if d.deny {
		return Output{Exit: exitBlock, Stderr: stderrText(joined(d.reason, d.context))}
	}
	return Output{Stderr: stderrText(joined(d.user, noRewrite(d)))}
}

// noRewrite is what is said about a changed input in a host that takes none.
func noRewrite(d PreToolUseDecision) string {
	if d.input == "" {
		return ""
	}
	return "A hook wanted to change the tool's input, which this host cannot take: the tool runs unchanged."
}

// Never observed. ECA reads JSON at exit 0 only; at exit 2 stderr is the agent's next prompt, or the reason why the tool was refused.

func ecaStop(d StopDecision) Output {
	var o object
	switch d.kind {
	case stopBlock:
		return Output{Exit: exitBlock, Stderr: stderrText(d.fullReason())}
	case stopReport:
		if d.user == "" && d.agent == "" {
			return Output{Exit: exitReport, Stderr: stderrText(d.reason)}
		}
		o.text("systemMessage", d.user)
		o.str("followUp", d.agent)
		return Output{Stdout: o.line(), Stderr: stderrText(d.reason)}
	default:
		o.text("systemMessage", d.user)
		o.str("followUp", d.agent)
		return Output{Stdout: o.line()}
	}
}

func ecaPreToolUse(d PreToolUseDecision) Output {
	if d.deny {
		return Output{Exit: exitBlock, Stderr: stderrText(joined(d.reason, d.context))}
	}
	var o object
	o.raw("updatedInput", d.input)
	o.text("additionalContext", d.context)
	o.text("systemMessage", d.user)
	return Output{Stdout: o.line()}
}

// Tried on Gemini CLI 0.61.0: a block at a stop arrives, a report reaches the user.
// Gemini CLI takes stderr at exit 2 for the agent's next prompt, or for the reason why the tool was refused; other codes are a warning.

func geminiStop(d StopDecision) Output {
	switch d.kind {
	case stopBlock:
		return Output{Exit: exitBlock, Stderr: stderrText(d.fullReason())}
	case stopReport:
		return Output{Exit: exitReport, Stderr: stderrText(d.reason)}
	default:
		var o object
		o.text("systemMessage", d.user)
		return Output{Stdout: o.line()}
	}
}

func geminiPreToolUse(d PreToolUseDecision) Output {
	if d.deny {
		return Output{Exit: exitBlock, Stderr: stderrText(joined(d.reason, d.context))}
	}
	var o, inner object
	if d.input != "" {
		// BeforeTool has no channel for the agent, so the user is told what was changed.
		inner.str("hookEventName", string(geminiName(EventPreToolUse)))
		inner.raw("tool_input", d.input)
		d.user = joined(d.user, d.context)
	}
	o.text("systemMessage", d.user)
	o.specific(inner)
	return Output{Stdout: o.line()}
}

func geminiName(event EventName) EventName {
	switch event {
	case EventStop:
		return "AfterAgent"
	case EventPreToolUse:
		return "BeforeTool"
	case EventPostToolUse:
		return "AfterTool"
	case EventUserPromptSubmit:
		return "BeforeAgent"
	default:
		return event
	}
}

// Tried on Copilot CLI 1.0.102: a block at a stop arrives; a report's text, what is said after a tool, and the user's lines on stderr at
// exit 0 reach nobody.
// Copilot CLI takes exit 2 at a stop for a warning: only the object blocks.

func copilotStop(d StopDecision) Output {
	switch d.kind {
	case stopBlock:
		var o object
		o.str("decision", "block")
		o.str("reason", d.fullReason())
		return Output{Stdout: o.line(), Stderr: stderrText(d.user)}
	case stopReport:
		return Output{Exit: exitReport, Stderr: stderrText(d.reason)}
	default:
		return Output{Stderr: stderrText(d.user)}
	}
}

func copilotPreToolUse(d PreToolUseDecision) Output {
	var o object
	if d.deny {
		o.str("permissionDecision", "deny")
		o.str("permissionDecisionReason", joined(d.reason, d.context))
	} else {
		o.raw("modifiedArgs", d.input)
	}
	return Output{Stdout: o.line(), Stderr: stderrText(d.user)}
}

// Never observed. Cursor submits the followup_message of a stop as the next prompt.

func cursorStop(d StopDecision) Output {
	var o object
	switch d.kind {
	case stopBlock:
		o.str("followup_message", d.fullReason())
		return Output{Stdout: o.line(), Stderr: stderrText(d.user)}
	case stopReport:
		if d.agent == "" {
			return Output{Exit: exitReport, Stderr: stderrText(d.reason)}
		}
		o.str("followup_message", d.agent)
		return Output{Stdout: o.line(), Stderr: stderrText(d.reason)}
	default:
		o.str("followup_message", d.agent)
		return Output{Stdout: o.line(), Stderr: stderrText(d.user)}
	}
}

func cursorPreToolUse(d PreToolUseDecision) Output {
	var o object
	if d.deny {
		o.str("permission", "deny")
		o.str("user_message", d.summary)
		o.str("agent_message", joined(d.reason, d.context))
		return Output{Stdout: o.line()}
	}
	return Output{Stderr: stderrText(joined(d.user, noRewrite(d)))}
}

// otherPostToolUse tells the agent by adding to the tool's result. No block is sent: in these hosts it would hide the result.
func otherPostToolUse(host Host, event EventName, d PostToolUseDecision) Output {
	text := d.context
	if d.block {
		text = joined(d.reason, d.context)
	}
	var o object
	switch host {
	case Codex:
		o.specific(about(event, text))
	case ECA:
		o.text("additionalContext", text)
		o.text("systemMessage", d.user)
		return Output{Stdout: o.line()}
	case Gemini:
		o.text("systemMessage", d.user)
		o.specific(about(geminiName(event), text))
		return Output{Stdout: o.line()}
	case Copilot:
		if event == EventPostToolUseFailure && text != "" {
			return Output{Exit: exitBlock, Stderr: stderrText(text)} // its way to add advice to a failure
		}
		d.user = joined(d.user, text)
	default:
		d.user = joined(d.user, text)
	}
	return Output{Stdout: o.line(), Stderr: stderrText(d.user)}
}
