package clj

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/hookkit/brepl/hookkit/text"
)

// refuseAtOnce refuses what no closing delimiter can repair.
func (r *repairer) refuseAtOnce() bool {
	if len(r.src) > maxRepairBytes {
		r.refuse("the text is too long: the limit is " + strconv.Itoa(maxRepairBytes) + " bytes")
		r.place(r.faults[0].at, "the first thing that is wrong is here")
		return true
	}
	for _, f := range r.faults {
		switch f.kind {
		case unfinishedToken:
			what := "string"
			switch f.opener.kind {
			case TokenRegex:
				what = "regex"
			case TokenChar:
				what = "character"
			}
			at := r.locator.at(f.opener.start)
			r.refuse("the " + what + " that starts at " + shortPlace(at) + " has no end")
			hint := ""
			if f.opener.kind != TokenChar {
				hint = "; the quote that is missing may be before it"
			}
			r.place(f.opener.start, "the "+what+" that starts here has no end"+hint)
			return true
		case tooDeep:
			r.refuse("too many delimiters are open at once")
			r.place(f.at, "more than "+strconv.Itoa(maxRepairDepth)+" delimiters are open here")
			return true
		}
	}
	if at := conflictMarker(r.src); at >= 0 {
		r.refuse("there are markers of a merge conflict")
		r.place(at, "a merge conflict starts here: resolve it first")
		return true
	}
	return false
}

// refuseFlipped refuses a text where strings and code seem to have changed places, because a quote is missing and another one that
// stands in a comment or a character makes up for it: then strings touch words or comments.
func (r *repairer) refuseFlipped() bool {
	isWord := func(p *piece) bool { return p.kind == TokenAtom || p.kind == TokenNumber }
	for i := range r.pieces {
		p := &r.pieces[i]
		if p.kind != TokenString && p.kind != TokenRegex {
			continue
		}
		before := i > 0 && p.glued && isWord(&r.pieces[i-1]) && (i < 2 || r.pieces[i-2].kind != TokenTag)
		after := i+1 < len(r.pieces) && r.pieces[i+1].glued && r.pieces[i+1].kind != TokenClose
		comment := r.src[p.end:lineEnd(r.src, p.end)]
		swallows := len(comment) > 0 && comment[0] == ';' && bytes.Count(comment, []byte{'"'})%2 == 1
		if before || after || swallows {
			r.refuse("a quote seems to be missing: the string that starts at " + shortPlace(r.locator.at(p.start)) + " touches what follows or precedes it")
			r.place(p.start, "the string that starts here touches what follows or precedes it: a quote is missing, here or before")
			return true
		}
	}
	return false
}

// refuseFlat refuses where forms are not indented: then the leftmost column does not tell where a form ends that is open.
func (r *repairer) refuseFlat() bool {
	flat := slices.ContainsFunc(r.chunks, func(c chunk) bool { return c.flat })
	for k, c := range r.chunks {
		if !c.damaged || c.surplus {
			continue
		}
		for n := k + 1; n < len(r.chunks) && n <= k+maxFlat && r.goesOn(r.chunks[n]); n++ {
			next := r.chunks[n]
			if flat || next.flat || next.surplus || r.hasNoBody(c) {
				r.refuse("the code is not indented, so that it does not show where a form ends that is open")
				first, last := r.pieces[c.first].start, r.pieces[next.first].start
				r.place(first, quote(r.brief(first))+" is not closed, and "+quote(r.brief(last))+" at "+
					shortPlace(r.locator.at(last))+" may be in it")
				return true
			}
		}
	}
	return false
}

// maxFlat is how many chunks after a damaged one may belong to it.
const maxFlat = 20

// goesOn says whether a chunk may belong to the form before it: it starts on the very next line, and defines nothing.
func (r *repairer) goesOn(c chunk) bool {
	first := &r.pieces[c.first]
	if first.line-r.pieces[c.first-1].line != 1 {
		return false
	}
	if first.delim != '(' || c.end-c.first < 2 || r.pieces[c.first+1].kind != TokenAtom {
		return true
	}
	head := r.src[r.pieces[c.first+1].start:r.pieces[c.first+1].end]
	switch string(head) {
	case "ns", "in-ns", "comment":
		return false
	}
	return !bytes.HasPrefix(head, []byte("def"))
}

// hasNoBody says whether a chunk is the first line of a function and ends with the parameters.
func (r *repairer) hasNoBody(c chunk) bool {
	first, last := &r.pieces[c.first], &r.pieces[c.end-1]
	if first.delim != '(' || last.delim != ']' || last.line != first.line || c.end-c.first < 2 {
		return false
	}
	head := &r.pieces[c.first+1]
	return head.kind == TokenAtom && leadOf(r.src[head.start:head.end]) == leadsParameters
}

