package settings

import (
	"errors"
	"strconv"

	"github.com/hookkit/brepl/hookkit/rawjson"
)

// MaxDepth is how deep a settings file may be nested. Real files reach 7.
const MaxDepth = 512

// members calls f before each value of an object, with its name; f must move
// past the value. When there is no object, it moves past the value. The JSON is
// known to be valid.
func members(c *rawjson.Cursor, f func(name string)) {
	if c.Peek() != '{' {
		_ = c.Skip()
		return
	}
	_ = c.Object(func(key []byte) error {
		f(rawjson.Decode([]byte(`"` + string(key) + `"`)))
		return nil
	})
}

// elements calls f before each element of an array; f must move past it. It
// reports false, and moves past the value, when there is no array.
func elements(c *rawjson.Cursor, f func()) bool {
	if c.Peek() != '[' {
		_ = c.Skip()
		return false
	}
	_ = c.Array(func() error {
		f()
		return nil
	})
	return true
}

// decoded moves past any value and returns the text of a string, "" for others.
func decoded(c *rawjson.Cursor) string {
	s, _ := c.Str()
	return s
}

// number moves past any value; ok is false where it is no number.
func number(c *rawjson.Cursor) (n float64, ok bool) {
	c.Space()
	start := c.At
	_ = c.Skip()
	n, err := strconv.ParseFloat(string(c.Data[start:c.At]), 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}
