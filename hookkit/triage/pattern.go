package triage

import "slices"

// The rules' small language of words. A pattern is a row of elements separated by spaces:
//
//	word        this word; a|b|c one of these; {class} a word of a class of the table in words.go; both can be mixed: a|{class}
//	word?       or nothing
//	_           any one word
//	..          up to 3 words, no punctuation
//	...         up to 8 words, commas allowed
//	^           the beginning of a clause: of the sentence, after punctuation, after words such as "ok", "and", "so"
//	$           the end of the sentence, punctuation aside
//
// Words stand in lower case; contractions are split ("do not", "let us"). NUM, CODE, QUOTE, URL and PATH are what sentence.go makes
// of numbers and of text that is not speech.
type element struct {
	kind     elementKind
	optional bool
	from, n  uint16 // its words, in tables.ids
}

type elementKind uint8

const (
	oneOf elementKind = iota
	anyWord
	shortGap
	longGap
	clauseStart
	sentenceEnd
)

// Lengths of the gaps, in words.
const (
	shortGapWords = 3
	longGapWords  = 8
)

// wordID numbers the words that patterns name, from 1; 0 is every other word.
type wordID uint16

// compiled is one pattern.
type compiled struct {
	rule     int16  // index into the rules; for a mark -1 - mark; noRule for one of a rule's with and unless
	first    uint16 // its elements, in tables.elements
	n        uint8
	anchor   uint8 // the element that chooses sentences
	negative bool  // it names a negation itself
}

const noRule = 1 << 14

// tables are all patterns, compiled. Everything is a number into a flat array, so that the tables of the program are static data: to
// compile them at every start would take longer than all the rest. See tables_gen.go.
type tables struct {
	words    []string // by number - 1
	hash     []uint16 // words by hash, with open addressing
	ids      []wordID
	elements []element
	patterns []compiled
	anchors  []uint16    // for each word where its patterns begin in anchored, and the end
	anchored []uint16    // numbers of patterns
	with     [][2]uint16 // for each rule its patterns, from and to
	unless   [][2]uint16
}

const hashSize = 8192

// hashText is FNV-1a.
func hashText(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// placeOfHash is where a word's number is looked for.
func placeOfHash(h uint32) uint32 { return (h ^ h>>15) & (hashSize - 1) }

// id is the number of a word with its hash, 0 for one that no pattern names.
func (t *tables) id(word string, hash uint32) wordID {
	for at := placeOfHash(hash); ; at = (at + 1) & (hashSize - 1) {
		n := t.hash[at]
		if n == 0 {
			return 0
		}
		if t.words[n-1] == word {
			return wordID(n)
		}
	}
}

// has says whether an element names a word. The numbers of an element are sorted.
func (t *tables) has(e *element, id wordID) bool {
	if id == 0 {
		return false
	}
	ids := t.ids[e.from : e.from+e.n]
	const few = 8
	if len(ids) <= few {
		return slices.Contains(ids, id)
	}
	_, found := slices.BinarySearch(ids, id)
	return found
}

func (t *tables) elementsOf(c *compiled) []element {
	return t.elements[c.first : c.first+uint16(c.n)]
}

// span is where a pattern was found: words[start:end]. Gaps are the words that no element named.
type span struct{ start, end int }

// match looks for the elements from words[at] on. It tries the shortest gaps first.
func (t *tables) match(elements []element, words []token, at int) (end int, ok bool) {
	for i := range elements {
		e := &elements[i]
		if e.optional {
			rest := elements[i+1:]
			if at < len(words) && t.has(e, words[at].id) {
				if end, ok := t.match(rest, words, at+1); ok {
					return end, true
				}
			}
			return t.match(rest, words, at)
		}
		switch e.kind {
		case oneOf:
			if at >= len(words) || !t.has(e, words[at].id) {
				return 0, false
			}
			at++
		case anyWord:
			if at >= len(words) || isMark(words[at].word) {
				return 0, false
			}
			at++
		case shortGap, longGap:
			return t.matchGap(elements[i+1:], words, at, e.kind)
		case clauseStart:
			if !startsClause(words, at) {
				return 0, false
			}
		case sentenceEnd:
			for j := at; j < len(words); j++ {
				if !isMark(words[j].word) {
					return 0, false
				}
			}
		}
	}
	return at, true
}

func (t *tables) matchGap(rest []element, words []token, at int, kind elementKind) (end int, ok bool) {
	most := shortGapWords
	if kind == longGap {
		most = longGapWords
	}
	for n := 0; n <= most && at+n <= len(words); n++ {
		if n > 0 && breaks(words[at+n-1].word, kind) {
			return 0, false
		}
		if end, ok := t.match(rest, words, at+n); ok {
			return end, true
		}
	}
	return 0, false
}

// breaks says whether a gap ends at a word.
func breaks(word string, kind elementKind) bool {
	switch word {
	case ".", "?", "!", ";", "…":
		return true
	case ",", ":", "—":
		return kind == shortGap
	}
	return false
}

// opens says whether a clause begins after a word, which says nothing itself.
func opens(word string) bool {
	switch word {
	case "EMOJI", "actually", "again", "agreed", "ah", "alright", "also", "and", "anyway", "because", "btw", "but", "cool", "done",
		"exactly", "finally", "fine", "first", "good", "great", "hey", "hmm", "honestly", "however", "instead", "just", "kindly", "lgtm",
		"me", "next", "no", "nope", "noted", "now", "oh", "ok", "okay", "overall", "perfect", "please", "right", "second", "since", "so",
		"sounds", "still", "sure", "thanks", "that", "then", "therefore", "third", "though", "thus", "thx", "together", "understood",
		"until", "well", "when", "where", "which", "while", "yeah", "yep", "yes", "yup":
		return true
	}
	return false
}

func startsClause(words []token, at int) bool {
	if at == 0 {
		return true
	}
	before := words[at-1].word
	return isMark(before) || opens(before)
}
