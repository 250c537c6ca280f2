//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// A busy machine may take as long as it likes: what must not be waited for goes on for hours, and soon is less than that.
const (
	hours = "20000" // for sleep
	soon  = 2 * time.Minute
)

func testEnv() []string { return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"} }

// bash runs a script and returns its output beside the result.
func bash(t *testing.T, script string, change ...func(*Command)) (Result, string) {
	t.Helper()
	out := NewTail(LogLimit)
	c := Command{Argv: []string{"bash", "-c", script}, Dir: t.TempDir(), Env: testEnv(), Output: out, Timeout: soon}
	for _, f := range change {
		f(&c)
	}
	r := Run(t.Context(), c)
	return r, out.String()
}

// patient lets children that are left behind take their time, where the test is not about the time they have.
func patient(c *Command) { c.finish, c.linger = soon, soon }

// notPatient is patient with children until TERM.
func notPatient(c *Command) { c.finish, c.linger = finishTime, soon }

// timesOut runs a script that makes the file ready when it is. A machine that does not come that far within the limit gets a longer one.
func timesOut(t *testing.T, script string, grace time.Duration) (r Result, out string, limit time.Duration) {
	t.Helper()
	for limit = 150 * time.Millisecond; limit < soon; limit *= 2 {
		ready := filepath.Join(t.TempDir(), "ready")
		r, out = bash(t, "exec 2>/dev/null; ready() { : > '"+ready+"'; }; "+script, func(c *Command) { c.Timeout, c.Grace = limit, grace })
		if _, err := os.Stat(ready); err == nil {
			return r, out, limit
		}
	}
	t.Fatal("it never was ready")
	return r, out, limit
}

func limit(d, grace time.Duration) func(*Command) {
	return func(c *Command) { c.Timeout, c.Grace = d, grace }
}

func TestHowCommandsEnd(t *testing.T) {
	// Fault 30: exits 126, 127, 137, by signal. Fault 28: binary output. Fault 29: reads stdin.
	tests := []struct {
		name, script string
		exit         int
		signal       string
		out, text    string
	}{
		{"success", "echo out", 0, "", "out\n", "exit 0"},
		{"order of stdout and stderr", "echo 1; echo 2 >&2; echo 3; echo 4 >&2", 0, "", "1\n2\n3\n4\n", "exit 0"},
		{"failure", "exit 3", 3, "", "", "exit 3"},
		{"not executable", ": > f; ./f", 126, "", "bash: line 1: ./f: Permission denied\n", "exit 126"},
		{"not found", "no-such-program", 127, "", "bash: line 1: no-such-program: command not found\n", "exit 127"},
		{"its child was killed", "exec 2>/dev/null; sh -c 'kill -9 $$'; exit $?", 137, "", "", "exit 137 (SIGKILL)"},
		{"137 is a code like any other", "exit 137", 137, "", "", "exit 137 (SIGKILL)"},
		{"255 names no signal", "exit 255", 255, "", "", "exit 255"},
		{"killed by SIGKILL", "kill -9 $$", -1, "SIGKILL", "", "killed by SIGKILL"},
		{"killed by SIGTERM", "kill $$", -1, "SIGTERM", "", "killed by SIGTERM"},
		{"killed by SIGSEGV", "kill -SEGV $$", -1, "SIGSEGV", "", "killed by SIGSEGV"},
		{"stdin is at its end", "cat; read x; echo $?", 0, "", "1\n", "exit 0"},
		{"stdin is /dev/null", "[ /dev/fd/0 -ef /dev/null ]", 0, "", "", "exit 0"},
		{"binary and NUL", `printf 'a\0b\377\033[31m\r\n'`, 0, "", "a\x00b\xff\x1b[31m\r\n", "exit 0"},
		{"leader of its group", `[ "$(ps -o pgid= -p $$ | tr -d ' ')" = $$ ]`, 0, "", "", "exit 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, out := bash(t, tt.script)
			assert.NilError(t, r.StartErr)
			assert.NilError(t, r.OutputErr)
			assert.Equal(t, out, tt.out)
			assert.Equal(t, r.Exit, tt.exit)
			assert.Equal(t, r.Signal, tt.signal)
			assert.Equal(t, r.String(), tt.text)
			assert.Equal(t, r.OK(), tt.exit == 0)
			assert.Assert(t, r.Leftover == nil)
			assert.Assert(t, !r.TimedOut && !r.Canceled)
		})
	}
}

