package fakes

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// DefaultLimit is how long [Run] lets a child run when [Spec.Limit] is 0.
const DefaultLimit = 2 * time.Minute

// holdLimit is how long the host waits for the streams of a hook that has
// exited before it refuses what the hook said.
const holdLimit = 500 * time.Millisecond

// turnLimit is how long readers that were late get to come to the end of a stream.
const turnLimit = 250 * time.Millisecond

// maxCaptured is how much of each stream an [Outcome] keeps. The rest is read
// and dropped.
const maxCaptured = 64 << 20

// Output is what the host does with the child's standard output.
type Output uint8

const (
	// ReadOutput reads it to the end.
	ReadOutput Output = iota
	// NeverReadOutput leaves it open and unread: a child that writes more than
	// the kernel's buffer blocks.
	NeverReadOutput
	// ClosedOutput closes the reading end before the child starts: every write
	// fails with EPIPE, or the child gets SIGPIPE.
	ClosedOutput
)

// Spec is a child process and how the host is connected to it.
type Spec struct {
	Path string   // the program; looked up on the PATH when it has no slash
	Args []string // without the program's name
	Dir  string   // "" is the current folder
	Env  []string // nil is this process's environment

	// Limit ends a child that does not exit; 0 is [DefaultLimit].
	Limit time.Duration

	// Pipes connects the three streams with pipes. Without it they are unix
	// sockets, as with the real client, so that opening /dev/stdin fails.
	// Windows always has pipes.
	Pipes bool

	Stdout Output
}

// Outcome is what a child did. Comparing the whole value is not useful, as the
// durations vary.
type Outcome struct {
	Exit   int    // -1 when it was ended by a signal
	Signal string // "" or the signal that ended it, such as "killed"
	Stdout string // at most 64 MiB
	Stderr string // at most 64 MiB

	// Elapsed is the time from the start of the process to its exit.
	Elapsed time.Duration
	// AfterBrace is the time from the write of the event's closing brace to
	// the exit. It includes the start of the process, as the host does not
	// wait for that before it writes. 0 when the child exited before, or when
	// no whole event was sent.
	AfterBrace time.Duration

	// TimedOut says that the child was killed at the limit.
	TimedOut bool
	// StreamsHeld says that 0.5 s after the exit some process still held the
	// child's standard output or error. The real client then refuses the
	// hook's JSON.
	StreamsHeld bool
}

// Run starts the child, feeds it and returns what it did. A child that cannot
// be started fails the test; one that hangs is killed at the limit, together
// with its process group, and is an Outcome like any other.
func Run(t T, spec Spec, in Stdin) Outcome {
	t.Helper()
	out, err := spec.Run(in)
	if err != nil {
		t.Fatalf("fakes: cannot run %s with stdin %q: %v", spec.Path, in, err)
	}
	return out
}

// Run is the function [Run] without a T. The error says that the child could
// not be started.
func (spec Spec) Run(in Stdin) (Outcome, error) {
	cmd, err := spec.command(in)
	if err != nil {
		return Outcome{}, err
	}
	var ours, theirs closers
	defer ours.close()
	defer theirs.close()

	var stdin *os.File
	if in.end == stdinHeld || in.end == stdinEOF {
		child, parent, pairErr := spec.stream(false)
		if pairErr != nil {
			return Outcome{}, pairErr
		}
		theirs.add(child)
		ours.add(parent)
		cmd.Stdin, stdin = child, parent
	}
	outW, outR, err := spec.stream(true)
	if err != nil {
		return Outcome{}, err
	}
	theirs.add(outW)
	ours.add(outR)
	errW, errR, err := spec.stream(true)
	if err != nil {
		return Outcome{}, err
	}
	theirs.add(errW)
	ours.add(errR)
	cmd.Stdout, cmd.Stderr = outW, errW
	if spec.Stdout == ClosedOutput {
		_ = outR.Close() // ours.close closes it again, which is harmless
	}

	began := time.Now()
	if err := cmd.Start(); err != nil {
		return Outcome{}, err
	}
	theirs.close()
	return spec.follow(cmd, in, stdin, outR, errR, began), nil
}

