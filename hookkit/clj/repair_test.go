package clj

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// repairCase is a damaged text and what becomes of it.
type repairCase struct {
	name, text, want string
}

func repairCases() []repairCase {
	return []repairCase{
		{"seed 002", `{:a (let [x 5`, `{:a (let [x 5])}`},
		{"lost at the end", "(defn f [x]\n  (inc x)", "(defn f [x]\n  (inc x))"},
		{"several lost at the end", "(defn f [x]\n  (when x\n    (inc x", "(defn f [x]\n  (when x\n    (inc x)))"},
		{"final newline", "(defn f [x]\n  (inc x)\n", "(defn f [x]\n  (inc x))\n"},
		{"before the comment at the end", "(defn f [x]\n  (inc x) ; one more\n\n;; end\n", "(defn f [x]\n  (inc x)) ; one more\n\n;; end\n"},
		{"before the next form", "(defn f [x]\n  (inc x)\n\n(defn g [y]\n  (dec y))\n", "(defn f [x]\n  (inc x))\n\n(defn g [y]\n  (dec y))\n"},
		{"within a form", "(defn f [x]\n  (let [y (inc x)\n    (when y\n      (* x y))))\n", "(defn f [x]\n  (let [y (inc x)]\n    (when y\n      (* x y))))\n"},
		{"one too many at the end", "(defn f [x]\n  (inc x)))\n(def a 1)\n", "(defn f [x]\n  (inc x))\n(def a 1)\n"},
		{"one too many within", "(defn f [x]\n  (let [y 1])\n    (+ x y)))\n", "(defn f [x]\n  (let [y 1]\n    (+ x y)))\n"},
		{"wrong kind", "(defn f [x)\n  (inc x))", "(defn f [x]\n  (inc x))"},
		{"swapped", "(defn f [x]\n  (let [y (inc x])\n    y))", "(defn f [x]\n  (let [y (inc x)]\n    y))"},
		{"swallowed by a comment", "(defn f [x]\n  (when x\n    (inc x ; see below)))\n\n(def a 1)\n", "(defn f [x]\n  (when x\n    (inc x))) ; see below)))\n\n(def a 1)\n"},
		{"two damaged forms", "(defn f [x]\n  (inc x)\n\n(def a 1)\n\n(defn g [x)\n  (dec x))\n", "(defn f [x]\n  (inc x))\n\n(def a 1)\n\n(defn g [x]\n  (dec x))\n"},
		{"CRLF", "(defn f [x]\r\n  (inc x)\r\n\r\n(def a 1)\r\n", "(defn f [x]\r\n  (inc x))\r\n\r\n(def a 1)\r\n"},
		{"CR", "(defn f [x]\r  (inc x)\r\r(def a 1)\r", "(defn f [x]\r  (inc x))\r\r(def a 1)\r"},
		{"byte order mark", "\uFEFF(defn f [x]\n  (inc x)\n", "\uFEFF(defn f [x]\n  (inc x))\n"},
		{"tabs", "(defn f [x]\n\t(when x\n\t\t(inc x)\n\t(dec x))\n", "(defn f [x]\n\t(when x\n\t\t(inc x))\n\t(dec x))\n"},
		{"form feed and trailing space", "(def a\n  [1 2 3 \n\f\n(def b 2)", "(def a\n  [1 2 3]) \n\f\n(def b 2)"},
		{"a form around others", "(comment\n(defn f [x]\n  (inc x)\n\n(f 1)\n)\n", "(comment\n(defn f [x]\n  (inc x))\n\n(f 1)\n)\n"},
		{"no opener", "(let x 1]\n  (inc x))", "(let [x 1]\n  (inc x))"},
		{"delimiters that are none", "(defn f [x]\n  (str \\( \"[\" #\"\\{\" x) ; (\n", "(defn f [x]\n  (str \\( \"[\" #\"\\{\" x)) ; (\n"},
		{
			"the lines below stand where those within stood",
			"(defproject a \"1\"\n  :dependencies\n  [[x \"1\"]\n   [y \"2\"]]\n   [z \"3\"]]\n\n  :test-paths [\"a\"])\n",
			"(defproject a \"1\"\n  :dependencies\n  [[x \"1\"]\n   [y \"2\"]\n   [z \"3\"]]\n\n  :test-paths [\"a\"])\n",
		},
		{
			"one too many among many",
			"(defn g [x o m]\n  (if (instance? IObj o)\n    (with-meta o (merge (meta o) m)))\n    (reset-meta! o m)))\n",
			"(defn g [x o m]\n  (if (instance? IObj o)\n    (with-meta o (merge (meta o) m))\n    (reset-meta! o m)))\n",
		},
		{"a parameter twice", "(defmethod tag :default [ast ast)\n", "(defmethod tag :default [ast] ast)\n"},
		{
			"one too many in ns",
			"(ns a.b\n  (:import [java.util List Map]]\n           [java.util.concurrent.locks Lock]))\n",
			"(ns a.b\n  (:import [java.util List Map]\n           [java.util.concurrent.locks Lock]))\n",
		},
		{"after metadata", "(ns ^{:author \"A\"\n      :doc \"B\"}\n  a.b\n\n(def c 1)\n", "(ns ^{:author \"A\"\n      :doc \"B\"}\n  a.b)\n\n(def c 1)\n"},
		{"at the end of a line", "(def a\n  {:type (enum :restart :boot\n   :task f})\n", "(def a\n  {:type (enum :restart :boot)\n   :task f})\n"},
		{"non-ASCII", "(def größe \"ä😀\" {:a [1 2}\n", "(def größe \"ä😀\" {:a [1 2]})\n"},
	}
}

