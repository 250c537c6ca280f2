// Package cli is the shape of a command-line program: what it takes from its process as a value, a table of commands, help and usage
// errors made from that table, exit codes, colour.
//
// It serves the programs of this repository and carries no promise of stability.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/hookkit/brepl/hookkit"
)

// Program is one run of a program. Tests make their own; [CurrentProcess] makes it from the process.
type Program struct {
	Args           []string // without the program's name
	Dir            string   // the working directory; "" if it cannot be told
	Env            []string // "NAME=value"
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	IsTerminal     func(stream any) bool // nil: nothing is a terminal
	Name           string
	Version        string // "": taken from the build when asked for

	path    string   // the command that is running, as typed in full: "brepl hook stop"
	running *Command // its row
	meant   string   // while flags are parsed: the command that the first argument names elsewhere in the table
}

// Interruptible returns a context that ends with the first SIGINT, SIGTERM or SIGHUP, so that what the program has started can be
// ended too; the second signal ends the process. Only commands that start something call it.
func Interruptible(ctx context.Context) (interruptible context.Context, stop context.CancelFunc) {
	ctx, ready, stop := InterruptibleSoon(ctx)
	<-ready
	return ctx, stop
}

// InterruptibleSoon is Interruptible for a hook's path: catching signals needs a thread, 0.3 ms, so it is made beside other work.
// The caller waits for ready before it starts anything.
func InterruptibleSoon(ctx context.Context) (interruptible context.Context, ready <-chan struct{}, stop context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	caught := make(chan struct{})
	go func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		defer signal.Stop(signals)
		close(caught)
		select {
		case s := <-signals:
			signal.Stop(signals) // first: whoever sees the context end may count on the second signal
			cancel(signalError{s})
		case <-ctx.Done():
		}
	}()
	return ctx, caught, func() { cancel(nil) }
}

// signalError is why an interruptible context has ended.
type signalError struct{ os.Signal }

func (e signalError) Error() string { return e.String() }

// SignalExit returns the exit code of a program that a signal ended, if one has ended the context: 128 and its number, as a shell
// reports it. For Ctrl-C that is 130.
func SignalExit(ctx context.Context) (code int, ok bool) {
	caught, ok := errors.AsType[signalError](context.Cause(ctx))
	if !ok {
		return 0, false
	}
	number, ok := caught.Signal.(syscall.Signal)
	return 128 + int(number), ok
}

// Getenv returns the value of an environment variable, "" if it is not set.
func (p *Program) Getenv(name string) string {
	value, _ := p.LookupEnv(name)
	return value
}

// LookupEnv returns the value of an environment variable and whether it is set. Of a name given twice the last one counts, as in a
// child process.
func (p *Program) LookupEnv(name string) (string, bool) {
	for _, entry := range slices.Backward(p.Env) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// HookIO returns the program's streams as a hook's run takes them.
func (p *Program) HookIO() hookkit.IO {
	return hookkit.IO{In: p.Stdin, Out: p.Stdout, Err: p.Stderr, Env: p.Env, Dir: p.Dir, Terminal: p.Terminal(p.Stdin)}
}

// Path is the command that is running, in full: "brepl hook stop".
func (p *Program) Path() string { return p.path }

// Terminal reports whether one of the program's streams is a terminal.
func (p *Program) Terminal(stream any) bool { return p.IsTerminal != nil && p.IsTerminal(stream) }
