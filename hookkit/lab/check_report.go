package lab

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/fakes/claudecode"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/text"
)

// printCheck prints a report and returns the exit code.
func printCheck(p *cli.Program, r *CheckReport, asJSON bool, junit string) int {
	code := 0
	if !r.Clean() {
		code = 1
	}
	if junit != "" {
		if !filepath.IsAbs(junit) {
			junit = filepath.Join(p.Dir, junit)
		}
		data, err := r.JUnit()
		if err == nil {
			err = os.WriteFile(junit, data, 0o644) //nolint:gosec // a report is for everybody
		}
		if err != nil {
			_, _ = fmt.Fprintf(p.Stderr, "hookkit check: cannot write the JUnit report: %v\n", err)
			code = 1
		}
	}
	if asJSON {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(r); err != nil {
			_, _ = fmt.Fprintf(p.Stderr, "hookkit check: cannot encode the report: %v\n", err)
			return 1
		}
		_, _ = p.Stdout.Write(b.Bytes())
		return code
	}
	_, _ = fmt.Fprint(p.Stdout, r.table(p.Color(p.Stdout)))
	return code
}

// String is the report as a table for people.
func (r *CheckReport) String() string { return r.table(cli.Style{}) }

func (r *CheckReport) table(style cli.Style) string {
	var b strings.Builder
	where := "a scratch project"
	if r.Project != "" {
		where = r.Project
	}
	_, _ = fmt.Fprintf(&b, "%s, in %s, by the rules of %s\n", style.Bold(visible(strings.Join(r.Command, " "))), visible(where), r.Client)
	faults, warnings := 0, 0
	for _, e := range r.Events {
		_, _ = fmt.Fprintf(&b, "\n%s\n", style.Bold(e.Event))
		for _, s := range e.Steps {
			e.line(&b, s, style)
		}
		if len(e.StartMS) > 0 {
			_, _ = fmt.Fprintf(&b, "  start: %s at the least, %s in the middle of %d runs", msText(e.StartMS[0]), msText(e.StartMS[len(e.StartMS)/2]), len(e.StartMS))
			if r.Floor != "" {
				_, _ = fmt.Fprintf(&b, "; %s takes %s", r.Floor, msText(r.FloorMS))
			}
			b.WriteString("\n")
		}
		for _, f := range e.Findings {
			mark := style.Red("FAULT")
			if f.Warning {
				mark = style.Yellow("warning")
				warnings++
			} else {
				faults++
			}
			_, _ = fmt.Fprintf(&b, "  %s %s (%s): %s\n    %s\n    Mend: %s\n", mark, style.Bold(f.Fault), f.Step, visible(f.Detail), f.Meaning, f.Mend)
		}
	}
	_, _ = fmt.Fprintf(&b, "\n%s, %s\n", text.Count(faults, "fault"), text.Count(warnings, "warning"))
	return b.String()
}

func (e CheckedEvent) line(b *strings.Builder, s CheckStep, style cli.Style) {
	mark, ms := style.Green("ok     "), ""
	for _, f := range e.Findings {
		switch {
		case f.Step != s.Name:
		case f.Warning:
			mark = style.Yellow("warning")
		default:
			mark = style.Red("FAULT  ")
		}
		if f.Step == s.Name && !f.Warning {
			break
		}
	}
	follows := s.Follows
	if s.Skipped != "" {
		mark, follows = style.Dim("skipped"), s.Skipped
	}
	if s.MS > 0 {
		ms = msText(s.MS)
	}
	_, _ = fmt.Fprintf(b, "  %s %-34s %8s  %s\n", mark, s.Name, ms, visible(follows))
	for _, t := range s.Told {
		_, _ = fmt.Fprintf(b, "            the agent reads: %s\n", brief(t.Text))
	}
	for _, t := range s.Shown {
		_, _ = fmt.Fprintf(b, "            the user sees:   %s\n", brief(t.Text))
	}
}

