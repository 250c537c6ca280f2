package rawjson

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// A walk over valid JSON finds the names and texts that encoding/json finds, and one over any other text ends.
func FuzzCursor(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, `"a"`, `1`, `-0.5e3`, `true`, ` { "a" : [ 1 , {"b":"c\"]}"} ] , "d" : null, "a":"" } `, `["\ud800","\\","é","\u0000"]`,
		"[\"\xc5\"]", `[[[["x"]]]]`, `"\\\\\""`, `{"":{"\u0061":false}}`,
	} {
		f.Add(text)
		for i := range text {
			f.Add(text[:i])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		var found []string
		err := walk(&Cursor{Data: []byte(text)}, &found)
		c := &Cursor{Data: []byte(text)}
		skipped := c.Skip()
		if !json.Valid([]byte(text)) {
			return
		}
		assert.NilError(t, err)
		assert.NilError(t, skipped)
		assert.Equal(t, c.Peek(), byte(0))
		var want []string
		for d := json.NewDecoder(strings.NewReader(text)); ; {
			token, err := d.Token()
			if err != nil {
				break
			}
			if s, ok := token.(string); ok {
				want = append(want, s)
			}
		}
		assert.Assert(t, slices.Equal(found, want), "%q: %q, not %q", text, found, want)
	})
}

// walk notes the names and texts of the value at a cursor.
func walk(c *Cursor, found *[]string) error {
	switch c.Peek() {
	case '{':
		return c.Object(func(key []byte) error {
			*found = append(*found, Decode([]byte(`"`+string(key)+`"`)))
			return walk(c, found)
		})
	case '[':
		return c.Array(func() error { return walk(c, found) })
	case '"':
		s, err := c.Str()
		*found = append(*found, s)
		return err
	}
	return c.Skip()
}
