package clj

import (
	_ "embed" // for habits
	"slices"
	"strconv"
	"strings"
)

// habits has how Clojure is written at large: WriteHabits counted it in the 300 or so files of some forty Clojure libraries of Debian 12,
// from core.async to trapperkeeper, but not in those of Clojure itself and nREPL, which scripts/bench-repair measures. A line is one of
//
//	indent SHAPE 0|1 | COUNT…              where lines start: by relation
//	turn SHAPE LINE FORMS CLASS | COUNT…   what comes next: by turn
//	class SHAPE FORMS CLASS | COUNT…       what sort of form comes next: by class
//	pair SHAPE CLASS CLASS | COUNT…        the same, by the last two forms
//	word NAME | COUNT… | COUNT…            of a symbol: each row of word
//
// Counts of zero at the end of a row are left out, and lines with no others.
//
//go:embed repairhabits.txt
var habits string

// Names in habits, in the order of the constants.
var (
	shapeNames = []string{
		"text", "list", "definition", "method", "let", "parameters", "bindings", "vector", "row", "spec", "map", "set",
	}
	classNames = []string{"nothing", "symbol", "keyword", "literal", "string", "list", "vector", "map", "prefixed"}
	lineNames  = []string{"opened", "started", "deeper"}
	// headNames has the words that stand for all heads of a sort.
	headNames = map[string]uint64{":": keywordHead, ".": methodHead, "..": newHead}
)

// How many times of seeing something the habits of Clojure at large are worth. What the text itself does counts from once on.
const (
	worthIndents = 80
	worthTurns   = 30
	worthClasses = 40
	worthPairs   = 60
	worthWord    = 15
)

// newStyle gives the habits of Clojure at large.
func newStyle() *style {
	s := &style{words: map[uint64]*word{}}
	s.readHabits(habits)
	return s
}

// readHabits reads what WriteHabits wrote.
func (s *style) readHabits(text string) {
	for line := range strings.Lines(text) {
		name, counts, _ := strings.Cut(line, " |")
		at := strings.Fields(name)
		switch at[0] {
		case "indent":
			readCounts(counts, s.indents[nameIndex(shapeNames, at[1])][habitNumber(at[2])][:], worthIndents)
		case "turn":
			row := &s.turns[nameIndex(shapeNames, at[1])][nameIndex(lineNames, at[2])][habitNumber(at[3])][nameIndex(classNames, at[4])]
			readCounts(counts, row[:], worthTurns)
		case "class":
			row := &s.classes[nameIndex(shapeNames, at[1])][habitNumber(at[2])][nameIndex(classNames, at[3])]
			readCounts(counts, row[:], worthClasses)
		case "pair":
			row := &s.pairs[nameIndex(shapeNames, at[1])][nameIndex(classNames, at[2])][nameIndex(classNames, at[3])]
			readCounts(counts, row[:], worthPairs)
		case "word":
			s.readWord(at[1], counts)
		}
	}
}

// readWord reads what is known of a word.
func (s *style) readWord(name, rows string) {
	h, isSort := headNames[name]
	if !isSort {
		h = wordHash([]byte(name))
	}
	w := s.word(h)
	for _, counts := range w.rows() {
		var row string
		row, rows, _ = strings.Cut(rows, "|")
		readCounts(row, counts, worthWord)
	}
	for n := range w.arity {
		s.usual[n] += w.arity[n]
	}
}

// rows gives all counts of a word, as habits has them.
func (w *word) rows() [][]float64 {
	rows := [][]float64{w.roles[:], w.arity[:]}
	for i := range w.args {
		rows = append(rows, w.args[i][:])
	}
	return append(rows, w.line[:])
}

// readCounts reads counts, and makes them worth no more than so many together.
func readCounts(text string, counts []float64, worth float64) {
	total := 0.0
	i := 0
	for field := range strings.FieldsSeq(text) {
		counts[i] = float64(habitNumber(field))
		total += counts[i]
		i++
	}
	for i := range counts {
		counts[i] *= min(worth/max(total, 1), 1)
	}
}

// nameIndex gives the place of a name in habits. A test reads all of habits, so that it is there.
func nameIndex(names []string, name string) int { return slices.Index(names, name) }

// habitNumber reads a count of habits; as above.
func habitNumber(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
