package hookkit

import (
	"bytes"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
)

// The eight bytes at a time find what one at a time finds, whatever byte stands wherever.
func TestPlainLength(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				for _, other := range []byte{'a', 0x80, 0xFF, 0x20, 0x7F, '!', '#', '[', ']'} {
					p := bytes.Repeat([]byte{other}, length)
					p[at] = byte(c)
					want := length
					if c == '"' || c == '\\' || c < 0x20 {
						want = at
					}
					if got := plainLength(p); got != want {
						t.Fatalf("plainLength(%q) is %d, want %d", p, got, want)
					}
				}
			}
		}
	}
	assert.Equal(t, plainLength([]byte("aaaaa\"a\x00")), 5)
}

// Each byte that is no UTF-8 becomes a U+FFFD of its own, and that is said.
func TestDecode(t *testing.T) {
	for quoted, want := range map[string]string{
		`""`:                       `"" true`,
		`"a\nb"`:                   `"a\nb" true`,
		"\"é\\t😀\"":                `"é\t😀" true`,
		"\"a\xff\xfeb\\nc\"":       `"a��b\nc" false`,
		"\"\xf0\x9f\\n\"":          `"��\n" false`,
		`"\ud83d\ude00 \ud800x"`:   `"😀 �x" false`,
		"\"\\\"" + "\uFFFD" + "\"": `"\"�" true`,
	} {
		text, lossless := decode([]byte(quoted))
		assert.Equal(t, fmt.Sprintf("%q %v", text, lossless), want)
	}
}

// ToolInput may be replaced, as a caller of WithInput does for a second field.
func TestInputOfReplacedInput(t *testing.T) {
	event, err := ParseEvent([]byte(`{"hook_event_name":"PreToolUse","tool_input":{"file_path":"a","x":"1"}}`))
	assert.NilError(t, err)
	e := *event.(*PreToolUse)
	e.ToolInput, err = e.WithInput("x", "2")
	assert.NilError(t, err)
	x, _ := e.InputString("x")
	assert.Equal(t, x, "2")
	e.ToolInput = nil
	assert.Equal(t, e.FilePath(), "")
	old, _ := event.(*PreToolUse).InputString("x")
	assert.Equal(t, old, "1")
}
