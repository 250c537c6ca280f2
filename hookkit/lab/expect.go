package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/session"
)

// An Expect is what the hooks that are played must answer to a recording where that is not what was recorded: the file
// NAME.expect.json beside it.
type Expect struct {
	Version int    `json:"hookkit_expect"`
	Note    string `json:"note,omitempty"`
	// Project holds files that the project has at the start, beside those that the recording tells of; path to content.
	Project map[string]string `json:"project,omitempty"`
	Answers []ExpectedAnswer  `json:"answers"`
}

// An ExpectedAnswer is one answer. Seq and Command say which.
type ExpectedAnswer struct {
	Seq      int      `json:"seq"`
	Event    string   `json:"event"`
	Command  string   `json:"command"`
	Exit     *int     `json:"exit"`
	Signal   string   `json:"signal,omitempty"`
	TimedOut bool     `json:"timed_out,omitempty"`
	Stdout   string   `json:"stdout"`
	Stderr   string   `json:"stderr"`
	Files    []string `json:"files,omitempty"` // what the hook changed in the project: "content of src/a.clj"
}

// ExpectPath is where a recording's expected answers are.
func (r *Recording) ExpectPath() string { return strings.TrimSuffix(r.Path, ".jsonl") + ".expect.json" }

// ReadExpect reads NAME.expect.json. Nil without an error: there is none.
func (r *Recording) ReadExpect() (*Expect, error) {
	path := r.ExpectPath()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // a file that need not be there
	}
	if err != nil {
		return nil, err
	}
	var e Expect
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if e.Version != RecordingVersion {
		return nil, fmt.Errorf("%s: hookkit_expect is %d; this program reads version %d", path, e.Version, RecordingVersion)
	}
	for i, a := range e.Answers {
		if n := slices.IndexFunc(r.Calls, func(c Call) bool { return c.Seq == a.Seq && c.Event == a.Event }); n < 0 {
			return nil, fmt.Errorf("%s: answers[%d]: the recording has no %s with seq %d", path, i, a.Event, a.Seq)
		}
	}
	return &e, nil
}

// WriteExpect replaces NAME.expect.json.
func (r *Recording) WriteExpect(e *Expect) error {
	e.Version = RecordingVersion
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(e); err != nil {
		return err
	}
	return session.WriteFile(r.ExpectPath(), []byte(b.String()), session.WriteOptions{Mode: 0o644})
}

func (e *Expect) find(seq int, command string) *ExpectedAnswer {
	if e == nil {
		return nil
	}
	for i := range e.Answers {
		if e.Answers[i].Seq == seq && e.Answers[i].Command == command {
			return &e.Answers[i]
		}
	}
	return nil
}

// set puts an answer in its place, in order of seq.
func (e *Expect) set(a ExpectedAnswer) {
	if old := e.find(a.Seq, a.Command); old != nil {
		*old = a
		return
	}
	e.Answers = append(e.Answers, a)
	slices.SortStableFunc(e.Answers, func(x, y ExpectedAnswer) int { return x.Seq - y.Seq })
}

// answer is what is expected as an Answer to be compared.
func (a *ExpectedAnswer) answer() Answer {
	return Answer{Stdout: a.Stdout, Stderr: a.Stderr, Exit: a.Exit, Signal: a.Signal, TimedOut: a.TimedOut}
}