func TestStartErrors(t *testing.T) {
	// Fault 30: command missing. Fault 32: environment of 3 MB, NUL. Each is told from the others.
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	assert.NilError(t, os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600))
	script := filepath.Join(dir, "script")
	assert.NilError(t, os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700))
	tests := []struct {
		name string
		c    Command
		kind error
		text string
	}{
		{"no program", Command{}, ErrInvalid, "cannot run command: invalid argument or variable: no program given"},
		{"missing on the PATH", Command{Argv: []string{"no-such"}}, ErrNotFound, "cannot run no-such: program not found: it is in no folder of PATH"},
		{"missing path", Command{Argv: []string{"/no/such"}}, ErrNotFound, "cannot run /no/such: program not found: no such file or directory"},
		{"missing interpreter", Command{Argv: []string{script}}, ErrNotFound, "cannot run " + script + ": program not found: no such file or directory"},
		{"not executable", Command{Argv: []string{file}}, ErrPermission, "cannot run " + file + ": permission denied: permission denied"},
		{"not executable on the PATH", Command{Argv: []string{"file"}, Env: []string{"PATH=" + dir}}, ErrPermission, "cannot run file: permission denied: the file on the PATH is not executable"},
		{"missing directory", Command{Argv: []string{"sh"}, Dir: "/no/such"}, ErrNoDir, "cannot run sh: directory /no/such: no such file or directory"},
		{"directory is a file", Command{Argv: []string{"sh"}, Dir: file}, ErrNoDir, "cannot run sh: directory " + file + ": not a directory"},
		{"3 MB in one variable", Command{Argv: []string{"sh"}, Env: []string{"BIG=" + strings.Repeat("x", 3<<20)}}, ErrTooBig, "cannot run sh: arguments and environment are too big: argument list too long"},
		{"NUL in an argument", Command{Argv: []string{"sh", "a\x00b"}}, ErrInvalid, "cannot run sh: invalid argument or variable: argument 1 contains NUL"},
		{"NUL in the environment", Command{Argv: []string{"sh"}, Env: []string{"A=1", "B=\x00"}}, ErrInvalid, `cannot run sh: invalid argument or variable: variable 1 ("B") contains NUL`},
		{"NUL in the directory", Command{Argv: []string{"sh"}, Dir: "a\x00b"}, ErrInvalid, `cannot run sh: invalid argument or variable: directory "a\x00b" contains NUL`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Run(t.Context(), tt.c)
			assert.Equal(t, r.Exit, -1)
			assert.Assert(t, !r.OK())
			startErr, ok := errors.AsType[*StartError](r.StartErr)
			assert.Assert(t, ok, "%v", r.StartErr)
			assert.Equal(t, startErr.Kind, tt.kind)
			assert.ErrorIs(t, r.StartErr, tt.kind)
			assert.Equal(t, r.String(), tt.text)
		})
	}
}

func TestNoDescriptorIsLeftOpen(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/dev/fd")
		assert.NilError(t, err)
		return len(entries)
	}
	all := func() {
		Run(t.Context(), Command{Argv: []string{"/no/such"}, Output: NewTail(1), Stdin: strings.NewReader("x")})
		bash(t, "cat", func(c *Command) { c.Stdin = strings.NewReader("x") })
		bash(t, "setsid sleep 0.3 & exit 0")
	}
	all() // what the first run opens for all others stays
	before := count()
	for range 3 {
		all()
	}
	for end := time.Now().Add(soon); count() > before && time.Now().Before(end); { // feed closes its pipe after Run
		time.Sleep(time.Millisecond)
	}
	assert.Assert(t, count() <= before, "%d open, %d before", count(), before)
}

