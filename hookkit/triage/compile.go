package triage

import (
	"fmt"
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
		at := hashOf(word)
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
		e.n = uint16(len(c.ids)) - e.from //nolint:gosec // a test bounds the tables
	}
	return e, nil
}

// frequent are words that nearly every sentence has: a pattern is not looked for because of them if it has others.
const frequent = " the a an is are was were be to of in on for and or it that this we i you with at by as from not no have has had do does did will would can so but if if its our my your all any s one now then us they them " +
	"there which what when after before because use used using make made get got run NUM CODE , . : ; ? ! — ( ) just only also "

// chooseAnchors picks for each pattern the element with the rarest words, and sorts the patterns by those words.
func (c *compiler) chooseAnchors() {
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
				n++
				if strings.Contains(frequent, " "+c.words[id-1]+" ") {
					n += 40
				}
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
