package clj

import (
	_ "embed" // for habits
	"math"
	"strings"
)

//go:embed repairhabits.clj
var habits string

// relation says where a line starts, seen from the form it is in.
type relation uint8

const (
	atSibling relation = iota // with the line before it in the same form
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

// style has the habits of a text: how often lines start where, what follows on what. It begins with habits of Clojure at large and
// learns from the healthy forms around the damage.
type style struct {
	indents [shapes][2][relations]float64 // by [another line of the form came before]
	turns   [shapes][lineStates][counted][classes][turns]float64
	classes [shapes][counted][classes][classes]float64
	arity   map[uint64]*[arities]float64
	usual   [arities]float64 // the sum of arity
}

// coreArities has functions and macros of clojure.core that are used often: name, fewest and most arguments.
const coreArities = "inc 1 1 dec 1 1 first 1 1 second 1 1 rest 1 1 next 1 1 last 1 1 count 1 1 not 1 1 nil? 1 1 some? 1 1 seq 1 1 " +
	"empty? 1 1 zero? 1 1 pos? 1 1 neg? 1 1 keys 1 1 vals 1 1 name 1 1 keyword 1 2 symbol 1 2 deref 1 3 vec 1 1 set 1 1 meta 1 1 " +
	"class 1 1 string? 1 1 keyword? 1 1 symbol? 1 1 map? 1 1 vector? 1 1 seq? 1 1 fn? 1 1 identity 1 1 contains? 2 2 nth 2 3 get 2 3 " +
	"get-in 2 3 assoc-in 3 3 instance? 2 2 if 2 3 if-let 3 3 filter 2 2 remove 2 2 mapv 2 3 into 2 3 take 2 2 drop 2 2 reduce 2 3 " +
	"cons 2 2 every? 2 2 some 2 2 nthnext 2 2 with-meta 2 2 range 1 3 if-not 2 3 not= 2 2 < 2 2 > 2 2 <= 2 2 >= 2 2 = 2 2 throw 1 1 " +
	"quote 1 1 var 1 1 reset! 2 2 atom 1 1 def 1 3 repeat 1 2 reverse 1 1 butlast 1 1 sort-by 2 3 group-by 2 2 satisfies? 2 2 " +
	"apply 2 4 map 2 4 mapcat 2 3 keep 2 2 update-in 3 5 select-keys 2 2 rem 2 2 quot 2 2 mod 2 2 and 2 4 or 2 4 when 2 4 conj 2 3 " +
	"assoc 3 5 dissoc 2 3 swap! 2 5 comp 2 3 partial 2 4 resolve 1 1 require 1 3 list 1 5 gensym 1 1 ex-info 2 3"

// How much each sort of habit counts. Lines are indented with care; what follows on what says less than its counts make believe, as
// they are not independent.
const (
	weightIndent = 1.6
	weightArity  = 1.6
	weightHabit  = 0.6
	seldom       = 0.25 // how often what was never seen counts as seen
)

// newStyle gives the habits of Clojure at large.
func newStyle() *style {
	s := &style{arity: map[uint64]*[arities]float64{}}
	src := []byte(habits)
	s.learn(src, piecesOf(src))
	for words := strings.Fields(coreArities); len(words) > 0; words = words[3:] {
		for n := words[1][0] - '0'; n <= words[2][0]-'0'; n++ {
			s.learnArity(wordHash([]byte(words[0])), int(n), 2)
		}
	}
	return s
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cost gives the negative logarithm of how likely the chosen one is, from counts. Each has been seen a bit.
func cost(counts []float64, chosen int, bit float64) float64 {
	total := bit * float64(len(counts))
	for _, c := range counts {
		total += c
	}
	return -math.Log((counts[chosen] + bit) / total)
}

// relate says where a line that starts at col stands in a form. sibling is the column of the line before it there, -1 for none.
func relate(f *searchFrame, sibling, col int32) relation {
	switch {
	case f.wraps && col == f.indent:
		return atSibling
	case col <= f.col && col <= f.indent:
		return outside
	case col <= f.col:
		return notDeeper
	case sibling >= 0 && col == sibling:
		return atSibling
	case f.second >= 0 && col == f.second:
		return atSecond
	case col == f.col+1:
		return byOne
	case col == f.col+2:
		return byTwo
	}
	return deeper
}

func (s *style) indentCost(f *searchFrame, sibling, col int32) float64 {
	counts := &s.indents[f.shape][b2i(sibling >= 0)]
	r := relate(f, sibling, col)
	bit := 0.5
	switch r {
	case notDeeper:
		bit = 0.005
	case outside:
		bit = 0.0002
	}
	total := 3.0
	for _, c := range counts {
		total += c
	}
	return -weightIndent * math.Log((counts[r]+bit)/total)
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
	if isPrefixKind(p.kind) {
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
	return weightHabit * (cost(s.turnCounts(st, line)[:], int(next), seldom) + cost(s.classCounts(st)[:], int(classOf(p)), seldom))
}

// closeCost is what it takes for the innermost form to end on a line.
func (s *style) closeCost(st *searchState, line int32) float64 {
	c := weightHabit * cost(s.turnCounts(st, line)[:], int(ending), seldom)
	if seen := s.arity[st.top.head]; seen != nil && st.top.head != 0 {
		n := min(max(int(st.count)-1, 0), arities-1)
		total, usual := 0.0, 0.0
		for i := range seen {
			total += seen[i]
			usual += s.usual[i]
		}
		const weight = 3
		often := (s.usual[n] + 1) / (usual + arities)
		c += weightArity * (math.Log(often) - math.Log((seen[n]+weight*often)/(total+weight)))
	}
	return c
}

// Heads that are told apart by their sort only.
const (
	keywordHead uint64 = 2
	methodHead  uint64 = 4
	newHead     uint64 = 6
)

// headOf gives a hash of the symbol or keyword at the start of a list.
func headOf(text []byte) uint64 {
	switch {
	case text[0] == ':':
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

// learn counts the habits of balanced pieces.
func (s *style) learn(src []byte, pieces []piece) {
	w := walker{src: src, pieces: pieces}
	st := searchState{sibling: -1}
	for i := range pieces {
		p := &pieces[i]
		line := p.line
		if i > 0 {
			line = pieces[i-1].line
		}
		if p.kind == TokenClose {
			if st.top == nil || st.top.closer == 0 {
				return // not balanced after all
			}
			s.turnCounts(&st, line)[ending]++
			if st.top.head != 0 {
				s.learnArity(st.top.head, int(st.count)-1, 1)
			}
			if st.top.shape == inParameters {
				s.learnParameters(&w, &st, i)
			}
			st.pop()
			w.formEnds(&st)
			continue
		}
		if !st.afterPrefix() {
			if p.first {
				s.turnCounts(&st, line)[onNewLine]++
				if st.top != nil {
					s.indents[st.top.shape][b2i(st.sibling >= 0)][relate(st.top, st.sibling, p.left)]++
				}
			} else {
				s.turnCounts(&st, line)[onSameLine]++
			}
			s.classCounts(&st)[classOf(p)]++
		}
		w.lineStarts(&st, p)
		w.take(&st, i)
	}
}

func (s *style) learnArity(head uint64, count int, weight float64) {
	seen := s.arity[head]
	if seen == nil {
		seen = new([arities]float64)
		s.arity[head] = seen
	}
	n := min(max(count, 0), arities-1)
	seen[n] += weight
	s.usual[n] += weight
}

// learnParameters learns how many arguments a function takes, from the vector of its parameters that ends at the i-th piece.
func (s *style) learnParameters(w *walker, st *searchState, i int) {
	f := st.opener()
	definition := f.parent
	if definition != nil && definition.lead != leadsParameters && definition.parent != nil {
		definition = definition.parent
	}
	if definition == nil || definition.lead != leadsParameters || definition.parent != nil {
		return
	}
	for k := int(f.piece) + 1; k < i; k++ {
		if w.pieces[k].end-w.pieces[k].start == 1 && w.src[w.pieces[k].start] == '&' {
			return
		}
	}
	name := &w.pieces[definition.piece+2]
	if name.kind == TokenAtom {
		s.learnArity(wordHash(w.src[name.start:name.end]), int(st.count), 2)
	}
}
