package proc

import (
	"bytes"
	"fmt"
	"sync"
	"unicode/utf8"
)

// LogLimit is how much of a command's output a log file keeps: the last 200 KB.
const LogLimit = 200 << 10

// Tail is a Writer that keeps the last bytes written to it, however many there
// are. It may be written and read at the same time. A nil Tail is not valid.
type Tail struct {
	limit int

	mu    sync.Mutex
	buf   []byte // ends with the last bytes written; at most 2*(limit+1) of them
	total int64  // bytes written
	lines int64  // line feeds written
}

// NewTail returns a Tail that keeps the last limit bytes. It takes at most twice
// that in memory, and only as it fills up.
func NewTail(limit int) *Tail {
	return &Tail{limit: max(limit, 0)}
}

// Write takes p. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.total += int64(n)
	t.lines += int64(bytes.Count(p, []byte{'\n'}))
	size := t.limit + 1 // one more, to see whether a line begins where the text does
	if len(p) >= size {
		t.buf = append(t.buf[:0], p[len(p)-size:]...)
		return n, nil
	}
	if len(t.buf)+len(p) > 2*size {
		keep := size - len(p)
		t.buf = t.buf[:copy(t.buf, t.buf[len(t.buf)-keep:])]
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// Kept is what a Tail has at one moment.
type Kept struct {
	// Text is the end of what was written. When something was dropped before it,
	// it begins at the start of a line, or, where there is no line start in the
	// first quarter, at the start of a UTF-8 character.
	Text []byte
	// DroppedBytes and DroppedLines count what came before Text. A line of which
	// only the end is in Text is not counted.
	DroppedBytes, DroppedLines int64
}

// Kept returns a copy of what is kept.
func (t *Tail) Kept() Kept {
	t.mu.Lock()
	defer t.mu.Unlock()
	cut := max(len(t.buf)-t.limit, 0)
	text := t.buf[cut:]
	if cut > 0 && t.buf[cut-1] != '\n' {
		text = text[boundary(text, t.limit/4):]
	}
	return Kept{
		Text:         bytes.Clone(text),
		DroppedBytes: t.total - int64(len(text)),
		DroppedLines: t.lines - int64(bytes.Count(text, []byte{'\n'})),
	}
}

// String is the text kept.
func (t *Tail) String() string { return string(t.Kept().Text) }

// Log is the content of a log file: the text kept, after a line that says how
// much was left out, if anything was. The caller writes it when the command has
// ended; until then there is no file.
func (t *Tail) Log() []byte {
	k := t.Kept()
	if k.DroppedBytes == 0 {
		return k.Text
	}
	return append(fmt.Appendf(nil, "[%d lines, %d bytes left out]\n", k.DroppedLines, k.DroppedBytes), k.Text...)
}

// boundary is where a text that was cut somewhere may begin.
func boundary(text []byte, window int) int {
	if i := bytes.IndexByte(text[:min(window, len(text))], '\n'); i >= 0 {
		return i + 1
	}
	for i := range min(utf8.UTFMax, len(text)) {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	if len(text) < utf8.UTFMax {
		return len(text) // the end of a character
	}
	return 0 // not UTF-8
}
