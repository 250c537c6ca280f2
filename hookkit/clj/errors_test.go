package clj

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/text"
)

// errorCase is one case of testdata/errors.txt.
type errorCase struct {
	title   string
	dialect Dialect
	text    string
	want    []string // line:column: message
}

func errorCases(tb testing.TB) []errorCase {
	tb.Helper()
	data, err := os.ReadFile("testdata/errors.txt")
	assert.NilError(tb, err)
	var cases []errorCase
	for section := range strings.SplitSeq(strings.TrimPrefix(string(data), "--- "), "\n--- ") {
		head, body, _ := strings.Cut(section, "\n")
		dialect, title, _ := strings.Cut(head, " ")
		c := errorCase{title: title}
		if dialect == "clojure" {
			c.dialect = Clojure
		}
		var lines []string
		for line := range strings.SplitSeq(strings.TrimSuffix(body, "\n"), "\n") {
			message, marked := strings.CutPrefix(strings.TrimLeft(line, " "), "^ ")
			if !marked {
				lines = append(lines, line)
				continue
			}
			// The caret stands under a character; the column counts its UTF-16 units.
			above := []rune(lines[len(lines)-1])
			column := len(utf16.Encode(above[:strings.IndexByte(line, '^')])) + 1
			c.want = append(c.want, fmt.Sprintf("%d:%d: %s", len(lines), column, message))
		}
		c.text = strings.Join(lines, "\n")
		cases = append(cases, c)
	}
	return cases
}

func TestErrorsStandAtTheirPlace(t *testing.T) {
	for _, c := range errorCases(t) {
		t.Run(c.title, func(t *testing.T) {
			_, errs := ReadAll("f", []byte(c.text), Options{Dialect: c.dialect})
			var got []string
			for _, e := range errs {
				got = append(got, strings.TrimPrefix(e.Error(), "f:"))
			}
			assert.DeepEqual(t, got, c.want)
		})
	}
}

func TestErrorSaysWhatWasExpected(t *testing.T) {
	tests := []struct {
		text string
		want Error
	}{
		{"(a\n #{b", Error{
			Pos: Pos{7, 2, 5}, Expected: "}", Opener: "{", OpenerPos: Pos{5, 2, 3}, Incomplete: true,
			Message: "EOF while reading, starting at line 2: expected } to match { at line 2, column 3",
		}},
		{"[)]", Error{
			Pos: Pos{1, 1, 2}, Expected: "]", Opener: "[", OpenerPos: Pos{0, 1, 1},
			Message: "Unmatched delimiter: ), expected ] to match [ at line 1, column 1", Why: "expected ] to match [ at line 1, column 1", Found: ")",
		}},
		{"}", Error{Pos: Pos{0, 1, 1}, Message: "Unmatched delimiter: }, nothing is open here", Why: "nothing is open here", Found: "}"}},
		{"a \"b", Error{
			Pos: Pos{4, 1, 5}, Expected: `"`, Opener: `"`, OpenerPos: Pos{2, 1, 3}, Incomplete: true,
			Message: `EOF while reading string, starting at line 1: expected " to match " at line 1, column 3`,
		}},
		{`#"b`, Error{
			Pos: Pos{3, 1, 4}, Expected: `"`, Opener: `#"`, OpenerPos: Pos{0, 1, 1}, Incomplete: true,
			Message: `EOF while reading regex, starting at line 1: expected " to end the regex that starts with #" at line 1, column 1`,
		}},
		{"(#_)", Error{
			Pos: Pos{3, 1, 4}, Opener: "#_", OpenerPos: Pos{1, 1, 2},
			Message: "Unmatched delimiter: ), expected a form after #_ at line 1, column 2", Why: "expected a form after #_ at line 1, column 2", Found: ")",
		}},
		{"'", Error{
			Pos: Pos{1, 1, 2}, Opener: "'", OpenerPos: Pos{0, 1, 1}, Incomplete: true,
			Message: "EOF while reading, starting at line 1: expected a form after ' at line 1, column 1",
		}},
	}
	for _, test := range tests {
		test.want.File = "src/f.clj"
		errs := CheckDelimiters("src/f.clj", []byte(test.text))
		assert.Assert(t, len(errs) > 0, "%q", test.text)
		assert.DeepEqual(t, *errs[0], test.want)
	}
}

func TestDuplicateNamesBothPlaces(t *testing.T) {
	_, errs := ReadAll("hooks.edn", []byte("{:a 1\n :a 2}"), Options{})
	assert.DeepEqual(t, errs, ErrorList{{
		File: "hooks.edn", Pos: Pos{7, 2, 2}, Related: Pos{1, 1, 2},
		Message: "Duplicate key: :a, the first is at line 1, column 2",
	}})
}

func TestErrorList(t *testing.T) {
	assert.NilError(t, ErrorList(nil).Err())
	assert.Equal(t, ErrorList(nil).Error(), "no errors")
	one := CheckDelimiters("f.clj", []byte(")"))
	assert.Error(t, one.Err(), "f.clj:1:1: Unmatched delimiter: ), nothing is open here")
	assert.Error(t, CheckDelimiters("f.clj", []byte("))")).Err(),
		"f.clj:1:1: Unmatched delimiter: ), nothing is open here (and 1 more error)")
	three := CheckDelimiters("f.clj", []byte(")))")).Err()
	assert.Error(t, three, "f.clj:1:1: Unmatched delimiter: ), nothing is open here (and 2 more errors)")
	var first *Error
	assert.Assert(t, errors.As(three, &first))
	assert.Equal(t, first.Pos, Pos{0, 1, 1})
}

func TestErrorsWithinLimit(t *testing.T) {
	// Fault 45: 100,000 openers. The list is bounded and says so.
	errs := CheckDelimiters("f.clj", []byte(strings.Repeat("(", 100_000)))
	assert.Equal(t, len(errs), 10_001)
	assert.Equal(t, errs[0].OpenerPos, Pos{99_999, 1, 100_000})
	assert.Error(t, errs[10_000], "f.clj:1:100001: 90000 more errors are not listed")
}

// What a message quotes of the source went to terminals and agents as it stands there, control characters and all.
func TestErrorsSteerNobody(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"1\x1b[31m", "\\\u202efoo", "{a\u202e 1 a\u202e 2}", "{\u061c}", "{[\u202e] 1 \u202ex}", "##\u202ex", "\"\\\u202e\"", ":\u202e/"} {
		_, errs := ReadAll("", []byte(src), Options{})
		for _, e := range append(errs, CheckDelimiters("", []byte(src))...) {
			assert.Assert(t, !strings.ContainsFunc(e.Message+Excerpt([]byte(src), e.Pos), func(r rune) bool { return r != '\n' && text.Steers(r) }), "%q: %q", src, e.Message)
		}
	}
}
