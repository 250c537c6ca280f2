package clj

import (
	"cmp"
	"math"
	"slices"
)

// beam has the states of a search, and those after its next step. States with the same things open go on as one.
type beam struct {
	width  int // how many states there may be
	states []searchState
	next   []searchState
	least  float64      // what the best of next costs
	order  []int32      // of next, by cost
	table  []tableEntry // finds states in next by what is open
	round  uint32
}

// tableSize is a power of two, and more than the states that a round can add.
const tableSize = 4096

type tableEntry struct {
	round uint32
	index int32
}

// start leaves one state.
func (b *beam) start(width int, st searchState) {
	b.width = width
	b.states = append(b.states[:0], st)
	if b.table == nil {
		b.table = make([]tableEntry, tableSize)
	}
}

// begin makes room for the states after a step.
func (b *beam) begin() {
	b.round++
	b.next = b.next[:0]
	b.least = math.Inf(1)
}

// hopeless says whether a state that costs so much would be given up.
func (b *beam) hopeless(cost float64) bool { return cost > b.least+beamCost }

// add keeps a state. Where there is one with the same things open, the better of the two stays.
func (b *beam) add(st *searchState) {
	if b.hopeless(st.cost) {
		return
	}
	b.least = min(b.least, st.cost)
	h := uint64(fnvOffset)
	if st.top != nil {
		h = st.top.hash
	}
	const mask = tableSize - 1
	for at := (h >> 20) & mask; ; at = (at + 1) & mask {
		e := &b.table[at]
		if e.round != b.round {
			*e = tableEntry{b.round, int32(len(b.next))} //nolint:gosec // a few hundred
			b.next = append(b.next, *st)
			return
		}
		other := &b.next[e.index]
		if other.top == st.top || other.top != nil && st.top != nil && other.top.hash == st.top.hash {
			other.join(st)
			return
		}
	}
}

// join makes one state of two with the same things open: the better one, which remembers the other.
func (st *searchState) join(other *searchState) {
	better, worse := *st, other
	if other.cost < st.cost {
		better, worse = *other, st
	}
	if st.text == other.text {
		better.mass = min(st.mass, other.mass)
	} else {
		better.mass = both(st.mass, other.mass)
		if more := worse.cost - better.cost; more < better.margin {
			better.margin, better.rival = more, worse.edits
		}
	}
	*st = better
}

// both adds two likelihoods, given as negative logarithms.
func both(a, b float64) float64 {
	if a > b {
		a, b = b, a
	}
	if b-a > 40 {
		return a // the sum is the same
	}
	return a - math.Log1p(math.Exp(a-b))
}

// prune goes on with the best states, the best first.
func (b *beam) prune() {
	b.order = b.order[:0]
	for k := range b.next {
		if !b.hopeless(b.next[k].cost) {
			b.order = append(b.order, int32(k))
		}
	}
	slices.SortStableFunc(b.order, func(x, y int32) int { return cmp.Compare(b.next[x].cost, b.next[y].cost) })
	b.states = b.states[:0]
	for _, k := range b.order[:min(len(b.order), b.width)] {
		b.states = append(b.states, b.next[k])
	}
}
