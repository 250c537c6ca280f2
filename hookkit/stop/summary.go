package stop

import (
	"math"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/text"
)

// testCounts are the numbers of a test run, as the last value of a hook reports them.
type testCounts struct {
	tests, failures, errors float64
}

// summaryKeys names the keys under which test runners report: clojure.test and kaocha.
var summaryKeys = [...]struct{ tests, failures, errors string }{
	{"test", "fail", "error"},
	{"kaocha.result/count", "kaocha.result/fail", "kaocha.result/error"},
}

// readTestCounts reads a printed value. ok is false when it is no summary of a test run,
// or cannot be read as data at all: such a value says nothing about failures.
func readTestCounts(value string) (c testCounts, ok bool) {
	if !strings.Contains(value, "fail") && !strings.Contains(value, "error") {
		return c, false
	}
	forms, errs := clj.ReadAll("", []byte(value), clj.Options{Dialect: clj.Clojure, MaxBytes: len(value)})
	if len(errs) > 0 || len(forms) != 1 {
		return c, false
	}
	for _, k := range summaryKeys {
		tests, _ := number(forms[0], k.tests)
		failures, hasFailures := number(forms[0], k.failures)
		errors, hasErrors := number(forms[0], k.errors)
		if hasFailures || hasErrors {
			return testCounts{tests, failures, errors}, true
		}
	}
	return c, false
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
