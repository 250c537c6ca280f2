package tests

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/project/namespaces"
	"github.com/hookkit/brepl/hookkit/text"
)

// maxProblem is how long the text of one failure may be, in UTF-16 units.
const maxProblem = 2400

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

// none says why there is nothing to run on disk.
func (s *Suite) none() string {
	all := s.Tests(hooksedn.TestOptions{})
	switch {
	case len(all) > 0:
		return fmt.Sprintf("no test ran: no test namespace is left by the hook's options; the project has %s", text.Count(len(all), "test namespace"))
	case s.Scripts > 0:
		return fmt.Sprintf("no test ran: there are only ClojureScript tests (%s), and those do not run here; run them by a :bash hook", text.Count(s.Scripts, "namespace"))
	}
	return "no test ran: the project has no test namespaces: none on its source or test paths has a name that ends with -test, or requires clojure.test and defines tests"
}

// Plan says in a sentence what would run.
func (r *Run) Plan() string {
	if len(r.Chosen) == 0 {
		return r.Suite.none()
	}
	plan := text.Count(len(r.Chosen), "namespace") + ": " + names(r.Chosen)
	if r.Options.Namespaces != "" {
		plan += "; of these what matches " + strconv.Quote(r.Options.Namespaces)
	}
	return plan
}

// String is a line for a person.
func (p Progress) String() string {
	line := fmt.Sprintf("%s: %s", p.Namespace, text.Count(p.Tests, "test"))
	if p.Failed > 0 {
		line += ", " + text.Count(p.Failed, "problem")
	}
	return line + " (" + text.Duration(p.Took) + ")"
}

// empty says why no test ran though there were namespaces to run.
func (r *Run) empty(result *Result) string {
	if len(result.Missing) > 0 {
		return "no test ran: " + r.Suite.missing(result.Missing)
	}
	if len(r.Options.Focus) > 0 || len(r.Options.Skip) > 0 {
		return "no test ran: none is left by :focus and :skip"
	}
	if r.Options.Namespaces != "" {
		return fmt.Sprintf("no test ran: none is in a namespace that matches %s", strconv.Quote(r.Options.Namespaces))
	}
	return "no test ran: there is none in " + names(r.Chosen)
}

// missing says which folders the server does not know, and what to do.
func (s *Suite) missing(list []Namespace) string {
	var folders []string
	for _, n := range list {
		if !slices.Contains(folders, n.Folder) {
			folders = append(folders, n.Folder)
		}
	}
	told := fmt.Sprintf("%s not on the class path of the REPL (%s). ", areOf(folders), names(list))
	if alias := namespaces.AliasOf(s.Root, folders[0]); alias != "" {
		return told + fmt.Sprintf("Start the REPL with the alias that adds it: `clojure -M:%s:…`", alias)
	}
	return told + "Start the REPL again in the project's folder, with the test paths of its build file"
}

func areOf(folders []string) string {
	if len(folders) == 1 {
		return "the folder " + folders[0] + " is"
	}
	return "the folders " + strings.Join(folders, ", ") + " are"
}

func names(list []Namespace) string {
	var said []string
	for _, n := range list[:min(len(list), 3)] {
		said = append(said, n.Name)
	}
	if more := len(list) - 3; more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	return strings.Join(said, ", ")
}

// Text tells all that failed, in at most limit UTF-16 units: whole problems, and how many are left out.
func (r *Result) Text(limit int) string {
	var b strings.Builder
	room := limit - 200
	var left []string
	for i := range r.Failing {
		c := &r.Failing[i]
		told := c.Text()
		if length := text.LenUTF16(told); length <= room && len(left) == 0 {
			b.WriteString(told + "\n")
			room -= length + 1
			continue
		}
		left = append(left, c.Name())
	}
	if len(left) > 0 {
		shown := left[:min(len(left), 8)]
		fmt.Fprintf(&b, "%s more failed: %s", text.Count(len(left), "test"), strings.Join(shown, ", "))
		if len(left) > len(shown) {
			b.WriteString(", …")
		}
		b.WriteByte('\n')
	}
	if r.Failed() && r.Partial != "" {
		b.WriteString(r.Partial + "\n")
	}
	if r.Left > 0 {
		fmt.Fprintf(&b, "Not run to the end: %s", text.Count(r.Left, "namespace"))
		if r.Running != "" {
			b.WriteString("; it was in " + r.Running)
		}
		b.WriteByte('\n')
	}
	return text.CutUTF16(text.Value(strings.TrimRight(b.String(), "\n")), limit)
}

