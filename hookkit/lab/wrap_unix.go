//go:build unix

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/proc"
)

const (
	// drain is how long the streams of a hook that has ended are read before they count as held by a child of it, and how long its
	// event is waited for.
	drain = 100 * time.Millisecond
	// loneSignal is when a signal that came to us is passed on to a hook that is still there. The client signals the whole group,
	// which the hook shares with us: passing it on at once would make two of one, and the second one ends many programs. The
	// client's SIGKILL comes 1.5 s after its SIGTERM: before that, the call must be on the disk.
	loneSignal = time.Second
)

// wrap runs a command in our place and records what passes. It returns the command's exit code; where a signal ended the command, the
// same signal ends us.
func wrap(ctx context.Context, p *cli.Program, argv []string, dir string, fault error) int {
	r := newRecorder(p, argv, dir, time.Now(), fault)
	path, err := proc.LookPath(argv[0], p.Env)
	if err != nil {
		return cannotStart(p, argv, err)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, passedOn()...)
	defer signal.Stop(signals)
	// The hook is to end when we are killed, and the system ties that to this thread.
	runtime.LockOSThread()
	w, err := startWrapped(p, path, argv)
	if err != nil {
		return w.inOurPlace(p, path, argv, err)
	}
	code, sig := w.follow(ctx, r, signals)
	r.report(ctx)
	if sig != 0 {
		return dieBy(sig)
	}
	return code
}

// passedOn are the signals that end a program unless it catches them, less those that we were started to ignore.
func passedOn() []os.Signal {
	all := []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2}
	return slices.DeleteFunc(all, signal.Ignored)
}

// wrapped is a command between the host's streams.
type wrapped struct {
	cmd              *exec.Cmd
	in, out, err     kept
	stdin            *os.File // our end
	stdout, stderr   *os.File // our ends; stderr is nil when the host gave one stream for both
	outDone, errDone chan struct{}
	stdinRead        chan struct{} // closed when the event is whole or stdin has ended
}

// startWrapped connects a command by the same kinds of streams as we have, so that it finds what it would find without us.
func startWrapped(p *cli.Program, path string, argv []string) (*wrapped, error) {
	w := &wrapped{cmd: &exec.Cmd{Path: path, Args: argv, Dir: p.Dir, Env: p.Env, SysProcAttr: dieWithUs()}}
	var theirs []*os.File
	open := func(stream any, childWrites bool) (child, ours *os.File, err error) {
		if child, ours, err = streamLike(stream, childWrites); err == nil {
			theirs = append(theirs, child)
		}
		return child, ours, err
	}
	var errs [3]error
	var stdin, stdout, stderr *os.File
	if f, ok := p.Stdin.(*os.File); ok && passesNothing(f) {
		stdin = f
	} else {
		stdin, w.stdin, errs[0] = open(p.Stdin, false)
	}
	stdout, w.stdout, errs[1] = open(p.Stdout, true)
	if sameStream(p.Stdout, p.Stderr) {
		stderr = stdout
	} else {
		stderr, w.stderr, errs[2] = open(p.Stderr, true)
	}
	err := errors.Join(errs[:]...)
	if err == nil {
		w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = stdin, stdout, stderr
		err = w.cmd.Start()
	}
	for _, f := range theirs {
		_ = f.Close() // the command has its own
	}
	if err != nil {
		for _, f := range []*os.File{w.stdin, w.stdout, w.stderr} {
			if f != nil {
				_ = f.Close() // nothing uses it yet
			}
		}
		return w, err
	}
	w.stdinRead = make(chan struct{})
	if w.stdin == nil {
		close(w.stdinRead)
	} else {
		go w.feed(p.Stdin)
	}
	w.outDone = pump(p.Stdout, w.stdout, &w.out)
	w.errDone = pump(p.Stderr, w.stderr, &w.err)
	return w, nil
}

// passesNothing: a terminal or /dev/null is handed to the command as it is. There is no event in it.
func passesNothing(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

// sameStream reports whether the host gave one stream for both: their order must not be lost.
func sameStream(a, b any) bool {
	left, ok := a.(*os.File)
	right, ok2 := b.(*os.File)
	if !ok || !ok2 {
		return false
	}
	one, err := left.Stat()
	two, err2 := right.Stat()
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// streamLike makes a socket for a socket, as the client has them, and a pipe for all else.
func streamLike(stream any, childWrites bool) (child, ours *os.File, err error) {
	if f, ok := stream.(*os.File); ok {
		if info, statErr := f.Stat(); statErr == nil && info.Mode()&fs.ModeSocket != 0 {
			return socketPair()
		}
	}
	reader, writer, err := os.Pipe()
	if childWrites {
		return writer, reader, err
	}
	return reader, writer, err
}

func socketPair() (child, ours *os.File, err error) {
	syscall.ForkLock.RLock() // not every unix can set close-on-exec in the same call
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	if err = syscall.SetNonblock(fds[1], true); err != nil {
		_, _ = syscall.Close(fds[0]), syscall.Close(fds[1])
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "hook's end"), os.NewFile(uintptr(fds[1]), "our end"), nil
}

// feed passes stdin on, and its end. A hook that does not read is no fault: what comes is kept all the same.
func (w *wrapped) feed(from io.Reader) {
	buf := make([]byte, 64<<10)
	told := false
	for {
		n, err := from.Read(buf)
		if n > 0 {
			w.in.add(buf[:n])
			if _, writeErr := w.stdin.Write(buf[:n]); writeErr != nil {
				_ = w.stdin.Close() // later writes fail too, which is fine
			}
		}
		if errors.Is(err, io.EOF) {
			w.in.ended()
		}
		if err != nil {
			_ = w.stdin.Close() // may be closed already
		}
		if !told && (err != nil || w.in.whole()) {
			told = true
			close(w.stdinRead)
		}
		if err != nil {
			return
		}
	}
}

// pump passes a stream on as it comes. When the host has closed its end, so does the hook's.
func pump(to io.Writer, from *os.File, k *kept) chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if from == nil {
			k.ended()
			return
		}
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				_, writeErr := to.Write(buf[:n])
				k.add(buf[:n])
				if writeErr != nil {
					_ = from.Close() // the hook's next write fails as it would have
					k.ended()
					return
				}
			}
			if err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					k.ended()
				}
				return
			}
		}
	}()
	return done
}

