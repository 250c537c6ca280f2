package text

import "unicode/utf8"

// Mark stands where a text was cut.
const Mark = "…"

// CutBytes keeps the beginning of a text that is longer than limit bytes, whole characters of it, and marks the cut. The mark counts.
func CutBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit - len(Mark)
	if end < 0 {
		return ""
	}
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + Mark
}

// CutRunes is [CutBytes] for a limit in characters.
func CutRunes(s string, limit int) string { return cut(s, limit, func(rune) int { return 1 }) }

// CutUTF16 is [CutBytes] for a limit in UTF-16 units, which is what Claude Code counts.
func CutUTF16(s string, limit int) string { return cut(s, limit, unitsOf) }

func cut(s string, limit int, size func(rune) int) string {
	if len(s) <= limit { // no character has fewer bytes than units
		return s
	}
	end, used := -1, 0
	for i, r := range s {
		if used <= limit-1 { // the mark is one
			end = i
		}
		if used += size(r); used > limit {
			if end < 0 {
				return ""
			}
			return s[:end] + Mark
		}
	}
	return s
}

// LastUTF16 keeps the end of a text that is longer than limit UTF-16 units, whole characters of it, behind the mark, which counts.
func LastUTF16(s string, limit int) string {
	if len(s) <= limit || LenUTF16(s) <= limit {
		return s
	}
	if limit < 1 {
		return ""
	}
	start, used := len(s), 1
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:start])
		if used += unitsOf(r); used > limit {
			break
		}
		start -= n
	}
	return Mark + s[start:]
}

// LenUTF16 is the length of a text in UTF-16 units.
func LenUTF16(s string) int {
	n := 0
	for _, r := range s {
		n += unitsOf(r)
	}
	return n
}

func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}
