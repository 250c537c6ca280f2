package gauntlet

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/gauntlet/condense"
)

func failedJob(name, output string) Result {
	return Result{
		Job: &Job{Gate: &Gate{Kind: Check, Name: name}, Entry: "."}, Outcome: Failed, Why: "exit 1", Log: "/p/gauntlet_logs/x.log",
		Report: condense.Output(output, condense.Limits{}),
	}
}

func TestReportOfViolations(t *testing.T) {
	t.Parallel()
	r := Result{Job: &Job{Gate: &Gate{Kind: Review, Name: "bugs"}, Entry: "api"}, Outcome: Failed, Why: "2 violations", Log: "/else/x.log"}
	r.Violations = []Violation{
		{ID: "v1", File: "a.go", Line: 3, Issue: "no check\nof the error", Fix: "check it", Priority: "high", Status: ViolationNew},
		{ID: "v2", File: "b.go", Line: 4, Issue: "slow", Priority: "low", Status: ViolationSkipped, Reason: "not here"},
		{ID: "v3", File: "c\xff.go", Line: 0, Issue: "\x1b[31mred", Priority: "low", Status: ViolationFixed},
	}
	assert.Equal(t, blockReason(&Summary{Results: []Result{r}, Attempt: 2, MaxRetries: 3}, "/p"), strings.Join([]string{
		stopReason + " This was attempt 2 of 4.", "",
		"review bugs (api) failed: 2 violations",
		"Log: /else/x.log",
		"| v1 [high] a.go:3 no check of the error Fix: check it",
		`| v3 [low] "c\xff.go":0 red`,
		`When one is wrong: agent-gauntlet skip bugs v1 --reason "…"`,
		"Skipped: bugs (api) b.go:4 slow (not here)", "",
		pauseHint,
	}, "\n"))
}

// However much failed and however much it printed, the text stays short, names the first gate, and has every line of output set off.
func TestReportIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &Summary{Attempt: 1, MaxRetries: 3}
		for i := range rapid.IntRange(1, 40).Draw(t, "gates") {
			line := rapid.StringOfN(rapid.RuneFrom([]rune("ab:\n\t\x1b[{}é日")), 0, 200, -1).Draw(t, "output")
			s.Results = append(s.Results, failedJob(fmt.Sprintf("gate%d", i), strings.Repeat(line+"\n", rapid.IntRange(0, 60).Draw(t, "times"))))
		}
		text := blockReason(s, "/p")
		assert.Assert(t, len(text) <= reasonLimit+600, "%d", len(text))
		assert.Assert(t, strings.Contains(text, "check gate0 failed: exit 1\nLog: gauntlet_logs/x.log\n"))
		assert.Assert(t, strings.HasSuffix(text, pauseHint))
		assert.Assert(t, !strings.ContainsRune(text, 0x1b))
	})
}