// Name is the test's full name.
func (c *Case) Name() string {
	if c.Test == "" {
		return c.Namespace
	}
	return c.Namespace + "/" + c.Test
}

// Text tells a failing test: its problems, each in at most maxProblem UTF-16 units, and the end of what it printed.
func (c *Case) Text() string {
	var b strings.Builder
	for i := range c.Problems[:min(len(c.Problems), 5)] {
		b.WriteString(c.Problems[i].text(c.Name()))
	}
	if more := c.More + max(0, len(c.Problems)-5); more > 0 {
		fmt.Fprintf(&b, "  %s more in %s\n", text.Count(more, "problem"), c.Name())
	}
	if out := strings.TrimSpace(text.Screen(c.Output)); out != "" {
		b.WriteString("  printed:\n" + indent(lastLines(out, 6, 500), "    "))
	}
	return b.String()
}

func (p *Problem) text(name string) string {
	var b strings.Builder
	kind := "FAIL"
	if p.Error {
		kind = "ERROR"
	}
	fmt.Fprintf(&b, "%s %s (%s)\n", kind, name, place(p.File, p.Line))
	if len(p.Contexts) > 0 {
		b.WriteString("  testing " + oneLine(strings.Join(p.Contexts, " > "), 300) + "\n")
	}
	if p.Message != "" {
		b.WriteString(indent(firstLines(p.Message, 8, 500), "  "))
	}
	if p.Expected != "" {
		b.WriteString("  expected: " + oneLine(p.Expected, 500) + "\n")
	}
	if p.Actual != "" {
		longest := 600
		if len(p.Diff) > 0 {
			longest = 300 // the differences say more
		}
		b.WriteString("    actual: " + oneLine(p.Actual, longest) + "\n")
	}
	if len(p.Diff) > 0 {
		b.WriteString("  differs (first argument of = | second):\n")
		for _, d := range p.Diff[:min(len(p.Diff), 12)] {
			b.WriteString("    " + d.text() + "\n")
		}
		if len(p.Diff) > 12 {
			b.WriteString("    …\n")
		}
	}
	if p.Thrown != nil {
		b.WriteString(indent(strings.TrimRight(p.Thrown.Short(), "\n"), "  "))
	}
	for i, f := range p.Frames {
		if i == 0 && p.Thrown != nil {
			continue // told with the exception
		}
		b.WriteString("  at " + f.Symbol + " (" + place(f.File, f.Line) + ")\n")
	}
	return text.CutUTF16(b.String(), maxProblem)
}

func (d *Difference) text() string {
	told := d.Path
	if told == "[]" {
		told = "at the top"
	}
	if d.Line > 0 {
		told += fmt.Sprintf(" at character %d", d.At)
		if d.Line > 1 {
			told += fmt.Sprintf(", line %d", d.Line)
		}
	}
	side := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return oneLine(s, 200)
	}
	return told + "  " + side(d.First) + " | " + side(d.Second)
}

func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return path.Clean(file) + ":" + strconv.Itoa(line)
}

func oneLine(s string, limit int) string { return text.CutUTF16(text.Line(text.Value(s)), limit) }

func firstLines(s string, n, limit int) string {
	lines := strings.Split(text.CutUTF16(strings.TrimSpace(s), limit), "\n")
	if len(lines) > n {
		lines = append(lines[:n], "…")
	}
	return strings.Join(lines, "\n")
}

func lastLines(s string, n, limit int) string {
	lines := strings.Split(text.LastUTF16(s, limit), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func indent(s, by string) string {
	return by + strings.ReplaceAll(s, "\n", "\n"+by) + "\n"
}
