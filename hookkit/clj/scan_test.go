package clj

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

var tokenNames = map[TokenKind]string{
	TokenSpace: "space", TokenComment: "comment", TokenAtom: "atom", TokenNumber: "number", TokenString: "string", TokenRegex: "regex",
	TokenChar: "char", TokenUnreadable: "unreadable", TokenOpen: "open", TokenClose: "close", TokenQuote: "quote",
	TokenSyntaxQuote: "syntax-quote", TokenUnquote: "unquote", TokenUnquoteSplicing: "unquote-splicing", TokenDeref: "deref",
	TokenVar: "var", TokenMeta: "meta", TokenDiscard: "discard", TokenReadEval: "eval", TokenReaderConditional: "conditional",
	TokenReaderConditionalSplicing: "splicing", TokenSymbolic: "symbolic", TokenNamespace: "namespace", TokenTag: "tag",
}

// tokensOf gives the tokens of text as "kind‹source›", spaces left out, … after those that the end cut off.
func tokensOf(text string) string {
	var words []string
	for _, token := range Scan([]byte(text)) {
		if token.Kind == TokenSpace && !strings.ContainsAny(text[token.Start:token.End], "\uFEFF") {
			continue
		}
		word := tokenNames[token.Kind] + "‹" + text[token.Start:token.End] + "›"
		if token.Incomplete {
			word += "…"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestScan(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{`(a "b" \c)`, `open‹(› atom‹a› string‹"b"› char‹\c› close‹)›`},
		{`#{#(`, `open‹#{› open‹#(›`},
		{`\(\)\;\" \\)`, `char‹\(› char‹\)› char‹\;› char‹\"› char‹\\› close‹)›`},
		{`\newline\u0028]`, `char‹\newline› char‹\u0028› close‹]›`},
		{`"a\"b\\"c`, `string‹"a\"b\\"› atom‹c›`},
		{`#"[\"]"`, `regex‹#"[\"]"›`},
		{"a;b\rc#!d\r\n#!e", "atom‹a› comment‹;b› atom‹c#!d› comment‹#!e›"},
		{"'`~~@@^#^#'#_#=###?#?@", "quote‹'› syntax-quote‹`› unquote‹~› unquote-splicing‹~@› deref‹@› meta‹^› meta‹#^› var‹#'› " +
			"discard‹#_› eval‹#=› symbolic‹##› conditional‹#?› splicing‹#?@›"},
		{"#:a{} #::b{} #::{}", "namespace‹#:a› open‹{› close‹}› namespace‹#::b› open‹{› close‹}› namespace‹#::› open‹{› close‹}›"},
		{"#foo[1] # bar", "tag‹#› atom‹foo› open‹[› number‹1› close‹]› tag‹#› atom‹bar›"},
		{"#<Obj a>", "unreadable‹#<Obj› atom‹a>›"},
		{"x' x# a%b :a'b#c", "atom‹x'› atom‹x#› atom‹a%b› atom‹:a'b#c›"},
		{"1'a 1#{} 1%2 +1 -a 1.5e10", "number‹1› quote‹'› atom‹a› number‹1› open‹#{› close‹}› number‹1› atom‹%2› number‹+1› atom‹-a› number‹1.5e10›"},
		{`a"b"c@d^e\f`, `atom‹a› string‹"b"› atom‹c› deref‹@› atom‹d› meta‹^› atom‹e› char‹\f›`},
		{"a,b\fc\x1Cd\u2003e\u2028f\u3000g", "atom‹a› atom‹b› atom‹c› atom‹d› atom‹e› atom‹f› atom‹g›"},
		{"a\u00a0b\u200bc\u2007d\u202fe\u0085f\x00g", "atom‹a\u00a0b\u200bc\u2007d\u202fe\u0085f\x00g›"},
		{"\uFEFF#!x\n(é\uFEFF)", "space‹\uFEFF› comment‹#!x› open‹(› atom‹é\uFEFF› close‹)›"},
		{"\"a\\", "string‹\"a\\›…"},
		{`#"a`, `regex‹#"a›…`},
		{`\`, `char‹\›…`},
		{"#", "tag‹#›"},
		{"\\\U0001F434)", "char‹\\\U0001F434› close‹)›"},
		{"a\xffb \\\xff \xe2\x80", "atom‹a\xffb› char‹\\\xff› atom‹\xe2\x80›"},
	}
	for _, test := range tests {
		assert.Equal(t, tokensOf(test.text), test.want, "%q", test.text)
	}
}

// anyText draws text that is dense in what matters to the reader, and sometimes any bytes.
func anyText() *rapid.Generator[[]byte] {
	pieces := []string{
		"(", ")", "[", "]", "{", "}", "#{", "#(", "'", "`", "~", "~@", "@", "^", "#^", "#'", "#_", "##", "#?", "#?@", "#:a", "#::", "#", "#=",
		"#<", "a", "b/c", ":k", "::k", "1", "1/0", "0x", "%", "\"", "\"s\"", "#\"", "\\", "\\a", "\\u0041", " ", ",", "\n", "\r", "\r\n", ";", "#!",
		"\uFEFF", "\u2003", "é", "\U0001F434", "\xff", "\x00", "Inf", "foo ", "{:a 1}", "[1 2]",
	}
	return rapid.OneOf(
		rapid.Map(rapid.SliceOf(rapid.SampledFrom(pieces)), func(p []string) []byte { return []byte(strings.Join(p, "")) }),
		rapid.SliceOf(rapid.Byte()),
	)
}

func checkLossless(t rapid.TB, src []byte) {
	end := 0
	tokens := Scan(src)
	for i, token := range tokens {
		if token.Start != end || token.End <= token.Start {
			t.Fatalf("token %d of %q is %+v, the one before ends at %d", i, src, token, end)
		}
		if token.Incomplete && i != len(tokens)-1 {
			t.Fatalf("token %d of %q is cut off and not the last", i, src)
		}
		end = token.End
	}
	if end != len(src) {
		t.Fatalf("tokens of %q end at %d", src, end)
	}
}

func TestScanIsLossless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkLossless(t, anyText().Draw(t, "src")) })
}

func TestScannerStaysAtTheEnd(t *testing.T) {
	s := NewScanner([]byte("a"))
	assert.Equal(t, s.Next(), Token{Start: 0, End: 1, Kind: TokenAtom})
	assert.Equal(t, s.Next(), Token{Start: 1, End: 1, Kind: TokenEOF})
	assert.Equal(t, s.Next(), Token{Start: 1, End: 1, Kind: TokenEOF})
}
