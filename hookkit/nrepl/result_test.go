package nrepl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
	"pgregory.net/rapid"
)

type recording struct {
	name string // server/exchange
	data []byte // what the server sent, byte for byte
}

// recordings returns what five real servers answered to the eval with id "1".
func recordings(tb testing.TB) []recording {
	tb.Helper()
	paths, err := filepath.Glob("testdata/recordings/*/*.bencode")
	assert.NilError(tb, err)
	assert.Assert(tb, len(paths) > 80)
	var all []recording
	for _, path := range paths {
		data, err := os.ReadFile(path)
		assert.NilError(tb, err)
		name := filepath.Base(filepath.Dir(path)) + "/" + strings.TrimSuffix(filepath.Base(path), ".bencode")
		all = append(all, recording{name, data})
	}
	return all
}

// collect reads the answer to the evaluation id "1", as Session.Eval does.
func collect(tb testing.TB, r io.Reader) Result {
	tb.Helper()
	all := newCollector(Limits{}.withDefaults())
	for d := newDecoder(r, defaultLimits); ; {
		v, err := d.decode()
		if errors.Is(err, io.EOF) {
			return all.finish()
		}
		assert.NilError(tb, err)
		m := Message(v.(dict))
		if m.Text("id") != "1" {
			continue
		}
		all.add(m)
		if m.Status()["done"] {
			return all.finish()
		}
	}
}

// The way in which each server tells of values, output and exceptions
// (spec/nrepl-servers.md, the table).
func TestRecordings(t *testing.T) {
	var text strings.Builder
	for _, r := range recordings(t) {
		got := collect(t, bytes.NewReader(r.data))
		assert.DeepEqual(t, collect(t, iotest.OneByteReader(bytes.NewReader(r.data))), got)
		fmt.Fprintf(&text, "%s\n  failed %v  interrupted %v  status %q  ns %q\n  values %q\n", r.name, got.Failed, got.Interrupted, got.Status, got.Ns, got.Values)
		for _, part := range []struct{ name, text string }{{"out", got.Out.Text}, {"err", got.Err.Text}, {"ex", got.Ex}, {"root-ex", got.RootEx}} {
			if part.text != "" {
				fmt.Fprintf(&text, "  %s %.90q\n", part.name, part.text)
			}
		}
	}
	golden.Assert(t, text.String(), "recordings.golden") // go test ./hookkit/nrepl -run TestRecordings -update
}

func TestFailed(t *testing.T) {
	for _, tt := range []struct {
		message string
		failed  bool
	}{
		{"d6:statusl4:doneee", false},
		{"d3:err4:warn6:statusl4:doneee", false},
		{"d6:statusl10:need-inputee", false},
		{"d6:statusl32:nrepl.middleware.print/truncated4:doneee", false},
		{"d6:statusl10:eval-erroree", true},
		{"d2:ex17:let-go.lang.Errore", true},
		{"d7:root-ex6:class e", true},
		{"d6:statusl19:namespace-not-found4:done5:erroree", true},
		{"d6:statusl4:done15:unknown-sessionee", true},
		{"d6:statusl4:done11:interruptedee", true},
		{"d6:statusl5:erroree", true},
	} {
		v, err := decodeOne(strings.NewReader(tt.message))
		assert.NilError(t, err, tt.message)
		all := newCollector(Limits{}.withDefaults())
		all.add(v.(dict))
		assert.Equal(t, all.finish().Failed, tt.failed, tt.message)
	}
}

