package gauntlet

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/text"
)

// detectCommand shows what a run would be about.
func detectCommand() cli.Command {
	var scope scopeFlags
	return plain(cli.Command{
		Name:  "detect",
		Usage: "[-b BRANCH | -c COMMIT | -u] [--json]",
		Short: "Show what has changed, and which gates that concerns",
		Options: func(flags *flag.FlagSet) {
			scope.declare(flags)
			scope.declareGates(flags)
		},
	}, func(ctx context.Context, p *cli.Program) int {
		c, err := scope.load(p)
		if err != nil {
			return reportError(p, scope.json, err)
		}
		wanted, err := scope.scope(p, c)
		if err != nil {
			return p.UsageError(err)
		}
		changes, list, err := detect(ctx, c, p.Env, &Request{Scope: wanted, Want: scope.wants("")})
		if err != nil {
			_ = fail(p, err)
			return exitTempFail
		}
		if scope.json {
			return printJSON(p, detection{changesJSON(changes), jobList(list)})
		}
		for _, note := range changes.Notes {
			_, _ = fmt.Fprintf(p.Stderr, "agent-gauntlet: %s\n", note)
		}
		printDetection(p, changes, list)
		return exitOK
	})
}

type (
	detection struct {
		Changes *jsonChange `json:"changes"`
		Gates   []jsonJob   `json:"gates"`
	}
	jsonJob struct {
		ID    string `json:"id"`
		Kind  Kind   `json:"kind"`
		Name  string `json:"name"`
		Entry string `json:"entry"`
		Files int    `json:"files"`
	}
)

func jobList(list []*Job) []jsonJob {
	jobs := []jsonJob{}
	for _, job := range list {
		jobs = append(jobs, jsonJob{job.ID(), job.Gate.Kind, job.Gate.Name, job.Entry, len(job.Files)})
	}
	return jobs
}

