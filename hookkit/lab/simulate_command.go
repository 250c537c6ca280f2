package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/text"
)

func simulateCommand() cli.Command {
	var (
		dir    string
		asJSON bool
	)
	return cli.Command{
		Name:  "simulate",
		Usage: "SCRIPT [--dir DIR] [--json]",
		Short: "Play a scripted agent against a project's real hooks, and tell the story",
		Long: `SCRIPT is a file ("-": stdin) in the txtar format: commands, one to a line, then files. The files make a scratch project; with --dir the
hooks of a real one run. Exit 0: every expect came true. Exit 1: one did not, or the script is wrong. docs/hookkit.md lists the commands.`,
		Mixed: true,
		Options: func(flags *flag.FlagSet) {
			flags.StringVar(&dir, "dir", "", "play in this project `DIR`; what the agent and the hooks do there is real")
			flags.BoolVar(&asJSON, "json", false, "print all turns as JSON")
		},
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			if len(args) != 1 {
				return p.UsageError(errors.New("expected one SCRIPT"))
			}
			project, err := projectFolder(p.Dir, dir)
			if err != nil {
				return p.UsageError(err)
			}
			script, err := readScript(p, args[0])
			if err != nil {
				return p.UsageError(err)
			}
			if project != "" {
				_, _ = fmt.Fprintf(p.Stderr, "WARNING: the script plays in %s; what the agent and the hooks do there is real\n", project)
			}
			ctx, stop := cli.Interruptible(ctx)
			defer stop()
			sim, err := Simulate(ctx, args[0], script, SimulateOptions{Dir: project, Env: p.Env})
			if err != nil {
				_, _ = fmt.Fprintln(p.Stderr, visible(err.Error()))
				return 1
			}
			return printSimulation(p, sim, asJSON)
		},
	}
}

// readScript reads a file, or stdin for "-".
func readScript(p *cli.Program, name string) (string, error) {
	if name == "-" {
		var b bytes.Buffer
		_, err := b.ReadFrom(p.Stdin)
		return b.String(), err
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.Dir, name)
	}
	data, err := os.ReadFile(name)
	return string(data), err
}

func printSimulation(p *cli.Program, sim *Simulation, asJSON bool) int {
	if asJSON {
		encoder := json.NewEncoder(p.Stdout)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(sim); err != nil {
			_, _ = fmt.Fprintf(p.Stderr, "hookkit simulate: cannot encode the turns: %v\n", err)
			return 1
		}
	} else {
		_, _ = fmt.Fprint(p.Stdout, visible(sim.Story))
		for _, ignored := range sim.Ignored {
			_, _ = fmt.Fprintf(p.Stdout, "ignored by the client: %s\n", visible(ignored))
		}
	}
	for _, failure := range sim.Failures {
		_, _ = fmt.Fprintln(p.Stderr, visible(failure))
	}
	if len(sim.Failures) > 0 {
		_, _ = fmt.Fprintf(p.Stderr, "%s did not come true\n", text.Count(len(sim.Failures), "expectation"))
		return 1
	}
	return 0
}
