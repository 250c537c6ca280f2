package triage

import (
	"slices"
	"strings"
)

// feature is a fact about a sentence that the learned weights may know: one, two or three of its words, what the rules say of it, or what
// stands around it.
type feature struct {
	hash uint32
	kind featureKind
	at   uint8 // its first word
}

type featureKind uint8

// The kinds of features, in the groups that wordingOf sums up. A kind's number is part of the hash: where one changes, all weights are to
// be learned anew.
const (
	ofWord featureKind = iota + 1
	ofTwo
	ofThree
	ofWordBy // a word, and who says it
	ofStem   // the first letters of a word
	ofLead   // a word of the heading that a list item stands under

	ofRule     // a rule that hit, and how surely
	ofCategory // the category of a rule that hit
	ofReason   // why a hit counts for less

	ofFact
	ofMark
	ofMarkBefore  // of the sentence before, in the same message
	ofMarkAfter   // of the sentence after
	ofMarkAsked   // of the message before
	ofMarkReplied // of the message after
	ofMarkEarlier // of some messages before
	ofMarkLater   // of some messages after
	ofMarkUser    // of the user's next message
	ofMarkRelated // of a later sentence about the same thing
)

// fact is something about a sentence as a whole.
type fact uint32

const (
	factSpeaker fact = iota + 1
	factTiny
	factShort
	factMedium
	factLong
	factLonger
	factEndless
	factQuestion
	factHeading
	factItem
	factMuted
	factFirst
	factLast
	factLate
	factOpens
	factEnds
	factAfterQuestion
	factEditsBefore
	factEditsAfter
	factUnsolved // the failure of the conversation is not
	factReverted // all edits were taken back
)

// mix hashes numbers.
func mix(kind featureKind, a, b, c uint32) uint32 {
	h := uint32(kind) * 0x9E3779B1
	for _, n := range [...]uint32{a, b, c} {
		h = (h ^ n) * 0x85EBCA6B
		h ^= h >> 15
	}
	h *= 0xC2B2AE35
	return h ^ h>>16
}

// What stands for a word before the first and after the last one.
var (
	hashStart = hashText("^")
	hashEnd   = hashText("$")
)

// rareHashes stand for words that the weights do not know, by their end; the last for any other word.
var rareHashes = [...]uint32{hashText("~9"), hashText("~ing"), hashText("~ed"), hashText("~ly"), hashText("~s"), hashText("~")}

// rareHash stands for a word that the weights do not know, by its end.
func rareHash(word string) uint32 {
	n := len(word)
	switch {
	case digit(word[0]):
		return rareHashes[0]
	case n <= 4:
		return rareHashes[5]
	case strings.HasSuffix(word, "ing"):
		return rareHashes[1]
	case strings.HasSuffix(word, "ed"):
		return rareHashes[2]
	case strings.HasSuffix(word, "ly"):
		return rareHashes[3]
	case word[n-1] == 's':
		return rareHashes[4]
	}
	return rareHashes[5]
}

// stemLetters is how many letters words with a common stem share.
const stemLetters = 4

// maxWords is how many words of a sentence features are made of.
const maxWords = 60

// surroundings is what the features of all sentences need of the conversation.
type surroundings struct {
	a         *analysis
	says      []uint64 // the marks of each message, a bit each
	earlier   []uint64 // the marks of the messages before it, as far as they matter
	later     []uint64 // the marks of the messages after it, likewise
	hits      [][]evidence
	silent    [][len(wordings)]bool // what of a sentence does not count, whatever its words: it is part of a treated text, or was taken back
	related   []uint64              // by sentence: the marks of later sentences about the same thing
	unsolved  bool
	reverted  bool
	edited    bool
	firstEdit int
	lastEdit  int
}

// Marks that matter to what is said some messages after them, and some before them.
const (
	reach = 8 // messages

	tellingEarlier = 1<<markTrouble | 1<<markComplaint | 1<<markHealed | 1<<markToOrder
	tellingLater   = 1<<markRetract | 1<<markReopen | 1<<markUndone | 1<<markUnsolved | 1<<markHealed
)

