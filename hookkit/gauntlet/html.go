package gauntlet

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/text"
)

// writeHTML writes a run as one page that needs nothing else. The folder must be there; a file of that name is replaced.
func writeHTML(path string, s *Summary) error {
	return session.WriteFile(path, []byte(page(s)), session.WriteOptions{Mode: 0o644})
}

// pageStyle is all the style of the page; it follows the reader's choice of light or dark.
const pageStyle = `:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #8884;vertical-align:top}
pre{background:#8881;padding:.6rem;overflow-x:auto;font-size:13px}
.passed,.still_passed{color:#2a7d2a}.failed{color:#c22}.cannot_run,.not_run,.skipped{color:#a60}
ins{text-decoration:none;color:#2a7d2a}del{text-decoration:none;color:#c22}
h2{margin-top:2rem}`

func page(s *Summary) string {
	p := &pageWriter{}
	title := "agent-gauntlet: " + s.Status.Title()
	p.put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n")
	p.put("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n")
	p.put("<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n", value(title), pageStyle)
	p.put("<h1>%s</h1>\n", value(title))
	p.put("<p>%s, %s.", value(s.Began.Format(time.RFC1123)), value(text.Duration(s.Took)))
	if s.Attempt > 0 {
		p.put(" Failed run %d of %d.", s.Attempt, s.MaxRetries+1)
	}
	p.put("</p>\n")
	if s.Why != "" {
		p.put("<p>%s</p>\n", value(s.Why))
	}
	p.gates(s.Results)
	for i := range s.Results {
		p.result(i, &s.Results[i])
	}
	if len(s.Notes) > 0 {
		p.put("<h2>Notes</h2>\n<ul>\n")
		for _, note := range s.Notes {
			p.put("<li>%s</li>\n", value(note))
		}
		p.put("</ul>\n")
	}
	p.put("</body>\n</html>\n")
	return p.String()
}

// pageWriter builds the page. Every value on it is escaped: output of commands and words of reviewers are data.
type pageWriter struct{ strings.Builder }

// value is a text from outside: put cleans and escapes it.
type value string

// put writes markup with values in it.
func (p *pageWriter) put(format string, values ...any) {
	for i, v := range values {
		if t, ok := v.(value); ok {
			values[i] = html.EscapeString(text.Clean(string(t)))
		}
	}
	_, _ = fmt.Fprintf(p, format, values...)
}

func (p *pageWriter) gates(results []Result) {
	if len(results) == 0 {
		return
	}
	p.put("<table>\n<tr><th>Gate</th><th>Kind</th><th>Outcome</th><th>Time</th><th></th></tr>\n")
	for i := range results {
		r := &results[i]
		p.put("<tr><td><a href=\"#gate%d\">%s</a></td><td>%s</td><td class=\"%s\">%s</td><td>%s</td><td>%s</td></tr>\n", i,
			value(r.Job.Title()), value(r.Job.Gate.Kind), value(r.Outcome), value(outcomeTitle(r.Outcome)), value(text.Duration(r.Took)), value(r.Why))
	}
	p.put("</table>\n")
}

// result is a gate's own part: what it found, and where its log is.
func (p *pageWriter) result(i int, r *Result) {
	p.put("<h2 id=\"gate%d\">%s: <span class=\"%s\">%s</span></h2>\n", i, value(r.Job.Title()), value(r.Outcome), value(outcomeTitle(r.Outcome)))
	if r.Why != "" {
		p.put("<p>%s</p>\n", value(r.Why))
	}
	for k := range r.Violations {
		p.violation(&r.Violations[k])
	}
	if report := r.Report.Text(); report != "" {
		p.put("<pre>%s</pre>\n", value(report))
	}
	if r.Log != "" {
		p.put("<p>Log: <code>%s</code></p>\n", value(r.Log))
	}
}

func (p *pageWriter) violation(v *Violation) {
	where := text.Name(v.File)
	if v.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, v.Line)
	}
	p.put("<h3 class=\"%s\">%s <code>%s</code></h3>\n<p>%s</p>\n", value(v.Status), value(v.Priority), value(where), value(v.Issue))
	if v.Fix != "" {
		p.put("<p>Fix: %s</p>\n", value(v.Fix))
	}
	if v.Status == ViolationSkipped {
		p.put("<p class=\"skipped\">Skipped: %s</p>\n", value(v.Reason))
	}
	if v.Diff == "" {
		return
	}
	p.put("<pre>")
	for line := range strings.Lines(v.Diff) {
		switch line[0] {
		case '+':
			p.put("<ins>%s</ins>", value(line))
		case '-':
			p.put("<del>%s</del>", value(line))
		default:
			p.put("%s", value(line))
		}
	}
	p.put("</pre>\n")
}

func outcomeTitle(o Outcome) string { return strings.ReplaceAll(string(o), "_", " ") }
