package text

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                 "",
		"λ 日本 😀\n\ta\r\n":                  "λ 日本 😀\n\ta\r\n",
		"\x1b[31mred\x1b[0m":               "red",
		"\x1b]0;t\ait\u200b\u202e":         "it",
		"s\u00adw\u034fo\ufe0fr\u3164d":    "sword",
		"a\u00a0b\u2003c\u2028d\ufffd\xff": "a b cd",
		"tag\U000e0061s":                   "tags",
	} {
		assert.Equal(t, Visible(in), want, "%q", in)
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{"": 0, "a": 0, "\x1b[0mx": 4, "\u009b32mx": 5, "\x1b]0;t\a": 0, "\x1b7": 0} {
		assert.Equal(t, Control(in), want, "%q", in)
	}
}
