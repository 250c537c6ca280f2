package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

const (
	// DefaultGrace is the time from SIGTERM to SIGKILL when a Command names none.
	DefaultGrace = 2 * time.Second

	// finishTime is how long children left behind may go on before SIGTERM.
	finishTime = 50 * time.Millisecond
	// lingerTime is how long after its exit a command can hold the caller.
	lingerTime = 100 * time.Millisecond
	// killTime bounds the wait for a process that not even SIGKILL ends
	// (a hanging network file system).
	killTime = time.Second
)

// Command is one command to run.
type Command struct {
	// Argv is the program and its arguments. A program without a slash is looked
	// up in the absolute folders of PATH in Env.
	Argv []string
	// Dir is the directory to run in. "" is our own. An absolute Dir is also
	// given to the command as PWD.
	Dir string
	// Env is the whole environment as NAME=value; nothing is inherited from ours.
	Env []string
	// Stdin is what the command reads; nil is /dev/null. Run does not wait for a
	// Reader that blocks, but the goroutine that reads it lives until it returns.
	Stdin io.Reader
	// Output takes stdout and stderr in the order they were written; nil discards
	// them. It is called by one goroutine at a time, never after Run has returned,
	// and must not block. Once it returns an error the rest is read and dropped, so
	// that the command does not die of a broken pipe.
	Output io.Writer
	// Timeout ends the command when it is above 0.
	Timeout time.Duration
	// Grace is the time from SIGTERM to SIGKILL. 0 is DefaultGrace.
	Grace time.Duration
	// CancelGrace is Grace for a context that was canceled, and did not reach its
	// deadline: somebody ends us and will not wait long. 0 is Grace.
	CancelGrace time.Duration

	// finish and linger stand in for finishTime and lingerTime; a test that must not lose to a busy machine gives more.
	finish, linger time.Duration
}

// Result is what became of a command.
type Result struct {
	// Exit is the exit code, or -1 when the command did not exit by itself: not
	// started, killed by a signal, timed out or canceled.
	Exit int
	// Signal names the signal that ended the command ("SIGKILL"), or is "".
	Signal string
	// TimedOut is set when Timeout ended the command.
	TimedOut bool
	// Canceled is set when the end of the context ended the command, or kept it
	// from starting. [context.Cause] has the reason.
	Canceled bool
	// StartErr is a *StartError when the command was not started.
	StartErr error
	// OutputErr is the error of Output, if it had one.
	OutputErr error
	// Duration is the time from the call to the return of Run (monotonic).
	Duration time.Duration
	// Leftover is nil when no child stayed behind in the group. Otherwise it is
	// closed when the last of them has gone or was sent SIGKILL, at most Grace
	// after Run has returned. Nobody has to wait for it.
	Leftover <-chan struct{}

	timeout time.Duration
}

// OK reports whether the command ran and exited with 0 by itself.
func (r Result) OK() bool {
	return r.Exit == 0 && r.StartErr == nil && !r.TimedOut && !r.Canceled
}

// String says in a few words how the command ended: "exit 3",
// "killed by SIGKILL", "timed out after 5s", "canceled", or the start error.
// Exit codes with which a shell reports the signal that ended its own command
// name that signal: "exit 137 (SIGKILL)".
func (r Result) String() string {
	switch {
	case r.StartErr != nil:
		return r.StartErr.Error()
	case r.TimedOut:
		return fmt.Sprintf("timed out after %v", r.timeout)
	case r.Canceled:
		return "canceled"
	case r.Signal != "":
		return "killed by " + r.Signal
	}
	if r.Exit > 128 {
		if name := signalName(r.Exit - 128); name != "" {
			return fmt.Sprintf("exit %d (%s)", r.Exit, name)
		}
	}
	return fmt.Sprintf("exit %d", r.Exit)
}

// Run runs a command to its end. It never panics and never returns an error
// beside the Result. It returns within Grace and about a second after Timeout or
// the end of ctx, and within about 100 ms after the command's own exit.
func Run(ctx context.Context, c Command) Result {
	began := time.Now()
	if c.Grace <= 0 {
		c.Grace = DefaultGrace
	}
	if c.linger <= 0 {
		c.finish, c.linger = finishTime, lingerTime
	}
	if ctx.Err() != nil {
		return Result{Exit: -1, Canceled: true}
	}
	p, err := start(c)
	if err != nil {
		return Result{Exit: -1, StartErr: err, Duration: time.Since(began)}
	}
	r := p.wait(ctx, c)
	r.Duration = time.Since(began)
	return r
}

