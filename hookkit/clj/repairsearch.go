package clj

import (
	"cmp"
	"math"
	"slices"
)

// What an error costs: negative logarithms of how likely each is. A further one at the same place is cheaper.
const (
	costError           = 2.0 // part of all that follow: errors are rare
	costInsertAtEnd     = 1.5 + costError
	costInsertAtLineEnd = 5.0 + costError
	costInsertBefore    = 5.5 + costError // before a closer
	costInsertMid       = 6.0 + costError
	costInsertGlued     = 10.0 + costError
	costInsertEmpty     = 2.0 + costError // right after an opener that a space follows
	costInsertMore      = 2.0
	costSwallowed       = 1.5 + costError // at a line end with closers in its comment
	costRemove          = 5.5 + costError
	costRemoveMid       = 5.0 + costError
	costRemoveUnmatched = 4.0 + costError // nothing is open
	costRemoveAtEnd     = 2.5 + costError // the same where only closers follow
	costSpread          = 1.0             // for each power of e that a chunk has more pieces than usual: an error may be at any of them
	costRemoveMore      = 0.2
	costReplace         = 4.5 + costError
	costMove            = 3.0 // the second edit of two that move a closer
	costReplaceMore     = 0.0
	costOpen            = 6.0 + costError
	costOpenEmpty       = 2.0 + costError // right before a closer that stands after a space
	costRemoveAfterWord = 2.5             // more, for a closer that follows no other
	costMarkedWord      = 4.0             // metadata on what cannot have any

	costTopLevelSibling  = 5.0
	costTopLevelIndented = 8.0
	costTopLevelForm     = 2.0
	costOddMap           = 4.0
	costCloserElsewhere  = 0.5 // a closer that starts a line and stands neither under its opener nor under the line of it
)

// The bounds of the search, and how much doubt is too much.
const (
	beamWidth      = 48
	beamWork       = 400_000 // pieces times states: a longer chunk gets fewer states
	beamLeast      = 4
	beamCost       = 18.0 // a state that costs so much more than the best is given up
	maxPops        = 12   // closers that are inserted at one place within a chunk
	maxDoubt       = 0.45 // the most that the repairs with another meaning may weigh together
	maxDoubtOpener = 0.15 // the same where an opener was lost
	maxDoubtSure   = 0.05
)

// search looks for the likeliest changes of a chunk. It goes through the pieces once with a bounded number of states, each a way to
// read what came so far: what is open, what was changed, and what that costs. States with the same things open go on as one.
type search struct {
	walker
	r       *repairer
	style   *style
	offset  int // of the first piece in the text
	width   int
	spread  float64 // more, for an error that may be anywhere in the chunk
	tail    int     // from this piece on there are only closers
	openers bool    // try to put in openers too
	states  []searchState
	next    []searchState
	table   []tableEntry // finds states in next by what is open
	round   uint32
	pool    []searchEdit
}

// tableSize is a power of two, and more than the states that a round can add.
const tableSize = 4096

type tableEntry struct {
	round uint32
	index int32
}

// found is what a search found.
type found struct {
	changes []change
	doubt   float64  // how much the ways with another meaning weigh, from 0 to 1
	rival   []change // of the best of them
}

func newSearch(r *repairer, c chunk) *search {
	n := c.end - c.first
	width := min(max(beamWork/max(n, 1), beamLeast), beamWidth)
	tail := n
	for tail > 0 && r.pieces[c.first+tail-1].kind == TokenClose {
		tail--
	}
	const usual = 60
	return &search{
		spread: costSpread * math.Log(float64(n)/usual), tail: tail,
		walker: walker{src: r.src, pieces: r.pieces[c.first:c.end], wrapper: c.wrapper},
		r:      r, style: r.style, offset: c.first, width: width, table: make([]tableEntry, tableSize),
	}
}

func (s *search) run() found {
	s.states = append(s.states[:0], searchState{sibling: -1, text: fnvOffset, margin: math.Inf(1)})
	for i := range s.pieces {
		s.gap(i)
		if s.openers {
			s.open(i)
		}
		s.begin()
		for k := range s.states {
			s.step(s.states[k], i)
		}
		s.prune()
	}
	return s.finish()
}

