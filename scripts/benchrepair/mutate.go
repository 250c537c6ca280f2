package main

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// splice replaces text[start:end] by put.
type splice struct {
	start, end int
	put        string
}

// damaged is a text with its damage, before and after.
type damaged struct {
	splices []splice // in order, not touching each other
	// cut is where the text ends, for a text that was cut off; the closers that are missing then belong there. 0: it was not.
	cut int
}

// form is what a mutation works on: a top-level form, by its tokens.
type form struct {
	text   string
	tokens []clj.Token // of the form, without spaces and comments
	all    []clj.Token // with them
	end    int         // index in tokens of the first closer of the run that ends the form
	rnd    *rand.Rand
}

// kind is a way to damage a form. It says false where the form does not lend itself.
type kind struct {
	name string
	do   func(f *form) (damaged, bool)
}

func allKinds() []kind {
	return []kind{
		{"drop-end-1", dropEnd1},
		{"drop-end-n", dropEndN},
		{"extra-end", extraEnd},
		{"extra-mid", extraMid},
		{"wrong-kind", wrongKind},
		{"missing-mid", missingMid},
		{"swap-closers", swapClosers},
		{"drop-opener", dropOpener},
		{"truncated", truncated},
		{"unclosed-string", unclosedString},
		{"comment-swallow", commentSwallow},
		{"moved-closer", movedCloser},
		{"two-errors", twoErrors},
	}
}

func newForm(text string, all []clj.Token, rnd *rand.Rand) *form {
	f := &form{text: text, all: all, rnd: rnd}
	for _, t := range all {
		if t.Kind != clj.TokenSpace && t.Kind != clj.TokenComment {
			f.tokens = append(f.tokens, t)
		}
	}
	f.end = len(f.tokens)
	for f.end > 0 && f.tokens[f.end-1].Kind == clj.TokenClose {
		f.end--
	}
	return f
}

func (f *form) source(t clj.Token) string { return f.text[t.Start:t.End] }

// pick gives the index of a token that is fit, -1 for none.
func (f *form) pick(from, to int, fit func(i int) bool) int {
	var fits []int
	for i := from; i < to; i++ {
		if fit(i) {
			fits = append(fits, i)
		}
	}
	if len(fits) == 0 {
		return -1
	}
	return fits[f.rnd.IntN(len(fits))]
}

func (f *form) isCloser(i int) bool { return f.tokens[i].Kind == clj.TokenClose }

func drop(t clj.Token) splice { return splice{t.Start, t.End, ""} }

func one(s splice) (damaged, bool) { return damaged{splices: []splice{s}}, true }

func dropEnd1(f *form) (damaged, bool) {
	if f.end == len(f.tokens) {
		return damaged{}, false
	}
	return one(drop(f.tokens[f.end+f.rnd.IntN(len(f.tokens)-f.end)]))
}

func dropEndN(f *form) (damaged, bool) {
	run := len(f.tokens) - f.end
	if run < 2 {
		return damaged{}, false
	}
	n := 2 + f.rnd.IntN(run-1)
	var d damaged
	for _, t := range f.tokens[len(f.tokens)-n:] {
		d.splices = append(d.splices, drop(t))
	}
	return d, true
}

func extraEnd(f *form) (damaged, bool) {
	last := f.tokens[len(f.tokens)-1]
	if last.Kind != clj.TokenClose {
		return damaged{}, false
	}
	return one(splice{last.End, last.End, strings.Repeat(f.source(last), 1+f.rnd.IntN(2))})
}

var closers = []string{")", "]", "}"}

func extraMid(f *form) (damaged, bool) {
	i := f.pick(0, f.end, f.isCloser)
	if f.rnd.IntN(4) == 0 {
		// Anywhere, and not only where something is closed already.
		i = f.pick(0, f.end, func(i int) bool { return f.tokens[i].Kind < clj.TokenQuote && f.tokens[i].Kind != clj.TokenOpen })
	}
	if i < 0 {
		return damaged{}, false
	}
	put := ")"
	if f.isCloser(i) {
		put = f.source(f.tokens[i])
	}
	if f.rnd.IntN(4) == 0 {
		put = closers[f.rnd.IntN(3)]
	}
	return one(splice{f.tokens[i].End, f.tokens[i].End, put})
}

func wrongKind(f *form) (damaged, bool) {
	i := f.pick(0, len(f.tokens), f.isCloser)
	if i < 0 {
		return damaged{}, false
	}
	t := f.tokens[i]
	others := slices.DeleteFunc(slices.Clone(closers), func(c string) bool { return c == f.source(t) })
	return one(splice{t.Start, t.End, others[f.rnd.IntN(2)]})
}

