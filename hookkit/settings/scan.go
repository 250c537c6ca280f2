package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how deep a settings file may be nested. Real files reach 7.
const MaxDepth = 512

var errScan = errors.New("not strict JSON")

// A cursor walks over strict JSON without building a tree. After the first
// fault it stays in the failed state and every walk ends at once. Literals
// are recognised by shape only, which is enough to find values.
type cursor struct {
	data  []byte
	at    int
	depth int
	err   error
}

func (c *cursor) fail() { c.err = errScan; c.at = len(c.data) }

func (c *cursor) space() {
	for c.at < len(c.data) {
		switch c.data[c.at] {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return
		}
	}
}

// peek returns the next byte that is not white space, or 0 at the end.
func (c *cursor) peek() byte {
	c.space()
	if c.at >= len(c.data) {
		return 0
	}
	return c.data[c.at]
}

// str consumes a string and returns it with its quotes.
func (c *cursor) str() []byte {
	if c.peek() != '"' {
		c.fail()
		return nil
	}
	start := c.at
	for c.at++; c.at < len(c.data); c.at++ {
		switch b := c.data[c.at]; {
		case b == '"':
			c.at++
			return c.data[start:c.at]
		case b == '\\':
			c.at++
		case b < ' ':
			c.fail()
			return nil
		}
	}
	c.fail()
	return nil
}

// members calls f at each value of an object, with its name. f must consume
// the value. When there is no object, it consumes the value.
func (c *cursor) members(f func(name string)) {
	c.list('{', '}', func() {
		name := unquote(c.str())
		if c.peek() != ':' {
			c.fail()
			return
		}
		c.at++
		f(name)
	})
}

// elements calls f at each element of an array. f must consume the element.
// It reports false, and consumes the value, when there is no array.
func (c *cursor) elements(f func()) bool { return c.list('[', ']', f) }

func (c *cursor) list(opener, closer byte, f func()) bool {
	if c.peek() != opener {
		c.value()
		return false
	}
	c.at++
	if c.depth++; c.depth > MaxDepth {
		c.fail()
		return true
	}
	if c.peek() == closer {
		c.at++
		c.depth--
		return true
	}
	for c.err == nil {
		f()
		switch c.peek() {
		case ',':
			c.at++
		case closer:
			c.at++
			c.depth--
			return true
		default:
			c.fail()
		}
	}
	return true
}

// value consumes the next value and returns its text.
func (c *cursor) value() []byte {
	first := c.peek()
	start := c.at
	switch first {
	case '{':
		c.members(func(string) { c.value() })
	case '[':
		c.elements(func() { c.value() })
	case '"':
		return c.str()
	default:
		for c.at < len(c.data) && bytes.IndexByte([]byte("{}[]\":, \t\r\n"), c.data[c.at]) < 0 {
			c.at++
		}
		if word := c.data[start:c.at]; !json.Valid(word) {
			c.fail()
		}
	}
	if c.err != nil {
		return nil
	}
	return c.data[start:c.at]
}

// unquote decodes a JSON string, as encoding/json does; the short way is for
// nearly all strings in settings files.
func unquote(quoted []byte) string {
	if len(quoted) < 2 {
		return ""
	}
	if bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted) {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return ""
	}
	return s
}

func number(text []byte) (float64, bool) {
	n, err := strconv.ParseFloat(string(text), 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}