// follow feeds and reads a started child until it is gone.
func (spec Spec) follow(cmd *exec.Cmd, in Stdin, stdin, stdout, stderr *os.File, began time.Time) Outcome {
	limit := spec.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	gone := make(chan struct{})
	var feeding sync.WaitGroup
	var brace time.Time
	feeding.Go(func() { brace = feed(stdin, in, gone) })

	var outText, errText capture
	var reading sync.WaitGroup
	if spec.Stdout == ReadOutput {
		reading.Go(func() { outText.readAll(stdout) })
	}
	reading.Go(func() { errText.readAll(stderr) })

	timer := time.AfterFunc(limit, func() { killGroup(cmd.Process) })
	waitErr := cmd.Wait()
	ended := time.Now()
	timedOut := !timer.Stop()
	close(gone)

	drained := make(chan struct{})
	go func() {
		reading.Wait()
		close(drained)
	}()
	held := false
	hold := time.NewTimer(holdLimit)
	defer hold.Stop()
	select {
	case <-drained:
	case <-hold.C:
		// On a busy machine the readers may not have had their turn. They get it now: one that comes to the end
		// was late, one that waits for more shows that somebody holds the stream.
		for _, f := range []*os.File{stdout, stderr} {
			_ = f.SetReadDeadline(time.Now().Add(turnLimit)) // where there are no deadlines, being late counts as held
		}
		select {
		case <-drained:
			held = outText.waited() || errText.waited()
		case <-time.After(2 * turnLimit):
			held = true
		}
	}
	killGroup(cmd.Process)
	if stdin != nil {
		_ = stdin.Close() // unblocks a write that nobody reads; closed already after EOF
	}
	feeding.Wait()
	for _, f := range []*os.File{stdout, stderr} {
		_ = f.Close() // unblocks the readers where a process outside of the group holds the streams
	}
	<-drained

	o := Outcome{
		Exit: cmd.ProcessState.ExitCode(), Signal: signalName(cmd.ProcessState),
		Stdout: outText.text(), Stderr: errText.text(),
		Elapsed: ended.Sub(began), TimedOut: timedOut, StreamsHeld: held,
	}
	if !brace.IsZero() {
		o.AfterBrace = max(0, ended.Sub(brace))
	}
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		o.Stderr += fmt.Sprintf("\nfakes: waiting for the child: %v", waitErr)
	}
	return o
}

func (spec Spec) command(in Stdin) (*exec.Cmd, error) {
	cmd := exec.Command(spec.Path, spec.Args...)
	if in.end == stdinMissing {
		if cmd.Err != nil {
			return nil, cmd.Err
		}
		sh, err := shellWithoutStdin()
		if err != nil {
			return nil, err
		}
		// exec keeps the process: exit code, signal and group are the child's own.
		cmd = exec.Command(sh, append([]string{"-c", `exec "$0" "$@" <&-`, cmd.Path}, spec.Args...)...)
	}
	cmd.Dir, cmd.Env = spec.Dir, spec.Env
	ownGroup(cmd)
	return cmd, nil
}

// stream returns the child's and our end of one stream.
func (spec Spec) stream(childWrites bool) (child, parent *os.File, err error) {
	if !spec.Pipes {
		child, parent, err = socketPair()
		if !errors.Is(err, errors.ErrUnsupported) {
			return child, parent, err
		}
	}
	r, w, err := os.Pipe()
	if childWrites {
		return w, r, err
	}
	return r, w, err
}

// lastWrite is the most that one write may hold for its time to count as the
// time of its last byte: it fits into the kernel's buffer.
const lastWrite = 4 << 10

// feed writes the shape and returns when its closing brace was written; zero
// if it has none or the child did not take it.
func feed(w *os.File, in Stdin, gone <-chan struct{}) time.Time {
	var brace time.Time
	for _, step := range in.writes {
		if step.pause > 0 {
			select {
			case <-gone:
				return brace
			case <-time.After(step.pause):
			}
		}
		// The clock starts before the write that ends the event, so that a delay
		// of our own can only lengthen what is measured. A long event goes out
		// in two writes: the first one lasts until the child has read most of it.
		head := max(0, len(step.data)-lastWrite)
		if head > 0 {
			if _, err := w.Write(step.data[:head]); err != nil {
				return brace // not reading its input is a hook's right
			}
		}
		writing := time.Now()
		if _, err := w.Write(step.data[head:]); err != nil {
			return brace
		}
		if step.brace {
			brace = writing
		}
	}
	if in.end == stdinEOF {
		_ = w.Close() // the child may be gone already
	}
	return brace
}

// capture keeps the beginning of a stream.
type capture struct {
	mu   sync.Mutex
	data []byte
	late bool // the read deadline passed before the end of the stream
}

func (c *capture) readAll(r io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		c.mu.Lock()
		c.data = append(c.data, buf[:min(n, maxCaptured-len(c.data))]...)
		c.mu.Unlock()
		if err != nil { // EOF, our end was closed, or the deadline
			c.mu.Lock()
			c.late = errors.Is(err, os.ErrDeadlineExceeded)
			c.mu.Unlock()
			return
		}
	}
}

// waited reports whether the stream was still open when the readers got their last turn.
func (c *capture) waited() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.late
}

func (c *capture) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.data)
}

// closers closes files once.
type closers struct{ files []*os.File }

func (c *closers) add(f *os.File) { c.files = append(c.files, f) }

func (c *closers) close() {
	for _, f := range c.files {
		_ = f.Close() // some are closed already, on purpose
	}
	c.files = nil
}
