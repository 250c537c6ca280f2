//go:build unix

package integration

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// scenario is one title of a design document and what shows that it holds. The titles stand in the copies of the
// documents under testdata/seeds; TestScenariosAreComplete compares them with this table in both directions.
type scenario struct {
	seed, requirement, title string
	run                      func(*testing.T)
}

// scenarios is every scenario of the two documents about the stop hooks.
var scenarios = slices.Concat(stopScenarios, configScenarios, installScenarios)

// ruleTest is a line of the stop hook's specification that no scenario covers.
type ruleTest struct {
	title string
	run   func(*testing.T)
	// alone keeps others from running beside it: it measures times in which a loaded machine would show, or is a load itself.
	alone bool
}

var rules = slices.Concat(inputRules, configRules, runRules, replRules, outputRules, verdictRules, stateRules, pauseRules, handRules, installRules)

func TestScenarios(t *testing.T) {
	brepl(t) // built before anything runs in parallel
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.seed+"/"+s.requirement+"/"+s.title, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
}

func TestRules(t *testing.T) {
	brepl(t)
	playRules(t, rules)
}

// TestRulesAlone runs before everything that runs in parallel.
func TestRulesAlone(t *testing.T) { playRulesAlone(t, rules) }

func playRules(t *testing.T, rules []ruleTest) {
	t.Helper()
	t.Parallel()
	for _, r := range rules {
		if r.alone {
			continue
		}
		t.Run(r.title, func(t *testing.T) {
			t.Parallel()
			r.run(t)
		})
	}
}

func playRulesAlone(t *testing.T, rules []ruleTest) {
	t.Helper()
	fullRun(t)
	for _, r := range rules {
		if r.alone {
			t.Run(r.title, r.run)
		}
	}
}

// TestScenariosAreComplete fails on a title without a test, on a test without a title, and on one that stands twice.
func TestScenariosAreComplete(t *testing.T) {
	var want, got []string
	for _, seed := range []string{seed000, seed001} {
		text, err := os.ReadFile("testdata/seeds/" + seed)
		assert.NilError(t, err)
		want = append(want, seedTitles(seed, string(text))...)
	}
	for _, s := range scenarios {
		got = append(got, scenarioKey(s.seed, s.requirement, s.title))
	}
	for _, key := range want {
		if n := count(got, key); n != 1 {
			t.Errorf("%d tests for %s, want 1", n, key)
		}
	}
	for _, key := range got {
		if n := count(want, key); n != 1 {
			t.Errorf("the test %s has %d titles in the documents, want 1", key, n)
		}
	}
	var titles []string
	for _, r := range rules {
		titles = append(titles, r.title)
	}
	for _, title := range titles {
		if n := count(titles, title); n != 1 {
			t.Errorf("the rule %q stands %d times in the table", title, n)
		}
	}
}

const (
	seed000 = "000_694fd332776c847b.txt"
	seed001 = "001_1a84b57c353464b5.txt"
)

func scenarioKey(seed, requirement, title string) string {
	return fmt.Sprintf("%s: %s: %s", seed, requirement, title)
}

func count(list []string, item string) int {
	n := 0
	for _, s := range list {
		if s == item {
			n++
		}
	}
	return n
}

// seedTitles finds what a document demands, each title with the heading above it: the scenarios; in 000, which has none, the bold rows of the exit codes, the
// list of the state's life, and the example of an installation.
func seedTitles(seed, text string) []string {
	const (
		requirementMark = "### Requirement: "
		scenarioMark    = "#### Scenario: "
	)
	var list []string
	heading, fenced := "", false
	add := func(title string) { list = append(list, scenarioKey(seed, heading, title)) }
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		bullet, isBullet := strings.CutPrefix(line, "- ")
		bold, isBold := strings.CutPrefix(line, "**")
		bold, closed := strings.CutSuffix(bold, "**:")
		switch {
		case strings.HasPrefix(line, requirementMark):
			heading = line[len(requirementMark):]
		case strings.HasPrefix(line, "## "):
			heading = line[len("## "):]
		case strings.HasPrefix(line, scenarioMark):
			add(line[len(scenarioMark):])
		case heading == exitCodes && isBold && closed:
			add(bold)
		case heading == statePersistence && isBullet:
			add(bullet)
		case heading == settingsSync && line == "### "+installExample:
			add(installExample)
		}
	}
	return list
}

// The headings of 000 with something to test.
const (
	settingsSync     = "Idempotent Settings Sync"
	installExample   = "Example"
	exitCodes        = "Exit Code Semantics"
	statePersistence = "State Persistence"
)

func TestSeedTitles(t *testing.T) {
	text := "## Idempotent Settings Sync\n### Example\n**Before**:\n## Exit Code Semantics\n- **Exit 0** = fine\n**All pass**:\n" +
		"```\n**Not this**:\n```\n## State Persistence\n- Created\n### Requirement: R\n#### Scenario: All pass\n- no\n## Other\n### Example\n"
	assert.DeepEqual(t, seedTitles("s", text), []string{
		"s: Idempotent Settings Sync: Example", "s: Exit Code Semantics: All pass", "s: State Persistence: Created", "s: R: All pass",
	})
}
