package clj

// frame is an opener or a prefix that waits for its end.
type frame struct {
	start, end int // of the token; the delimiter of an opener is its last byte
	kind       TokenKind
	closer     byte // what an opener waits for; 0 for a prefix
	need       uint8
	// reported marks an opener that an error has named already: a closer of the wrong kind came. Either that closer is one too many,
	// and the right one follows, or it was meant for this opener; in both cases one error says it all.
	reported bool
}

// faultKind says what is wrong with the nesting.
type faultKind uint8

const (
	unmatchedCloser  faultKind = iota // a closer, and nothing is open
	mismatchedCloser                  // a closer that is not the one the innermost opener waits for
	danglingPrefix                    // a closer where a prefix waits for its form
	unclosedOpener                    // the end of the text with an opener open
	unfinishedPrefix                  // the end of the text where a prefix waits for its form
	unfinishedToken                   // the end of the text within a string, regex or character
	tooDeep                           // more open than the bound; nothing after it was looked at
)

// fault is one thing wrong with the nesting, in byte offsets.
type fault struct {
	kind   faultKind
	at     int   // the closer, or the end of the text
	opener frame // what waits; for unfinishedToken the token; not set for unmatchedCloser
}

// nesting follows what is open through the tokens of a text and finds every delimiter that has no partner. It keeps going after a
// fault: a closer that fits no open delimiter is passed over; a closer that fits one further out closes all in between.
type nesting struct {
	src    []byte
	stack  []frame
	open   [256]int // how many openers on the stack wait for this closer: decides in one look whether a closer fits any
	max    int      // the most frames on the stack
	report func(fault)

	// Both are nil where only the balance matters.
	opened func(Token)      // a frame was put on the stack
	done   func(frame, int) // a frame was taken off the stack; its text ends before the offset
	form   func(Token)      // a token that is a whole form
}

// run reads all tokens. It stops early at a fault tooDeep.
func (n *nesting) run() {
	scanner := Scanner{src: n.src}
	for {
		t := scanner.Next()
		switch t.Kind {
		case TokenSpace, TokenComment:
		case TokenEOF:
			n.finish(t.End)
			return
		case TokenOpen:
			if !n.push(frame{start: t.Start, end: t.End, kind: t.Kind, closer: closerOf(n.src[t.End-1])}, t) {
				return
			}
		case TokenClose:
			n.close(t)
		case TokenAtom, TokenNumber, TokenString, TokenRegex, TokenChar, TokenUnreadable:
			if t.Incomplete {
				n.report(fault{unfinishedToken, t.End, frame{start: t.Start, end: t.End, kind: t.Kind}})
			}
			if n.form != nil {
				n.form(t)
			}
			n.formEnds(t.End)
		default:
			need := uint8(1)
			if t.Kind == TokenMeta || t.Kind == TokenTag {
				need = 2 // the metadata or the tag, then the form
			}
			if !n.push(frame{start: t.Start, end: t.End, kind: t.Kind, need: need}, t) {
				return
			}
		}
	}
}

func closerOf(opener byte) byte {
	switch opener {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

func (n *nesting) push(f frame, t Token) bool {
	if len(n.stack) >= n.max {
		n.report(fault{tooDeep, t.Start, f})
		return false
	}
	n.stack = append(n.stack, f)
	n.open[f.closer]++
	if n.opened != nil {
		n.opened(t)
	}
	return true
}

// pop takes the innermost frame off the stack and counts what it made as a form of the frame around it.
func (n *nesting) pop(end int) {
	if n.take(end) {
		n.formEnds(end)
	}
}

// take takes the innermost frame off the stack. It says whether that makes a form.
func (n *nesting) take(end int) bool {
	last := len(n.stack) - 1
	f := &n.stack[last]
	n.stack = n.stack[:last]
	n.open[f.closer]--
	if n.done != nil {
		n.done(*f, end)
	}
	return f.kind != TokenDiscard
}

// formEnds counts a form that ends before end.
func (n *nesting) formEnds(end int) {
	if depth := len(n.stack); depth > 0 && n.stack[depth-1].closer == 0 {
		n.feedPrefixes(end)
	}
}

// feedPrefixes gives the form that ends before end to the innermost frame, a prefix. Prefixes that have all they need end with it.
func (n *nesting) feedPrefixes(end int) {
	for depth := len(n.stack); depth > 0 && n.stack[depth-1].closer == 0; depth-- {
		n.stack[depth-1].need--
		if n.stack[depth-1].need > 0 || !n.take(end) {
			return
		}
	}
}

func (n *nesting) close(t Token) {
	closer := n.src[t.Start]
	fits := n.open[closer] > 0
	for len(n.stack) > 0 {
		top := &n.stack[len(n.stack)-1]
		switch {
		case top.closer == closer:
			n.pop(t.End)
			return
		case top.closer == 0:
			n.report(fault{danglingPrefix, t.Start, *top})
			n.pop(t.Start)
		case !fits:
			n.report(fault{mismatchedCloser, t.Start, *top})
			top.reported = true
			return
		default:
			if !top.reported {
				n.report(fault{mismatchedCloser, t.Start, *top})
			}
			n.pop(t.Start)
		}
	}
	n.report(fault{kind: unmatchedCloser, at: t.Start})
}

// finish ends the text: what is still open is a fault, innermost first.
func (n *nesting) finish(end int) {
	for len(n.stack) > 0 {
		top := n.stack[len(n.stack)-1]
		switch {
		case top.closer == 0:
			n.report(fault{unfinishedPrefix, end, top})
		case !top.reported:
			n.report(fault{unclosedOpener, end, top})
		}
		n.pop(end)
	}
}
