package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean is s without escape sequences (ECMA-48) and without the characters that [Steers] reports. Tabs, line feeds and
// carriage returns stay. Bytes that are not UTF-8 become U+FFFD.
func Clean(s string) string { return clean(s, false) }

// Screen is [Clean] for what a program printed: as a terminal would leave it. Of a line that was overwritten after a carriage return
// the last state stays, and no carriage return does.
func Screen(s string) string { return clean(s, true) }

// Value is [Clean] without carriage returns, for a value that is no output, such as an exception's message: nothing overwrites a line of it.
func Value(s string) string { return strings.ReplaceAll(Clean(s), "\r", "") }

func clean(s string, screen bool) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return Steers(r) || r == utf8.RuneError || r == '\r' && screen }) {
		return s
	}
	out := make([]byte, 0, len(s))
	line, returned := 0, false // where the line begins in out; whether the next character overwrites it
	for i := 0; i < len(s); {
		if n := sequence(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case Steers(r):
			continue
		case r == '\r' && screen:
			returned = true
			continue
		case r == '\n':
			line, returned = len(out)+1, false
		case returned:
			out, returned = out[:line], false
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// Line is s on one line, for a sentence: clean, and one blank in place of each run of white space, none at the ends.
func Line(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Brief is s as a part of a sentence of ours: [Line], at most 300 UTF-16 units.
func Brief(s string) string { return CutUTF16(Line(s), 300) }

// Steers reports the characters that steer a terminal or turn text around, so that it does not read as it runs: control characters but
// tab, line feed and carriage return, the controls of direction, and the byte order mark.
func Steers(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c || r == 0xfeff
}

// Escaped shows what [Clean] takes out, for somebody who must see it: every character that is not printable is written as Go writes it,
// \x1b, except those in keep. The joiners within words stay.
func Escaped(s, keep string) string {
	hidden := func(r rune) bool {
		return !unicode.IsPrint(r) && r != 0x200c && r != 0x200d && !strings.ContainsRune(keep, r)
	}
	if utf8.ValidString(s) && !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Name is the name of a file for people: as it is, or in Go's quotes where it has bytes that are no text or characters that do not
// stand on a line.
func Name(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return Steers(r) || r == utf8.RuneError || r == '\n' || r == '\r' || r == '\t' }) {
		return strconv.Quote(name)
	}
	return name
}
