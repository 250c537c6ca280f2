package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// table is a program with a hook command, a command for people and one that fails open.
func table() Command {
	var loud bool
	var times int
	return Command{
		Short: "demo shows a table.",
		Sub: []Command{
			{
				Name: "hook", Aliases: []string{"hooks"}, Short: "Hooks for the host",
				Sub: []Command{
					{
						Name: "stop", Usage: "[FLAGS] [FILE]", Short: "When the agent stops", Long: "Runs at the end of a turn.",
						Options: func(flags *flag.FlagSet) {
							flags.BoolVar(&loud, "loud", false, "say more")
							flags.BoolVar(&loud, "l", false, "")
							flags.IntVar(&times, "times", 3, "repeat `N` times")
						},
						Run: func(_ context.Context, p *Program, args []string) int {
							_, _ = fmt.Fprintf(p.Stdout, "%s loud=%v times=%d %q\n", p.Path(), loud, times, args)
							return 2
						},
					},
					{
						Name: "validate", Short: "Before an edit", FailOpen: true, Options: func(*flag.FlagSet) {},
						Run: func(context.Context, *Program, []string) int { return 0 },
					},
					{Name: "secret", Run: func(context.Context, *Program, []string) int { panic("kaboom") }},
				},
			},
			{
				Name: "eval", Usage: "CODE", Short: "Evaluate",
				Run: func(_ context.Context, p *Program, args []string) int {
					flags := p.Flags(nil)
					port := flags.Int("port", 0, "")
					if code, ok := p.Parse(flags, args); !ok {
						return code
					}
					if flags.NArg() != 1 {
						return p.UsageError(errors.New("expected one CODE"))
					}
					_, _ = fmt.Fprintf(p.Stdout, "port=%d %s\n", *port, flags.Arg(0))
					return 0
				},
			},
		},
	}
}

const (
	rootHelp = `demo shows a table.

Usage: demo COMMAND

Commands:
  hook  Hooks for the host
  eval  Evaluate

Run 'demo COMMAND --help' for one of them.

Flags:
  --version  print the version
`
	hookHelp = `Hooks for the host

Usage: demo hook COMMAND

Commands:
  stop      When the agent stops
  validate  Before an edit
  secret

Run 'demo hook COMMAND --help' for one of them.
`
	stopHelp = `Runs at the end of a turn.

Usage: demo hook stop [FLAGS] [FILE]

Flags:
  --loud, -l  say more
  --times N   repeat N times (default 3)
`
	evalHelp = `Evaluate

Usage: demo eval CODE
`
)

func TestMainDispatch(t *testing.T) {
	// The exit codes pin "a bad flag must not block": 1, and 2 only where a hook decided so.
	tests := []struct {
		args   string
		exit   int
		stdout string
		stderr string
	}{
		{"", 1, "", rootHelp},
		{"--help", 0, rootHelp, ""},
		{"-h", 0, rootHelp, ""},
		{"help", 0, rootHelp, ""},
		{"help hook", 0, hookHelp, ""},
		{"help hook stop", 0, stopHelp, ""},
		{"help hook stopp", 1, "", "demo hook: unknown command \"stopp\"; did you mean \"stop\"?\nRun 'demo hook --help' for usage.\n"},
		{"help eval x", 1, "", "demo eval: unexpected argument \"x\"\nRun 'demo eval --help' for usage.\n"},
		{"hook", 1, "", hookHelp},
		{"hook help stop", 0, stopHelp, ""},
		{"hooks --help", 0, hookHelp, ""},
		{"hook stop", 2, "demo hook stop loud=false times=3 []\n", ""},
		{"hooks stop --loud --times=5 a -b", 2, "demo hook stop loud=true times=5 [\"a\" \"-b\"]\n", ""},
		{"hook stop --help", 0, stopHelp, ""},
		{"hook stop --loud -h", 0, stopHelp, ""},
		{"hook stop --laud", 1, "", "demo hook stop: flag provided but not defined: -laud\nRun 'demo hook stop --help' for usage.\n"},
		{"hook stop --times x", 1, "", "demo hook stop: invalid value \"x\" for flag -times: parse error\nRun 'demo hook stop --help' for usage.\n"},
		{"hook validate --nope", 0, "", "demo hook validate: flag provided but not defined: -nope; nothing was checked and nothing is blocked\nRun 'demo hook validate --help' for usage.\n"},
		{"hook sotp", 1, "", "demo hook: unknown command \"sotp\"; did you mean \"stop\"?\nRun 'demo hook --help' for usage.\n"},
		{"hook sekret", 1, "", "demo hook: unknown command \"sekret\"; did you mean \"secret\"?\nRun 'demo hook --help' for usage.\n"},
		{"hook --debug", 1, "", "demo hook: unknown flag \"--debug\"\nRun 'demo hook --help' for usage.\n"},
		{"nonsense", 1, "", "demo: unknown command \"nonsense\"\nRun 'demo --help' for usage.\n"},
		{"eval --port 5 x", 0, "port=5 x\n", ""},
		{"eval --prot 5 x", 1, "", "demo eval: flag provided but not defined: -prot\nRun 'demo eval --help' for usage.\n"},
		{"eval", 1, "", "demo eval: expected one CODE\nRun 'demo eval --help' for usage.\n"},
		{"eval --port 5 --help", 0, evalHelp, ""},
		{"--version", 0, "demo 1.2.3\n", ""},
		{"version", 0, "demo 1.2.3\n", ""},
	}
	for _, c := range tests {
		t.Run(c.args, func(t *testing.T) {
			var out, errOut bytes.Buffer
			p := Program{Args: strings.Fields(c.args), Stdout: &out, Stderr: &errOut, Name: "demo", Version: "1.2.3"}
			assert.Equal(t, p.Main(t.Context(), table()), c.exit)
			assert.Equal(t, out.String(), c.stdout)
			assert.Equal(t, errOut.String(), c.stderr)
		})
	}
}

