package gauntlet

import (
	"context"
	"flag"
	"fmt"
	"strconv"

	"github.com/hookkit/brepl/hookkit/cli"
)

// runCommand is run, check or review: kind says which gates it takes, "" all.
func runCommand(name string, kind Kind, short string) cli.Command {
	var (
		scope scopeFlags
		wait  optionalBool
		html  string
	)
	return plain(cli.Command{
		Name:  name,
		Usage: "[-b BRANCH | -c COMMIT | -u] [-g GATE]… [--wait] [--json]",
		Short: short,
		Long: short + `.
Exit 0: passed, passed with warnings, nothing to do. Exit 1: failed, retry limit exceeded, bad configuration.
Exit 75: it could not run now: another run is in progress, a tool is missing.`,
		Options: func(flags *flag.FlagSet) {
			scope.declare(flags)
			scope.declareGates(flags)
			flags.Var(&wait, "wait", "wait for a run in progress and take its verdict; the default where stdout is no terminal")
			flags.StringVar(&html, "html", "", "also write the result as a page to `FILE`")
		},
	}, func(ctx context.Context, p *cli.Program) int {
		c, err := scope.load(p)
		if err != nil {
			return reportError(p, scope.json, err)
		}
		changes, err := scope.scope(p, c)
		if err != nil {
			return p.UsageError(err)
		}
		ctx, stop := cli.Interruptible(ctx)
		defer stop()
		terminal := p.Terminal(p.Stdout)
		show := newDisplay(p, scope.json, terminal)
		r := &runner{config: c, env: p.Env, reviewer: reviewer(c, p.Env), watch: show.progress}
		// A gate that starts us would wait for the run that waits for it.
		nested := p.Getenv("GAUNTLET_ACTIVE") != ""
		s := r.run(ctx, &Request{
			Command: name, Scope: changes, Want: scope.wants(kind), Partial: kind != "" || len(scope.gates) > 0,
			Wait: wait.or(!terminal) && !nested,
		})
		show.end(s, c.Root)
		if html != "" {
			if err := writeHTML(html, s); err != nil {
				_, _ = fmt.Fprintf(p.Stderr, "agent-gauntlet: --html: %v\n", err)
			}
		}
		debugNote(c, fmt.Sprintf("%s %s: %s %s", name, s.RunID, s.Status, s.Why))
		return s.Status.Exit()
	})
}

// optionalBool is a flag of which it matters whether it was given.
type optionalBool struct{ given, value bool }

func (b *optionalBool) String() string   { return "" }
func (b *optionalBool) IsBoolFlag() bool { return true }
func (b *optionalBool) Set(text string) (err error) {
	b.given = true
	b.value, err = strconv.ParseBool(text)
	return err
}

func (b *optionalBool) or(otherwise bool) bool {
	if b.given {
		return b.value
	}
	return otherwise
}

// reportError ends a command that could not begin. With --json the reason is an object too.
func reportError(p *cli.Program, asJSON bool, err error) int {
	if asJSON {
		s := &Summary{Status: StatusError, Why: err.Error()}
		_ = writeJSONTo(p.Stdout, summaryJSON(s)) // who reads it sees the exit code too
	}
	return fail(p, err)
}
