package clj

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

func TestQuoteString(t *testing.T) {
	assert.Equal(t, QuoteString("a \"b\" \\ \n\r\t\b\f\x00\x1b\x7f é🐴 \xff"), `"a \"b\" \\ \n\r\t\b\f\u0000\u001b\u007f é🐴 `+"\uFFFD\"")
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ToValidUTF8(rapid.String().Draw(t, "s"), "")
		nodes, errs := ReadAll("f", []byte(QuoteString(s)), Options{})
		assert.NilError(t, errs.Err())
		got, ok := nodes[0].Str()
		assert.Assert(t, ok && len(nodes) == 1)
		assert.Equal(t, got, s)
	})
}

func TestRune(t *testing.T) {
	for text, want := range map[string]rune{
		`\a`: 'a', `\(`: '(', `\\`: '\\', `\newline`: '\n', `\return`: '\r', `\space`: ' ', `\tab`: '\t', `\formfeed`: '\f', `\backspace`: '\b',
		`\u00e9`: 'é', `\o101`: 'A', `\o`: 'o', `\u`: 'u', `\é`: 'é', "\\\x20": ' ', `\,`: ',',
	} {
		got, ok := mustRead(t, text, EDN)[0].Rune()
		assert.Assert(t, ok, text)
		assert.Equal(t, got, want, text)
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 70) + "(" + strings.Repeat("b", 70)
	tests := []struct {
		name, src string
		offset    int
		want      string
	}{
		{"second line", "(a\n (b]\nc", 6, "2 |  (b]\n  |    ^\n"},
		{"tabs are kept", "\ta\t]", 3, "1 | \ta\t]\n  | \t \t^\n"},
		{"CRLF", "a\r\nb)\r\n", 4, "2 | b)\n  |  ^\n"},
		{"CR", "a\rb)\rc", 3, "2 | b)\n  |  ^\n"},
		{"wide and combining characters", "\"馬🐴e\u0301\")", 12, "1 | \"馬🐴e\u0301\")\n  |        ^\n"},
		{"byte order mark", "\uFEFF)", 3, "1 | )\n  | ^\n"},
		{"control characters", "a\x1b[31m)\xff", 6, "1 | a\uFFFD[31m)\uFFFD\n  |       ^\n"},
		{"end of the text", "(a\n", 3, "2 | \n  | ^\n"},
		{"empty", "", 0, "1 | \n  | ^\n"},
		{"outside", "ab", 99, "1 | ab\n  |   ^\n"},
		{
			"long line, cut at both ends", long, 70,
			"1 | …" + strings.Repeat("a", 50) + "(" + strings.Repeat("b", 49) + "…\n  | " + strings.Repeat(" ", 51) + "^\n",
		},
		{"long line, at its start", long, 1, "1 | " + strings.Repeat("a", 70) + "(" + strings.Repeat("b", 29) + "…\n  |  ^\n"},
		{
			"long line, at its end", long, 141,
			"1 | …" + strings.Repeat("a", 29) + "(" + strings.Repeat("b", 70) + "\n  | " + strings.Repeat(" ", 101) + "^\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			src := []byte(test.src)
			pos := newLocator(src).at(min(test.offset, len(src)))
			pos.Offset = test.offset
			assert.Equal(t, Excerpt(src, pos), test.want)
		})
	}
}
