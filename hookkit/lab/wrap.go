package lab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/settings"
)

// How a shell tells that a command was not found or cannot be run.
const (
	exitNotFound      = 127
	exitNotExecutable = 126
)

// newRecorder makes the recorder of a wrapped command.
func newRecorder(p *cli.Program, argv []string, dir string, began time.Time, fault error) *recorder {
	r := &recorder{p: p, dir: dir, began: began, command: commandLine(argv)}
	if fault != nil {
		r.opened, r.err = true, fault
	}
	return r
}

// commandLine is a command as a line of shell.
func commandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = settings.ShellQuote(word)
	}
	return strings.Join(words, " ")
}

// cannotStart answers as the shell would for a command that cannot be started.
func cannotStart(p *cli.Program, argv []string, err error) int {
	switch {
	case errors.Is(err, proc.ErrNotFound):
		_, _ = fmt.Fprintf(p.Stderr, "%s: %s: not found\n", p.Path(), argv[0])
		return exitNotFound
	default:
		_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), err)
		return exitNotExecutable
	}
}

// report says why there is no recording, to a person at a terminal only: a hook's stderr is read by the agent.
func (r *recorder) report(ctx context.Context) {
	if err := r.failure(); err != nil && ctx.Err() == nil && r.p.IsTerminal != nil && r.p.IsTerminal(r.p.Stderr) {
		_, _ = fmt.Fprintf(r.p.Stderr, "%s: nothing was recorded: %v\n", r.p.Path(), err)
	}
}
