package text

import "strings"

const escape = 0x1b

// sequence is how many bytes the escape sequence takes that s begins with (ECMA-48), 0 if s begins with none. One that is cut off takes
// no line end, and nothing that cannot belong to it.
//
// Of the introducers that are one character only U+009B with parameters counts. The others stand in text that was decoded wrongly, where
// they are halves of quotation marks, and would take the words between these with them.
func sequence(s string) int {
	if strings.HasPrefix(s, "\u009b") {
		n := control(s)
		if last := s[n-1]; n > len("\u009b")+1 && last >= 0x40 && last < 0x7f {
			return n
		}
		return len("\u009b")
	}
	if s == "" || s[0] != escape {
		return 0
	}
	if len(s) == 1 {
		return 1
	}
	switch s[1] {
	case '[':
		return control(s)
	case ']', 'P', 'X', '^', '_':
		return controlString(s)
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
