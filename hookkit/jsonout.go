package hookkit

import (
	"unicode/utf8"
)

// textLimit is the number of characters (UTF-16 units) above which Claude Code replaces an additionalContext or a systemMessage by
// the name of a file.
const textLimit = 10_000

const cutMarker = "\n[cut here: the rest was too long]"

// An object writes one JSON object on one line. Empty strings are left out.
type object struct{ buf []byte }

func (o *object) key(name string) {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
	o.buf = appendQuoted(o.buf, name)
	o.buf = append(o.buf, ':')
}

func (o *object) str(name, value string) {
	if value == "" {
		return
	}
	o.key(name)
	o.buf = appendQuoted(o.buf, value)
}

// text is str for a value that the host takes only up to the limit.
func (o *object) text(name, value string) { o.str(name, cut(value)) }

func (o *object) yes(name string) {
	o.key(name)
	o.buf = append(o.buf, "true"...)
}

// raw forwards a value byte for byte.
func (o *object) raw(name, value string) {
	if value == "" {
		return
	}
	o.key(name)
	o.buf = append(o.buf, value...)
}

// obj adds an object unless it is empty.
func (o *object) obj(name string, inner object) {
	if !inner.empty() {
		o.raw(name, string(inner.buf)+"}")
	}
}

func (o *object) specific(inner object) { o.obj("hookSpecificOutput", inner) }

func (o *object) empty() bool { return len(o.buf) == 0 }

// line returns the object as a line, or nothing if it is empty.
func (o *object) line() []byte {
	if o.empty() {
		return nil
	}
	return append(o.buf, '}', '\n')
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends a JSON string. Bytes that are no UTF-8 become U+FFFD; <, > and & stay as they are.
func appendQuoted(buf []byte, s string) []byte {
	buf = append(buf, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\':
				buf = append(buf, '\\', c)
			case c == '\n':
				buf = append(buf, '\\', 'n')
			case c == '\t':
				buf = append(buf, '\\', 't')
			case c == '\r':
				buf = append(buf, '\\', 'r')
			case c < 0x20 || c == 0x7f:
				buf = append(buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			default:
				buf = append(buf, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		buf = utf8.AppendRune(buf, r)
		i += n
	}
	return append(buf, '"')
}

// cut shortens a text that is longer than the limit: at the end of a line when one ends in its last fifth, else between two characters.
func cut(s string) string {
	if len(s) <= textLimit {
		return s
	}
	units, room, line := 0, len(s), -1
	for i, r := range s {
		if units <= textLimit-len(cutMarker) {
			room = i
			if r == '\n' && units > textLimit*4/5 {
				line = i
			}
		}
		if units++; r > 0xFFFF {
			units++
		}
	}
	if units <= textLimit {
		return s
	}
	if line >= 0 {
		room = line
	}
	return s[:room] + cutMarker
}
