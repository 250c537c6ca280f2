package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// both is a program whose root has a Run, flags and commands below it, like brepl.
func both() Command {
	var host string
	var loud bool
	root := table()
	root.Short, root.Usage, root.BadUsage = "demo evaluates.", "[FLAGS] [EXPR]", 2
	root.Options = func(flags *flag.FlagSet) {
		flags.StringVar(&host, "h", "", "the `HOST`")
		flags.StringVar(&host, "host", "", "")
		flags.BoolVar(&loud, "loud", false, "say more")
	}
	root.Mixed = true
	root.Run = func(_ context.Context, p *Program, rest []string) int {
		if len(rest) > 1 {
			return p.UsageError(errors.New("too many"))
		}
		_, _ = fmt.Fprintf(p.Stdout, "%s host=%s loud=%v %q\n", p.Path(), host, loud, rest)
		if len(rest) == 1 {
			_, _ = fmt.Fprintf(p.Stdout, "suggest %q\n", p.Suggest(rest[0]))
		}
		return 0
	}
	return root
}

// Issue 5: `brepl EXPR` beside `brepl hook …`, flags before and after the expression, -h for the host, exit 2 for a wrong call of
// the root and for no command below it.
func TestRunBesideCommands(t *testing.T) {
	for _, c := range []struct {
		args   []string
		exit   int
		stdout string
		stderr string
	}{
		{[]string{}, 0, "demo host= loud=false []\n", ""},
		{[]string{"(+ 1 2)"}, 0, "demo host= loud=false [\"(+ 1 2)\"]\nsuggest \"\"\n", ""},
		{[]string{"(+ 1 2)", "--loud", "-h", "box"}, 0, "demo host=box loud=true [\"(+ 1 2)\"]\nsuggest \"\"\n", ""},
		{[]string{"--host", "box", "x", "-loud"}, 0, "demo host=box loud=true [\"x\"]\nsuggest \"\"\n", ""},
		{[]string{"--", "--loud"}, 0, "demo host= loud=false [\"--loud\"]\nsuggest \"\"\n", ""},
		{[]string{"--loud", "--", "-h"}, 0, "demo host= loud=true [\"-h\"]\nsuggest \"\"\n", ""},
		{[]string{"hok"}, 0, "demo host= loud=false [\"hok\"]\nsuggest \"demo hook\"\n", ""},
		{[]string{"a", "b"}, 2, "", "demo: too many\nRun 'demo --help' for usage.\n"},
		{[]string{"--nope", "hook", "stop"}, 1, "", "demo: flag provided but not defined: -nope\nRun 'demo --help' for usage.\n"},
		{[]string{"-h"}, 2, "", "demo: flag needs an argument: -h\nRun 'demo --help' for usage.\n"},
		{[]string{"x", "--nope"}, 2, "", "demo: flag provided but not defined: -nope\nRun 'demo --help' for usage.\n"},
		{[]string{"hook", "stop"}, 2, "demo hook stop loud=false times=3 []\n", ""},
		{[]string{"hook", "stop", "--laud"}, 1, "", "demo hook stop: flag provided but not defined: -laud\nRun 'demo hook stop --help' for usage.\n"},
		{[]string{"hook", "sotp"}, 1, "", "demo hook: unknown command \"sotp\"; did you mean \"stop\"?\nRun 'demo hook --help' for usage.\n"},
		{[]string{"help", "hook", "stop"}, 0, stopHelp, ""},
		{[]string{"--version"}, 0, "demo 1.2.3\n", ""},
	} {
		t.Run(fmt.Sprint(c.args), func(t *testing.T) {
			root := both()
			var out, errOut bytes.Buffer
			p := Program{Args: c.args, Stdout: &out, Stderr: &errOut, Name: "demo", Version: "1.2.3"}
			got := p.Main(t.Context(), root)
			assert.Equal(t, errOut.String(), c.stderr)
			assert.Equal(t, out.String(), c.stdout)
			assert.Equal(t, got, c.exit)
		})
	}
}

func TestHelpOfRunBesideCommands(t *testing.T) {
	const want = `demo evaluates.

Usage: demo [FLAGS] [EXPR]
       demo COMMAND

Commands:
  hook  Hooks for the host
  eval  Evaluate

Run 'demo COMMAND --help' for one of them.

Flags:
  -h, --host HOST  the HOST
  --loud           say more
  --version        print the version
`
	for _, arg := range []string{"--help", "-?", "help"} {
		var out bytes.Buffer
		p := Program{Args: []string{arg}, Stdout: &out, Stderr: &out, Name: "demo"}
		assert.Equal(t, p.Main(t.Context(), both()), 0)
		assert.Equal(t, out.String(), want)
	}
}

func TestSignalExit(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	_, ok := SignalExit(ctx)
	assert.Assert(t, !ok)
	cancel(signalError{syscall.SIGINT})
	code, ok := SignalExit(ctx)
	assert.Assert(t, ok)
	assert.Equal(t, code, 130)
}
