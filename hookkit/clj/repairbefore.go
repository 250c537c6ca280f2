package clj

import (
	"bytes"
	"slices"
)

// before has what the file before the edit says about the pieces of the text. The edit changed some of them; the closers around them
// still close what they closed.
type before struct {
	pieces []piece // of the file before

	kept    []bool   // by piece of the text: it was there before
	closer  []int32  // by opener: the piece that closed it before, if both are still there, else -1
	run     []int32  // by piece: the first of the run of equal closers that it is in
	lost    [][]byte // by piece: the delimiters that the edit took away before it; one more entry for the end
	changed []bool   // by piece: the edit put in or took away something right before it; one more entry for the end
}

// maxDifferences bounds the work of finding what an edit changed. Beyond it all that is between the first and the last change counts as
// changed.
const maxDifferences = 1000

// fileBefore gives the file before the edit, nil where it is not known.
func fileBefore(src []byte, opts RepairOptions) []byte {
	f := opts.Focus
	if opts.Before == nil && opts.OldFragment != nil && f.Start >= 0 && f.Start < f.End && f.End <= len(src) {
		return slices.Concat(src[:f.Start], opts.OldFragment, src[f.End:])
	}
	return opts.Before
}

// compare finds what an edit changed.
func compare(src []byte, pieces []piece, old []byte) *before {
	b := &before{
		pieces: piecesOf(old),
		kept:   make([]bool, len(pieces)), closer: make([]int32, len(pieces)), run: make([]int32, len(pieces)),
		lost: make([][]byte, len(pieces)+1), changed: make([]bool, len(pieces)+1),
	}
	same := func(i, j int) bool {
		p, q := &pieces[i], &b.pieces[j]
		return p.kind == q.kind && bytes.Equal(src[p.start:p.end], old[q.start:q.end])
	}
	partner := make([]int32, len(b.pieces)) // by old piece: the piece of the text, else -1
	for j := range partner {
		partner[j] = -1
	}
	keep := func(i, j int) {
		b.kept[i] = true
		partner[j] = int32(i) //nolint:gosec // an index
	}
	first, end, oldEnd := 0, len(pieces), len(b.pieces)
	for ; first < end && first < oldEnd && same(first, first); first++ {
		keep(first, first)
	}
	for ; end > first && oldEnd > first && same(end-1, oldEnd-1); end, oldEnd = end-1, oldEnd-1 {
		keep(end-1, oldEnd-1)
	}
	for _, pair := range common(end-first, oldEnd-first, func(i, j int) bool { return same(first+i, first+j) }) {
		keep(first+pair[0], first+pair[1])
	}
	b.slide(pieces, partner)
	b.findLost(pieces, partner)
	b.findPairs(partner)
	for i := range pieces {
		if isTwin(pieces, i) {
			b.run[i] = b.run[i-1]
		}
	}
	return b
}

// slide makes the last ones of a run of equal closers those that the edit put in or took away, as the search does.
func (b *before) slide(pieces []piece, partner []int32) {
	was := make([]int32, len(pieces)) // by piece of the text: the old piece, -1 for none
	for i := range was {
		was[i] = -1
	}
	toFront(b.pieces, partner)
	for j, i := range partner {
		if i >= 0 {
			was[i] = int32(j)
		}
	}
	toFront(pieces, was)
	for i, j := range was {
		b.kept[i] = j >= 0
		if j >= 0 {
			partner[j] = int32(i)
		}
	}
}

// toFront moves the partners of each run of equal closers to the first ones of it.
func toFront(pieces []piece, partner []int32) {
	for first := 0; first < len(pieces); {
		end := first + 1
		for end < len(pieces) && isTwin(pieces, end) {
			end++
		}
		next := first
		for i := first; i < end; i++ {
			if p := partner[i]; p >= 0 {
				partner[i] = -1
				partner[next] = p
				next++
			}
		}
		first = end
	}
}

// findLost finds where the edit put in or took away something. A delimiter that it took away was before or after what it put in there
// instead, as it stood before or after the words that it took away there, or in any of both places.
func (b *before) findLost(pieces []piece, partner []int32) {
	for i := range pieces {
		if !b.kept[i] {
			b.changed[i], b.changed[i+1] = true, true
		}
	}
	next := len(pieces)
	for end := len(b.pieces); end > 0; end-- {
		if partner[end-1] >= 0 {
			next = int(partner[end-1])
			continue
		}
		first := end - 1
		for first > 0 && partner[first-1] < 0 {
			first--
		}
		at := next // where what was put in starts
		b.changed[at] = true
		for at > 0 && !b.kept[at-1] {
			at--
			b.changed[at] = true
		}
		b.loseDelimiters(first, end, at, next)
		end = first + 1
	}
}

