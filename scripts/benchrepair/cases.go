package main

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// testCase is a damaged text, and what it was.
type testCase struct {
	kind, name string
	whole      bool
	broken     string // the text
	want       string // the text as it was
	// The same damage as an edit of a file, on top of a change that was meant where there is room for one.
	before     string // the file before
	editBroken string
	editWant   string
	focus      clj.Span // of the new fragment in editBroken
	old        string   // the fragment before
}

// makeCases makes count cases of a kind, half of them whole files and half single forms.
func makeCases(k kind, from []source, count int, seed uint64) []testCase {
	rnd := rand.New(rand.NewPCG(seed, uint64(len(k.name))<<8|uint64(k.name[0])))
	var cases []testCase
	for tries := 0; len(cases) < count && tries < count*200; tries++ {
		src := from[rnd.IntN(len(from))]
		c, ok := makeCase(k, src, len(cases)%2 == 0, rnd)
		if ok {
			cases = append(cases, c)
		}
	}
	return cases
}

func makeCase(k kind, src source, whole bool, rnd *rand.Rand) (testCase, bool) {
	node := src.nodes[rnd.IntN(len(src.nodes))]
	start, end := node.Start.Offset, node.End.Offset
	text := src.text
	if !whole {
		text, start, end = src.text[start:end], 0, end-start
	}
	f := newForm(text[:end], tokensWithin(text, start, end), rnd)
	if len(f.tokens) < 6 {
		return testCase{}, false
	}
	d, ok := k.do(f)
	if !ok {
		return testCase{}, false
	}
	if k.name == "two-errors" && whole && rnd.IntN(2) == 0 {
		d, ok = farApart(src, rnd)
		if !ok {
			return testCase{}, false
		}
	}
	c := testCase{kind: k.name, name: src.name, whole: whole}
	if d.cut > 0 {
		c.truncate(text, start, end, d.cut)
	} else {
		c.broken, c.want = apply(text, d.splices), text
		c.makeEdit(d.splices, rnd)
	}
	return c, len(clj.CheckDelimiters("", []byte(c.broken))) > 0 && len(clj.CheckDelimiters("", []byte(c.want))) == 0
}

// farApart damages two forms of a file.
func farApart(src source, rnd *rand.Rand) (damaged, bool) {
	single := []func(*form) (damaged, bool){dropEnd1, extraEnd, extraMid, wrongKind, missingMid, swapClosers}
	var both []damaged
	for range 2 {
		node := src.nodes[rnd.IntN(len(src.nodes))]
		f := newForm(src.text, tokensWithin(src.text, node.Start.Offset, node.End.Offset), rnd)
		d, ok := single[rnd.IntN(len(single))](f)
		if !ok {
			return d, false
		}
		both = append(both, d)
	}
	return join(both[0], both[1])
}

func tokensWithin(text string, start, end int) []clj.Token {
	tokens := clj.Scan([]byte(text[start:end]))
	for i := range tokens {
		tokens[i].Start += start
		tokens[i].End += start
	}
	return tokens
}

func apply(text string, splices []splice) string {
	var b strings.Builder
	last := 0
	for _, s := range splices {
		b.WriteString(text[last:s.start])
		b.WriteString(s.put)
		last = s.end
	}
	b.WriteString(text[last:])
	return b.String()
}

// truncate cuts the text off. As an edit, the form is cut off and what follows it stays.
func (c *testCase) truncate(text string, start, end, cut int) {
	missing := openAt(text[start:cut])
	c.broken, c.want = text[:cut], text[:cut]+missing
	c.before, c.old = text, text[start:end]
	c.editBroken, c.editWant = text[:cut]+text[end:], text[:cut]+missing+text[end:]
	c.focus = clj.Span{Start: start, End: cut}
}

// openAt gives the closers for what is open at the end of a text that is otherwise balanced.
func openAt(text string) string {
	var open []byte
	for _, t := range clj.Scan([]byte(text)) {
		switch t.Kind {
		case clj.TokenOpen:
			open = append(open, map[byte]byte{'(': ')', '[': ']', '{': '}'}[text[t.End-1]])
		case clj.TokenClose:
			open = open[:len(open)-1]
		default:
		}
	}
	slices.Reverse(open)
	return string(open)
}

// makeEdit makes an edit of the damaged lines and one line around them. In every second case it renames a symbol there too.
func (c *testCase) makeEdit(splices []splice, rnd *rand.Rand) {
	c.before = c.want
	start := lineStart(c.want, lineStart(c.want, splices[0].start)-1)
	end := lineEnd(c.want, lineEnd(c.want, splices[len(splices)-1].end)+1)
	meant := splices
	if rnd.IntN(2) == 0 {
		if rename, ok := renamed(c.want, start, end, splices, rnd); ok {
			meant = append(slices.Clone(splices), rename)
			slices.SortFunc(meant, func(a, b splice) int { return a.start - b.start })
			c.editWant = apply(c.want, []splice{rename})
		}
	}
	if c.editWant == "" {
		c.editWant = c.want
	}
	c.editBroken = apply(c.want, meant)
	c.old = c.want[start:end]
	c.focus = clj.Span{Start: start, End: len(c.editBroken) - (len(c.want) - end)}
}

// renamed renames a symbol between start and end that is not part of the damage.
func renamed(text string, start, end int, splices []splice, rnd *rand.Rand) (splice, bool) {
	var fits []clj.Token
	for _, t := range clj.Scan([]byte(text)) {
		if t.Kind != clj.TokenAtom || t.Start < start || t.End > end {
			continue
		}
		if !slices.ContainsFunc(splices, func(s splice) bool { return t.Start <= s.end && s.start <= t.End }) {
			fits = append(fits, t)
		}
	}
	if len(fits) == 0 {
		return splice{}, false
	}
	t := fits[rnd.IntN(len(fits))]
	return splice{t.End, t.End, "-2"}, true
}

func lineStart(text string, at int) int {
	return strings.LastIndexByte(text[:max(min(at, len(text)), 0)], '\n') + 1
}

func lineEnd(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}
