package stop

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/reload"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/text"
)

// printPlan is `hook stop --dry-run`: what would run, where, with which timeout.
func printPlan(p *cli.Program, repl replFlags) int {
	dir, ok := hooksedn.Locate(p.Dir, p.Getenv("CLAUDE_PROJECT_DIR"))
	if !ok {
		_, _ = fmt.Fprintf(p.Stdout, "No %s here: every stop is allowed.\n", hooksedn.Path)
		return 0
	}
	config, err := hooksedn.Load(dir)
	if err != nil {
		_, _ = fmt.Fprintln(p.Stderr, err)
		return 1
	}
	_, _ = fmt.Fprintf(p.Stdout, "%s of %s\n", text.Count(len(config.Hooks), "hook"), config.Path)
	for i, h := range config.Hooks {
		_, _ = fmt.Fprintf(p.Stdout, "%2d. %s\n", i+1, h.Name)
		switch h.Type {
		case hooksedn.Bash:
			_, _ = fmt.Fprintf(p.Stdout, "      runs      %s\n      in        %s\n", text.Escaped(h.Command, "\n\t"), text.Name(workDir(config.Dir, h.Cwd)))
		case hooksedn.Tests:
			_, _ = fmt.Fprintf(p.Stdout, "      tests     %s\n      in        %s\n", testPlan(context.Background(), config.Dir, p.Env, h), servers(p, repl, config.Dir))
		case hooksedn.REPL:
			_, _ = fmt.Fprintf(p.Stdout, "      evaluates %s\n      in        %s\n", text.Brief(h.Code), servers(p, repl, config.Dir))
		}
		_, _ = fmt.Fprintf(p.Stdout, "      timeout   %g s\n      failure   %s\n", h.Timeout.Seconds(), onFailure(h))
		if len(h.WhenChanged) > 0 {
			_, _ = fmt.Fprintf(p.Stdout, "      only when %s changed\n", text.Escaped(strings.Join(h.WhenChanged, ", "), ""))
		}
	}
	l := hostLimits(hookkit.EventStop, p, config.Dir)
	_, _ = fmt.Fprintf(p.Stdout, "Timeouts sum up to %g s. The host gives %g s, of which %g s are used.%s\n",
		config.Budget().Seconds(), l.host.Seconds(), l.own.Seconds(), overBudget(config, l))
	return 0
}

func onFailure(h *hooksedn.Hook) string {
	var text string
	switch {
	case !h.Retry:
		text = "is reported, the agent can stop"
	case h.MaxRetries == 0:
		text = "makes the agent go on, without a limit"
	default:
		text = fmt.Sprintf("makes the agent go on, up to %d times", h.MaxRetries)
	}
	if h.Required {
		text += "; required"
	}
	return text
}

func servers(p *cli.Program, repl replFlags, dir string) string {
	targets, problems := repl.lookup(p, dir).Targets()
	var parts []string
	for _, t := range targets {
		parts = append(parts, t.String())
	}
	for _, problem := range problems {
		parts = append(parts, problem.Error())
	}
	if len(parts) == 0 {
		return "an nREPL server that runs in this project: there is no .nrepl-port, and BREPL_PORT is not set"
	}
	if repl.port == "" {
		parts = append(parts, "a server that runs in this project")
	}
	return "nREPL at " + strings.Join(parts, ", then ")
}

func overBudget(c *hooksedn.Config, l limits) string {
	if c.Budget() <= l.own {
		return ""
	}
	return "\nThat is more than the host gives. Run `brepl hook install` again: it writes a timeout that fits."
}

func runCommand() cli.Command {
	var repl replFlags
	return cli.Command{
		Name:  "run",
		Usage: "[--port PORT] [NAME…]",
		Short: "Run the stop hooks by hand: exit 0 passed, 1 failed, 75 some could not run; nothing is counted",
		Options: func(flags *flag.FlagSet) {
			repl.declare(flags)
			flags.StringVar(&repl.host, "host", "", "the same as --nrepl-host")
		},
		Run: func(ctx context.Context, p *cli.Program, names []string) int {
			config, ok := loadHere(p)
			if !ok {
				return 1
			}
			hooks, err := choose(config.Hooks, names)
			if err != nil {
				return p.UsageError(err)
			}
			return runByHand(ctx, p, config, hooks, repl)
		},
	}
}

