package lab

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
	"github.com/hookkit/brepl/hookkit/cli"
)

// CheckOptions says what is checked and where.
type CheckOptions struct {
	// Command is the hook. A single element that names no file is text for /bin/sh, as a command in settings is; otherwise elements that
	// name files are made absolute, as the hook runs in another folder.
	Command []string
	Dir     string   // where relative names of files in Command start
	Env     []string // the caller's; the hook gets it with another HOME and TMPDIR and without an agent's variables

	Events  []string // as in checkEvents; none is Stop
	Project string   // an existing project to run in; "" is an empty scratch project

	Timeout    time.Duration // for one answer; 0 is 10 s; at SessionEnd never more than the host's 1.5 s
	StartLimit time.Duration // from which on a start is slow, with nothing to do; 0 is 1 s
}

const (
	defaultCheckTimeout = 10 * time.Second
	defaultStartLimit   = time.Second
)

// CheckReport is what a check found.
type CheckReport struct {
	Version int            `json:"hookkit_check"` // of this format: 1
	Client  string         `json:"client"`        // whose rules were applied
	Command []string       `json:"command"`
	Project string         `json:"project"` // "" for a scratch project
	FloorMS float64        `json:"floor_ms"`
	Floor   string         `json:"floor"` // the process that does nothing; "" where there is none
	Events  []CheckedEvent `json:"events"`
}

// CheckedEvent is the part of a report about one event.
type CheckedEvent struct {
	Event    string      `json:"event"`
	Steps    []CheckStep `json:"steps"`
	StartMS  []float64   `json:"start_ms"` // of runs with nothing else going on, sorted
	Findings []Finding   `json:"findings"`
}

// CheckStep is one question that was put to the hook.
type CheckStep struct {
	Name   string  `json:"name"`
	Exit   int     `json:"exit"`
	Signal string  `json:"signal,omitempty"`
	MS     float64 `json:"ms"`
	// Follows says what the host does then.
	Follows string `json:"follows,omitempty"`
	Told    []Text `json:"told,omitempty"`  // what the agent reads
	Shown   []Text `json:"shown,omitempty"` // what the user sees
	Skipped string `json:"skipped,omitempty"`
}

// Finding is one fault or warning, at the first step that shows it.
type Finding struct {
	Fault   string `json:"fault"`
	Warning bool   `json:"warning,omitempty"`
	Step    string `json:"step"`
	Detail  string `json:"detail"`
	Meaning string `json:"meaning"`
	Mend    string `json:"mend"`
}

// Clean reports whether there is no fault. Warnings do not count.
func (r *CheckReport) Clean() bool {
	for _, e := range r.Events {
		if slices.ContainsFunc(e.Findings, func(f Finding) bool { return !f.Warning }) {
			return false
		}
	}
	return true
}

// Check puts a hook through the contract. It takes from one to some ten seconds an event. The error says that the check itself could not
// be done.
func Check(ctx context.Context, options CheckOptions) (*CheckReport, error) {
	if len(options.Command) == 0 {
		return nil, errors.New("no command to check")
	}
	options.Timeout = cmp.Or(options.Timeout, defaultCheckTimeout)
	options.StartLimit = cmp.Or(options.StartLimit, defaultStartLimit)
	if len(options.Events) == 0 {
		options.Events = []string{"Stop"}
	}
	place, err := newCheckPlace(options.Project)
	if err != nil {
		return nil, err
	}
	c := &checker{CheckOptions: options, place: place, prefix: newMarker()}
	c.argv, c.shell = resolve(options.Command, options.Dir)
	defer func() {
		killMarked(c.prefix)
		_ = place.remove() // a scratch folder
	}()
	defer endWith(ctx, c.prefix)()

	r := &CheckReport{Version: 1, Client: "Claude Code " + claudecode.Version, Command: options.Command, Project: options.Project}
	r.Floor, r.FloorMS = c.floor()
	for _, event := range options.Events {
		e := eventCheck{checker: c, cases: checkCases(event, place.file), CheckedEvent: CheckedEvent{Event: event, Findings: []Finding{}}}
		e.check(ctx)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("the check was interrupted: %w", err)
		}
		r.Events = append(r.Events, e.CheckedEvent)
	}
	return r, nil
}

