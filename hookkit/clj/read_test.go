package clj

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

// dump shows nodes by kind and text: keyword‹a› or vector[integer‹1›].
func dump(nodes ...*Node) string {
	var words []string
	for _, n := range nodes {
		word := n.Kind.String()
		if n.Text != "" {
			word += "‹" + n.Text + "›"
		}
		if len(n.Children) > 0 {
			word += "[" + dump(n.Children...) + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func mustRead(tb testing.TB, text string, dialect Dialect) []*Node {
	tb.Helper()
	nodes, errs := ReadAll("f", []byte(text), Options{Dialect: dialect})
	assert.NilError(tb, errs.Err(), "%q", text)
	return nodes
}

func TestReadEDN(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"nil true false", "nil‹nil› boolean‹true› boolean‹false›"},
		{"a :b/c x' /", "symbol‹a› keyword‹b/c› symbol‹x'› symbol‹/›"},
		{"0 -1 +2 3N 0x1F 2r101 017", "integer‹0› integer‹-1› integer‹+2› integer‹3N› integer‹0x1F› integer‹2r101› integer‹017›"},
		{"1.5 1e3 2M 1. ##Inf ##-Inf ##NaN", "float‹1.5› float‹1e3› float‹2M› float‹1.› float‹##Inf› float‹##-Inf› float‹##NaN›"},
		{"1/2 -3/4", "ratio‹1/2› ratio‹-3/4›"},
		{`\a \newline \u0041`, `character‹\a› character‹\newline› character‹\u0041›`},
		{`"a\n\"\u00e9\101" ""`, "string‹a\n\"éA› string"},
		{"\"line\r\nbreak\"", "string‹line\r\nbreak›"},
		{"(1 [2 {:a #{3}}])", "list[integer‹1› vector[integer‹2› map[keyword‹a› set[integer‹3›]]]]"},
		{"() [] {} #{}", "list vector map set"},
		{"#foo/bar [1] # x 2", "tagged literal‹foo/bar›[vector[integer‹1›]] tagged literal‹x›[integer‹2›]"},
		{"#foo #bar 1", "tagged literal‹foo›[tagged literal‹bar›[integer‹1›]]"},
		{`#inst "x"`, "tagged literal‹inst›[string‹x›]"},
		{"[1 #_2 #_ #_ 3 4 5] #_(a b) ; c\n 6", "vector[integer‹1› integer‹5›] integer‹6›"},
		{"#foo #_ a 1", "tagged literal‹foo›[integer‹1›]"},
		{
			"#:a{:b 1 :c/d 2 e 3 :_/f 4 5 6 \"s\" :v}",
			"namespaced map‹:a›[keyword‹a/b› integer‹1› keyword‹c/d› integer‹2› symbol‹a/e› integer‹3› keyword‹f› integer‹4› " +
				"integer‹5› integer‹6› string‹s› keyword‹v›]",
		},
		{"\uFEFFa", "symbol‹a›"},
		{"{:a 1, #_#_:b 2 :c 3}", "map[keyword‹a› integer‹1› keyword‹c› integer‹3›]"},
		{`#{1 1.0 1.0M "1" :1}`, "set[integer‹1› float‹1.0› float‹1.0M› string‹1› keyword‹1›]"},
		{"#{##NaN ##NaN}", "set[float‹##NaN› float‹##NaN›]"},
	}
	for _, test := range tests {
		assert.Equal(t, dump(mustRead(t, test.text, EDN)...), test.want, "%q", test.text)
	}
}

func TestReadClojure(t *testing.T) {
	tests := []struct{ text, want string }{
		{"'a `b ~c ~@d @e #'f", "quote[symbol‹a›] syntax-quote[symbol‹b›] unquote[symbol‹c›] unquote-splicing[symbol‹d›] deref[symbol‹e›] var[symbol‹f›]"},
		{"^:a b #^c d", "form with metadata[keyword‹a› symbol‹b›] form with metadata[symbol‹c› symbol‹d›]"},
		{"^:a ^{:b 1} c", "form with metadata[keyword‹a› form with metadata[map[keyword‹b› integer‹1›] symbol‹c›]]"},
		{"#(inc %)", "function literal[symbol‹inc› symbol‹%›]"},
		{`#"a\"(" #=(f)`, `regex‹a\"(› read-eval[list[symbol‹f›]]`},
		{"#?(:clj 1) #?@(:clj [2])", "reader conditional[list[keyword‹clj› integer‹1›]] splicing reader conditional[list[keyword‹clj› vector[integer‹2›]]]"},
		{"{#?@(:clj [:a 1])}", "map[splicing reader conditional[list[keyword‹clj› vector[keyword‹a› integer‹1›]]]]"},
		{"::a ::b/c", "keyword‹:a› keyword‹:b/c›"},
		{"{:a 1 ::a 2}", "map[keyword‹a› integer‹1› keyword‹:a› integer‹2›]"},
		{"#::a{:b 1} #::{:c 2}", "namespaced map‹::a›[keyword‹b› integer‹1›] namespaced map‹::›[keyword‹c› integer‹2›]"},
		{"#{#(a) #(a) #\"b\" #\"b\"}", "set[function literal[symbol‹a›] function literal[symbol‹a›] regex‹b› regex‹b›]"},
		{"1#{2} 80% String/2 a/b/c", "integer‹1› set[integer‹2›] integer‹80› symbol‹%› symbol‹String/2› symbol‹a/b/c›"},
		{"#!/usr/bin/env bb\n1", "integer‹1›"},
	}
	for _, test := range tests {
		assert.Equal(t, dump(mustRead(t, test.text, Clojure)...), test.want, "%q", test.text)
	}
}

func TestPositions(t *testing.T) {
	src := []byte("\uFEFF{:a \"é🐴\" ;c\r\n :b\r[1\n\n]\t#foo x 1}")
	nodes, errs := ReadAll("f", src, Options{})
	assert.NilError(t, errs.Err())
	tests := []struct {
		node       *Node
		start, end Pos
		source     string
	}{
		// A byte order mark counts as a column, as in Clojure.
		{nodes[0], Pos{3, 1, 2}, Pos{39, 5, 12}, string(src[3:])},
		{nodes[0].Children[0], Pos{4, 1, 3}, Pos{6, 1, 5}, ":a"},
		{nodes[0].Children[1], Pos{7, 1, 6}, Pos{15, 1, 11}, `"é🐴"`},
		{nodes[0].Children[2], Pos{21, 2, 2}, Pos{23, 2, 4}, ":b"},
		{nodes[0].Children[3], Pos{24, 3, 1}, Pos{29, 5, 2}, "[1\n\n]"},
		{nodes[0].Children[4], Pos{30, 5, 3}, Pos{36, 5, 9}, "#foo x"},
	}
	for _, test := range tests {
		assert.Equal(t, Source(src, test.node), test.source)
		assert.Equal(t, test.node.Start, test.start, "start of %s", test.source)
		assert.Equal(t, test.node.End, test.end, "end of %s", test.source)
	}
}

func TestLocatorGoesBack(t *testing.T) {
	// Errors name openers far behind: a look-up back gives the same place as one forward.
	rapid.Check(t, func(t *rapid.T) {
		src := []byte(strings.Repeat(string(anyText().Draw(t, "src")), 40))
		back := newLocator(src)
		back.at(len(src))
		forward := newLocator(src)
		for offset := range len(src) + 1 {
			assert.Equal(t, back.at(offset), forward.at(offset))
		}
	})
}

func TestAccessors(t *testing.T) {
	m := mustRead(t, `{:name "a" :n 0x10 :big 123456789012345678901 :f 1.5 :r 1/4 :on true :c \tab :inf ##-Inf name 1 "name" 2 :name/x 3 :nil nil
		:min -9223372036854775808 :m 2.5M :huge 1e999}`, EDN)[0]
	text, ok := m.Get("name").Str()
	assert.Assert(t, ok && text == "a")
	n, ok := m.Get("n").Int()
	assert.Assert(t, ok && n == 16)
	n, ok = m.Get("min").Int()
	assert.Assert(t, ok && n == math.MinInt64)
	_, ok = m.Get("big").Int()
	assert.Assert(t, !ok)
	on, ok := m.Get("on").Bool()
	assert.Assert(t, ok && on)
	r, ok := m.Get("c").Rune()
	assert.Assert(t, ok && r == '\t')
	for key, want := range map[string]float64{
		"f": 1.5, "r": 0.25, "n": 16, "big": 123456789012345678901, "inf": math.Inf(-1), "m": 2.5, "huge": math.Inf(1),
	} {
		f, isFloat := m.Get(key).Float()
		assert.Assert(t, isFloat && f == want, "%s: %v", key, f)
	}
	f, ok := mustRead(t, "##NaN", EDN)[0].Float()
	assert.Assert(t, ok && math.IsNaN(f))

	var keys []string
	for key, value := range m.Pairs() {
		keys = append(keys, dump(key)+"="+value.Kind.String())
	}
	assert.Equal(t, strings.Join(keys[:3], " "), "keyword‹name›=string keyword‹n›=integer keyword‹big›=integer")
	assert.Equal(t, len(keys), 15)

	// Absent things are nil, and nil answers no to everything: a schema asks without checking first.
	absent := m.Get("absent").Get("deeper")
	assert.Assert(t, absent == nil)
	_, isInt := absent.Int()
	_, isText := absent.Str()
	_, isBool := absent.Bool()
	_, isFloat := absent.Float()
	_, isRune := absent.Rune()
	assert.Assert(t, !isInt && !isText && !isBool && !isFloat && !isRune)
	_, isText = m.Get("n").Str()
	assert.Assert(t, !isText)
	assert.Assert(t, m.Get("n").Get("x") == nil)
	v, ok := mustRead(t, "#:a{:b 7}", EDN)[0].Get("a/b").Int()
	assert.Assert(t, ok && v == 7)
}

func TestRadixOfIntegers(t *testing.T) {
	for text, want := range map[string]int64{
		"017": 15, "0": 0, "00": 0, "-0x1F": -31, "36rzZ": 36*35 + 35, "36rN": 23, "2r1": 1, "42N": 42, "0N": 0, "+7": 7, "0x1N": 1, "017N": 15,
	} {
		got, ok := mustRead(t, text, EDN)[0].Int()
		assert.Assert(t, ok, text)
		assert.Equal(t, got, want, text)
	}
}

func TestNestedDeep(t *testing.T) {
	// Fault 23: a file cannot exhaust the stack, whatever it nests.
	for _, opener := range []string{"[", "(", "{:a ", "#{", "'", "#_", "#foo ", "^"} {
		src := []byte(strings.Repeat(opener, 5_000_000/len(opener)))
		_, errs := ReadAll("hooks.edn", src, Options{Dialect: Clojure})
		assert.Equal(t, len(errs), 1, opener)
		at := 512 * len(opener)
		assert.Error(t, errs[0], "hooks.edn:1:"+strconv.Itoa(at+1)+
			": Nested too deep: more than 512 delimiters and prefixes are open here; reading stopped")
	}
	limit := strings.Repeat("[", 512) + strings.Repeat("]", 512)
	mustRead(t, limit, EDN)
	nodes, errs := ReadAll("f", []byte("1 "+"["+limit+"]"), Options{})
	assert.Equal(t, len(errs), 1)
	assert.Equal(t, dump(nodes...), "integer‹1›")
	_, errs = ReadAll("f", []byte("[[["), Options{MaxDepth: 2})
	assert.Error(t, errs.Err(), "f:1:3: Nested too deep: more than 2 delimiters and prefixes are open here; reading stopped")
}

func TestCheckDelimitersDeep(t *testing.T) {
	assert.Equal(t, len(CheckDelimiters("f", []byte(strings.Repeat("[", 900_000)+strings.Repeat("]", 900_000)))), 0)
	assert.Equal(t, len(CheckDelimiters("f", []byte(strings.Repeat("'", 900_000)+"a"))), 0)
	errs := CheckDelimiters("f", []byte(strings.Repeat("[", 5_000_000)))
	assert.Error(t, errs.Err(), "f:1:1000001: Nested too deep: more than 1000000 delimiters and prefixes are open here; reading stopped")
}

func TestTooLong(t *testing.T) {
	nodes, errs := ReadAll("hooks.edn", make([]byte, 1<<20+1), Options{})
	assert.Error(t, errs.Err(), "hooks.edn:1:1: Too long: 1048577 bytes, the limit is 1048576")
	assert.Equal(t, len(nodes), 0)
	_, errs = ReadAll("f", []byte("abc"), Options{MaxBytes: 2})
	assert.Error(t, errs.Err(), "f:1:1: Too long: 3 bytes, the limit is 2")
	mustRead(t, "\""+strings.Repeat("a", 1<<20)+"\"", Clojure)
}

func TestNotUTF8(t *testing.T) {
	_, errs := ReadAll("f", []byte("{:a\n \"\xff\"}"), Options{})
	assert.Error(t, errs.Err(), "f:2:3: Not UTF-8: EDN is UTF-8 text")
}

func TestErrorsLeaveUsableNodes(t *testing.T) {
	nodes, errs := ReadAll("f", []byte("(a [b {:c 1) d"), Options{})
	assert.Equal(t, len(errs), 2)
	assert.Equal(t, dump(nodes...), "list[symbol‹a› vector[symbol‹b› map[keyword‹c› integer‹1›]]] symbol‹d›")
}
