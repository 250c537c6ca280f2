package hookkit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// readCase is one input stream and what is read from it. The cases also seed the fuzz targets and are fed to ParseEvent.
type readCase struct {
	name  string
	input string
	want  string
	err   error
	text  string // part of the error's text
}

func readCases() []readCase {
	const object = `{"hook_event_name":"Stop"}`
	utf16 := func(big bool) string {
		var b strings.Builder
		for i := range len(object) {
			if big {
				b.WriteByte(0)
			}
			b.WriteByte(object[i])
			if !big {
				b.WriteByte(0)
			}
		}
		return b.String()
	}
	return []readCase{
		{name: "one line", input: object + "\n", want: object},
		{name: "no newline", input: object, want: object},
		{name: "empty object", input: `{}`, want: `{}`},
		{name: "pretty-printed", input: "{\n  \"a\": [1,\n 2]\n}\n", want: "{\n  \"a\": [1,\n 2]\n}"},
		{name: "CRLF", input: "{\r\n\"a\":1\r\n}\r\n", want: "{\r\n\"a\":1\r\n}"},
		{name: "braces in strings", input: `{"a":"}\"}","b":"\\"}`, want: `{"a":"}\"}","b":"\\"}`},
		{name: "every kind of value", input: `{"a":[true,false,null,-0.5e+10,0,12,1E3,"",{},[]],"b":{"c":{}}}`, want: `{"a":[true,false,null,-0.5e+10,0,12,1E3,"",{},[]],"b":{"c":{}}}`},
		{name: "fault 4: BOM", input: "\xEF\xBB\xBF" + object, want: object},
		{name: "fault 4: BOM and blanks", input: "\xEF\xBB\xBF \t" + object, want: object},
		{name: "fault 4: invalid UTF-8 in a string", input: "{\"a\":\"\xff\xfe\x80\"}", want: "{\"a\":\"\xff\xfe\x80\"}"},
		{name: "fault 4: lone surrogate", input: `{"a":"\ud800"}`, want: `{"a":"\ud800"}`},
		{name: "fault 5: two objects", input: object + `{"b":2}`, want: object},
		{name: "fault 5: trailing garbage", input: object + "\n}}} garbage", want: object},
		{name: "fault 8: 1e400", input: `{"a":1e400}`, want: `{"a":1e400}`},
		{name: "fault 8: duplicate keys", input: `{"a":1,"a":2}`, want: `{"a":1,"a":2}`},
		{name: "10,000 levels", input: `{"a":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `}`, want: `{"a":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `}`},

		{name: "fault 3: empty", input: "", err: ErrNoEvent},
		{name: "fault 3: a blank line", input: "\n", err: ErrNoEvent},
		{name: "fault 3: blanks", input: "  \r\n\t", err: ErrNoEvent},
		{name: "fault 3: only a BOM", input: "\xEF\xBB\xBF", err: ErrNoEvent},

		{name: "fault 2: half an object", input: `{"session_id":"ab`, err: ErrNotJSON, text: `the input ended too early: 17 bytes arrived, ending in "{\"session_id\":\"ab"`},
		{name: "fault 4: UTF-16LE with BOM", input: "\xFF\xFE" + utf16(false), err: ErrNotJSON, text: "UTF-16"},
		{name: "fault 4: UTF-16BE with BOM", input: "\xFE\xFF" + utf16(true), err: ErrNotJSON, text: "UTF-16"},
		{name: "fault 4: UTF-16LE", input: utf16(false), err: ErrNotJSON, text: "UTF-16"},
		{name: "fault 4: UTF-16BE", input: utf16(true), err: ErrNotJSON, text: "UTF-16"},
		{name: "fault 4: NUL in a string", input: "{\"a\":\"\x00\"}", err: ErrNotJSON, text: `unexpected '\x00' at byte 7, in a string, where control characters must be escaped`},
		{name: "fault 4: broken BOM", input: "\xEF\xBBx{}", err: ErrNotJSON, text: "bytes that are no text"},
		{name: "fault 7: a million [", input: `{"a":` + strings.Repeat("[", 1_000_000), err: ErrNotJSON, text: "nested deeper than 10000 levels at byte 10005"},
		{name: "fault 7: 10,001 objects", input: strings.Repeat(`{"a":`, 10_001), err: ErrNotJSON, text: "nested deeper than 10000 levels"},
		{name: "an array", input: `[{}]`, err: ErrNotJSON, text: "an array where an object should start with {"},
		{name: "a string", input: `"{}"`, err: ErrNotJSON, text: "a string where an object"},
		{name: "a number", input: `-1`, err: ErrNotJSON, text: "a number where an object"},
		{name: "prose", input: `hello {}`, err: ErrNotJSON, text: `unexpected 'h' at byte 1, where an object should start with {`},
		{name: "binary", input: "\x80{}", err: ErrNotJSON, text: "unexpected byte 0x80 at byte 1"},
		{name: "bare key", input: `{a:1}`, err: ErrNotJSON, text: `unexpected 'a' at byte 2, where a field name should start with "`},
		{name: "no value", input: `{"a":}`, err: ErrNotJSON, text: `unexpected '}' at byte 6, where a value should start`},
		{name: "no colon", input: `{"a" 1}`, err: ErrNotJSON, text: `unexpected '1' at byte 6, after a field name, where a colon should be`},
		{name: "trailing comma", input: `{"a":1,}`, err: ErrNotJSON, text: `unexpected '}' at byte 8`},
		{name: "trailing comma in an array", input: `{"a":[1,]}`, err: ErrNotJSON, text: `unexpected ']' at byte 9`},
		{name: "wrong closer", input: `{"a":[1}`, err: ErrNotJSON, text: `unexpected '}' at byte 8, after a value, where a comma or a closing bracket should be`},
		{name: "wrong closer of an object", input: `{"a":1]`, err: ErrNotJSON, text: `unexpected ']' at byte 7`},
		{name: "misspelt literal", input: `{"a":trve}`, err: ErrNotJSON, text: `unexpected 'v' at byte 8, in a literal`},
		{name: "bad escape", input: `{"a":"\x"}`, err: ErrNotJSON, text: `after a backslash in a string`},
		{name: "bad hex escape", input: `{"a":"\u12g4"}`, err: ErrNotJSON, text: `four hexadecimal digits`},
		{name: "leading zero", input: `{"a":01}`, err: ErrNotJSON, text: `unexpected '1' at byte 7`},
		{name: "bare minus", input: `{"a":-}`, err: ErrNotJSON, text: `in a number`},
		{name: "bare fraction", input: `{"a":1.}`, err: ErrNotJSON, text: `in a number`},
		{name: "bare exponent", input: `{"a":1e+}`, err: ErrNotJSON, text: `in a number`},
		{name: "NaN", input: `{"a":NaN}`, err: ErrNotJSON, text: `unexpected 'N'`},
		{name: "a comment", input: `{/* */}`, err: ErrNotJSON, text: `unexpected '/'`},
	}
}

