package clj

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

func TestHabitsAreReadAsTheyAreWritten(t *testing.T) {
	src := []byte(sample)
	var written bytes.Buffer
	assert.NilError(t, WriteHabits(&written, [][]byte{src}))

	learned, read := &style{words: map[uint64]*word{}}, &style{words: map[uint64]*word{}}
	learned.learn(src, piecesOf(src))
	read.readHabits(written.String())
	for _, table := range habitTables() {
		seen := 0.0
		table.each(nil, func(at []int) {
			for i, want := range table.row(learned, at) {
				got := table.row(read, at)[i]
				assert.Assert(t, math.Abs(got-want) <= 0.1*want, "%s at %v: %v became %v", table.name, at, want, got)
				seen += got
			}
		})
		assert.Assert(t, seen > 0, table.name)
	}
}

// each calls f with all places that start with these.
func (t *habitTable) each(at []int, f func(at []int)) {
	switch n := len(at); {
	case n < len(t.at):
		for i := range t.at[n] {
			t.each(append(slices.Clip(at), i), f)
		}
	case n == len(t.at):
		for i := range t.rows {
			f(append(slices.Clip(at), i))
		}
	}
}

func TestCountDigits(t *testing.T) {
	// Each digit stands for a count of its own, and is the one for it; no count is off by more than a tenth.
	counts := digitCounts()
	for i := range len(countDigits) {
		assert.Equal(t, digitOf(counts[countDigits[i]]), countDigits[i])
	}
	for n := 1.0; n < 100_000; n = math.Ceil(1.03 * n) {
		got := counts[digitOf(n)]
		assert.Assert(t, math.Abs(got-n) <= 0.1*n, "%v became %v", n, got)
	}
}

func TestHabitsOfClojureAtLarge(t *testing.T) {
	// All lines can be read, and say what everybody knows.
	s := newStyle()
	body := s.indents[inDefinition][1]
	assert.Assert(t, body[atSibling] > 0.9*sum(body[:]), "lines of a body stand under each other: %v", body)
	for name, count := range map[string]int{"if": 3, "inc": 1, "assoc": 3} {
		w := s.words[wordHash([]byte(name))]
		assert.Assert(t, w != nil, name)
		for n, seen := range w.arity {
			assert.Assert(t, n == count || seen <= w.arity[count], "%s has %d arguments most often: %v", name, count, w.arity)
		}
		assert.Assert(t, w.roles[0] > w.roles[1], "%s starts lists: %v", name, w.roles)
	}
	let := s.words[wordHash([]byte("let"))]
	assert.Assert(t, let.args[0][aVector] > 0.9*sum(let.args[0][:]), "a vector follows let: %v", let.args[0])
}

func BenchmarkNewStyle(b *testing.B) {
	for b.Loop() {
		newStyle()
	}
}
