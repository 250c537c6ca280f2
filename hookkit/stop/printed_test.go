package stop

import (
	"testing"

	"gotest.tools/v3/assert"
)

// Zero is not green: what runners print when they ran nothing, as they print it, and what must never be taken for that.
func TestPrintedRuns(t *testing.T) {
	const none = "no test ran"
	for _, row := range []struct {
		title, output string
		exit          int
		want          string // none, or what ran
	}{
		{"clojure.test, cognitect, lein, bb", "\nTesting user\n\nRan 0 tests containing 0 assertions.\n0 failures, 0 errors.", 0, none},
		{"clojure.test with tests", "\nTesting shop.cart-test\n\nTesting shop.tax-test\n\nRan 42 tests containing 180 assertions.\n0 failures, 0 errors.", 0, "42 tests, 180 assertions in 2 namespaces"},
		{"one of two runs was empty", "Ran 0 tests containing 0 assertions.\nRan 1 tests containing 1 assertions.", 0, "1 test, 1 assertion"},
		{"eftest", "0/0   100% [====]  ETA: 00:00\n\nRan 0 tests in 0.001 seconds\n0 assertions, 0 failures, 0 errors.", 0, none},
		{"kaocha", "WARNING: No tests were found, make sure :test-paths and :ns-patterns are configured correctly in tests.edn.\n\n0 tests, 0 assertions, 0 failures.", 0, none},
		{"kaocha with tests", "[(...)]\n2 tests, 3 assertions, 0 failures.", 0, "2 tests, 3 assertions"},
		{"midje", "No facts were checked. Is that what you wanted?", 0, none},
		{"pytest", "collected 0 items\n\n============================ no tests ran in 0.01s =============================", 5, none},
		{"pytest -q", "\nno tests ran in 0.00s", 5, none},
		{"pytest, all left out", "collected 1 item / 1 deselected / 0 selected\n\n============================ 1 deselected in 0.01s =============================", 5, none},
		{"pytest, no such file", "\nno tests ran in 0.01s\nERROR: file or directory not found: nope.py", 4, ""},
		{"pytest with tests", ".   [100%]\n1 passed in 0.01s", 0, ""},
		{"two of pytest", "1 passed in 0.01s\nno tests ran in 0.00s", 0, ""},
		{"unittest", "----------\nRan 0 tests in 0.000s\n\nOK", 0, none},
		{"jest", "No tests found, exiting with code 0", 0, none},
		{"jest fails", "No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0", 1, none},
		{"vitest", "No test files found, exiting with code 1", 1, none},
		{"jest, and the build failed", "No tests found, exiting with code 0\nbuild failed", 1, ""},
		{"go", "?   \tx/a\t[no test files]\n?   \tx/b\t[no test files]", 0, none},
		{"go -run", "?   \tx/a\t[no test files]\nok  \tx/b\t0.003s [no tests to run]", 0, none},
		{"go -run -v", "testing: warning: no tests to run\nPASS\nok  \tx/b\t0.005s [no tests to run]", 0, none},
		{"go with tests", "?   \tx/a\t[no test files]\nok  \tx/b\t0.004s", 0, ""},
		{"go with tests of before", "?   \tx/a\t[no test files]\nok  \tx/b\t(cached)", 0, ""},
		{"cargo", "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s", 0, none},
		{"cargo, tests and empty doc tests", "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n   Doc-tests x\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out", 0, "2 tests"},
		{"node", "TAP version 13\n1..0\n# tests 0\n# suites 0\n# pass 0", 0, none},
		{"node with tests", "ℹ tests 3\nℹ pass 3", 0, "3 tests"},
		{"mocha", "\n  0 passing (1ms)", 0, none},
		{"another runner counted", "Ran 0 tests containing 0 assertions.\nAll 12 specs passed", 0, ""},
		{"no runner", "0 warnings\nlinting took 12ms, errors: 0, warnings: 0", 0, ""},
		{"a sentence about tests", "there were no tests ran in the suite", 0, ""},
		{"nothing", "", 0, ""},
	} {
		o := Outcome{Kind: Passed, Output: row.output}
		if row.exit > 0 {
			o.Kind, o.Why = Failed, ""
		}
		o.count(valueCounts{}, row.exit)
		got := o.Ran
		if o.Kind == Empty {
			got = o.Why
		}
		assert.Check(t, got == row.want, "%s: %q", row.title, got)
	}
	// Of output that lost its beginning nobody knows what it said.
	o := Outcome{Kind: Passed, Output: "Ran 0 tests containing 0 assertions.", Omitted: 1}
	o.count(valueCounts{}, 0)
	assert.Equal(t, o.Kind, Passed)
}
