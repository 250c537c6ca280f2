package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/settings"
)

// program is the name by which our handlers are known in settings files.
const program = "hookkit"

// recordedEvents are all events that the client has.
func recordedEvents() []string {
	return []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PermissionDenied", "PostToolUse", "PostToolUseFailure",
		"Notification", "SubagentStart", "SubagentStop", "Stop", "StopFailure", "PreCompact", "PostCompact", "SessionEnd",
	}
}

// ownRecorder recognises the silent handler. A hook that somebody has wrapped (hookkit record -- COMMAND) is theirs.
func ownRecorder(h settings.Handler) bool {
	if !settings.OwnCommand(program, "record")(h) {
		return false
	}
	words, _ := settings.Words(strings.Join(append([]string{h.Command}, h.Args...), " "))
	return len(words) > 2 && words[2] == "event"
}

type installFlags struct {
	dryRun bool
	dir    string
}

func recordInstallCommand() cli.Command {
	var f installFlags
	return cli.Command{
		Name:  "install",
		Usage: "[--dry-run] [--dir DIR]",
		Short: "record all events of this project",
		Long: `Puts a silent handler on all events into .claude/settings.local.json at the root of
the git work tree (or here, outside of git). It prints nothing and blocks nothing.
Everything else in the settings stays byte for byte.`,
		Options: func(set *flag.FlagSet) {
			f = installFlags{}
			set.BoolVar(&f.dryRun, "dry-run", false, "show what would change and write nothing")
			set.StringVar(&f.dir, "dir", "", "write recordings to this `folder`")
		},
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			if len(args) > 0 {
				return p.UsageError(fmt.Errorf("unexpected argument %q", args[0]))
			}
			command, err := eventCommand(p, f.dir)
			if err != nil {
				return fail(p, err)
			}
			var want []settings.Entry
			for _, event := range recordedEvents() {
				want = append(want, settings.Entry{Event: event, Command: command})
			}
			code := applySettings(ctx, p, f.dryRun, settings.Spec{Own: ownRecorder, Events: recordedEvents(), Want: want})
			if code == 0 && !f.dryRun {
				_, _ = fmt.Fprintf(p.Stdout, "Recordings go to %s. End with: %s record uninstall\n", recordDir(p, f.dir), program)
			}
			return code
		},
	}
}

func recordUninstallCommand() cli.Command {
	var f installFlags
	return cli.Command{
		Name:  "uninstall",
		Usage: "[--dry-run]",
		Short: "stop recording this project",
		Long:  "Takes the silent handlers out of .claude/settings.local.json. Hooks that you have wrapped yourself, and all recordings, stay.",
		Options: func(set *flag.FlagSet) {
			f = installFlags{}
			set.BoolVar(&f.dryRun, "dry-run", false, "show what would change and write nothing")
		},
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			if len(args) > 0 {
				return p.UsageError(fmt.Errorf("unexpected argument %q", args[0]))
			}
			return applySettings(ctx, p, f.dryRun, settings.Spec{Own: ownRecorder, Events: recordedEvents(), Everywhere: true})
		},
	}
}

// eventCommand is the silent handler as a shell line. It names this very file: the agent's PATH is not ours.
func eventCommand(p *cli.Program, dir string) (string, error) {
	executable, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot tell where this program is: %w", err)
	}
	if name := strings.TrimSuffix(filepath.Base(executable), ".exe"); name != program {
		return "", fmt.Errorf("this program is called %q; name it %s, or its handlers could not be found again", name, program)
	}
	command := settings.ShellQuote(executable) + " record event"
	if dir != "" {
		if dir = recordDir(p, dir); dir == "" {
			return "", errors.New("the current directory is not known; give --dir an absolute path")
		}
		command += " --dir " + settings.ShellQuote(dir)
	}
	if recordDir(p, dir) == "" {
		return "", errors.New("no folder for recordings: give --dir, or set HOME or XDG_STATE_HOME")
	}
	return command, nil
}

func applySettings(ctx context.Context, p *cli.Program, dryRun bool, spec settings.Spec) int {
	if !filepath.IsAbs(p.Dir) {
		return fail(p, errors.New("the current directory is not known; change to your project and try again"))
	}
	root := filepath.Clean(p.Dir)
	if git, ok := project.GitRoot(root); ok {
		root = git
	}
	out, err := settings.Apply(ctx, settings.Job{Path: settings.Local.PathIn(root), StateDir: stateDir(p), DryRun: dryRun, Spec: spec})
	for _, warning := range out.Warnings {
		_, _ = fmt.Fprintf(p.Stderr, "%s: warning: %s\n", p.Path(), warning)
	}
	if err != nil {
		return fail(p, err)
	}
	verb := map[bool]string{true: "would be ", false: ""}[dryRun]
	switch {
	case out.Deleted:
		verb += "deleted, for nothing else was in it"
	case out.Written:
		verb += "changed"
	default:
		verb = "is as wanted already"
	}
	_, _ = fmt.Fprintf(p.Stdout, "%s: %s (%d handlers in, %d out)\n", out.Path, verb, len(out.Added), len(out.Removed))
	if dryRun {
		_, _ = p.Stdout.Write(diff.Diff(out.Path, slices.Clone(out.Before), out.Path, out.After))
	}
	return 0
}

func fail(p *cli.Program, err error) int {
	_, _ = fmt.Fprintf(p.Stderr, "%s: %v\n", p.Path(), err)
	return 1
}
