package gauntlet

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/text"
)

// display shows a run to a person: on a terminal the gates live, otherwise one line a gate as they end; with --json nothing until the end.
type display struct {
	out, err io.Writer
	style    cli.Style
	json     bool
	live     bool

	mu      sync.Mutex
	running []*runningJob
	drawn   int // lines of the live part on the screen
	tick    chan struct{}
	ended   chan struct{}
}

type runningJob struct {
	job   *Job
	began time.Time
}

const (
	redraw       = 100 * time.Millisecond
	liveRows     = 10 // of running gates; more are counted
	liveRowWidth = 70 // a row must not wrap, or the next drawing begins too low
)

func newDisplay(p *cli.Program, asJSON, terminal bool) *display {
	return &display{out: p.Stdout, err: p.Stderr, style: p.Color(p.Stdout), json: asJSON, live: terminal && !asJSON && p.Getenv("TERM") != "dumb"}
}

// progress takes what happens. It may be called from several goroutines.
func (d *display) progress(p Progress) {
	if d.json {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	if p.Result == nil {
		d.running = append(d.running, &runningJob{p.Job, time.Now()})
		d.startTicking()
	} else {
		for i, r := range d.running {
			if r.job == p.Job {
				d.running = append(d.running[:i], d.running[i+1:]...)
				break
			}
		}
		_, _ = io.WriteString(d.out, d.line(p.Result)+"\n")
	}
	d.draw()
}

// line is one gate that has ended.
func (d *display) line(r *Result) string {
	line := fmt.Sprintf("%s  %s", d.word(r.Outcome), r.Job.name())
	if r.Took > 0 {
		line += " " + d.style.Dim("("+text.Duration(r.Took)+")")
	}
	if r.Why != "" {
		line += ": " + r.Why
	}
	return line
}

// word is an outcome in a column.
func (d *display) word(o Outcome) string {
	padded := fmt.Sprintf("%-10s", map[Outcome]string{
		Passed: "passed", Failed: "FAILED", CannotRun: "cannot run", NotRun: "not run", StillPassed: "unchanged",
	}[o])
	switch o {
	case Passed:
		return d.style.Green(padded)
	case Failed:
		return d.style.Red(padded)
	case CannotRun:
		return d.style.Yellow(padded)
	default:
		return d.style.Dim(padded)
	}
}

func (d *display) startTicking() {
	if !d.live || d.tick != nil {
		return
	}
	d.tick, d.ended = make(chan struct{}), make(chan struct{})
	go func(stop, ended chan struct{}) {
		defer close(ended)
		ticker := time.NewTicker(redraw)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				d.mu.Lock()
				d.erase()
				d.draw()
				d.mu.Unlock()
			}
		}
	}(d.tick, d.ended)
}

// erase removes the live part from the screen.
func (d *display) erase() {
	if d.drawn > 0 {
		_, _ = fmt.Fprintf(d.out, "\x1b[%dA\x1b[J", d.drawn)
		d.drawn = 0
	}
}

// draw writes the gates that run.
func (d *display) draw() {
	if !d.live {
		return
	}
	var b strings.Builder
	for i, r := range d.running {
		if i == liveRows {
			fmt.Fprintf(&b, "           and %d more\n", len(d.running)-liveRows)
			d.drawn++
			break
		}
		row := fmt.Sprintf("%-10s  %s %s", "running", r.job.name(), text.Duration(time.Since(r.began).Truncate(100*time.Millisecond)))
		b.WriteString(text.CutBytes(row, liveRowWidth) + "\n")
		d.drawn++
	}
	_, _ = io.WriteString(d.out, b.String())
}

// end shows what came out of it all.
func (d *display) end(s *Summary, root string) {
	d.mu.Lock()
	stop, ended := d.tick, d.ended
	d.mu.Unlock()
	if stop != nil {
		close(stop)
		<-ended
	}
	d.erase()
	if s.Status == StatusLockConflict {
		_, _ = fmt.Fprintf(d.err, "%s (%s)\n", lockMessage, s.Why)
	}
	if d.json {
		_ = writeJSONTo(d.out, summaryJSON(s)) // who reads it sees the exit code too
		return
	}
	for _, note := range s.Notes {
		_, _ = fmt.Fprintf(d.err, "agent-gauntlet: %s\n", note)
	}
	if s.Status == StatusLockConflict {
		return
	}
	for i := range s.Results { // those that did not run have no line yet
		if o := s.Results[i].Outcome; o == StillPassed || o == NotRun && s.Results[i].Took == 0 {
			_, _ = io.WriteString(d.out, d.line(&s.Results[i])+"\n")
		}
	}
	report := s.JoinedReport
	if !s.Joined {
		report = reportText(s, root, reportLimit)
	}
	if report != "" {
		_, _ = fmt.Fprintf(d.out, "\n%s\n", strings.TrimRight(report, "\n"))
	}
	if d.live && len(s.Results) > 1 {
		_, _ = io.WriteString(d.out, "\n"+d.table(s))
	}
	_, _ = io.WriteString(d.out, d.statusLine(s)+"\n")
}

// statusLine is the last line of a run.
func (d *display) statusLine(s *Summary) string {
	text := "Status: " + s.Status.Title()
	switch {
	case s.Status.Exit() == exitOK:
		text = d.style.Green(text)
	case s.Status.Exit() == exitTempFail:
		text = d.style.Yellow(text)
	default:
		text = d.style.Red(text)
	}
	if s.Attempt > 0 && s.Status == StatusFailed {
		text += fmt.Sprintf(" (attempt %d of %d)", s.Attempt, s.MaxRetries+1)
	}
	if s.Joined {
		text += " (as the run that was in progress found)"
	}
	if s.Why != "" {
		text += ": " + s.Why
	}
	return text
}

// table is the summary of all gates.
func (d *display) table(s *Summary) string {
	width := 4
	for _, r := range s.Results {
		width = max(width, len(r.Job.name()))
	}
	var b strings.Builder
	for i := range s.Results {
		r := &s.Results[i]
		fmt.Fprintf(&b, "%s  %-*s  %8s\n", d.word(r.Outcome), width, r.Job.name(), text.Duration(r.Took))
	}
	return b.String()
}
