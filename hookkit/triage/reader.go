package triage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// What is read of a transcript, whatever its size. The file is read from its end in blocks.
const (
	maxRead   = 8 << 20 // bytes in all
	maxLine   = 1 << 20 // longer lines are not decoded; their head is looked at
	blockSize = 256 << 10
	readSize  = 64 << 10 // of a block at once: what is read is looked at while it is in the processor's cache
	lineHead  = 16 << 10 // of a line that is too long
)

// openTranscript opens a regular file. A FIFO without a writer does not make it wait.
func openTranscript(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, errNotRegular)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, 0, err
	}
	return f, info.Size(), nil
}

var errNotRegular = errors.New("the transcript is not a regular file")

// findTranscript expands ~ and, when there is no file at path, looks in the same folder for the session's own file. It never takes
// the file of another session.
func findTranscript(path, home, session string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		path = filepath.Join(home, rest)
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return ""
	}
	if _, err := os.Stat(path); err == nil || !errors.Is(err, os.ErrNotExist) {
		return path
	}
	if session == "" || session != filepath.Base(session) || strings.ContainsAny(session, "\x00/\\") || strings.HasPrefix(session, ".") {
		return ""
	}
	own := filepath.Join(filepath.Dir(path), session+".jsonl")
	if _, err := os.Stat(own); err != nil {
		return ""
	}
	return own
}

// readTail calls line for the lines of the file from the last to the first, until maxRead bytes were read, or to the end of the block in
// which it returned false. Cut lines are only the head of a line over maxLine. The slice is valid during the call. A line whose
// beginning was not read is left out.
func readTail(r io.ReaderAt, size int64, line func(text []byte, cut bool) bool) error {
	t := tail{line: line, buffer: make([]byte, min(size, 2*readSize))}
	end := size
	stop := max(0, size-maxRead)
	for end > stop {
		n := int64(readSize)
		if len(t.carry) > readSize { // what is carried is moved with each read
			n = blockSize - (size-end)%blockSize
		}
		n = min(n, end-stop)
		block := t.room(int(n))
		read, err := r.ReadAt(block, end-n)
		if err != nil && (!errors.Is(err, io.EOF) || read == 0) {
			return err
		}
		if read < len(block) { // the file became shorter while it was read
			return nil
		}
		end -= n
		t.lines(block)
		if t.enough && end > 0 && (size-end)%blockSize == 0 {
			return nil
		}
	}
	if end == 0 {
		t.rest()
	}
	return nil
}

// tail holds the part of a line whose beginning is not read yet, at the end of its buffer.
type tail struct {
	line    func([]byte, bool) bool
	buffer  []byte
	carry   []byte // at the end of buffer
	enough  bool   // line has returned false
	over    bool   // the line of which carry was a part is too long; carry is empty
	offsets []int
}

// room makes place for a block right in front of what is carried.
func (t *tail) room(n int) []byte {
	if len(t.carry) > maxLine {
		t.carry, t.over = nil, true
	}
	if need := len(t.carry) + n; need > len(t.buffer) {
		larger := make([]byte, max(need, maxLine+2*blockSize)) // filled from its end: what is not needed is never touched
		copy(larger[len(larger)-len(t.carry):], t.carry)
		t.carry, t.buffer = larger[len(larger)-len(t.carry):], larger
	} else if len(t.carry) > 0 {
		to := t.buffer[len(t.buffer)-len(t.carry):]
		copy(to, t.carry)
		t.carry = to
	}
	end := len(t.buffer) - len(t.carry)
	return t.buffer[end-n : end]
}

// lines hands out the lines that begin in the block, the last one first, and keeps the rest.
func (t *tail) lines(block []byte) {
	t.offsets = t.offsets[:0]
	for at := 0; ; {
		i := bytes.IndexByte(block[at:], '\n')
		if i < 0 {
			break
		}
		t.offsets = append(t.offsets, at+i)
		at += i + 1
	}
	whole := block[:len(block)+len(t.carry)] // the carry follows in the same buffer
	end := len(whole)
	for _, at := range slices.Backward(t.offsets) {
		text := whole[at+1 : end]
		end = at
		t.emit(text)
	}
	t.carry = whole[:end]
	if t.over {
		t.carry = whole[:min(end, lineHead)]
	}
}

// emit hands out one line, or the head of one that was too long.
func (t *tail) emit(text []byte) {
	cut := t.over || len(text) > maxLine
	t.over = false
	if cut {
		text = text[:min(len(text), lineHead)]
	}
	if text = trimmed(text); len(text) > 0 && !t.line(text, cut) {
		t.enough = true
	}
}

// rest hands out the first line of the file.
func (t *tail) rest() { t.emit(t.carry) }