func (a *analysis) surroundings() *surroundings {
	messages := len(a.conv.messages)
	s := &surroundings{a: a, says: make([]uint64, messages), earlier: make([]uint64, messages), later: make([]uint64, messages)}
	s.hits = make([][]evidence, len(a.sentences))
	s.silent = make([][len(wordings)]bool, len(a.sentences))
	for _, t := range a.conv.tools {
		if t.works() {
			if !s.edited {
				s.edited, s.firstEdit = true, t.at
			}
			s.lastEdit = t.at
		}
	}
	for i := range a.sentences {
		s.says[a.sentences[i].message] |= a.sentences[i].bits()
	}
	for m := range s.says {
		for k := max(0, m-reach); k < m; k++ {
			s.earlier[m] |= s.says[k] & tellingEarlier
		}
		for k := m + 1; k < min(len(s.says), m+1+reach); k++ {
			s.later[m] |= s.says[k] & tellingLater
		}
	}
	s.relate()
	s.unsolved, s.reverted = a.story(len(a.sentences)).unsolved, a.undoneAtEnd()
	for _, list := range [...][]evidence{a.found, a.missed} {
		for i := range list {
			if h := &list[i]; h.category != SessionSummary && h.sentence >= 0 {
				s.hits[h.sentence] = append(s.hits[h.sentence], *h)
			}
		}
	}
	for i := range s.silent {
		muted := a.muted[i] != "" && a.muted[i] != onlyAnswer || a.ordersIn(i)
		for k, c := range wordings {
			s.silent[i][k] = muted || slices.ContainsFunc(s.hits[i], func(h evidence) bool { return h.category == c && h.overruled() })
		}
	}
	return s
}

// ordersIn says whether the user asks in sentence i itself for what follows behind a colon to be treated.
func (a *analysis) ordersIn(i int) bool {
	s := &a.sentences[i]
	order, ok := s.find(markToOrder, len(s.words))
	return ok && !s.agent && s.wantsText() && slices.ContainsFunc(s.words[order.end:], func(w token) bool { return w.word == ":" })
}

// overruled says whether evidence counts for nothing because of what was said later.
func (h *evidence) overruled() bool {
	for _, why := range h.why {
		if why == takenBack || why == openAgain || why == doneSince {
			return true
		}
	}
	return false
}

// relatedReach is how many sentences back something is looked for that a sentence may overrule: each is compared word by word.
const relatedReach = 60

// relate finds for each sentence what later sentences say that overrule what was said about the same thing.
func (s *surroundings) relate() {
	const overruling = 1<<markRetract | 1<<markReopen | 1<<markUndone | 1<<markUnsolved
	sentences := s.a.sentences
	s.related = make([]uint64, len(sentences))
	for i := range sentences {
		bits := sentences[i].bits() & overruling
		if bits == 0 || sentences[i].question {
			continue
		}
		for j := max(0, i-relatedReach); j < i; j++ {
			if s.related[j]&bits != bits && s.a.share(j, i) {
				s.related[j] |= bits
			}
		}
	}
}

// bits are the marks of a sentence, a bit each.
func (s *sentence) bits() uint64 {
	bits := uint64(0)
	for _, m := range s.marks {
		bits |= 1 << m.mark
	}
	return bits
}

// featureList collects the features of one sentence, each once.
type featureList struct {
	list []feature
	by   uint32 // who says it

	places [1 << placeBits]uint64 // hashes that are in the list, with the round in which they came
	round  uint64
}

const placeBits = 10 // twice as many places as a sentence has features

// begin empties the list.
func (f *featureList) begin() {
	f.list = f.list[:0]
	f.round++
}

func (f *featureList) add(kind featureKind, at int, a, b, c uint32) {
	f.put(feature{mix(kind, a, b, c), kind, uint8(at)}) //nolint:gosec // at is below maxWords
}

func (f *featureList) put(x feature) {
	entry := f.round<<32 | uint64(x.hash)
	for place := x.hash >> (32 - placeBits); ; place = (place + 1) % uint32(len(f.places)) {
		switch old := f.places[place]; {
		case old == entry:
			return
		case old>>32 != f.round:
			f.places[place] = entry
			f.list = append(f.list, x)
			return
		}
	}
}

// twice adds a fact by itself, and together with who says the sentence.
func (f *featureList) twice(kind featureKind, n uint32) {
	f.add(kind, 0, n, 0, 0)
	f.add(kind, 0, n, f.by, 0)
}

func (f *featureList) marks(kind featureKind, bits uint64, more uint32) {
	for m := uint32(0); bits != 0; m, bits = m+1, bits>>1 {
		if bits&1 != 0 {
			f.add(kind, 0, m, f.by, more)
		}
	}
}

