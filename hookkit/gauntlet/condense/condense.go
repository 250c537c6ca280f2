// Package condense shortens the output of a failing check to what somebody needs who has to mend it: the failing cases first, each
// with its place and its message, then the tool's own closing lines.
//
// It knows the output of some tools by a table of patterns (tools.go). Output that none of them claims is cut to its end, where most
// programs say what went wrong.
//
// It serves the programs of this repository and carries no promise of stability.
package condense

import (
	"fmt"
	"strings"

	"github.com/hookkit/brepl/hookkit/text"
)

// Limits bounds a Report. A zero field means its default.
type Limits struct {
	Cases int // how many failing cases are kept; default 10
	Lines int // how many lines of one case, or of the end of unknown output; default 24
	Width int // how many bytes of one line; default 300
}

func (l Limits) withDefaults() Limits {
	if l.Cases <= 0 {
		l.Cases = 10
	}
	if l.Lines <= 0 {
		l.Lines = 24
	}
	if l.Width <= 0 {
		l.Width = 300
	}
	return l
}

// Report is what is left of an output.
type Report struct {
	// Tools names the tools whose output was recognised, in the order of their first failing case; none: the output is unknown.
	Tools []string `json:"tools,omitempty"`
	// Cases are the failing cases, errors before warnings, otherwise in the order of the output.
	Cases []Case `json:"cases,omitempty"`
	// More is how many cases were found beyond Limits.Cases.
	More int `json:"more,omitempty"`
	// Summary holds the tools' own closing lines, such as "3 failed, 20 passed".
	Summary []string `json:"summary,omitempty"`
	// Tail is the end of an unknown output, and what stands behind cases that need not be the cause.
	Tail []string `json:"tail,omitempty"`
}

// Case is one failing test or one finding.
type Case struct {
	Tool  string   `json:"tool"`
	Name  string   `json:"name"`            // the test, or the message
	Where string   `json:"where,omitempty"` // file:line or file:line:column, as the tool wrote it
	Lines []string `json:"lines,omitempty"` // as printed, the first one included
	Cut   int      `json:"cut,omitempty"`   // how many lines were left out in the middle

	warning, loose bool
}

// Output condenses the output of a check that failed. Its time is linear in the length of the output; the caller bounds that.
func Output(output string, limits Limits) Report {
	limits = limits.withDefaults()
	lines := cleanLines(output, limits.Width)
	r := newReader(limits)
	for _, line := range goVerbose(lines) {
		r.line(line)
	}
	report := r.report()
	if len(report.Cases) == 0 {
		report = Report{Tail: tail(lines, limits.Lines)}
	}
	return report
}

// cleanLines gives the lines of an output as a terminal would leave them, each at most width bytes. Blank lines at the end are dropped.
func cleanLines(output string, width int) []string {
	var lines []string
	for line := range strings.Lines(strings.TrimRight(text.Screen(output), " \t\n")) {
		lines = append(lines, text.CutBytes(strings.TrimSuffix(line, "\n"), width))
	}
	return lines
}

func tail(lines []string, n int) []string {
	if len(lines) > n {
		lines = append([]string{fmt.Sprintf("… %d lines before", len(lines)-n)}, lines[len(lines)-n:]...)
	}
	return lines
}

// Text shows the report as plain lines.
func (r Report) Text() string {
	var b strings.Builder
	for _, c := range r.Cases {
		c.write(&b)
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "… and %d more\n", r.More)
	}
	for _, line := range append(r.Summary, r.Tail...) {
		b.WriteString(line + "\n")
	}
	return b.String()
}

func (c *Case) write(b *strings.Builder) {
	half := len(c.Lines)
	if c.Cut > 0 {
		half = headOf(len(c.Lines))
	}
	for i, line := range c.Lines {
		if i == half {
			fmt.Fprintf(b, "    … %d lines\n", c.Cut)
		}
		b.WriteString(line + "\n")
	}
}

// headOf is how many of n kept lines are the first ones of a case; the others are its last ones.
func headOf(n int) int { return (n + 1) / 2 }
