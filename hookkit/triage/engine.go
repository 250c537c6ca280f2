package triage

import (
	"slices"
	"strings"
)

// damper is a reason why a sentence that a rule matches says less than its words.
type damper uint8

const (
	dampNegated damper = 1 << iota
	dampQuestion
	dampConditional
	dampReported
	dampElsewhere // other people, other times, other projects
	dampPlanned   // something still to be done
	dampFeature   // what the program shall do
)

// factors say what is left of a hit's weight.
var dampers = []struct {
	kind   damper
	name   string
	factor float64
}{
	{dampNegated, "negated", 0},
	{dampQuestion, "a question", 0.1},
	{dampConditional, "hypothetical", 0.3},
	{dampReported, "reported", 0.2},
	{dampElsewhere, "about others or another time", 0.2},
	{dampPlanned, "still to be done", 0.3},
	{dampFeature, "what the program shall do", 0.3},
}

// engine applies the rules to sentences. It is for one goroutine at a time.
type engine struct {
	*tables
	rules   []rule
	present []uint64 // the words of the sentence at hand, a bit each
	here    []wordID // the same, by number
	tried   []uint64 // the patterns that were looked for in it
}

// newEngine takes the tables of the program. With more rules, out of the configuration, all are compiled anew, about 2 ms.
func newEngine(extra []rule) (*engine, error) {
	e := &engine{rules: allRules()}
	if len(extra) == 0 {
		e.tables = builtin()
	} else {
		e.rules = append(e.rules, extra...)
		var err error
		if e.tables, err = compileTables(e.rules); err != nil {
			return nil, err
		}
	}
	e.present = make([]uint64, len(e.words)/64+1)
	e.tried = make([]uint64, len(e.patterns)/64+1)
	return e, nil
}

func allRules() []rule {
	rules := make([]rule, 0, 64)
	for _, table := range ruleTables() {
		rules = append(rules, table...)
	}
	return rules
}

func (e *engine) number(s *sentence) {
	for i := range s.words {
		w := &s.words[i]
		w.hash = hashText(w.word)
		w.id = e.id(w.word, w.hash)
	}
}

// find says where one of the patterns from number from up to number to stands in the words.
func (e *engine) find(patterns [2]uint16, words []token) (span, bool) {
	for n := patterns[0]; n < patterns[1]; n++ {
		if s, ok := e.findOne(&e.patterns[n], words); ok {
			return s, true
		}
	}
	return span{}, false
}

// findOne looks for a pattern in the sentence of which present holds the words.
func (e *engine) findOne(c *compiled, words []token) (span, bool) {
	elements := e.elementsOf(c)
	for i := range elements {
		if el := &elements[i]; el.kind == oneOf && !el.optional && !e.hasAny(el) {
			return span{}, false
		}
	}
	first := &elements[0]
	if first.kind == clauseStart && len(elements) > 1 {
		first = &elements[1]
	}
	fixed := first.kind == oneOf && !first.optional
	for at := range words {
		if fixed && !e.has(first, words[at].id) {
			continue
		}
		if end, ok := e.match(elements, words, at); ok {
			return span{at, end}, true
		}
	}
	return span{}, false
}

// hasAny says whether the sentence at hand has a word of the element.
func (e *engine) hasAny(el *element) bool {
	if int(el.n) > 2*len(e.here) {
		for _, id := range e.here {
			if e.has(el, id) {
				return true
			}
		}
		return false
	}
	for _, id := range e.ids[el.from : el.from+el.n] {
		if e.present[id/64]&(1<<(id%64)) != 0 {
			return true
		}
	}
	return false
}

// evidence is a hit of a rule in a sentence.
type evidence struct {
	category Category
	rule     string
	sentence int
	span     span
	raw      float64 // the rule's weight
	weight   float64 // what is left of it
	why      []string
	pattern  *compiled // nil for what the conversation as a whole shows
}

// inspect finds the marks of one sentence, and its evidence: the best hit of each rule.
func (e *engine) inspect(s *sentence, index int) []evidence {
	clear(e.present)
	clear(e.tried)
	e.here = e.here[:0]
	for i := range s.words {
		if id := s.words[i].id; id != 0 && e.present[id/64]&(1<<(id%64)) == 0 {
			e.present[id/64] |= 1 << (id % 64)
			e.here = append(e.here, id)
		}
	}
	var list []evidence
	for i := range s.words {
		id := s.words[i].id
		if id == 0 {
			continue
		}
		for _, n := range e.anchored[e.anchors[id]:e.anchors[id+1]] {
			if e.tried[n/64]&(1<<(n%64)) != 0 {
				continue
			}
			e.tried[n/64] |= 1 << (n % 64)
			c := &e.patterns[n]
			if c.rule >= 0 {
				if who := e.rules[c.rule].who; who == user && s.agent || who == agent && !s.agent {
					continue
				}
			}
			if at, ok := e.findOne(c, s.words); ok {
				if c.rule < 0 {
					s.marks = append(s.marks, marked{mark(-1 - c.rule), at}) //nolint:gosec // there are some dozens of marks
				} else {
					list = append(list, evidence{sentence: index, span: at, pattern: c})
				}
			}
		}
	}
	for i := range list { // the marks are known now
		e.weigh(s, &list[i])
	}
	return bestOf(list)
}

