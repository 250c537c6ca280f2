package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// discovery adds the budget of finding a server that no port file names, among 50 listeners that are none: those of
// a process that runs elsewhere, which are not asked, and those of one that runs in the project, which are silent.
func (r *result) discovery(brepl, work string) error {
	const limit, rounds, strangers = 300 * time.Millisecond, 20, 50
	dir := filepath.Join(work, "discover")
	end, err := nameless(dir)
	if err != nil {
		return err
	}
	defer end()
	for range strangers {
		l, failed := net.Listen("tcp", "127.0.0.1:0")
		if failed != nil {
			return failed
		}
		defer func() { _ = l.Close() }() // the kernel accepts for us, and nobody reads
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	defer func() { _ = os.Chdir(here) }()
	for _, c := range []struct{ what, stand string }{{"of other folders", here}, {"in the project that are silent", dir}} {
		if err := os.Chdir(c.stand); err != nil {
			return err
		}
		var walls []time.Duration
		for range rounds {
			cmd := exec.Command(brepl, sum)
			cmd.Dir = dir
			began := time.Now()
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != "3\n" {
				return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
			}
			walls = append(walls, time.Since(began))
		}
		slices.Sort(walls)
		median := walls[rounds/2]
		r.Budgets = append(r.Budgets, line{
			What: fmt.Sprintf("brepl '%s' finds its server among %d listeners %s", sum, strangers, c.what),
			Is:   ms(median), Limit: ms(limit), Unit: "ms", OK: median <= limit,
		})
		r.OK = r.OK && median <= limit
	}
	return nil
}

// nameless starts a scripted server as a process in a new folder, and takes its port file away.
func nameless(dir string) (end func(), err error) {
	if err = os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	program, err := filepath.Abs("bin/hookkit")
	if err != nil {
		return nil, err
	}
	if err = os.WriteFile(filepath.Join(dir, "sum.repl"), []byte("eval "+sum+"\n  value 3\n"), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "repl", "sum.repl", "--until-eof")
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err = cmd.Start(); err != nil {
		return nil, err
	}
	end = func() {
		_ = stdin.Close() // the server ends with it
		_ = cmd.Wait()    // by our doing
	}
	if _, err = bufio.NewReader(stdout).ReadString('\n'); err == nil {
		err = os.Remove(filepath.Join(dir, ".nrepl-port"))
	}
	if err != nil {
		end()
		return nil, err
	}
	return end, nil
}
