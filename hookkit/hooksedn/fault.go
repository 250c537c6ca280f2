package hooksedn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/text"
)

// Remark is a remark about a place in hooks.edn.
type Remark struct {
	Pos  clj.Pos
	Text string
}

// ConfigError is everything that is wrong with a configuration file, in the order of the file.
type ConfigError struct {
	File   string // relative to the project
	Faults []Remark
	src    []byte
}

// Render shows a remark about the file with its place and its line.
func (c *Config) Render(r Remark) string { return r.render(Path, c.src) }

// Error names each fault as file:line:column and shows its line.
func (e *ConfigError) Error() string {
	faults := slices.Clone(e.Faults)
	slices.SortStableFunc(faults, func(a, b Remark) int { return a.Pos.Offset - b.Pos.Offset })
	var b strings.Builder
	for i, f := range faults {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f.render(e.File, e.src))
	}
	return b.String()
}

// render shows a remark as file:line:column, text and the source line.
func (d Remark) render(file string, src []byte) string {
	text := fmt.Sprintf("%s:%d:%d: %s", file, d.Pos.Line, d.Pos.Column, d.Text)
	if excerpt := clj.Excerpt(src, d.Pos); excerpt != "" {
		text += "\n" + strings.TrimRight(excerpt, "\n")
	}
	return text
}

// describe names what stands at a place, for "expected …, found …".
func describe(n *clj.Node) string {
	const longest = 40
	switch n.Kind {
	case clj.Nil:
		return "nil"
	case clj.String:
		return "the string " + clj.QuoteString(text.CutUTF16(n.Text, longest))
	case clj.Map, clj.NamespacedMap, clj.Vector, clj.List, clj.Set:
		return "a " + n.Kind.String()
	case clj.Keyword:
		return "the keyword :" + text.CutUTF16(n.Text, longest)
	case clj.Symbol:
		return "the symbol " + text.CutUTF16(n.Text, longest)
	case clj.Tagged:
		return "a tagged literal #" + text.CutUTF16(n.Text, longest)
	case clj.Bool, clj.Integer, clj.Float, clj.Ratio, clj.Char:
		return text.CutUTF16(n.Text, longest)
	default:
		return "a " + n.Kind.String()
	}
}

// suggestion is " (did you mean `:x`?)" for the known key that name abbreviates or is nearest to, or "".
func suggestion(name string, known []string) string {
	for _, k := range known {
		if len(name) >= 3 && abbreviates(name, k) {
			return didYouMean(k)
		}
	}
	best := text.Within(name, known, max(2, len(name)/3))
	if best == "" {
		return ""
	}
	return didYouMean(best)
}

func didYouMean(key string) string { return fmt.Sprintf(" (did you mean `:%s`?)", key) }

// similar also finds abbreviations, such as cmd for command.
func similar(short, long string) bool {
	return text.Distance(short, long) <= 2 || len(short) >= 2 && abbreviates(short, long)
}

// abbreviates reports whether short begins like long and its letters stand in long in that order.
func abbreviates(short, long string) bool {
	if short[0] != long[0] {
		return false
	}
	i := 0
	for j := 0; j < len(long) && i < len(short); j++ {
		if short[i] == long[j] {
			i++
		}
	}
	return i == len(short)
}
