package nrepl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

type (
	dict = map[string]any
	list = []any
)

var goodBencode = []struct {
	in   string
	want any
}{
	{"0:", ""},
	{"4:spam", "spam"},
	{"3:\xff\x00:", "\xff\x00:"},
	{"i0e", int64(0)},
	{"i-42e", int64(-42)},
	{"i9223372036854775807e", int64(9223372036854775807)},
	{"i-9223372036854775808e", int64(-9223372036854775808)},
	{"le", list{}},
	{"de", dict{}},
	{"l4:spami7eld1:ale3:endi0eeee", list{"spam", int64(7), list{dict{"a": list{}, "end": int64(0)}}}},
	// Fault 36: unsorted keys, and duplicate keys.
	{"d2:op4:eval2:id1:14:code1:1e", dict{"op": "eval", "id": "1", "code": "1"}},
	{"d1:ai1e1:ai2ee", dict{"a": int64(2)}},
	{strings.Repeat("l", 64) + strings.Repeat("e", 64), nested(64)},
}

func nested(depth int) any {
	v := list{}
	for range depth - 1 {
		v = list{v}
	}
	return v
}

// badBencode pins fault 36 and the protocols of fault 35: each is an error that
// says what is wrong, and none is read further than needed.
var badBencode = []struct{ in, want string }{
	{"99999999999:", `a string is longer than 16777216 bytes`},
	{"16777217:", `a string is longer than 16777216 bytes`},
	{"99999999999999999999999999999999:", `a string is longer than 16777216 bytes`},
	{"-1:", `a value cannot begin with '-'`},
	{"01:a", `a string's length has a leading zero`},
	{"1x", `expected a digit or ':' in a string's length, found 'x'`},
	{"i-0e", `"-0" is not an integer`},
	{"i007e", `"007" is not an integer`},
	{"ie", `"" is not an integer`},
	{"i-e", `"-" is not an integer`},
	{"i1-2e", `expected a digit or 'e' in an integer, found '-'`},
	{"i1.5e", `expected a digit or 'e' in an integer, found '.'`},
	{"i9223372036854775808e", `"9223372036854775808" is not an integer`},
	{"i" + strings.Repeat("9", 1000) + "e", `an integer has more than 20 digits`},
	{strings.Repeat("l", 100_000), `lists and dicts are nested deeper than 64`},
	{strings.Repeat("d1:a", 100_000), `lists and dicts are nested deeper than 64`},
	{"l" + strings.Repeat("le", 200_000), `more than 131072 values in one message`},
	{"di1e1:ae", `a dict key cannot begin with 'i'`},
	{"d1:ae", `a value cannot begin with 'e'`},
	{"e", `a value cannot begin with 'e'`},
	{"x", `a value cannot begin with 'x'`},
	{"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", `the port speaks HTTP, not nREPL (it sent "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")`},
	{"-ERR unknown command\r\n", `the port speaks Redis, not nREPL (it sent "-ERR unknown command\r\n")`},
	{"SSH-2.0-OpenSSH_9.2p1\r\n", `the port speaks SSH, not nREPL (it sent "SSH-2.0-OpenSSH_9.2p1\r\n")`},
	{"220 mail.example ESMTP\r\n", `the port speaks SMTP or FTP, not nREPL (it sent "220 mail.example ESMTP\r\n")`},
	{"\x15\x03\x01\x00\x02\x02\x46", `the port speaks TLS, not nREPL (it sent "\x15\x03\x01\x00\x02\x02F")`},
	{"user=> Syntax error", `the port speaks a plain text socket REPL, not nREPL (it sent "user=> Syntax error")`},
	{"{:tag :err}", `the port speaks pREPL, not nREPL (it sent "{:tag :err}")`},
	{"J\x00\x00\x00\x0a8.0.36\x00", `the port does not speak nREPL: a value cannot begin with 'J' (it sent "J\x00\x00\x00\n8.0.36\x00")`},
}

func decodeOne(r io.Reader) (any, error) { return newDecoder(r, defaultLimits).decode() }

// assertSame is for deep values, where assert.DeepEqual takes exponential time.
func assertSame(t assert.TestingT, got, want any) {
	assert.Assert(t, reflect.DeepEqual(got, want), "got %v, want %v", got, want)
}

