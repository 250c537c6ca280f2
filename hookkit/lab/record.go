package lab

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/settings"
)

// recordCommand takes the rows that install and uninstall the [Recorder].
func recordCommand(install []cli.Command) cli.Command {
	return cli.Command{
		Name:  "record",
		Usage: "[--dir DIR] -- COMMAND [ARGS]",
		Short: "record what passes between the agent and its hooks",
		Long: `Runs a hook and records what passes. The hook does not notice, and its outcome is
never changed: when recording fails, the hook runs all the same. Put it in front of
the command in the agent's settings:

  hookkit record -- brepl hook stop

A line of shell goes into quotes: hookkit record -- sh -c 'cd x && ./check'.

"install" puts a silent handler on all events of this project into the agent's settings,
and "uninstall" takes it out again: it prints nothing and blocks nothing. Hooks that you
have wrapped yourself, and all recordings, stay.

Each session becomes NAME.jsonl and NAME.transcript.jsonl in DIR, by default
~/.local/state/hookkit/recordings (or below XDG_STATE_HOME). Paths, names, ids and
secrets are replaced before anything is written; read a recording all the same
before you give it away.`,
		Run: runRecord,
		Sub: append(install, recordEventCommand()),
	}
}

// dirVariable moves the recordings, for handlers whose command cannot be changed.
const dirVariable = "HOOKKIT_RECORD_DIR"

func runRecord(ctx context.Context, p *cli.Program, args []string) int {
	if len(args) == 0 {
		return p.UsageError(errors.New("give -- and the command of a hook, install, or uninstall"))
	}
	dir, argv, err := recordArgs(args)
	if len(argv) == 0 {
		if err == nil {
			err = errors.New("no command after --")
		}
		return p.UsageError(err)
	}
	// From here on there is a hook, and nothing of ours may change what it does. A wrong flag only loses the recording.
	return wrap(ctx, p, argv, recordDir(p.Getenv, p.Dir, dir), err)
}

// recordArgs reads what stands before -- . The command is returned beside an error too.
func recordArgs(args []string) (dir string, argv []string, err error) {
	for i := 0; i < len(args); i++ {
		name, value, hasValue := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			return dir, args[i+1:], err
		case name != "--dir" && name != "-dir":
			err = errors.Join(err, fmt.Errorf("unknown argument %q before --", args[i]))
		case hasValue:
			dir = value
		case i+1 < len(args) && args[i+1] != "--":
			i++
			dir = args[i]
		default:
			err = errors.Join(err, errors.New("--dir needs a folder"))
		}
	}
	return dir, nil, errors.Join(err, errors.New("-- and a command are missing"))
}

// recordDir is the folder for recordings; "" when there is none.
func recordDir(getenv func(string) string, here, given string) string {
	dir, name := cmp.Or(given, getenv(dirVariable)), ""
	if dir == "" {
		dir, name = settings.StateDir(program, getenv), "recordings"
	} else if !filepath.IsAbs(dir) && here != "" {
		dir = filepath.Join(here, dir)
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, name)
}

// placeOf is what must not be in a recording.
func placeOf(p *cli.Program, event fields) place {
	host, err := os.Hostname()
	if err != nil {
		host = p.Getenv("HOSTNAME")
	}
	dir := p.Getenv("CLAUDE_PROJECT_DIR")
	if dir == "" {
		dir = cmp.Or(event.Cwd, p.Dir)
		if root, ok := project.GitRoot(dir); ok && filepath.IsAbs(dir) {
			dir = root
		}
	}
	user := cmp.Or(p.Getenv("USER"), p.Getenv("LOGNAME"), p.Getenv("USERNAME"))
	return place{project: dir, home: settings.Home(p.Getenv), user: user, host: host}
}

// clientEnv is the part of the environment that is recorded.
func clientEnv(p *cli.Program) map[string]string {
	env := map[string]string{}
	for _, entry := range p.Env {
		if name, value, ok := strings.Cut(entry, "="); ok && strings.HasPrefix(name, "CLAUDE") {
			env[name] = value
		}
	}
	return env
}

// A recorder follows one call. Its methods never panic and never wait longer than they say.
type recorder struct {
	p       *cli.Program
	dir     string
	began   time.Time
	command string

	mu      sync.Mutex
	store   *store
	call    Call
	event   fields
	opened  bool
	written bool
	err     error
}

