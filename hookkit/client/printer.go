package client

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

const (
	// heldTime is how long text on stderr waits for the message that tells whether it is a server's report of an exception: the two
	// are sent one after the other. What reads like a report waits longer, for a busy machine.
	heldTime   = 50 * time.Millisecond
	reportTime = time.Second
	// heldSize bounds what is held, in bytes; a report that is longer is printed as the server wrote it.
	heldSize = 64 << 10
)

// printer shows an evaluation while it runs. Control sequences of the server stay as they are: it is the user's REPL.
//
// A server reports an exception as text for stderr and then says that this was one. That text is held back for a moment: when the
// evaluation ends with it, finish shows our own report in its place.
type printer struct {
	out, err           io.Writer
	outStyle, errStyle cli.Style
	oneTerminal        bool        // stdout and stderr are one terminal, as far as we can tell
	name               string      // of the program, before notes
	quiet              bool        // the messages are shown in another way
	onBroken           func(error) // is told once, with the lock held

	mu      sync.Mutex
	midOut  bool // the last byte on stdout was no line feed
	midErr  bool
	inValue bool // a value that came in pieces may go on
	held    []string
	size    int           // of held
	wait    time.Duration // how long it may be held, where that is more than heldTime
	threw   bool          // the server has said that what is held ends with a report
	timer   *time.Timer
	broken  error // stdout takes nothing more
}

func newPrinter(p *cli.Program, onBroken func(error)) *printer {
	return &printer{
		out: p.Stdout, err: p.Stderr, outStyle: p.Color(p.Stdout), errStyle: p.Color(p.Stderr),
		oneTerminal: p.Terminal(p.Stdout) && p.Terminal(p.Stderr), name: p.Path(), onBroken: onBroken,
	}
}

// message is an nrepl.Handler.
func (p *printer) message(m nrepl.Message) {
	if p.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	value, hasValue := m["value"].(string)
	_, hasNs := m["ns"].(string)
	done := m.Status()["done"]
	if p.inValue && (hasNs || done) {
		p.endValue()
	}
	if text := m.Text("out"); text != "" {
		p.release()
		p.toOut(text, text)
	}
	if text := m.Text("err"); text != "" {
		p.hold(text)
	}
	if hasValue {
		p.release()
		// As nrepl's collector has it: a value without a namespace may be a piece of one, and what follows belongs to it.
		p.value(value, hasNs || done)
	}
	if m.Text("ex") != "" || m.Status()["eval-error"] {
		p.threw = true
	}
}

// value prints a value, or a piece of one, at the beginning of a line.
func (p *printer) value(text string, whole bool) {
	if !p.inValue && p.midOut {
		p.toOut("\n", "\n")
	}
	shown := p.outStyle.Bold(text)
	if p.inValue = !whole; whole {
		text, shown = text+"\n", shown+"\n"
	}
	p.toOut(text, shown)
}

func (p *printer) endValue() {
	p.toOut("\n", "\n")
	p.inValue = false
}

// toOut writes text, in the form shown, to stdout.
func (p *printer) toOut(text, shown string) {
	if p.broken != nil || text == "" {
		return
	}
	if _, err := io.WriteString(p.out, shown); err != nil {
		p.broken = err
		p.onBroken(err)
		return
	}
	p.midOut = !strings.HasSuffix(text, "\n")
}

// toErr writes text to stderr. What cannot be written there cannot be told anywhere.
func (p *printer) toErr(text string) {
	if text == "" {
		return
	}
	line, ended := strings.CutSuffix(text, "\n")
	shown := p.errStyle.Red(line)
	if ended {
		shown += "\n"
	}
	_, _ = io.WriteString(p.err, shown)
	p.midErr = !ended
}

// hold keeps text for stderr until it is known whether it is a report.
func (p *printer) hold(text string) {
	if p.threw || p.size+len(text) > heldSize {
		p.release()
	}
	p.held = append(p.held, text)
	p.size += len(text)
	if reads(text) || strings.Contains(text, "Exception") || strings.Contains(text, "rror") {
		p.wait = reportTime
	}
	wait := max(heldTime, p.wait)
	if p.timer == nil {
		p.timer = time.AfterFunc(wait, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.release()
		})
		return
	}
	p.timer.Reset(wait)
}

// release prints what is held.
func (p *printer) release() {
	p.toErr(strings.Join(p.held, ""))
	p.held, p.size, p.wait, p.threw = nil, 0, 0, false
}

// finish ends the showing of an evaluation. The report of its exception takes the place of the server's, if that is what came last;
// that an interrupted one threw is no news.
func (p *printer) finish(report *report, interrupted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inValue {
		p.endValue()
	}
	if p.threw && (report != nil || interrupted) {
		p.held = p.held[:report.begins(p.held)]
	}
	p.release()
	if report == nil {
		return
	}
	p.freshLine()
	// Not in red as a whole: it has colours of its own.
	_, _ = io.WriteString(p.err, report.text(p.errStyle))
}

// freshLine brings stderr to the beginning of a line.
func (p *printer) freshLine() {
	if p.midErr || p.oneTerminal && p.midOut {
		_, _ = io.WriteString(p.err, "\n")
	}
	p.midErr = false
}

// note tells the user something of ours, on stderr.
func (p *printer) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release()
	p.freshLine()
	_, _ = io.WriteString(p.err, p.name+": "+strings.TrimSuffix(text, "\n")+"\n")
}

// failed says why stdout takes nothing more, nil while it does.
func (p *printer) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.broken
}

// line writes a line of ours to stdout: a message, a JSON object.
func (p *printer) line(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.toOut("\n", string(text)+"\n")
}

// trace is a nrepl.Conn.Trace.
func (p *printer) trace(sent bool, m nrepl.Message) {
	arrow := "<- "
	if sent {
		arrow = "-> "
	}
	p.line(appendEDN([]byte(arrow), map[string]any(m)))
}
