package tests

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/failure"
	"github.com/hookkit/brepl/hookkit/text"
)

// Result is what came of a run. Its texts are those of the project: data, not yet made harmless.
type Result struct {
	Namespaces int           `json:"namespaces"` // in which a test ran
	Tests      int           `json:"tests"`
	Passed     int           `json:"passed"` // assertions
	Failures   int           `json:"failures"`
	Errors     int           `json:"errors"`
	Took       time.Duration `json:"-"`
	Failing    []Case        `json:"failing"`
	// Ran has the tests of each namespace.
	Ran []Ran `json:"-"`
	// Missing are test namespaces that are neither loaded nor on the server's class path.
	Missing []Namespace `json:"-"`
	// Broken are the namespaces that cannot be loaded, Late those that were over their limit.
	Broken []string `json:"broken,omitempty"`
	Late   []string `json:"late,omitempty"`
	// Running is the namespace or test that ran when the run ended before its end; "" otherwise.
	Running string `json:"running,omitempty"`
	// Left is how many namespaces were not run because the run ended before.
	Left int `json:"left,omitempty"`
	// Empty says in a sentence why no test ran, Partial why some did not; "" where they did.
	Empty   string `json:"empty,omitempty"`
	Partial string `json:"partial,omitempty"`
}

// Ran is a namespace that ran.
type Ran struct {
	Namespace string
	Tests     []string
	Took      time.Duration
}

// Case is a test that failed.
type Case struct {
	Namespace string    `json:"ns"`
	Test      string    `json:"test,omitempty"` // "": outside of any test
	File      string    `json:"file,omitempty"`
	Line      int       `json:"line,omitempty"` // of the test
	Problems  []Problem `json:"problems"`
	More      int       `json:"more,omitempty"`   // problems that were only counted
	Output    string    `json:"output,omitempty"` // the end of what it printed
}

// Problem is a failure or an error in a test.
type Problem struct {
	Error    bool             `json:"error,omitempty"`
	File     string           `json:"file,omitempty"`
	Line     int              `json:"line,omitempty"`
	Contexts []string         `json:"contexts,omitempty"` // of testing, outermost first
	Message  string           `json:"message,omitempty"`
	Expected string           `json:"expected,omitempty"`
	Actual   string           `json:"actual,omitempty"`
	Diff     []Difference     `json:"diff,omitempty"`
	Thrown   *failure.Failure `json:"exception,omitempty"`
	Frames   []failure.Frame  `json:"-"` // the project's, innermost first
}

// Difference is a place where the two sides of = differ; a side that has nothing there is "".
type Difference struct {
	Path   string `json:"path"`
	First  string `json:"first,omitempty"`
	Second string `json:"second,omitempty"`
	// At and Line say where strings differ: the character from 0, and the line from 1; Line is 0 for what are no strings.
	At   int `json:"at,omitempty"`
	Line int `json:"line,omitempty"`
}

// Failed reports whether something failed.
func (r *Result) Failed() bool { return r.Failures > 0 || r.Errors > 0 }

// Counts is "3 failures, 1 error in 42 tests" of a run that failed, and "42 tests, 180 assertions in 12 namespaces" of one that
// passed.
func (r *Result) Counts() string {
	if !r.Failed() {
		return fmt.Sprintf("%s, %s in %s", text.Count(r.Tests, "test"), text.Count(r.Passed, "assertion"), text.Count(r.Namespaces, "namespace"))
	}
	var parts []string
	if r.Failures > 0 {
		parts = append(parts, text.Count(r.Failures, "failure"))
	}
	if r.Errors > 0 {
		parts = append(parts, text.Count(r.Errors, "error"))
	}
	if r.Tests == 0 {
		return strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ") + " in " + text.Count(r.Tests, "test")
}
