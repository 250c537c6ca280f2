package clj

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// trickyText is one line of testdata/tricky.jsonl.
type trickyText struct {
	Text    string
	Valid   bool   // Clojure's own reader takes it
	Clojure string // else its message

	// Where edamame sees the first fault of the delimiters; Line 0: it sees none or another fault.
	Line, Column             int
	Expected, Opener         string
	OpenerLine, OpenerColumn int
}

func trickyTexts(tb testing.TB) []trickyText {
	tb.Helper()
	data, err := os.ReadFile("testdata/tricky.jsonl")
	assert.NilError(tb, err)
	var texts []trickyText
	for line := range bytes.Lines(data) {
		var text trickyText
		assert.NilError(tb, json.Unmarshal(line, &text))
		texts = append(texts, text)
	}
	assert.Equal(tb, len(texts), 363)
	return texts
}

// balancedButRefused has the texts whose delimiters match and which Clojure refuses for another reason.
var balancedButRefused = map[string]string{
	`(\ab)`:              "unsupported character",
	"(\\\U0001F434)":     "unsupported character: two UTF-16 units",
	`(re-find #"\"(" s)`: "regex does not compile",
	`(foo #"\q")`:        "regex does not compile",
	`#:a[1]`:             "namespaced map without a map",
	`#:a.b/c{:d 1}`:      "namespaced map with a bad namespace",
	`#:{:a 1}`:           "namespaced map with a bad namespace",
	`#{1 1}`:             "duplicate key",
	`{:a 1 :a 2}`:        "duplicate key",
	`#(a #(b))`:          "nested function literals",
	`^[long] f`:          "vector as metadata: Clojure takes it since 1.12, the verdicts are from 1.11",
	`##Foo`:              "unknown symbolic value",
	`#=(+ 1 2)`:          "evaluation while reading was switched off for the verdict",
	`#foo.Bar{:a 1}`:     "record construction needs evaluation while reading",
	`#<Object>`:          "unreadable form",
	`foo#{1}`:            "odd map: the symbol is foo#",
	`{:a}`:               "odd map",
	`{:a 1 :b}`:          "odd map",
	`{:a #_1}`:           "odd map",
	`:a/`:                "invalid token",
	`:`:                  "invalid token",
	`(:)`:                "invalid token",
	`::`:                 "invalid token",
	`:(a)`:               "invalid token",
	`: a`:                "invalid token",
	`a/`:                 "invalid token",
	`/a`:                 "invalid token",
	`1a`:                 "invalid number",
	`(foo "a\qb")`:       "unsupported escape",
	`(foo "\u00e")`:      "short unicode escape",
	`# :a{:b 1}`:         "reader tag is no symbol",
	`#uuid "x"`:          "not a UUID",
}

// beyondReading has those that ReadAll takes too.
var beyondReading = map[string]bool{
	`(re-find #"\"(" s)`: true, `(foo #"\q")`: true, `^[long] f`: true, `#=(+ 1 2)`: true, `#foo.Bar{:a 1}`: true, `#uuid "x"`: true,
}

func TestDelimitersAgreeWithClojure(t *testing.T) {
	unseen := len(balancedButRefused)
	for _, text := range trickyTexts(t) {
		balanced := len(CheckDelimiters("f.clj", []byte(text.Text))) == 0
		if reason := balancedButRefused[text.Text]; reason != "" {
			unseen--
			assert.Assert(t, !text.Valid, "%q is in the list (%s), and Clojure takes it", text.Text, reason)
			assert.Assert(t, balanced, "%q: %s", text.Text, reason)
			continue
		}
		assert.Equal(t, balanced, text.Valid, "%q: Clojure says %s", text.Text, text.Clojure)
	}
	assert.Equal(t, unseen, 0, "the list has texts that are not in testdata/tricky.jsonl")
}

func TestReadAllAgreesWithClojure(t *testing.T) {
	for _, text := range trickyTexts(t) {
		_, errs := ReadAll("f.clj", []byte(text.Text), Options{Dialect: Clojure})
		assert.Equal(t, len(errs) == 0, text.Valid || beyondReading[text.Text], "%q: Clojure says %q, ReadAll says %v",
			text.Text, text.Clojure, errs)
	}
}

func TestFirstFaultStandsWhereEdamameSeesIt(t *testing.T) {
	compared := 0
	for _, text := range trickyTexts(t) {
		if text.Line == 0 {
			continue
		}
		errs := CheckDelimiters("f.clj", []byte(text.Text))
		assert.Assert(t, len(errs) > 0, "%q", text.Text)
		first := errs[0]
		if strings.Contains(first.Message, "expected a form after") {
			continue // edamame takes the closer for the form and reports the opener; Clojure says unmatched, as we do
		}
		compared++
		got := trickyText{
			Text: text.Text, Clojure: text.Clojure, Line: first.Pos.Line, Column: first.Pos.Column,
			Expected: first.Expected, Opener: first.Opener, OpenerLine: first.OpenerPos.Line, OpenerColumn: first.OpenerPos.Column,
		}
		if strings.HasSuffix(text.Text, "1") || strings.HasSuffix(text.Text, "2") || strings.HasSuffix(text.Text, "3") {
			got.Column-- // edamame is one short of the end of the text after a number
		}
		assert.DeepEqual(t, got, text)
	}
	assert.Equal(t, compared, 74)
}
