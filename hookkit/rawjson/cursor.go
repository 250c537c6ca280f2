// Package rawjson walks over JSON text without building values, for readers that need a few fields of much text: encoding/json takes
// several times as long. It checks no more than it needs to find its way: brackets by their number, and nothing of what it skips. Use
// json.Valid first where that matters.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
)

// A Cursor stands at a place of a JSON text.
type Cursor struct {
	Data []byte
	At   int
}

// errMalformed is the error of all walks: a caller passes over such text.
var errMalformed = errors.New("malformed JSON")

// Space moves past white space.
func (c *Cursor) Space() {
	for c.At < len(c.Data) {
		switch c.Data[c.At] {
		case ' ', '\t', '\r', '\n':
			c.At++
		default:
			return
		}
	}
}

// Peek is the next byte that is no white space, 0 at the end.
func (c *Cursor) Peek() byte {
	c.Space()
	if c.At < len(c.Data) {
		return c.Data[c.At]
	}
	return 0
}

// Object calls field for each key of an object, with the cursor before its value; field must move past it. The key is as it is written,
// without its quotes: hosts write none with escapes. An error of field ends the walk and is returned.
func (c *Cursor) Object(field func(key []byte) error) error {
	if c.Peek() != '{' {
		return errMalformed
	}
	c.At++
	if c.Peek() == '}' {
		c.At++
		return nil
	}
	for {
		if c.Peek() != '"' {
			return errMalformed
		}
		key, err := c.Text()
		if err != nil {
			return err
		}
		if c.Peek() != ':' {
			return errMalformed
		}
		c.At++
		c.Space()
		if err := field(key[1 : len(key)-1]); err != nil {
			return err
		}
		switch c.Peek() {
		case ',':
			c.At++
		case '}':
			c.At++
			return nil
		default:
			return errMalformed
		}
	}
}

// Array calls item with the cursor before each item; item must move past it.
func (c *Cursor) Array(item func() error) error {
	if c.Peek() != '[' {
		return errMalformed
	}
	c.At++
	if c.Peek() == ']' {
		c.At++
		return nil
	}
	for {
		c.Space()
		if err := item(); err != nil {
			return err
		}
		switch c.Peek() {
		case ',':
			c.At++
		case ']':
			c.At++
			return nil
		default:
			return errMalformed
		}
	}
}

// Text moves past a string and returns it as written, with its quotes.
func (c *Cursor) Text() ([]byte, error) {
	end := StringEnd(c.Data, c.At)
	if end < 0 {
		return nil, errMalformed
	}
	raw := c.Data[c.At:end]
	c.At = end
	return raw, nil
}

// StringEnd is where the string ends that begins at a place, behind its quotes, -1 for no string.
func StringEnd(data []byte, start int) int {
	if start >= len(data) || data[start] != '"' {
		return -1
	}
	for at := start + 1; ; {
		i := bytes.IndexByte(data[at:], '"')
		if i < 0 {
			return -1
		}
		at += i + 1
		if data[at-2] != '\\' || !escaped(data[start:at-1]) {
			return at
		}
	}
}

// escaped says whether what follows is escaped: an odd number of backslashes is before it.
func escaped(before []byte) bool {
	n := 0
	for n < len(before) && before[len(before)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// ValueEnd is where the value ends that begins at a place, -1 for none. Like Skip it checks brackets by their number only.
func ValueEnd(data []byte, at int) int {
	if at < len(data) && data[at] == '"' {
		return StringEnd(data, at)
	}
	for depth := 0; at < len(data); {
		switch data[at] {
		case '"':
			if at = StringEnd(data, at); at < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return -1
}

// Skip moves past any value. It checks brackets by their number only.
func (c *Cursor) Skip() error {
	depth := 0
	for {
		switch c.Peek() {
		case 0:
			return errMalformed
		case '"':
			if _, err := c.Text(); err != nil {
				return err
			}
		case '{', '[':
			depth++
			c.At++
			continue
		case '}', ']':
			depth--
			c.At++
			if depth < 0 {
				return errMalformed
			}
		case ',', ':':
			if depth == 0 {
				return errMalformed
			}
			c.At++
			continue
		default:
			for c.At < len(c.Data) && !bytes.ContainsRune([]byte(`,:]} "{[`+"\t\r\n"), rune(c.Data[c.At])) {
				c.At++
			}
		}
		if depth == 0 {
			return nil
		}
	}
}

// Str moves past any value and returns it decoded when it is a string, else "".
func (c *Cursor) Str() (string, error) {
	if c.Peek() != '"' {
		return "", c.Skip()
	}
	raw, err := c.Text()
	if err != nil {
		return "", err
	}
	return Decode(raw), nil
}

// True moves past any value and says whether it is true.
func (c *Cursor) True() (bool, error) {
	c.Space()
	yes := bytes.HasPrefix(c.Data[c.At:], []byte("true"))
	return yes, c.Skip()
}

// Decode gives a string's text: invalid UTF-8 and lone surrogates become U+FFFD, a string that is no JSON becomes "".
func Decode(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 && isPlain(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func isPlain(raw []byte) bool {
	for _, b := range raw {
		if b < 0x20 || b >= 0x80 {
			return false
		}
	}
	return true
}
