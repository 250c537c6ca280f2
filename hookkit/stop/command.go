// Package stop is `brepl hook stop`: it runs the hooks of .brepl/hooks.edn when the agent stops and makes
// the agent go on until they pass, within limits.
//
// One stop flows straight down: [hooksedn.Locate] and [hooksedn.Load] read the configuration, [Runner] runs hook after hook,
// decide applies the verdict table to each outcome, and the steps become one [hookkit.StopDecision].
// State lives in memory.go (what is remembered) and store.go (where).
//
// It serves the programs of this repository and carries no promise of stability.
package stop

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/debuglog"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/text"
)

// Commands are the rows of `brepl hook` that belong to this package.
func Commands() []cli.Command {
	return append([]cli.Command{stopCommand(), sessionEndCommand(), runCommand(), checkCommand()}, stopHooks().Commands()...)
}

// replFlags says which server to ask.
type replFlags struct {
	port, host string
}

func (f *replFlags) declare(flags *flag.FlagSet) {
	flags.Func("port", "`PORT` of the nREPL server; no other place is tried then", func(text string) error {
		f.port = text
		return new(nrepl.Lookup).SetPort(text)
	})
	flags.StringVar(&f.host, "nrepl-host", "", "`HOST` of the nREPL server (default: BREPL_HOST, else localhost)")
}

func (f *replFlags) lookup(p *cli.Program, dir string) nrepl.Lookup {
	l := nrepl.Lookup{Host: f.host, Dir: dir, Getenv: p.Getenv, Discover: true}
	if paths, err := nrepl.ParsePathMap(filepath.SplitList(p.Getenv("BREPL_PATH_MAP"))); err == nil { // a stop sends no path
		l.PathMap = paths.In(dir)
	}
	if f.port != "" {
		_ = l.SetPort(f.port) // it was read before
	}
	return l
}

func stopCommand() cli.Command {
	var (
		repl          replFlags
		host          string
		dryRun, debug bool
	)
	return cli.Command{
		Name:  "stop",
		Usage: "[--dry-run] [--debug] [--port PORT] [--host HOST]",
		Short: "When the agent stops: run the hooks of .brepl/hooks.edn",
		Long: `Reads a Stop event from stdin and runs the hooks under :stop in .brepl/hooks.edn.
Exit 0: the agent can stop. Exit 1: it can stop, something is reported. Exit 2: it must go on.`,
		Options: func(flags *flag.FlagSet) {
			repl.declare(flags)
			flags.StringVar(&host, "host", "", "the agent's `HOST`: claude, portable, codex, eca, gemini, copilot, cursor; "+
				"any other name is taken as --nrepl-host")
			flags.BoolVar(&dryRun, "dry-run", false, "print what would run, and run nothing")
			debuglog.Flag(flags, &debug)
		},
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			if len(args) > 0 {
				return p.UsageError(fmt.Errorf("unexpected argument %q", args[0]))
			}
			options := []hookkit.Option{hookkit.Expect(hookkit.EventStop)}
			if agentHost, err := hookkit.ParseHost(host); err == nil {
				options = append(options, hookkit.ForHost(agentHost))
			} else if host != "" {
				if near := nearHost(host); near != "" {
					return p.UsageError(fmt.Errorf("unknown host %q; did you mean %q? (--nrepl-host names an nREPL server's host)", host, near))
				}
				repl.host = host
			}
			if dryRun {
				return printPlan(p, repl)
			}
			k := &stopHook{program: p, repl: repl, began: time.Now(), note: func(string, ...any) {}}
			if debuglog.Wanted(p, debug) {
				log := debuglog.New(p, "stop", true)
				options = append(options, log.Option())
				k.note = log.Note
			}
			defer k.live.leave()
			return hookkit.Run(ctx, p.HookIO(), hookkit.Handlers{Stop: k.stop, SubagentStop: k.subagentStop}, options...)
		},
	}
}

func sessionEndCommand() cli.Command {
	var debug bool
	return cli.Command{
		Name:     "session-end",
		Usage:    "[SESSION]",
		Short:    "When the session ends: remove its state",
		Long:     "Reads a SessionEnd event from stdin, or takes the session's id as argument. It always exits with 0.",
		FailOpen: true,
		Options:  func(flags *flag.FlagSet) { debuglog.Flag(flags, &debug) },
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			// The host sets no SESSION_ID: settings that pass "$SESSION_ID" give an empty argument.
			if len(args) > 0 && args[0] != "" {
				if err := end(p, session.IDIn(args[0], p.Getenv, p.Dir), time.Now()); err != nil {
					_, _ = fmt.Fprintf(p.Stderr, "brepl: %v\n", err)
				}
				return 0
			}
			options := []hookkit.Option{hookkit.Expect(hookkit.EventSessionEnd), hookkit.FailOpen()}
			if debuglog.Wanted(p, debug) {
				// The session's folder is about to go, so there is no file.
				options = append(options, debuglog.New(p, "session-end", false).Option())
			}
			return hookkit.Run(ctx, p.HookIO(), hookkit.Handlers{
				SessionEnd: func(_ context.Context, e *hookkit.SessionEnd) error {
					return end(p, session.IDOf(e.Base()), time.Now())
				},
			}, options...)
		},
	}
}

// nearHost is the agent's host that a name was probably meant to be, "" for none.
func nearHost(name string) string {
	for h := hookkit.Claude; ; h++ {
		known, err := hookkit.ParseHost(h.String())
		if err != nil {
			return ""
		}
		if text.Distance(name, known.String()) <= 2 {
			return known.String()
		}
	}
}

// findHere finds the project by the rule that a stop follows. The error says where there is a configuration if not here.
func findHere(p *cli.Program) (dir string, err error) {
	dir, ok := hooksedn.Locate(p.Dir, p.Getenv("CLAUDE_PROJECT_DIR"))
	if ok {
		return dir, nil
	}
	if root, ok := project.GitRoot(p.Dir); ok && project.Exists(filepath.Join(root, hooksedn.Path)) {
		return "", fmt.Errorf("there is no %s in %s, but there is one in %s: run this there", hooksedn.Path, p.Dir, root)
	}
	if p.Dir == "" {
		return "", project.ErrNoDirectory
	}
	return "", fmt.Errorf("there is no %s in %s; `brepl hook install` writes one with examples", hooksedn.Path, p.Dir)
}

// loadHere reads the configuration for a person's command and reports what is wrong with it.
func loadHere(p *cli.Program) (*hooksedn.Config, bool) {
	dir, err := findHere(p)
	if err != nil {
		_, _ = fmt.Fprintln(p.Stderr, err)
		return nil, false
	}
	config, err := hooksedn.Load(dir)
	if err != nil {
		_, _ = fmt.Fprintln(p.Stderr, err)
		return nil, false
	}
	return config, true
}
