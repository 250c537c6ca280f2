package client

import (
	"maps"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/clj"
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
	} {
		assert.Equal(t, plainText(in), want, "%q", in)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.RuneFrom([]rune("\x1b[]\\;mP07a\n\x07\u009bλ"))).Draw(t, "in")
		out := plainText(in)
		if plainText(out) != out || !utf8.ValidString(out) || strings.Count(out, "\n") != strings.Count(in, "\n") {
			t.Fatalf("%q became %q", in, out)
		}
		if strings.ContainsFunc(out, func(c rune) bool { return unicode.IsControl(c) && c != '\n' }) {
			t.Fatalf("%q keeps a control character", out)
		}
	})
}

// What is shown of a message can be sent again with -m.
func TestEDNRoundTrip(t *testing.T) {
	text := rapid.StringOf(rapid.RuneFrom([]rune("a\"\\\n\x1b λ😀{}[]:")))
	values := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return rapid.Int64().Draw(t, "n")
		case 1:
			items := []any{}
			for _, s := range rapid.SliceOfN(text, 0, 3).Draw(t, "list") {
				items = append(items, s)
			}
			return items
		case 2:
			dict := map[string]any{}
			for k, v := range rapid.MapOfN(text, text, 0, 3).Draw(t, "dict") {
				dict[k] = v
			}
			return dict
		}
		return text.Draw(t, "s")
	})
	rapid.Check(t, func(t *rapid.T) {
		message := map[string]any{"op": "x"}
		maps.Copy(message, rapid.MapOfN(text, values, 0, 4).Draw(t, "message"))
		line := appendEDN(nil, message)
		if strings.ContainsAny(string(line), "\n\x1b") {
			t.Fatalf("%q is not one plain line", line)
		}
		forms, problems := clj.ReadAll("", line, clj.Options{})
		if len(problems) > 0 || len(forms) != 1 {
			t.Fatalf("%q: %v", line, problems)
		}
		back, err := bencodable(forms[0])
		assert.NilError(t, err)
		assert.DeepEqual(t, back, any(message))
	})
}
