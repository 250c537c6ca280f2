package proc

import (
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

func TestTail(t *testing.T) {
	tests := []struct {
		name         string
		limit        int
		writes       []string
		text         string
		bytes, lines int64
	}{
		{"nothing", 8, nil, "", 0, 0},
		{"fits", 8, []string{"abc\n", "def\n"}, "abc\ndef\n", 0, 0},
		{"cut at a line within the first quarter", 16, []string{"first\n", "xxx\nyyyyyyyyyyyyy"}, "yyyyyyyyyyyyy", 10, 2},
		{"the cut falls on a line start", 8, []string{"abc\n", "defgabc\n"}, "defgabc\n", 4, 1},
		{"no line start: cut at a character", 8, []string{"ééééé"}, "éééé", 2, 0},
		{"inside a character", 7, []string{"ééééé"}, "ééé", 4, 0},
		{"a line start too far on", 8, []string{"0123456789\nab"}, "56789\nab", 5, 0},
		{"one big write", 4, []string{strings.Repeat("a\n", 1000)}, "a\na\n", 1996, 998},
		{"not UTF-8", 4, []string{"a\x80\x80\x80\x80\x80"}, "\x80\x80\x80\x80", 2, 0},
		{"keeps nothing", 0, []string{"a\nb"}, "", 3, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tail := NewTail(tt.limit)
			for _, w := range tt.writes {
				n, err := tail.Write([]byte(w))
				assert.NilError(t, err)
				assert.Equal(t, n, len(w))
			}
			got := tail.Kept()
			assert.Equal(t, string(got.Text), tt.text)
			assert.Equal(t, got.DroppedBytes, tt.bytes)
			assert.Equal(t, got.DroppedLines, tt.lines)
		})
	}
}

func TestTailDoesNotDependOnHowItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 40).Draw(t, "limit")
		writes := rapid.SliceOf(rapid.StringOf(rapid.SampledFrom([]rune("ab\né漢")))).Draw(t, "writes")
		split, whole := NewTail(limit), NewTail(limit)
		all := strings.Join(writes, "")
		for _, w := range writes {
			_, _ = split.Write([]byte(w))
		}
		_, _ = whole.Write([]byte(all))
		assert.DeepEqual(t, split.Kept(), whole.Kept())

		got := whole.Kept()
		assert.Assert(t, len(got.Text) <= limit)
		assert.Assert(t, strings.HasSuffix(all, string(got.Text)))
		assert.Equal(t, got.DroppedBytes, int64(len(all)-len(got.Text)))
		assert.Equal(t, got.DroppedLines, int64(strings.Count(all[:got.DroppedBytes], "\n")))
		assert.Assert(t, utf8.Valid(got.Text))
		assert.Assert(t, cap(split.buf) <= 4*(limit+9), "%d", cap(split.buf))
	})
}

func TestTailLog(t *testing.T) {
	tail := NewTail(4)
	_, _ = tail.Write([]byte("abc\n"))
	assert.Equal(t, string(tail.Log()), "abc\n")
	_, _ = tail.Write([]byte("def\n"))
	assert.Equal(t, string(tail.Log()), "[1 lines, 4 bytes left out]\ndef\n")
}

func TestTailIsReadWhileWritten(t *testing.T) {
	tail := NewTail(100)
	var group sync.WaitGroup
	group.Go(func() {
		for range 1000 {
			_, _ = tail.Write([]byte("0123456789\n"))
		}
	})
	for range 100 {
		text := tail.Kept().Text
		assert.Equal(t, string(text), strings.Repeat("0123456789\n", len(text)/11))
	}
	group.Wait()
	assert.Equal(t, tail.Kept().DroppedLines, int64(991))
}
