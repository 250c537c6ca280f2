package text

import (
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

// The time is linear in any input: how long a sequence is is decided by its own bytes and one more, and they are not looked at again.
func TestSequenceLooksOneByteAhead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringOf(rapid.RuneFrom([]rune("\x1b\x1b[]\\;P0a\n\x07\u009b\u009c\u0090λ"))).Draw(t, "in")
		if n := sequence(in); n > 0 {
			assert.Equal(t, sequence(in[:min(n+1, len(in))]), n)
		}
	})
}

func TestSequence(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{
		"": 0, "a": 0, "a\x1b": 0, "\x1b": 1, "\x1b7x": 2, "\x1b(Bx": 3, "\x1b\nx": 1, "\x1b[": 2, "\x1b[1;31mx": 7, "\x1b[1\x07": 3,
		"\x1b]0;t\x07x": 6, "\x1bPx\x1b\\y": 5, "\x1b]0;t\nx": 5, "\x1b\\x": 2, "\u009b1mx": 4, "\u009bmx": 2, "\u009b1": 2, "\u009d0;t\u009c": 0, "\u0085x": 0, "é": 0, "\xc2": 0,
	} {
		assert.Equal(t, sequence(in), want, "%q", in)
	}
}
