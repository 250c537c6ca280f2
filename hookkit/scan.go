package hookkit

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds the nesting of an event, as encoding/json does.
const maxDepth = 10_000

// A scanner checks one JSON object byte by byte and notices its last brace. It is fed pieces of any size and looks at every byte once.
type scanner struct {
	state   scanState
	offset  int    // bytes consumed, byte order mark included
	start   int    // offset of the first brace
	stack   []byte // '{' or '[' for every open one
	literal string // what is left of true, false or null
	hex     int    // hexadecimal digits still due
	inKey   bool   // the current string is a key
	newline bool   // a newline was seen before the first brace

	discreet bool // errors show nothing of what was read

	// onTop, if set, is told the parts of the outermost object: their bounds as offsets.
	onTop func(part topPart, from, to int)
	from  int
}

type topPart uint8

const (
	topKey topPart = iota
	topValue
)

type scanState uint8

const (
	scanStart scanState = iota // before the first brace
	scanBOM2
	scanBOM3
	scanKeyOrEnd
	scanKey
	scanColon
	scanValue
	scanValueOrEnd
	scanAfter // after a value: comma or closer
	scanString
	scanEscape
	scanHex
	scanLiteral
	scanMinus
	scanZero
	scanInt
	scanDot
	scanFraction
	scanExp
	scanExpSign
	scanExpDigits
	scanDone
)

// feed consumes bytes up to the end of the object; done is true once the last brace was among them. s.offset says how far it came.
func (s *scanner) feed(p []byte) (done bool, err error) {
	base, n := s.offset, 0
	for n < len(p) && s.state != scanDone {
		if s.state == scanString {
			n += plainLength(p[n:])
			if n == len(p) {
				break
			}
			if n+1 < len(p) && p[n] == '\\' && isSimpleEscape(p[n+1]) {
				n += 2 // source text in JSON has one at the end of every line
				continue
			}
		}
		s.offset = base + n
		if err := s.step(p[n]); err != nil {
			return false, err
		}
		n++
	}
	s.offset = base + n
	return s.state == scanDone, nil
}