// detect finds out what a run would be about. It leaves nothing behind, and needs no lock.
func detect(ctx context.Context, c *Config, env []string, request *Request) (*Changes, []*Job, error) {
	repo, err := openRepository(ctx, c.Root, env)
	if err != nil {
		return nil, nil, err
	}
	dir := stateDir(c.LogDir)
	a := &activity{runner: &runner{config: c, env: env}, request: request, dir: dir, summary: &Summary{}, looking: true}
	a.state = dir.peek()
	snapshots, err := os.MkdirTemp("", "agent-gauntlet-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = os.RemoveAll(snapshots) }() // a folder of ours in the system's temporary one
	a.snaps = &snapshotter{repo: repo, dir: snapshots, kept: dir.path(snapshotsDir, "objects")}
	defer a.snaps.close()
	if a.ends, err = locate(ctx, a.snaps, request.Scope); err != nil {
		return nil, nil, err
	}
	changes, err := a.changes(ctx)
	if err != nil {
		return nil, nil, err
	}
	return changes, jobs(c, changes.Files, a.wants), nil
}

func printDetection(p *cli.Program, c *Changes, list []*Job) {
	from := "since the last passed run"
	switch {
	case c.Mode == OneCommit:
		from = "in commit " + short(c.To)
	case c.Mode == Uncommitted:
		from = "since the last commit"
	case !c.SincePass && c.Base != "":
		from = "since " + c.Base
	}
	_, _ = fmt.Fprintf(p.Stdout, "%s changed %s\n", text.Count(len(c.Files), "file"), from)
	const most = 200
	for i, f := range c.Files {
		if i == most {
			_, _ = fmt.Fprintf(p.Stdout, "  … and %d more\n", len(c.Files)-most)
			break
		}
		_, _ = fmt.Fprintf(p.Stdout, "  %c %s\n", f.Status, text.Name(f.Path))
	}
	_, _ = fmt.Fprintf(p.Stdout, "%s would run\n", text.Count(len(list), "gate"))
	for _, job := range list {
		_, _ = fmt.Fprintf(p.Stdout, "  %s: %s\n", job.name(), text.Count(len(job.Files), "file"))
	}
}

func short(id string) string { return id[:min(len(id), 12)] }

func printJSON(p *cli.Program, value any) int {
	if err := writeJSONTo(p.Stdout, value); err != nil {
		return fail(p, err)
	}
	return exitOK
}

// listCommand shows the configured gates.
func listCommand() cli.Command {
	var asJSON bool
	return plain(cli.Command{
		Name: "list", Usage: "[--json]", Short: "Show the gates and the entry points",
		Options: func(flags *flag.FlagSet) { declareJSON(flags, &asJSON) },
	}, func(_ context.Context, p *cli.Program) int {
		c, err := loadHere(p, nil)
		if err != nil {
			return reportError(p, asJSON, err)
		}
		list := listing(c)
		if asJSON {
			return printJSON(p, list)
		}
		for _, g := range list.Gates {
			where := strings.Join(g.Entries, ", ")
			if where == "" {
				where = "no entry point: it never runs"
			}
			_, _ = fmt.Fprintf(p.Stdout, "%-6s  %s  (%s)%s\n", g.Kind, g.Name, where, g.flags())
		}
		return exitOK
	})
}

type (
	gateList struct {
		Gates []listedGate `json:"gates"`
	}
	listedGate struct {
		Kind       Kind     `json:"kind"`
		Name       string   `json:"name"`
		File       string   `json:"file"`
		Entries    []string `json:"entry_points"`
		Command    string   `json:"command,omitempty"`
		Parallel   bool     `json:"parallel"`
		RunLocally bool     `json:"run_locally"`
		RunInCI    bool     `json:"run_in_ci"`
		Timeout    float64  `json:"timeout"` // seconds
		CannotRun  Policy   `json:"cannot_run"`
	}
)

func (g *listedGate) flags() string {
	text := ""
	if !g.RunLocally {
		text += ", not locally"
	}
	if !g.RunInCI {
		text += ", not in CI"
	}
	return text
}

func listing(c *Config) gateList {
	list := gateList{Gates: []listedGate{}}
	for _, g := range c.Gates {
		row := listedGate{
			Kind: g.Kind, Name: g.Name, File: rel(c.Root, g.Path), Entries: []string{}, Command: g.Command, Parallel: g.Parallel,
			RunLocally: g.RunLocally, RunInCI: g.RunInCI, Timeout: g.Timeout.Seconds(), CannotRun: g.CannotRun,
		}
		for _, e := range c.EntryPoints {
			if slices.Contains(e.Gates, g) {
				row.Entries = append(row.Entries, e.Path)
			}
		}
		list.Gates = append(list.Gates, row)
	}
	return list
}

// healthCommand shows whether the gates have what they need.
func healthCommand() cli.Command {
	var asJSON bool
	return plain(cli.Command{
		Name: "health", Usage: "[--json]", Short: "Show whether git, the commands and the review tools are there",
		Long:    "Shows whether git, the commands of the checks and the review tools are there. Exit 1: something is missing.",
		Options: func(flags *flag.FlagSet) { declareJSON(flags, &asJSON) },
	}, func(ctx context.Context, p *cli.Program) int {
		c, err := loadHere(p, nil)
		if err != nil {
			return reportError(p, asJSON, err)
		}
		list := health(ctx, c, p.Env)
		code := exitOK
		for _, h := range list {
			if !h.Available {
				code = exitFailed
			}
		}
		if asJSON {
			_ = printJSON(p, map[string]any{"tools": list})
			return code
		}
		for _, h := range list {
			word := "ok      "
			if !h.Available {
				word = "MISSING "
			}
			_, _ = fmt.Fprintf(p.Stdout, "%s %s: %s\n", word, h.Name, h.Detail)
		}
		return code
	})
}

// health asks for everything that the gates of a configuration need.
func health(ctx context.Context, c *Config, env []string) []ToolHealth {
	list := []ToolHealth{gitHealth(ctx, c, env)}
	seen := map[string]bool{}
	hasReviews := false
	for _, g := range c.Gates {
		hasReviews = hasReviews || g.Kind == Review
		word := proc.FirstWord(g.Command)
		if g.Kind != Check || word == "" || seen[word] {
			continue
		}
		seen[word] = true
		list = append(list, commandHealth(ctx, c, g, word, env))
	}
	if hasReviews {
		list = append(list, reviewer(c, env).Health(ctx)...)
	}
	return list
}

func gitHealth(ctx context.Context, c *Config, env []string) ToolHealth {
	repo, err := openRepository(ctx, c.Root, env)
	if err == nil {
		err = repo.learn()
	}
	if err != nil {
		return ToolHealth{Name: "git", Detail: err.Error()}
	}
	return ToolHealth{Name: "git", Available: true, Detail: "the project is in a repository"}
}

func commandHealth(ctx context.Context, c *Config, g *Gate, word string, env []string) ToolHealth {
	h := ToolHealth{Name: word, Detail: "the command of check " + g.Name}
	shell, err := proc.Shell(env)
	if err == nil {
		h.Available, err = proc.Probe(ctx, shell, word, filepath.Join(c.Root, filepath.FromSlash(g.WorkingDirectory)), env)
	}
	if err != nil {
		h.Detail += ": " + err.Error()
	} else if !h.Available {
		h.Detail += " is not found on the PATH, or cannot be executed"
	}
	return h
}

// validateCommand checks the configuration.
func validateCommand() cli.Command {
	var asJSON bool
	return plain(cli.Command{
		Name: "validate", Usage: "[--json]", Short: "Check the configuration",
		Options: func(flags *flag.FlagSet) { declareJSON(flags, &asJSON) },
	}, func(_ context.Context, p *cli.Program) int {
		c, err := loadHere(p, nil)
		if asJSON {
			result := struct {
				Valid  bool     `json:"valid"`
				Faults []string `json:"faults"`
			}{err == nil, []string{}}
			if err != nil {
				result.Faults = strings.Split(err.Error(), "\n")
			}
			_ = printJSON(p, result)
			if err != nil {
				return exitFailed
			}
			return exitOK
		}
		if err != nil {
			_, _ = fmt.Fprintln(p.Stderr, err)
			return exitFailed
		}
		_, _ = fmt.Fprintf(p.Stdout, "%s: %s, %s, nothing wrong\n", rel(p.Dir, c.Path), text.Count(len(c.EntryPoints), "entry point"), text.Count(len(c.Gates), "gate"))
		return exitOK
	})
}
