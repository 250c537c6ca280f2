package clj

import (
	"bytes"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/internal/growth"
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
	for _, c := range agentCases(f) {
		f.Add([]byte(c.text), otherWord(c.text, c.want))
	}
	f.Fuzz(func(t *testing.T, src, before []byte) { checkRepair(t, src, RepairOptions{Before: before}) })
}

// hugeShapes are texts of a size in bytes that a search could lose its way in.
var hugeShapes = map[string]func(size int) string{
	"openers":                func(n int) string { return strings.Repeat("(", n) },
	"closers":                func(n int) string { return strings.Repeat(")", n) },
	"one line":               func(n int) string { return "(" + strings.Repeat("ab [é] ", n/8) },
	"one line, lost within":  func(n int) string { return oneLine(n/2) + "(foo [a b) " + oneLine(n/2) + ")" },
	"one line, one too many": func(n int) string { return oneLine(n/2) + ") " + oneLine(n/2) + ")" },
	"one line, all broken":   func(n int) string { return "(" + strings.Repeat("(f [a b) ", n/9) + ")" },
	"a closer lost":          func(n int) string { return "(f [a)\n" + string(sampleOf(n)) },
	"a form around all":      func(n int) string { return "(do (f [x]\n  " + indented(string(sampleOf(n))) + ")" },
	"all forms broken":       func(n int) string { return strings.Repeat("(f [a\n  b)\n", n/11) },
	"deficits":               func(n int) string { return strings.Repeat("(f a\n", n/5) },
	"mismatched":             func(n int) string { return strings.Repeat("(", n/2) + strings.Repeat("]", n/2) },
	"deeper and deeper": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString("\n" + strings.Repeat(" ", min(i, 200)) + "(a b")
		}
		return b.String()
	},
	"wrappers": func(n int) string { return strings.Repeat("(comment\n(a)\n", n/13) },
	"prefixes": func(n int) string { return strings.Repeat("'", n) + ")" },
	"comments": func(n int) string { return "(a\n" + strings.Repeat("; )\n", n/4) },
	"swallows": func(n int) string { return strings.Repeat("(a (b ;))\n", n/10) },
}

func oneLine(size int) string { return strings.Repeat("(ab [c d] {:e f}) ", size/18) }

func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

func TestRepairTakesLinearTime(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	// Fault 45.
	for name, shape := range hugeShapes {
		for _, before := range []string{"", "(b)\n(a)"} {
			t.Run(name+" "+before, func(t *testing.T) {
				t.Parallel()
				opts := RepairOptions{}
				if before != "" {
					opts.Before = []byte(before)
				}
				assert.NilError(t, growth.Linear(10_000, func(size int) func() {
					src := []byte(shape(size))
					return func() { Repair(src, opts) }
				}))
			})
		}
	}
}

func TestRepairOfHugeText(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	// Fault 45: 1 MB on one line and 100,000 openers end balanced or refused.
	for name, text := range map[string]string{
		"openers":     strings.Repeat("(", 100_000),
		"one line":    hugeShapes["one line"](1 << 20),
		"lost within": hugeShapes["one line, lost within"](1 << 20),
		"too many":    hugeShapes["one line, one too many"](1 << 20),
	} {
		r := Repair([]byte(text), RepairOptions{})
		assert.Assert(t, r.Refused != "" || len(CheckDelimiters("", r.Text)) == 0, name)
	}
	for name, text := range map[string]string{
		"openers":  strings.Repeat("(", 100_000) + strings.Repeat(")", 100_000),
		"one line": "(" + oneLine(1<<20) + ")",
	} {
		assert.DeepEqual(t, Repair([]byte(text), RepairOptions{}), RepairResult{Text: []byte(text), Confidence: Sure})
		assert.Equal(t, len(CheckDelimiters("", []byte(text))), 0, name)
	}
}

func TestRepairAgreesWithClojureOnWhatIsBalanced(t *testing.T) {
	// Faults 42 and 43: what Clojure reads is not touched, whatever its line ends are and whatever is before and after it.
	for _, text := range trickyTexts(t) {
		checkRepair(t, []byte(text.Text), RepairOptions{})
		if !text.Valid && balancedButRefused[text.Text] == "" {
			r := Repair([]byte(text.Text), RepairOptions{})
			assert.Assert(t, r.Refused != "" || len(r.Edits) > 0, "%q: Clojure says %s", text.Text, text.Clojure)
			continue
		}
		for name, variant := range variants(text.Text) {
			if len(CheckDelimiters("", []byte(variant))) > 0 {
				continue // a form feed or a CR within a string or a comment makes another text of some
			}
			r := Repair([]byte(variant), RepairOptions{})
			assert.Assert(t, r.Refused == "" && len(r.Edits) == 0 && string(r.Text) == variant, "%s of %q", name, text.Text)
		}
	}
}

// variants are other ways to write a text that mean the same.
func variants(text string) map[string]string {
	return map[string]string{
		"as it is":       text,
		"CRLF":           strings.ReplaceAll(text, "\n", "\r\n") + "\r\n",
		"CR":             strings.ReplaceAll(text, "\n", "\r"),
		"BOM":            "\uFEFF" + text,
		"tabs":           strings.ReplaceAll(text, "\n ", "\n\t"),
		"no indentation": strings.ReplaceAll(text, "\n ", "\n"),
		"form feeds":     "\f" + text + "\n\f",
		"spaces at ends": strings.ReplaceAll(text, "\n", " \n") + " \n ",
	}
}

func TestRepairOfDamagedTextInVariants(t *testing.T) {
	// Fault 42: line ends, a byte order mark and tabs do not change what a repair does, and stay.
	damaged := map[string]string{
		"a closer lost": strings.Replace(sample, "(map :price items))]", "(map :price items)]", 1),
		"one too many":  strings.Replace(sample, "1000)", "1000))", 1),
		"wrong kind":    strings.Replace(sample, "0}}]", "0}}}", 1),
	}
	for name, text := range damaged {
		for variant, text := range variants(text) {
			if variant == "no indentation" {
				continue // that is what it is decided by
			}
			r := Repair([]byte(text), RepairOptions{})
			assert.Equal(t, r.Refused, "", "%s, %s", name, variant)
			assert.Equal(t, string(r.Text), variants(sample)[variant], "%s, %s", name, variant)
		}
	}
}
