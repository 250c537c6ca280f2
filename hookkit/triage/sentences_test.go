package triage

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestSentences is the table of sentences beside the rules: each category with its near misses.
func TestSentences(t *testing.T) {
	t.Parallel()
	rules, err := newEngine(nil)
	assert.NilError(t, err)
	data, err := os.ReadFile("testdata/sentences.txt")
	assert.NilError(t, err)
	rows, wrong := 0, 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.SplitN(line, "\t", 4)
		assert.Equal(t, len(columns), 4, line)
		rows++
		c := conversation{messages: []message{{agent: columns[1] == "agent", text: strings.ReplaceAll(columns[3], `\n`, "\n")}}}
		a := rules.analyse(&c)
		config := defaultConfig()
		var got []string
		for _, f := range a.decide(&config, verdict{}) {
			got = append(got, string(f.Category))
		}
		var want []string
		if columns[0] != "-" {
			want = strings.Split(columns[0], ",")
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			wrong++
			t.Errorf("%s, %s: %q\nwant %v, got %v\n%s", columns[1], columns[2], columns[3], want, got, brief(a))
		}
	}
	assert.Assert(t, rows >= 300, "%d rows", rows)
	t.Logf("%d of %d sentences are wrong", wrong, rows)
}

func brief(a *analysis) string {
	var b strings.Builder
	for _, h := range a.found {
		fmt.Fprintf(&b, "  + %s %.2f %s %v\n", h.category, h.weight, h.rule, h.why)
	}
	for _, h := range a.missed {
		fmt.Fprintf(&b, "  - %s %s %v\n", h.category, h.rule, h.why)
	}
	return b.String()
}