func missingMid(f *form) (damaged, bool) {
	i := f.pick(0, f.end, f.isCloser)
	if i < 0 {
		return damaged{}, false
	}
	return one(drop(f.tokens[i]))
}

func swapClosers(f *form) (damaged, bool) {
	i := f.pick(0, len(f.tokens)-1, func(i int) bool {
		return f.isCloser(i) && f.isCloser(i+1) && f.source(f.tokens[i]) != f.source(f.tokens[i+1])
	})
	if i < 0 {
		return damaged{}, false
	}
	a, b := f.tokens[i], f.tokens[i+1]
	return damaged{splices: []splice{{a.Start, a.End, f.source(b)}, {b.Start, b.End, f.source(a)}}}, true
}

func dropOpener(f *form) (damaged, bool) {
	i := f.pick(0, len(f.tokens), func(i int) bool { return f.tokens[i].Kind == clj.TokenOpen })
	if i < 0 {
		return damaged{}, false
	}
	return one(drop(f.tokens[i]))
}

func truncated(f *form) (damaged, bool) {
	i := f.pick(1, f.end, func(i int) bool { return f.tokens[i].Kind < clj.TokenQuote })
	if i < 0 {
		return damaged{}, false
	}
	return damaged{cut: f.tokens[i].End}, true
}

func unclosedString(f *form) (damaged, bool) {
	i := f.pick(0, len(f.tokens), func(i int) bool {
		return f.tokens[i].Kind == clj.TokenString || f.tokens[i].Kind == clj.TokenRegex
	})
	if i < 0 {
		return damaged{}, false
	}
	return one(splice{f.tokens[i].End - 1, f.tokens[i].End, ""})
}

// commentSwallow puts the closers at the end of a line into a comment. The comment stays in a repair, so that none is text-equal.
func commentSwallow(f *form) (damaged, bool) {
	i := f.pick(0, len(f.tokens), func(i int) bool {
		if !f.isCloser(i) || i > 0 && f.isCloser(i-1) {
			return false
		}
		last := i
		for last+1 < len(f.tokens) && f.isCloser(last+1) {
			last++
		}
		rest, _, _ := strings.Cut(f.text[f.tokens[last].End:], "\n")
		return strings.Trim(rest, " \r\t") == "" && !strings.Contains(f.text[f.tokens[i].Start:f.tokens[last].End], "\n")
	})
	if i < 0 {
		return damaged{}, false
	}
	at := f.tokens[i].Start
	put := []string{" ; the rest ", " ;; see below", ";"}[f.rnd.IntN(3)]
	return one(splice{at, at, put})
}

// movedCloser takes a closer away and puts it elsewhere nearby.
func movedCloser(f *form) (damaged, bool) {
	i := f.pick(0, len(f.tokens), f.isCloser)
	if i < 0 {
		return damaged{}, false
	}
	j := f.pick(max(i-8, 0), min(i+9, len(f.tokens)), func(j int) bool {
		return (j < i-1 || j > i) && f.tokens[j].Kind < clj.TokenQuote && f.tokens[j].Kind != clj.TokenOpen
	})
	if j < 0 {
		return damaged{}, false
	}
	put := splice{f.tokens[j].End, f.tokens[j].End, f.source(f.tokens[i])}
	d := damaged{splices: []splice{drop(f.tokens[i]), put}}
	if j < i {
		slices.Reverse(d.splices)
	}
	return d, true
}

// twoErrors does two of the others. In a whole file the second may be in another form: see caseOf.
func twoErrors(f *form) (damaged, bool) {
	single := []func(*form) (damaged, bool){dropEnd1, extraEnd, extraMid, wrongKind, missingMid, swapClosers}
	a, ok := single[f.rnd.IntN(len(single))](f)
	if !ok {
		return damaged{}, false
	}
	b, ok := single[f.rnd.IntN(len(single))](f)
	if !ok {
		return damaged{}, false
	}
	return join(a, b)
}

// join puts the damage of two mutations together, unless they touch.
func join(a, b damaged) (damaged, bool) {
	d := damaged{splices: slices.Concat(a.splices, b.splices)}
	slices.SortFunc(d.splices, func(x, y splice) int { return x.start - y.start })
	for i := 1; i < len(d.splices); i++ {
		if d.splices[i].start <= d.splices[i-1].end {
			return damaged{}, false
		}
	}
	return d, true
}
