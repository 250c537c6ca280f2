package nrepl

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Message is one message from the server, as decoded: strings are the raw
// bytes, integers int64, lists []any, dicts map[string]any.
type Message map[string]any

// Text returns the string under key, or "" if there is none or it is something
// else.
func (m Message) Text(key string) string {
	s, _ := m[key].(string)
	return s
}

// Status returns the message's status as a set. Servers send the words in any
// order and over several messages.
func (m Message) Status() Status {
	status := Status{}
	words, _ := m["status"].([]any)
	for _, word := range words {
		if s, ok := word.(string); ok {
			status[s] = true
		}
	}
	return status
}

// Status is a set of status words: "done", "eval-error", "interrupted", ….
type Status map[string]bool

// String returns the words, sorted, with a space between them.
func (s Status) String() string {
	return strings.Join(slices.Sorted(maps.Keys(s)), " ")
}

// failed says whether the words tell of an evaluation that did not do what it
// was asked to. An interrupted one did not: nobody knows its outcome.
func (s Status) failed() bool {
	for _, word := range []string{
		"error", "eval-error", "interrupted", "namespace-not-found",
		"unknown-session", "unknown-op", "no-code", "nrepl.middleware.print/error",
	} {
		if s[word] {
			return true
		}
	}
	return false
}

// Limits bounds what an evaluation keeps and how long its end may take. A zero
// field means its default.
type Limits struct {
	// Output is how many bytes of Result.Out, and as many of Result.Err, are
	// kept; the end is kept. Default 256 KiB.
	Output int
	// Values is how many bytes all of Result.Values may have; the oldest are
	// dropped first. Default 1 MiB.
	Values int
	// Grace is how long an evaluation may take to end after it was
	// interrupted, and how long the farewell to the server may take. Default
	// and maximum 1 s.
	Grace time.Duration
	// Linger is how long Conn.Close waits for the server's answers to the
	// closing of sessions. Default 0: not at all. Use FarewellTime where a
	// person has the server's console before their eyes.
	Linger time.Duration
}

// FarewellTime is the Limits.Linger of whoever has said all there is to say.
// nREPL 1.0 needs 100 ms to end a session, and prints a stack trace of 40 lines
// (SocketException) on its console when the connection is gone by then. The
// other servers need 1 to 5 ms.
const FarewellTime = 250 * time.Millisecond

func (l Limits) withDefaults() Limits {
	if l.Output <= 0 {
		l.Output = 256 << 10
	}
	if l.Values <= 0 {
		l.Values = 1 << 20
	}
	if l.Grace <= 0 || l.Grace > time.Second {
		l.Grace = time.Second
	}
	return l
}

// Output is the end of what was printed.
type Output struct {
	// Text is the raw bytes as the server sent them: terminal escapes, and
	// bytes that are not UTF-8, are still in it. When something was dropped it
	// begins at the start of a character.
	Text string
	// Dropped is how many bytes before Text were not kept.
	Dropped int64
}

// Result is what an evaluation gave.
type Result struct {
	// Values holds the printed value of each form, oldest first. A value larger
	// than Limits.Values is cut at its end.
	Values []string
	// ValuesDropped is how many values were cut or not kept.
	ValuesDropped int
	// Out and Err are what was printed. Some servers send both as Out.
	Out, Err Output
	// Ex and RootEx name the class of the first exception, or are a printed
	// exception (nbb), or are empty. At most 64 KiB.
	Ex, RootEx string
	// Ns is the namespace after the last form, where the server says it.
	Ns string
	// Status has every status word of every message of this evaluation.
	Status Status
	// Failed says that there was an exception, in any server's way of saying
	// it, or that the server refused to evaluate, or that the evaluation was
	// interrupted. Text on Err alone is no failure: warnings go there.
	Failed bool
	// Interrupted says that the evaluation was stopped from outside.
	Interrupted bool
}

// maxEx bounds Ex and RootEx, maxStatus the words of Status. nbb puts a whole
// printed exception in ex; no server has more than five words for one message.
const (
	maxEx     = 64 << 10
	maxStatus = 64
)