func (s *search) begin() {
	s.round++
	s.next = s.next[:0]
}

// add keeps a state. Where there is one with the same things open, the better of the two stays.
func (s *search) add(st searchState) {
	h := uint64(fnvOffset)
	if st.top != nil {
		h = st.top.hash
	}
	const mask = tableSize - 1
	for at := (h >> 20) & mask; ; at = (at + 1) & mask {
		e := &s.table[at]
		if e.round != s.round {
			*e = tableEntry{s.round, int32(len(s.next))} //nolint:gosec // a few hundred
			s.next = append(s.next, st)
			return
		}
		other := &s.next[e.index]
		if other.top != st.top && (other.top == nil || st.top == nil || other.top.hash != st.top.hash) {
			continue
		}
		better, worse := *other, st
		if st.cost < other.cost {
			better, worse = st, *other
		}
		if other.text == st.text {
			better.mass = min(other.mass, st.mass)
		} else {
			better.mass = both(other.mass, st.mass)
			if more := worse.cost - better.cost; more < better.margin {
				better.margin, better.rival = more, worse.edits
			}
		}
		*other = better
		return
	}
}

// both adds two likelihoods, given as negative logarithms.
func both(a, b float64) float64 {
	if a > b {
		a, b = b, a
	}
	return a - math.Log1p(math.Exp(a-b))
}

// prune keeps the best states.
func (s *search) prune() {
	slices.SortStableFunc(s.next, func(a, b searchState) int { return cmp.Compare(a.cost, b.cost) })
	n := min(len(s.next), s.width)
	for n > 1 && s.next[n-1].cost > s.next[0].cost+beamCost {
		n--
	}
	s.states, s.next = s.next[:n], s.states
}

// gap closes forms before the i-th piece.
func (s *search) gap(i int) {
	if i == 0 {
		return
	}
	p, last := &s.pieces[i], &s.pieces[i-1]
	first, more, pops := costInsertMid, costInsertMore+2, 2
	switch {
	case p.first && last.swallowed > 0:
		first, more, pops = costSwallowed, 0.2, maxPops
	case p.first:
		first, more, pops = costInsertAtLineEnd, costInsertMore, maxPops
	case p.kind == TokenClose:
		first, more, pops = costInsertBefore, costInsertMore, 3
	case last.kind == TokenOpen && !p.glued:
		first = costInsertEmpty // nobody writes [ a]
	case p.glued || isPrefixKind(last.kind):
		first = costInsertGlued
	}
	first += s.spread
	s.begin()
	for k := range s.states {
		st := s.states[k]
		st.fresh = st.fresh && last.kind == TokenClose
		s.add(st)
		cost := first
		if st.fresh {
			cost = min(cost, more+0.5)
		}
		for range pops {
			if st.top == nil || st.top.closer == 0 {
				break
			}
			s.insert(&st, i, cost)
			s.add(st)
			cost = more
		}
	}
	s.prune()
}

// tried is how many states try to put in an opener before a piece: those with the best chances.
const tried = 3

// open puts openers in before the i-th piece.
func (s *search) open(i int) {
	p := &s.pieces[i]
	delims := []byte("([{")
	if p.kind == TokenClose {
		if p.glued || p.first {
			return
		}
		delims = []byte{openerFor(p.delim)}
	}
	s.begin()
	for k := range s.states {
		s.add(s.states[k])
		if k >= tried || s.states[k].fresh || s.states[k].puts > 0 {
			continue
		}
		for _, delim := range delims {
			st := s.states[k]
			opener := piece{
				start: p.start, end: p.start + 1, kind: TokenOpen, delim: delim, first: p.first, col: p.left, left: p.left,
				indent: p.indent, line: p.line,
			}
			s.pay(&st, s.placeCost(&st, &opener, i))
			s.lineStarts(&st, &opener)
			s.push(&st, &opener, i, i)
			cost := costOpen + s.spread
			if p.kind == TokenClose {
				cost = costOpenEmpty + s.spread
			}
			s.edit(&st, searchEdit{piece: i, at: p.start, inserted: delim, opener: -1}, s.r.before.insertCost(s.offset+i, delim, cost))
			st.fresh, st.opened = false, p.kind != TokenClose
			st.puts++
			st.text = mix(st.text, uint64(delim))
			s.add(st)
		}
	}
	s.prune()
}

