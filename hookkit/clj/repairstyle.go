package clj

import "math"

// relation says where a line starts, seen from the form it is in.
type relation uint8

const (
	atSibling relation = iota // with the line before it in the same form
	atInner                   // where another line would stand in the form that was closed last
	atSecond                  // with the second element, which is on the opener's line
	byOne                     // one column after the opener
	byTwo
	deeper    // elsewhere to the right of the opener
	notDeeper // right of the line of the opener, but not of the opener
	outside   // left of all that
	relations
)

// shape says what sort of form something is in.
type shape uint8

const (
	inText shape = iota // the top level
	inList
	inDefinition // a list that starts with defn, fn and their like
	inMethod     // a list in such a list
	inLet        // a list that starts with let and its like
	inParameters // a vector after fn, defn and their like, or at the start of a list
	inBindings   // the vector of a let and its like
	inVector
	inRow  // a vector in a vector
	inSpec // a vector in a list that starts with a keyword, as in ns
	inMap
	inSet
	shapes
)

// class says what sort of form something is, as far as its first token tells.
type class uint8

const (
	aNothing class = iota // before the first form
	aSymbol
	aKeyword
	aLiteral
	aString
	aList
	aVector
	aMap
	aPrefixed
	classes
)

// turn says what comes next in a form.
type turn uint8

const (
	onSameLine turn = iota // another form, on the same line
	onNewLine
	ending // its closer
	turns
)

// lineState says where the line that is being written started, seen from the form.
type lineState uint8

const (
	openedHere    lineState = iota // the form's opener is on it
	startedHere                    // it starts with a form in the form
	startedDeeper                  // it starts in a form that has been closed since
	lineStates
)

// counted is how many forms came before, in steps that matter: none, one, two or more; in maps and bindings: none, odd, even.
const counted = 4

// arities bounds the counts of arguments that are told apart.
const arities = 9

// style has the habits of a text: how often lines start where, what follows on what. It begins with the habits of Clojure at large and
// learns from the healthy forms around the damage.
type style struct {
	indents [shapes][2][relations]float64 // by [another line of the form came before]
	turns   [shapes][lineStates][counted][classes][turns]float64
	classes [shapes][counted][classes][classes]float64
	pairs   [shapes][classes][classes][classes]float64 // by the last two forms
	words   map[uint64]*word                           // by wordHash or one of the heads told apart by their sort
	usual   [arities]float64                           // the sum of all arities
	frames  []searchFrame                              // room for those of learn
}

// word is what is known of a symbol.
type word struct {
	roles [2]float64                  // how often it starts a list, and stands elsewhere
	arity [arities]float64            // how many forms follow it in a list
	args  [knownArgs][classes]float64 // what the first of them are
	line  [relations]float64          // where the first line in the list starts
}

// knownArgs is how many forms after the head of a list are told apart.
const knownArgs = 3

// How much each sort of habit counts. Lines are indented with care; what follows on what says less than its counts make believe, as
// they are not independent.
const (
	weightIndent = 1.2
	weightArity  = 1.6
	weightHabit  = 0.6
	seldom       = 0.2 // how often what was never seen counts as seen
)

// freeze makes costs of the counts of turns, and probabilities of those of indents and classes. Nothing can be learnt after it.
func (s *style) freeze() {
	for a := range s.indents {
		for b := range s.indents[a] {
			row := &s.indents[a][b]
			total := 3.0 + sum(row[:])
			for r := range row {
				row[r] = (row[r] + seldomIndent(relation(r))) / total
			}
		}
		for b := range s.turns[a] {
			for c := range s.turns[a][b] {
				for d := range s.turns[a][b][c] {
					row := &s.turns[a][b][c][d]
					total := seldom*float64(turns) + sum(row[:])
					for i := range row {
						row[i] = -weightHabit * math.Log((row[i]+seldom)/total)
					}
				}
			}
		}
		for b := range s.classes[a] {
			for c := range s.classes[a][b] {
				row := &s.classes[a][b][c]
				total := seldom*float64(classes) + sum(row[:])
				for i := range row {
					row[i] = (row[i] + seldom) / total
				}
			}
		}
	}
}

func sum(counts []float64) float64 {
	total := 0.0
	for _, n := range counts {
		total += n
	}
	return total
}

// seldomIndent is how often a relation that was never seen counts as seen.
func seldomIndent(r relation) float64 {
	switch r {
	case notDeeper:
		return 0.005
	case outside:
		return 0.0002
	}
	return 0.5
}

