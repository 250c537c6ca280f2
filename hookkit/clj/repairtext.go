package clj

import "unicode/utf8"

// piece is a token that counts for nesting, with what the layout of the text says about it.
type piece struct {
	start, end int
	kind       TokenKind
	delim      byte  // the delimiter of an opener or a closer
	first      bool  // on its line
	glued      bool  // nothing is between it and the piece before
	swallowed  uint8 // how many closers that match nothing end the comment after it on its line
	keyword    bool
	col        int32 // of the delimiter of an opener, else of the first byte; from 0, a tab goes to the next multiple of 8
	left       int32 // the column where the piece as a whole starts
	indent     int32 // the column of the first piece on its line
	line       int32 // counts line ends outside of strings
}

const tabWidth = 8

// piecesOf gives the tokens of a text without spaces and comments.
func piecesOf(src []byte) []piece {
	pieces := make([]piece, 0, len(src)/5+1)
	var col, indent, line int32
	first := true
	glued := false
	for scanner := NewScanner(src); ; {
		t := scanner.Next()
		start := col
		var newline bool
		col, newline = columnAfter(src, t, col)
		switch t.Kind {
		case TokenEOF:
			return pieces
		case TokenSpace:
			glued = false
			if newline {
				first = true
				line++
			}
			continue
		case TokenComment:
			glued = false
			if n := len(pieces); n > 0 && !first {
				pieces[n-1].swallowed = swallowedBy(src[t.Start:t.End])
			}
			continue
		}
		p := piece{start: t.Start, end: t.End, kind: t.Kind, first: first, glued: glued, col: start, left: start, line: line}
		if first {
			indent = start
		}
		p.indent = indent
		if t.Kind == TokenOpen || t.Kind == TokenClose {
			p.delim = src[t.End-1]
			p.col = col - 1
		}
		p.keyword = t.Kind == TokenAtom && src[t.Start] == ':'
		pieces = append(pieces, p)
		first, glued = false, true
	}
}

// columnAfter gives the column after a token that starts at col, and whether a line ends within it.
func columnAfter(src []byte, t Token, col int32) (after int32, newline bool) {
	for _, c := range src[t.Start:t.End] {
		switch {
		case c == '\n' || c == '\r':
			col, newline = 0, true
		case c == '\t':
			col += tabWidth - col%tabWidth
		case c == 0xEF && t.Start == 0 && t.Kind == TokenSpace:
			// a byte order mark has no width
		case utf8.RuneStart(c):
			col++
		}
	}
	return col, newline
}

// swallowedBy counts the closers at the end of a comment that match no opener in it.
func swallowedBy(comment []byte) uint8 {
	depth := 0
	count := uint8(0)
	for i := len(comment) - 1; i >= 0 && count < 200; i-- {
		switch comment[i] {
		case ')', ']', '}':
			count++
			continue
		case ' ', '\t':
			continue
		}
		break
	}
	for _, c := range comment {
		switch c {
		case '(', '[', '{':
			depth++
		}
	}
	if depth >= int(count) {
		return 0
	}
	return count - uint8(depth)
}

// chunk is a range of pieces from one top-level form to the next.
type chunk struct {
	first, end int // pieces
	damaged    bool
	flat       bool // balanced, and lines within it start where top-level forms do
	surplus    bool // it has a closer that matches nothing
	wrapper    int  // how many pieces at its start are the first line of a form around others
}

// startsForm says whether a top-level form starts with the i-th piece: in the leftmost column, with an opener or with prefixes glued to
// one.
func startsForm(pieces []piece, i int, base int32) bool {
	p := &pieces[i]
	if !p.first || p.left != base {
		return false
	}
	if i > 0 && isPrefixKind(pieces[i-1].kind) {
		return false
	}
	for isPrefixKind(p.kind) && i+1 < len(pieces) && pieces[i+1].glued {
		i++
		p = &pieces[i]
	}
	return p.kind == TokenOpen
}

func isPrefixKind(kind TokenKind) bool { return kind >= TokenQuote }

// baseColumn gives the column where top-level forms start.
func baseColumn(pieces []piece) int32 {
	for i := range pieces {
		if pieces[i].first && pieces[i].left == 0 && pieces[i].kind != TokenClose {
			return 0
		}
	}
	if len(pieces) == 0 {
		return 0
	}
	return pieces[0].left
}

