package gauntlet

import (
	"time"

	"github.com/hookkit/brepl/hookkit/gauntlet/condense"
)

// Outcome is how one job ended.
type Outcome string

// The outcomes of a job.
const (
	Passed      Outcome = "passed"
	Failed      Outcome = "failed"
	CannotRun   Outcome = "cannot_run"   // a missing command or tool, an unreadable answer: says nothing about the code
	NotRun      Outcome = "not_run"      // not started: the deadline, fail_fast, an earlier failure, an interruption
	StillPassed Outcome = "still_passed" // not run again: nothing of its inputs has changed since it passed
)

// Result is what became of one job.
type Result struct {
	Job     *Job
	Outcome Outcome
	Why     string // one line, for everything but Passed: "exit 1", "timed out after 60 s"
	Began   time.Time
	Took    time.Duration
	Log     string // the log's path, absolute; "" without one

	Report condense.Report // of a check that failed: its output, condensed

	Violations []Violation // of a review: those that count now, new and old ones; skipped ones too
	Reviewers  []string    // of a review: the tools that answered
	Notes      []string    // lines for the user: a log that could not be written, a tool that was passed over
}

// ViolationStatus is where a violation is in its life.
type ViolationStatus string

// The statuses of a violation.
const (
	ViolationNew     ViolationStatus = "new"
	ViolationFixed   ViolationStatus = "fixed"   // claimed by the agent; the next review verifies it
	ViolationSkipped ViolationStatus = "skipped" // with a reason; does not fail the review, but is told to the user
)

// Violation is one finding of a review.
type Violation struct {
	ID       string          `json:"id"` // for `agent-gauntlet skip GATE ID`
	File     string          `json:"file"`
	Line     int             `json:"line"` // from 1 in the file as it is now; 0: the file as a whole
	Issue    string          `json:"issue"`
	Fix      string          `json:"fix,omitempty"`
	Priority string          `json:"priority"` // critical, high, medium, low
	Status   ViolationStatus `json:"status"`
	Reason   string          `json:"reason,omitempty"` // of a skip
	Reviewer string          `json:"reviewer,omitempty"`
	Diff     string          `json:"diff,omitempty"` // the lines of the diff around it
	Path     string          `json:"path,omitempty"` // the violation's own JSON file
}

// Summary is a whole run, for everybody who is told of it.
type Summary struct {
	Status     Status
	Why        string // one line for statuses that come from no gate: "…/config.yml:3: …", the lock's holder
	RunID      string // "" when no gate was looked at
	Began      time.Time
	Took       time.Duration
	Changes    *Changes // nil when they were not determined
	Results    []Result // in the order of the configuration
	Attempt    int      // failed runs since the last pass, this one included
	MaxRetries int
	Notes      []string // lines for the user
	LogDir     string

	Joined       bool   // the verdict is that of a run that was in progress
	JoinedReport string // what that run reported
}

// skipped are the violations that were marked as skipped, with their jobs.
func (s *Summary) skipped() []skippedViolation {
	var list []skippedViolation
	for _, r := range s.Results {
		for _, v := range r.Violations {
			if v.Status == ViolationSkipped {
				list = append(list, skippedViolation{r.Job, v})
			}
		}
	}
	return list
}

type skippedViolation struct {
	Job *Job
	Violation
}