func (s *style) word(h uint64) *word {
	w := s.words[h]
	if w == nil {
		w = &word{}
		s.words[h] = w
	}
	return w
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// relate says where a line that starts at col stands in a form. sibling is the column of the line before it there, -1 for none.
func relate(f *searchFrame, sibling, inner, col int32) relation {
	switch {
	case f.wraps && col == f.indent:
		return atSibling
	case col <= f.col && col <= f.indent:
		return outside
	case col <= f.col:
		return notDeeper
	case sibling >= 0 && col == sibling:
		return atSibling
	case inner >= 0 && col == inner && inner > f.col+2 && inner != f.second:
		return atInner
	case f.second >= 0 && col == f.second:
		return atSecond
	case col == f.col+1:
		return byOne
	case col == f.col+2:
		return byTwo
	}
	return deeper
}

// indentCost is what it takes for a line that starts at col to be in a form.
func (s *style) indentCost(f *searchFrame, sibling, inner, col int32) float64 {
	r := relate(f, sibling, inner, col)
	often := s.indents[f.shape][b2i(sibling >= 0)][r]
	if f.head != 0 && sibling < 0 {
		if w := s.words[f.head]; w != nil {
			often = (w.line[r] + likeOthers*often) / (sum(w.line[:]) + likeOthers)
		}
	}
	return -weightIndent * math.Log(often)
}

// stepsOf gives the number of forms in the steps that matter.
func stepsOf(in shape, count int32) int {
	if count > 0 && (in == inMap || in == inBindings) {
		return 2 - int(count%2)
	}
	return min(int(count), counted-1)
}

func classOf(p *piece) class {
	switch p.kind {
	case TokenAtom:
		if p.keyword {
			return aKeyword
		}
		return aSymbol
	case TokenOpen:
		switch p.delim {
		case '(':
			return aList
		case '[':
			return aVector
		}
		return aMap
	}
	switch {
	case p.kind == TokenString:
		return aString
	case isPrefixKind(p.kind):
		return aPrefixed
	}
	return aLiteral
}

// lineStateOf says where the line of a state started, seen from its innermost form.
func lineStateOf(st *searchState, line int32) lineState {
	switch {
	case st.top == nil || st.top.line == line:
		return openedHere
	case st.lineFrame == st.top:
		return startedHere
	}
	return startedDeeper
}

func (st *searchState) shape() shape {
	if st.top == nil {
		return inText
	}
	return st.top.shape
}

// turnCounts gives the counts of what may come next; line is where the state is now.
func (s *style) turnCounts(st *searchState, line int32) *[turns]float64 {
	in := st.shape()
	return &s.turns[in][lineStateOf(st, line)][stepsOf(in, st.count)][st.last]
}

func (s *style) classCounts(st *searchState) *[classes]float64 {
	in := st.shape()
	return &s.classes[in][stepsOf(in, st.count)][st.last]
}

// formCost is what it takes for the form that starts with p to come next; line is the one before p.
func (s *style) formCost(st *searchState, p *piece, line int32) float64 {
	next := onSameLine
	if p.first {
		next = onNewLine
	}
	c := classOf(p)
	often := s.classCounts(st)[c]
	pair := &s.pairs[st.shape()][st.earlier][st.last]
	often = (pair[c] + likePairs*often) / (sum(pair[:]) + likePairs)
	if seen := s.argCounts(st); seen != nil {
		often = (seen[c] + likeOthers*often) / (sum(seen[:]) + likeOthers)
	}
	return s.turnCounts(st, line)[next] - weightHabit*math.Log(often)
}

// What is known in general is worth so many times of seeing a case.
const (
	likeOthers = 2.0 // a word: what is known of all words
	likePairs  = 6.0 // two forms: what is known of the last one and of how many there are
)

// argCounts gives the counts of what the next argument in the innermost form is, nil where nothing is known.
func (s *style) argCounts(st *searchState) *[classes]float64 {
	w := s.headOf(st)
	if w == nil || st.count == 0 {
		return nil
	}
	if n := st.count - 1 + int32(st.top.threaded&1); n < knownArgs {
		return &w.args[n]
	}
	return nil
}

// argCount gives how many arguments the innermost form has, with the one that comes from elsewhere.
func (st *searchState) argCount() int {
	return min(max(int(st.count)-1, 0)+min(int(st.top.threaded), 1), arities-1)
}

// headOf gives what is known of the head of the innermost form, nil for nothing.
func (s *style) headOf(st *searchState) *word {
	if st.top == nil || st.top.head == 0 {
		return nil
	}
	return s.words[st.top.head]
}

// closeCost is what it takes for the innermost form to end on a line.
func (s *style) closeCost(st *searchState, line int32) float64 {
	c := s.turnCounts(st, line)[ending]
	if w := s.headOf(st); w != nil {
		n := st.argCount()
		often := (s.usual[n] + 1) / (sum(s.usual[:]) + arities)
		c += weightArity * (math.Log(often) - math.Log((w.arity[n]+likeOthers*often)/(sum(w.arity[:])+likeOthers)))
	}
	return c
}

// Heads that are told apart by their sort only.
const (
	keywordHead uint64 = 2
	methodHead  uint64 = 4
	newHead     uint64 = 6
)

// headHash gives a hash of the symbol or keyword at the start of a list.
func headHash(text []byte) uint64 {
	switch {
	case text[0] == ':':
		switch string(text) {
		case ":require", ":import", ":use", ":refer-clojure", ":gen-class", ":require-macros":
			return wordHash(text)
		}
		return keywordHead
	case text[0] == '.' && len(text) > 1:
		return methodHead
	case text[len(text)-1] == '.' && len(text) > 1:
		return newHead
	}
	return wordHash(text)
}

func wordHash(word []byte) uint64 {
	h := uint64(fnvOffset)
	for _, c := range word {
		h = mix(h, uint64(c))
	}
	return h | 1
}

// mix is a step of FNV-1a, which is all the hashing that is needed here.
func mix(h, v uint64) uint64 { return (h ^ v) * 1099511628211 }

const fnvOffset = 14695981039346656037
