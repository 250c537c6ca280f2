package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/text"
)

// Command is one row of the table. A row has Run or Sub, or both: then arguments that do not begin with the name of a command in Sub
// are Run's.
type Command struct {
	Name    string
	Aliases []string
	Usage   string // what follows the name: "[--debug] FILE"
	Short   string // one line
	Long    string // for --help; Short if empty

	// FailOpen ends with exit code 0 on usage errors: the hook lets its event pass, and says so on stderr. Without it they end with 1,
	// never with the usual 2, which blocks the agent when a hook ends with it.
	FailOpen bool
	// BadUsage is the exit code of usage errors of Run where it is not 1. Only a command for people that no hook calls has one. The
	// commands in Sub do not inherit it, and a call that names one of them, if in the wrong place, ends with 1: it may be a hook's.
	BadUsage int

	// Options declares the flags, if any. They are parsed before Run, which gets what is left. Without it Run gets all arguments.
	// A flag without a text that sets the value of another one is its alias. Where there is a flag h, -h is no call for help.
	Options func(flags *flag.FlagSet)
	Mixed   bool // flags may stand after arguments too, up to "--"
	Run     func(ctx context.Context, p *Program, args []string) int
	Sub     []Command
}

const (
	exitOK      = 0
	exitFailure = 1
)

func (c *Command) badUsage() int {
	switch {
	case c.FailOpen:
		return exitOK
	case c.BadUsage != 0:
		return c.BadUsage
	}
	return exitFailure
}

// Main finds the command that the arguments name, runs it and returns its exit code. -h, --help and the command help print help, made
// from the table; --version prints the version. A panic of the command ends with exit code 1 (see [hookkit.Protect]).
func (p *Program) Main(ctx context.Context, root Command) int {
	return hookkit.Protect(p.Stderr, func() int {
		if len(p.Args) == 1 && isOne(p.Args[0], "--version", "-version", "version") && root.find(p.Args[0]) == nil {
			_, _ = fmt.Fprintf(p.Stdout, "%s %s\n", p.Name, p.version())
			return exitOK
		}
		return p.dispatch(ctx, &root, p.Name, p.Args)
	})
}

func isOne(s string, list ...string) bool { return slices.Contains(list, s) }

func (c *Command) find(name string) *Command {
	for i := range c.Sub {
		if c.Sub[i].Name == name || slices.Contains(c.Sub[i].Aliases, name) {
			return &c.Sub[i]
		}
	}
	return nil
}

// dispatch runs the command c, which was called as path, with the arguments after it.
func (p *Program) dispatch(ctx context.Context, c *Command, path string, args []string) int {
	if len(args) > 0 && p.asksHelp(c, args[0]) {
		p.help(p.Stdout, c, path)
		return exitOK
	}
	if len(args) > 0 && len(c.Sub) > 0 {
		if args[0] == "help" && c.find("help") == nil {
			return p.helpFor(c, path, args[1:])
		}
		if sub := c.find(args[0]); sub != nil {
			return p.dispatch(ctx, sub, path+" "+sub.Name, args[1:])
		}
	}
	switch {
	case c.Run != nil:
		if slices.ContainsFunc(args, func(arg string) bool { return c.find(arg) != nil }) || len(args) > 1 && c.below(args[0]) != "" {
			careful := *c
			careful.BadUsage = 0
			c = &careful
		}
		return p.run(ctx, c, path, args)
	case len(args) == 0:
		p.help(p.Stderr, c, path)
		return c.badUsage()
	}
	return p.unknown(c, path, args[0])
}

// asksHelp says whether the first argument of a command asks for its help.
func (p *Program) asksHelp(c *Command, arg string) bool {
	if arg == "-h" && c.Options != nil {
		flags := p.Flags(c)
		c.Options(flags)
		return flags.Lookup("h") == nil
	}
	return isOne(arg, "-h", "-help", "--help", "-?", "--?")
}

func (p *Program) run(ctx context.Context, c *Command, path string, args []string) int {
	q := *p
	q.path, q.running = path, c
	if c.Options != nil {
		flags := q.Flags(c)
		c.Options(flags)
		parse := q.parse
		if c.Mixed {
			parse = q.parseMixed
		}
		if meant := c.below(args0(args)); meant != "" {
			q.meant = path + " " + meant
		}
		rest, code, ok := parse(flags, args)
		if q.meant = ""; !ok {
			return code
		}
		args = rest
	}
	return c.Run(ctx, &q, args)
}

