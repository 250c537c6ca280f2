package hookkit

import (
	"context"
	"log" // only to mend its stderr: see Guard
	"os"
	"runtime/debug"

	"golang.org/x/term"
)

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
	dir, _ := os.Getwd() // "" if it is deleted or unreadable: who needs it says so
	streams := IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Environ(), Dir: dir, Terminal: term.IsTerminal(int(os.Stdin.Fd()))}
	os.Exit(Run(context.Background(), streams, handlers, options...))
}
