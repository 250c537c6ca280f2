package clj

// Pos is a place in a text.
type Pos struct {
	Offset int // in bytes, from 0
	Line   int // from 1; CR, LF and CRLF each end a line
	Column int // from 1, in UTF-16 code units, as Clojure and editors count
}

// PosAt gives the place of a byte offset, which is between 0 and the length of the text.
func PosAt(src []byte, offset int) Pos { return walk(src, Pos{Line: 1, Column: 1}, offset) }

// markDistance is how many bytes lie between two remembered places: a look-up behind the cursor walks at most that far, however long
// the line is.
const markDistance = 256

// locator turns byte offsets into places. Look-ups in rising order walk the text once; a look-up behind the cursor starts at a mark.
type locator struct {
	src    []byte
	cursor Pos
	marks  []Pos // marks[i] is the place of offset i*markDistance; made on the first look-up that goes back
}

func newLocator(src []byte) *locator {
	return &locator{src: src, cursor: Pos{Line: 1, Column: 1}}
}

// at gives the place of offset, which is between 0 and the length of the text.
func (l *locator) at(offset int) Pos {
	if offset >= l.cursor.Offset {
		l.cursor = walk(l.src, l.cursor, offset)
		return l.cursor
	}
	if l.marks == nil {
		l.marks = make([]Pos, 0, len(l.src)/markDistance+1)
		p := Pos{Line: 1, Column: 1}
		for o := 0; o <= len(l.src); o += markDistance {
			p = walk(l.src, p, o)
			l.marks = append(l.marks, p)
		}
	}
	return walk(l.src, l.marks[offset/markDistance], offset)
}

// walk moves p forward to offset. It looks at single bytes and at the byte before, so that it can start anywhere. Bytes that are not
// UTF-8 are counted by their first bits: positions stay in order, columns after such bytes are approximate.
func walk(src []byte, p Pos, offset int) Pos {
	line, column := p.Line, p.Column
	start := p.Offset
	for i, c := range src[start:offset] {
		switch {
		case c >= ' ' && c < 0x80: // most bytes
			column++
		case c == '\n' && start+i > 0 && src[start+i-1] == '\r':
			// The CR has ended the line.
		case c == '\n' || c == '\r':
			line++
			column = 1
		case c < 0x80 || c >= 0xC0 && c < 0xF0:
			column++
		case c >= 0xF0:
			column += 2 // a surrogate pair in UTF-16
		}
	}
	return Pos{Offset: offset, Line: line, Column: column}
}