// insert closes the innermost form of a state before the i-th piece.
func (s *search) insert(st *searchState, i int, cost float64) {
	last := &s.pieces[i-1]
	closer := st.top.closer
	cost = s.r.before.insertCost(s.offset+i, closer, cost) + s.r.before.insertedCost(s.openerOf(st))
	opener := -1
	if !st.top.put {
		opener = s.pieces[st.top.piece].start
	}
	s.edit(st, searchEdit{piece: i, at: last.end, inserted: closer, opener: opener}, cost)
	s.closes(st, closer, last.line)
}

// openerOf gives the piece of the innermost opener, -1 if it was put in.
func (s *search) openerOf(st *searchState) int {
	if st.top.put {
		return -1
	}
	return s.offset + int(st.top.piece)
}

func (s *search) edit(st *searchState, e searchEdit, cost float64) {
	if len(s.pool) == cap(s.pool) {
		s.pool = make([]searchEdit, 0, slab)
	}
	if moved(st.edits, &e) {
		cost = min(cost, costMove)
	}
	e.before = st.edits
	s.pool = append(s.pool, e)
	st.edits = &s.pool[len(s.pool)-1]
	st.fresh = true
	st.shift -= int32(e.removed) //nolint:gosec // a delimiter
	if e.inserted != 0 {
		st.shift++
	}
	s.pay(st, cost)
}

// moved says whether two edits together move a closer to a place nearby.
func moved(a, b *searchEdit) bool {
	const near = 12
	if a == nil || b.piece-a.piece > near || a.removed+b.removed != 1 {
		return false
	}
	return a.gone != 0 && a.gone == b.inserted || b.gone != 0 && b.gone == a.inserted
}

func (s *search) pay(st *searchState, cost float64) {
	st.cost += cost
	st.mass += cost
}

// closes leaves the innermost form of a state by a closer. line is the one of the piece before it.
func (s *search) closes(st *searchState, closer byte, line int32) {
	s.pay(st, s.style.closeCost(st, line))
	if st.top.shape == inMap && st.count%2 == 1 {
		s.pay(st, costOddMap)
	}
	st.text = mix(st.text, uint64(closer))
	st.pop()
	s.formEnds(st)
}

func (s *search) lineBefore(i int) int32 { return s.pieces[max(i-1, 0)].line }

// step moves a state over the i-th piece in all ways.
func (s *search) step(st searchState, i int) {
	p := &s.pieces[i]
	if p.kind == TokenClose {
		s.stepCloser(st, i)
		return
	}
	st.fresh = false
	if st.opened {
		st.opened = false
		inner := *p
		inner.first = false
		s.pay(&st, s.placeCost(&st, &inner, i))
	} else {
		s.pay(&st, s.placeCost(&st, p, i))
		s.lineStarts(&st, p)
	}
	s.take(&st, i)
	st.text = mix(st.text, uint64(i)<<8) //nolint:gosec // an index
	s.add(st)
}

// placeCost is what it takes for a form to start with p, which is the i-th piece or an opener before it.
func (s *search) placeCost(st *searchState, p *piece, i int) float64 {
	if st.afterPrefix() {
		return s.prefixedCost(st, p)
	}
	if st.top != nil {
		line := s.lineBefore(i)
		if st.top.put && int(st.top.piece) == i {
			line = p.line
		}
		c := s.style.formCost(st, p, line)
		if p.first {
			c += s.style.indentCost(st.top, st.sibling, p.left)
		}
		return c
	}
	switch {
	case i == 0:
		return 0
	case !p.first:
		return costTopLevelSibling
	case p.left > s.pieces[0].left:
		return costTopLevelIndented
	}
	return costTopLevelForm // no form starts here that the chunks do not know of
}

