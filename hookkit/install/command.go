package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/settings"
	"github.com/hookkit/brepl/hookkit/text"
)

// A Program is one whose hooks are installed.
type Program struct {
	settings.Hooks
	// What a program may have beside its hooks in the settings. The functions may be nil.
	installs, uninstalls string                                           // the commands' help, where it says more than that of all programs
	flags                func(*flag.FlagSet)                              // of both commands
	check                func() error                                     // of the flags
	before               func(r *Report, home bool, others []other) error // before uninstall has changed the settings; others are the files that it leaves
	after                func(r *Report, home bool, err error) error      // after either; err is how it has gone so far
}

const (
	installAction   = "install"
	uninstallAction = "uninstall"
)

// Commands are the rows "install" and "uninstall" for the table of a program. Both end with 0, or with 1 on any error; never with 2.
func Commands(p Program) []cli.Command {
	return []cli.Command{
		(&command{Program: p, action: installAction}).row("put the hooks into the agent's settings for this project", cmp.Or(p.installs,
			`Puts the hooks into .claude/settings.local.json at the root of the git work tree
(or here, outside of git). Everything else in the settings stays byte for byte.
Run it again at any time.`)),
		(&command{Program: p, action: uninstallAction}).row("take the hooks out of the agent's settings again", cmp.Or(p.uninstalls,
			`Takes the hooks out of .claude/settings.local.json. Everything else stays byte for
byte; a file or key that install made goes with them.`)),
	}
}

// command is one of the two.
type command struct {
	Program
	action string
	scope  settings.Scope
	output
}

func (c *command) row(short, long string) cli.Command {
	return cli.Command{Name: c.action, Usage: "[flags]", Short: short, Long: long, Options: c.declare, Run: c.run}
}

func (c *command) declare(set *flag.FlagSet) {
	c.scope = settings.Local
	set.Func("scope", "`local` for .claude/settings.local.json (the default), or project for .claude/settings.json, which is committed", func(given string) error {
		c.scope = settings.Scope(given)
		if c.scope != settings.Local && c.scope != settings.Project {
			return errors.New("give local or project")
		}
		return nil
	})
	c.output.declare(set)
	if c.flags != nil {
		c.flags(set)
	}
	if c.action == installAction && c.Flags != nil {
		c.Flags(set)
	}
}

func (c *command) run(ctx context.Context, p *cli.Program, args []string) int {
	err := noArguments(args)
	if err == nil && c.action == installAction && c.check != nil {
		err = c.check()
	}
	if err != nil {
		return p.UsageError(err)
	}
	group := strings.TrimSuffix(p.Path(), " "+c.action)
	r, err := c.do(ctx, settings.NewEnv(p.Dir, p.Getenv), group+" "+uninstallAction)
	return c.print(p, r, err)
}

func noArguments(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

// output is how a command reports.
type output struct{ dryRun, json bool }

func (o *output) declare(set *flag.FlagSet) {
	set.BoolVar(&o.dryRun, "dry-run", false, "show what would change and write nothing")
	set.BoolVar(&o.json, "json", false, "print the report as one JSON object")
}

// print writes the report and gives the exit code.
func (o *output) print(p *cli.Program, r Report, err error) int {
	if err != nil {
		r.Error = err.Error()
		_, _ = fmt.Fprintf(p.Stderr, "%s: %s\n", p.Path(), text.Escaped(r.Error, ""))
	}
	shown := r.Text()
	if o.json {
		data, jsonErr := json.MarshalIndent(r, "", "  ")
		if jsonErr != nil {
			_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), jsonErr)
			return 1
		}
		shown = string(data) + "\n"
	}
	if _, writeErr := fmt.Fprint(p.Stdout, shown); writeErr != nil || err != nil {
		return 1
	}
	return 0
}
