package triage

import (
	"bytes"
	"encoding/json"
	"errors"
)

// cursor walks over one JSON line without building values. encoding/json takes 80 ms for the 8 MB that may be read at a stop;
// what is needed are a few fields near the head of each line.
type cursor struct {
	data []byte
	at   int
}

var (
	errMalformed = errors.New("malformed JSON")
	errEnough    = errors.New("enough was read") // a callback's way to leave
)

func (c *cursor) space() {
	for c.at < len(c.data) {
		switch c.data[c.at] {
		case ' ', '\t', '\r', '\n':
			c.at++
		default:
			return
		}
	}
}

// peek is the next byte that is no white space, 0 at the end.
func (c *cursor) peek() byte {
	c.space()
	if c.at < len(c.data) {
		return c.data[c.at]
	}
	return 0
}

// object calls field for each key with the cursor before its value; field must move past it. Keys are compared as they are
// written: the host writes none with escapes.
func (c *cursor) object(field func(key []byte) error) error {
	if c.peek() != '{' {
		return errMalformed
	}
	c.at++
	if c.peek() == '}' {
		c.at++
		return nil
	}
	for {
		if c.peek() != '"' {
			return errMalformed
		}
		key, err := c.text()
		if err != nil {
			return err
		}
		if c.peek() != ':' {
			return errMalformed
		}
		c.at++
		c.space()
		if err := field(key[1 : len(key)-1]); err != nil {
			return err
		}
		switch c.peek() {
		case ',':
			c.at++
		case '}':
			c.at++
			return nil
		default:
			return errMalformed
		}
	}
}

// array calls item with the cursor before each item; item must move past it.
func (c *cursor) array(item func() error) error {
	if c.peek() != '[' {
		return errMalformed
	}
	c.at++
	if c.peek() == ']' {
		c.at++
		return nil
	}
	for {
		c.space()
		if err := item(); err != nil {
			return err
		}
		switch c.peek() {
		case ',':
			c.at++
		case ']':
			c.at++
			return nil
		default:
			return errMalformed
		}
	}
}

// text moves past a string and returns it as written, with its quotes.
func (c *cursor) text() ([]byte, error) {
	end := stringEnd(c.data, c.at)
	if end < 0 {
		return nil, errMalformed
	}
	raw := c.data[c.at:end]
	c.at = end
	return raw, nil
}

// stringEnd is where the string ends that begins at a place, behind its quotes, -1 for no string.
func stringEnd(data []byte, start int) int {
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

// valueEnd is where the value ends that begins at a place, -1 for none. Like skip it checks brackets by their number only.
func valueEnd(data []byte, at int) int {
	if at < len(data) && data[at] == '"' {
		return stringEnd(data, at)
	}
	for depth := 0; at < len(data); {
		switch data[at] {
		case '"':
			if at = stringEnd(data, at); at < 0 {
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

// skip moves past any value. It checks brackets by their number only.
func (c *cursor) skip() error {
	depth := 0
	for {
		switch c.peek() {
		case 0:
			return errMalformed
		case '"':
			if _, err := c.text(); err != nil {
				return err
			}
		case '{', '[':
			depth++
			c.at++
			continue
		case '}', ']':
			depth--
			c.at++
			if depth < 0 {
				return errMalformed
			}
		case ',', ':':
			if depth == 0 {
				return errMalformed
			}
			c.at++
			continue
		default:
			for c.at < len(c.data) && !bytes.ContainsRune([]byte(`,:]} "{[`+"\t\r\n"), rune(c.data[c.at])) {
				c.at++
			}
		}
		if depth == 0 {
			return nil
		}
	}
}

// str moves past any value and returns it decoded when it is a string, else "".
func (c *cursor) str() (string, error) {
	if c.peek() != '"' {
		return "", c.skip()
	}
	raw, err := c.text()
	if err != nil {
		return "", err
	}
	return decode(raw), nil
}

// isTrue moves past any value and says whether it is true.
func (c *cursor) isTrue() (bool, error) {
	c.space()
	yes := bytes.HasPrefix(c.data[c.at:], []byte("true"))
	return yes, c.skip()
}

// decode gives a string's text: invalid UTF-8 and lone surrogates become U+FFFD, a string that is no JSON becomes "".
func decode(raw []byte) string {
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