func TestRepair(t *testing.T) {
	// Faults 42 and 43, and the damage that the issue names.
	for _, c := range repairCases() {
		t.Run(c.name, func(t *testing.T) {
			r := Repair([]byte(c.text), RepairOptions{})
			assert.Equal(t, r.Refused, "", "%v", r.Places)
			assert.Equal(t, string(r.Text), c.want)
			assert.Equal(t, applyEdits(c.text, r.Edits), c.want)
			assert.Equal(t, len(r.Places), 0)
		})
	}
}

// applyEdits does what Edits says.
func applyEdits(text string, edits []Edit) string {
	var b strings.Builder
	last := 0
	for _, e := range edits {
		b.WriteString(text[last:e.Pos.Offset])
		b.WriteString(e.Inserted)
		last = e.Pos.Offset + len(e.Removed)
	}
	return b.String() + text[last:]
}

func TestRepairSaysWhatItDid(t *testing.T) {
	r := Repair([]byte("(defn f [x)\n  (inc x)\n"), RepairOptions{})
	assert.DeepEqual(t, r.Edits, []Edit{
		{Pos: Pos{Offset: 10, Line: 1, Column: 11}, Removed: ")", Inserted: "]"},
		{Pos: Pos{Offset: 21, Line: 2, Column: 10}, Inserted: ")"},
	})
	// One closer is put in, where the search has replaced two and put in a third.
	r = Repair([]byte("(fn [e] (stop e) (dispatch [:save (-> e .-target .-value]))\n"), RepairOptions{})
	assert.DeepEqual(t, r.Edits, []Edit{{Pos: Pos{Offset: 56, Line: 1, Column: 57}, Inserted: ")"}})
	r = Repair([]byte("{:a (let [x 5"), RepairOptions{})
	assert.DeepEqual(t, r.Edits, []Edit{{Pos: Pos{Offset: 13, Line: 1, Column: 14}, Inserted: "])}"}})
	assert.Equal(t, r.Confidence, Sure)
	assert.Equal(t, Sure.String()+" "+Likely.String(), "sure likely")
}

func TestRepairLeavesBalancedTextAlone(t *testing.T) {
	// Fault 42: the slice that was given comes back.
	for _, text := range []string{"", " ", "(a)", "\uFEFF(a)\r\n\t[b]\f", "<<<<<<< a\n", "(defn f [x]\n(inc\n        x))"} {
		src := []byte(text)
		r := Repair(src, RepairOptions{Before: []byte("(b"), OldFragment: []byte("x")})
		assert.DeepEqual(t, r, RepairResult{Text: src, Confidence: Sure})
	}
}

func TestRepairRefusesATextThatIsTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	// Fault 45.
	src := append(bytes.Repeat([]byte{' '}, maxRepairBytes), ')')
	r := Repair(src, RepairOptions{})
	assert.Equal(t, r.Refused, "the text is too long: the limit is 67108864 bytes")
	assert.Equal(t, len(r.Places), 1)
}

