package clj

import (
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// WriteHabits counts how balanced texts are written, and writes it as repairhabits.txt has it. scripts/bench-repair -habits calls it.
func WriteHabits(w io.Writer, texts [][]byte) error {
	s := &style{words: map[uint64]*word{}}
	files := map[string]int{":": len(texts), ".": len(texts), "..": len(texts)} // by word: how many texts have it
	for _, src := range texts {
		pieces := piecesOf(src)
		s.learn(src, pieces)
		s.learnRoles(src, pieces)
		for name := range wordsOf(src, pieces) {
			files[name]++
		}
	}
	var out strings.Builder
	for _, t := range habitTables() {
		out.WriteString("[" + t.name + "]\n")
		t.write(&out, s, "", nil)
	}
	out.WriteString("[word]\n")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		word := s.word(habitWord(name))
		if files[name] >= len(texts)/commonWord && sum(word.roles[:])+sum(word.arity[:]) >= leastSeen {
			writeRows(&out, name, word.rows())
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// A word is written down where one text of so many has it, and where it was seen so often.
const (
	commonWord = 50
	leastSeen  = 5
)

// write writes the places whose names start with these.
func (t *habitTable) write(out *strings.Builder, s *style, names string, at []int) {
	if len(at) < len(t.at) {
		for i, name := range t.at[len(at)] {
			t.write(out, s, strings.TrimSpace(names+" "+name), append(slices.Clip(at), i))
		}
		return
	}
	rows := make([][]float64, t.rows)
	for i := range rows {
		rows[i] = t.row(s, append(slices.Clip(at), i))
	}
	writeRows(out, names, rows)
}

// writeRows writes a line, or nothing where there are no counts.
func writeRows(out *strings.Builder, names string, rows [][]float64) {
	line := ""
	for _, counts := range rows {
		line += " " + rowText(counts)
	}
	if line = strings.TrimRight(line, " -"); line != "" {
		out.WriteString(names + line + "\n")
	}
}

// rowText gives the digits of counts.
func rowText(counts []float64) string {
	var text strings.Builder
	for _, n := range counts {
		text.WriteByte(digitOf(n))
	}
	if digits := strings.TrimRight(text.String(), "0"); digits != "" {
		return digits
	}
	return "-"
}

// digitOf gives the digit whose count is the nearest, by ratio.
func digitOf(n float64) byte {
	counts := digitCounts()
	best, least := byte('0'), math.Inf(1)
	for i := range len(countDigits) {
		if d := math.Abs(math.Log((n + 0.01) / (counts[countDigits[i]] + 0.01))); d < least { // 0 is a count too
			best, least = countDigits[i], d
		}
	}
	return best
}

// wordsOf gives the symbols of a text, and the keywords that start its lists and are told apart.
func wordsOf(src []byte, pieces []piece) map[string]bool {
	words := map[string]bool{}
	for i := range pieces {
		p := &pieces[i]
		name := src[p.start:p.end]
		if p.kind == TokenAtom && (!p.keyword || headHash(name) == wordHash(name)) {
			words[string(name)] = true
		}
	}
	return words
}
