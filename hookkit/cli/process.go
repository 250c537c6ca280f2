package cli

import (
	"context"
	"os"

	"golang.org/x/term"

	"github.com/hookkit/brepl/hookkit"
)

// Main runs the program of this process and returns its exit code, for os.Exit. It calls [hookkit.Guard] first.
func Main(name string, root Command) int {
	hookkit.Guard()
	p := CurrentProcess(name)
	return p.Main(context.Background(), root)
}

// CurrentProcess returns the program of this process under its name.
func CurrentProcess(name string) Program {
	dir, _ := os.Getwd() // "" if it is deleted or unreadable: who needs it says so
	return Program{
		Args: os.Args[1:], Dir: dir, Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, IsTerminal: IsTerminal, Name: name,
	}
}

// IsTerminal reports whether a stream is a terminal. A stream that is no file is none.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && f != nil && term.IsTerminal(int(f.Fd()))
}
