package triage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestSentences is the table of sentences beside the rules: each category with its near misses.
func TestSentences(t *testing.T) {
	t.Parallel()
	list, err := readSentences("testdata/sentences.txt")
	assert.NilError(t, err)
	assert.Assert(t, len(list) >= 300, "%d rows", len(list))
	holdAll(t, list)
}

// TestDialogues is the table of short conversations: what is said in one message is answered, done or taken back in another.
func TestDialogues(t *testing.T) {
	t.Parallel()
	list, err := readDialogues("testdata/dialogues.txt")
	assert.NilError(t, err)
	assert.Assert(t, len(list) >= 60, "%d rows", len(list))
	holdAll(t, list)
}

// holdAll checks that each conversation holds just what it shall hold.
func holdAll(t *testing.T, list []talk) {
	t.Helper()
	rules, err := newEngine(nil)
	assert.NilError(t, err)
	config := defaultConfig()
	wrong := 0
	for i := range list {
		c := &labelled{want: list[i].want}
		a := rules.analyse(&list[i].conv)
		c.got = a.decide(&config, verdict{})
		if !c.exact() {
			wrong++
			t.Errorf("%s: %q\nwant %v, got %v\n%s", list[i].name, said(&list[i].conv), c.want, c.categories(), brief(a))
		}
	}
	t.Logf("%d of %d are wrong", wrong, len(list))
}

func said(c *conversation) string {
	var parts []string
	for _, m := range c.messages {
		parts = append(parts, m.text)
	}
	return strings.Join(parts, " || ")
}

func brief(a *analysis) string {
	var b strings.Builder
	for _, h := range slices.Concat(a.spoken, a.found) {
		fmt.Fprintf(&b, "  + %s %.2f %s %v\n", h.category, h.weight, h.rule, h.why)
	}
	for _, h := range a.missed {
		fmt.Fprintf(&b, "  - %s %s %v\n", h.category, h.rule, h.why)
	}
	return b.String()
}
