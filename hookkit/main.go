package hookkit

import (
	"context"
	"io"
	"log" // only to mend its stderr: see Guard
	"os"
	"runtime/debug"

	"golang.org/x/term"
)

// Process is what a program takes from the operating system. Process, CurrentProcess and IsTerminal are for programs with a command
// line of their own; a hook has [IO] and [Common.Getenv]. They are outside the promise of stability.
type Process struct {
	Args           []string // without the program's name
	Dir            string   // "" if the working directory is gone
	Env            []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// CurrentProcess returns the values of this process. See [Process] for whom it is.
func CurrentProcess() Process {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // deleted or unreadable: who needs it says so
	}
	return Process{Args: os.Args[1:], Dir: dir, Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
}

// IsTerminal reports whether a stream is a terminal. A stream that is no file is none. See [Process] for whom it is.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && f != nil && term.IsTerminal(int(f.Fd()))
}

// inherited keeps the files of descriptors 1 and 2 alive. Without it the garbage collector would close those descriptors once [Guard]
// has replaced the variables, and the next file or socket would take the numbers: a write to it could end us by SIGPIPE, and
// a panic's trace would go there.
var inherited = [...]*os.File{os.Stdout, os.Stderr}

// Guard must be the first statement of a hook's main. After it, a panic in any goroutine, a deadlock, a stack overflow and concurrent
// map writes end the program with SIGABRT (a shell shows 134) and not with exit code 2, which means "block" to a host; and writing to
// a closed stdout or stderr is an error like any other instead of the program's end by SIGPIPE. Package log's standard logger is
// included, unless it has been given another output; a copy of os.Stderr or os.Stdout that was taken earlier is not.
func Guard() {
	debug.SetTraceback("crash")
	// Go ends a program for a broken pipe only at descriptors 1 and 2, so what is written goes through others. Ignoring SIGPIPE
	// would be inherited by every command that the hook starts, and catching it costs a thread, 0.3 ms of start-up.
	os.Stdout, os.Stderr = detached(inherited[0]), detached(inherited[1])
	if log.Writer() == inherited[1] {
		log.SetOutput(os.Stderr)
	}
}

// Main is a whole hook program: [Guard], [Run] with the process's streams, and the end of the process with Run's exit code.
//
// The handler's context has no deadline, and does not end when the host sends SIGTERM (at its timeout, 1.5 s before SIGKILL): the
// process does. A handler that starts commands, or must tidy up, asks for both itself:
//
//	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
//	defer stop()
//	ctx, cancel := context.WithTimeout(ctx, 9*time.Minute)
//	defer cancel()
func Main(handlers Handlers, options ...Option) {
	Guard()
	p := CurrentProcess()
	streams := IO{In: p.Stdin, Out: p.Stdout, Err: p.Stderr, Env: p.Env, Dir: p.Dir, Terminal: IsTerminal(p.Stdin)}
	os.Exit(Run(context.Background(), streams, handlers, options...))
}
