package clj

import (
	"bytes"
	"slices"
	"strings"
)

// Edit is one change of a text: at Pos, Removed was taken out and Inserted was put in.
type Edit struct {
	Pos               Pos // in the text before the repair
	Removed, Inserted string
}

// Place is where a person should look, and why.
type Place struct {
	Pos  Pos
	Text string
}

// Confidence says how far a repair stands above the next best one with another meaning.
type Confidence uint8

const (
	// Likely is a repair that fits best, where another one is not out of the question.
	Likely Confidence = iota
	// Sure is a repair without a serious rival, and a text that was balanced.
	Sure
)

// String gives "sure" or "likely".
func (c Confidence) String() string {
	if c == Sure {
		return "sure"
	}
	return "likely"
}

// Span is a range of bytes; End is exclusive.
type Span struct{ Start, End int }

// RepairOptions has what is known about the text from elsewhere.
type RepairOptions struct {
	// Before is the whole file before the edit that made the text; nil where it is unknown. It helps only if it is balanced.
	Before []byte
	// Focus is the range of the edit's new fragment in the text, and OldFragment what it replaced. They count only where Before is nil,
	// and make up for it; with Before, what changed is found by comparing.
	Focus       Span
	OldFragment []byte
}

// RepairResult is a repaired text, or why it was not repaired.
type RepairResult struct {
	Text       []byte     // the repaired text; the slice that was given where nothing changed
	Edits      []Edit     // in the order of the text; empty: it was balanced, or Refused says why it stays
	Confidence Confidence // of Edits
	Refused    string     // why there is no repair, in one line; "" when repaired or balanced
	Places     []Place    // where a person should look; set with Refused
}

// The bounds of a repair.
const (
	maxRepairBytes = 64 << 20
	maxRepairDepth = maxOpen
)

// Repair restores the balance of the delimiters in a Clojure or EDN text with few changes, all of them where the damage is. It inserts,
// removes and replaces closing delimiters, puts in an opening one that was lost where its place is clear, and changes nothing else;
// forms that are balanced by themselves are not touched, whatever their style.
//
// It weighs the ways to do so by how well the result fits the indentation of the lines, by the habits of the healthy forms in the same
// file, and, with opts.Before, by what the edit changed. Where the best two are about as good and mean different things it refuses, and
// so it does for a string, regex or character without an end, where an opener was lost, and at the markers of a merge conflict.
//
// A text that is balanced comes back as it is. The time is linear in the size of the text and of opts.Before.
func Repair(src []byte, opts RepairOptions) RepairResult {
	result := RepairResult{Text: src, Confidence: Sure}
	faults := faultsOf(src)
	if len(faults) == 0 {
		return result
	}
	r := repairer{src: src, locator: newLocator(src), faults: faults, beam: &beam{}}
	if !r.refuseAtOnce() {
		r.prepare(opts)
		if !r.refuseFlipped() && !r.refuseFlat() {
			r.solve()
		}
	}
	if r.refused == "" {
		result.Text, result.Edits = r.apply()
		if len(faultsOf(result.Text)) > 0 {
			r.refuse("no set of closing delimiters makes this text balanced")
			r.placesOfFaults()
		}
	}
	if r.refused != "" {
		return RepairResult{Text: src, Refused: r.refused, Places: r.places}
	}
	if r.doubt > maxDoubtSure {
		result.Confidence = Likely
	}
	return result
}

// faultsKept is how many faults of a text are looked at; more only count.
const faultsKept = 1000

// faultsOf gives what is wrong with the nesting of a text.
func faultsOf(src []byte) []fault {
	var faults []fault
	n := nesting{src: src, max: maxRepairDepth}
	n.report = func(f fault) {
		if len(faults) < faultsKept || f.kind == unfinishedToken || f.kind == tooDeep {
			faults = append(faults, f)
		}
	}
	n.run()
	return faults
}

// repairer repairs one text.
type repairer struct {
	src        []byte
	locator    *locator
	faults     []fault
	pieces     []piece
	chunks     []chunk
	style      *style
	before     *before // nil: nothing is known
	rolesKnown bool    // the style has the roles of the words in src

	// Room for searches, used again for each chunk.
	beam   *beam
	frames []searchFrame
	pool   []searchEdit

	changes []change // in order
	doubt   float64  // the greatest of all chunks
	refused string
	places  []Place
}

// change is an Edit by its offset.
type change struct {
	at       int
	removed  int // bytes
	inserted string
	opener   int // what an inserted closer closes, -1 for other changes
}

func (r *repairer) refuse(why string) { r.refused = why }

func (r *repairer) place(offset int, text string) {
	r.places = append(r.places, Place{Pos: r.locator.at(offset), Text: text})
}

