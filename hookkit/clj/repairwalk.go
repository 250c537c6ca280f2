package clj

import "bytes"

// searchFrame is an opener or a prefix that is open in some states of the search. Frames are shared between states and never changed.
type searchFrame struct {
	parent  *searchFrame
	opener  *searchFrame // the innermost opener: this one, or the one that its prefixes are in
	hash    uint64       // of this frame and all around it
	head    uint64       // hash of the symbol at the start of a list; 0 for none
	piece   int32
	col     int32 // of the delimiter
	indent  int32 // where its line starts
	second  int32 // the column of the second form if it is on the same line, else -1
	line    int32
	closer  byte // 0 for a prefix
	need    uint8
	discard bool
	put     bool // the opener is not in the text; piece is the one after it
	wraps   bool // lines in it start where its own line does
	shape   shape
	lead    lead

	threads  uint8 // what it does to the forms in it, as a threading macro
	threaded uint8 // what is done to it
	isSpec   bool  // starts with a keyword

	// What the frame around it had when this one was opened.
	count   int32
	sibling int32
	last    class
	earlier class
}

// searchState is a way to read the pieces so far.
type searchState struct {
	top       *searchFrame
	lineFrame *searchFrame // the innermost opener where the line starts
	count     int32        // forms in the innermost frame so far
	sibling   int32        // the column of the last line that starts in the innermost frame, -1 for none
	inner     int32        // where another line would stand in the form that was closed last there, -1 after a line has started since
	shift     int32        // how far the edits on this line move what follows on it
	last      class        // of the last form in the innermost frame
	earlier   class        // of the one before it

	fresh  bool    // an edit was made at this gap: another one there is cheap
	opened bool    // an opener was put in right before the next piece
	puts   uint8   // how many openers were put in
	cost   float64 // the negative logarithm of how likely this way is
	mass   float64 // the same for all ways together that led here
	text   uint64  // hash of the pieces as the repair leaves them: equal hashes mean the same thing
	edits  *searchEdit
	rival  *searchEdit // the edits of the best way with another meaning that led here
	margin float64     // how much more the rival costs
}

// searchEdit is a change that a state has made, and those before it.
type searchEdit struct {
	before   *searchEdit
	piece    int  // it is at this piece or before it
	gone     byte // the closer that was removed
	at       int
	removed  int
	inserted byte
	opener   int // the offset of what an inserted closer closes, -1 for other changes
}

// pop leaves the innermost frame.
func (st *searchState) pop() {
	if f := st.top; f.closer != 0 {
		switch {
		case st.sibling >= 0:
			st.inner = st.sibling
		case f.second >= 0:
			st.inner = f.second
		default:
			st.inner = f.col + 1
		}
	}
	st.count, st.sibling, st.last, st.earlier = st.top.count, st.top.sibling, st.top.last, st.top.earlier
	st.top = st.top.parent
}

// opener gives the innermost opener, whatever prefixes are in it.
func (st *searchState) opener() *searchFrame {
	if st.top == nil {
		return nil
	}
	return st.top.opener
}

// closer gives what would close the innermost frame, 0 where there is none or a prefix waits for its form.
func (st *searchState) closer() byte {
	if st.top == nil {
		return 0
	}
	return st.top.closer
}

func (st *searchState) afterPrefix() bool { return st.top != nil && st.top.closer == 0 }

// walker moves states over pieces. It allocates frames in slabs.
type walker struct {
	src    []byte
	pieces []piece
	frames []searchFrame
	// wrapper is how many pieces at the start open forms whose lines start where their own line does, as in a (comment around others.
	wrapper int
}

const slab = 256

func (w *walker) newFrame(f searchFrame) *searchFrame {
	if len(w.frames) == cap(w.frames) {
		w.frames = make([]searchFrame, 0, slab)
	}
	w.frames = append(w.frames, f)
	return &w.frames[len(w.frames)-1]
}

// lineStarts notes the place of a line in its form.
func (w *walker) lineStarts(st *searchState, p *piece) {
	if !p.first {
		return
	}
	st.lineFrame = st.opener()
	st.shift = 0
	st.inner = -1
	if !st.afterPrefix() {
		st.sibling = p.left
	}
}

// take moves a state over a piece that is no closer.
func (w *walker) take(st *searchState, i int) {
	p := &w.pieces[i]
	switch {
	case p.kind == TokenOpen:
		w.push(st, p, i, i+1)
	case isPrefixKind(p.kind):
		w.push(st, p, i, len(w.pieces))
	default:
		if !st.afterPrefix() {
			st.earlier, st.last = st.last, classOf(p)
		}
		w.formEnds(st)
	}
}

