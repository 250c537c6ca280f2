package clj

import (
	"bytes"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/internal/growth"
)

// balanced draws text that nests without a fault: forms of all sorts in delimiters, prefixes with their forms.
func balanced() *rapid.Generator[string] {
	atom := rapid.SampledFrom([]string{
		"a", ":b", "1", `"("`, `#"["`, `\(`, `\)`, `\"`, `"\""`, "x#", "; )\n c", "#_e f", "nil",
	})
	return rapid.Deferred(func() *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			if rapid.IntRange(0, 2).Draw(t, "leaf") > 0 {
				return atom.Draw(t, "atom")
			}
			wrap := rapid.SampledFrom([]string{"()", "[]", "{}", "#{}", "#()", "'", "@", "`", "~", "~@", "#'", "^:m ", "#foo ", "#_x "}).Draw(t, "wrap")
			closer := strings.IndexAny(wrap, ")]}")
			if closer < 0 {
				return wrap + balanced().Draw(t, "form")
			}
			forms := rapid.SliceOfN(balanced(), 0, 4).Draw(t, "forms")
			return wrap[:closer] + strings.Join(forms, " ") + wrap[closer:]
		})
	})
}

func TestBalancedTextHasNoErrors(t *testing.T) {
	// CheckDelimiters is empty for what is balanced, and not empty once a delimiter is missing.
	rapid.Check(t, func(t *rapid.T) {
		text := balanced().Draw(t, "text")
		assert.NilError(t, CheckDelimiters("f", []byte(text)).Err(), "%q", text)
		var delimiters []Token
		for _, token := range Scan([]byte(text)) {
			if token.Kind == TokenOpen || token.Kind == TokenClose {
				delimiters = append(delimiters, token)
			}
		}
		if len(delimiters) == 0 {
			return
		}
		drop := rapid.SampledFrom(delimiters).Draw(t, "drop")
		broken := text[:drop.Start] + " " + text[drop.End:]
		assert.Assert(t, len(CheckDelimiters("f", []byte(broken))) > 0, "%q", broken)
	})
}

// checkAny holds for any bytes in any dialect.
func checkAny(t rapid.TB, src []byte) {
	checkLossless(t, src)
	before := bytes.Clone(src)
	delimiters := CheckDelimiters("f", src)
	for _, dialect := range []Dialect{EDN, Clojure} {
		nodes, errs := ReadAll("f", src, Options{Dialect: dialect, MaxDepth: maxOpen})
		known := map[Error]bool{}
		for i, e := range errs {
			known[*e] = true
			assert.Assert(t, e.Message != "" && e.Pos.Offset <= len(src) && e.Pos.Line > 0 && e.Pos.Column > 0, "%+v", e)
			assert.Assert(t, i == 0 || errs[i-1].Pos.Offset <= e.Pos.Offset, "not in order: %v", errs)
			_ = Excerpt(src, e.Pos)
		}
		for _, e := range delimiters {
			assert.Assert(t, known[*e], "ReadAll of %q lacks %v", src, e)
		}
		for len(nodes) > 0 {
			n := nodes[len(nodes)-1]
			nodes = append(nodes[:len(nodes)-1], n.Children...)
			assert.Assert(t, n.Start.Offset < n.End.Offset && n.End.Offset <= len(src), "%q: %+v", src, n)
			for _, c := range n.Children {
				assert.Assert(t, n.Start.Offset <= c.Start.Offset && c.End.Offset <= n.End.Offset, "%q: %+v in %+v", src, c, n)
			}
		}
	}
	assert.Assert(t, bytes.Equal(src, before), "the text was changed")
}

func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkAny(t, anyText().Draw(t, "src")) })
}

func FuzzRead(f *testing.F) {
	for _, text := range trickyTexts(f) {
		f.Add([]byte(text.Text))
	}
	for _, c := range errorCases(f) {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, src []byte) { checkAny(t, src) })
}

func TestSourceOfFormReadsTheSame(t *testing.T) {
	// A :code given as a form is sent as its source: it must be the same form alone.
	rapid.Check(t, func(t *rapid.T) {
		src := []byte("[ " + balanced().Draw(t, "text") + " ]")
		outer, _ := ReadAll("f", src, Options{Dialect: Clojure})
		for _, n := range outer[0].Children {
			alone, _ := ReadAll("f", []byte(Source(src, n)), Options{Dialect: Clojure})
			assert.Equal(t, dump(alone...), dump(n))
		}
	})
}

func TestLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	// Fault 45: 1 MB on one line, 100,000 openers.
	shapes := map[string]func(size int) string{
		"code":               func(n int) string { return string(sampleOf(n)) },
		"one line":           func(n int) string { return "(" + strings.Repeat("ab [é] ", n/8) + ")" },
		"openers":            func(n int) string { return strings.Repeat("(", n) },
		"closers":            func(n int) string { return strings.Repeat(")", n) },
		"mismatched":         func(n int) string { return strings.Repeat("(", n/2) + strings.Repeat("]", n/2) },
		"mismatched in turn": func(n int) string { return strings.Repeat("(", n/2) + strings.Repeat("]{", n/4) },
		"fits far out":       func(n int) string { return strings.Repeat("[((((((((", n/16) + strings.Repeat("]", n/16) },
		"prefixes":           func(n int) string { return strings.Repeat("'", n) },
		"discards":           func(n int) string { return strings.Repeat("#_", n/4) + strings.Repeat(")", n/4) },
		"string":             func(n int) string { return `"` + strings.Repeat(`\"(`, n/3) },
		"nested keys":        func(n int) string { return strings.Repeat("{", 500) + strings.Repeat("[1 2 3] {} ", n/11) },
		"nested maps as keys": func(n int) string {
			return strings.Repeat(strings.Repeat("{", 400)+"1 1"+strings.Repeat("} 1", 399)+"}", n/1700)
		},
		"map of many keys": func(n int) string { return "{" + strings.Repeat(":abc 1 ", n/7) + "}" },
		"digits":           func(n int) string { return "#{" + strings.Repeat("1", n/2) + " " + strings.Repeat("2", n/2) + "}" },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			assert.NilError(t, growth.Linear(100_000, func(size int) func() {
				src := []byte(shape(size))
				return func() {
					errs := CheckDelimiters("f", src)
					_, more := ReadAll("f", src, Options{Dialect: Clojure})
					for _, list := range []ErrorList{errs, more} {
						if len(list) > 0 {
							_ = Excerpt(src, list[0].Pos)
						}
					}
				}
			}))
		})
	}
}
