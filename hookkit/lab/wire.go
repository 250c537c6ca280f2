package lab

import (
	"encoding/json"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

// The values of the simulator as the reports print them: with the names of JSON.

// Text is a text as it was delivered: claudecode.Text.
type Text struct {
	As    string `json:"as"`
	Text  string `json:"text"`
	Full  string `json:"full,omitempty"`  // the whole text, where Text is a preview
	Saved string `json:"saved,omitempty"` // the file in which the client keeps it
}

// Reaction is what the client does with an answer: claudecode.Reaction.
type Reaction struct {
	Blocked      bool            `json:"blocked"`
	GoesOn       bool            `json:"goes_on"`
	Ended        bool            `json:"ended"`
	Told         []Text          `json:"told,omitempty"`
	Shown        []Text          `json:"shown,omitempty"`
	Permission   string          `json:"permission,omitempty"`
	UpdatedInput json.RawMessage `json:"updated_input,omitempty"`
	Fault        string          `json:"fault,omitempty"`
	Note         string          `json:"note,omitempty"`
}

// SimulatedHook is one run of a hook: fakes.HookRun.
type SimulatedHook struct {
	Event       string   `json:"event"`
	Command     string   `json:"command"`
	Source      string   `json:"source"` // the settings file
	Exit        int      `json:"exit"`   // -1 when a signal ended it, or when it was not started
	Signal      string   `json:"signal,omitempty"`
	Stdout      string   `json:"stdout"`
	Stderr      string   `json:"stderr"`
	DurationMS  float64  `json:"duration_ms"`
	TimedOut    bool     `json:"timed_out,omitempty"`
	StreamsHeld bool     `json:"streams_held,omitempty"`
	NotStarted  bool     `json:"not_started,omitempty"`
	Reaction    Reaction `json:"reaction"` // to this hook alone
}

// SimulatedFile is what became of a file: fakes.FileChange.
type SimulatedFile struct {
	Path    string `json:"path"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Created bool   `json:"created,omitempty"`
	Removed bool   `json:"removed,omitempty"`
	ByHook  bool   `json:"by_hook,omitempty"`
}

// each is never nil, so that JSON has an empty list.
func each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, 0, len(list))
	for _, a := range list {
		out = append(out, f(a))
	}
	return out
}

func textsOf(texts []claudecode.Text) []Text {
	return each(texts, func(t claudecode.Text) Text { return Text{As: t.As, Text: t.Text, Full: t.Full, Saved: t.Saved} })
}

func reactionOf(r claudecode.Reaction) Reaction {
	return Reaction{
		Blocked: r.Blocked, GoesOn: r.GoesOn, Ended: r.Ended, Told: textsOf(r.Told), Shown: textsOf(r.Shown),
		Permission: r.Permission, UpdatedInput: r.UpdatedInput, Fault: r.Fault, Note: r.Note,
	}
}

func hooksOf(hooks []fakes.HookRun) []SimulatedHook {
	return each(hooks, func(h fakes.HookRun) SimulatedHook {
		return SimulatedHook{
			Event: h.Event, Command: h.Command, Source: h.Source, Exit: h.Exit, Signal: h.Signal, Stdout: h.Stdout, Stderr: h.Stderr,
			DurationMS: milliseconds(h.Duration), TimedOut: h.TimedOut, StreamsHeld: h.StreamsHeld, NotStarted: h.NotStarted,
			Reaction: reactionOf(h.Reaction),
		}
	})
}

func filesOf(files []fakes.FileChange) []SimulatedFile {
	return each(files, func(f fakes.FileChange) SimulatedFile {
		return SimulatedFile{Path: f.Path, Before: f.Before, After: f.After, Created: f.Created, Removed: f.Removed, ByHook: f.ByHook}
	})
}
