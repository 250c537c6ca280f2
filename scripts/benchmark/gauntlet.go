package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gauntlet adds the budgets of agent-gauntlet: its start, finding out what has changed, parallel checks, and much output.
func (r *result) gauntlet(floor, work string, rounds int) error {
	program, err := filepath.Abs("bin/agent-gauntlet")
	if err != nil {
		return err
	}
	g := gauntletBench{result: r, program: program, home: filepath.Join(work, "gauntlet-home")}
	if err = os.Mkdir(g.home, 0o700); err != nil {
		return err
	}
	return errors.Join(
		g.start(floor, filepath.Join(work, "gauntlet-bare"), rounds),
		g.detect(filepath.Join(work, "gauntlet-files")),
		g.checks(filepath.Join(work, "gauntlet-checks")),
	)
}

type gauntletBench struct {
	*result
	program, home string
}

func (g *gauntletBench) add(what string, is, limit float64, unit string) {
	g.Budgets = append(g.Budgets, line{What: what, Is: is, Limit: limit, Unit: unit, OK: is <= limit})
	g.OK = g.OK && is <= limit
}

// fastest repeats a measurement until it keeps its limit: noise only ever adds time.
func fastest(measure func() (is, limit float64, err error)) (is, limit float64, err error) {
	for range 5 {
		if is, limit, err = measure(); err != nil || is <= limit {
			break
		}
	}
	return is, limit, err
}

// side runs commands in turns and returns the median wall time of each.
func (g *gauntletBench) side(dir, input string, rounds int, commands ...[]string) ([]time.Duration, error) {
	walls := make([][]time.Duration, len(commands))
	for round := range rounds + 2 {
		for i, argv := range commands {
			cmd := g.command(dir, argv...)
			cmd.Stdin = strings.NewReader(input)
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%v: %w\n%s", argv, err, out)
			}
			if round >= 2 {
				walls[i] = append(walls[i], time.Since(began))
			}
		}
	}
	medians := make([]time.Duration, len(commands))
	for i, w := range walls {
		slices.Sort(w)
		medians[i] = w[len(w)/2]
	}
	return medians, nil
}

func (g *gauntletBench) command(dir string, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+g.home, "CLAUDE_PROJECT_DIR="+dir, "CI=", "GITHUB_ACTIONS=", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=b", "GIT_AUTHOR_EMAIL=b@b", "GIT_COMMITTER_NAME=b", "GIT_COMMITTER_EMAIL=b@b")
	return cmd
}

func (g *gauntletBench) start(floor, dir string, rounds int) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	is, limit, err := fastest(func() (float64, float64, error) {
		m, err := g.side(dir, event, rounds, []string{floor}, []string{g.program, "stop-hook"})
		if err != nil {
			return 0, 0, err
		}
		return ms(m[1]), 2.5 * ms(m[0]), nil
	})
	g.add("agent-gauntlet stop-hook without configuration: 2.5 x the empty program", is, limit, "ms")
	return err
}

