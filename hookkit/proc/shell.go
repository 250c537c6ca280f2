package proc

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Shell is the start of the command line that runs a shell command: bash -c when
// there is a bash on the PATH of env, else sh -c. The command's text is the next
// argument. The error is [ErrNoShell].
func Shell(env []string) (argv []string, err error) {
	for _, name := range []string{"bash", "sh"} {
		if _, err = LookPath(name, env); err == nil {
			return []string{name, "-c"}, nil
		}
	}
	return nil, fmt.Errorf("neither bash nor sh is on the PATH (%s): %w", Getenv(env, "PATH"), ErrNoShell)
}

// probeTime is far more than a shell needs to answer.
const probeTime = 5 * time.Second

// Probe asks a shell whether it can find a command: `command -v WORD`, in the
// directory and environment in which the command ran. It tells a command that
// cannot run from one that ran and failed when the exit code is 126 or 127,
// which a program may also return by itself. argv is what [Shell] returned; the
// word is given as an argument and never read as shell text. The error says that
// the shell itself did not answer.
func Probe(ctx context.Context, argv []string, word, dir string, env []string) (bool, error) {
	r := Run(ctx, Command{
		Argv:    append(slices.Clone(argv), `command -v -- "$1"`, "probe", word),
		Dir:     dir,
		Env:     env,
		Timeout: probeTime,
	})
	if r.StartErr != nil {
		return false, r.StartErr
	}
	if r.Exit < 0 {
		return false, fmt.Errorf("looking for command %q: %v", short(word), r)
	}
	return r.Exit == 0 && word != "", nil
}
