package stop

import (
	"math"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/text"
)

// testCounts are the numbers of a test run, as the last value of a hook reports them.
type testCounts struct {
	tests, assertions, failures, errors, namespaces float64 // 0 also where it is not said
}

// summaryKeys names the keys under which test runners report: clojure.test and kaocha. All but tests count assertions.
var summaryKeys = [...]struct{ tests, passes, failures, errors string }{
	{"test", "pass", "fail", "error"},
	{"kaocha.result/count", "kaocha.result/pass", "kaocha.result/fail", "kaocha.result/error"},
}

// valueCounts is what the value of an evaluation says of a test run.
type valueCounts struct {
	testCounts
	known bool // it is the summary of one
	empty bool // in which there was no test
}

// readTestCounts reads a printed value. One that is no summary of a test run, or cannot be read as data at all, says nothing
// about failures.
func readTestCounts(value string) (c valueCounts) {
	if !strings.Contains(value, "fail") && !strings.Contains(value, "error") {
		return c
	}
	forms, errs := clj.ReadAll("", []byte(value), clj.Options{Dialect: clj.Clojure, MaxBytes: len(value)})
	if len(errs) > 0 || len(forms) != 1 {
		return c
	}
	for _, k := range summaryKeys {
		tests, hasTests := number(forms[0], k.tests)
		passes, _ := number(forms[0], k.passes)
		failures, hasFailures := number(forms[0], k.failures)
		errors, hasErrors := number(forms[0], k.errors)
		if hasFailures || hasErrors {
			c.testCounts = testCounts{tests: tests, assertions: passes + failures + errors, failures: failures, errors: errors}
			c.known, c.empty = true, hasTests && tests == 0 && c.assertions == 0
			return c
		}
	}
	return c
}

func number(m *clj.Node, key string) (float64, bool) { return m.Get(key).Float() }

func (c testCounts) failed() bool { return c.failures > 0 || c.errors > 0 }

// String is the seed's wording: "3 failures, 1 error in 42 tests".
func (c testCounts) String() string {
	var parts []string
	if c.failures > 0 {
		parts = append(parts, text.Count(whole(c.failures), "failure"))
	}
	if c.errors > 0 {
		parts = append(parts, text.Count(whole(c.errors), "error"))
	}
	said := strings.Join(parts, ", ")
	if c.tests > 0 {
		said += " in " + text.Count(whole(c.tests), "test")
	}
	return said
}

// whole is a number of a summary for people. Half a failure, if there ever is one, is one.
func whole(n float64) int { return int(math.Ceil(min(n, math.MaxInt32))) }

// ran says what ran, as far as it is known: "42 tests, 180 assertions in 12 namespaces"; "" when nothing is.
func (c testCounts) ran() string {
	if c.tests <= 0 {
		return ""
	}
	said := text.Count(whole(c.tests), "test")
	if c.assertions > 0 {
		said += ", " + text.Count(whole(c.assertions), "assertion")
	}
	if c.namespaces > 0 {
		said += " in " + text.Count(whole(c.namespaces), "namespace")
	}
	return said
}

// count says of a hook that ran what tests it ran, and takes a run without any for what it is. The hook's value goes before what was
// printed; output of which the beginning is gone proves nothing. A command that fails only because there was no test exits with exit.
func (o *Outcome) count(value valueCounts, exit int) {
	var printed printedRun
	if o.Omitted == 0 {
		printed = readPrinted(o.Output)
	}
	ran := value.testCounts
	if !value.known {
		ran = printed.counts
	}
	ran.namespaces = printed.counts.namespaces
	empty := value.empty || !value.known && printed.empty()
	switch {
	case empty && (o.Kind == Passed || o.Kind == Failed && exit > 0 && exit == printed.exit):
		o.Kind, o.Why = Empty, "no test ran"
	case o.Kind == Passed:
		o.Ran = ran.ran()
	}
}
