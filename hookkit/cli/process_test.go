//go:build unix

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// The test binary is also the program that the tests below start: the variable says so.
const asProgram = "CLI_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	root := table()
	root.Sub = append(root.Sub, Command{Name: "wait", Run: func(ctx context.Context, p *Program, _ []string) int {
		ctx, stop := Interruptible(ctx)
		defer stop()
		_, _ = fmt.Fprintln(p.Stdout, "waiting")
		<-ctx.Done()
		_, _ = fmt.Fprintln(p.Stdout, "told to stop")
		select {} // the second signal ends the process
	}})
	os.Exit(Main("demo", root))
}

func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

func TestProcessExitCodes(t *testing.T) {
	// Pins "Never 2 by accident": a bad flag and a panic under hook end with 1; a decision's 2 comes through.
	for _, c := range []struct {
		args []string
		exit int
	}{
		{[]string{"hook", "stop", "--laud"}, 1},
		{[]string{"hook", "secret"}, 1},
		{[]string{"hook", "validate", "--nope"}, 0},
		{[]string{"hook", "stop"}, 2},
		{[]string{"--version"}, 0},
	} {
		err := program(t, c.args...).Run()
		code := 0
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			code = failed.ExitCode()
		} else {
			assert.NilError(t, err)
		}
		assert.Equal(t, code, c.exit, "%q", c.args)
	}
}

func TestProcessSignals(t *testing.T) {
	// The first signal ends the context; the second one ends a process that does not listen.
	cmd := program(t, "wait")
	out, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for _, want := range []string{"waiting", "told to stop"} {
		assert.Assert(t, lines.Scan())
		assert.Equal(t, lines.Text(), want)
		assert.NilError(t, cmd.Process.Signal(syscall.SIGTERM))
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var how error
	for waiting := true; waiting; { // the handler is taken away right after the context has ended: the signal may come before
		select {
		case how = <-ended:
			waiting = false
		case <-time.After(50 * time.Millisecond):
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may be gone
		}
	}
	var failed *exec.ExitError
	assert.Assert(t, errors.As(how, &failed))
	status := failed.Sys().(syscall.WaitStatus)
	assert.Assert(t, status.Signaled() && status.Signal() == syscall.SIGTERM, "%v", failed)
}
