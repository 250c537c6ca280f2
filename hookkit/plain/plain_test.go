package plain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

// Issue 5: no control sequence of a server gets into --json.
func TestPlainText(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"λ 日本 😀\n\ta\r\n":                   "λ 日本 😀\n\ta\r\n",
		"\x1b[1;31mred\x1b[0m":              "red",
		"a\x1b]0;title\x07b":                "ab",
		"a\x1b]8;;http://x\x1b\\link":       "alink",
		"a\x1b(Bb\x1b7c":                    "abc",
		"a\x1b[31\nnext":                    "a\nnext", // one that is cut off does not take the next line
		"end\x1b":                           "end",
		"bell\x07 nul\x00 del\x7f c1\u009b": "bell nul del c1",
		"caf\xe9":                           "caf\uFFFD",
		"\x1b[5\\6m":                        "6m",
		"\x1b\x07a\x1b\x1b[1mb":             "ab", // what is no sequence takes nothing along
		"\x1b[3\x1b[31mred":                 "red",
		"\x1bλ":                             "λ",
	} {
		assert.Equal(t, Text(in), want, "%q", in)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.RuneFrom([]rune("\x1b[]\\;mP07a\n\x07\u009bλ"))).Draw(t, "in")
		out := Text(in)
		if Text(out) != out || !utf8.ValidString(out) || strings.Count(out, "\n") != strings.Count(in, "\n") {
			t.Fatalf("%q became %q", in, out)
		}
		if strings.ContainsFunc(out, func(c rune) bool { return unicode.IsControl(c) && c != '\n' }) {
			t.Fatalf("%q keeps a control character", out)
		}
	})
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "a\x1b": 0, "\x1b": 1, "\x1b7x": 2, "\x1b(Bx": 3, "\x1b\nx": 1, "\x1b[": 2, "\x1b[1;31mx": 7, "\x1b[1\x07": 3,
		"\x1b]0;t\x07x": 6, "\x1bPx\x1b\\y": 5, "\x1b]0;t\nx": 5, "\x1b\\x": 2,
	} {
		assert.Equal(t, Escape(in), want, "%q", in)
	}
}
