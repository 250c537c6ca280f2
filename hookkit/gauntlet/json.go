package gauntlet

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/gauntlet/condense"
	"github.com/hookkit/brepl/hookkit/text"
)

// The shape of --json. Names are stable; new ones may come.
type (
	jsonSummary struct {
		Status     Status      `json:"status"`
		Why        string      `json:"why,omitempty"`
		Exit       int         `json:"exit"`
		Run        string      `json:"run,omitempty"`
		Joined     bool        `json:"joined,omitempty"`
		Began      *time.Time  `json:"began,omitempty"`
		Seconds    float64     `json:"seconds"`
		Attempt    int         `json:"attempt"`
		MaxRetries int         `json:"max_retries"`
		LogDir     string      `json:"log_dir,omitempty"`
		Changes    *jsonChange `json:"changes,omitempty"`
		Gates      []jsonGate  `json:"gates"`
		Notes      []string    `json:"notes"`
	}
	jsonChange struct {
		Mode      Mode       `json:"mode"`
		Base      string     `json:"base,omitempty"`
		From      string     `json:"from"`
		To        string     `json:"to,omitempty"` // detect does not make a tree of the work tree
		SincePass bool       `json:"since_pass"`
		Branch    string     `json:"branch,omitempty"`
		Files     []jsonFile `json:"files"`
	}
	jsonFile struct {
		Path   string `json:"path"` // quoted as in Go where it is no UTF-8
		Status string `json:"status"`
	}
	jsonGate struct {
		ID         string           `json:"id"`
		Kind       Kind             `json:"kind"`
		Name       string           `json:"name"`
		Entry      string           `json:"entry"`
		Outcome    Outcome          `json:"outcome"`
		Why        string           `json:"why,omitempty"`
		Seconds    float64          `json:"seconds"`
		Log        string           `json:"log,omitempty"`
		Report     *condense.Report `json:"report,omitempty"`
		Reviewers  []string         `json:"reviewers,omitempty"`
		Violations []Violation      `json:"violations,omitempty"`
	}
)

func summaryJSON(s *Summary) jsonSummary {
	j := jsonSummary{
		Status: s.Status, Why: s.Why, Exit: s.Status.Exit(), Run: s.RunID, Joined: s.Joined, Seconds: s.Took.Seconds(),
		Attempt: s.Attempt, MaxRetries: s.MaxRetries, LogDir: s.LogDir, Gates: []jsonGate{}, Notes: s.Notes,
	}
	if !s.Began.IsZero() {
		j.Began = &s.Began
	}
	if j.Notes == nil {
		j.Notes = []string{}
	}
	if s.Changes != nil {
		j.Changes = changesJSON(s.Changes)
	}
	for i := range s.Results {
		j.Gates = append(j.Gates, resultJSON(&s.Results[i]))
	}
	return j
}

func changesJSON(c *Changes) *jsonChange {
	j := &jsonChange{Mode: c.Mode, Base: c.Base, From: c.From, To: c.To, SincePass: c.SincePass, Branch: c.Branch, Files: []jsonFile{}}
	for _, f := range c.Files {
		j.Files = append(j.Files, jsonFile{text.Name(f.Path), string(f.Status)})
	}
	return j
}

func resultJSON(r *Result) jsonGate {
	g := jsonGate{
		ID: r.Job.ID(), Kind: r.Job.Gate.Kind, Name: r.Job.Gate.Name, Entry: r.Job.Entry, Outcome: r.Outcome, Why: r.Why,
		Seconds: r.Took.Seconds(), Log: r.Log, Reviewers: r.Reviewers, Violations: r.Violations,
	}
	if text := r.Report.Text(); strings.TrimSpace(text) != "" {
		g.Report = &r.Report
	}
	return g
}

func writeJSONTo(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
