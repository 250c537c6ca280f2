package tests

import (
	"fmt"
	"strings"

	"github.com/hookkit/brepl/hookkit/text"
)

// JUnit is the report as an XML file that servers of continuous integration read: a testsuite a namespace, a testcase a test.
func (r *Result) JUnit() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%d\" failures=\"%d\" errors=\"%d\" time=\"%.3f\">\n",
		r.Tests, r.Failures, r.Errors, r.Took.Seconds())
	for _, ran := range r.Ran {
		var inside strings.Builder
		cases, failures, errors := 0, 0, 0
		one := func(name string, c *Case) {
			cases++
			fmt.Fprintf(&inside, "    <testcase classname=%s name=%s", attribute(ran.Namespace), attribute(name))
			if c == nil {
				inside.WriteString("/>\n")
				return
			}
			kind, line := "failure", "failed"
			if len(c.Problems) > 0 && c.Problems[0].Error {
				kind = "error"
				errors++
			} else {
				failures++
			}
			if len(c.Problems) > 0 {
				line, _, _ = strings.Cut(c.Problems[0].text(c.Name()), "\n")
			}
			fmt.Fprintf(&inside, ">\n      <%s message=%s>%s</%s>\n    </testcase>\n", kind, attribute(line), escaped(c.Text()), kind)
		}
		told := map[string]bool{}
		for i := range r.Failing {
			if c := &r.Failing[i]; c.Namespace == ran.Namespace {
				told[c.Test] = true
				name := c.Test
				if name == "" {
					name = ran.Namespace
				}
				one(name, c)
			}
		}
		for _, name := range ran.Tests {
			if !told[name] {
				one(name, nil)
			}
		}
		fmt.Fprintf(&b, "  <testsuite name=%s tests=\"%d\" failures=\"%d\" errors=\"%d\" time=\"%.3f\">\n%s  </testsuite>\n",
			attribute(ran.Namespace), cases, failures, errors, ran.Took.Seconds(), inside.String())
	}
	b.WriteString("</testsuites>\n")
	return b.String()
}

func attribute(s string) string { return `"` + escaped(text.Line(s)) + `"` }

func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text.Value(s))
}
