package client

import (
	"strings"
	"unicode/utf8"
)

// plainText is text without what steers a terminal: escape sequences (ECMA-48) and control characters but tab and line ends. Bytes
// that are not UTF-8 become U+FFFD.
func plainText(s string) string {
	if strings.IndexFunc(s, func(c rune) bool { return steers(c) || c == utf8.RuneError }) < 0 {
		return s
	}
	var b strings.Builder
	for s != "" {
		if s[0] == 0x1b {
			s = s[escape(s):]
			continue
		}
		c, size := utf8.DecodeRuneInString(s)
		if !steers(c) {
			b.WriteRune(c)
		}
		s = s[size:]
	}
	return b.String()
}

func steers(c rune) bool {
	return c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c >= 0x7f && c < 0xa0
}

// escape is how many bytes the escape sequence at the start of s takes. One that does not end takes the rest of its line.
func escape(s string) int {
	if len(s) == 1 {
		return 1
	}
	start, ends := 1, func(i int) bool { return s[i] >= 0x30 && s[i] <= 0x7e } // intermediates, then one final byte
	switch s[1] {
	case '[': // CSI: parameters and intermediates, then one final byte
		start, ends = 2, func(i int) bool { return s[i] >= 0x40 && s[i] <= 0x7e }
	case ']', 'P', 'X', '^', '_': // strings up to BEL or ESC \
		start, ends = 2, func(i int) bool { return s[i] == 0x07 || s[i] == '\\' && s[i-1] == 0x1b }
	}
	for i := start; i < len(s); i++ {
		switch {
		case s[i] == '\n':
			return i
		case ends(i):
			return i + 1
		}
	}
	return len(s)
}