// conflictMarker gives the offset of the first line that git writes at a merge conflict, -1 for none.
func conflictMarker(src []byte) int {
	for at := 0; at < len(src); {
		line := src[at:lineEnd(src, at)]
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte(">>>>>>> ")) {
			return at
		}
		at += len(line) + 1
	}
	return -1
}

// shortPlace gives line:column.
func shortPlace(p Pos) string { return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) }

// refuseChunk refuses because of a chunk that has no repair, or several with different meanings.
func (r *repairer) refuseChunk(c chunk, f found) {
	where := shortPlace(r.locator.at(r.pieces[c.first].start))
	switch {
	case len(f.changes) == 0:
		r.refuse("no repair was found for the form that starts at " + where)
		r.placesOfFaults()
		return
	case opens(f.changes) || opens(f.rival):
		r.refuse("an opening delimiter seems to be lost in the form that starts at " + where + ", and its place is not certain")
	default:
		r.refuse("the form that starts at " + where + " can be repaired in several ways that mean different things")
	}
	r.placesOfChanges(c, f.changes, "probably ")
	r.placesOfChanges(c, f.rival, "or ")
}

// maxPlaces is how many places of one repair are named.
const maxPlaces = 3

// placesOfChanges names what a repair would change.
func (r *repairer) placesOfChanges(c chunk, changes []change, probably string) {
	changes = r.joined(changes)
	for _, ch := range changes[:min(len(changes), maxPlaces)] {
		removed := string(r.src[ch.at : ch.at+ch.removed])
		switch {
		case ch.removed > 0 && ch.inserted != "":
			r.place(ch.at, probably+quote(removed)+" should be "+quote(ch.inserted))
		case ch.removed > 0:
			r.place(ch.at, probably+quote(removed)+" is too many")
		case ch.opener < 0:
			r.place(ch.at, probably+quote(ch.inserted)+" is missing here")
		default:
			r.place(ch.opener, r.stillOpen(c, ch.opener)+"; "+probably+"a "+quote(ch.inserted)+" is missing "+r.lineEndWords(ch.at))
		}
	}
}

// stillOpen says that an opener is open where the next top-level form starts.
func (r *repairer) stillOpen(c chunk, opener int) string {
	text := quote(r.brief(opener)) + " at " + shortPlace(r.locator.at(opener)) + " is still open "
	if c.end == len(r.pieces) {
		return text + "at the end of the text"
	}
	next := r.pieces[c.end].start
	return text + "where " + quote(r.brief(next)) + " starts at " + shortPlace(r.locator.at(next))
}

// lineEndWords names a place at the end of a line or within it.
func (r *repairer) lineEndWords(offset int) string {
	at := r.locator.at(offset)
	if len(bytes.Trim(r.src[offset:lineEnd(r.src, offset)], " \t,")) == 0 {
		return "at the end of line " + strconv.Itoa(at.Line)
	}
	return "at " + shortPlace(at)
}

// brief gives an opener as written, with the word after it.
func (r *repairer) brief(offset int) string {
	const longest = 30
	scanner := Scanner{src: r.src, pos: offset}
	end := offset
	for t := scanner.Next(); t.End-offset < longest; t = scanner.Next() {
		if t.Kind != TokenOpen && t.Kind != TokenAtom && !isPrefixKind(t.Kind) {
			break
		}
		end = t.End
		if t.Kind == TokenAtom {
			break
		}
	}
	return text.Escaped(string(r.src[offset:max(end, min(offset+1, len(r.src)))]), "")
}

func quote(s string) string { return "`" + s + "`" }

// placesOfFaults names the first faults.
func (r *repairer) placesOfFaults() {
	for _, f := range r.faults[:min(len(r.faults), maxPlaces)] {
		switch f.kind {
		case unmatchedCloser:
			r.place(f.at, quote(string(r.src[f.at]))+" closes nothing")
		case mismatchedCloser:
			r.place(f.at, quote(string(r.src[f.at]))+" stands where "+quote(r.brief(f.opener.start))+" at "+
				shortPlace(r.locator.at(f.opener.start))+" is still open")
		case unclosedOpener:
			r.place(f.opener.start, quote(r.brief(f.opener.start))+" is never closed")
		case danglingPrefix, unfinishedPrefix:
			r.place(f.opener.start, "a form is missing after "+quote(string(r.src[f.opener.start:f.opener.end])))
		}
	}
}