// prefixedCost is what it takes for the form that starts with p to come after a prefix.
func (s *search) prefixedCost(st *searchState, p *piece) float64 {
	cost := 0.0
	if f := st.opener(); p.first && f != nil {
		cost = s.style.indentCost(f, st.top.sibling, p.left)
	}
	if s.pieces[st.top.piece].kind == TokenMeta && st.top.need == 1 {
		if c := classOf(p); c == aKeyword || c == aLiteral {
			cost += costMarkedWord
		}
	}
	return cost
}

// removeCost is what it takes for the closer at i to be one too many.
func (s *search) removeCost(st *searchState, i int) float64 {
	cost := costRemoveMid + s.spread
	switch {
	case st.top == nil && i >= s.tail:
		cost = costRemoveAtEnd
	case st.top == nil:
		cost = costRemoveUnmatched + s.spread
	case i+1 == len(s.pieces) || s.pieces[i+1].first || s.pieces[i+1].kind == TokenClose:
		cost = costRemove + s.spread
	}
	if i > 0 && s.pieces[i-1].kind != TokenClose {
		cost += costRemoveAfterWord
	}
	if st.fresh && !s.pieces[i].first {
		cost = min(cost, costRemoveMore)
	}
	return s.r.before.removeCost(s.offset+i, cost)
}

// stepCloser leaves a closer out, or takes it for the innermost opener, as it is or replaced.
func (s *search) stepCloser(st searchState, i int) {
	p := &s.pieces[i]
	removed := st
	s.edit(&removed, searchEdit{piece: i, gone: p.delim, at: p.start, removed: 1, opener: -1}, s.removeCost(&st, i))
	s.add(removed)
	if st.top == nil || st.top.closer == 0 {
		return
	}
	if p.first && p.left != st.top.col && p.left != st.top.indent {
		s.pay(&st, costCloserElsewhere)
	}
	s.pay(&st, s.r.before.closeCost(s.offset+i, s.openerOf(&st)))
	closer := st.top.closer
	if closer != p.delim {
		cost := costReplace + s.spread
		if st.fresh && !p.first {
			cost = costReplaceMore
		}
		cost = s.r.before.replaceCost(s.offset+i, closer, cost)
		s.edit(&st, searchEdit{piece: i, at: p.start, removed: 1, inserted: closer, opener: -1}, cost)
	}
	s.closes(&st, closer, s.lineBefore(i))
	s.add(st)
}

// finish closes what is open and gives the best way.
func (s *search) finish() found {
	s.begin()
	best, least := -1, math.Inf(1)
	for k := range s.states {
		st := s.states[k]
		s.closeAll(&st, false)
		if st.top == nil {
			s.add(st)
			if st.cost < least {
				best, least = k, st.cost
			}
		}
	}
	if best < 0 {
		return found{doubt: 1}
	}
	end := s.next[0] // all others went on as one with it
	st := s.states[best]
	s.closeAll(&st, true)
	return found{doubt: 1 - math.Exp(end.mass-end.cost), changes: changesOf(st.edits), rival: changesOf(end.rival)}
}

// closeAll closes what is open at the end of the chunk. It keeps the edits only where record says so: there may be many.
func (s *search) closeAll(st *searchState, record bool) {
	last := &s.pieces[len(s.pieces)-1]
	cost, more := costInsertAtEnd, costInsertMore/2
	if last.swallowed > 0 {
		cost, more = costSwallowed, 0.2
	}
	if st.fresh && last.kind == TokenClose {
		cost = more
	}
	for first := true; st.top != nil && st.top.closer != 0; first = false {
		edits := st.edits
		s.insert(st, len(s.pieces), cost)
		if !record && !first {
			st.edits = edits
		}
		cost = more
	}
}

func changesOf(e *searchEdit) []change {
	var changes []change
	for ; e != nil; e = e.before {
		c := change{at: e.at, removed: e.removed, opener: e.opener}
		if e.inserted != 0 {
			c.inserted = string(rune(e.inserted))
		}
		changes = append(changes, c)
	}
	slices.Reverse(changes)
	return changes
}
