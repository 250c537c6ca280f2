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

// TestDialogues is the table of short conversations: what is said in one message is answered, done or taken back in another.
func TestDialogues(t *testing.T) {
	t.Parallel()
	rules, err := newEngine(nil)
	assert.NilError(t, err)
	data, err := os.ReadFile("testdata/dialogues.txt")
	assert.NilError(t, err)
	rows := 0
	for line := range strings.Lines(string(data)) {
		want, turns, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		rows++
		var c conversation
		for i, turn := range strings.Split(turns, " || ") {
			const before = 1000 // places count up to 0, the end of the transcript
			if path, edited := strings.CutPrefix(turn, "E:"); edited {
				c.tools = append(c.tools, toolUse{name: "Edit", path: "/p/" + path, at: i - before})
				continue
			}
			c.messages = append(c.messages, message{agent: strings.HasPrefix(turn, "A: "), text: turn[len("U: "):], at: i - before})
		}
		a := rules.analyse(&c)
		config := defaultConfig()
		got := "-"
		for i, f := range a.decide(&config, verdict{}) {
			if i == 0 {
				got = ""
			}
			got = strings.TrimPrefix(got+","+string(f.Category), ",")
		}
		if got != want {
			t.Errorf("%s\nwant %s, got %s\n%s", turns, want, got, brief(a))
		}
	}
	assert.Assert(t, rows >= 60, "%d rows", rows)
}
