//go:build unix

package hookkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// The test binary is also the hook that the tests below start: the variable names what the hook does.
const asHook = "HOOKKIT_TEST_HOOK"

func TestMain(m *testing.M) {
	if what := os.Getenv(asHook); what != "" {
		hookMain(what)
		return
	}
	os.Exit(m.Run())
}

func hookMain(what string) {
	if what == "log" {
		log.SetFlags(0)
	}
	Main(Handlers{Stop: func(ctx context.Context, _ *Stop) (StopDecision, error) {
		switch what {
		case "block":
			return BlockStop("the tests fail").TellUser("blocked"), nil
		case "log":
			log.Print("on the way")
			return BlockStop("the tests fail"), nil
		case "panic":
			panic("in the handler")
		case "panic in a goroutine":
			go func() { panic("in a goroutine") }()
			<-ctx.Done()
		case "garbage collection":
			for range 3 {
				runtime.GC()
				time.Sleep(10 * time.Millisecond) // finalizers run in a goroutine of their own
			}
			for fd := 1; fd <= 2; fd++ {
				var stat syscall.Stat_t
				if err := syscall.Fstat(fd, &stat); err != nil {
					return ReportStop(fmt.Sprintf("descriptor %d: %v", fd, err)), nil
				}
			}
			return BlockStop("both descriptors are open"), nil
		case "stack overflow":
			debug.SetMaxStack(8 << 20) // the default of 1 GB takes seconds
			return deeper(0), nil
		case "concurrent map writes":
			m := map[int]int{}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for i := range 100_000_000 {
						m[i&7] = i
					}
				})
			}
			wg.Wait()
		case "signal of a child":
			// A shell cannot trap or reset a signal that was ignored when it started.
			child := exec.CommandContext(ctx, "sh", "-c", "kill -PIPE $$; echo survived")
			out, err := child.CombinedOutput()
			return ReportStop(string(out) + err.Error()), nil
		}
		return AllowStop(), nil
	}})
}

//go:noinline
func deeper(n int) StopDecision {
	d := deeper(n + 1) //nolint:staticcheck // SA5007: endless on purpose
	d.silent = n%2 == 0
	return d
}

func hookCommand(t *testing.T, what string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Dir = t.TempDir() // a core file, if any, goes there
	cmd.Env = append(os.Environ(), asHook+"="+what)
	return cmd
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &failed):
		t.Fatal(err)
	}
	status := failed.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

const stopEvent = `{"hook_event_name":"Stop","session_id":"s"}`

// left is what a hook's process left behind.
type left struct {
	exit           int
	stdout, stderr string
}

// runHook runs the hook with a Stop event on its stdin.
func runHook(t *testing.T, cmd *exec.Cmd) left {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdin = strings.NewReader(stopEvent)
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &errOut
	}
	exit := exitCode(t, cmd.Run())
	return left{exit, out.String(), errOut.String()}
}

