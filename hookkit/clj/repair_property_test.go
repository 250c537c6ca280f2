package clj

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

// checkRepair holds for the repair of any bytes.
func checkRepair(t rapid.TB, src []byte, opts RepairOptions) {
	given := bytes.Clone(src)
	r := Repair(src, opts)
	assert.Assert(t, bytes.Equal(src, given), "the text was changed in place")
	balanced := len(CheckDelimiters("", src)) == 0
	switch {
	case balanced:
		assert.DeepEqual(t, r, RepairResult{Text: src, Confidence: Sure})
	case r.Refused != "":
		assert.Assert(t, bytes.Equal(r.Text, src) && len(r.Edits) == 0, "refused, and changed: %+v", r)
		assert.Assert(t, len(r.Places) > 0, "%q: refused without a place: %s", src, r.Refused)
	default:
		assert.Equal(t, len(CheckDelimiters("", r.Text)), 0, "%q became %q", src, r.Text)
		assert.Assert(t, len(r.Edits) > 0)
	}
	assert.Equal(t, applyEdits(string(src), r.Edits), string(r.Text))
	assert.Equal(t, skeleton(src), skeleton(r.Text), "more than delimiters changed")
	again := Repair(r.Text, opts)
	assert.Equal(t, string(again.Text), string(r.Text), "a second repair changed more")
	for _, p := range r.Places {
		assert.Assert(t, p.Text != "" && p.Pos.Offset <= len(src) && p.Pos.Line > 0, "%+v", p)
	}
}

// skeleton gives a text without its delimiters: every other byte in order, spaces and comments too.
func skeleton(src []byte) string {
	var b strings.Builder
	for _, token := range Scan(src) {
		text := string(src[token.Start:token.End])
		if token.Kind == TokenOpen {
			text = strings.TrimRight(text, "([{")
		}
		if token.Kind != TokenClose {
			b.WriteString(text)
		}
	}
	return b.String()
}

// broken draws balanced text with some of its delimiters gone, doubled or exchanged.
func broken() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		text := "(f " + strings.Join(rapid.SliceOfN(balanced(), 1, 5).Draw(t, "forms"), rapid.SampledFrom([]string{" ", "\n  ", "\n(", ")\n"}).Draw(t, "between")) + ")"
		var b strings.Builder
		for _, token := range Scan([]byte(text)) {
			source := text[token.Start:token.End]
			if token.Kind == TokenOpen || token.Kind == TokenClose {
				source = rapid.SampledFrom([]string{source, source, source, source, "", source + source, ")", "]"}).Draw(t, "delimiter")
			}
			b.WriteString(source)
		}
		return b.String()
	})
}

func TestRepairOfAnyText(t *testing.T) {
	// Balanced or refused; identity on balanced text; nothing but delimiters changes; twice is once.
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(anyText(), rapid.Map(broken(), func(s string) []byte { return []byte(s) })).Draw(t, "src")
		checkRepair(t, text, RepairOptions{})
	})
}

func TestRepairOfAnyEdit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := balanced().Draw(t, "before")
		checkRepair(t, []byte(broken().Draw(t, "src")), RepairOptions{Before: []byte(before)})
	})
}

func TestRepairOfBalancedTextIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := []byte(balanced().Draw(t, "src"))
		assert.DeepEqual(t, Repair(src, RepairOptions{}), RepairResult{Text: src, Confidence: Sure})
	})
}

func FuzzRepair(f *testing.F) {
	for _, text := range trickyTexts(f) {
		f.Add([]byte(text.Text), []byte(nil))
	}
	for _, c := range repairCases() {
		f.Add([]byte(c.text), []byte(c.want))
	}
	f.Fuzz(func(t *testing.T, src, before []byte) { checkRepair(t, src, RepairOptions{Before: before}) })
}

func TestRepairTakesLinearTime(t *testing.T) {
	// Fault 45: 1 MB on one line, 100,000 openers. Four times the text takes about four times as long; quadratic would be sixteen.
	shapes := map[string]func(size int) string{
		"openers":          func(n int) string { return strings.Repeat("(", n) },
		"closers":          func(n int) string { return strings.Repeat(")", n) },
		"one line":         func(n int) string { return "(" + strings.Repeat("ab [é] ", n/8) },
		"a closer lost":    func(n int) string { return "(f [a)\n" + string(sampleOf(n)) },
		"all forms broken": func(n int) string { return strings.Repeat("(f [a\n  b)\n", n/11) },
		"deficits":         func(n int) string { return strings.Repeat("(f a\n", n/5) },
		"mismatched":       func(n int) string { return strings.Repeat("(", n/2) + strings.Repeat("]", n/2) },
		"prefixes":         func(n int) string { return strings.Repeat("'", n) + ")" },
		"comments":         func(n int) string { return "(a\n" + strings.Repeat("; )\n", n/4) },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			small, large := []byte(shape(8_000)), []byte(shape(32_000))
			run := func(src []byte, before []byte) time.Duration {
				start := time.Now()
				Repair(src, RepairOptions{Before: before})
				return time.Since(start)
			}
			for _, old := range []string{"", "(b)\n"} {
				a, b := time.Hour, time.Hour
				for range 5 {
					a, b = min(a, run(small, []byte(old+"(a)"))), min(b, run(large, []byte(old+"(a)")))
					if b < 8*a+20*time.Millisecond {
						break
					}
				}
				assert.Assert(t, b < 8*a+20*time.Millisecond, "%v for %d bytes, %v for %d", a, len(small), b, len(large))
			}
		})
	}
}

func TestRepairOfHugeText(t *testing.T) {
	// Fault 45: it ends, and soon.
	for _, text := range []string{strings.Repeat("(", 100_000), "(" + strings.Repeat("ab [é] ", 125_000)} {
		r := Repair([]byte(text), RepairOptions{})
		assert.Equal(t, r.Refused, "")
		assert.Equal(t, len(CheckDelimiters("", r.Text)), 0)
	}
}
