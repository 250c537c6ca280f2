package fakes

import (
	"cmp"
	"strings"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// hooks writes what became of an event's hooks to the transcript of the agent
// or sub-agent whose event it was: at a stop that does not stand what it reads,
// then an attachment for each thing that a hook did, and last the summary of a
// Stop, which a SubagentStop has not (recordings subagent-background and
// stop-blocked-twice). id is the tool call's, "" of an event without one, which
// gets an id of its own.
func (w *transcript) hooks(a *actor, value string, run EventRun, id string) {
	if run.Event == "SessionStart" || run.Event == "SessionEnd" || run.Event == "UserPromptSubmit" {
		return // the file need not exist yet
	}
	if id == "" {
		id = w.uuid()
	}
	if claudecode.IsStop(run.Event) {
		w.feedback(a, run.Reaction.Told)
	}
	at := attachments{id: id, event: run.Event, name: run.Event}
	if value != "" && claudecode.IsToolEvent(run.Event) {
		at.name += ":" + value
	}
	for _, h := range run.Hooks {
		at.hook(h)
	}
	for _, what := range at.all {
		w.append(w.fileOf(a), w.attachment(a, what))
	}
	if run.Event == "Stop" && len(run.Hooks) > 0 {
		w.append(w.fileOf(a), w.chained(a, stopSummary(run, id)...))
	}
}

// feedback writes what the agent reads after a stop that does not stand.
func (w *transcript) feedback(a *actor, told []claudecode.Text) {
	for _, t := range told {
		if t.As == claudecode.AsUser {
			w.user(a, t.Text, object{{"isMeta", true}})
		}
	}
}

// attachments collects those of one event.
type attachments struct {
	id, event, name string
	all             []object
}

// add notes an attachment. The client writes text before the hook's name and
// the rest behind it.
func (at *attachments) add(kind string, text, rest object) {
	what := append(object{{"type", kind}}, text...)
	what = append(what, object{{"hookName", at.name}, {"toolUseID", at.id}, {"hookEvent", at.event}}...)
	at.all = append(at.all, append(what, rest...))
}

// hook notes what one hook did (the recordings' transcript_attachments).
func (at *attachments) hook(h HookRun) {
	took := field{"durationMs", h.Duration.Milliseconds()}
	if h.TimedOut {
		at.add("hook_cancelled", nil, object{{"command", h.Command}, took, {"timedOut", true}, {"timeoutMs", h.Timeout.Milliseconds()}})
		return
	}
	if h.Reaction.Ended { // recording gauntlet-continue-false
		at.add("hook_stopped_continuation", object{{"message", h.Reaction.Parts.StopReason}}, nil)
	}
	failure, parts := h.failure(), h.Reaction.Parts
	switch {
	case parts.Error != "":
		at.add("hook_blocking_error", nil, object{{"blockingError", object{{"blockingError", parts.Error}, {"command", h.Command}}}})
	case h.Reaction.Blocked:
		// Recordings stop-blocked-plain-exit2, write-unfixable-deny: what the agent reads is all there is.
	case failure != "":
		at.add("hook_non_blocking_error", nil, object{{"stderr", failure}, {"stdout", h.Stdout}, {"exitCode", h.Exit}, {"command", h.Command}, took})
	case strings.TrimSpace(h.Stdout+h.Stderr) != "":
		at.add("hook_success", nil, object{{"content", ""}, {"stdout", h.Stdout}, {"stderr", h.Stderr}, {"exitCode", h.Exit}, {"command", h.Command}, took})
	}
	if parts.Message != "" {
		at.add("hook_system_message", object{{"content", parts.Message}}, nil)
	}
	if parts.Context != "" {
		at.add("hook_additional_context", object{{"content", []string{parts.Context}}}, nil)
	}
}

// failure is what the client notes of a hook that failed without blocking, ""
// if it did not: an object that it refuses counts at exit 0 too (recording
// seed-allow-object; of the client's words behind the dash only the first are
// known), an object that it takes makes good for the exit code (recording
// interactive-clear-exit).
func (h HookRun) failure() string {
	switch {
	case h.Reaction.Parts.Refused:
		return "Hook JSON output validation failed — " + h.Reaction.Note
	case h.Exit != 0 && !h.Reaction.Parts.Taken:
		return "Failed with non-blocking status code: " + strings.TrimSpace(h.Stderr)
	}
	return ""
}

// stopSummary is the line after the Stop hooks.
func stopSummary(run EventRun, id string) object {
	infos, errs, failed, reason, output := []object{}, []string{}, []int{}, "", false
	for i, h := range run.Hooks {
		info := object{{"command", cmp.Or(h.StatusMessage, h.Command)}} // recording memory-triage
		if !h.Reaction.Blocked {
			info = append(info, field{"durationMs", h.Duration.Milliseconds()})
		}
		infos = append(infos, info)
		output = output || !h.TimedOut && strings.TrimSpace(h.Stdout+h.Stderr) != ""
		switch {
		case h.TimedOut:
		case h.Reaction.Ended:
			reason = h.Reaction.Parts.StopReason
		case h.Reaction.Parts.Feedback != "":
			errs = append(errs, h.Reaction.Parts.Feedback)
		case h.failure() != "":
			errs = append(errs, h.failure())
			failed = append(failed, i)
		}
	}
	return object{
		{"type", "system"},
		{"subtype", "stop_hook_summary"},
		{"hookCount", len(run.Hooks)},
		{"hookInfos", infos},
		{"hookErrors", errs},
		{"failedHookErrorIndexes", failed},
		{"hookAdditionalContext", []string{}},
		{"preventedContinuation", run.Reaction.Ended},
		{"stopReason", reason},
		{"hasOutput", output},
		{"level", "suggestion"},
		{"toolUseID", id},
	}
}
