package gauntlet

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/session"
)

// workflowPath is what `ci init` writes.
const workflowPath = ".github/workflows/gauntlet.yml"

// workflow runs each gate of a pull request in a job of its own. The gate's name reaches the shell as a variable: it is data.
const workflow = `# Runs the gates of .gauntlet/ over a pull request, each in a job of its own.
name: gauntlet
on:
  pull_request:
permissions:
  contents: read
jobs:
  list:
    runs-on: ubuntu-latest
    outputs:
      gates: ${{ steps.gates.outputs.gates }}
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: actions/setup-go@v5
        with:
          go-version: stable
      - run: go install github.com/hookkit/brepl/cmd/agent-gauntlet@latest
      - id: gates
        run: echo "gates=$(agent-gauntlet ci list-jobs --json)" >> "$GITHUB_OUTPUT"
  gate:
    needs: list
    if: needs.list.outputs.gates != '[]'
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        gate: ${{ fromJSON(needs.list.outputs.gates) }}
    name: ${{ matrix.gate.name }}
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: actions/setup-go@v5
        with:
          go-version: stable
      - run: go install github.com/hookkit/brepl/cmd/agent-gauntlet@latest
      - run: agent-gauntlet run --gate "$GATE"
        env:
          GATE: ${{ matrix.gate.name }}
`

func ciCommand() cli.Command {
	return cli.Command{
		Name: "ci", Short: "Gates in a CI service",
		Sub: []cli.Command{ciInitCommand(), ciListCommand()},
	}
}

func ciInitCommand() cli.Command {
	return plain(cli.Command{
		Name:  "init",
		Short: "Write a GitHub workflow that runs the gates of a pull request",
		Long:  "Writes " + workflowPath + ": a job for each gate that `agent-gauntlet ci list-jobs` names. A file that is there stays as it is.",
	}, func(_ context.Context, p *cli.Program) int {
		c, err := loadHere(p, nil)
		if err != nil {
			return fail(p, err)
		}
		path := filepath.Join(c.Root, filepath.FromSlash(workflowPath))
		if project.Exists(path) {
			_, _ = fmt.Fprintf(p.Stdout, "%s is there already and stays as it is\n", workflowPath)
			return exitOK
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a folder of the project, as git makes it
			return fail(p, err)
		}
		if err := session.WriteFile(path, []byte(workflow), session.WriteOptions{Mode: 0o644, Absent: true, Sync: true}); err != nil {
			return fail(p, err)
		}
		_, _ = fmt.Fprintf(p.Stdout, "✓ %s created; commit it\n", workflowPath)
		return exitOK
	})
}

// ciJob is a gate that CI runs in a job of its own.
type ciJob struct {
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind"`
	Entries []string `json:"entry_points"`
}

func ciListCommand() cli.Command {
	var asJSON bool
	return plain(cli.Command{
		Name:    "list-jobs",
		Usage:   "[--json]",
		Short:   "Print the gates that CI has to run for what has changed",
		Long:    "Prints each gate with run_in_ci that the commits since the base concern, once. --json prints an array for a matrix.",
		Options: func(flags *flag.FlagSet) { declareJSON(flags, &asJSON) },
	}, func(ctx context.Context, p *cli.Program) int {
		c, err := loadHere(p, nil)
		if err != nil {
			return fail(p, err)
		}
		scope := Scope{Mode: CI, Base: c.BaseBranch, FromGitHub: c.baseFromGitHub}
		changes, list, err := detect(ctx, c, p.Env, &Request{Scope: scope})
		if err != nil {
			_ = fail(p, err)
			return exitTempFail
		}
		for _, note := range changes.Notes {
			_, _ = fmt.Fprintf(p.Stderr, "agent-gauntlet: %s\n", note)
		}
		jobs := ciJobs(list)
		if asJSON {
			// On one line: GitHub takes an output of a step as name=value.
			if err := json.NewEncoder(p.Stdout).Encode(jobs); err != nil {
				return fail(p, err)
			}
			return exitOK
		}
		for _, job := range jobs {
			_, _ = fmt.Fprintf(p.Stdout, "%-6s  %s\n", job.Kind, job.Name)
		}
		return exitOK
	})
}

// ciJobs names each gate once, with the entry points at which it would run.
func ciJobs(list []*Job) []ciJob {
	jobs := []ciJob{}
	for _, job := range list {
		i := slices.IndexFunc(jobs, func(one ciJob) bool { return one.Name == job.Gate.Name && one.Kind == job.Gate.Kind })
		if i >= 0 {
			jobs[i].Entries = append(jobs[i].Entries, job.Entry)
			continue
		}
		jobs = append(jobs, ciJob{job.Gate.Name, job.Gate.Kind, []string{job.Entry}})
	}
	return jobs
}