// follows says what the host does after an answer.
func follows(event string, a answer) string {
	switch {
	case a.notStarted:
		return "it could not be started: " + brief(a.Stderr)
	case a.TimedOut:
		return "no answer; the host kills it and goes on"
	}
	return exitText(a) + ": " + consequence(event, a.Reaction)
}

func consequence(event string, r claudecode.Reaction) string {
	switch {
	case r.Ended:
		return "the agent's work ends"
	case claudecode.IsStop(event):
		switch {
		case r.Blocked:
			return "the agent must go on"
		case r.GoesOn:
			return "the agent gets one more turn"
		}
		return "the agent can stop"
	case event == "PreToolUse":
		return permissionText(r)
	case event == "UserPromptSubmit" && r.Blocked:
		return "the prompt is dropped"
	case len(r.Told) > 0:
		return "the agent is told, and goes on"
	}
	return "the agent goes on"
}

func permissionText(r claudecode.Reaction) string {
	switch {
	case r.Permission == "deny" || r.Blocked:
		return "the tool does not run"
	case r.UpdatedInput != nil:
		return "the tool runs with other input"
	case r.Permission == "allow":
		return "the tool runs, and the user is not asked"
	case r.Permission == "ask":
		return "the user is asked"
	}
	return "the tool runs"
}

// visible is a text for a terminal: what would steer it is written as an escape. Lines and tabs stay.
func visible(s string) string { return text.Escaped(s, "\n\t") }

// brief is a text in one line of bounded length.
func brief(s string) string {
	const longest = 160
	return text.CutRunes(text.Escaped(strings.Join(strings.Fields(s), " "), ""), longest)
}

// onStderr is the first line of stderr for the end of a sentence, "" where there is none.
func onStderr(printed string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(printed), "\n")
	if line == "" {
		return ""
	}
	return "; stderr: " + brief(line)
}

// someOf joins at most five of a list.
func someOf(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

func msText(ms float64) string { return fmt.Sprintf("%.1f ms", ms) }

// The part of the JUnit format that all readers of it know.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class    string         `xml:"classname,attr"`
		Name     string         `xml:"name,attr"`
		Seconds  string         `xml:"time,attr"`
		Failures []junitMessage `xml:"failure"`
		Skipped  *junitMessage  `xml:"skipped"`
		Out      string         `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func (f Finding) junit() junitMessage {
	return junitMessage{Type: f.Fault, Message: f.Fault + ": " + f.Detail, Text: f.Meaning + "\n" + f.Mend}
}

// JUnit is the report as JUnit XML: a suite for each event, a case for each step, and for a fault that no step shows. Warnings are no failures.
func (r *CheckReport) JUnit() ([]byte, error) {
	var all junitSuites
	for _, e := range r.Events {
		suite := junitSuite{Name: "hookkit check " + strings.Join(r.Command, " ") + " " + e.Event, Tests: len(e.Steps)}
		for _, s := range e.Steps {
			c := junitCase{Class: e.Event, Name: s.Name, Seconds: fmt.Sprintf("%.4f", s.MS/1000), Out: s.Follows}
			if s.Skipped != "" {
				c.Skipped = &junitMessage{Message: s.Skipped}
				suite.Skipped++
			}
			for _, f := range e.Findings {
				if f.Step == s.Name && !f.Warning {
					c.Failures = append(c.Failures, f.junit())
				}
			}
			if len(c.Failures) > 0 {
				suite.Failures++
			}
			suite.Cases = append(suite.Cases, c)
		}
		for _, f := range e.Findings {
			if f.Warning || slices.ContainsFunc(e.Steps, func(s CheckStep) bool { return s.Name == f.Step }) {
				continue
			}
			suite.Tests++
			suite.Failures++
			suite.Cases = append(suite.Cases, junitCase{Class: e.Event, Name: f.Step, Seconds: "0.0000", Failures: []junitMessage{f.junit()}})
		}
		all.Suites = append(all.Suites, suite)
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	return slices.Concat([]byte(xml.Header), data, []byte("\n")), err
}