// has says whether a sentence has a mark.
func (s *sentence) has(m mark) bool {
	_, ok := s.find(m, len(s.words))
	return ok
}

// find gives the first place of a mark that ends before a word.
func (s *sentence) find(m mark, before int) (span, bool) {
	best, found := span{}, false
	for _, k := range s.marks {
		if k.mark == m && k.span.end <= before && (!found || k.span.start < best.start) {
			best, found = k.span, true
		}
	}
	return best, found
}

// bestOf keeps one hit of each rule, the heaviest first.
func bestOf(hits []evidence) []evidence {
	slices.SortStableFunc(hits, func(a, b evidence) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	var list []evidence
	for _, h := range hits {
		if !slices.ContainsFunc(list, func(o evidence) bool { return o.rule == h.rule && o.category == h.category }) {
			list = append(list, h)
		}
	}
	return list
}

// weigh applies the sentence's own dampers to a hit.
func (e *engine) weigh(s *sentence, h *evidence) {
	n := h.pattern.rule
	r := &e.rules[n]
	h.category, h.rule, h.raw, h.weight = r.category, r.name, r.weight, r.weight
	if with := e.with[n]; with[0] < with[1] {
		if _, ok := e.find(with, s.words); !ok {
			h.weight = 0
			h.why = append(h.why, "nothing in the sentence says of what")
			return
		}
	}
	if found, ok := e.find(e.unless[n], s.words); ok {
		h.weight = 0
		h.why = append(h.why, "not with “"+s.phrase(found)+"”")
		return
	}
	damped := e.dampersOf(s, h)
	for _, d := range dampers {
		if damped&d.kind != 0 && r.keeps&d.kind == 0 {
			h.weight *= d.factor
			h.why = append(h.why, d.name)
		}
	}
	if s.heading && r.category != Runbook {
		h.weight *= 0.3
		h.why = append(h.why, "a heading")
	}
}

// phrase gives the words of a span for --explain.
func (s *sentence) phrase(at span) string {
	text := ""
	for _, w := range s.words[at.start:min(at.end, len(s.words))] {
		if text != "" {
			text += " "
		}
		text += w.word
	}
	return text
}

// dampersOf describes the sentence around a hit.
func (e *engine) dampersOf(s *sentence, h *evidence) damper {
	at, c := h.span, h.category
	var d damper
	if s.question {
		d |= dampQuestion
	}
	key := at.end
	if h.pattern.negative {
		key = e.key(h.pattern, s.words, at)
	}
	if negated(s.words, at.start, min(key, len(s.words)-1)) {
		d |= dampNegated
	}
	if _, ok := s.find(markConditional, at.end); ok {
		d |= dampConditional
	}
	if s.has(markReported) && c != Constraint {
		d |= dampReported
	}
	if s.has(markElsewhere) || strings.Contains(s.text, "🙃") {
		d |= dampElsewhere
	}
	if _, ok := s.find(markPlanned, at.end); ok && c == Runbook {
		d |= dampPlanned
	}
	if s.has(markFeature) && !s.agent && c != Decision && h.rule != "from now on" {
		d |= dampFeature
	}
	return d
}

// key is where the word stands that chose the sentence: the rarest of the pattern's words.
func (e *engine) key(c *compiled, words []token, at span) int {
	anchor := &e.elementsOf(c)[c.anchor]
	for i := at.start; i < min(at.end, len(words)); i++ {
		if e.has(anchor, words[i].id) {
			return i
		}
	}
	return at.start
}

// negated looks for a negation in front of the key word, from a few words before the hit on, in the same clause.
func negated(words []token, start, key int) bool {
	const reach = 3
	from := start
	for n := 0; from > 0 && n < reach && !endsClause(words[from-1].word); n++ {
		from--
	}
	for i := from; i < key; i++ {
		switch words[i].word {
		case "not", "never", "neither", "nor", "hardly", "without", "nobody", "nothing", "none", "no":
			if next := words[i+1].word; next != "only" && (words[i].word != "no" || next != "," && next != "longer") {
				return true
			}
		}
	}
	return false
}

func endsClause(word string) bool {
	switch word {
	case ",", ";", ":", "—", "(", "but", "and", "so", ".", "->", "because", "then":
		return true
	}
	return false
}