func TestEnvironmentIsExactlyWhatWasGiven(t *testing.T) {
	t.Setenv("LEAK", "x")
	out := NewTail(1000)
	r := Run(t.Context(), Command{Argv: []string{"env"}, Output: out})
	assert.NilError(t, r.StartErr)
	assert.Equal(t, out.String(), "")

	dir := t.TempDir()
	r = Run(t.Context(), Command{Argv: []string{"env"}, Dir: dir, Env: []string{"PWD=/wrong", "N=a\nb"}, Output: out})
	assert.NilError(t, r.StartErr)
	assert.Equal(t, out.String(), "N=a\nb\nPWD="+dir+"\n")
}

func TestOurStreamsAreNotInherited(t *testing.T) {
	// stdout and stderr of a hook carry the protocol; a command must not write to them.
	r, out := bash(t, "[ /dev/fd/1 -ef /dev/fd/2 ] && stat -L -c %d:%i /dev/fd/2")
	assert.Assert(t, r.OK(), "%v %s", r, out)
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		info, err := f.Stat()
		assert.NilError(t, err)
		st := info.Sys().(*syscall.Stat_t)
		ours := strconv.FormatUint(uint64(st.Dev), 10) + ":" + strconv.FormatUint(uint64(st.Ino), 10) + "\n" //nolint:unconvert // other systems have other types here
		assert.Assert(t, out != ours, "%s is ours", out)
	}
	r = Run(t.Context(), Command{Argv: []string{"sh", "-c", "[ /dev/fd/1 -ef /dev/null ] && [ /dev/fd/2 -ef /dev/null ]"}, Env: testEnv()})
	assert.Assert(t, r.OK(), "%v", r) // without Output
}

func TestStdinIsGiven(t *testing.T) {
	big := strings.Repeat("0123456789abcde\n", 1<<16)
	r, out := bash(t, "wc -c | tr -d ' '", func(c *Command) { c.Stdin = strings.NewReader(big) })
	assert.Assert(t, r.OK(), "%v", r)
	assert.Equal(t, out, "1048576\n")

	// A command that does not read it, and a reader that never ends, do not hold us.
	r, _ = bash(t, "exit 0", func(c *Command) { c.Stdin = strings.NewReader(big) })
	assert.Assert(t, r.OK(), "%v", r)
	reader, writer, err := os.Pipe()
	assert.NilError(t, err)
	defer reader.Close()
	defer writer.Close()
	r, _ = bash(t, "exit 0", func(c *Command) { c.Stdin = reader })
	assert.Assert(t, r.OK(), "%v", r)
}

func TestTimeoutEndsTheGroup(t *testing.T) {
	// libraries.md: CommandContext took 2.0 s for a 0.3 s limit because a grandchild held the pipe.
	r, out, limit := timesOut(t, "echo before; ready; sleep "+hours+" | cat; echo after", soon)
	assert.Assert(t, r.TimedOut && !r.Canceled && !r.OK())
	assert.Equal(t, r.Exit, -1)
	assert.Equal(t, r.Signal, "SIGTERM")
	assert.Equal(t, r.String(), "timed out after "+limit.String())
	assert.Equal(t, out, "before\n")
	assert.Assert(t, r.Duration >= limit, "%v", r.Duration)
}

