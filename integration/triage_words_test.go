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
