package proc

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// ExitTempFail is EX_TEMPFAIL of sysexits.h: "not now". A command that ends with it could not run.
const ExitTempFail = 75

// Exit codes of a shell for a command that it cannot run or find.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// RunShell runs text with bash, or with sh where there is no bash, in the place and under the limits of c, whose
// Argv it sets. cannot says why the command could not run at all, which says nothing about what it would have
// found: no shell, no such directory, a command that the shell does not find, or exit code 75. Otherwise it is "".
func RunShell(ctx context.Context, text string, c Command) (r Result, cannot string) {
	if info, err := os.Stat(c.Dir); c.Dir != "" && (err != nil || !info.IsDir()) {
		return Result{Exit: -1}, c.Dir + " is not a directory"
	}
	shell, err := Shell(c.Env)
	if err != nil {
		return Result{Exit: -1}, err.Error()
	}
	c.Argv = append(slices.Clone(shell), text)
	r = Run(ctx, c)
	switch {
	case r.StartErr != nil:
		return r, r.StartErr.Error()
	case r.TimedOut || r.Canceled:
		return r, ""
	case r.Exit == ExitTempFail:
		return r, "it says that it cannot run now (exit 75)"
	case r.Exit == exitNotExecutable || r.Exit == exitNotFound:
		// A program may return these codes itself; only the shell knows.
		if word := FirstWord(text); word != "" {
			if found, err := Probe(ctx, shell, word, c.Dir, c.Env); err == nil && !found {
				return r, fmt.Sprintf("the command %s was not found or cannot be executed", word)
			}
		}
	}
	return r, ""
}

// FirstWord is the program of a command line, after assignments: "make" in "CI=1 make test; x". It is empty
// where only a shell could tell: expansions, groups, escapes.
func FirstWord(command string) string {
	for {
		command = strings.TrimLeft(command, " \t\n")
		word, rest := cutWord(command)
		if strings.ContainsAny(word, "$`\\*?[{~!#") {
			return ""
		}
		name, _, assigned := strings.Cut(word, "=")
		if !assigned || name == "" || strings.ContainsAny(name, `"'`) {
			return strings.NewReplacer(`"`, "", `'`, "").Replace(word)
		}
		command = rest
	}
}

// cutWord splits a command line after its first word, which may have quoted parts.
func cutWord(command string) (word, rest string) {
	quote := rune(0)
	for i, r := range command {
		switch {
		case r == quote:
			quote = 0
		case quote != 0:
		case r == '"' || r == '\'':
			quote = r
		case strings.ContainsRune(" \t\n;&|<>()", r):
			return command[:i], command[i:]
		}
	}
	return command, ""
}