// budget is how long a hook's end may wait for its recording.
const budget = 500 * time.Millisecond

// open finds the recording and the call's place in it, as soon as the event is there. The second time it does nothing.
func (r *recorder) open(ctx context.Context, stdin []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.catch()
	if r.opened {
		return
	}
	r.opened = true
	r.event = eventFields(bytes.TrimPrefix(stdin, []byte("\ufeff")))
	r.call.Transcript = markTranscript(r.event.TranscriptPath)
	if r.store, r.err = openStore(r.dir, placeOf(r.p, r.event), r.event); r.err != nil {
		return
	}
	var since time.Duration
	r.call.Seq, since, r.err = r.store.number(ctx, r.began)
	r.call.TMS = milliseconds(since)
}

// close writes the call, once, within the budget.
func (r *recorder) close(ctx context.Context, v seen) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.open(ctx, v.stdin)
		r.mu.Lock()
		defer r.mu.Unlock()
		defer r.catch()
		if r.written || r.err != nil {
			return
		}
		r.written = true
		v.command, v.cwd, v.env = r.command, r.p.Dir, clientEnv(r.p)
		r.err = r.store.write(ctx, v, r.call, r.event.TranscriptPath, r.until())
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// until bounds the copying of the transcript. The end of the session is the last chance for it.
func (r *recorder) until() time.Time {
	if r.event.Event == "SessionEnd" {
		return time.Now().Add(budget * 3 / 4)
	}
	return time.Now().Add(budget / 4)
}

// catch keeps a fault of ours from reaching the hook.
func (r *recorder) catch() {
	if p := recover(); p != nil {
		r.err = fmt.Errorf("internal error: %v", p)
	}
}

// failure is what went wrong with the recording so far.
func (r *recorder) failure() error {
	if !r.mu.TryLock() {
		return errors.New("recording took too long")
	}
	defer r.mu.Unlock()
	return r.err
}

// maxKept is how much of a stream is recorded.
const maxKept = 32 << 20

// kept is what has passed through a stream so far.
type kept struct {
	mu   sync.Mutex
	data []byte
	cut  bool
	eof  bool
}

func (k *kept) add(data []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if room := maxKept - len(k.data); len(data) > room {
		data, k.cut = data[:room], true
	}
	k.data = append(k.data, data...)
}

func (k *kept) ended() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.eof = true
}

// bytes is a copy. What was too long ends at a line, so that no half of a secret is left that nobody would recognise.
func (k *kept) bytes() (data []byte, eof bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	data = bytes.Clone(k.data)
	if k.cut {
		data = append(data[:bytes.LastIndexByte(data, '\n')+1], "[the rest was left out]"...)
	}
	return data, k.eof
}

// whole reports whether one JSON value is complete.
func (k *kept) whole() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.eof || len(k.data) > 0 && bytes.ContainsRune([]byte("}]\n"), rune(k.data[len(k.data)-1])) && json.Valid(bytes.TrimPrefix(k.data, []byte("\ufeff")))
}

// eventLimit is how long the silent handler waits for its event.
const eventLimit = time.Second

func recordEventCommand() cli.Command {
	return cli.Command{
		Name:  "event",
		Usage: "[--dir DIR]",
		Short: "the silent handler that install puts into the settings",
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			dir, _, _ := recordArgs(append(args, "--", "event")) // what is wrong here must not reach the agent
			r := &recorder{p: p, dir: recordDir(p.Getenv, p.Dir, dir), began: time.Now()}
			var in kept
			read := make(chan struct{})
			go func() {
				defer close(read)
				buf := make([]byte, 64<<10)
				for !in.whole() {
					n, err := p.Stdin.Read(buf)
					in.add(buf[:n])
					if errors.Is(err, io.EOF) {
						in.ended()
					}
					if err != nil {
						return
					}
				}
			}()
			select {
			case <-read:
			case <-time.After(eventLimit):
			}
			stdin, eof := in.bytes()
			zero := 0
			r.open(ctx, stdin)
			r.command = silentPrefix + cmp.Or(r.event.Event, "unknown")
			r.close(ctx, seen{stdin: stdin, eof: eof, answer: Answer{Exit: &zero}, fallback: "unknown"})
			return 0
		},
	}
}