// ending is how a command ended.
type ending struct {
	code   int    // -1 when a signal ended it
	signal string // its name, or ""
}

// process is a command that has been started.
type process struct {
	child  child
	group  group
	output *collector    // nil: discarded by the system
	stdin  *os.File      // our end of the pipe to stdin; nil: none
	exited chan struct{} // closed after end and err are set
	end    ending
	err    error
}

// start checks and starts the command. Every file it opens for the command is
// closed on our side when it returns.
func start(c Command) (*process, error) {
	path, env, err := prepare(c)
	if err != nil {
		return nil, err
	}
	p := &process{exited: make(chan struct{})}
	files, err := p.open(c)
	defer func() {
		for _, f := range files {
			_ = f.Close() // the command has its own copy
		}
	}()
	if err != nil {
		p.closePipes()
		return nil, &StartError{Program: c.Argv[0], Dir: c.Dir, Err: err}
	}
	p.child, err = startChild(path, c.Argv, c.Dir, env, files[0], files[1])
	if err != nil {
		p.closePipes()
		return nil, startError(c, err)
	}
	p.group = p.child.group()
	if p.output != nil {
		go p.output.run()
	}
	if p.stdin != nil {
		go feed(p.stdin, c.Stdin)
	}
	go func() {
		defer close(p.exited)
		p.end, p.err = p.child.wait()
	}()
	return p, nil
}

// open opens the command's stdin and output, in this order, and our ends of
// their pipes.
func (p *process) open(c Command) (files []*os.File, err error) {
	var in *os.File
	if c.Stdin == nil {
		in, err = os.Open(os.DevNull)
	} else {
		in, p.stdin, err = os.Pipe()
	}
	if err != nil {
		return nil, err
	}
	files = append(files, in)
	var out *os.File
	if c.Output == nil {
		out, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	} else {
		var r *os.File
		r, out, err = os.Pipe()
		if err == nil {
			p.output = newCollector(r, c.Output)
		}
	}
	if err != nil {
		return files, err
	}
	return append(files, out), nil
}

// closePipes closes our ends when nothing reads or writes them yet.
func (p *process) closePipes() {
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
	if p.output != nil {
		_ = p.output.r.Close()
	}
}

// wait waits for the command and ends it when its time is over.
func (p *process) wait(ctx context.Context, c Command) Result {
	r := Result{Exit: -1, timeout: c.Timeout}
	var timeout <-chan time.Time
	if c.Timeout > 0 {
		timer := time.NewTimer(c.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-p.exited:
	case <-timeout:
		r.TimedOut = !p.hasExited()
	case <-ctx.Done():
		r.Canceled = !p.hasExited()
	}
	ended := time.Now()
	if r.TimedOut || r.Canceled {
		grace := c.Grace
		if r.Canceled && c.CancelGrace > 0 && errors.Is(ctx.Err(), context.Canceled) {
			grace = c.CancelGrace
		}
		p.stop(grace)
		ended = time.Now()
	} else {
		r.Leftover = p.group.clear(ended.Add(c.finish), ended.Add(c.linger), c.Grace)
	}
	if p.stdin != nil {
		_ = p.stdin.Close() // ends feed; a command that left input unread is no fault
	}
	if p.output != nil {
		r.OutputErr = p.output.finish(time.Until(ended.Add(c.linger)))
	}
	if !p.hasExited() {
		return r
	}
	if p.err != nil {
		r.StartErr = &StartError{Program: c.Argv[0], Dir: c.Dir, Err: fmt.Errorf("wait: %w", p.err)}
		return r
	}
	r.Signal = p.end.signal
	if !r.TimedOut && !r.Canceled {
		r.Exit = p.end.code
	}
	return r
}

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// stop ends the whole group: SIGTERM, SIGKILL after grace. It returns when the
// group is empty, or after SIGKILL when the command itself is gone.
func (p *process) stop(grace time.Duration) {
	p.group.terminate()
	end := time.Now().Add(grace)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.exited:
		if p.group.gone(end) {
			return
		}
	case <-timer.C:
	}
	p.group.kill()
	select {
	case <-p.exited:
	case <-time.After(killTime):
	}
}

// feed copies r to a command's stdin. A command that does not read all of it is
// no fault, so errors end the copy and nothing else.
func feed(w *os.File, r io.Reader) {
	_, _ = io.Copy(w, r)
	_ = w.Close()
}
