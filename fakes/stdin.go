package fakes

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// Stdin is one way in which a host feeds a hook's standard input: bytes, the
// pauses between them, and what follows the last one. Make it with one of the
// functions that return it and give it to [Run].
//
// The functions take the event as text; its last byte is taken for the closing
// brace, so pass [Event.JSON] or any value without white space around it.
type Stdin struct {
	name   string
	writes []stdinWrite
	end    stdinEnd
}

type stdinWrite struct {
	pause time.Duration // before the write
	data  []byte
	brace bool // the write that completes the event
}

// stdinEnd is the state of standard input when all is written.
type stdinEnd uint8

const (
	stdinHeld    stdinEnd = iota // open for as long as the child runs
	stdinEOF                     // closed
	stdinDevNull                 // it is /dev/null from the start
	stdinMissing                 // file descriptor 0 is closed from the start
)

// String returns the shape's name, for naming sub-tests.
func (s Stdin) String() string { return s.name }

func whole(name, event, after string, end stdinEnd) Stdin {
	return Stdin{name: name, end: end, writes: []stdinWrite{{data: []byte(event + after), brace: true}}}
}

// OneLine sends the event as Claude Code does: one line, one newline, EOF.
func OneLine(event string) Stdin { return whole("one line", event, "\n", stdinEOF) }

// HeldOpen sends the event and a newline and never closes, as other hosts and
// older versions do.
func HeldOpen(event string) Stdin { return whole("held open", event, "\n", stdinHeld) }

// HeldOpenNoNewline sends the event alone and never closes: nothing but its
// closing brace tells that it is complete.
func HeldOpenNoNewline(event string) Stdin {
	return whole("held open, no newline", event, "", stdinHeld)
}

// NoNewline sends the event without a newline, then EOF.
func NoNewline(event string) Stdin { return whole("no newline", event, "", stdinEOF) }

// Chunked sends the event in writes of n bytes, 1 ms apart, so that a
// character or an escape is cut in two; stdin stays open. n below 1 is 1.
func Chunked(event string, n int) Stdin {
	n = max(n, 1)
	return Stdin{name: fmt.Sprintf("chunks of %d", n), writes: pieces(event, n, time.Millisecond)}
}

// Slow sends the event byte by byte with a pause before each; stdin stays
// open.
func Slow(event string, pause time.Duration) Stdin {
	return Stdin{name: fmt.Sprintf("slow, %v a byte", pause), writes: pieces(event, 1, pause)}
}

func pieces(event string, n int, pause time.Duration) []stdinWrite {
	var writes []stdinWrite
	for part := range slices.Chunk([]byte(event), n) {
		writes = append(writes, stdinWrite{data: part, pause: pause})
	}
	if len(writes) > 0 {
		writes[len(writes)-1].brace = true
	}
	return writes
}

// BOM sends a UTF-8 byte order mark before the event; stdin stays open.
func BOM(event string) Stdin {
	s := HeldOpen("\ufeff" + event)
	s.name = "bom"
	return s
}

// Pretty sends the event indented over many lines; stdin stays open. An event
// that is not JSON is sent as it is.
func Pretty(event string) Stdin {
	s := HeldOpen(indented(event))
	s.name = "pretty"
	return s
}

// CRLF sends the event indented, with CRLF line ends; stdin stays open.
func CRLF(event string) Stdin {
	s := HeldOpen(strings.ReplaceAll(indented(event), "\n", "\r\n"))
	s.name = "crlf"
	return s
}

func indented(event string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(event), "", "  "); err != nil {
		return event
	}
	return b.String()
}

// Half sends the first half of the event, then nothing; stdin stays open.
func Half(event string) Stdin {
	return Stdin{name: "half, then silence", writes: []stdinWrite{{data: []byte(event[:len(event)/2])}}}
}

// HalfEOF sends the first half of the event, then EOF.
func HalfEOF(event string) Stdin {
	s := Half(event)
	s.name, s.end = "half, then eof", stdinEOF
	return s
}

// TwoValues sends two events in one write, a line each; stdin stays open. The
// time of the closing brace is that of the write.
func TwoValues(first, second string) Stdin {
	return whole("two values", first, "\n"+second+"\n", stdinHeld)
}

// TrailingGarbage sends text that is no JSON in the same write after the
// event; stdin stays open.
func TrailingGarbage(event, garbage string) Stdin {
	return whole("trailing garbage", event, garbage, stdinHeld)
}

// UTF16 sends the event in UTF-16, little-endian with a byte order mark, then
// EOF.
func UTF16(event string) Stdin {
	data := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(event + "\n")) {
		data = binary.LittleEndian.AppendUint16(data, u)
	}
	return Stdin{name: "utf-16", end: stdinEOF, writes: []stdinWrite{{data: data, brace: true}}}
}

// Bytes sends data as it is, invalid UTF-8 and NUL included, then EOF.
func Bytes(data []byte) Stdin {
	return Stdin{name: "bytes", end: stdinEOF, writes: []stdinWrite{{data: data, brace: true}}}
}

// BlankLine sends a newline and never closes.
func BlankLine() Stdin {
	return Stdin{name: "blank line", writes: []stdinWrite{{data: []byte("\n")}}}
}

// EmptyOpen sends nothing and never closes.
func EmptyOpen() Stdin { return Stdin{name: "empty, open"} }

// EOF sends nothing and closes at once.
func EOF() Stdin { return Stdin{name: "eof", end: stdinEOF} }

// DevNull is /dev/null as standard input.
func DevNull() Stdin { return Stdin{name: "/dev/null", end: stdinDevNull} }

// Closed starts the child without a file descriptor 0. It needs /bin/sh and is
// refused elsewhere.
func Closed() Stdin { return Stdin{name: "closed", end: stdinMissing} }

// WholeShapes returns every shape that carries one whole event and nothing
// that is no white space after it: a hook must give the same verdict for each
// of them.
func WholeShapes(event string) []Stdin {
	return []Stdin{
		OneLine(event), HeldOpen(event), HeldOpenNoNewline(event), NoNewline(event),
		Chunked(event, 1), Chunked(event, 7), Chunked(event, 1000), Slow(event, 100*time.Microsecond),
		BOM(event), Pretty(event), CRLF(event),
	}
}

// NoEventShapes returns the shapes that carry nothing at all and say so at
// once: a hook need not wait for a time limit.
func NoEventShapes() []Stdin { return []Stdin{EOF(), DevNull(), Closed()} }