// detect compares with what a shell would ask git for the same: what the branch changed, what is staged or not, what is untracked.
func (g *gauntletBench) detect(dir string) error {
	const files, changed = 20_000, 50
	if err := g.project(dir, "checks: [t]", map[string]string{"t": "command: 'true'\n"}); err != nil {
		return err
	}
	name := func(i int) string { return filepath.Join(dir, fmt.Sprintf("d%d/s%d/f%d.txt", i%20, i%200, i)) }
	for i := range files {
		if err := write(name(i), strings.Repeat(fmt.Sprintln(i), 20)); err != nil {
			return err
		}
	}
	if err := g.git(dir, "add -A; git commit -qm all; git gc -q; git switch -qc work"); err != nil {
		return err
	}
	for i := range changed {
		text := "changed\n"
		if i == changed/3 {
			if err := g.git(dir, "add -A; git commit -qm some"); err != nil {
				return err
			}
		}
		at := name(i)
		if i%5 == 4 {
			at += ".new"
		}
		if err := write(at, text); err != nil {
			return err
		}
	}
	// Git reads files again that are as young as its index; those of a real project are older.
	time.Sleep(1100 * time.Millisecond)
	if err := g.git(dir, "status --porcelain >/dev/null"); err != nil {
		return err
	}
	const git = "git --no-optional-locks "
	alone := git + "diff --name-only -z main...HEAD; " + git + "diff --name-only -z HEAD; " + git + "ls-files -z --others --exclude-standard"
	is, limit, err := fastest(func() (float64, float64, error) {
		m, err := g.side(dir, "", 15, []string{"sh", "-c", alone}, []string{g.program, "detect", "--json"})
		if err != nil {
			return 0, 0, err
		}
		return ms(m[1]), 2 * ms(m[0]), nil
	})
	g.add(fmt.Sprintf("agent-gauntlet detect, %d of %d files changed: 2 x the git commands alone", changed, files), is, limit, "ms")
	return err
}

// checks measures 8 parallel checks of 1 s, and one that prints 1 GB.
func (g *gauntletBench) checks(dir string) error {
	const wallLimit, rssLimit = 1300, 40
	files, names := map[string]string{}, []string{}
	for i := range 8 {
		names = append(names, fmt.Sprintf("c%d", i))
		files[names[i]] = "command: sleep 1\nparallel: true\n"
	}
	files["much"] = "command: 'head -c 1000000000 /dev/zero'\n"
	if err := g.project(dir, "checks: ["+strings.Join(names, ", ")+"]\n  - path: much\n    checks: [much]", files); err != nil {
		return err
	}
	if err := g.git(dir, "add -A; git commit -qm all"); err != nil {
		return err
	}
	if err := write(filepath.Join(dir, "changed"), "x\n"); err != nil {
		return err
	}
	is, _, err := fastest(func() (float64, float64, error) {
		began := time.Now()
		out, err := g.command(dir, g.program, "run", "-b", "main").CombinedOutput()
		if err != nil {
			return 0, 0, fmt.Errorf("%w\n%s", err, out)
		}
		return ms(time.Since(began)), wallLimit, nil
	})
	if err != nil {
		return err
	}
	g.add("agent-gauntlet run, 8 parallel checks of 1 s", is, wallLimit, "ms")
	if err = write(filepath.Join(dir, "much/changed"), "x\n"); err != nil {
		return err
	}
	peak, err := g.peak(g.command(dir, g.program, "run", "-b", "main", "-g", "much"))
	g.add("peak RSS of agent-gauntlet for a check that prints 1 GB", peak, rssLimit, "MB")
	return err
}

// peak runs a command and returns the largest RSS of its process, in MB.
func (g *gauntletBench) peak(cmd *exec.Cmd) (float64, error) {
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	peak := 0.0
	for {
		select {
		case err := <-ended:
			if err == nil && peak == 0 {
				err = errors.New("this system does not tell a process's RSS")
			}
			return peak, err
		case <-time.After(5 * time.Millisecond):
			peak = max(peak, highWater(cmd.Process.Pid)) // it only grows
		}
	}
}

// project makes a repository with gates. entry is what follows the path of the first entry point, which is everything.
func (g *gauntletBench) project(dir, entry string, checks map[string]string) error {
	err := write(filepath.Join(dir, ".gauntlet/config.yml"), "base_branch: main\nentry_points:\n  - path: .\n    "+entry+"\n")
	for name, text := range checks {
		err = errors.Join(err, write(filepath.Join(dir, ".gauntlet/checks", name+".yml"), text))
	}
	return errors.Join(err, g.git(dir, "init -q -b main; git config gc.auto 0; git config maintenance.auto false"))
}

// git runs git commands in a shell, the first without its name.
func (g *gauntletBench) git(dir, commands string) error {
	if out, err := g.command(dir, "sh", "-ec", "git "+commands).CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", commands, err, out)
	}
	return nil
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
