package triage

import (
	"fmt"
	"slices"
	"strings"
)

// compiler builds tables of patterns.
type compiler struct {
	tables
	numbers map[string]wordID
	classes map[string][]wordID
}

// compileTables compiles the patterns of the rules and of the marks.
func compileTables(rules []rule) (*tables, error) {
	c := compiler{numbers: map[string]wordID{}, classes: map[string][]wordID{}}
	c.hash = make([]uint16, hashSize)
	for _, class := range wordClasses {
		for word := range strings.FieldsSeq(class.words) {
			c.classes[class.name] = append(c.classes[class.name], c.number(word))
		}
	}
	for i := range rules {
		r := &rules[i]
		if _, err := c.add(int16(i), r.any); err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.name, err)
		}
		with, err := c.add(noRule, r.with)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.name, err)
		}
		unless, err := c.add(noRule, r.unless)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.name, err)
		}
		c.with, c.unless = append(c.with, with), append(c.unless, unless)
	}
	for kind, texts := range markTable() {
		if _, err := c.add(int16(-1-kind), texts); err != nil {
			return nil, fmt.Errorf("mark %d: %w", kind, err)
		}
	}
	c.chooseAnchors()
	return &c.tables, nil
}

func (c *compiler) number(word string) wordID {
	id, ok := c.numbers[word]
	if !ok {
		c.words = append(c.words, word)
		id = wordID(len(c.words)) //nolint:gosec // a few thousand words
		c.numbers[word] = id
		at := placeOfHash(hashText(word))
		for c.hash[at] != 0 {
			at = (at + 1) & (hashSize - 1)
		}
		c.hash[at] = uint16(id)
	}
	return id
}

func (c *compiler) add(rule int16, texts []string) (span [2]uint16, err error) {
	span[0] = uint16(len(c.patterns)) //nolint:gosec // a few thousand patterns
	for _, text := range texts {
		if err := c.pattern(rule, text); err != nil {
			return span, err
		}
	}
	span[1] = uint16(len(c.patterns)) //nolint:gosec // a few thousand patterns
	return span, nil
}

// pattern compiles one pattern. The error is a mistake in a table; a test reads all of them.
func (c *compiler) pattern(rule int16, text string) error {
	p := compiled{rule: rule, first: uint16(len(c.elements))} //nolint:gosec // a test bounds the tables
	for field := range strings.FieldsSeq(text) {
		e, err := c.element(field)
		if err != nil {
			return fmt.Errorf("pattern %q: %w", text, err)
		}
		c.elements = append(c.elements, e)
		p.n++
		for _, word := range []string{"not", "no", "never", "without", "nothing"} {
			p.negative = p.negative || e.kind == oneOf && c.has(&e, c.number(word))
		}
	}
	if len(c.words) > hashSize/2 || len(c.ids) > 1<<15 || len(c.elements) > 1<<15 {
		return fmt.Errorf("pattern %q: the tables are full", text)
	}
	c.patterns = append(c.patterns, p)
	return nil
}

func (c *compiler) element(field string) (element, error) {
	e := element{from: uint16(len(c.ids))} //nolint:gosec // a test bounds the tables
	if rest, ok := strings.CutSuffix(field, "?"); ok && rest != "" {
		field, e.optional = rest, true
	}
	switch field {
	case "_":
		e.kind = anyWord
	case "..":
		e.kind = shortGap
	case "...":
		e.kind = longGap
	case "^":
		e.kind = clauseStart
	case "$":
		e.kind = sentenceEnd
	default:
		for word := range strings.SplitSeq(field, "|") {
			if name, ok := strings.CutPrefix(word, "{"); ok {
				class, known := c.classes[strings.TrimSuffix(name, "}")]
				if !known {
					return e, fmt.Errorf("no class %s", word)
				}
				c.ids = append(c.ids, class...)
				continue
			}
			if word == "" {
				return e, fmt.Errorf("an empty word in %q", field)
			}
			c.ids = append(c.ids, c.number(word))
		}
		slices.Sort(c.ids[e.from:]) // so that has can search
		c.ids = c.ids[:int(e.from)+len(slices.Compact(c.ids[e.from:]))]
		e.n = uint16(len(c.ids)) - e.from //nolint:gosec // a test bounds the tables
	}
	return e, nil
}