// of lists the features of sentence i. Known says whether the weights know a word; the others are told apart by their endings only.
func (f *featureList) of(i int, around *surroundings, known func(hash uint32) bool) {
	a := around.a
	s := &a.sentences[i]
	f.begin()
	f.by = 1
	if s.agent {
		f.by = 2
	}
	f.words(s.words[:min(len(s.words), maxWords)], known)
	for w := range strings.FieldsSeq(s.lead) {
		if w = strings.Trim(w, "*:.,#()`"); w != "" {
			f.add(ofLead, 0, hashText(w), 0, 0)
		}
	}
	for n := range around.hits[i] {
		f.rule(&around.hits[i][n])
	}
	f.facts(s, a.muted[i] != "", len(a.conv.messages))
	f.add(ofFact, 0, uint32(factSpeaker), f.by, 0)
	for m, bits := uint32(0), s.bits(); bits != 0; m, bits = m+1, bits>>1 {
		if bits&1 != 0 {
			f.twice(ofMark, m)
		}
	}
	f.neighbours(i, around)
	if around.unsolved {
		f.twice(ofFact, uint32(factUnsolved))
	}
	if around.reverted {
		f.twice(ofFact, uint32(factReverted))
	}
	if around.edited && around.firstEdit < s.at {
		f.twice(ofFact, uint32(factEditsBefore))
	}
	if around.edited && around.lastEdit > s.at {
		f.twice(ofFact, uint32(factEditsAfter))
	}
}

func (f *featureList) words(words []token, known func(uint32) bool) {
	before2, before := uint32(0), hashStart
	for j := range words {
		h := words[j].hash
		if word := mix(ofWord, h, 0, 0); known(word) {
			f.put(feature{word, ofWord, uint8(j)})
		} else {
			h = rareHash(words[j].word)
			f.add(ofWord, j, h, 0, 0)
		}
		f.add(ofWordBy, j, h, f.by, 0)
		if w := words[j].word; len(w) >= stemLetters {
			f.add(ofStem, j, hashText(w[:stemLetters]), 0, 0)
		}
		f.add(ofTwo, max(0, j-1), before, h, 0)
		if j > 0 {
			f.add(ofThree, max(0, j-2), before2, before, h)
		}
		before2, before = before, h
	}
	f.add(ofTwo, max(0, len(words)-1), before, hashEnd, 0)
	if len(words) > 0 {
		f.add(ofThree, max(0, len(words)-2), before2, before, hashEnd)
	}
}

// rule adds what a rule says about the sentence.
func (f *featureList) rule(h *evidence) {
	sure := uint32(0)
	switch {
	case h.weight >= plain-0.05:
		sure = 3
	case h.weight >= likely-0.02:
		sure = 2
	case h.weight >= hint:
		sure = 1
	}
	category := hashText(string(h.category))
	f.twice(ofRule, hashText(h.rule)+sure)
	f.twice(ofCategory, category+sure)
	for _, why := range h.why {
		if !strings.HasPrefix(why, "not with ") { // the words that follow are features already
			f.twice(ofReason, category^hashText(why))
		}
	}
}

func (f *featureList) facts(s *sentence, muted bool, messages int) {
	is := func(yes bool, n fact) {
		if yes {
			f.twice(ofFact, uint32(n))
		}
	}
	length := factEndless
	for n, most := range [...]int{2, 5, 10, 20, 35} {
		if len(s.words) <= most {
			length = factTiny + fact(n)
			break
		}
	}
	is(true, length)
	is(s.question, factQuestion)
	is(s.heading, factHeading)
	is(s.item, factItem)
	is(muted, factMuted)
	is(s.message == 0, factFirst)
	is(s.message == messages-1, factLast)
	is(s.message >= messages-2, factLate)
}

// neighbours adds what the sentences and messages around say.
func (f *featureList) neighbours(i int, around *surroundings) {
	sentences := around.a.sentences
	s := &sentences[i]
	if i > 0 && sentences[i-1].message == s.message {
		f.marks(ofMarkBefore, sentences[i-1].bits(), 0)
		if sentences[i-1].question {
			f.twice(ofFact, uint32(factAfterQuestion))
		}
	} else {
		f.twice(ofFact, uint32(factOpens))
		const few = 6
		if s.message > 0 {
			short := uint32(0)
			if len(s.words) <= few {
				short = 1
			}
			f.marks(ofMarkAsked, around.says[s.message-1], short)
		}
	}
	if i+1 < len(sentences) && sentences[i+1].message == s.message {
		f.marks(ofMarkAfter, sentences[i+1].bits(), 0)
	} else {
		f.twice(ofFact, uint32(factEnds))
	}
	if s.message+1 < len(around.says) {
		f.marks(ofMarkReplied, around.says[s.message+1], 0)
	}
	for m := s.message + 1; m < len(around.says); m++ {
		if !around.a.conv.messages[m].agent {
			f.marks(ofMarkUser, around.says[m], 0)
			break
		}
	}
	f.marks(ofMarkRelated, around.related[i], 0)
	f.marks(ofMarkEarlier, around.earlier[s.message], 0)
	f.marks(ofMarkLater, around.later[s.message], 0)
}
