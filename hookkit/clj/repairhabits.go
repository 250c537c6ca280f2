package clj

import (
	_ "embed" // for habits
	"slices"
	"strings"
)

// habits has how Clojure is written at large: WriteHabits counted it in the 300 or so files of some forty Clojure libraries of Debian 12,
// from core.async to trapperkeeper, but not in those of Clojure itself and nREPL, which scripts/bench-repair measures. It has counts, and
// names that several of the libraries use; no text of theirs is in it, so that their licences (most are EPL or MIT) do not reach it.
//
// A name in brackets starts a table, and each line of it has a place in the table and some rows of counts:
//
//	[indent] SHAPE ROW ROW        where lines start: the first one in a form, the others; counts by relation
//	[turn] SHAPE LINE FORMS ROW…  what comes next: a row by the class of the last form; counts by turn
//	[class] SHAPE FORMS ROW…      what sort of form comes next: likewise; counts by class
//	[pair] SHAPE CLASS ROW…       the same, by the classes of the last two forms
//	[word] NAME ROW…              of a symbol: each row of word
//
// A row has a digit of countDigits for each count. Zeros at its end are left out, and so are rows without another count at the end of a
// line; "-" is such a row before others.
//
//go:embed repairhabits.txt
var habits string

// habitTable is a table of habits but the one of words.
type habitTable struct {
	name  string
	worth float64    // how many times of seeing something a row may be worth. What the text itself does counts from once on.
	at    [][]string // the names that a place is given by
	rows  int        // at each place
	row   func(s *style, at []int) []float64
}

const worthWord = 15 // likewise, for words

func habitTables() []habitTable {
	shapeNames := []string{
		"text", "list", "definition", "method", "let", "parameters", "bindings", "vector", "row", "spec", "map", "set",
	}
	classNames := []string{"nothing", "symbol", "keyword", "literal", "string", "list", "vector", "map", "prefixed"}
	lineNames := []string{"opened", "started", "deeper"}
	formNames := []string{"0", "1", "2", "3"}
	return []habitTable{
		{"indent", 80, [][]string{shapeNames}, 2, func(s *style, at []int) []float64 { return s.indents[at[0]][at[1]][:] }},
		{"turn", 30, [][]string{shapeNames, lineNames, formNames}, int(classes), func(s *style, at []int) []float64 {
			return s.turns[at[0]][at[1]][at[2]][at[3]][:]
		}},
		{"class", 40, [][]string{shapeNames, formNames}, int(classes), func(s *style, at []int) []float64 {
			return s.classes[at[0]][at[1]][at[2]][:]
		}},
		{"pair", 60, [][]string{shapeNames, classNames}, int(classes), func(s *style, at []int) []float64 {
			return s.pairs[at[0]][at[1]][at[2]][:]
		}},
	}
}

// habitWord gives the hash of a word in habits. Some words stand for all heads of a sort.
func habitWord(name string) uint64 {
	switch name {
	case ":":
		return keywordHead
	case ".":
		return methodHead
	case "..":
		return newHead
	}
	return wordHash([]byte(name))
}

// rows gives all counts of a word, as habits has them.
func (w *word) rows() [][]float64 {
	return [][]float64{w.roles[:], w.arity[:], w.args[0][:], w.args[1][:], w.args[2][:], w.line[:]}
}

// countDigits are the digits of habits: each is a count of its own, so that all counts take one. The n-th is n up to exactDigits, and
// then 1.2 times the one before it: more than the next digit tells nobody needs.
const (
	countDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	exactDigits = 8
	digitStep   = 1.2
)

// digitCounts gives the counts that digits stand for, by digit.
func digitCounts() [128]float64 {
	var counts [128]float64
	count := 0.0
	for i := range len(countDigits) {
		counts[countDigits[i]] = count
		if i < exactDigits {
			count++
		} else {
			count *= digitStep
		}
	}
	return counts
}

// newStyle gives the habits of Clojure at large.
func newStyle() *style {
	const some = 1000 // words in habits and a text
	s := &style{words: make(map[uint64]*word, some)}
	s.readHabits(habits)
	return s
}

// readHabits reads what WriteHabits wrote.
func (s *style) readHabits(text string) {
	digits := digitCounts()
	var table *habitTable // nil in the one of words
	tables := habitTables()
	at := make([]int, 0, 4)
	for line := range strings.Lines(text) {
		line = line[:len(line)-1]
		if line[0] == '[' {
			table = nil
			if i := slices.IndexFunc(tables, func(t habitTable) bool { return t.name == line[1:len(line)-1] }); i >= 0 {
				table = &tables[i]
			}
			continue
		}
		if table == nil {
			name, rows, _ := strings.Cut(line, " ")
			s.readWord(habitWord(name), rows, &digits)
			continue
		}
		at = at[:0]
		for _, names := range table.at {
			var name string
			name, line, _ = strings.Cut(line, " ")
			at = append(at, slices.Index(names, name)) // a test reads all of habits, so that it is there
		}
		for i := range table.rows {
			line = readCounts(line, table.row(s, append(at, i)), table.worth, &digits)
		}
	}
}

// readWord reads what is known of a word.
func (s *style) readWord(h uint64, rows string, digits *[128]float64) {
	w := s.word(h)
	for _, counts := range w.rows() {
		rows = readCounts(rows, counts, worthWord, digits)
	}
	for n := range w.arity {
		s.usual[n] += w.arity[n]
	}
}

// readCounts reads the first of some rows, makes its counts worth no more than so many together, and gives the other rows.
func readCounts(rows string, counts []float64, worth float64, digits *[128]float64) string {
	row, rows, _ := strings.Cut(rows, " ")
	if row == "-" {
		return rows
	}
	total := 0.0
	for i := range row {
		counts[i] = digits[row[i]]
		total += counts[i]
	}
	if total > worth {
		for i := range counts {
			counts[i] *= worth / total
		}
	}
	return rows
}