// frequencies says how many of 2,000 sentences of the labelled conversations have a word, at least; words that fewer than five have are
// not listed.
var frequencies = []struct {
	sentences int
	words     string
}{
	{1000, "."},
	{500, "the ,"},
	{250, "and NUM a it i in is"},
	{120, "CODE to for with : ? on of that will"},
	{60, "not s you are at one so we do can no ; now from would me what"},
	{30, "as by have all be has then there two let ok only this or an first which about how QUOTE look them PATH does " +
		"was they each yes per after both new but see three tests go before every good up"},
	{15, "file run its our when use out write if your add should my need like over read time ) through get please same " +
		"back into still nothing right old ! next ( page check again since here us files second pass build change EMOJI " +
		"more never always table could list without just keep test want code app runs start because own last set why " +
		"put takes make today line where"},
	{8, "says too root everything minutes until anything instead know take fixed lines needs off % job any cause fine " +
		"small rows their day leave than am people other done mb once works work come commit four open team call many " +
		"todo data did server left plan well also later must gets key seconds api decided may most ms long step between " +
		"goes name service shall ask order say tell version try script thanks under pls those way log module gives text " +
		"okay wait went image row show were who changed reads cache client had ones some thing error number prefer hand " +
		"header index size state empty export five move plain already down green path uses while yet cluster half store " +
		"gb limit memory used /"},
	{5, "model release calls default full import something added days stays + column end live postgres query repo rest " +
		"rule six date names nobody shows week comes missing fix give schema stay user makes numbers writes builds ci " +
		"find json mode nice request returns session errors lock minute plus queue report twice around button copy gone " +
		"id thx whole bucket got hour keeps node package written queries resolved running update — branch kb search " +
		"shared single staging times understood else itself keys made type against another changes config count hours " +
		"messages month real requests ten great load loop pool stop above either split wants workaround wrong below bit " +
		"clean everywhere form ios port sample standard customer gateway jobs login looks public starts tables token " +
		"compare english function hm lost night slow support … came field library place users year better bytes going " +
		"inside moved network rate value worker"},
}

// chooseAnchors picks for each pattern the element with the rarest words, and sorts the patterns by those words.
func (c *compiler) chooseAnchors() {
	often := make([]int, len(c.words)+1)
	for _, f := range frequencies {
		for word := range strings.FieldsSeq(f.words) {
			often[c.numbers[word]] = f.sentences
		}
	}
	lists := make([][]uint16, len(c.words)+1)
	for number := range c.patterns {
		p := &c.patterns[number]
		best, cost := -1, 0
		for i, e := range c.elementsOf(p) {
			if e.kind != oneOf || e.optional {
				continue
			}
			n := 0
			for _, id := range c.ids[e.from : e.from+e.n] {
				n += 1 + often[id]
			}
			if best < 0 || n < cost {
				best, cost = i, n
			}
		}
		if best < 0 {
			panic("a pattern has no word that must be there") // the tests read all patterns
		}
		p.anchor = uint8(best)
		if p.rule == noRule {
			continue
		}
		e := c.elementsOf(p)[best]
		for _, id := range c.ids[e.from : e.from+e.n] {
			if list := lists[id]; len(list) == 0 || list[len(list)-1] != uint16(number) {
				lists[id] = append(list, uint16(number))
			}
		}
	}
	for _, list := range lists {
		c.anchors = append(c.anchors, uint16(len(c.anchored))) //nolint:gosec // a test bounds the tables
		c.anchored = append(c.anchored, list...)
	}
	c.anchors = append(c.anchors, uint16(len(c.anchored))) //nolint:gosec // a test bounds the tables
}
