package text_test

import (
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/text"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"stop", "stop", 0},
		{"stop", "sotp", 1},
		{"sotp", "stop", 1},
		{"stop", "shop", 1},
		{"valdate", "validate", 1},
		{"kitten", "sitting", 3},
		{"eval", "install", 5},
	} {
		assert.Equal(t, text.Distance(tt.a, tt.b), tt.want, "%q to %q", tt.a, tt.b)
	}
}

func TestDistanceIsTheSameBothWays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abc-")), 0, 8, -1)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := text.Distance(a, b)
		assert.Equal(t, d, text.Distance(b, a))
		assert.Assert(t, (d == 0) == (a == b))
		assert.Assert(t, d <= max(len(a), len(b)))
	})
}

func TestNear(t *testing.T) {
	t.Parallel()
	names := []string{"stop", "run", "check", "pause", "resume", "session-end", "validate", "eval", "install", "uninstall"}
	for typed, want := range map[string]string{
		"sotp": "stop", "stp": "stop", "sto": "stop", "evla": "eval", "valdiate": "validate", "unistall": "uninstall", "sesion-end": "session-end",
		"resum": "resume", "rnu": "run", "x": "", "frobnicate": "", "": "",
	} {
		assert.Equal(t, text.Near(typed, names), want, "%q", typed)
	}
}
