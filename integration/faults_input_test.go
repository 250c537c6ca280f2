//go:build unix

package integration

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// waitedForEvent checks the time of a run that waited for an event.
func waitedForEvent(t *testing.T, r result) {
	t.Helper()
	assert.Assert(t, r.raw.Elapsed > 4900*time.Millisecond, "%v", r.raw.Elapsed)
}

// streamed is an input of this many bytes between a head and a tail.
func streamed(head string, n int64, tail string) io.Reader {
	return io.MultiReader(strings.NewReader(head), io.LimitReader(same('x'), n), strings.NewReader(tail))
}

// same is a reader of one byte for ever.
type same byte

func (b same) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

var inputFaults = []fault{
	{1, "stdin open, no EOF, whole JSON: act at once and exit", func(t *testing.T) {
		eachReader(t, func(_ *testing.T, w *world, c reader) {
			for _, in := range []fakes.Stdin{fakes.HeldOpen(c.event), fakes.HeldOpenNoNewline(c.event), fakes.Chunked(c.event, 7), fakes.Pretty(c.event)} {
				r := w.run(in, "hook", c.name)
				r.is(0, c.allowed, "")
			}
		})
	}},
	{1, "a command that needs no event does not wait for one", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", "true")))
		for _, args := range ourCommands {
			r := w.run(fakes.EmptyOpen(), append([]string{"hook"}, args...)...)
			assert.Check(t, r.exit == 0 && r.stderr == "", "%q: exit %d\n%s", args, r.exit, r.stderr)
		}
	}},
	{2, "half a JSON, then silence: time limit, allow", func(t *testing.T) {
		fullRun(t)
		w := newFaultWorld(t, hooksEDN(bash("tests", leaveTrace)))
		const half = `{"session_id":"x","hook`
		var calls []call
		for _, c := range w.readers() {
			calls = append(calls, call{fakes.Half(half + strings.Repeat(" ", len(half))), []string{c.name}})
		}
		for i, r := range w.atOnce(calls...) {
			exit := 0
			if calls[i].args[0] == "stop" {
				exit = 1
			}
			r.is(exit, "", "the event did not arrive in time: after $TOOK only 23 bytes arrived, ending in \"{\\\"session_id\\\":\\\"x\\\",\\\"hook\"\n")
			waitedForEvent(t, r)
		}
		assert.Equal(t, w.trace(), "absent")
	}},
	{2, "half a JSON, then the end", func(t *testing.T) {
		eachReader(t, func(_ *testing.T, w *world, c reader) {
			w.unreadable(c, fakes.Bytes([]byte(`{"session_id":"x",`)), `the event is not a JSON object: the input ended too early: 18 bytes arrived, ending in "{\"session_id\":\"x\","`)
		})
	}},
	{3, "empty, closed, /dev/null, a blank line", func(t *testing.T) {
		eachReader(t, func(t *testing.T, w *world, c reader) {
			want := "absent"
			for _, in := range append(fakes.NoEventShapes(), fakes.BlankLine()) {
				r := w.run(in, "hook", c.name)
				r.is(0, c.allowed, "")
				if c.name == "stop" {
					want = strings.TrimPrefix(want+"unknown-$HASH\n", "absent")
				}
				assert.Equal(t, w.trace(), want)
			}
		})
	}},
	{3, "empty and open for ever", func(t *testing.T) {
		fullRun(t)
		w := newFaultWorld(t, hooksEDN(bash("tests", leaveTrace)))
		var calls []call
		for _, c := range w.readers() {
			calls = append(calls, call{fakes.EmptyOpen(), []string{c.name}})
		}
		for i, r := range w.atOnce(calls...) {
			r.is(0, w.readers()[i].allowed, "")
			waitedForEvent(t, r)
		}
		assert.Equal(t, w.trace(), "unknown-$HASH\n")
	}},
	{4, "BOM and CRLF", func(t *testing.T) {
		eachReader(t, func(_ *testing.T, w *world, c reader) {
			w.run(fakes.BOM(c.event), "hook", c.name).is(0, c.allowed, "")
			w.run(fakes.CRLF(c.event), "hook", c.name).is(0, c.allowed, "")
			w.run(fakes.Bytes([]byte("\r\n\t "+c.event)), "hook", c.name).is(0, c.allowed, "")
		})
	}},
	{4, "UTF-16 and NUL bytes", func(t *testing.T) {
		eachReader(t, func(_ *testing.T, w *world, c reader) {
			const utf16Text = "the event is not a JSON object: it looks like UTF-16 text; an event is UTF-8"
			w.unreadable(c, fakes.UTF16(c.event), utf16Text)
			var big, plain []byte
			for _, u := range utf16.Encode([]rune(c.event)) {
				big, plain = binary.BigEndian.AppendUint16(big, u), binary.LittleEndian.AppendUint16(plain, u)
			}
			w.unreadable(c, fakes.Bytes(append([]byte{0xfe, 0xff}, big...)), utf16Text)
			w.unreadable(c, fakes.Bytes(big), utf16Text)
			w.unreadable(c, fakes.Bytes(plain), utf16Text)
			w.unreadable(c, fakes.Bytes([]byte("{\"session_id\":\"a\x00b\"}")), `the event is not a JSON object: unexpected '\x00' at byte 17, in a string, where control characters must be escaped`)
			w.unreadable(c, fakes.Bytes([]byte("\x80\x81{}")), "the event is not a JSON object: unexpected byte 0x80 at byte 1, where an object should start with {")
		})
	}},
	{4, "invalid UTF-8, lone surrogates and NULs in strings reach a command byte for byte", func(t *testing.T) {
		const odd = `"\ud800 \udc00\ud800 \u0000 ` + "\xff\xc0\x80 \xed\xa0\x80" + ` \/ é"`
		w := newFaultWorld(t, hooksEDN(bash("look", `cat "$BREPL_EVENT_FILE" > "$WORLD/event"`)))
		for _, c := range w.readers(fakes.Set("last_assistant_message", json.RawMessage(odd)), fakes.Set("odd", json.RawMessage(`{`+odd+`:`+odd+`}`))) {
			w.run(fakes.OneLine(c.event), "hook", c.name).is(0, c.allowed, "")
			if c.name == "stop" {
				assert.Equal(t, readOr(t, filepath.Join(w.scratch, "event"), "absent"), c.event)
			}
		}
	}},
	{5, "two objects, trailing garbage: the first object counts", func(t *testing.T) {
		eachReader(t, func(t *testing.T, w *world, c reader) {
			for i, in := range []fakes.Stdin{
				fakes.TwoValues(c.event, fakes.StopEvent(fakes.InSession("second")).JSON()),
				fakes.TrailingGarbage(c.event, " and so on"),
				fakes.TrailingGarbage(c.event, "}]\x00\xff"),
				fakes.Bytes([]byte(c.event + c.event)),
			} {
				w.run(in, "hook", c.name).is(0, c.allowed, "")
				if c.name == "stop" {
					assert.Equal(t, w.trace(), strings.Repeat("$SESSION\n", i+1))
				}
			}
		})
	}},
	{6, "100 MB content is refused at 64 MiB with little memory", func(t *testing.T) {
		fullRun(t)
		eachReader(t, func(t *testing.T, w *world, c reader) {
			head := fmt.Sprintf(`{"session_id":%q,"hook_event_name":"Stop","tool_input":{"content":"`, w.session)
			e := w.native(native{stdin: streamed(head, 100<<20, `"}}`)}, brepl(t), "hook", c.name)
			exit := 0
			if c.name == "stop" {
				exit = 1
			}
			e.is(t, exit, "", "the event is too large: more than 67108864 bytes\n")
			// The event's 64 MiB, a copy while the buffer grows, and what the collector has not taken yet.
			lessThan(t, e.peak, 256)
			assert.Equal(t, w.trace(), "absent")
		})
	}},
	{7, "a million [", func(t *testing.T) {
		fullRun(t)
		eachReader(t, func(_ *testing.T, w *world, c reader) {
			const head = `{"session_id":"x","y":`
			for _, in := range []struct{ text, reason string }{
				{strings.Repeat("[", 1_000_000), "an array where an object should start with {"},
				{head + strings.Repeat("[", 1_000_000), fmt.Sprintf("nested deeper than 10000 levels at byte %d", len(head)+10_000)},
				{strings.Repeat(`{"a":`, 1_000_000), "nested deeper than 10000 levels at byte 50001"},
				{head + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + "}", fmt.Sprintf("nested deeper than 10000 levels at byte %d", len(head)+10_000)},
			} {
				w.unreadable(c, fakes.Bytes([]byte(in.text)), "the event is not a JSON object: "+in.reason)
				w.unreadable(c, fakes.HeldOpen(in.text), "the event is not a JSON object: "+in.reason)
			}
			deep := strings.TrimSuffix(c.event, "}") + `,"deep":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + "}"
			w.run(fakes.HeldOpen(deep), "hook", c.name).is(0, c.allowed, "")
		})
	}},
	{8, "1e400 and duplicate keys", func(t *testing.T) {
		eachReader(t, func(t *testing.T, w *world, c reader) {
			more := `,"odd":[1e400,-1E-400,123456789012345678901234567890.5],"duration_ms":1e400,"stop_hook_active":1e400,"odd":{"a":1,"a":2},"session_id":"the-last"}`
			w.run(fakes.OneLine(strings.TrimSuffix(c.event, "}")+more), "hook", c.name).is(0, c.allowed, "")
			if c.name == "stop" {
				assert.Equal(t, w.trace(), "the-last\n") // as every JSON reader of note takes it
			}
		})
	}},
	{9, "an unknown event passes", func(t *testing.T) {
		eachReader(t, func(t *testing.T, w *world, c reader) {
			for _, name := range []string{"Foo", "stop", "STOP", " Stop", "Stop\n", strings.Repeat("x", 100_000)} {
				event := fakes.StopEvent(fakes.InProject(w.dir), fakes.InSession(w.session), fakes.Set("hook_event_name", name)).JSON()
				w.run(fakes.OneLine(event), "hook", c.name).is(0, "", "")
			}
			assert.Equal(t, w.trace(), "absent")
		})
	}},
	{9, "unknown fields, null, wrong types, no session_id", func(t *testing.T) {
		eachReader(t, func(t *testing.T, w *world, c reader) {
			want := ""
			for _, e := range []struct{ event, session string }{
				{`{}`, "unknown-$HASH"},
				{`{"session_id":null,"hook_event_name":null,"cwd":null,"tool_input":null,"background_tasks":null,"stop_hook_active":null}`, "unknown-$HASH"},
				{`{"session_id":5,"hook_event_name":[],"cwd":{},"tool_input":7,"tool_response":"x","background_tasks":{},"stop_hook_active":"yes"}`, "unknown-$HASH"},
				{`{"session_id":["x"],"tool_name":1,"tool_input":[1],"file_path":2,"reason":{},"agent_id":null}`, "unknown-$HASH"},
				{`{"session_id":"","prompt_id":{"a":[]},"effort":null,"permission_mode":17}`, "unknown-$HASH"},
				{`{"session_id":"x","background_tasks":[1,null,"y",{"status":3}],"new":{"a":[null]},"cwd":"relative/../path"}`, "x"},
				{`{"session_id":"x","tool_name":"Write","tool_input":{"file_path":7,"content":null},"tool_response":null}`, "x"},
				{`{"session_id":"x","tool_name":"Edit","tool_input":{"file_path":"a.clj","old_string":1,"new_string":[]}}`, "x"},
			} {
				w.run(fakes.OneLine(e.event), "hook", c.name).is(0, c.allowed, "")
				if want += e.session + "\n"; c.name == "stop" {
					assert.Equal(t, w.trace(), want, "%s", e.event)
				}
			}
			for _, no := range []struct{ text, reason string }{
				{"null", "unexpected 'n' at byte 1, where an object should start with {"},
				{"true", "unexpected 't' at byte 1, where an object should start with {"},
				{"17", "a number where an object should start with {"},
				{`"{}"`, "a string where an object should start with {"},
				{"[{}]", "an array where an object should start with {"},
				{"{'a':1}", "unexpected '\\'' at byte 2, where a field name should start with \""},
				{`{"a":NaN}`, "unexpected 'N' at byte 6, where a value should start"},
				{`{"a":1,}`, "unexpected '}' at byte 8, where a field name should start with \""},
			} {
				before := w.trace()
				exit := 0
				if c.name == "stop" {
					exit = 1
				}
				w.run(fakes.OneLine(no.text), "hook", c.name).is(exit, "", "the event is not a JSON object: "+no.reason+"\n")
				assert.Equal(t, w.trace(), before)
			}
		})
	}},
	{10, "stdout closed or never read", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", "exit 1", retry, ":max-retries 0")))
		for i, output := range []fakes.Output{fakes.ClosedOutput, fakes.NeverReadOutput} {
			// More than fits into the buffers of a stream that nobody reads has to wait, by hand; an answer to a host always fits.
			wrong := []string{"seq 100000; exit 1", "seq 1000; exit 1"}[i]
			for _, c := range w.readers(fakes.InSession(fmt.Sprintf("%s-%d", w.session, i))) {
				spec := w.spec("hook", c.name)
				spec.Stdout = output
				r := w.result(fakes.Run(t, spec, fakes.HeldOpen(c.event)))
				if c.name == "stop" {
					r.is(2, "", blocked("Hook 'tests' failed: exit 1", "This stop is blocked: attempt 1, without a limit. Fix the cause, then stop again."))
					continue
				}
				r.is(0, "", "")
			}
			w.project.Write(hooksFile, hooksEDN(bash("tests", "true"), bash("loud", "seq 100000"), bash("wrong", wrong)))
			for _, args := range ourCommands {
				spec := w.spec(append([]string{"hook"}, args...)...)
				spec.Stdout = output
				r := w.result(fakes.Run(t, spec, fakes.DevNull()))
				assert.Check(t, r.exit == 0 || r.exit == 1, "%v %q: exit %d\n%s", output, args, r.exit, r.stderr)
			}
			w.project.Write(hooksFile, hooksEDN(bash("tests", "exit 1", retry, ":max-retries 0")))
		}
	}},
	{10, "stdout and stderr closed from the start", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(bash("tests", `echo said; exit 1`, retry)))
		for _, closed := range []string{`>&-`, `2>&-`, `>&- 2>&-`} {
			w.session += "-x"
			for _, c := range w.readers() {
				r := w.result(fakes.Run(t, w.through(`exec "$@" `+closed, "hook", c.name), fakes.OneLine(c.event)))
				want := 0
				if c.name == "stop" {
					want = 2
				}
				assert.Check(t, r.exit == want, "%s of %s: exit %d\n%s", closed, c.name, r.exit, r.stderr)
				if c.name == "stop" {
					// The descriptors that were free must not have been taken for something that we then wrote to.
					assert.Equal(t, w.counts(), "{\"tests\" 1}\n", closed)
					assert.Equal(t, readOr(t, w.logOf("tests"), "absent"), "said\n")
				}
			}
			for _, args := range ourCommands {
				r := w.result(fakes.Run(t, w.through(`exec "$@" `+closed, append([]string{"hook"}, args...)...), fakes.DevNull()))
				assert.Check(t, r.exit == 0 || r.exit == 1, "%s of %q: exit %d\n%s", closed, args, r.exit, r.stderr)
			}
		}
	}},
}