// choose returns the hooks with these names in the order of the file, all of them when there are no names.
func choose(hooks []*hooksedn.Hook, names []string) ([]*hooksedn.Hook, error) {
	if len(names) == 0 {
		return hooks, nil
	}
	var known []string
	var chosen []*hooksedn.Hook
	for _, h := range hooks {
		known = append(known, h.Name)
		if slices.Contains(names, h.Name) {
			chosen = append(chosen, h)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no hook %q; there is %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

func runByHand(ctx context.Context, p *cli.Program, config *hooksedn.Config, hooks []*hooksedn.Hook, flags replFlags) int {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	style := p.Color(p.Stdout)
	repl := &liveREPL{lookup: flags.lookup(p, config.Dir), files: reload.In(config, p.Env, p.Getenv)}
	defer repl.leave()
	r := &Runner{
		Dir:       config.Dir,
		Env:       hookEnv(p.Env, session.IDIn(hookkit.SessionManual, p.Getenv, p.Dir), ""),
		Evaluator: repl,
		Session:   repl.session,
	}
	live := p.IsTerminal != nil && p.IsTerminal(p.Stdout)
	if live {
		r.Live = p.Stdout
	}
	failed, skipped := 0, 0
	for _, h := range hooks {
		if live {
			_, _ = fmt.Fprintln(p.Stdout, style.Bold("▸ "+h.Name))
		}
		began := time.Now()
		o := r.Run(ctx, h)
		o.Why, o.Output = text.Defuse(o.Why), text.Defuse(o.Output) // an agent may have typed this
		took := text.Seconds(time.Since(began))
		switch {
		case ctx.Err() != nil:
			_, _ = fmt.Fprintln(p.Stderr, "brepl: interrupted")
			return 1
		case o.Kind == Passed && o.Ran != "":
			_, _ = fmt.Fprintf(p.Stdout, "%s %s: %s (%s)\n", style.Green("passed"), h.Name, o.Ran, took)
		case o.Kind == Passed:
			_, _ = fmt.Fprintf(p.Stdout, "%s %s (%s)\n", style.Green("passed"), h.Name, took)
		case o.Kind == CannotRun && !h.Required:
			skipped++
			_, _ = fmt.Fprintf(p.Stdout, "%s %s: %s\n", style.Yellow("skipped"), h.Name, o.Why)
		case o.Kind == CannotRun:
			failed++
			_, _ = fmt.Fprintf(p.Stdout, "%s %s: it is required and cannot run: %s\n", style.Red("failed"), h.Name, o.Why)
		default:
			failed++
			if !live && o.Output != "" {
				_, _ = io.WriteString(p.Stdout, text.Bar(o.Output)+"\n")
			}
			_, _ = fmt.Fprintf(p.Stdout, "%s %s: %s (%s)\n", style.Red("failed"), h.Name, o.Why, took)
		}
	}
	_, _ = fmt.Fprintf(p.Stdout, "%d passed, %d failed, %d skipped\n", len(hooks)-failed-skipped, failed, skipped)
	switch {
	case failed > 0:
		return 1
	case skipped > 0:
		return proc.ExitTempFail // a script must not take it for a pass
	}
	return 0
}

// checkReport is the form of `hook check --json`.
type checkReport struct {
	File   string   `json:"file"`
	OK     bool     `json:"ok"`
	Hooks  []string `json:"hooks"`
	Errors []place  `json:"errors"`
	Doubts []place  `json:"doubts"`
}

type place struct {
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

func checkCommand() cli.Command {
	var asJSON bool
	return cli.Command{
		Name:    "check",
		Usage:   "[--json]",
		Short:   "Check .brepl/hooks.edn: exit 0 if it can be used, else 1",
		Options: func(flags *flag.FlagSet) { flags.BoolVar(&asJSON, "json", false, "print one JSON object") },
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			if len(args) > 0 {
				return p.UsageError(fmt.Errorf("unexpected argument %q", args[0]))
			}
			return check(ctx, p, asJSON)
		},
	}
}

func check(ctx context.Context, p *cli.Program, asJSON bool) int {
	dir, err := findHere(p)
	if err != nil {
		return printCheck(p, asJSON, checkReport{File: hooksedn.Path, Errors: []place{{Message: err.Error()}}}, err.Error()+"\n")
	}
	config, err := hooksedn.Load(dir)
	r := checkReport{File: hooksedn.Path, OK: err == nil}
	if err != nil {
		if faulty, ok := errors.AsType[*hooksedn.ConfigError](err); ok {
			for _, f := range faulty.Faults {
				r.Errors = append(r.Errors, place{f.Pos.Line, f.Pos.Column, f.Text})
			}
		} else {
			r.Errors = []place{{Message: err.Error()}}
		}
		return printCheck(p, asJSON, r, err.Error()+"\n")
	}
	var said strings.Builder
	for _, d := range config.Doubts {
		r.Doubts = append(r.Doubts, place{d.Pos.Line, d.Pos.Column, d.Text})
		said.WriteString(config.Render(d) + "\n")
	}
	for _, h := range config.Hooks {
		for _, pattern := range unmatched(ctx, dir, p.Env, h.WhenChanged) {
			message := fmt.Sprintf("hook '%s': the :when-changed pattern %q matches no file (git-ignored files do not count)", h.Name, pattern)
			r.Doubts = append(r.Doubts, place{Message: message})
			said.WriteString(message + "\n")
		}
	}
	for _, h := range config.Hooks {
		r.Hooks = append(r.Hooks, h.Name)
	}
	if hint := overBudget(config, hostLimits(hookkit.EventStop, p, dir)); hint != "" {
		hint = fmt.Sprintf("The timeouts of the hooks sum up to %g s.%s", config.Budget().Seconds(), strings.ReplaceAll(hint, "\n", " "))
		r.Doubts = append(r.Doubts, place{Message: hint})
		said.WriteString(hint + "\n")
	}
	fmt.Fprintf(&said, "%s can be used: %s", hooksedn.Path, text.Count(len(config.Hooks), "hook"))
	if len(r.Hooks) > 0 {
		said.WriteString(" (" + strings.Join(r.Hooks, ", ") + ")")
	}
	return printCheck(p, asJSON, r, said.String()+"\n")
}

func printCheck(p *cli.Program, asJSON bool, r checkReport, text string) int {
	switch {
	case asJSON:
		// An empty list is a list, not null.
		r.Hooks, r.Errors, r.Doubts = append([]string{}, r.Hooks...), append([]place{}, r.Errors...), append([]place{}, r.Doubts...)
		encoder := json.NewEncoder(p.Stdout)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(r) // the type always encodes; a closed stdout has no reader
	case r.OK:
		_, _ = io.WriteString(p.Stdout, text)
	default:
		_, _ = io.WriteString(p.Stderr, text)
	}
	if r.OK {
		return 0
	}
	return 1
}