func (c readCase) check(t *testing.T, got []byte, err error) {
	t.Helper()
	if c.err != nil {
		assert.ErrorIs(t, err, c.err)
		assert.ErrorContains(t, err, c.text)
		return
	}
	assert.NilError(t, err)
	assert.Equal(t, string(got), c.want)
}

func TestReadEvent(t *testing.T) {
	// Pins faults 2-5, 7 and 8 of the input stream, in one piece and byte by byte.
	limit := ReadLimits{Wait: time.Hour}
	for _, c := range readCases() {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReadEvent(t.Context(), strings.NewReader(c.input), limit)
			c.check(t, got, err)
			if len(c.input) < 30_000 && !strings.HasPrefix(c.input, "\n") {
				got, err = ReadEvent(t.Context(), iotest.OneByteReader(strings.NewReader(c.input)), limit)
				c.check(t, got, err)
			}
			got, err = ReadEvent(t.Context(), iotest.DataErrReader(strings.NewReader(c.input)), limit)
			c.check(t, got, err)
		})
	}
}

func TestReadEventRecorded(t *testing.T) {
	// The objects that a real client wrote, each read without its newline.
	files, err := filepath.Glob("testdata/events/*.json")
	assert.NilError(t, err)
	assert.Assert(t, len(files) >= 12, "recorded events are missing: %d", len(files))
	for _, file := range files {
		data, err := os.ReadFile(file)
		assert.NilError(t, err)
		got, err := ReadEvent(t.Context(), bytes.NewReader(data), ReadLimits{})
		assert.NilError(t, err, file)
		assert.Equal(t, string(got)+"\n", string(data))
	}
}

func TestReadEventStdinStaysOpen(t *testing.T) {
	// Pins fault 1: stdin open, no end of input, whole JSON: done at the brace, in no time.
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		defer w.Close()
		go func() { _, _ = io.WriteString(w, `{"a":1}`) }()
		start := time.Now()
		got, err := ReadEvent(t.Context(), r, ReadLimits{})
		assert.NilError(t, err)
		assert.Equal(t, string(got), `{"a":1}`)
		assert.Equal(t, time.Since(start), time.Duration(0))
	})
}

