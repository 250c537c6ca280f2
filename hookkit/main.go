package hookkit

import (
	"context"
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/term"
)

// Process is what a program takes from the operating system. This file and the main.go files under cmd are the only ones that touch it.
type Process struct {
	Args           []string // without the program's name
	Dir            string   // "" if the working directory is gone
	Env            []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// CurrentProcess returns the values of this process.
func CurrentProcess() Process {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // deleted or unreadable: who needs it says so
	}
	return Process{Args: os.Args[1:], Dir: dir, Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
}

// IsTerminal reports whether a stream is a terminal. A stream that is no file is none.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && f != nil && term.IsTerminal(int(f.Fd()))
}

// Guard must be the first statement of a hook's main. After it, a panic in any goroutine, a deadlock, a stack overflow and concurrent
// map writes end the program with SIGABRT (a shell shows 134) and not with exit code 2, which means "block" to a host; and writing to
// a closed stdout or stderr is an error like any other instead of the program's end by SIGPIPE.
func Guard() {
	debug.SetTraceback("crash")
	// Go ends a program for a broken pipe only at descriptors 1 and 2, so what is written goes through others. Ignoring SIGPIPE
	// would be inherited by every command that the hook starts, and catching it costs a thread, 0.3 ms of start-up.
	os.Stdout, os.Stderr = detached(os.Stdout), detached(os.Stderr)
}

// Main is a whole hook program: [Guard], [Run] with the process's streams, and the end of the process with Run's exit code.
func Main(handlers Handlers, options ...Option) {
	Guard()
	p := CurrentProcess()
	streams := IO{In: p.Stdin, Out: p.Stdout, Err: p.Stderr, Env: p.Env, Dir: p.Dir, Terminal: IsTerminal(p.Stdin)}
	os.Exit(Run(context.Background(), streams, handlers, options...))
}
