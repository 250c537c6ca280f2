package install

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/settings"
)

// StopBudget tells how long the stop hooks of the project at root may take
// together; 0 when there are none. This package does not read hooks.edn itself.
type StopBudget func(root string) (time.Duration, error)

// Commands are the rows "install" and "uninstall" for the table of brepl hook.
// Both end with 0, or with 1 on any error; never with 2. A nil budget counts as 0.
func Commands(budget StopBudget) []cli.Command {
	return []cli.Command{installCommand(budget), uninstallCommand()}
}

type flags struct {
	Options
	json bool
}

func (f *flags) declare(set *flag.FlagSet) {
	*f = flags{Options: Options{Scope: settings.Local}}
	set.Func("scope", "`local` for .claude/settings.local.json (the default), or project for .claude/settings.json, which is committed", f.setScope)
	set.BoolVar(&f.DryRun, "dry-run", false, "show what would change and write nothing")
	set.BoolVar(&f.NoSkill, "no-skill", false, "leave the agent's skill, .claude/skills/brepl, alone")
	set.BoolVar(&f.json, "json", false, "print the report as one JSON object")
}

func installCommand(budget StopBudget) cli.Command {
	var f flags
	return cli.Command{
		Name:  "install",
		Usage: "[flags]",
		Short: "put the hooks into the agent's settings for this project",
		Long: `Puts the hooks into .claude/settings.local.json at the root of the git work tree
(or here, outside of git), creates .brepl/hooks.edn when there is none, and writes
a skill for the agent, .claude/skills/brepl/SKILL.md.
Everything else in the settings stays byte for byte. Run it again at any time.`,
		Options: func(set *flag.FlagSet) {
			f.declare(set)
			set.BoolVar(&f.StrictEval, "strict-eval", false, "evaluation errors block instead of warning")
			set.BoolVar(&f.SkipEval, "skip-eval", false, "do not evaluate files after edits")
			set.BoolVar(&f.AllTools, "all-tools", false, "evaluate the files that any tool has changed, not only Edit and Write")
			set.Func("timeout", "`seconds` for an evaluation (30 when not given)", f.setTimeout)
			set.BoolVar(&f.Debug, "debug", false, "run all hooks with --debug")
		},
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			if err := f.check(args); err != nil {
				return p.UsageError(err)
			}
			env := newEnv(p)
			var warning string
			if root, _, err := env.project(); err == nil && budget != nil { // Install reports the error
				if f.StopBudget, err = budget(root); err != nil {
					warning = fmt.Sprintf("the time that the stop hooks need is not known: %v", err)
				}
			}
			r, err := Install(ctx, env, f.Options)
			if warning != "" {
				r.Warnings = append(r.Warnings, warning)
			}
			return f.print(p, r, err)
		},
	}
}

func uninstallCommand() cli.Command {
	var f flags
	return cli.Command{
		Name:  "uninstall",
		Usage: "[flags]",
		Short: "take the hooks out of the agent's settings again",
		Long: `Takes the hooks out of .claude/settings.local.json. Everything else stays byte for
byte; a file or key that install made goes with them, and so does the agent's
skill unless you have changed it. .brepl/hooks.edn stays.`,
		Options: func(set *flag.FlagSet) { f.declare(set) },
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			if err := f.check(args); err != nil {
				return p.UsageError(err)
			}
			r, err := Uninstall(ctx, newEnv(p), f.Options)
			return f.print(p, r, err)
		},
	}
}

// maxEvalTimeout is a day, in seconds.
const maxEvalTimeout = 86400

func (f *flags) setTimeout(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxEvalTimeout {
		return fmt.Errorf("give whole seconds from 1 to %d", maxEvalTimeout)
	}
	f.EvalTimeout = n
	return nil
}

func (f *flags) check(args []string) error {
	switch {
	case len(args) > 0:
		return fmt.Errorf("unexpected argument %q", args[0])
	case f.StrictEval && f.SkipEval:
		return errors.New("--strict-eval and --skip-eval exclude each other")
	case f.AllTools && f.SkipEval:
		return errors.New("--all-tools and --skip-eval exclude each other")
	}
	return nil
}

func (f *flags) setScope(text string) error {
	f.Scope = settings.Scope(text)
	if f.Scope != settings.Local && f.Scope != settings.Project {
		return errors.New("give local or project")
	}
	return nil
}

func newEnv(p *cli.Program) Env {
	executable, err := os.Executable()
	if err != nil {
		executable = "" // Install says so when it is needed
	}
	return NewEnv(filepath.Clean(p.Dir), executable, p.Getenv)
}

// print writes the report and gives the exit code.
func (f *flags) print(p *cli.Program, r Report, err error) int {
	if err != nil {
		r.Error = err.Error()
		_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), err)
	}
	text := r.Text()
	if f.json {
		data, jsonErr := json.MarshalIndent(r, "", "  ")
		if jsonErr != nil {
			_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), jsonErr)
			return 1
		}
		text = string(data) + "\n"
	}
	if _, writeErr := fmt.Fprint(p.Stdout, text); writeErr != nil || err != nil {
		return 1
	}
	return 0
}
