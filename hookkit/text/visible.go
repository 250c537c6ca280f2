package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is [Clean] without what a reader does not see, which could hide one text in another: see [Unseen]. Blanks of any width are
// plain ones. It takes emojis apart that are joined of several.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case Unseen(r):
			return -1
		case r >= utf8.RuneSelf && unicode.IsSpace(r):
			return ' '
		}
		return r
	}, Clean(s))
}

// Unseen reports the characters that have no looks of their own: those that [Steers] reports, joiners, selectors, fillers, U+FFFD, which
// stands for what is no text, and all of the planes behind the letters. Tabs, line feeds and carriage returns are not among them.
func Unseen(r rune) bool {
	switch {
	case r < 0xad: // no joiners there
		return Steers(r)
	case r == utf8.RuneError, r == 0x2028, r == 0x2029, r >= 0xe0000:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Control is how many bytes the control sequence takes that s begins with, such as one that colours, 0 if s begins with none. Titles and
// links, which hold text, are none.
func Control(s string) int {
	if strings.HasPrefix(s, "\x1b[") || strings.HasPrefix(s, "\u009b") {
		return sequence(s)
	}
	return 0
}
