package gauntlet

import (
	"time"

	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/text"
)

// Kind says what a gate does.
type Kind string

// The kinds of gates.
const (
	Check  Kind = "check"  // runs a command
	Review Kind = "review" // asks an AI command-line tool
)

// Policy says what a gate that cannot run means for the stop.
type Policy string

// The policies of cannot_run.
const (
	CannotRunAllows Policy = "allow" // the default: it is told to the user
	CannotRunBlocks Policy = "block" // it counts as failed
)

// Gate is one file under .gauntlet/checks or .gauntlet/reviews, checked and with its defaults filled in.
type Gate struct {
	Kind       Kind
	Name       string // of the file, without its ending
	Path       string // of the file, absolute
	Parallel   bool
	RunLocally bool
	RunInCI    bool
	Timeout    time.Duration
	CannotRun  Policy

	CheckSpec  // of a check
	ReviewSpec // of a review

	definition string // a hash of all that says what the gate does: another text is another gate
}

// CheckSpec is what only checks have.
type CheckSpec struct {
	Command          string
	WorkingDirectory string // relative to the project's root; "": the entry point
	FailFast         bool   // its failure keeps gates from starting that have not started
	FixInstructions  string // the text of the file that the key names, for the agent
}

// ReviewSpec is what only reviews have.
type ReviewSpec struct {
	Instructions  string   // the body of the file
	CLIPreference []string // in order; empty: cli.default_preference
	NumReviews    int      // at least 1
	Model         string   // "": the tool's own choice
}

// Job is a gate at one entry point: what a run runs.
type Job struct {
	Gate  *Gate
	Entry string   // the entry point's folder relative to the root, with slashes; "." is the root
	Dir   string   // where a check runs, absolute
	Files []Change // what changed at the entry point, sorted by path; never empty
}

// ID names a job in state, files and reports: "check lint ." It is stable from run to run.
func (j *Job) ID() string { return string(j.Gate.Kind) + " " + j.Gate.Name + " " + j.Entry }

// Title is the job for people: the gate's name, with the entry point unless that is the whole project.
func (j *Job) Title() string {
	if j.Entry == "." {
		return j.Gate.Name
	}
	return j.Gate.Name + " (" + text.Name(j.Entry) + ")"
}

// fileName is the job's name for files and folders.
func (j *Job) fileName() string {
	name := string(j.Gate.Kind) + "-" + j.Gate.Name
	if j.Entry != "." {
		name += "-" + j.Entry
	}
	return session.SafeName(name)
}

// Change is one file that differs between two trees.
type Change struct {
	Path   string // relative to the root, with slashes, the bytes that git gave: any encoding
	Status byte   // A added, M modified, D deleted, T type changed
	mode   string // of the file now, as git writes it; "000000" for a deleted one
	object string // the content's id now, in git; zeros for a deleted file
}

// inDir reports whether a path lies in a folder, "." being the root.
func inDir(file, dir string) bool {
	return dir == "." || file == dir || len(file) > len(dir) && file[:len(dir)] == dir && file[len(dir)] == '/'
}
