// Package plain takes out of text what steers a terminal: a server's or a command's output is to be read, not obeyed.
//
// It serves the programs of this repository and carries no promise of stability.
package plain

import "strings"

const escape = 0x1b

// Text is s without escape sequences and without control characters but tab and line ends. Bytes that are not UTF-8 become U+FFFD.
func Text(s string) string {
	return strings.Map(func(c rune) rune {
		if steers(c) {
			return -1
		}
		return c
	}, WithoutEscapes(s))
}

func steers(c rune) bool {
	return c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c >= 0x7f && c < 0xa0
}

// WithoutEscapes is s without escape sequences; every other byte stays.
func WithoutEscapes(s string) string {
	if strings.IndexByte(s, escape) < 0 {
		return s
	}
	var b strings.Builder
	for {
		before, _, found := strings.Cut(s, "\x1b")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		s = s[len(before):]
		s = s[Escape(s):]
	}
}

// Escape is how many bytes the escape sequence takes that s begins with (ECMA-48), 0 if s begins with none. One that is cut off
// takes no line end.
func Escape(s string) int {
	switch {
	case s == "" || s[0] != escape:
		return 0
	case len(s) == 1:
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
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
		if s[i] < 0x20 {
			return i
		}
	}
	return len(s)
}

// controlString is the length of an OSC sequence and its like, which end with BEL or ESC \.
func controlString(s string) int {
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == 0x07:
			return i + 1
		case s[i] == '\\' && s[i-1] == escape:
			return i + 1
		case s[i] == '\n':
			return i
		}
	}
	return len(s)
}

// TurnsAround reports the characters that change the direction of the text after them, so that it does not read as it runs.
func TurnsAround(c rune) bool {
	return c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069
}