// unread is a stream that nobody reads: writing to it fails with EPIPE.
func unread(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	assert.NilError(t, err)
	assert.NilError(t, r.Close())
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func TestProcessDeadlock(t *testing.T) {
	// Pins "Never 2 by accident" for a deadlock. The program is built as ours are: the runtime finds no deadlock in one with cgo,
	// which -race links.
	path := filepath.Join(t.TempDir(), "deadlock")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./testdata/deadlock")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	assert.NilError(t, err, "%s", said)

	cmd := hookCommand(t, "")
	cmd.Path, cmd.Args = path, []string{path}
	got := runHook(t, cmd)
	assert.Equal(t, got.exit, 134)
	assert.Equal(t, got.stdout, "")
	assert.Assert(t, strings.Contains(got.stderr, "fatal error: all goroutines are asleep - deadlock!"), "stderr: %.500s", got.stderr)
}

func TestProcessKeepsItsDescriptors(t *testing.T) {
	// The garbage collector closed descriptors 1 and 2 once: the next socket took their numbers, and a write to it was the end by SIGPIPE.
	assert.Equal(t, runHook(t, hookCommand(t, "garbage collection")), left{2, "{}\n", "both descriptors are open\n"})
}

func TestProcessDiesWithoutBlocking(t *testing.T) {
	// Pins "Never 2 by accident": a Go program would end with 2 in each of these cases.
	tests := []struct {
		what   string
		exit   int
		stderr string
	}{
		{"panic", 1, "internal error, nothing was decided: panic: in the handler\n"},
		{"panic in a goroutine", 134, "panic: in a goroutine"},
		{"stack overflow", 134, "stack overflow"},
		{"concurrent map writes", 134, "fatal error: concurrent map writes"},
	}
	for _, c := range tests {
		t.Run(c.what, func(t *testing.T) {
			got := runHook(t, hookCommand(t, c.what))
			assert.Equal(t, got.exit, c.exit)
			assert.Equal(t, got.stdout, "")
			assert.Assert(t, strings.Contains(got.stderr, c.stderr), "stderr: %.500s", got.stderr)
		})
	}
}

func TestProcessClosedStdout(t *testing.T) {
	// Pins fault 10: nobody reads stdout, SIGPIPE would end the program; the block and its reason stay.
	for _, which := range []string{"stdout", "both"} {
		t.Run(which, func(t *testing.T) {
			cmd := hookCommand(t, "block")
			cmd.Stdout = unread(t)
			want := left{2, "", "the tests fail\n"}
			if which == "both" {
				cmd.Stderr = cmd.Stdout
				want.stderr = ""
			}
			assert.Equal(t, runHook(t, cmd), want)
		})
	}
}

func TestProcessLogs(t *testing.T) {
	// Pins fault 10 for a hook that writes with package log, whose logger took stderr before Guard was called: SIGPIPE would end it.
	assert.Equal(t, runHook(t, hookCommand(t, "log")), left{2, "{}\n", "on the way\nthe tests fail\n"})
	cmd := hookCommand(t, "log")
	cmd.Stderr = unread(t)
	assert.Equal(t, runHook(t, cmd).exit, 2)
}

func TestProcessLeavesSignalsToItsChildren(t *testing.T) {
	// If we ignored SIGPIPE, that would be inherited: `yes | head` in a hook's command would then behave unlike in the user's shell.
	assert.Equal(t, runHook(t, hookCommand(t, "signal of a child")), left{1, "", "signal: broken pipe\n"})
}

func TestProcessStdinHeldOpen(t *testing.T) {
	// Pins fault 1: the host never closes stdin; the hook must decide at the brace and exit. One that waits for the end ends with 1 when its
	// time is over.
	cmd := hookCommand(t, "block")
	stdin, err := cmd.StdinPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	_, err = io.WriteString(stdin, stopEvent)
	assert.NilError(t, err)
	state, err := cmd.Process.Wait()
	assert.NilError(t, err)
	assert.Equal(t, state.ExitCode(), 2)
	_ = stdin.Close()
}

func TestProcessStdinKinds(t *testing.T) {
	// Pins fault 3 and the host's way of handing over stdin: a socket, /dev/null, a closed descriptor.
	t.Run("socket", func(t *testing.T) {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		assert.NilError(t, err)
		ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
		defer ours.Close()
		defer theirs.Close()
		_, err = ours.WriteString(stopEvent + "\n")
		assert.NilError(t, err)
		cmd := hookCommand(t, "block")
		cmd.Stdin = theirs
		assert.Equal(t, exitCode(t, cmd.Run()), 2)
	})
	t.Run("/dev/null", func(t *testing.T) {
		assert.Equal(t, exitCode(t, hookCommand(t, "block").Run()), 2)
	})
	t.Run("closed", func(t *testing.T) {
		cmd := hookCommand(t, "block")
		cmd.Args = []string{"sh", "-c", `exec "$0" <&-`, os.Args[0]}
		sh, err := exec.LookPath("sh")
		assert.NilError(t, err)
		cmd.Path = sh
		assert.Equal(t, exitCode(t, cmd.Run()), 2)
	})
}
