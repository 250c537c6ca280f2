package text_test

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/text"
)

func TestCuts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		in                        string
		limit                     int
		bytes, runes, utf16, last string
	}{
		{"abc", 3, "abc", "abc", "abc", "abc"},
		{"abcd", 3, "…", "ab…", "ab…", "…cd"},
		{"abcdef", 5, "ab…", "abcd…", "abcd…", "…cdef"},
		{"éé", 3, "…", "éé", "éé", "éé"},
		{"aéb", 3, "…", "aéb", "aéb", "aéb"},
		{"😀😀", 3, "…", "😀😀", "😀…", "…😀"},
		{"😀😀", 2, "", "😀😀", "…", "…"},
		{"😀a", 2, "", "😀a", "…", "…a"},
		{"ab", 1, "", "…", "…", "…"},
		{"ab", 0, "", "", "", ""},
		{"ab", -1, "", "", "", ""},
		{"", 0, "", "", "", ""},
	} {
		assert.Equal(t, text.CutBytes(row.in, row.limit), row.bytes, "%q to %d bytes", row.in, row.limit)
		assert.Equal(t, text.CutRunes(row.in, row.limit), row.runes, "%q to %d runes", row.in, row.limit)
		assert.Equal(t, text.CutUTF16(row.in, row.limit), row.utf16, "%q to %d units", row.in, row.limit)
		assert.Equal(t, text.LastUTF16(row.in, row.limit), row.last, "the last %[2]d units of %[1]q", row.in, row.limit)
	}
}

// A cut text is as long as it may be, and no longer, in the unit that the name says.
func TestCutAnything(t *testing.T) {
	t.Parallel()
	units := func(s string) int { return len(utf16.Encode([]rune(s))) }
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.RuneFrom([]rune("aé日😀"))).Draw(t, "in")
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		assert.Equal(t, text.LenUTF16(in), units(in))
		for _, one := range []struct {
			got   string
			count func(string) int
			wide  int // of one character
		}{
			{text.CutBytes(in, limit), func(s string) int { return len(s) }, 4},
			{text.CutRunes(in, limit), utf8.RuneCountInString, 1},
			{text.CutUTF16(in, limit), units, 2},
			{text.LastUTF16(in, limit), units, 2},
		} {
			n := one.count(one.got)
			switch {
			case one.count(in) <= limit:
				assert.Equal(t, one.got, in)
			case one.got != "":
				assert.Assert(t, n <= limit && n > limit-one.wide && utf8.ValidString(one.got) && strings.Contains(one.got, text.Mark), "%q", one.got)
			default:
				assert.Assert(t, limit < len(text.Mark))
			}
		}
	})
}
