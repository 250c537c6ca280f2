package condense

import (
	"regexp"
	"slices"
	"strings"
)

// reader goes through an output line by line. At each line one case at most is open.
type reader struct {
	limits   Limits
	grammars []compiled
	closing  []*regexp.Regexp

	open    *openCase
	behind  []string // the last lines behind the last case
	file    string   // the file that the cases belong to, as a line above said
	cases   []Case
	weak    []Case
	summary []string
	seen    map[string]bool // tool and name: some tools print each failure twice
}

// openCase is a case whose end has not come yet.
type openCase struct {
	Case
	grammar *compiled
	blank   int // blank lines at its end that may be outside of it
	last    []string
}

func newReader(limits Limits) *reader {
	r := &reader{limits: limits, seen: map[string]bool{}}
	r.grammars, r.closing = compileAll()
	return r
}

func (r *reader) line(line string) {
	if r.open != nil && r.open.goesOn(line) {
		r.open.add(line, r.limits.Lines)
		return
	}
	r.end()
	if r.begins(line) {
		r.behind = nil
		return
	}
	r.behind = append(r.behind, line)
	if len(r.behind) > keptBehind {
		r.behind = r.behind[1:]
	}
	if len(r.summary) < r.limits.Cases && !slices.Contains(r.summary, line) && slices.ContainsFunc(r.closing, func(re *regexp.Regexp) bool { return re.MatchString(line) }) {
		r.summary = append(r.summary, line)
	}
}

// begins opens a case with the line if there is a grammar for it.
func (r *reader) begins(line string) bool {
	for i := range r.grammars {
		g := &r.grammars[i]
		if g.fileRE != nil {
			if found := g.fileRE.FindStringSubmatch(line); found != nil {
				r.file = found[1]
				return false
			}
		}
		found := g.openRE.FindStringSubmatch(line)
		if found == nil || matches(g.notRE, line) || g.fileRE != nil && r.file == "" {
			continue
		}
		c := Case{Tool: g.tool, warning: matches(g.warningRE, line), loose: g.loose}
		c.Name = strings.TrimSpace(group(g.openRE, found, "name"))
		c.Where = group(g.openRE, found, "where")
		if g.fileRE != nil {
			c.Where = r.file + ":" + c.Where
			line = r.file + ":" + strings.TrimSpace(line)
		}
		r.open = &openCase{Case: c, grammar: g}
		r.open.add(line, r.limits.Lines)
		return true
	}
	return false
}

func group(re *regexp.Regexp, found []string, name string) string {
	if i := re.SubexpIndex(name); i >= 0 {
		return found[i]
	}
	return ""
}

func (c *openCase) goesOn(line string) bool {
	switch {
	case c.grammar.bodyRE != nil:
		return c.grammar.bodyRE.MatchString(line)
	case c.grammar.untilRE != nil:
		return !c.grammar.untilRE.MatchString(line)
	}
	return false
}

// add keeps the first and the last lines of a case, limit in all.
func (c *openCase) add(line string, limit int) {
	switch {
	case matches(c.grammar.noiseRE, line):
		return
	case strings.TrimSpace(line) == "":
		c.blank++
		return
	}
	if c.Where == "" && c.grammar.placeRE != nil {
		if found := c.grammar.placeRE.FindStringSubmatch(line); found != nil {
			c.Where = found[1]
		}
	}
	for range c.blank {
		c.keep("", limit)
	}
	c.blank = 0
	c.keep(line, limit)
}

func (c *openCase) keep(line string, limit int) {
	head := headOf(limit)
	if len(c.Lines) < head {
		c.Lines = append(c.Lines, line)
		return
	}
	c.last = append(c.last, line)
	if len(c.last) > limit-head {
		c.last = c.last[1:]
		c.Cut++
	}
}

// end closes the open case.
func (r *reader) end() {
	c := r.open
	r.open = nil
	if c == nil {
		return
	}
	c.Lines = append(c.Lines, c.last...)
	key := c.Tool + "\x00" + c.Name + "\x00" + c.Where
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	if c.grammar.weak {
		r.weak = append(r.weak, c.Case)
		return
	}
	r.cases = append(r.cases, c.Case)
}

func (r *reader) report() Report {
	r.end()
	strong := toolsOf(r.cases)
	for _, c := range r.weak {
		if !slices.Contains(strong, c.Tool) {
			r.cases = append(r.cases, c)
		}
	}
	slices.SortStableFunc(r.cases, func(a, b Case) int { return rank(a) - rank(b) })
	report := Report{Tools: toolsOf(r.cases), Cases: r.cases, Summary: r.summary}
	if !slices.ContainsFunc(r.cases, func(c Case) bool { return !c.warning && !c.loose }) {
		report.Tail = r.rest()
	}
	if n := len(report.Cases) - r.limits.Cases; n > 0 {
		report.Cases, report.More = report.Cases[:r.limits.Cases], n
	}
	return report
}

// How many lines behind the last case are looked at, and how many are kept of them.
const (
	keptBehind = 40
	restLines  = 6
)

// rest is the end of what stands behind the last case: where that is only a warning, or no failure at all, the cause may be there.
func (r *reader) rest() []string {
	lines := slices.DeleteFunc(r.behind, func(line string) bool { return strings.TrimSpace(line) == "" || slices.Contains(r.summary, line) })
	return lines[max(0, len(lines)-restLines):]
}

// toolsOf names the tools of some cases, each once.
func toolsOf(cases []Case) []string {
	var tools []string
	for _, c := range cases {
		if !slices.Contains(tools, c.Tool) {
			tools = append(tools, c.Tool)
		}
	}
	return tools
}

func rank(c Case) int {
	if c.warning {
		return 1
	}
	return 0
}