// chunksOf cuts the pieces at the starts of top-level forms. Forms whose inner lines start in the leftmost column too, such as a
// (comment …) around others, are one chunk.
func chunksOf(pieces []piece) []chunk {
	base := baseColumn(pieces)
	var cuts []chunk
	for i := range pieces {
		if i == 0 || startsForm(pieces, i, base) {
			if len(cuts) > 0 {
				cuts[len(cuts)-1].end = i
			}
			cuts = append(cuts, chunk{first: i, end: len(pieces)})
		}
	}
	var chunks []chunk
	budget := 4 * len(pieces) // of pieces looked at again, so that the time stays linear
	for i := 0; i < len(cuts); i++ {
		c := cuts[i]
		n := pieceNesting{}
		n.feed(pieces[c.first:c.end])
		c.damaged = n.fault || len(n.stack) > 0
		c.surplus = n.fault && len(n.stack) == 0
		if c.damaged && !n.fault {
			// What is open may be closed further on, at the end of a form around others.
			last := i
			for last+1 < len(cuts) && len(n.stack) > 0 && !n.fault && budget > 0 {
				last++
				budget -= cuts[last].end - cuts[last].first
				n.feed(pieces[cuts[last].first:cuts[last].end])
			}
			switch {
			case !n.fault && len(n.stack) == 0:
				c.damaged = false
				c.flat = !isWrapper(pieces, c)
				c.end = cuts[last].end
				i = last
			case isWrapper(pieces, c):
				if last = wrapperEnd(pieces, cuts, i, &budget); last > i {
					c.wrapper = c.end - c.first
					c.end = cuts[last].end
					i = last
				}
			}
		}
		chunks = append(chunks, c)
	}
	return chunks
}

// isWrapper says whether a chunk may be the first line of a form around others: (comment or #?(:clj and the like.
func isWrapper(pieces []piece, c chunk) bool {
	const few = 5
	if c.end-c.first > few {
		return false
	}
	for i := c.first; i < c.end; i++ {
		if pieces[i].line != pieces[c.first].line || pieces[i].kind == TokenClose {
			return false
		}
	}
	return true
}

// wrapperEnd gives the cut where a wrapper that starts at cut i ends: the first with more closers than openers. It is i where there
// is none.
func wrapperEnd(pieces []piece, cuts []chunk, i int, budget *int) int {
	for last := i + 1; last < len(cuts) && *budget > 0; last++ {
		depth := 0
		for _, p := range pieces[cuts[last].first:cuts[last].end] {
			*budget--
			switch p.kind {
			case TokenOpen:
				depth++
			case TokenClose:
				depth--
			}
		}
		if depth < 0 {
			return last
		}
	}
	return i
}

// pieceNesting follows delimiters and prefixes as nesting does, up to the first fault.
type pieceNesting struct {
	stack []pieceFrame
	fault bool
}

type pieceFrame struct {
	closer  byte
	need    uint8
	discard bool // makes no form
}

func (n *pieceNesting) feed(pieces []piece) {
	for i := range pieces {
		p := &pieces[i]
		switch {
		case p.kind == TokenOpen:
			n.stack = append(n.stack, pieceFrame{closer: closerOf(p.delim)})
			continue
		case p.kind == TokenClose:
			last := len(n.stack) - 1
			if last < 0 || n.stack[last].closer != p.delim {
				n.fault = true
				return
			}
			n.stack = n.stack[:last]
		case isPrefixKind(p.kind):
			n.stack = append(n.stack, pieceFrame{need: needOf(p.kind), discard: p.kind == TokenDiscard})
			continue
		}
		for last := len(n.stack) - 1; last >= 0 && n.stack[last].closer == 0; last-- {
			n.stack[last].need--
			if n.stack[last].need > 0 {
				break
			}
			discard := n.stack[last].discard
			n.stack = n.stack[:last]
			if discard {
				break
			}
		}
	}
}

func needOf(kind TokenKind) uint8 {
	if kind == TokenMeta || kind == TokenTag {
		return 2
	}
	return 1
}

// isHead says whether the i-th piece is the first one in a list.
func isHead(pieces []piece, i int) bool {
	return i > 0 && pieces[i].glued && pieces[i-1].kind == TokenOpen && pieces[i-1].delim == '('
}

// openerFor gives the opener of a closer.
func openerFor(closer byte) byte {
	switch closer {
	case ')':
		return '('
	case ']':
		return '['
	}
	return '{'
}
