package text

const escape = 0x1b

// Sequence is how many bytes the escape sequence takes that s begins with, 0 if s begins with none: ECMA-48, with the introducers that
// are one character (U+0080 to U+009F) too. One that is cut off takes no line end, and nothing that cannot belong to it.
func Sequence(s string) int {
	if len(s) < 2 {
		if s == "\x1b" {
			return 1
		}
		return 0
	}
	introducer := s[1]
	switch {
	case s[0] == escape:
	case s[0] == 0xc2 && introducer >= 0x80 && introducer < 0xa0: // U+009B is ESC [ in one character, and so on
		introducer -= 0x40
	default:
		return 0
	}
	switch introducer {
	case '[':
		return control(s)
	case ']', 'P', 'X', '^', '_':
		return controlString(s)
	}
	if s[0] != escape {
		return 2
	}
	i := 1
	for i < len(s) && s[i] >= 0x20 && s[i] < 0x30 { // intermediates
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] < 0x7f { // the final byte
		i++
	}
	return i
}

// control is the length of a CSI sequence: parameters and intermediates, then one final byte.
func control(s string) int {
	i := 2
	for i < len(s) && s[i] >= 0x20 && s[i] < 0x40 {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] < 0x7f {
		i++
	}
	return i
}

// controlString is the length of an OSC, DCS, SOS, PM or APC sequence. It ends with BEL or the string terminator; CAN, SUB and another
// escape sequence break it off.
func controlString(s string) int {
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 0x07 || c == 0x18 || c == 0x1a:
			return i + 1
		case c == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2
		case c == escape && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case c == escape || c == '\n':
			return i
		}
	}
	return len(s)
}
