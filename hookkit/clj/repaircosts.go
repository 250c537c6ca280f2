package clj

import (
	"bytes"
	"math"
)

// What an error costs: negative logarithms of how likely each is. A further one at the same place is cheaper.
const (
	costError           = 2.0 // part of all that follow: errors are rare
	costInsertAtEnd     = 1.5 + costError
	costInsertAtLineEnd = 5.0 + costError
	costInsertBefore    = 8.5 + costError // before a closer
	costInsertMid       = 6.0 + costError
	costInsertGlued     = 10.0 + costError
	costInsertEmpty     = 2.0 + costError // right after an opener that a space follows
	costInsertMore      = 1.0
	costMidMore         = 2.0 // more, for each further one in the middle of a line
	costFreshMore       = 0.5 // more, where a closer was removed or replaced right before
	costSwallowedMore   = 0.2
	costSwallowed       = 1.5 + costError // at a line end with closers in its comment
	costRemove          = 5.5 + costError
	costRemoveMid       = 4.0 + costError
	costRemoveUnmatched = 4.0 + costError // nothing is open
	costRemoveAtEnd     = 2.5 + costError // the same where only closers follow
	costSpread          = 1.0             // for each power of e that a chunk has more pieces than usual: an error may be at any of them
	costRemoveMore      = 0.2
	costReplace         = 4.5 + costError
	costMove            = 5.0 // the second edit of two that move a closer
	costReplaceMore     = 0.0
	costOpen            = 6.5 + costError
	costOpenEmpty       = 2.0 + costError // right before a closer that stands after a space
	costRemoveAfterWord = 2.5             // more, for a closer that follows no other
	costMarkedWord      = 4.0             // metadata on what cannot have any

	costTopLevelSibling  = 5.0
	costTopLevelIndented = 11.0
	costTopLevelForm     = 2.0
	costNamedTwice       = 4.0 // a parameter with the name of another
	costOddMap           = 4.0
	costCloserElsewhere  = 0.5 // a closer that starts a line and stands neither under its opener nor under the line of it
)

// The bounds of the search, and how much doubt is too much.
const (
	beamWidth      = 48
	beamWork       = 400_000 // pieces times states: a longer chunk gets fewer states
	beamLeast      = 2
	beamCost       = 18.0 // a state that costs so much more than the best is given up
	maxPops        = 12   // closers that are inserted at one place within a chunk
	maxDoubt       = 0.40 // the most that the repairs with another meaning may weigh together
	maxDoubtOpener = 0.08 // the same where an opener was lost
	maxDoubtSure   = 0.05
)

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
		if st.top.shape == inParameters && s.isNamedTwice(st, i) {
			c += costNamedTwice
		}
		if p.first {
			c += s.style.indentCost(st.top, st.sibling, st.inner, p.left)
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

// isNamedTwice says whether the word at i stands among the parameters before it already.
func (s *search) isNamedTwice(st *searchState, i int) bool {
	const near = 8
	word := s.src[s.pieces[i].start:s.pieces[i].end]
	if s.pieces[i].kind != TokenAtom || word[0] == '_' {
		return false
	}
	for k := i - 1; k > int(st.top.piece) && k > i-near; k-- {
		if bytes.Equal(s.src[s.pieces[k].start:s.pieces[k].end], word) {
			return true
		}
	}
	return false
}

// prefixedCost is what it takes for the form that starts with p to come after a prefix.
func (s *search) prefixedCost(st *searchState, p *piece) float64 {
	cost := 0.0
	if f := st.opener(); p.first && f != nil {
		cost = s.style.indentCost(f, st.top.sibling, -1, p.left)
	} else if p.first && f == nil && p.left > s.pieces[0].left {
		cost = costTopLevelIndented
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

// headCost is what more it takes for the word of a piece that starts no list to start one: much where it never does so elsewhere in
// the text, less than nothing where it always does.
func (r *repairer) headCost(p *piece) float64 {
	if p.kind != TokenAtom || p.keyword {
		return 0
	}
	if !r.rolesKnown {
		r.rolesKnown = true
		r.style.learnRoles(r.src, r.pieces)
	}
	w := r.style.word(wordHash(r.src[p.start:p.end]))
	return math.Log((max(w.roles[1]-1, 0) + seldomRole) / (w.roles[0] + seldomRole)) // without the place in question
}

const seldomRole = 1