// plainLength counts the bytes at the start of p that mean nothing special inside a string. It looks at eight at a time: the high bit
// of a byte of the word is set where that byte is a quote, a backslash or a control character; the lowest such bit is never wrong.
func plainLength(p []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(p); i += 8 {
		word := binary.LittleEndian.Uint64(p[i:])
		quote, backslash := word^(ones*'"'), word^(ones*'\\')
		special := ((quote-ones)&^quote | (backslash-ones)&^backslash | (word-ones*0x20)&^word) & highs
		if special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(p); i++ {
		if c := p[i]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (s *scanner) step(c byte) error {
	switch s.state {
	case scanStart, scanBOM2, scanBOM3:
		return s.stepStart(c)
	case scanString, scanEscape, scanHex:
		return s.stepString(c)
	case scanLiteral:
		if c != s.literal[0] {
			return s.unexpected(c, "in a literal (true, false or null)")
		}
		if s.literal = s.literal[1:]; s.literal == "" {
			s.endValue(s.offset + 1)
		}
		return nil
	case scanMinus, scanZero, scanInt, scanDot, scanFraction, scanExp, scanExpSign, scanExpDigits:
		return s.stepNumber(c)
	default:
		if isSpace(c) {
			return nil
		}
		return s.stepStructure(c)
	}
}

func (s *scanner) stepStart(c byte) error {
	switch {
	case s.state == scanBOM2 && c == 0xBB:
		s.state = scanBOM3
		return nil
	case s.state == scanBOM3 && c == 0xBF:
		s.state = scanStart
		return nil
	case s.state != scanStart:
		return fmt.Errorf("%w: it starts with bytes that are no text", ErrNotJSON)
	case s.offset == 0 && c == 0xEF:
		s.state = scanBOM2
		return nil
	case isSpace(c):
		s.newline = s.newline || c == '\n'
		return nil
	case c == '{':
		s.start = s.offset
		return s.open(c, scanKeyOrEnd)
	case c == 0xFE || c == 0xFF || c == 0:
		return fmt.Errorf("%w: it looks like UTF-16 text; an event is UTF-8", ErrNotJSON)
	}
	var what string
	switch {
	case c == '[':
		what = "an array"
	case c == '"':
		what = "a string"
	case c == '-' || c >= '0' && c <= '9':
		what = "a number"
	default:
		return s.unexpected(c, "where an object should start with {")
	}
	return fmt.Errorf("%w: %s where an object should start with {", ErrNotJSON, what)
}

func (s *scanner) open(c byte, next scanState) error {
	if len(s.stack) == maxDepth {
		return fmt.Errorf("%w: nested deeper than %d levels at byte %d", ErrNotJSON, maxDepth, s.offset+1)
	}
	s.stack = append(s.stack, c)
	s.state = next
	return nil
}

func (s *scanner) stepStructure(c byte) error {
	switch s.state {
	case scanKeyOrEnd, scanKey:
		switch {
		case c == '"':
			s.inKey = true
			s.state = scanString
			if len(s.stack) == 1 {
				s.from = s.offset
			}
			return nil
		case c == '}' && s.state == scanKeyOrEnd:
			s.close()
			return nil
		case c == 0 && s.offset == s.start+1:
			return fmt.Errorf("%w: it looks like UTF-16 text; an event is UTF-8", ErrNotJSON)
		}
		return s.unexpected(c, "where a field name should start with \"")
	case scanColon:
		if c != ':' {
			return s.unexpected(c, "after a field name, where a colon should be")
		}
		s.state = scanValue
		return nil
	case scanAfter:
		inObject := s.stack[len(s.stack)-1] == '{'
		switch {
		case c == ',' && inObject:
			s.state = scanKey
		case c == ',':
			s.state = scanValue
		case c == '}' && inObject, c == ']' && !inObject:
			s.close()
		default:
			return s.unexpected(c, "after a value, where a comma or a closing bracket should be")
		}
		return nil
	default:
		if c == ']' && s.state == scanValueOrEnd {
			s.close()
			return nil
		}
		return s.startValue(c)
	}
}

func (s *scanner) startValue(c byte) error {
	if len(s.stack) == 1 {
		s.from = s.offset
	}
	switch {
	case c == '{':
		return s.open(c, scanKeyOrEnd)
	case c == '[':
		return s.open(c, scanValueOrEnd)
	case c == '"':
		s.inKey = false
		s.state = scanString
	case c == '-':
		s.state = scanMinus
	case c == '0':
		s.state = scanZero
	case c >= '1' && c <= '9':
		s.state = scanInt
	case c == 't':
		s.state, s.literal = scanLiteral, "rue"
	case c == 'f':
		s.state, s.literal = scanLiteral, "alse"
	case c == 'n':
		s.state, s.literal = scanLiteral, "ull"
	default:
		return s.unexpected(c, "where a value should start")
	}
	return nil
}

// close ends the innermost object or array at the current byte.
func (s *scanner) close() {
	s.stack = s.stack[:len(s.stack)-1]
	if len(s.stack) == 0 {
		s.state = scanDone
		return
	}
	s.endValue(s.offset + 1)
}

// endValue is called when a value ends before offset end.
func (s *scanner) endValue(end int) {
	s.state = scanAfter
	if len(s.stack) == 1 && s.onTop != nil {
		s.onTop(topValue, s.from, end)
	}
}

func (s *scanner) stepString(c byte) error {
	switch s.state {
	case scanEscape:
		switch {
		case isSimpleEscape(c):
			s.state = scanString
		case c == 'u':
			s.state, s.hex = scanHex, 4
		default:
			return s.unexpected(c, "after a backslash in a string")
		}
		return nil
	case scanHex:
		if !isHex(c) {
			return s.unexpected(c, "in a \\u escape, where four hexadecimal digits should be")
		}
		if s.hex--; s.hex == 0 {
			s.state = scanString
		}
		return nil
	}
	switch {
	case c == '\\':
		s.state = scanEscape
	case c == '"' && s.inKey:
		s.state = scanColon
		if len(s.stack) == 1 && s.onTop != nil {
			s.onTop(topKey, s.from, s.offset+1)
		}
	case c == '"':
		s.endValue(s.offset + 1)
	default:
		return s.unexpected(c, "in a string, where control characters must be escaped")
	}
	return nil
}

// isSimpleEscape reports whether c is all that follows a backslash.
func isSimpleEscape(c byte) bool {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (s *scanner) stepNumber(c byte) error {
	digit := c >= '0' && c <= '9'
	switch {
	case s.state == scanMinus && c == '0':
		s.state = scanZero
	case s.state == scanMinus && digit:
		s.state = scanInt
	case s.state == scanInt && digit, s.state == scanFraction && digit, s.state == scanExpDigits && digit:
	case (s.state == scanZero || s.state == scanInt) && c == '.':
		s.state = scanDot
	case s.state == scanDot && digit:
		s.state = scanFraction
	case (s.state == scanZero || s.state == scanInt || s.state == scanFraction) && (c == 'e' || c == 'E'):
		s.state = scanExp
	case s.state == scanExp && (c == '+' || c == '-'):
		s.state = scanExpSign
	case (s.state == scanExp || s.state == scanExpSign) && digit:
		s.state = scanExpDigits
	case s.state == scanZero || s.state == scanInt || s.state == scanFraction || s.state == scanExpDigits:
		// The number ended before this byte.
		s.endValue(s.offset)
		return s.step(c)
	default:
		return s.unexpected(c, "in a number")
	}
	return nil
}

func (s *scanner) unexpected(c byte, where string) error {
	what := strconv.QuoteRune(rune(c))
	switch {
	case s.discreet:
		what = notShown(1)
	case c >= utf8.RuneSelf:
		what = fmt.Sprintf("byte 0x%02x", c)
	}
	return fmt.Errorf("%w: unexpected %s at byte %d, %s", ErrNotJSON, what, s.offset+1, where)
}
