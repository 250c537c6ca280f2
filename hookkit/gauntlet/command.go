package gauntlet

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/settings"
	"github.com/hookkit/brepl/hookkit/text"
)

// Commands are the rows of agent-gauntlet.
func Commands() []cli.Command {
	return slices.Concat([]cli.Command{
		runCommand("run", "", "Run the gates of what has changed"),
		runCommand("check", Check, "Run checks only"),
		runCommand("review", Review, "Run reviews only"),
		detectCommand(), listCommand(), healthCommand(), validateCommand(), statusCommand(), cleanCommand(), stopHookCommand(),
	}, gates().Commands(), []cli.Command{skipCommand(), initCommand(), ciCommand()})
}

// reviewer is what runs reviews.
func reviewer(c *Config, env []string) Reviewer { return newReviewer(c, env) }

// scopeFlags say what counts as changed.
type scopeFlags struct {
	base, commit string
	uncommitted  bool
	gates        []string
	json         bool
}

func (f *scopeFlags) declare(flags *flag.FlagSet) {
	for _, name := range []string{"b", "base-branch"} {
		flags.StringVar(&f.base, name, "", "count from this `BRANCH` instead of the last passed run")
	}
	for _, name := range []string{"c", "commit"} {
		flags.StringVar(&f.commit, name, "", "what this `COMMIT` changed")
	}
	for _, name := range []string{"u", "uncommitted"} {
		flags.BoolVar(&f.uncommitted, name, false, "what is staged, unstaged and untracked")
	}
	declareJSON(flags, &f.json)
}

func (f *scopeFlags) declareGates(flags *flag.FlagSet) {
	for _, name := range []string{"g", "gate"} {
		flags.Func(name, "only this `GATE`; may be given again", func(text string) error {
			f.gates = append(f.gates, text)
			return nil
		})
	}
}

func declareJSON(flags *flag.FlagSet, into *bool) {
	flags.BoolVar(into, "json", false, "print one JSON object")
}

// scope is what the flags and the environment ask for together.
func (f *scopeFlags) scope(p *cli.Program, c *Config) (Scope, error) {
	given := 0
	for _, is := range []bool{f.base != "", f.commit != "", f.uncommitted} {
		if is {
			given++
		}
	}
	if given > 1 {
		return Scope{}, errors.New("--base-branch, --commit and --uncommitted exclude each other")
	}
	s := Scope{Mode: Local, Base: c.BaseBranch, FromGitHub: c.baseFromGitHub, FromBase: f.base != ""}
	switch {
	case f.commit != "":
		s.Mode, s.Commit = OneCommit, f.commit
	case f.uncommitted:
		s.Mode = Uncommitted
	case inCI(p):
		s.Mode = CI
	}
	return s, nil
}

// inCI reports whether a CI service runs us: it sets CI, all that matter do.
func inCI(p *cli.Program) bool {
	value := strings.ToLower(p.Getenv("CI"))
	return value != "" && value != "0" && value != "false" || p.Getenv("GITHUB_ACTIONS") == "true"
}

// loadHere reads the configuration of the project that p.Dir is in.
func loadHere(p *cli.Program, flags map[string]any) (*Config, error) {
	if p.Dir == "" {
		return nil, project.ErrNoDirectory
	}
	root, ok := findRoot(p.Dir)
	if !ok {
		return nil, fmt.Errorf("%w: there is no %s in %s or above it; `agent-gauntlet init` writes one", errNoConfig, configName, p.Dir)
	}
	return loadConfig(root, source{env: p.LookupEnv, home: settings.Home(p.Getenv), flag: flags})
}

var errNoConfig = errors.New("no gauntlet config found")

// loadScoped is loadHere with the base branch of the flags.
func (f *scopeFlags) load(p *cli.Program) (*Config, error) {
	given := map[string]any{}
	if f.base != "" {
		given[keyBaseBranch] = f.base
	}
	c, err := loadHere(p, given)
	if err != nil {
		return nil, err
	}
	return c, f.known(c)
}

// known checks that the gates asked for exist.
func (f *scopeFlags) known(c *Config) error {
	var names []string
	for _, g := range c.Gates {
		names = append(names, g.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range f.gates {
		if slices.Contains(names, name) {
			continue
		}
		hint := ""
		if meant := text.Near(name, names); meant != "" {
			hint = fmt.Sprintf("; did you mean %q?", meant)
		}
		return fmt.Errorf("unknown gate %q%s; the gates are: %s", name, hint, strings.Join(names, ", "))
	}
	return nil
}

// wants is the choice of gates that the flags and the kind of the command make; nil takes all.
func (f *scopeFlags) wants(kind Kind) func(*Gate) bool {
	if kind == "" && len(f.gates) == 0 {
		return nil
	}
	return func(g *Gate) bool {
		return (kind == "" || g.Kind == kind) && (len(f.gates) == 0 || slices.Contains(f.gates, g.Name))
	}
}

// fail prints an error that ends a command. prefix says whose it is.
func fail(p *cli.Program, err error) int {
	_, _ = fmt.Fprintf(p.Stderr, "agent-gauntlet: %v\n", err)
	return exitFailed
}

func noArguments(p *cli.Program, args []string) (code int, ok bool) {
	if len(args) > 0 {
		return p.UsageError(fmt.Errorf("unexpected argument %q", args[0])), false
	}
	return exitOK, true
}

// plain makes a row whose command takes flags and no arguments.
func plain(c cli.Command, run func(ctx context.Context, p *cli.Program) int) cli.Command {
	c.Run = func(ctx context.Context, p *cli.Program, args []string) int {
		if code, ok := noArguments(p, args); !ok {
			return code
		}
		return run(ctx, p)
	}
	return c
}
