package stop

import (
	"strconv"
	"strings"
)

// printedRun is what the test runners that a hook started say of their run, in their own words.
type printedRun struct {
	counts testCounts
	known  bool // a summary that we know says that no test ran
	some   bool // something says that tests did run
	exit   int  // the exit code that the runner of an empty run gives; 0: a pass
}

// empty reports whether known runners say that no test ran, and nothing says that one did.
func (p *printedRun) empty() bool { return p.known && !p.some }

// readPrinted reads clean output. It believes only lines that are a runner's summary as a whole.
func readPrinted(output string) (p printedRun) {
	for line := range strings.SplitSeq(output, "\n") {
		p.line(strings.Fields(line))
	}
	return p
}

// line reads the words of a line. The first case that fits is the runner's.
func (p *printedRun) line(words []string) {
	if len(words) == 0 {
		return
	}
	all := strings.Join(words, " ")
	first := amount(words[0])
	switch {
	case words[0] == "Testing" && len(words) == 2: // clojure.test, before each namespace
		p.counts.namespaces++
	case words[0] == "Ran" && len(words) >= 4 && amount(words[1]) >= 0 && isTests(words[2]): // clojure.test and all that print like it; unittest
		p.add(amount(words[1]))
		if words[3] == "containing" && len(words) >= 5 {
			p.counts.assertions += float64(max(amount(words[4]), 0))
		}
	case first >= 0 && len(words) >= 4 && isTests(strings.TrimSuffix(words[1], ",")) && strings.HasPrefix(words[3], "assertion"): // kaocha
		p.add(first)
		p.counts.assertions += float64(max(amount(words[2]), 0))
	case strings.HasPrefix(all, "test result: "): // cargo: "test result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; …"
		tests := 0
		for i, word := range words[1:] {
			if word = strings.TrimRight(word, ";"); word == "passed" || word == "failed" || word == "ignored" || word == "measured" {
				tests += max(amount(words[i]), 0)
			}
		}
		p.add(tests)
	case words[0] == "?" && strings.HasSuffix(all, " [no test files]"), // go test, a line for each package
		words[0] == "ok" && strings.HasSuffix(all, " [no tests to run]"):
		p.add(0)
	case words[0] == "ok" && len(words) >= 3 && (words[2] == "(cached)" || strings.HasSuffix(words[2], "s")):
		p.some = true
	case len(words) == 3 && (words[0] == "#" || words[0] == "ℹ") && words[1] == "tests" && amount(words[2]) >= 0: // node --test
		p.add(amount(words[2]))
	case first >= 0 && words[1:] != nil && len(words) >= 2 && words[1] == "passing": // mocha: "0 passing (1ms)"
		p.add(first)
	case strings.HasPrefix(strings.Trim(all, "= "), "no tests ran in "), isDeselected(words): // pytest
		p.add(0)
		p.exit = 5
	case strings.HasPrefix(all, "No tests found, exiting with code "), strings.HasPrefix(all, "No test files found, exiting with code "): // jest; vitest
		p.add(0)
		p.exit = max(amount(words[len(words)-1]), 0)
	case all == "No facts were checked. Is that what you wanted?": // midje
		p.add(0)
	default:
		p.some = p.some || saysSome(words)
	}
}

// add counts a runner's summary.
func (p *printedRun) add(tests int) {
	p.counts.tests += float64(tests)
	p.known, p.some = p.known || tests == 0, p.some || tests > 0
}

// isDeselected reports whether pytest says that it left all tests out: "1 deselected in 0.01s".
func isDeselected(words []string) bool {
	words = strings.Fields(strings.Trim(strings.Join(words, " "), "= "))
	return len(words) == 4 && amount(words[0]) > 0 && words[1] == "deselected" && words[2] == "in"
}

// saysSome reports whether a line that is no summary we know speaks of tests that ran: a runner we do not know may have counted them.
func saysSome(words []string) bool {
	for i, word := range words[1:] {
		if amount(words[i]) <= 0 {
			continue
		}
		switch strings.Trim(word, ".,;:)") {
		case "test", "tests", "passed", "passing", "assertion", "assertions", "example", "examples", "runs", "specs", "checks", "facts", "succeeded":
			return true
		}
	}
	return false
}

func isTests(word string) bool { return word == "tests" || word == "test" }

// amount reads a count, -1 if the word is none.
func amount(word string) int {
	n, err := strconv.ParseUint(strings.Trim(word, "(,;"), 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
}
