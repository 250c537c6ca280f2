package clj

import (
	"math"
	"strings"
)

// search looks for the likeliest changes of a chunk. It goes through the pieces once with a bounded number of states, each a way to
// read what came so far: what is open, what was changed, and what that costs.
type search struct {
	walker
	*beam
	r       *repairer
	style   *style
	offset  int     // of the first piece in the text
	spread  float64 // more, for an error that may be anywhere in the chunk
	tail    int     // from this piece on there are only closers
	openers bool    // try to put in openers too
	pool    []searchEdit
}

// found is what a search found.
type found struct {
	changes []change
	doubt   float64  // how much the ways with another meaning weigh, from 0 to 1
	rival   []change // of the best of them
}

// usualPieces is how many pieces a form has in which an error costs what the constants say.
const usualPieces = 60

// search looks for the changes of a chunk.
func (r *repairer) search(c chunk) *search {
	n := c.end - c.first
	s := &search{
		walker: walker{src: r.src, pieces: r.pieces[c.first:c.end], wrapper: c.wrapper, frames: r.frames[:0]},
		pool:   r.pool[:0],
		beam:   r.beam, r: r, style: r.style, offset: c.first, spread: costSpread * math.Log(float64(n)/usualPieces), tail: n,
	}
	for s.tail > 0 && s.pieces[s.tail-1].kind == TokenClose {
		s.tail--
	}
	return s
}

func (s *search) run() found {
	width := min(max(beamWork/max(len(s.pieces), 1), beamLeast), beamWidth)
	s.start(width, searchState{sibling: -1, inner: -1, text: fnvOffset, margin: math.Inf(1)})
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

// gap closes forms before the i-th piece.
func (s *search) gap(i int) {
	if i == 0 {
		return
	}
	p, afterClose := &s.pieces[i], s.pieces[i-1].kind == TokenClose
	first, more, most := s.gapCosts(i)
	s.begin()
	for k := range s.states {
		st := s.states[k]
		st.fresh = st.fresh && afterClose
		s.add(&st)
		cost := first
		if st.fresh {
			cost = min(cost, more+costFreshMore)
		}
		for range most {
			closer := st.closer()
			if closer == 0 || !s.insert(&st, i, cost) {
				break
			}
			if !p.glued || p.kind != TokenClose || p.delim != closer { // else the same as one put in after it
				s.add(&st)
			}
			cost = more
		}
	}
	s.prune()
}

// gapCosts gives what the first closer and each further one that is put in before the i-th piece takes, and how many may be.
func (s *search) gapCosts(i int) (first, more float64, most int) {
	p, last := &s.pieces[i], &s.pieces[i-1]
	first, more, most = costInsertMid, costInsertMore+costMidMore, 2
	switch {
	case p.first && last.swallowed > 0:
		first, more, most = costSwallowed, costSwallowedMore, maxPops
	case p.first:
		first, more, most = costInsertAtLineEnd, costInsertMore, maxPops
	case p.kind == TokenClose:
		first, more, most = costInsertBefore, costInsertMore, 3
	case last.kind == TokenOpen && !p.glued:
		first = costInsertEmpty // nobody writes [ a]
	case p.glued || isPrefixKind(last.kind):
		first = costInsertGlued
	}
	return first + s.spread, more, most
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
		st := &s.states[k]
		s.add(st)
		if k < tried && !st.fresh && st.puts == 0 {
			for _, delim := range delims {
				s.openWith(*st, i, delim)
			}
		}
	}
	s.prune()
}

// openWith puts an opener in before the i-th piece.
func (s *search) openWith(st searchState, i int, delim byte) {
	p := &s.pieces[i]
	cost := costOpen + s.spread
	if p.kind == TokenClose {
		cost = costOpenEmpty + s.spread
	} else if delim == '(' && !isHead(s.pieces, i) {
		cost += s.r.headCost(p)
	}
	cost = s.r.before.insertCost(s.offset+i, delim, cost)
	if s.hopeless(st.cost + cost) {
		return
	}
	opener := piece{
		start: p.start, end: p.start + 1, kind: TokenOpen, delim: delim, first: p.first, col: p.left, left: p.left,
		indent: p.indent, line: p.line,
	}
	s.pay(&st, s.placeCost(&st, &opener, i))
	s.lineStarts(&st, &opener)
	s.push(&st, &opener, i, i)
	s.edit(&st, searchEdit{piece: i, at: p.start, inserted: delim, opener: -1}, cost)
	st.fresh, st.opened = false, p.kind != TokenClose
	st.puts++
	st.text = mix(st.text, uint64(delim))
	s.add(&st)
}