func TestRepairRefuses(t *testing.T) {
	// Faults 44 and 47, and what has more than one meaning.
	tests := []struct{ name, text, refused, places string }{
		{
			"string", "(def a\n  \"abc)\n", "the string that starts at 2:3 has no end",
			"2:3 the string that starts here has no end; the quote that is missing may be before it",
		},
		{
			"regex", "(re-find #\"a( s)", "the regex that starts at 1:10 has no end",
			"1:10 the regex that starts here has no end; the quote that is missing may be before it",
		},
		{
			"character", "(a \\", "the character that starts at 1:4 has no end",
			"1:4 the character that starts here has no end",
		},
		{
			"a quote made up for by a comment", "(def a \"x)\n(def b \"y\") ; \"\n(def c [1)\n",
			"a quote seems to be missing: the string that starts at 1:8 touches what follows or precedes it",
			"1:8 the string that starts here touches what follows or precedes it: a quote is missing, here or before",
		},
		{
			"merge conflict", "(def a\n<<<<<<< HEAD\n  1)\n=======\n  2)\n>>>>>>> b\n", "there are markers of a merge conflict",
			"2:1 a merge conflict starts here: resolve it first",
		},
		{
			"prefix", "(foo a ')", "no repair was found for the form that starts at 1:1",
			"1:8 a form is missing after `'`",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			src := []byte(test.text)
			r := Repair(src, RepairOptions{})
			assert.Equal(t, r.Refused, test.refused)
			var places []string
			for _, p := range r.Places {
				places = append(places, fmt.Sprintf("%d:%d %s", p.Pos.Line, p.Pos.Column, p.Text))
			}
			assert.Equal(t, strings.Join(places, "\n"), test.places)
			assert.Equal(t, len(r.Edits), 0)
			assert.Assert(t, bytes.Equal(r.Text, src))
		})
	}
}

func TestRepairWithTheFileBefore(t *testing.T) {
	// The text alone leaves these open; what the edit changed decides.
	tests := []struct{ name, before, text, want string }{
		{
			"lost in the middle of a line", "(defn f [a b]\n  (foo (bar a) b))\n", "(defn f [a b]\n  (foo2 (bar a b))\n",
			"(defn f [a b]\n  (foo2 (bar a) b))\n",
		},
		{
			"lost opener", "(defn f [a b]\n  (foo a (bar b) c))\n", "(defn f [a b]\n  (foo a bar b) d))\n",
			"(defn f [a b]\n  (foo a (bar b) d))\n",
		},
		{
			"one too many in the middle", "(defn f [a b]\n  (foo a b c))\n", "(defn f [a b]\n  (foo x b) c))\n",
			"(defn f [a b]\n  (foo x b c))\n",
		},
		{
			"one of many equal ones taken away", "(defn f [a]\n  (foo (bar (baz a)))\n  a)\n", "(defn f [a]\n  (foo2 (bar (baz a))\n  a)\n",
			"(defn f [a]\n  (foo2 (bar (baz a)))\n  a)\n",
		},
		{
			"one of many equal ones put in", "(defn f [a]\n  (foo (bar (baz a)) a))\n", "(defn f [a]\n  (foo (bar (baz2 a))) a))\n",
			"(defn f [a]\n  (foo (bar (baz2 a)) a))\n",
		},
		{
			"a form put around another", "(defn f [a]\n  (foo a))\n", "(defn f [a]\n  (when a\n    (foo a))\n",
			"(defn f [a]\n  (when a\n    (foo a)))\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Repair([]byte(test.text), RepairOptions{Before: []byte(test.before)})
			assert.Equal(t, r.Refused, "", "%v", r.Places)
			assert.Equal(t, string(r.Text), test.want)
		})
	}
}

func TestRepairWithTheOldFragment(t *testing.T) {
	// The fragment and its range stand for the file before.
	text := "(defn f [a b]\n  (foo (bar a b))\n"
	r := Repair([]byte(text), RepairOptions{Focus: Span{16, 31}, OldFragment: []byte("(foo (bar a) b))")})
	assert.Equal(t, string(r.Text), "(defn f [a b]\n  (foo (bar a) b))\n")
}

func TestRepairIgnoresABrokenFileBefore(t *testing.T) {
	// Fault 46: a file that was broken before says nothing about what is right.
	text := []byte("(defn f [x]\n  (inc x)\n")
	assert.DeepEqual(t, Repair(text, RepairOptions{Before: []byte("(defn f [x]\n")}), Repair(text, RepairOptions{}))
}

func TestValidate(t *testing.T) {
	// The data of validate-delimiters in seed 002.
	tests := []struct {
		text string
		want Report
	}{
		{"(a)", Report{Valid: true}},
		{"{:a (let [x 5", Report{
			Error: "EOF while reading, starting at line 1: expected ] to match [ at line 1, column 10", Line: 1, Column: 14, ExpectedDelimiter: "]",
		}},
		{"(a\n ]", Report{Error: "Unmatched delimiter: ], expected ) to match ( at line 1, column 1", Line: 2, Column: 2, ExpectedDelimiter: ")"}},
		{")", Report{Error: "Unmatched delimiter: ), nothing is open here", Line: 1, Column: 1}},
	}
	for _, test := range tests {
		assert.DeepEqual(t, Validate([]byte(test.text)), test.want)
	}
}
