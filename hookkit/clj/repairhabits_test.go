package clj

import (
	"bytes"
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
	assert.Equal(t, read.indents, learned.indents)
	assert.Equal(t, read.turns, learned.turns)
	assert.Equal(t, read.classes, learned.classes)
	assert.Equal(t, read.pairs, learned.pairs)
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