func TestMainPanic(t *testing.T) {
	// Pins "recover at the one command boundary": a panic is 1, never 2.
	var out, errOut bytes.Buffer
	p := Program{Args: []string{"hook", "secret"}, Stdout: &out, Stderr: &errOut, Name: "demo"}
	assert.Equal(t, p.Main(t.Context(), table()), 1)
	assert.Equal(t, out.String(), "")
	assert.Assert(t, strings.HasPrefix(errOut.String(), "internal error, nothing was decided: panic: kaboom\n"))
}

func TestMainLeavesTheProgramAsItWas(t *testing.T) {
	var out bytes.Buffer
	p := Program{Args: []string{"hook", "stop"}, Stdout: &out, Stderr: &out, Name: "demo"}
	p.Main(t.Context(), table())
	assert.Equal(t, p.Path(), "")
}

func TestBuildVersion(t *testing.T) {
	tests := []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3 (go1.26)"},
		{debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "(devel)"}}, "devel (go1.26)"},
		{
			debug.BuildInfo{GoVersion: "go1.26", Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}},
			"devel 0123456789ab (modified) (go1.26)",
		},
	}
	for _, c := range tests {
		assert.Equal(t, buildVersion(&c.info), c.want)
	}
	p := Program{}
	assert.Assert(t, p.version() != "")
}

func TestEnvironment(t *testing.T) {
	p := Program{Env: []string{"A=1", "B=", "A=2=3", "odd"}}
	assert.Equal(t, p.Getenv("A"), "2=3")
	value, ok := p.LookupEnv("B")
	assert.Assert(t, ok && value == "")
	_, ok = p.LookupEnv("odd")
	assert.Assert(t, !ok)
	assert.Equal(t, p.Getenv("C"), "")
}

func TestIsTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	assert.NilError(t, err)
	defer f.Close()
	var none *os.File
	for _, stream := range []any{f, none, nil, strings.NewReader("")} {
		assert.Assert(t, !IsTerminal(stream), "%T", stream)
	}
}

func TestColor(t *testing.T) {
	terminal := &bytes.Buffer{}
	is := func(stream any) bool { return stream == terminal }
	tests := []struct {
		name     string
		p        Program
		stream   any
		coloured bool
	}{
		{"terminal", Program{IsTerminal: is}, terminal, true},
		{"no terminal", Program{IsTerminal: is}, &bytes.Buffer{}, false},
		{"nothing known", Program{}, terminal, false},
		{"NO_COLOR", Program{IsTerminal: is, Env: []string{"NO_COLOR=1"}}, terminal, false},
		{"NO_COLOR empty", Program{IsTerminal: is, Env: []string{"NO_COLOR="}}, terminal, true},
		{"dumb terminal", Program{IsTerminal: is, Env: []string{"TERM=dumb"}}, terminal, false},
	}
	for _, c := range tests {
		style := c.p.Color(c.stream)
		assert.Equal(t, style.on, c.coloured, c.name)
		want := "x"
		if c.coloured {
			want = "\x1b[31mx\x1b[0m"
		}
		assert.Equal(t, style.Red("x"), want, c.name)
	}
	on := Style{on: true}
	assert.Equal(t, on.Bold("b")+on.Dim("d")+on.Green("g")+on.Yellow("y")+on.Red(""), "\x1b[1mb\x1b[0m\x1b[2md\x1b[0m\x1b[32mg\x1b[0m\x1b[33my\x1b[0m")
}

func TestHookIO(t *testing.T) {
	in, out, errOut := strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}
	p := Program{Dir: "/d", Env: []string{"A=1"}, Stdin: in, Stdout: out, Stderr: errOut, IsTerminal: func(stream any) bool { return stream == in }}
	got := p.HookIO()
	assert.Assert(t, got.In == in && got.Out == out && got.Err == errOut && got.Terminal)
	assert.Equal(t, got.Dir, "/d")
	assert.DeepEqual(t, got.Env, []string{"A=1"})
}