// prepare finds the pieces of the text and learns the style around them.
func (r *repairer) prepare(opts RepairOptions) {
	r.pieces = piecesOf(r.src)
	r.chunks = chunksOf(r.pieces)
	r.style = newStyle()
	if old := fileBefore(r.src, opts); old != nil && len(faultsOf(old)) == 0 {
		r.before = compare(r.src, r.pieces, old)
		r.style.learn(old, r.before.pieces)
	} else {
		for _, c := range r.chunks {
			if !c.damaged {
				r.style.learn(r.src, r.pieces[c.first:c.end])
			}
		}
	}
	r.style.freeze()
}

// mostForOpener is how many changes of a chunk may come from one lost opener.
const mostForOpener = 20

// solve finds the changes of each damaged chunk.
func (r *repairer) solve() {
	for _, c := range r.chunks {
		if !c.damaged {
			continue
		}
		s := r.search(c)
		found := s.run()
		if len(found.changes) <= mostForOpener && removes(found.changes) {
			// A closer too many may be an opener too few.
			s.openers = true
			found = s.run()
		}
		r.frames, r.pool = s.frames, s.pool
		r.doubt = max(r.doubt, found.doubt)
		if found.doubt > maxDoubt || found.doubt > maxDoubtOpener && opens(found.changes) {
			r.refuseChunk(c, found)
			return
		}
		r.changes = append(r.changes, found.changes...)
	}
}

func removes(changes []change) bool {
	return slices.ContainsFunc(changes, func(c change) bool { return c.removed > 0 })
}

// opens says whether an opener is among what the changes put in.
func opens(changes []change) bool {
	return slices.ContainsFunc(changes, func(c change) bool { return strings.ContainsAny(c.inserted, "([{") })
}

// apply gives the text with the changes, and the changes as edits.
func (r *repairer) apply() ([]byte, []Edit) {
	var out bytes.Buffer
	out.Grow(len(r.src) + 2*len(r.changes))
	edits := make([]Edit, 0, len(r.changes))
	last := 0
	for _, c := range r.joined(r.changes) {
		out.Write(r.src[last:c.at])
		out.WriteString(c.inserted)
		last = c.at + c.removed
		edits = append(edits, Edit{Pos: r.locator.at(c.at), Removed: string(r.src[c.at:last]), Inserted: c.inserted})
	}
	out.Write(r.src[last:])
	return out.Bytes(), edits
}

// joined makes one of changes that touch, and of those in one run of closers where that is no more to change: to put a closer in says
// less than to replace two and put in a third.
func (r *repairer) joined(changes []change) []change {
	var all []change
	for _, c := range touching(changes) {
		if n := len(all); n > 0 && c.size() <= maxJoined && all[n-1].size() <= maxJoined {
			last := &all[n-1]
			gap := r.src[last.at+last.removed : c.at]
			if len(gap) <= maxJoined && len(bytes.Trim(gap, ")]}")) == 0 {
				both := r.trimmed(change{
					at: last.at, removed: last.removed + len(gap) + c.removed, inserted: last.inserted + string(gap) + c.inserted,
					opener: max(last.opener, c.opener),
				})
				if both.size() == 0 {
					all = all[:n-1]
					continue
				}
				if both.size() <= last.size()+c.size() {
					*last = both
					continue
				}
			}
		}
		all = append(all, c)
	}
	return all
}

// maxJoined bounds the closers that are looked at to say less, so that the time stays linear.
const maxJoined = 100

// touching makes one of changes that touch.
func touching(changes []change) []change {
	var all []change
	for i := 0; i < len(changes); {
		c := changes[i]
		inserted := []byte(c.inserted)
		for i++; i < len(changes) && changes[i].at == c.at+c.removed; i++ {
			inserted = append(inserted, changes[i].inserted...)
			c.removed += changes[i].removed
			c.opener = max(c.opener, changes[i].opener)
		}
		c.inserted = string(inserted)
		all = append(all, c)
	}
	return all
}

// size is how many bytes a change takes out and puts in.
func (c change) size() int { return c.removed + len(c.inserted) }

// trimmed leaves out what a change takes out and puts in again at its start and end.
func (r *repairer) trimmed(c change) change {
	for c.removed > 0 && c.inserted != "" && r.src[c.at] == c.inserted[0] {
		c.at, c.removed, c.inserted = c.at+1, c.removed-1, c.inserted[1:]
	}
	for c.removed > 0 && c.inserted != "" && r.src[c.at+c.removed-1] == c.inserted[len(c.inserted)-1] {
		c.removed, c.inserted = c.removed-1, c.inserted[:len(c.inserted)-1]
	}
	return c
}