// insert closes the innermost form of a state before the i-th piece. It says false, and does nothing, where the state would be given
// up for it.
func (s *search) insert(st *searchState, i int, cost float64) bool {
	last := &s.pieces[i-1]
	e := searchEdit{piece: i, at: last.end, inserted: st.top.closer, opener: -1}
	if !st.top.put {
		e.opener = s.pieces[st.top.piece].start
	}
	cost = s.r.before.insertCost(s.offset+i, e.inserted, cost) + s.r.before.insertedCost(s.offset+i, s.openerOf(st), e.inserted, s.r.pieces)
	cost = s.editCost(st, &e, cost)
	if s.hopeless(st.cost + cost) {
		return false
	}
	s.edit(st, e, cost)
	s.closes(st, e.inserted, last.line)
	return true
}

// openerOf gives the piece of the innermost opener, -1 if it was put in.
func (s *search) openerOf(st *searchState) int {
	if st.top.put {
		return -1
	}
	return s.offset + int(st.top.piece)
}

// editCost is what an edit takes that takes so much alone.
func (s *search) editCost(st *searchState, e *searchEdit, alone float64) float64 {
	if moved(st.edits, e) {
		return min(alone, costMove)
	}
	return alone
}

// edit makes an edit in a state.
func (s *search) edit(st *searchState, e searchEdit, cost float64) {
	if len(s.pool) == cap(s.pool) {
		s.pool = make([]searchEdit, 0, slab)
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
	s.add(&st)
}

// stepCloser leaves a closer out, or takes it for the innermost opener, as it is or replaced.
func (s *search) stepCloser(st searchState, i int) {
	p := &s.pieces[i]
	remove := searchEdit{piece: i, gone: p.delim, at: p.start, removed: 1, opener: -1}
	if cost := s.editCost(&st, &remove, s.removeCost(&st, i)); !s.hopeless(st.cost + cost) {
		removed := st
		s.edit(&removed, remove, cost)
		s.add(&removed)
	}
	if st.closer() == 0 || isTwin(s.pieces, i) && st.removedAt(i-1) {
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
	s.add(&st)
}

// isTwin says whether the i-th piece is a closer like the one right before it. To take out the one or the other, or to put one more in
// before, between or after them, is the same repair. It counts once: it is the last of them that is put in or taken out.
func isTwin(pieces []piece, i int) bool {
	return i > 0 && pieces[i].glued && pieces[i].kind == TokenClose && pieces[i-1].kind == TokenClose &&
		pieces[i].delim == pieces[i-1].delim
}

// removedAt says whether the last edit of a state took out the i-th piece.
func (st *searchState) removedAt(i int) bool {
	return st.edits != nil && st.edits.gone != 0 && st.edits.piece == i
}

// finish closes what is open and gives the best way.
func (s *search) finish() found {
	s.begin()
	best, least := -1, math.Inf(1)
	for k := range s.states {
		st := s.states[k]
		s.closeAll(&st, false)
		if st.top == nil && !s.hopeless(st.cost) {
			s.add(&st)
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
		cost, more = costSwallowed, costSwallowedMore
	}
	if st.fresh && last.kind == TokenClose {
		cost = more
	}
	for first := true; st.closer() != 0; first = false {
		edits := st.edits
		if !s.insert(st, len(s.pieces), cost) {
			return
		}
		if !record && !first {
			st.edits = edits
		}
		cost = more
	}
}

// changesOf gives the edits that end with e, the first one first.
func changesOf(e *searchEdit) []change {
	n := 0
	for last := e; last != nil; last = last.before {
		n++
	}
	changes := make([]change, n)
	for ; e != nil; e = e.before {
		n--
		changes[n] = change{at: e.at, removed: e.removed, inserted: delimiterText(e.inserted), opener: e.opener}
	}
	return changes
}

// delimiterText gives a delimiter as text, "" for none.
func delimiterText(delim byte) string {
	const all = "()[]{}"
	if i := strings.IndexByte(all, delim); i >= 0 {
		return all[i : i+1]
	}
	return ""
}
