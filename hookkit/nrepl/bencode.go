package nrepl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// decodeLimits bounds one message from a peer that is not trusted. All are
// checked before anything is allocated for the thing they bound.
type decodeLimits struct {
	text    int // bytes of one string
	message int // bytes of one message, all told
	depth   int // lists and dicts inside each other
	items   int // values in one message; an empty list costs 2 bytes on the wire but far more in memory
}

// The largest honest messages known: one print call of 1 MB in one string
// (nbb, let-go), and a verbose describe of 10 kB, four levels deep.
var defaultLimits = decodeLimits{text: 16 << 20, message: 32 << 20, depth: 64, items: 1 << 17}

// collectAfter bounds the long strings that are garbage. The collector works
// beside us, and on a busy machine a server that prints without end sends tens
// of MB before one of its cycles ends; to wait for it costs 0.2 ms.
const collectAfter = 8 << 20

const (
	headSize = 48 // bytes of a bad message that the error quotes
	maxInt   = 20 // characters of the longest int64, sign included
)

// decoder reads bencode values one after the other: strings as Go strings of
// the raw bytes, integers as int64, lists as []any, dicts as map[string]any.
// Keys may be unsorted; of duplicate keys the last one wins.
type decoder struct {
	r      *bufio.Reader
	limits decodeLimits

	head  []byte // first bytes of the message being read
	used  int    // bytes of the message read so far
	items int
	whole int // good messages so far, counted by the caller
	large int // bytes of long strings since the last collection
}

func newDecoder(r io.Reader, limits decodeLimits) *decoder {
	return &decoder{r: bufio.NewReaderSize(r, 8<<10), limits: limits, head: make([]byte, 0, headSize)}
}

// decode reads one value. The error is io.EOF between two values,
// io.ErrUnexpectedEOF inside one, *ProtocolError for input that is not bencode
// or over a limit, or the reader's own.
func (d *decoder) decode() (any, error) {
	d.head, d.used, d.items = d.head[:0], 0, 0
	first, err := d.readByte()
	if err != nil {
		return nil, err
	}
	v, err := d.value(first, 0)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return v, err
}

func (d *decoder) value(first byte, depth int) (any, error) {
	if d.items++; d.items > d.limits.items {
		return nil, d.errorf("more than %d values in one message", d.limits.items)
	}
	switch {
	case first == 'i':
		return d.integer()
	case first == 'l' || first == 'd':
		if depth == d.limits.depth {
			return nil, d.errorf("lists and dicts are nested deeper than %d", d.limits.depth)
		}
		if first == 'l' {
			return d.list(depth + 1)
		}
		return d.dict(depth + 1)
	case isDigit(first):
		return d.text(first)
	}
	return nil, d.errorf("a value cannot begin with %q", first)
}