// A value in pieces: nrepl.middleware.print/stream? sends them without ns and
// then a message with only ns. load-file sends its value without ns.
func TestValuesInPieces(t *testing.T) {
	for _, tt := range []struct {
		name     string
		messages []Message
		values   []string
	}{
		{"one each", []Message{{"value": "1", "ns": "user"}, {"value": "2", "ns": "user"}}, []string{"1", "2"}},
		{"pieces", []Message{{"value": "(0 1"}, {"out": "x"}, {"value": " 2)"}, {"ns": "user"}, {"value": ":b"}, {"ns": "user"}}, []string{"(0 1 2)", ":b"}},
		{"load-file", []Message{{"value": "#'a/b"}, {"status": list{"done"}}}, []string{"#'a/b"}},
		{"pieces, then a whole one", []Message{{"value": "(0"}, {"value": ")"}, {"value": "7", "ns": "user"}}, []string{"(0)", "7"}},
		{"an empty value", []Message{{"value": "", "ns": "user"}}, []string{""}},
		{"none", []Message{{"ns": "user"}, {"status": list{"done"}}}, nil},
	} {
		all := newCollector(Limits{}.withDefaults())
		for _, m := range tt.messages {
			all.add(m)
		}
		assert.DeepEqual(t, all.finish().Values, tt.values)
	}
}

// Fault 37: what is kept is bounded, whatever is printed.
func TestValuesAreBounded(t *testing.T) {
	all := newCollector(Limits{Values: 100}.withDefaults())
	for i := range 1000 {
		all.add(Message{"value": fmt.Sprintf("%04d", i), "ns": "user"})
	}
	r := all.finish()
	assert.DeepEqual(t, r.Values, []string{"0995", "0996", "0997", "0998", "0999"})
	assert.Equal(t, r.ValuesDropped, 995)

	all = newCollector(Limits{Values: 10}.withDefaults())
	all.add(Message{"value": "1", "ns": "user"})
	all.add(Message{"value": "{:test 1234567}", "ns": "user"})
	r = all.finish()
	assert.DeepEqual(t, r.Values, []string{"{:test 123"})
	assert.Equal(t, r.ValuesDropped, 2)

	all = newCollector(Limits{Values: 10}.withDefaults())
	for range 1000 {
		all.add(Message{"value": "abc"})
	}
	r = all.finish()
	assert.DeepEqual(t, r.Values, []string{"abcabcabca"})
	assert.Equal(t, r.ValuesDropped, 1)

	all = newCollector(Limits{}.withDefaults())
	for i := range 1000 {
		all.add(Message{"status": list{fmt.Sprint(i)}, "ex": strings.Repeat("x", 1<<20)})
	}
	r = all.finish()
	assert.Equal(t, len(r.Status), maxStatus)
	assert.Equal(t, len(r.Ex), maxEx)
}

func TestTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 20).Draw(t, "limit")
		var whole string
		k := tail{limit: limit}
		for _, s := range rapid.SliceOf(rapid.StringMatching(`[a-z]{0,50}`)).Draw(t, "chunks") {
			k.add(s)
			whole += s
			assert.Assert(t, len(k.buf) <= 2*limit)
		}
		want := whole[max(0, len(whole)-limit):]
		assert.DeepEqual(t, k.output(), Output{Text: want, Dropped: int64(len(whole) - len(want))})
	})
}

// Fault 36: a character split over two messages, bytes that are not UTF-8, and
// a cut inside a character.
func TestTailBytes(t *testing.T) {
	for _, tt := range []struct {
		limit  int
		chunks []string
		want   Output
	}{
		{10, []string{"\xf0\x9f", "\x98\x80"}, Output{Text: "😀"}},
		{10, []string{"\x80\xff\xfe"}, Output{Text: "\x80\xff\xfe"}},
		{5, []string{"ab😀c"}, Output{Text: "😀c", Dropped: 2}},
		{4, []string{"ab😀c"}, Output{Text: "c", Dropped: 6}},
		{4, []string{"ab", "😀", "c"}, Output{Text: "c", Dropped: 6}},
		{5, []string{"a\x80\x80\x80\x80\x80"}, Output{Text: "\x80\x80", Dropped: 4}},
	} {
		k := tail{limit: tt.limit}
		for _, s := range tt.chunks {
			k.add(s)
		}
		assert.DeepEqual(t, k.output(), tt.want)
	}
}