// loseDelimiters notes the delimiters among the old pieces from first to end, in whose place are those of the text from at to next.
func (b *before) loseDelimiters(first, end, at, next int) {
	isDelimiter := func(p piece) bool { return p.kind == TokenClose || p.kind == TokenOpen }
	old := b.pieces[first:end]
	head, tail := 0, len(old)
	for head < len(old) && isDelimiter(old[head]) {
		head++
	}
	for tail > 0 && isDelimiter(old[tail-1]) {
		tail--
	}
	if tail == 0 { // no words
		head, tail = 0, len(old)
	}
	for k, p := range old {
		if !isDelimiter(p) {
			continue
		}
		if k < tail {
			b.lost[at] = append(b.lost[at], p.delim)
		}
		if k >= tail || k >= head && at != next {
			b.lost[next] = append(b.lost[next], p.delim)
		}
	}
}

// findPairs finds the pairs of delimiters that are still there.
func (b *before) findPairs(partner []int32) {
	for i := range b.closer {
		b.closer[i] = -1
		b.run[i] = int32(i)
	}
	var open []int32
	for j := range b.pieces {
		switch b.pieces[j].kind {
		case TokenOpen:
			open = append(open, partner[j])
		case TokenClose:
			opener, closer := open[len(open)-1], partner[j]
			open = open[:len(open)-1]
			if opener >= 0 && closer >= 0 {
				b.closer[opener] = closer
			}
		}
	}
}

// common gives the pairs of a longest common subsequence of two lists with n and m elements, nil where they differ too much (Myers,
// "An O(ND) Difference Algorithm").
func common(n, m int, same func(i, j int) bool) [][2]int {
	if n == 0 || m == 0 {
		return nil
	}
	var trace [][]int32
	far := make([]int32, 2*min(n+m, maxDifferences)+3)
	middle := len(far) / 2
	for d := 0; d <= min(n+m, maxDifferences); d++ {
		trace = append(trace, slices.Clone(far[middle-d:middle+d+1]))
		for k := -d; k <= d; k += 2 {
			i := int(far[middle+k-1]) + 1
			if k == -d || k != d && far[middle+k-1] < far[middle+k+1] {
				i = int(far[middle+k+1])
			}
			if d == 0 {
				i = 0
			}
			j := i - k
			for i < n && j < m && same(i, j) {
				i, j = i+1, j+1
			}
			far[middle+k] = int32(i)
			if i >= n && j >= m {
				return walkBack(trace, n, m, same)
			}
		}
	}
	return nil
}

// walkBack follows the steps of common from the end.
func walkBack(trace [][]int32, i, j int, same func(i, j int) bool) [][2]int {
	var pairs [][2]int
	for d, far := range slices.Backward(trace) {
		k := i - j
		prevI, prevJ := 0, 0
		if d > 0 {
			at := func(k int) int32 {
				if k < -d || k > d {
					return -1
				}
				return far[k+d]
			}
			prevK := k - 1
			if k == -d || k != d && at(k-1) < at(k+1) {
				prevK = k + 1
			}
			prevI = int(at(prevK))
			prevJ = prevI - prevK
		}
		for i > prevI && j > prevJ && same(i-1, j-1) {
			i, j = i-1, j-1
			pairs = append(pairs, [2]int{i, j})
		}
		i, j = prevI, prevJ
	}
	slices.Reverse(pairs)
	return pairs
}

// What is known from before makes an edit of the search more or less likely. Each takes and gives costs.
const (
	costRestore   = 1.0 // a closer that the edit took away
	costUnchanged = 6.0 // more, for a change where the edit changed nothing
	costAddedLess = 2.0 // less, to remove what the edit put in
	costRepaired  = 5.0 // more, for a closer that closed something else before
)

// insertCost is what it takes to put a delimiter in before the i-th piece.
func (b *before) insertCost(i int, delim byte, cost float64) float64 {
	switch {
	case b == nil:
		return cost
	case bytes.IndexByte(b.lost[i], delim) >= 0:
		return min(cost, costRestore)
	case !b.changed[i]:
		return cost + costUnchanged
	}
	return cost
}

// removeCost is what it takes to take the i-th piece out.
func (b *before) removeCost(i int, cost float64) float64 {
	switch {
	case b == nil:
		return cost
	case b.kept[i]:
		return cost + costUnchanged
	}
	return max(cost-costAddedLess, costRestore)
}

// replaceCost is what it takes to put closer in the place of the i-th piece.
func (b *before) replaceCost(i int, closer byte, cost float64) float64 {
	switch {
	case b == nil:
		return cost
	case b.kept[i]:
		return cost + costUnchanged
	case bytes.IndexByte(b.lost[i], closer) >= 0:
		return min(cost, costRestore)
	}
	return cost
}

// closeCost is what it takes for the i-th piece to close the opener, which is -1 where it was put in.
func (b *before) closeCost(i, opener int) float64 {
	if b == nil || opener < 0 || b.closer[opener] < 0 || b.run[b.closer[opener]] == b.run[i] {
		return 0
	}
	return costRepaired
}

// insertedCost is what it takes for a closer that was put in before the i-th piece to close the opener.
func (b *before) insertedCost(i, opener int, delim byte, pieces []piece) float64 {
	if b == nil {
		return 0
	}
	if last := &pieces[i-1]; last.kind == TokenClose && last.delim == delim {
		return b.closeCost(i-1, opener)
	}
	if opener < 0 || b.closer[opener] < 0 {
		return 0
	}
	return costRepaired
}