func TestTimeoutGivesGraceThenKills(t *testing.T) {
	// Fault 27: ignores TERM.
	tests := []struct {
		name, script, signal, out string
		grace                     time.Duration // it is all waited for, or there is far too much of it
	}{
		{"cleans up", "trap 'echo bye; exit 0' TERM; ready; while :; do sleep 0.02; done", "", "bye\n", soon},
		{"ignores it", "trap '' TERM; ready; while :; do sleep 0.02; done", "SIGKILL", "", 400 * time.Millisecond},
		{"a child ignores it", "(trap '' TERM; ready; while :; do sleep 0.02; done) & wait", "SIGTERM", "", 400 * time.Millisecond},
		{"a child cleans up", "(trap 'sleep 0.1; echo bye; exit' TERM; ready; while :; do sleep 0.02; done) & wait", "SIGTERM", "bye\n", soon},
		{"stopped", "ready; kill -STOP $$", "SIGTERM", "", soon},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, out, limit := timesOut(t, tt.script, tt.grace)
			assert.Assert(t, r.TimedOut)
			assert.Equal(t, r.Exit, -1)
			assert.Equal(t, r.Signal, tt.signal)
			assert.Equal(t, out, tt.out)
			if tt.grace == soon {
				assert.Assert(t, r.Duration < soon, "%v", r.Duration)
			} else {
				assert.Assert(t, r.Duration >= limit+tt.grace, "%v", r.Duration)
			}
			assert.Assert(t, r.Leftover == nil)
		})
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r := Run(ctx, Command{Argv: []string{"sleep", hours}, Env: testEnv()})
	assert.Assert(t, r.Canceled && !r.TimedOut && !r.OK())
	assert.Equal(t, r.Exit, -1)
	assert.Equal(t, r.Signal, "SIGTERM")
	assert.Equal(t, r.String(), "canceled")

	dir := t.TempDir()
	r = Run(ctx, Command{Argv: []string{"touch", "f"}, Dir: dir, Env: testEnv()})
	assert.DeepEqual(t, [2]bool{r.Canceled, r.OK()}, [2]bool{true, false})
	_, err := os.Stat(filepath.Join(dir, "f"))
	assert.ErrorIs(t, err, os.ErrNotExist) // not started at all
}

// pidIn reads the pid that a script has written to file.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	assert.NilError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	assert.NilError(t, err)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// running reports whether a process lives; a zombie does not.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(data), ") Z ")
}

func TestChildrenLeftBehind(t *testing.T) {
	// Fault 27: forks a daemon that holds the pipe, ignores TERM, setsid.
	file := filepath.Join(t.TempDir(), "pid")
	t.Run("dies of TERM", func(t *testing.T) {
		r, out := bash(t, "sleep "+hours+" & echo $! > "+file+"; echo kept", notPatient)
		assert.Assert(t, r.OK() && r.Leftover == nil, "%v", r)
		assert.Equal(t, out, "kept\n")
		assert.Assert(t, !running(pidIn(t, file)))
	})
	t.Run("finishes by itself", func(t *testing.T) {
		// A filter of the script's own output is such a child; its last line must not be lost.
		r, out := bash(t, "exec > >(sed s/a/b/); echo aaa", patient)
		assert.Assert(t, r.OK() && r.Leftover == nil, "%v", r)
		assert.Equal(t, out, "baa\n")
	})
	t.Run("ignores TERM", func(t *testing.T) {
		r, out := bash(t, "(trap '' TERM; echo $BASHPID > "+file+"; while :; do sleep 0.02; done) & while ! [ -s "+file+" ]; do :; done; echo kept; exit 4",
			limit(0, 300*time.Millisecond), func(*Command) { _ = os.Remove(file) })
		assert.Equal(t, r.Exit, 4)
		assert.Equal(t, out, "kept\n")
		pid := pidIn(t, file)
		assert.Assert(t, r.Leftover != nil)
		select {
		case <-r.Leftover:
		case <-time.After(soon):
			t.Fatal("it was not killed")
		}
		for end := time.Now().Add(soon); running(pid); time.Sleep(5 * time.Millisecond) {
			assert.Assert(t, time.Now().Before(end), "it still lives")
		}
	})
	t.Run("left the group and holds the pipe", func(t *testing.T) {
		_ = os.Remove(file)
		r, out := bash(t, "setsid sh -c 'echo early; echo $$ > "+file+"; exec sleep "+hours+"' & while ! [ -s "+file+" ]; do :; done; echo kept")
		assert.Assert(t, r.OK() && r.Leftover == nil, "%v", r)
		assert.Equal(t, out, "early\nkept\n")
		assert.Assert(t, running(pidIn(t, file))) // it may live on
	})
	t.Run("left the group and writes without end", func(t *testing.T) {
		_ = os.Remove(file)
		r, out := bash(t, "setsid sh -c 'echo $$ > "+file+"; exec yes' & while ! [ -s "+file+" ]; do :; done")
		assert.Assert(t, r.OK(), "%v", r)
		assert.Assert(t, strings.HasSuffix(out, "y\ny\n") || strings.HasSuffix(out, "y\ny"), "%.20q", out)
		pidIn(t, file)
	})
}