// push opens a frame with the opener or prefix p, which is the i-th piece or before it. Its first form starts with the piece first.
func (w *walker) push(st *searchState, p *piece, i, first int) {
	if !st.afterPrefix() {
		st.earlier, st.last = st.last, classOf(p)
	}
	f := searchFrame{
		parent: st.top, piece: int32(i), col: p.col + st.shift, indent: p.indent, second: -1, line: p.line, //nolint:gosec // an index
		count: st.count, sibling: st.sibling, last: st.last, earlier: st.earlier, hash: fnvOffset,
	}
	if st.top != nil {
		f.hash = st.top.hash
	}
	f.hash = mix(f.hash, uint64(i)<<8|uint64(p.delim)) //nolint:gosec // an index
	if p.kind == TokenOpen {
		f.closer = closerOf(p.delim)
		f.wraps = i < w.wrapper
		f.put = first == i
		if f.closer == ')' && first < len(w.pieces) && w.pieces[first].kind == TokenAtom {
			text := w.src[w.pieces[first].start:w.pieces[first].end]
			f.head, f.lead = headHash(text), leadOf(text)
			f.isSpec = text[0] == ':'
			if f.lead == leadsThread {
				f.threads = threadsOf(text)
			}
		}
		f.shape = shapeOf(st, p, f.lead)
		if around := st.opener(); around != nil && around.lead == leadsThread {
			switch {
			case around.threads == 0 || st.count < 1:
				f.head = 0 // there may be an argument that comes from elsewhere
			case st.count > 1:
				f.threaded = around.threads
			}
		}
		if f.second = w.secondColumn(p, first); f.second >= 0 {
			f.second += st.shift
		}
	} else {
		f.need, f.discard = needOf(p.kind), p.kind == TokenDiscard
	}
	f.opener = st.opener()
	st.top = w.newFrame(f)
	if f.closer != 0 {
		st.top.opener = st.top
	}
	st.count, st.sibling, st.inner, st.last, st.earlier = 0, -1, -1, aNothing, aNothing
}

// secondColumn gives the column of the second form after an opener if it is on the same line, else -1.
func (w *walker) secondColumn(opener *piece, first int) int32 {
	if first+1 >= len(w.pieces) {
		return -1
	}
	a, b := &w.pieces[first], &w.pieces[first+1]
	if a.line != opener.line || b.line != opener.line || b.kind == TokenClose || a.kind < TokenAtom || a.kind > TokenUnreadable {
		return -1
	}
	return b.left
}

// formEnds counts a form in the innermost frame. Prefixes that have all they need end with it.
func (w *walker) formEnds(st *searchState) {
	for st.top != nil && st.top.closer == 0 {
		if st.top.need > 1 {
			f := *st.top
			f.need--
			f.hash = mix(f.hash, 1)
			st.top = w.newFrame(f)
			return
		}
		discard := st.top.discard
		st.pop()
		if discard {
			return
		}
	}
	st.count++
}

// lead says what the head of a list makes of a vector in it.
type lead uint8

const (
	leadsNone       lead = iota
	leadsParameters      // or a vector in a list in it: a method
	leadsFunctions       // of lists like those
	leadsBindings
	leadsThread
)

func leadOf(head []byte) lead {
	switch string(head) {
	case "let", "loop", "for", "doseq", "binding", "with-open", "if-let", "when-let", "if-some", "when-some", "dotimes", "with-redefs",
		"with-local-vars", "when-first":
		return leadsBindings
	case "fn", "fn*", "bound-fn", "reify", "proxy", "extend-type", "extend-protocol":
		return leadsParameters
	case "letfn":
		return leadsFunctions
	case "->", "->>", "some->", "some->>", "cond->", "cond->>", "doto", "..", "as->":
		return leadsThread
	case "def", "defproject":
		return leadsNone
	}
	if bytes.HasPrefix(head, []byte("def")) {
		return leadsParameters
	}
	return leadsNone
}

// What a threading macro does to the forms in it: they have one argument more, as the first or as the last.
const (
	threadedFirst uint8 = 1
	threadedLast  uint8 = 2
)

// threadsOf says what a threading macro does to all the forms in it but the first, 0 where they differ.
func threadsOf(head []byte) uint8 {
	switch string(head) {
	case "->", "some->", "doto":
		return threadedFirst
	case "->>", "some->>":
		return threadedLast
	}
	return 0
}

// holdsFunctions says whether this is the vector of a letfn.
func (f *searchFrame) holdsFunctions() bool {
	return f.closer == ']' && f.parent != nil && f.parent.lead == leadsFunctions
}

// shapeOf gives the shape of the form that p opens in a state; head is what the first word in it says.
func shapeOf(st *searchState, p *piece, head lead) shape {
	f := st.opener()
	switch p.delim {
	case '(':
		switch {
		case head == leadsBindings:
			return inLet
		case head == leadsParameters:
			return inDefinition
		case f != nil && (f.shape == inDefinition || f.holdsFunctions()):
			return inMethod
		}
		return inList
	case '{':
		if p.end-p.start == 2 {
			return inSet
		}
		return inMap
	}
	switch {
	case f == nil:
		return inVector
	case f.closer == ']':
		return inRow
	case f.closer != ')':
		return inVector
	case f.isSpec:
		return inSpec
	case f.lead == leadsBindings && st.count == 1:
		return inBindings
	case f.lead == leadsParameters, st.count == 0 && f == st.top:
		return inParameters
	case st.count == 1 && f == st.top && f.shape == inMethod:
		return inParameters
	}
	return inVector
}