func (d *decoder) list(depth int) (any, error) {
	list := []any{}
	for {
		b, err := d.readByte()
		if err != nil {
			return nil, err
		}
		if b == 'e' {
			return list, nil
		}
		v, err := d.value(b, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
}

func (d *decoder) dict(depth int) (any, error) {
	dict := map[string]any{}
	for {
		b, err := d.readByte()
		if err != nil {
			return nil, err
		}
		if b == 'e' {
			return dict, nil
		}
		if !isDigit(b) {
			return nil, d.errorf("a dict key cannot begin with %q", b)
		}
		key, err := d.text(b)
		if err != nil {
			return nil, err
		}
		if b, err = d.readByte(); err != nil {
			return nil, err
		}
		if dict[key], err = d.value(b, depth); err != nil {
			return nil, err
		}
	}
}

// text reads the rest of a string whose first length digit is first.
func (d *decoder) text(first byte) (string, error) {
	n := int(first - '0')
	for {
		b, err := d.readByte()
		if err != nil {
			return "", err
		}
		if b == ':' {
			break
		}
		if !isDigit(b) {
			return "", d.errorf("expected a digit or ':' in a string's length, found %q", b)
		}
		if n == 0 {
			return "", d.errorf("a string's length has a leading zero")
		}
		// Checked for each digit, so n cannot overflow.
		if n = n*10 + int(b-'0'); n > d.limits.text {
			return "", d.errorf("a string is longer than %d bytes", d.limits.text)
		}
	}
	if n > d.limits.message-d.used {
		return "", d.errorf("the message is longer than %d bytes", d.limits.message)
	}
	d.used += n
	if n <= d.r.Size() {
		buf := make([]byte, n)
		_, err := io.ReadFull(d.r, buf)
		d.note(buf)
		return string(buf), err
	}
	return d.long(n)
}

// long reads a string of n bytes that is larger than the reader's buffer. It
// grows as it arrives, so that a length alone allocates nothing, and gets its
// whole room when enough of it is there: large prints come one after the other.
func (d *decoder) long(n int) (string, error) {
	const enough = 64 << 10
	if d.large += n; d.large > collectAfter {
		runtime.GC()
		d.large = n
	}
	var text strings.Builder
	_, err := io.CopyN(&text, d.r, int64(min(n, enough)))
	d.note([]byte(text.String()[:min(text.Len(), headSize)]))
	if err != nil || n <= enough {
		return text.String(), err
	}
	text.Grow(n - enough)
	_, err = io.CopyN(&text, d.r, int64(n-enough))
	return text.String(), err
}

func (d *decoder) integer() (any, error) {
	digits := make([]byte, 0, maxInt)
	for {
		b, err := d.readByte()
		if err != nil {
			return nil, err
		}
		if b == 'e' {
			break
		}
		if !isDigit(b) && (b != '-' || len(digits) > 0) {
			return nil, d.errorf("expected a digit or 'e' in an integer, found %q", b)
		}
		if len(digits) == maxInt {
			return nil, d.errorf("an integer has more than %d digits", maxInt)
		}
		digits = append(digits, b)
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	// Printing it back finds the spellings bencode does not have: -0, 007.
	if err != nil || strconv.FormatInt(n, 10) != string(digits) {
		return nil, d.errorf("%q is not an integer", digits)
	}
	return n, nil
}

func (d *decoder) readByte() (byte, error) {
	if d.used >= d.limits.message {
		return 0, d.errorf("the message is longer than %d bytes", d.limits.message)
	}
	b, err := d.r.ReadByte()
	if err != nil {
		return 0, err
	}
	d.used++
	if len(d.head) < headSize {
		d.head = append(d.head, b)
	}
	return b, nil
}

func (d *decoder) note(p []byte) {
	d.head = append(d.head, p[:min(len(p), headSize-len(d.head))]...)
}

// errorf makes a *ProtocolError that quotes the message from its beginning,
// with what has arrived after the bad byte.
func (d *decoder) errorf(format string, args ...any) error {
	head := string(d.head)
	rest, _ := d.r.Peek(min(d.r.Buffered(), headSize-len(head))) // never more than is buffered: cannot fail
	return &ProtocolError{Head: head + string(rest), Reason: fmt.Sprintf(format, args...), later: d.whole > 0}
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// appendBencode appends the bencode of v: string, int, int64, []any or
// map[string]any (keys sorted), nested as they like. Another type is an error.
func appendBencode(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return appendText(dst, v), nil
	case int:
		return appendInt(dst, int64(v)), nil
	case int64:
		return appendInt(dst, v), nil
	case []any:
		return appendList(dst, v)
	case map[string]any:
		return appendDict(dst, v)
	}
	return nil, fmt.Errorf("bencode has no %T", v)
}

func appendText(dst []byte, s string) []byte {
	dst = strconv.AppendInt(dst, int64(len(s)), 10)
	dst = append(dst, ':')
	return append(dst, s...)
}

func appendInt(dst []byte, n int64) []byte {
	dst = append(dst, 'i')
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, 'e')
}

func appendList(dst []byte, list []any) ([]byte, error) {
	dst = append(dst, 'l')
	for _, item := range list {
		var err error
		if dst, err = appendBencode(dst, item); err != nil {
			return nil, err
		}
	}
	return append(dst, 'e'), nil
}

func appendDict(dst []byte, dict map[string]any) ([]byte, error) {
	dst = append(dst, 'd')
	for _, key := range slices.Sorted(maps.Keys(dict)) {
		dst = appendText(dst, key)
		var err error
		if dst, err = appendBencode(dst, dict[key]); err != nil {
			return nil, err
		}
	}
	return append(dst, 'e'), nil
}