func TestDecode(t *testing.T) {
	for _, tt := range goodBencode {
		got, err := decodeOne(strings.NewReader(tt.in))
		assert.NilError(t, err, "%.40q", tt.in)
		assertSame(t, got, tt.want)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, tt := range badBencode {
		_, err := decodeOne(strings.NewReader(tt.in))
		var protocol *ProtocolError
		assert.Assert(t, errors.As(err, &protocol), "%.40q: %v", tt.in, err)
		assert.ErrorContains(t, err, tt.want, "%.40q", tt.in)
		assert.Assert(t, strings.HasPrefix(tt.in, protocol.Head), "%.40q: head %q", tt.in, protocol.Head)
		assert.Assert(t, len(protocol.Head) <= headSize)
	}
}

// One message is bounded as a whole, the next one starts anew.
func TestDecodeMessageLimit(t *testing.T) {
	limits := defaultLimits
	limits.message = 10
	for in, want := range map[string]string{
		"l4:abcd1:ee":  "the message is longer than 10 bytes",
		"9:abcdefghi":  "the message is longer than 10 bytes",
		"li1ei2ei3ee":  "the message is longer than 10 bytes",
		"8:abcdefghle": "",
		"li1ei2e0:e8:": "",
	} {
		_, err := newDecoder(strings.NewReader(in), limits).decode()
		if want == "" {
			assert.NilError(t, err, in)
		} else {
			assert.ErrorContains(t, err, want, in)
		}
	}
	d := newDecoder(strings.NewReader("8:abcdefgh8:ijklmnop"), limits)
	for _, want := range []string{"abcdefgh", "ijklmnop"} {
		got, err := d.decode()
		assert.NilError(t, err)
		assert.Equal(t, got, want)
	}
}

// Fault 36: a frame split at every byte, and cut off at every byte.
func TestDecodeSplitAndTruncated(t *testing.T) {
	const frame = "d2:exi-12e2:id1:16:statusl4:done11:interruptede5:value12:\xf0\x9f\x98\x80 abc\nxyze"
	want := dict{"ex": int64(-12), "id": "1", "status": list{"done", "interrupted"}, "value": "\xf0\x9f\x98\x80 abc\nxyz"}

	got, err := decodeOne(iotest.OneByteReader(strings.NewReader(frame)))
	assert.NilError(t, err)
	assert.DeepEqual(t, got, want)
	for i := range frame {
		got, err = decodeOne(io.MultiReader(strings.NewReader(frame[:i]), strings.NewReader(frame[i:])))
		assert.NilError(t, err)
		assert.DeepEqual(t, got, want)

		_, err = decodeOne(strings.NewReader(frame[:i]))
		if i == 0 {
			assert.Equal(t, err, io.EOF)
		} else {
			assert.Equal(t, err, io.ErrUnexpectedEOF, "cut after %d bytes", i)
		}
	}
	_, err = decodeOne(strings.NewReader("9000:" + strings.Repeat("x", 8999)))
	assert.Equal(t, err, io.ErrUnexpectedEOF)
}

// Fault 36: several frames in one read.
func TestDecodeSeveral(t *testing.T) {
	d := newDecoder(strings.NewReader("d1:ai1eei2e3:abc20000:"+strings.Repeat("y", 20000)+"le"), defaultLimits)
	for _, want := range []any{dict{"a": int64(1)}, int64(2), "abc", strings.Repeat("y", 20000), list{}} {
		got, err := d.decode()
		assert.NilError(t, err)
		assert.DeepEqual(t, got, want)
	}
	_, err := d.decode()
	assert.Equal(t, err, io.EOF)
}

// Fault 36: what a peer claims allocates nothing; only what it sends does.
func TestDecodeAllocatesOnlyWhatArrives(t *testing.T) {
	for _, in := range []string{"99999999999:", "16777216:abc", strings.Repeat("l", 100_000), "i" + strings.Repeat("1", 1<<20)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decodeOne(strings.NewReader(in))
		runtime.ReadMemStats(&after)
		assert.Assert(t, err != nil)
		allocated := after.TotalAlloc - before.TotalAlloc
		assert.Assert(t, allocated < 64<<10, "%.20q allocated %d bytes", in, allocated)
	}
}

func TestEncode(t *testing.T) {
	got, err := appendBencode(nil, dict{"op": "eval", "code": "(+ 1 2)", "line": 42, "id": "1", "é": list{int64(-1), "", dict{}}})
	assert.NilError(t, err)
	assert.Equal(t, string(got), "d4:code7:(+ 1 2)2:id1:14:linei42e2:op4:eval2:éli-1e0:deee")

	for _, v := range []any{1.5, nil, list{true}, dict{"a": []string{}}} {
		_, err = appendBencode(nil, v)
		assert.ErrorContains(t, err, "bencode has no")
	}
}

func bencodeValues(depth int) *rapid.Generator[any] {
	text := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 12), func(b []byte) any { return string(b) })
	gens := []*rapid.Generator[any]{text, rapid.Int64().AsAny()}
	if depth > 0 {
		inner := rapid.Deferred(func() *rapid.Generator[any] { return bencodeValues(depth - 1) })
		gens = append(gens,
			rapid.Map(rapid.SliceOfN(inner, 0, 4), func(l list) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 4), func(d dict) any { return d }))
	}
	return rapid.OneOf(gens...)
}

func TestDecodeOfEncodeIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := bencodeValues(4).Draw(t, "value")
		frame, err := appendBencode(nil, v)
		assert.NilError(t, err)
		d := newDecoder(bytes.NewReader(append(frame, "i7e"...)), defaultLimits)
		got, err := d.decode()
		assert.NilError(t, err)
		assertSame(t, got, v)
		next, err := d.decode()
		assert.NilError(t, err)
		assert.Equal(t, next, int64(7))
	})
}

func FuzzBencode(f *testing.F) {
	for _, tt := range goodBencode {
		f.Add([]byte(tt.in))
	}
	for _, tt := range badBencode {
		f.Add([]byte(tt.in[:min(len(tt.in), 400)]))
	}
	for _, r := range recordings(f) {
		f.Add(r.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, errWhole := decodeAll(bytes.NewReader(data))
		bytewise, errBytewise := decodeAll(iotest.OneByteReader(bytes.NewReader(data)))
		assertSame(t, whole, bytewise)
		assert.Equal(t, kind(errWhole), kind(errBytewise))
		for _, v := range whole {
			frame, err := appendBencode(nil, v)
			assert.NilError(t, err)
			again, err := decodeOne(bytes.NewReader(frame))
			assert.NilError(t, err)
			assertSame(t, again, v)
		}
	})
}

func decodeAll(r io.Reader) (values []any, err error) {
	for d := newDecoder(r, defaultLimits); ; {
		v, err := d.decode()
		if err != nil {
			return values, err
		}
		values = append(values, v)
	}
}

// kind is an error without the quoted bytes, which depend on what was buffered.
func kind(err error) string {
	if protocol, ok := errors.AsType[*ProtocolError](err); ok {
		return protocol.Reason
	}
	return fmt.Sprint(err)
}
