// Package debuglog is what BREPL_HOOK_DEBUG=1 and --debug turn on in every hook command: what was read,
// decided and sent, with times, in the session's folder and, short, on stderr. Never on stdout.
//
// It serves the programs of this repository and carries no promise of stability.
package debuglog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/secret"
	"github.com/hookkit/brepl/hookkit/session"
)

const (
	fileName = "debug.log"
	maxFile  = 4 << 20  // a file that has grown over this begins anew
	maxEvent = 64 << 10 // of each event
)

// Flag declares --debug.
func Flag(flags *flag.FlagSet, into *bool) {
	flags.BoolVar(into, "debug", false, "write what was read, decided and sent to debug.log in the session's folder, and a short form to stderr (also BREPL_HOOK_DEBUG=1)")
}

// Wanted reports whether debugging is on, by flag or environment.
func Wanted(p *cli.Program, flag bool) bool {
	v := p.Getenv("BREPL_HOOK_DEBUG")
	return flag || v != "" && v != "0"
}

// Log is the debug log of one run of a hook.
type Log struct {
	// Event is what the file tells of the event; nil: all of it, without secrets.
	Event func(event []byte) string
	// Clean is applied to everything else that the file tells: errors, notes, what was sent. nil: secrets are masked.
	Clean func(text string) string
	// QuietBlocks leaves the line on stderr out where the hook blocks: stderr is what the agent reads then.
	QuietBlocks bool

	program *cli.Program
	command string
	keep    bool
	notes   strings.Builder
}

// New returns the log of a run. command is its name in the log; without keep nothing is written to a file,
// which is for the end of a session: its folder goes.
func New(p *cli.Program, command string, keep bool) *Log {
	return &Log{program: p, command: command, keep: keep}
}

// Note adds a line about what was decided on the way.
func (l *Log) Note(format string, args ...any) {
	fmt.Fprintf(&l.notes, "  note    "+format+"\n", args...)
}

// Option makes the run of a hook write the log at its end.
func (l *Log) Option() hookkit.Option {
	return hookkit.Observe(func(o hookkit.Observation) {
		id, state, event := "", session.IDIn(hookkit.SessionUnknown, l.program.Getenv, l.program.Dir), []byte(nil)
		if o.Event != nil {
			base := o.Event.Base()
			id, state, event = base.SessionID, session.IDOf(base), base.Bytes()
		}
		where := ""
		if l.keep {
			path, err := write(l.program, state, l.entry(event, o))
			if err != nil {
				where = fmt.Sprintf(" (no debug file: %v)", err)
			} else {
				where = " " + path
			}
		}
		if l.QuietBlocks && o.Output.Exit == 2 {
			return
		}
		_, _ = fmt.Fprintf(l.program.Stderr, "brepl debug: %s session=%q read=%d bytes in %v, handled in %v, exit %d%s\n",
			l.command, id, len(event), round(o.Read), round(o.Handling), o.Output.Exit, where)
	})
}

func (l *Log) entry(event []byte, o hookkit.Observation) string {
	clean, told := l.Clean, shortened
	if clean == nil {
		clean = secret.Mask
	}
	if l.Event != nil {
		told = l.Event
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s brepl hook %s pid=%d\n", time.Now().Format(time.RFC3339Nano), l.command, os.Getpid())
	fmt.Fprintf(&b, "  read    %d bytes in %v: %s\n", len(event), round(o.Read), told(event))
	if o.Err != nil {
		fmt.Fprintf(&b, "  error   %s\n", clean(o.Err.Error()))
	}
	b.WriteString(clean(l.notes.String()))
	fmt.Fprintf(&b, "  decided in %v\n  exit    %d\n  stdout  %s\n  stderr  %s\n",
		round(o.Handling), o.Output.Exit, strings.TrimSpace(clean(string(o.Output.Stdout))),
		strings.ReplaceAll(strings.TrimSpace(clean(string(o.Output.Stderr))), "\n", "\n          "))
	return b.String()
}

// shortened is the beginning of an event. Secrets go first: half a token would not be known for one.
func shortened(event []byte) string {
	text := secret.Mask(string(event))
	if len(text) > maxEvent {
		return text[:maxEvent] + fmt.Sprintf(" … %d bytes more", len(text)-maxEvent)
	}
	return text
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

func write(p *cli.Program, id, text string) (path string, err error) {
	s, err := session.Open(p.Getenv, id)
	if err != nil {
		return "", err
	}
	dir, err := s.Dir()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, fileName)
	mode := os.O_APPEND
	if info, statErr := os.Lstat(path); statErr == nil && info.Size() > maxFile {
		mode = os.O_TRUNC
	}
	// The folder is ours alone, so nobody else can have put something under this name.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|mode, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return path, err
}