// checker runs one command.
type checker struct {
	CheckOptions
	place  *checkPlace
	argv   []string
	shell  bool
	prefix string // of the marker of all runs
}

// floor measures a process that does nothing.
func (c *checker) floor() (name string, ms float64) {
	for _, path := range []string{"/bin/true", "/usr/bin/true"} {
		var times []float64
		for range 5 {
			out, err := fakes.Spec{Path: path, Dir: c.place.project, Env: []string{}}.Run(fakes.EOF())
			if err == nil {
				times = append(times, milliseconds(out.Elapsed))
			}
		}
		if len(times) > 0 {
			return path, slices.Min(times)
		}
	}
	return "", 0
}

func checkCommand() cli.Command {
	var (
		options     CheckOptions
		events      string
		asJSON, all bool
		junit       string
	)
	return cli.Command{
		Name:  "check",
		Usage: "[FLAGS] -- COMMAND [ARGS]",
		Short: "Put a hook, in any language, through the contract between agent and hook",
		Long: `Runs a hook in a scratch project, with a scratch HOME and TMPDIR, in all the ways in which hosts call hooks, and judges its answers by the
client's rules. Exit 0: no fault. Exit 1: a fault was found, and named. 'hookkit check --list' explains every fault.
A single COMMAND that is no file is text for /bin/sh, as in settings.`,
		Options: func(flags *flag.FlagSet) {
			flags.StringVar(&events, "event", "Stop", "the `EVENTS` that the hook is for, separated by commas")
			flags.BoolVar(&asJSON, "json", false, "print the report as JSON")
			flags.StringVar(&junit, "junit", "", "write the report as JUnit XML to `FILE` too")
			flags.DurationVar(&options.Timeout, "timeout", defaultCheckTimeout, "how long one answer may take")
			flags.DurationVar(&options.StartLimit, "start-limit", defaultStartLimit, "how long an answer may take when there is nothing to do")
			flags.StringVar(&options.Project, "dir", "", "run in this project `DIR`, not in a scratch one; what the hook does there is real")
			flags.BoolVar(&all, "list", false, "explain all faults")
		},
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			if all {
				_, _ = fmt.Fprint(p.Stdout, faultList())
				return 0
			}
			var err error
			if options.Events, err = parseEvents(events); err != nil {
				return p.UsageError(err)
			}
			if len(args) == 0 {
				return p.UsageError(errors.New("expected -- COMMAND"))
			}
			if options.Timeout <= 0 || options.StartLimit <= 0 {
				return p.UsageError(errors.New("--timeout and --start-limit are durations above 0, such as 10s"))
			}
			if options.Project, err = projectFolder(p.Dir, options.Project); err != nil {
				return p.UsageError(err)
			}
			if options.Project != "" {
				_, _ = fmt.Fprintf(p.Stderr, "WARNING: the hook runs in %s some forty times an event; what it does there is real\n", options.Project)
			}
			options.Command, options.Dir, options.Env = args, p.Dir, p.Env
			ctx, stop := cli.Interruptible(ctx)
			defer stop()
			report, err := Check(ctx, options)
			if err != nil {
				_, _ = fmt.Fprintf(p.Stderr, "hookkit check: %v\n", err)
				return 1
			}
			return printCheck(p, report, asJSON, junit)
		},
	}
}

// projectFolder returns the absolute path of an existing folder, "" for "".
func projectFolder(base, dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(base, dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("--dir: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("--dir: %s is not a folder", dir)
	}
	return filepath.EvalSymlinks(dir)
}
