package triage

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/settings"
)

// programName is how the settings know our handlers.
const programName = "memory-triage"

// ownHandler recognises our handlers: the program bare, or with one of the commands that the host calls.
func ownHandler(h settings.Handler) bool {
	if settings.OwnCommand(programName, "hook", "session-end")(h) {
		return true
	}
	if !settings.OwnCommand(programName)(h) {
		return false
	}
	words, simple := settings.Words(h.Command)
	return simple && len(words)+len(h.Args) == 1
}

// hostTimeout is what the seed's entry gives the hook.
const hostTimeout = 30 * time.Second

const statusMessage = "Evaluating session for memories..."

func entries(program string) []settings.Entry {
	return []settings.Entry{
		{Event: "Stop", Matcher: "*", Command: program + " hook", Timeout: hostTimeout, StatusMessage: statusMessage},
		{Event: "SessionEnd", Matcher: "*", Command: program + " session-end"},
	}
}

type installFlags struct {
	scope  settings.Scope
	dryRun bool
}

func (f *installFlags) declare(flags *flag.FlagSet) {
	*f = installFlags{scope: settings.Local}
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would change and write nothing")
	flags.Func("scope", "`local` for .claude/settings.local.json (the default), or project for .claude/settings.json, which is committed", func(text string) error {
		f.scope = settings.Scope(text)
		if f.scope != settings.Local && f.scope != settings.Project {
			return errors.New("give local or project")
		}
		return nil
	})
}

func installCommand() cli.Command {
	var f installFlags
	return cli.Command{
		Name: "install", Usage: "[flags]", Short: "Put the hook into the agent's settings for this project",
		Long: `Puts a Stop and a SessionEnd handler into .claude/settings.local.json at the root of the git work tree (or here, outside
of git). Everything else in the settings stays byte for byte. Run it again at any time.`,
		Options: f.declare,
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			return f.run(ctx, p, args, true)
		},
	}
}

func uninstallCommand() cli.Command {
	var f installFlags
	return cli.Command{
		Name: "uninstall", Usage: "[flags]", Short: "Take the hook out of the agent's settings again",
		Options: f.declare,
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			return f.run(ctx, p, args, false)
		},
	}
}

func (f *installFlags) run(ctx context.Context, p *cli.Program, args []string, install bool) int {
	if len(args) > 0 {
		return p.UsageError(fmt.Errorf("unexpected argument %q", args[0]))
	}
	text, err := f.apply(ctx, p, install)
	if err != nil {
		_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), oneLineError(err))
		return 1
	}
	if _, err := fmt.Fprint(p.Stdout, text); err != nil {
		return 1
	}
	return 0
}

func (f *installFlags) apply(ctx context.Context, p *cli.Program, install bool) (string, error) {
	root, err := projectRoot(p)
	if err != nil {
		return "", err
	}
	spec := settings.Spec{Own: ownHandler, Events: []string{"Stop", "SessionEnd"}, Everywhere: !install}
	if install {
		var program string
		if program, err = ownProgram(f.scope); err != nil {
			return "", err
		}
		spec.Want = entries(program)
	}
	out, err := settings.Apply(ctx, settings.Job{Path: f.scope.PathIn(root), StateDir: stateDir(p), DryRun: f.dryRun, Spec: spec})
	if err != nil {
		return "", err
	}
	return describe(&out, root, f.dryRun), nil
}

// projectRoot is the git work tree that holds the current folder, else that folder.
func projectRoot(p *cli.Program) (string, error) {
	if !filepath.IsAbs(p.Dir) {
		return "", errors.New("the current directory is not known; change to your project and try again")
	}
	root := filepath.Clean(p.Dir)
	if git, ok := project.GitRoot(root); ok && git != filepath.Clean(p.Getenv("HOME")) {
		root = git
	}
	if filepath.Dir(root) == root {
		return "", fmt.Errorf("%s is no project; change to your project and try again", root)
	}
	return root, nil
}

// ownProgram is how the settings call this program: plain where others share the file, else by absolute path, because a hook's PATH
// is the agent's.
func ownProgram(scope settings.Scope) (string, error) {
	if scope == settings.Project {
		return programName, nil
	}
	path, err := os.Executable()
	switch {
	case err != nil || !filepath.IsAbs(path):
		return "", errors.New("cannot tell where this program is; put it on the PATH and use --scope project")
	case strings.TrimSuffix(filepath.Base(path), ".exe") != programName:
		return "", fmt.Errorf("this program is called %q; name it %s, or its hooks could not be found again", filepath.Base(path), programName)
	case !utf8.ValidString(path):
		return "", fmt.Errorf("the path %q is not UTF-8 and cannot be written to JSON", path)
	}
	return settings.ShellQuote(path), nil
}

// stateDir is where uninstall's memory is kept; "" for none.
func stateDir(p *cli.Program) string {
	if dir := p.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, programName)
	}
	if home := p.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", programName)
	}
	return ""
}

func describe(out *settings.Outcome, root string, dryRun bool) string {
	path := out.Path
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	what := "unchanged"
	switch {
	case out.After == nil && out.Existed && out.Changed():
		what = "deleted, because nothing else was in it"
	case out.Changed() && out.Existed:
		what = "updated"
	case out.Changed():
		what = "created"
	case !out.Existed:
		what = "there is none, so nothing is installed"
	}
	if dryRun && out.Changed() {
		what = "would be " + what
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", oneLine(path), what)
	for _, part := range []struct {
		sign     string
		handlers []settings.Handler
	}{{"-", out.Removed}, {"+", out.Added}, {"=", out.Kept}} {
		for _, h := range part.handlers {
			fmt.Fprintf(&b, "  %s %s: %s\n", part.sign, h.Event, oneLine(h.Command))
		}
	}
	if n := len(out.Foreign); n > 0 {
		fmt.Fprintf(&b, "  handlers of others, left as they are: %d\n", n)
	}
	for _, w := range out.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", oneLine(w))
	}
	return b.String()
}
