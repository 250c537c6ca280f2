package gauntlet

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/text"
)

// cleanCommand forgets what earlier runs left.
func cleanCommand() cli.Command {
	var asJSON bool
	return plain(cli.Command{
		Name: "clean", Usage: "[--json]", Short: "Forget earlier runs: state, retries, violations, logs",
		Options: func(flags *flag.FlagSet) { declareJSON(flags, &asJSON) },
	}, func(_ context.Context, p *cli.Program) int {
		c, err := loadHere(p, nil)
		if err != nil {
			return reportError(p, asJSON, err)
		}
		status, err := clean(stateDir(c.LogDir))
		switch {
		case err != nil:
			_ = fail(p, err)
			return exitTempFail
		case status != "":
			_, _ = fmt.Fprintln(p.Stderr, lockMessage)
			return exitTempFail
		case asJSON:
			return printJSON(p, map[string]any{"cleaned": true, "log_dir": c.LogDir})
		}
		_, _ = fmt.Fprintln(p.Stdout, "Earlier runs are forgotten: the next one counts from the base again.")
		return exitOK
	})
}

// clean removes everything of ours from log_dir but the lock. A log_dir that was never made is clean.
func clean(dir stateDir) (Status, error) {
	if _, err := os.Stat(string(dir)); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err := dir.make(); err != nil {
		return "", err // it is not ours
	}
	lock, _, err := tryLock(dir, "clean", time.Now())
	if err != nil {
		return "", err
	}
	if lock == nil {
		return StatusLockConflict, nil
	}
	defer lock.release()
	names := []string{stateName, stateName + ".bad", snapshotsDir, violationsDir, debugName, debugName + ".old"}
	runs, _ := os.ReadDir(dir.path(logsDir)) // what is not there needs no cleaning
	for _, run := range runs {
		if isRunID(run.Name()) {
			names = append(names, filepath.Join(logsDir, run.Name()))
		}
	}
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(dir.path(name)))
	}
	_ = os.Remove(dir.path(logsDir)) // unless something else is in it
	return "", err
}

// statusCommand shows where things stand.
func statusCommand() cli.Command {
	var asJSON bool
	return plain(cli.Command{
		Name: "status", Usage: "[--json]", Short: "Show the last runs, and what is open",
		Options: func(flags *flag.FlagSet) { declareJSON(flags, &asJSON) },
	}, func(_ context.Context, p *cli.Program) int {
		c, err := loadHere(p, nil)
		if err != nil {
			return reportError(p, asJSON, err)
		}
		state := stateDir(c.LogDir).peek()
		if asJSON {
			if state.Runs == nil {
				state.Runs = []RunRecord{}
			}
			return printJSON(p, state)
		}
		printState(p, c, state)
		return exitOK
	})
}

func printState(p *cli.Program, c *Config, state *RunState) {
	style := p.Color(p.Stdout)
	if len(state.Runs) == 0 {
		_, _ = fmt.Fprintln(p.Stdout, "No runs yet.")
		return
	}
	const most = 10
	for _, r := range state.Runs[max(0, len(state.Runs)-most):] {
		what := string(r.Status)
		if what == "" {
			what = "did not end (killed, or still running)"
		}
		_, _ = fmt.Fprintf(p.Stdout, "%s  %-9s  %s, %s\n", r.Began.Local().Format("2006-01-02 15:04:05"), r.Command, what, text.Duration(time.Duration(r.Seconds*float64(time.Second))))
	}
	last := state.Runs[len(state.Runs)-1]
	if len(last.Jobs) > 0 {
		_, _ = fmt.Fprintln(p.Stdout, "\nThe last one:")
	}
	for _, job := range last.Jobs {
		line := fmt.Sprintf("  %-10s %s", job.Outcome, job.ID)
		if job.Why != "" {
			line += ": " + job.Why
		}
		if job.Log != "" {
			line += style.Dim("  " + relLog(c.Root, job.Log))
		}
		_, _ = fmt.Fprintln(p.Stdout, line)
	}
	if state.Anchor != nil {
		_, _ = fmt.Fprintf(p.Stdout, "\nNot passed since %s; attempt %d of %d.\n", state.Anchor.At.Local().Format("2006-01-02 15:04:05"), state.Attempts, c.MaxRetries+1)
		for _, id := range sortedJobs(state.Jobs) {
			if state.Jobs[id].Outcome == Failed {
				_, _ = fmt.Fprintf(p.Stdout, "  open: %s: %s\n", id, state.Jobs[id].Why)
			}
		}
	}
}

func sortedJobs(m map[string]JobState) []string {
	ids := make([]string, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