func args0(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// helpFor prints the help of the command that the names lead to.
func (p *Program) helpFor(c *Command, path string, names []string) int {
	for _, name := range names {
		sub := c.find(name)
		if sub == nil {
			return p.unknown(c, path, name)
		}
		c, path = sub, path+" "+sub.Name
	}
	p.help(p.Stdout, c, path)
	return exitOK
}

func (p *Program) unknown(c *Command, path, name string) int {
	if len(c.Sub) == 0 {
		return p.usageError(c, path, fmt.Errorf("unexpected argument %q", name))
	}
	hint := ""
	if meant := c.near(name); meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	kind := "command"
	if strings.HasPrefix(name, "-") {
		kind = "flag"
	}
	return p.usageError(c, path, fmt.Errorf("unknown %s %q%s", kind, name, hint))
}

func (c *Command) names() []string {
	var names []string
	for i := range c.Sub {
		names = append(names, c.Sub[i].Name)
	}
	return append(names, "help")
}

// near gives the command that was probably meant by a word, as it is called below c: one that is nearly called so, or one a level further
// down, "hook install" for "install". It is "" where none is near.
func (c *Command) near(word string) string {
	if deep := c.below(word); deep != "" {
		return deep
	}
	return text.Near(word, c.names())
}

// below finds a command two levels below c by its very name.
func (c *Command) below(word string) string {
	for i := range c.Sub {
		if sub := c.Sub[i].find(word); sub != nil {
			return c.Sub[i].Name + " " + sub.Name
		}
	}
	return ""
}

// Suggest returns the command below the running one that was probably meant by the typed word, in full: "brepl hook", "brepl hook install".
// It is "" if none is near.
func (p *Program) Suggest(word string) string {
	if p.running == nil {
		return ""
	}
	if meant := p.running.near(word); meant != "" {
		return p.path + " " + meant
	}
	return ""
}

// UsageError reports a wrong call of the running command on stderr, with the way to its help, and returns the exit code for it.
func (p *Program) UsageError(err error) int {
	if p.running == nil {
		return p.usageError(&Command{}, p.Name, err)
	}
	if p.meant != "" {
		err = fmt.Errorf("%w; did you mean %q?", err, p.meant)
	}
	return p.usageError(p.running, p.path, err)
}

func (p *Program) usageError(c *Command, path string, err error) int {
	pass := ""
	if c.FailOpen {
		pass = "; nothing was checked and nothing is blocked"
	}
	_, _ = fmt.Fprintf(p.Stderr, "%s: %v%s\nRun '%s --help' for usage.\n", path, err, pass, path)
	return c.badUsage()
}

// Flags returns an empty flag set for a command that parses its arguments itself. It never ends the process and prints nothing by
// itself: give it to [Program.Parse].
func (p *Program) Flags(c *Command) *flag.FlagSet {
	name := p.path
	if name == "" && c != nil {
		name = c.Name
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	return flags
}

func (p *Program) parse(flags *flag.FlagSet, args []string) (rest []string, code int, ok bool) {
	code, ok = p.Parse(flags, args)
	return flags.Args(), code, ok
}

// parseMixed is parse for a command that takes its flags before, between and after its other arguments, which it returns.
func (p *Program) parseMixed(flags *flag.FlagSet, args []string) (rest []string, code int, ok bool) {
	for {
		if code, ok = p.Parse(flags, args); !ok || flags.NArg() == 0 {
			return rest, code, ok
		}
		parsed := args[:len(args)-flags.NArg()]
		if len(parsed) > 0 && parsed[len(parsed)-1] == "--" {
			return append(rest, flags.Args()...), code, ok
		}
		rest, args = append(rest, flags.Arg(0)), flags.Args()[1:]
	}
}

// Parse parses the flags of the running command. When ok is false the command is over and ends with this code: help was printed, or
// the arguments are wrong and stderr says why.
func (p *Program) Parse(flags *flag.FlagSet, args []string) (code int, ok bool) {
	err := flags.Parse(args)
	switch {
	case err == nil:
		return exitOK, true
	case errors.Is(err, flag.ErrHelp):
		if p.running != nil {
			p.help(p.Stdout, p.running, p.path)
		}
		return exitOK, false
	}
	return p.UsageError(err), false
}
