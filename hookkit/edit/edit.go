// Package edit holds the hooks around the agent's file edits: validate before an edit, eval after it.
//
// Both let everything pass so far. They exist so that settings which name them work: a hook that cannot judge must not stand in the way.
//
// It serves the programs of this repository and carries no promise of stability.
package edit

import (
	"context"
	"flag"
	"io"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/debuglog"
)

// allowed is the answer of the form with arguments, which is for people and scripts.
const allowed = `{"continue":true,"decision":"allow","suppressOutput":true}` + "\n"

// Commands returns the rows of "brepl hook".
func Commands() []cli.Command {
	return []cli.Command{
		command(hookkit.EventPreToolUse, cli.Command{
			Name:  "validate",
			Usage: "[FLAGS] [FILE CONTENT]",
			Short: "Before an edit: check the Clojure that is about to be written",
			Long: "Reads a PreToolUse event from stdin. With FILE and CONTENT (\"-\": from stdin) it judges these instead and prints JSON.\n" +
				"It does not check anything yet: every edit is allowed.",
		}),
		command(hookkit.EventPostToolUse, cli.Command{
			Name:  "eval",
			Usage: "[FLAGS] [FILE]",
			Short: "After an edit: evaluate the Clojure file that was written",
			Long: "Reads a PostToolUse event from stdin. With FILE it judges that file instead and prints JSON.\n" +
				"It does not evaluate anything yet: every file is accepted.",
		}),
	}
}

// command completes a row to a hook that allows whatever arrives, wrong arguments and unreadable events included, with exit code 0.
func command(event hookkit.EventName, c cli.Command) cli.Command {
	var debug bool
	c.FailOpen = true
	c.Options = func(flags *flag.FlagSet) {
		// Settings may hold these flags already; there is nothing to do with them yet.
		flags.Bool("strict-eval", false, "accepted; no effect yet")
		flags.Int("timeout", 30, "accepted; no effect yet (`SECONDS`)")
		debuglog.Flag(flags, &debug)
	}
	c.Run = func(ctx context.Context, p *cli.Program, args []string) int {
		// The host sets no FILE_PATH: settings that pass "$FILE_PATH" give an empty argument, and then the event counts.
		if len(args) > 0 && args[0] != "" {
			_, _ = io.WriteString(p.Stdout, allowed)
			return 0
		}
		options := []hookkit.Option{hookkit.Expect(event), hookkit.FailOpen()}
		if debuglog.Wanted(p, debug) {
			options = append(options, debuglog.New(p, c.Name, true).Option())
		}
		return hookkit.Run(ctx, p.HookIO(), hookkit.Handlers{}, options...)
	}
	return c
}