// follow waits for the command and records it. sig is the signal that ended it, or 0.
func (w *wrapped) follow(ctx context.Context, r *recorder, signals <-chan os.Signal) (code int, sig syscall.Signal) {
	go func() {
		<-w.stdinRead
		stdin, _ := w.in.bytes()
		r.open(ctx, stdin)
	}()
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = w.cmd.Wait() // ProcessState tells how it ended
	}()
	var lone <-chan time.Time
	var last os.Signal
	for waiting := true; waiting; {
		select {
		case <-exited:
			waiting = false
		case last = <-signals:
			if lone == nil {
				lone = time.After(loneSignal)
			}
		case <-lone:
			// Cut off by the client, or asked to end by somebody who knows us only.
			r.close(ctx, w.seen(Answer{TimedOut: true}))
			_ = w.cmd.Process.Signal(last) // it may have ended just now
			lone = nil
		}
	}
	held := w.drain()
	if held {
		w.leaveBehind(r.p)
	}
	select { // a hook that reads nothing can be faster than we are
	case <-w.stdinRead:
	case <-time.After(drain):
	}
	state := w.cmd.ProcessState
	answer := Answer{StreamsHeld: held, DurationMS: milliseconds(time.Since(r.began))}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		sig = status.Signal()
		answer.Signal = sig.String()
	} else {
		code = state.ExitCode()
		answer.Exit = &code
	}
	r.close(ctx, w.seen(answer))
	return code, sig
}

func (w *wrapped) seen(answer Answer) seen {
	stdin, eof := w.in.bytes()
	stdout, _ := w.out.bytes()
	stderr, _ := w.err.bytes()
	answer.Stdout, answer.Stderr = string(stdout), string(stderr)
	return seen{stdin: stdin, eof: eof, answer: answer, fallback: "unknown"}
}

// drain reads what is left in the streams. A child of the hook that holds them keeps them: its output goes on through a process that
// stays behind, so that the host finds the streams held, as it would without us.
func (w *wrapped) drain() (held bool) {
	timeout := time.After(drain)
	for _, done := range []chan struct{}{w.outDone, w.errDone} {
		select {
		case <-done:
		case <-timeout:
			held = true
			timeout = time.After(0)
		}
	}
	if !held {
		return false
	}
	now := time.Now()
	for _, f := range []*os.File{w.stdout, w.stderr} {
		if f != nil {
			_ = f.SetReadDeadline(now) // ends the pump; a closed file has none
		}
	}
	<-w.outDone
	<-w.errDone
	return true
}

// leaveBehind hands held streams to a process that passes on what still comes.
func (w *wrapped) leaveBehind(p *cli.Program) {
	for _, s := range []struct {
		from *os.File
		keep *kept
		to   io.Writer
	}{{w.stdout, &w.out, p.Stdout}, {w.stderr, &w.err, p.Stderr}} {
		to, ok := s.to.(*os.File)
		if _, eof := s.keep.bytes(); !ok || eof || s.from == nil {
			continue
		}
		if syscall.SetNonblock(int(s.from.Fd()), false) != nil {
			continue
		}
		cat := exec.Command("/bin/cat") //nolint:noctx // it lives as long as the hook's child
		cat.Stdin, cat.Stdout = s.from, to
		if cat.Start() == nil {
			_ = cat.Process.Release() // nobody waits for it
		}
	}
}

// inOurPlace runs the command without recording: something of ours does not work.
func (*wrapped) inOurPlace(p *cli.Program, path string, argv []string, reason error) int {
	if errors.Is(reason, fs.ErrNotExist) || errors.Is(reason, fs.ErrPermission) || errors.Is(reason, syscall.ENOEXEC) {
		return cannotStart(p, argv, reason)
	}
	return cannotStart(p, argv, syscall.Exec(path, argv, p.Env))
}

// dieBy ends us by a signal. A shell does it, because Go would print a trace for some of them. Where there is none, the exit code says
// what a shell would.
func dieBy(sig syscall.Signal) int {
	number := strconv.Itoa(int(sig))
	_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -" + number + " $$"}, nil)
	const signalled = 128
	return signalled + int(sig)
}
