package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Defuse is s without what an agent could take for a tag, such as </system-reminder>: a "<" before a letter or a "/" becomes "‹", also where
// characters that nobody sees stand between them. Code such as (< a b) and <!! stays. The length in UTF-16 units is the same.
func Defuse(s string) string {
	at := strings.IndexByte(s, '<')
	if at < 0 {
		return s
	}
	var b strings.Builder
	for ; at >= 0; at = strings.IndexByte(s, '<') {
		b.WriteString(s[:at])
		s = s[at+1:]
		if opensTag(s) {
			b.WriteString("‹")
		} else {
			b.WriteByte('<')
		}
	}
	b.WriteString(s)
	return b.String()
}

// opensTag reports whether a "<" before s would open a tag.
func opensTag(s string) bool {
	for _, r := range s {
		switch {
		case r == '/' || unicode.IsLetter(r) && r != utf8.RuneError:
			return true
		case !Unseen(r):
			return false
		}
	}
	return false
}