func TestLastOutputBeforeAnOrphanIsKept(t *testing.T) {
	// What is in the pipe when we stop reading must not be lost, even with a slow reader.
	out, file := NewTail(1<<20), filepath.Join(t.TempDir(), "pid")
	slow := writerFunc(func(p []byte) (int, error) {
		time.Sleep(120 * time.Millisecond)
		return out.Write(p)
	})
	r := Run(t.Context(), Command{
		Argv: []string{"bash", "-c", "setsid sleep " + hours + " & echo $! > " + file + "; head -c 60000 /dev/zero; printf END"},
		Env:  testEnv(), Output: slow,
	})
	assert.Assert(t, r.OK(), "%v", r)
	pidIn(t, file)
	text := out.String()
	assert.Equal(t, len(text), 60003)
	assert.Equal(t, text[60000:], "END")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWriterThatFailsDoesNotHoldTheCommand(t *testing.T) {
	full := errors.New("full")
	r := Run(t.Context(), Command{
		Argv: []string{"bash", "-c", "head -c 1000000 /dev/zero && exit 5"},
		Env:  testEnv(), Output: writerFunc(func([]byte) (int, error) { return 0, full }),
	})
	assert.Equal(t, r.Exit, 5)
	assert.ErrorIs(t, r.OutputErr, full)
}

// Pins fault 28: prints 10 GB, which takes more than half a minute.
func TestLongHugeOutput(t *testing.T) {
	if os.Getenv("BREPL_TEST_LONG") == "" {
		t.Skip("only in the long run: scripts/test --long")
	}
	hugeOutput(t, 10_000_000_000)
}

// What is allocated does not depend on the size of the output.
func TestHugeOutputTakesConstantMemory(t *testing.T) {
	hugeOutput(t, 100_000_000)
}

func hugeOutput(t *testing.T, size int64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := NewTail(LogLimit)
	r := Run(t.Context(), Command{Argv: []string{"bash", "-c", "yes 0123456 | head -c " + strconv.FormatInt(size, 10)}, Env: testEnv(), Output: out})
	runtime.ReadMemStats(&after)
	assert.Assert(t, r.OK(), "%v", r)
	kept := out.Kept()
	assert.Equal(t, int64(len(kept.Text))+kept.DroppedBytes, size)
	assert.Equal(t, kept.DroppedLines, kept.DroppedBytes/8)
	assert.Assert(t, after.TotalAlloc-before.TotalAlloc < 4<<20, "%d bytes", after.TotalAlloc-before.TotalAlloc)
}

func TestManyAtOnce(t *testing.T) {
	results := make(chan string, 40)
	for i := range 40 {
		go func() {
			out := NewTail(100)
			r := Run(t.Context(), Command{Argv: []string{"sh", "-c", `echo "$1"; exit "$1"`, "sh", strconv.Itoa(i)}, Env: testEnv(), Output: out})
			results <- r.String() + " " + out.String()
		}()
	}
	got := map[string]bool{}
	for range 40 {
		got[<-results] = true
	}
	for i := range 40 {
		n := strconv.Itoa(i)
		assert.Assert(t, got["exit "+n+" "+n+"\n"], "%v", got)
	}
}

// BenchmarkBashTrue is the cost of the smallest hook: near fork, exec and bash.
func BenchmarkBashTrue(b *testing.B) {
	env := testEnv()
	for b.Loop() {
		if r := Run(b.Context(), Command{Argv: []string{"bash", "-c", "true"}, Env: env, Output: NewTail(LogLimit)}); !r.OK() {
			b.Fatal(r)
		}
	}
}
