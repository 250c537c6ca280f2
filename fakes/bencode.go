package fakes

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// Bounds of what the fake reads from a client. They are far above anything a
// client has reason to send.
const (
	maxBencodeString = 64 << 20
	maxBencodeDepth  = 64
)

// Message is one bencode dictionary as it travels between an nREPL client and
// its server. Values are string, int64, []any and map[string]any; to be sent,
// also int, []string and Message.
type Message map[string]any

// Op returns the message's "op", or "" where there is none.
func (m Message) Op() string { return m.Text("op") }

// Text returns the string under key, or "" where there is none or where the
// value is no string.
func (m Message) Text(key string) string {
	s, _ := m[key].(string)
	return s
}

// Encode returns the message as canonical bencode. It panics on a value of a
// type that bencode does not have, which is a mistake in the test's script.
func (m Message) Encode() []byte { return m.encode(sortedKeys) }

func (m Message) encode(order keyOrder) []byte {
	var b bytes.Buffer
	encodeBencode(&b, map[string]any(m), order)
	return b.Bytes()
}

// keyOrder is the order in which the keys of a dictionary are written.
type keyOrder uint8

const (
	sortedKeys   keyOrder = iota // as bencode demands
	reversedKeys                 // the reverse, which real servers accept and some send
	doubledKeys                  // sorted, each key and its value twice
)

func encodeBencode(b *bytes.Buffer, v any, order keyOrder) {
	switch v := v.(type) {
	case string:
		b.WriteString(strconv.Itoa(len(v)))
		b.WriteByte(':')
		b.WriteString(v)
	case int:
		fmt.Fprintf(b, "i%de", v)
	case int64:
		fmt.Fprintf(b, "i%de", v)
	case []string:
		b.WriteByte('l')
		for _, s := range v {
			encodeBencode(b, s, order)
		}
		b.WriteByte('e')
	case []any:
		b.WriteByte('l')
		for _, e := range v {
			encodeBencode(b, e, order)
		}
		b.WriteByte('e')
	case Message:
		encodeBencode(b, map[string]any(v), order)
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if order == reversedKeys {
			slices.Reverse(keys)
		}
		b.WriteByte('d')
		for _, k := range keys {
			encodeBencode(b, k, order)
			encodeBencode(b, v[k], order)
			if order == doubledKeys {
				encodeBencode(b, k, order)
				encodeBencode(b, v[k], order)
			}
		}
		b.WriteByte('e')
	default:
		panic(fmt.Sprintf("fakes: bencode has no %T", v))
	}
}

// bencodeError is a departure from canonical bencode.
type bencodeError struct {
	offset int64 // bytes since the start of the stream
	what   string
}

func (e *bencodeError) Error() string {
	return fmt.Sprintf("not canonical bencode: %s (byte %d of the connection)", e.what, e.offset)
}

// bencodeReader decodes canonical bencode and nothing else: sorted keys, no
// key twice, no leading zeros, no -0.
type bencodeReader struct {
	r      *bufio.Reader
	offset int64
}

func newBencodeReader(r io.Reader) *bencodeReader {
	return &bencodeReader{r: bufio.NewReader(r)}
}

// message reads the next message. The error is io.EOF when the stream ends
// between two messages, io.ErrUnexpectedEOF when it ends inside one, and a
// *bencodeError for bytes that are not canonical.
func (d *bencodeReader) message() (Message, error) {
	c, err := d.byte()
	if err != nil {
		return nil, err
	}
	if c != 'd' {
		return nil, d.bad("a message starts with %q instead of 'd'", c)
	}
	v, err := d.dict(1)
	if err == io.EOF { //nolint:errorlint // bufio returns io.EOF itself
		err = io.ErrUnexpectedEOF
	}
	return v, err
}

func (d *bencodeReader) bad(format string, args ...any) error {
	return &bencodeError{offset: d.offset - 1, what: fmt.Sprintf(format, args...)}
}

func (d *bencodeReader) byte() (byte, error) {
	c, err := d.r.ReadByte()
	if err == nil {
		d.offset++
	}
	return c, err
}

func (d *bencodeReader) value(first byte, depth int) (any, error) {
	switch {
	case (first == 'l' || first == 'd') && depth >= maxBencodeDepth:
		return nil, d.bad("nested deeper than %d", maxBencodeDepth)
	case first == 'i':
		return d.integer()
	case first == 'l':
		return d.list(depth + 1)
	case first == 'd':
		m, err := d.dict(depth + 1)
		return map[string]any(m), err
	case first >= '0' && first <= '9':
		return d.text(first)
	}
	return nil, d.bad("a value starts with %q", first)
}

func (d *bencodeReader) dict(depth int) (Message, error) {
	m := Message{}
	last := ""
	for {
		c, err := d.byte()
		if err != nil {
			return nil, err
		}
		if c == 'e' {
			return m, nil
		}
		if c < '0' || c > '9' {
			return nil, d.bad("a key starts with %q", c)
		}
		key, err := d.text(c)
		if err != nil {
			return nil, err
		}
		if len(m) > 0 && key == last {
			return nil, d.bad("key %q twice", key)
		}
		if len(m) > 0 && key < last {
			return nil, d.bad("key %q after %q: keys must be sorted", key, last)
		}
		last = key
		if c, err = d.byte(); err != nil {
			return nil, err
		}
		if m[key], err = d.value(c, depth); err != nil {
			return nil, err
		}
	}
}

func (d *bencodeReader) list(depth int) ([]any, error) {
	items := []any{}
	for {
		c, err := d.byte()
		if err != nil {
			return nil, err
		}
		if c == 'e' {
			return items, nil
		}
		v, err := d.value(c, depth)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
}

// digits reads up to the terminator and returns the text before it.
func (d *bencodeReader) digits(prefix string, end byte) (string, error) {
	for {
		c, err := d.byte()
		if err != nil {
			return "", err
		}
		if c == end {
			return prefix, nil
		}
		if c != '-' && (c < '0' || c > '9') {
			return "", d.bad("%q inside a number", c)
		}
		if len(prefix) >= 20 {
			return "", d.bad("a number of more than 20 digits")
		}
		prefix += string(c)
	}
}

func (d *bencodeReader) integer() (int64, error) {
	s, err := d.digits("", 'e')
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != s {
		return 0, d.bad("integer %q", s)
	}
	return n, nil
}

func (d *bencodeReader) text(first byte) (string, error) {
	s, err := d.digits(string(first), ':')
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(s)
	if err != nil || strconv.Itoa(n) != s {
		return "", d.bad("string length %q", s)
	}
	if n > maxBencodeString {
		return "", d.bad("a string of %d bytes", n)
	}
	buf := make([]byte, n)
	read, err := io.ReadFull(d.r, buf)
	d.offset += int64(read)
	return string(buf), err
}
