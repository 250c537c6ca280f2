package stop

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
)

// memory is what a session remembers from stop to stop.
type memory struct {
	counts map[string]int         // failures in a row, by hook name; the public state file
	told   map[string]bool        // hooks whose failure the agent has read; armed again when they pass
	passed map[string]string      // :when-changed hooks: fingerprint at the last pass
	failed map[string]lastFailure // retrying hooks: the last failures
}

// lastFailure is how a hook failed last, to notice that nothing moves.
type lastFailure struct {
	output string // fingerprint of the output
	files  string // snapshot of the project after the run
	runs   int    // how often in a row it failed like that, with no change in between
}

// stuckAfter is how many equal failures in a row are called no progress.
const stuckAfter = 3

func newMemory() *memory {
	return &memory{
		counts: map[string]int{},
		told:   map[string]bool{},
		passed: map[string]string{},
		failed: map[string]lastFailure{},
	}
}

// knows reports whether anything is remembered that a pass of the hook would change.
func (m *memory) knows(name string) bool {
	_, counted := m.counts[name]
	_, failed := m.failed[name]
	return counted || failed || m.told[name] || m.told[configName]
}

// pass forgets a hook's failures. A count that was there stays as 0, as the state file documents.
func (m *memory) pass(name string) {
	if _, counted := m.counts[name]; counted {
		m.counts[name] = 0
	}
	delete(m.told, name)
	delete(m.failed, name)
}

// fail notes a failure and reports whether the hook is stuck. before and after are snapshots
// of the project around the run; "" means unknown, which never counts as unchanged.
func (m *memory) fail(name, output, before, after string) (stuck bool) {
	last := m.failed[name]
	runs := 1
	if last.output == output && last.files != "" && last.files == before {
		runs = last.runs + 1
	}
	m.failed[name] = lastFailure{output: output, files: after, runs: runs}
	return runs >= stuckAfter
}

// countsText is the public state file: an EDN map of hook name to count.
func (m *memory) countsText() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(m.counts)) {
		if i > 0 {
			b.WriteString("\n ")
		}
		fmt.Fprintf(&b, "%s %d", clj.QuoteString(name), m.counts[name])
	}
	b.WriteString("}\n")
	return b.String()
}

var errState = errors.New("it is no map of hook names to counts")

func (m *memory) readCounts(text []byte) error {
	root, err := readMap(text)
	if err != nil {
		return err
	}
	for key, value := range root.Pairs() {
		n, ok := value.Int()
		if key.Kind != clj.String || !ok || n < 0 || n > 1<<31 {
			return errState
		}
		m.counts[key.Text] = int(n)
	}
	return nil
}

// detailsText is the private state file, EDN too.
func (m *memory) detailsText() string {
	var b strings.Builder
	b.WriteString("{:version 1\n :told [")
	for i, name := range slices.Sorted(maps.Keys(m.told)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(clj.QuoteString(name))
	}
	b.WriteString("]\n :passed {")
	for _, name := range slices.Sorted(maps.Keys(m.passed)) {
		fmt.Fprintf(&b, "%s %s ", clj.QuoteString(name), clj.QuoteString(m.passed[name]))
	}
	b.WriteString("}\n :failed {")
	for _, name := range slices.Sorted(maps.Keys(m.failed)) {
		f := m.failed[name]
		fmt.Fprintf(&b, "%s [%s %s %d] ", clj.QuoteString(name), clj.QuoteString(f.output), clj.QuoteString(f.files), f.runs)
	}
	b.WriteString("}}\n")
	return b.String()
}

var errDetails = errors.New("it is not what this version of brepl writes")

func (m *memory) readDetails(text []byte) error {
	root, err := readMap(text)
	if err != nil {
		return err
	}
	if v, ok := root.Get("version").Int(); !ok || v != 1 {
		return errDetails
	}
	if told := root.Get("told"); told != nil {
		for _, n := range told.Children {
			m.told[n.Text] = true
		}
	}
	for name, seen := range root.Get("passed").Pairs() {
		m.passed[name.Text] = seen.Text
	}
	for name, f := range root.Get("failed").Pairs() {
		if len(f.Children) != 3 {
			return errDetails
		}
		runs, _ := f.Children[2].Int()
		m.failed[name.Text] = lastFailure{f.Children[0].Text, f.Children[1].Text, int(runs)}
	}
	return nil
}

func readMap(text []byte) (*clj.Node, error) {
	forms, errs := clj.ReadAll("", text, clj.Options{Dialect: clj.EDN, MaxDepth: 8, MaxBytes: maxStateBytes})
	switch {
	case len(errs) > 0:
		return nil, errs[0]
	case len(forms) != 1 || forms[0].Kind != clj.Map:
		return nil, errState
	}
	return forms[0], nil
}
