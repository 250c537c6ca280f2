//go:build unix

package integration

import (
	"testing"
)

const saysPreference = "From now on, always use tabs in this repository."

// TestTriageWhoseWords: what the user says counts, and what the host adds to it does not, whatever stands around it.
func TestTriageWhoseWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		asks       bool
	}{
		{"a reminder after a longer tag", "Fix the <system-reminders> parser please.\n<system-reminder>" + saysPreference + "</system-reminder>", false},
		{"a tag that is spoken of", "The parser drops <system-reminder> tags. " + saysPreference, true},
		{"and a reminder behind", "The parser drops <system-reminder> tags. " + saysPreference + "\n<system-reminder>" + saysDebt + "</system-reminder>", true},
		{"a tag without an end", "Fix the parser please.\n<system-reminder>\n" + saysPreference, false},
		{"a hook that is spoken of", "PreToolUse hook output is noisy. " + saysPreference, true},
		{"feedback that is spoken of", "Stop hook feedback is noisy. " + saysPreference, true},
		{"feedback", "Stop hook feedback:\n[tests]: " + saysPreference, false},
		{"a hook's error", "PreToolUse:Edit hook error: [style]: " + saysPreference, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newTriageWorld(t).user(c.text).agent("Okay.").stop()
			if c.asks {
				r.asksFor("PREFERENCE " + saysPreference)
			} else {
				r.allows()
			}
		})
	}
}

// TestTriageWindowOfTheLast: the window holds as many messages where the last one is not in the transcript yet.
func TestTriageWindowOfTheLast(t *testing.T) {
	t.Parallel()
	const last = "Done, anything else?"
	for _, c := range []struct {
		name, most string
		lags, asks bool
	}{
		{"one, in the transcript", "1", false, false},
		{"one, lagging", "1", true, false},
		{"two, in the transcript", "2", false, true},
		{"two, lagging", "2", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTriageWorld(t).user(saysDecision)
			w.env = []string{"MEMORY_TRIAGE_MAX_TRANSCRIPT_MESSAGES=" + c.most}
			if !c.lags {
				w.agent(last)
			}
			r := w.stop("last_assistant_message", quoted(last))
			if c.asks {
				r.asksFor("DECISION " + saysDecision)
			} else {
				r.allows()
			}
		})
	}
}
