package clj

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// WriteHabits counts how balanced texts are written, and writes it as repairhabits.txt has it. scripts/bench-repair -habits calls it.
func WriteHabits(w io.Writer, texts [][]byte) error {
	s := &style{words: map[uint64]*word{}}
	files := map[string]int{} // by word: how many texts have it
	for _, src := range texts {
		pieces := piecesOf(src)
		s.learn(src, pieces)
		s.learnRoles(src, pieces)
		for name := range wordsOf(src, pieces) {
			files[name]++
		}
	}
	var lines []string
	add := func(name string, rows ...[]float64) {
		if all := sum(slices.Concat(rows...)); all > 0 {
			for _, counts := range rows {
				name += countsText(counts)
			}
			lines = append(lines, name)
		}
	}
	s.eachRow(add)
	common := map[string]uint64{}
	for name, n := range files {
		word := s.word(wordHash([]byte(name)))
		if n >= len(texts)/commonWord && sum(word.roles[:]) >= leastSeen {
			common[name] = wordHash([]byte(name))
		}
	}
	maps.Copy(common, headNames)
	for _, name := range slices.Sorted(maps.Keys(common)) {
		word := s.word(common[name])
		add("word "+name, word.rows()...)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// countsText gives counts without the zeros at their end.
func countsText(counts []float64) string {
	for len(counts) > 0 && counts[len(counts)-1] == 0 {
		counts = counts[:len(counts)-1]
	}
	var text strings.Builder
	text.WriteString(" |")
	for _, n := range counts {
		text.WriteString(" " + strconv.Itoa(int(n)))
	}
	return text.String()
}

// A word is written down where one text of so many has it, and where it was seen so often.
const (
	commonWord = 50
	leastSeen  = 5
)

// wordsOf gives the symbols of a text, and the keywords that start its lists and are told apart.
func wordsOf(src []byte, pieces []piece) map[string]bool {
	words := map[string]bool{}
	for i := range pieces {
		p := &pieces[i]
		name := src[p.start:p.end]
		if p.kind == TokenAtom && (!p.keyword || headOf(name) == wordHash(name)) {
			words[string(name)] = true
		}
	}
	return words
}

// eachRow calls f with the name and the counts of each row but those of words.
func (s *style) eachRow(f func(name string, rows ...[]float64)) {
	for a := range s.indents {
		for b := range s.indents[a] {
			f(fmt.Sprintf("indent %s %d", shapeNames[a], b), s.indents[a][b][:])
		}
	}
	for a := range s.turns {
		for b := range s.turns[a] {
			for c := range s.turns[a][b] {
				for d := range s.turns[a][b][c] {
					f(fmt.Sprintf("turn %s %s %d %s", shapeNames[a], lineNames[b], c, classNames[d]), s.turns[a][b][c][d][:])
				}
			}
		}
	}
	for a := range s.pairs {
		for b := range s.pairs[a] {
			for c := range s.pairs[a][b] {
				f(fmt.Sprintf("pair %s %s %s", shapeNames[a], classNames[b], classNames[c]), s.pairs[a][b][c][:])
			}
		}
	}
	for a := range s.classes {
		for b := range s.classes[a] {
			for c := range s.classes[a][b] {
				f(fmt.Sprintf("class %s %d %s", shapeNames[a], b, classNames[c]), s.classes[a][b][c][:])
			}
		}
	}
}
