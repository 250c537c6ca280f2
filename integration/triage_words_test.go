//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
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

// TestTriageSourcesNamedMemory: a source in a folder with the name memory saves nothing.
func TestTriageSourcesNamedMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path string // below the project
		saves      bool
	}{
		{"a source", "src/memory/alloc.c", false},
		{"notes", "memory/decisions.md", true},
		{"notes of the agent", ".claude/memory/decisions.md", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := decided(t)
			w.tool("Edit", map[string]any{"file_path": filepath.Join(w.project, c.path), "old_string": "a", "new_string": "b"}).agent("Okay.")
			if r := w.stop(); c.saves {
				r.allows()
			} else {
				r.asksFor("DECISION " + saysDecision)
			}
		})
	}
}

// TestTriageProjectBelowMemory: in a project that is itself below a folder with the name memory, files are files of the work.
func TestTriageProjectBelowMemory(t *testing.T) {
	t.Parallel()
	w := newTriageWorld(t)
	w.project = filepath.Join(w.home, "memory", "app")
	assert.NilError(t, os.MkdirAll(filepath.Join(w.project, ".claude"), 0o700))
	for _, name := range []string{"README.md", "docs/use.md", "docs/plan.md"} {
		w.tool("Edit", map[string]any{"file_path": filepath.Join(w.project, name), "old_string": "a", "new_string": "b"})
	}
	w.agent("All three files are changed and the tests pass.")
	w.stop().asksFor("SESSION_SUMMARY 3 files changed: README.md, use.md, plan.md")
}