// collector makes a Result from the messages of one evaluation.
type collector struct {
	limits   Limits
	result   Result
	out, err tail
	size     int // cost of result.Values

	// A value that comes in pieces: they have no "ns", and a message with "ns"
	// but without value ends it. load-file's only value has no "ns" either.
	piece    []byte
	inPieces bool
	cut      bool
}

func newCollector(limits Limits) *collector {
	return &collector{
		limits: limits,
		result: Result{Status: Status{}},
		out:    tail{limit: limits.Output},
		err:    tail{limit: limits.Output},
	}
}

// valueCost stands for what a value needs beside its bytes, so that a million
// empty values are bounded too.
const valueCost = 16

func (k *collector) add(m Message) {
	k.out.add(m.Text("out"))
	k.err.add(m.Text("err"))
	if ex := m.Text("ex"); ex != "" && k.result.Ex == "" {
		k.result.Ex = clip(ex, maxEx)
	}
	if ex := m.Text("root-ex"); ex != "" && k.result.RootEx == "" {
		k.result.RootEx = clip(ex, maxEx)
	}
	ns, hasNs := m["ns"].(string)
	if hasNs {
		k.result.Ns = strings.Clone(ns)
	}
	value, hasValue := m["value"].(string)
	switch {
	case hasValue && !hasNs:
		k.inPieces = true
		room := min(len(value), k.limits.Values-len(k.piece))
		k.cut = k.cut || room < len(value)
		k.piece = append(k.piece, value[:room]...)
	case hasValue:
		k.endPieces()
		k.value(clip(value, k.limits.Values), len(value) > k.limits.Values)
	case hasNs:
		k.endPieces()
	}
	for word := range m.Status() {
		if len(k.result.Status) < maxStatus {
			k.result.Status[word] = true
		}
	}
}

func (k *collector) endPieces() {
	if !k.inPieces {
		return
	}
	k.value(string(k.piece), k.cut)
	k.piece, k.inPieces, k.cut = nil, false, false
}

func (k *collector) value(v string, cut bool) {
	if cut {
		k.result.ValuesDropped++
	}
	values := k.result.Values
	values = append(values, v)
	k.size += len(v) + valueCost
	for k.size > k.limits.Values && len(values) > 1 {
		k.size -= len(values[0]) + valueCost
		values = values[1:]
		k.result.ValuesDropped++
	}
	k.result.Values = values
}

// finish returns the result. "done" must be in its status by now, or the
// evaluation was given up.
func (k *collector) finish() Result {
	k.endPieces()
	r := k.result
	r.Out, r.Err = k.out.output(), k.err.output()
	r.Interrupted = r.Status["interrupted"]
	r.Failed = r.Ex != "" || r.RootEx != "" || r.Status.failed()
	return r
}

// clip returns the first n bytes of s, without keeping the rest alive.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.Clone(s[:n])
}

// tail keeps the last limit bytes of what is added.
type tail struct {
	limit   int
	buf     []byte // at most 2*limit, so that moving the end down is rare
	dropped int64
}

func (t *tail) add(s string) {
	if over := len(s) - t.limit; over > 0 {
		t.dropped += int64(len(t.buf) + over)
		t.buf = append(t.buf[:0], s[over:]...)
		return
	}
	if over := len(t.buf) + len(s) - t.limit; over > t.limit {
		t.drop(over)
	}
	t.buf = append(t.buf, s...)
}

func (t *tail) drop(n int) {
	t.dropped += int64(n)
	t.buf = append(t.buf[:0], t.buf[n:]...)
}

func (t *tail) output() Output {
	if over := len(t.buf) - t.limit; over > 0 {
		t.drop(over)
	}
	for n := 0; t.dropped > 0 && n < utf8.UTFMax-1 && len(t.buf) > 0 && !utf8.RuneStart(t.buf[0]); n++ {
		t.drop(1)
	}
	return Output{Text: string(t.buf), Dropped: t.dropped}
}
