package clj

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/text"
)

// excerptWidth is the most terminal cells of a source line that Excerpt shows.
const excerptWidth = 100

// Excerpt gives the source line of a place with its number, and below it a caret under the column; it ends with a newline. The place
// is found by pos.Offset, which is brought into the text where it is outside.
//
// Tabs stay and are repeated before the caret, so that it stands right for any tab width. A long line is cut around the place, at
// most 100 cells stay and … marks the cuts. Wide characters count two cells, combining ones none. Control characters and bytes that are
// not UTF-8 are shown as U+FFFD, a byte order mark is left out.
func Excerpt(src []byte, pos Pos) string {
	offset := min(max(pos.Offset, 0), len(src))
	// Half the width before the place, the rest after it; what one side does not need goes to the other. Only what is shown is looked at:
	// a line may have a megabyte, and a fault in each of its words.
	before, from := cellsBack(src[:offset], excerptWidth/2)
	after, to := cellsForward(src[offset:], excerptWidth-before)
	if before+after < excerptWidth {
		_, from = cellsBack(src[:offset], excerptWidth-after)
	}

	var line, caret strings.Builder
	number := strconv.Itoa(pos.Line)
	line.WriteString(number + " | ")
	caret.WriteString(strings.Repeat(" ", len(number)) + " | ")
	if from > 0 && !endsLine(src, from-1) {
		line.WriteString("…")
		caret.WriteByte(' ')
	}
	show(&line, &caret, src[from:offset])
	show(&line, nil, src[offset:offset+to])
	if end := offset + to; end < len(src) && !endsLine(src, end) {
		line.WriteString("…")
	}
	return line.String() + "\n" + caret.String() + "^\n"
}

// endsLine says whether src[i] ends a line. The LF of a CRLF belongs to the line end too.
func endsLine(src []byte, i int) bool { return src[i] == '\n' || src[i] == '\r' }

// show writes a part of a line, and for each of its cells a space to caret where there is one.
func show(line, caret *strings.Builder, part []byte) {
	for len(part) > 0 {
		r, size := utf8.DecodeRune(part)
		part = part[size:]
		if r == '\uFEFF' {
			continue
		}
		if text.Steers(r) {
			r = utf8.RuneError
		}
		line.WriteRune(r)
		if caret == nil {
			continue
		}
		if r == '\t' {
			caret.WriteByte('\t')
			continue
		}
		caret.WriteString("  "[:cells(r)])
	}
}

// cellsForward gives how many cells, at most limit, and how many bytes the start of text takes, up to the end of its line.
func cellsForward(text []byte, limit int) (width, size int) {
	for size < len(text) && !endsLine(text, size) {
		r, n := utf8.DecodeRune(text[size:])
		if width+cells(r) > limit {
			break
		}
		width += cells(r)
		size += n
	}
	return width, size
}

// cellsBack gives how many cells, at most limit, the end of text takes, from the start of its line at the most, and where in text that
// starts.
func cellsBack(text []byte, limit int) (width, start int) {
	start = len(text)
	for start > 0 && !endsLine(text, start-1) {
		r, n := utf8.DecodeLastRune(text[:start])
		if width+cells(r) > limit {
			break
		}
		width += cells(r)
		start -= n
	}
	return width, start
}

// cells gives the width of a character on a terminal, close enough for a caret. A tab counts as one.
func cells(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115F, r >= 0x2E80 && r <= 0xA4CF, r >= 0xAC00 && r <= 0xD7A3, r >= 0xF900 && r <= 0xFAFF,
		r >= 0xFE30 && r <= 0xFE4F, r >= 0xFF00 && r <= 0xFF60, r >= 0xFFE0 && r <= 0xFFE6, r >= 0x1F300 && r <= 0x1FAFF,
		r >= 0x20000 && r <= 0x3FFFD:
		return 2
	}
	return 1
}