func TestReadEventTakesNothingAfterTheObject(t *testing.T) {
	r, w := io.Pipe()
	rest := make(chan string)
	go func() {
		_, _ = io.WriteString(w, `{"a":1}`)
		_, _ = io.WriteString(w, "next")
		_ = w.Close()
	}()
	_, err := ReadEvent(t.Context(), r, ReadLimits{})
	assert.NilError(t, err)
	go func() {
		b, _ := io.ReadAll(r)
		rest <- string(b)
	}()
	assert.Equal(t, <-rest, "next")
}

func TestReadEventLate(t *testing.T) {
	// Pins fault 2: half a JSON, then silence.
	tests := []struct {
		name, input string
		wait        time.Duration
		err         error
		text        string
		took        time.Duration
	}{
		{"half an object", `{"session_id":"abc","tool_na`, 0, ErrTimeout, `the event did not arrive in time: after 5s only 28 bytes arrived, ending in "{\"session_id\":\"abc\",\"tool_na"`, 5 * time.Second},
		{"a long half", `{"a":"` + strings.Repeat("x", 1000), time.Second, ErrTimeout, `after 1s only 1006 bytes arrived, ending in "` + strings.Repeat("x", 40) + `"`, time.Second},
		{"nothing", "", 0, ErrNoEvent, "nothing arrived within 5s", 5 * time.Second},
		{"a blank", " ", 0, ErrNoEvent, "nothing arrived within 5s", 5 * time.Second},
		{"a blank line", "\n", 0, ErrNoEvent, "no event", 0},
		{"wrong from the start", "no", 0, ErrNotJSON, "unexpected 'n'", 0},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				defer w.Close() // lets the abandoned reader go
				go func() { _, _ = io.WriteString(w, c.input) }()
				start := time.Now()
				_, err := ReadEvent(t.Context(), r, ReadLimits{Wait: c.wait})
				assert.ErrorIs(t, err, c.err)
				assert.ErrorContains(t, err, c.text)
				assert.Equal(t, time.Since(start), c.took)
			})
		})
	}
}

func TestReadEventCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		defer w.Close()
		reason := errors.New("told to stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(reason) })
		_, err := ReadEvent(ctx, r, ReadLimits{})
		assert.ErrorIs(t, err, reason)
	})
}

func TestReadEventTooLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	// Pins fault 6: a size above the limit is an error, one at the limit is not.
	input := `{"a":"` + strings.Repeat("x", 100) + `"}`
	_, err := ReadEvent(t.Context(), strings.NewReader(input), ReadLimits{Bytes: len(input)})
	assert.NilError(t, err)
	_, err = ReadEvent(t.Context(), strings.NewReader(input), ReadLimits{Bytes: len(input) - 1})
	assert.ErrorIs(t, err, ErrTooLarge)
	assert.ErrorContains(t, err, "more than 107 bytes")
	_, err = ReadEvent(t.Context(), io.MultiReader(strings.NewReader(`{"a":"`), endless{}), ReadLimits{Wait: time.Hour})
	assert.ErrorIs(t, err, ErrTooLarge)
	assert.ErrorContains(t, err, "more than 67108864 bytes")
}

func TestReadEventBrokenReader(t *testing.T) {
	_, err := ReadEvent(t.Context(), iotest.ErrReader(os.ErrPermission), ReadLimits{})
	assert.ErrorIs(t, err, ErrNoEvent) // a closed stdin is no event
	_, err = ReadEvent(t.Context(), io.MultiReader(strings.NewReader("{"), iotest.ErrReader(os.ErrPermission)), ReadLimits{})
	assert.ErrorIs(t, err, os.ErrPermission)
	_, err = ReadEvent(t.Context(), stuck{}, ReadLimits{})
	assert.ErrorIs(t, err, io.ErrNoProgress)
	_, err = ReadEvent(t.Context(), nil, ReadLimits{})
	assert.ErrorIs(t, err, ErrNoEvent)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func BenchmarkReadEvent(b *testing.B) {
	data := []byte(`{"hook_event_name":"PreToolUse","tool_input":{"content":"` + strings.Repeat(`(defn f [x] (+ x 1))\n`, 16_000) + `"}}`)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		got, err := ReadEvent(b.Context(), bytes.NewReader(data), ReadLimits{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ParseEvent(got); err != nil {
			b.Fatal(err)
		}
	}
}
