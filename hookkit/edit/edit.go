// Package edit holds what brepl does about the agent's edits of Clojure files: `brepl hook validate` before an edit, `brepl hook eval`
// after it, backups, and `brepl balance`.
//
// An edit flows straight down: call (what the tool is about to do), simulation (what that would leave on disk), decide (the table of
// verdicts), rewrite (the tool's input that writes the repaired text). The repair itself is [clj.Repair].
//
// It serves the programs of this repository and carries no promise of stability.
package edit

import (
	"cmp"
	"context"
	"flag"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/debuglog"
	"github.com/hookkit/brepl/hookkit/session"
)

// Commands returns the rows of "brepl hook".
func Commands() []cli.Command { return []cli.Command{validateCommand(), evalCommand()} }

func validateCommand() cli.Command {
	c := cli.Command{
		Name:  "validate",
		Usage: "[--debug] [FILE CONTENT]",
		Short: "Before an edit: repair or refuse Clojure that is not balanced",
		Long: "Reads a PreToolUse event from stdin. With FILE and CONTENT (\"-\": from stdin) it judges these instead and prints JSON.\n" +
			"It always exits with 0. Files that :validate {:exclude […]} in .brepl/hooks.edn names are left alone.",
	}
	return command(c, hookkit.EventPreToolUse, validateText, func(p *cli.Program, note noteFunc) hookkit.Handlers {
		v := &validator{program: p, note: note}
		return hookkit.Handlers{PreToolUse: v.preToolUse}
	})
}

// noteFunc writes a line to the debug log.
type noteFunc func(format string, args ...any)

// command completes a row to a hook that lets pass what it cannot judge, wrong arguments and unreadable events included, with exit
// code 0. withArguments is its form for people and scripts.
func command(c cli.Command, event hookkit.EventName, withArguments func(context.Context, *cli.Program, []string) int, handlers func(*cli.Program, noteFunc) hookkit.Handlers) cli.Command {
	var debug bool
	own := c.Options
	c.FailOpen = true
	c.Options = func(flags *flag.FlagSet) {
		if own != nil {
			own(flags)
		}
		debuglog.Flag(flags, &debug)
	}
	c.Run = func(ctx context.Context, p *cli.Program, args []string) int {
		// The host sets no FILE_PATH: settings that pass "$FILE_PATH" give an empty argument, and then the event counts.
		if len(args) > 0 && args[0] != "" {
			return withArguments(ctx, p, args)
		}
		note := noteFunc(func(string, ...any) {})
		options := []hookkit.Option{hookkit.Expect(event), hookkit.FailOpen()}
		if debuglog.Wanted(p, debug) {
			log := debuglog.New(p, c.Name, true)
			options = append(options, log.Option())
			note = log.Note
		}
		return hookkit.Run(ctx, p.HookIO(), handlers(p, note), options...)
	}
	return c
}

// ownSession is the id of the state that a command for people takes: of the agent's session in which it was started, else of the project.
func ownSession(p *cli.Program) string {
	return cmp.Or(session.HostID(p.Getenv, p.Dir), session.IDIn("", p.Getenv, p.Dir))
}

// ToolCommands returns the rows for people: backup and balance.
func ToolCommands() []cli.Command { return []cli.Command{backupCommand(), balanceCommand()} }
