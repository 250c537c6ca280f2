package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/text"
)

// One row for everything that seven cleaners once judged differently.
var cleaned = []struct{ title, in, clean, screen string }{
	{"nothing to take out", "λ 日本 😀\n\ta b", "λ 日本 😀\n\ta b", "λ 日本 😀\n\ta b"},
	{"CRLF", "a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n"},
	{"overwritten", "10%\r50%\r100%\ndone", "10%\r50%\r100%\ndone", "100%\ndone"},
	{"CR at the end keeps the line", "a\r", "a\r", "a"},
	{"colour", "\x1b[1;31mred\x1b[0m", "red", "red"},
	{"colour in one character", "\u009b1;31mred\u009b0m", "red", "red"},
	{"window title", "a\x1b]0;title\x07b", "ab", "ab"},
	{"hyperlink", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link", "link"},
	{"the introducer of a title in one character", "a\u009d0;title\u009cb", "a0;titleb", "a0;titleb"},
	{"DCS", "a\x1bPq#0;2~~\x1b\\b", "ab", "ab"},
	{"SOS, PM, APC", "a\x1bXone\x1b\\b\x1b^two\x1b\\c\x1b_three\x1b\\d", "abcd", "abcd"},
	{"introducers in one character", "a\u0090one\u009cb\u0098two\u009cc\u009ethree\u009cd\u009ffour\u009ce", "aonebtwocthreedfoure", "aonebtwocthreedfoure"},
	{"quotation marks in UTF-8 read as Latin-1", "â\u0080\u0098fooâ\u0080\u0099, â\u0080\u009cbarâ\u0080\u009d, â\u0080\u009cx", "âfooâ, âbarâ, âx", "âfooâ, âbarâ, âx"},
	{"a letter in UTF-8 read as Latin-1", "Ä\u009bkoruna", "Äkoruna", "Äkoruna"},
	{"CAN breaks a string off", "a\x1bPone\x18b", "ab", "ab"},
	{"another sequence breaks a string off", "a\x1b]0;title\x1b[31mred", "ared", "ared"},
	{"two-byte escape", "\x1b7text", "text", "text"},
	{"three-byte escape", "\x1b(Btext", "text", "text"},
	{"a string that is cut off does not take the next line", "a\x1b]0;title\nFAIL", "a\nFAIL", "a\nFAIL"},
	{"a CSI that is cut off does not take the next line", "a\x1b[31\nnext", "a\nnext", "a\nnext"},
	{"a CSI that is cut off takes no letter of another script", "\x1b[3λ", "λ", "λ"},
	{"a CSI within a CSI", "\x1b[3\x1b[31mred", "red", "red"},
	{"an escape before a line's end", "a\x1b\nb", "a\nb", "a\nb"},
	{"an escape before a letter of another script", "\x1bλ", "λ", "λ"},
	{"escapes alone", "\x1b\x07a\x1b\x1b[1mb\x1b", "ab", "ab"},
	{"CSI at the end", "a\x1b[", "a", "a"},
	{"bell, backspace, NUL, DEL, C1", "a\x07\x08\x00b\x7f\u0084c", "abc", "abc"},
	{"vertical tab and form feed", "a\vb\f", "ab", "ab"},
	{"controls of direction", "a\u202ab\u202bc\u202cd\u202de\u202ef\u2066g\u2067h\u2068i\u2069j\u200ek\u200fl\u061cm", "abcdefghijklm", "abcdefghijklm"},
	{"byte order mark", "\ufeffa\ufeffb", "ab", "ab"},
	{"joiners within words stay", "می\u200cخواهم 👨\u200d👩", "می\u200cخواهم 👨\u200d👩", "می\u200cخواهم 👨\u200d👩"},
	{"invalid UTF-8", "caf\xe9 \x9b31m", "caf\ufffd \ufffd31m", "caf\ufffd \ufffd31m"},
	{"what is taken out joins no bytes", "\xc2\x1b[1m\x9b31mred", "\ufffd\ufffd31mred", "\ufffd\ufffd31mred"},
	{"overwritten by nothing that is seen", "a\r\u202e\x07\nb", "a\r\nb", "a\nb"},
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, row := range cleaned {
		assert.Equal(t, text.Clean(row.in), row.clean, row.title)
		assert.Equal(t, text.Screen(row.in), row.screen, row.title)
		assert.Equal(t, text.Value(row.in), strings.ReplaceAll(row.clean, "\r", ""), row.title)
		assert.Equal(t, text.Line(row.in), strings.Join(strings.Fields(row.clean), " "), row.title)
	}
}

func TestCleanAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.RuneFrom([]rune("\x1b[]\\;mP07a\r\n\x07\u009b\u009c\u0090\u202eλ"))).Draw(t, "in") +
			string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		clean, screen := text.Clean(in), text.Screen(in)
		for _, out := range []string{clean, screen} {
			if !utf8.ValidString(out) || strings.Count(out, "\n") != strings.Count(in, "\n") || strings.ContainsFunc(out, text.Steers) {
				t.Fatalf("%q became %q", in, out)
			}
		}
		if text.Clean(clean) != clean || text.Screen(screen) != screen || text.Screen(clean) != screen || strings.Contains(screen, "\r") {
			t.Fatalf("%q became %q and %q", in, clean, screen)
		}
		if line := text.Line(in); strings.ContainsAny(line, "\r\n\t") || text.Line(line) != line {
			t.Fatalf("%q became the line %q", in, line)
		}
	})
}

// What is repeated a million times takes no noticeable time; if it took quadratic time, this would not end.
func TestCleanEnds(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"\x1b", "\x1b]", "\x1bP\x1b", "\u0090", "\x1b[3", "x\r", "\xff", "\u202e", "\r\n", "\x1b]0;"} {
		in := strings.Repeat(part, 1<<20)
		assert.Assert(t, len(text.Clean(in)) <= 3*len(in) && len(text.Screen(in)) <= 3*len(in) && len(text.Line(in)) <= 3*len(in))
	}
}

func TestEscaped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                    "",
		"é 日本 👨\u200d👩":                       "é 日本 👨\u200d👩",
		"a\x1b[2Jb\r\u202ec\u009b\n\té\u00a0": `a\x1b[2Jb\r\u202ec\u009b` + "\n" + `\té\u00a0`,
		"\xff":                                "\ufffd",
	} {
		assert.Equal(t, text.Escaped(in, "\n"), want)
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"src/ä b.go": "src/ä b.go", "a\nb": `"a\nb"`, "a\x1b[2J": `"a\x1b[2J"`, "\xff": `"\xff"`, "a\u202eb": `"a\u202eb"`, "a\r": `"a\r"`,
	} {
		assert.Equal(t, text.Name(in), want)
	}
}

func TestBar(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "\n\n": "", "a": "| a", "a\n\nb\n": "| a\n| \n| b"} {
		assert.Equal(t, text.Bar(in), want)
	}
}
