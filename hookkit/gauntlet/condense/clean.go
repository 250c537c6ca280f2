package condense

import (
	"strings"
	"unicode/utf8"
)

// cleanLines gives the lines of an output as a terminal would leave them: without escape sequences and other control characters, of a
// line that was overwritten with carriage returns the last state, and no line longer than width bytes. Blank lines at the end are dropped.
func cleanLines(text string, width int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		lines = append(lines, cut(plain(line), width))
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func cut(line string, width int) string {
	if len(line) <= width {
		return line
	}
	end := width
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + "…"
}

// plain drops terminal escapes (ECMA-48) and control characters but the tab, and makes the text valid UTF-8.
func plain(line string) string {
	if !strings.ContainsFunc(line, isControl) && utf8.ValidString(line) {
		return line
	}
	line = strings.ToValidUTF8(line, "\uFFFD")
	var b strings.Builder
	for i := 0; i < len(line); {
		if n := escape(line[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		if !isControl(r) {
			b.WriteString(line[i : i+n])
		}
		i += n
	}
	return b.String()
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 }

// escape is the length of the escape sequence that s begins with: CSI (ESC [ … final byte), OSC (ESC ] … BEL or ESC \), or ESC and a
// character. 0: none.
func escape(s string) int {
	if s[0] != 0x1b {
		return 0
	}
	if len(s) == 1 {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= '@' && s[i] <= '~' {
				return i + 1
			}
		}
		return len(s)
	case ']':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	if s[1] >= utf8.RuneSelf {
		return 1
	}
	return 2
}
