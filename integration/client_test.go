//go:build unix

package integration

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// Issue 5: brepl as the client that people type, as a process of its own.

// asks is `brepl …` without a terminal and without anything on stdin.
func (w *world) asks(args ...string) result {
	w.t.Helper()
	return w.run(fakes.DevNull(), args...)
}

// explained lets the client ask the server about exceptions, which it then explains from the text alone.
func explained(server *fakes.NREPL) *fakes.NREPL {
	server.OnContains("clojure.core/*e").AnyTimes()
	return server
}

// shell runs a line with a shell in the project; brepl is on its PATH.
func (w *world) shell(line string) result {
	w.t.Helper()
	spec := fakes.Spec{Path: "/bin/bash", Args: []string{"-c", line}, Dir: w.dir, Env: append(w.environment(), "PATH="+filepath.Dir(brepl(w.t))+":"+os.Getenv("PATH")), Pipes: true}
	return w.result(fakes.Run(w.t, spec, fakes.DevNull()))
}

func TestNREPLClientShell(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "")
	server := explained(w.withREPL())
	for _, tt := range []struct {
		line   string
		script func()
		want   string
	}{
		{`brepl '(+ 1 2)'`, func() { server.On("(+ 1 2)").Value("3") }, "3\n"},
		{"brepl <<'EOF'\n(println \"it's\" $HOME)\nEOF", func() { server.On("(println \"it's\" $HOME)\n").Out("it's\n").Value("nil") }, "it's\nnil\n"},
		{"brepl \"$(cat <<'EOF'\n(inc 1)\nEOF\n)\"", func() { server.On("(inc 1)").Value("2") }, "2\n"},
		{"brepl -e \"$(cat <<'EOF'\n(inc 2)\nEOF\n)\"", func() { server.On("(inc 2)").Value("3") }, "3\n"},
		{`echo '(inc 3)' | brepl`, func() { server.On("(inc 3)\n").Value("4") }, "4\n"},
		{`echo ':unread' | brepl '(inc 4)'`, func() { server.On("(inc 4)").Value("5") }, "5\n"},
		{`brepl -f <(echo :fifo)`, func() { server.OnLoadFileContains(":fifo").Value(":fifo") }, ":fifo\n"},
		{`rm .nrepl-port; BREPL_PORT=` + strconv.Itoa(server.Port()) + ` brepl :env`, func() { server.On(":env").Value(":env") }, ":env\n"},
	} {
		tt.script()
		r := w.shell(tt.line)
		assert.Equal(t, r.stdout, tt.want, "%s\n%s", tt.line, r.stderr)
		assert.Equal(t, r.stderr, "", tt.line)
		assert.Equal(t, r.exit, 0, tt.line)
	}
	server.On(":host").Value(":host")
	w.shell(fmt.Sprintf("brepl -p %d -h 127.0.0.1 :host", server.Port())).is(0, ":host\n", "")
}

// started is a brepl that runs.
type started struct {
	*exec.Cmd

	t        *testing.T
	out, err *bytes.Buffer
	lines    chan string // of stdout, as they come
}

// starts starts brepl and gives the lines of its stdout as they arrive.
func (w *world) starts(args ...string) *started {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	w.t.Cleanup(cancel)
	s := &started{Cmd: exec.CommandContext(ctx, brepl(w.t), args...), t: w.t, out: &bytes.Buffer{}, err: &bytes.Buffer{}, lines: make(chan string, 1000)}
	s.Dir, s.Env, s.Stderr = w.dir, w.environment(), s.err
	pipe, err := s.StdoutPipe()
	assert.NilError(w.t, err)
	assert.NilError(w.t, s.Start())
	go func() {
		defer close(s.lines)
		buffer := make([]byte, 4096)
		for {
			n, err := pipe.Read(buffer)
			if n > 0 {
				s.lines <- string(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

// reads waits for a line, exactly.
func (s *started) reads(want string) {
	s.t.Helper()
	select {
	case got := <-s.lines:
		assert.Equal(s.t, got, want)
	case <-time.After(waitLimit):
		s.t.Fatalf("%q did not come", want)
	}
}

// ends waits for the end and returns the exit code, as a shell would say it.
func (s *started) ends() int {
	s.t.Helper()
	for text := range s.lines {
		s.out.WriteString(text)
	}
	_ = s.Wait() // the state says it
	status, ok := s.ProcessState.Sys().(syscall.WaitStatus)
	assert.Assert(s.t, ok)
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// Issue 5: "stdout and stderr of the evaluation stream as they arrive".
func TestNREPLClientStreams(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "")
	w.withREPL().On("(work)").Out("one\n").Err("two\n").Hang()
	s := w.starts("(work)")
	s.reads("one\n")
	assert.NilError(t, s.Process.Signal(syscall.SIGINT))
	assert.Equal(t, s.ends(), 130)
	assert.Equal(t, s.out.String(), "")
	assert.Equal(t, s.err.String(), "two\nbrepl: interrupted\n")
}

// Issue 5: "Ctrl-C sends interrupt, waits briefly, then leaves".
func TestNREPLClientCtrlC(t *testing.T) {
	brepl(t)
	t.Parallel()
	for _, tt := range []struct {
		name   string
		preset fakes.Preset
		script func(*fakes.Expect)
		signal syscall.Signal
		exit   int
		stderr string
	}{
		{"the server interrupts", fakes.JVM1_0, func(e *fakes.Expect) { e.Hang() }, syscall.SIGINT, 130, "brepl: interrupted\n"},
		{"a sleeping thread", fakes.JVM1_0, func(e *fakes.Expect) { e.Delay(time.Minute) }, syscall.SIGINT, 130, "brepl: interrupted\n"},
		{"the code goes on", fakes.JVM1_0, func(e *fakes.Expect) { e.HangUninterruptible() }, syscall.SIGINT, 130, "brepl: interrupted, but the server did not confirm it: the code may still be running\n"},
		{"a server without interrupt", fakes.Babashka, func(e *fakes.Expect) { e.Hang() }, syscall.SIGINT, 130, "brepl: interrupted, but the server did not confirm it: the code may still be running\n"},
		{"TERM", fakes.JVM1_0, func(e *fakes.Expect) { e.Delay(time.Minute) }, syscall.SIGTERM, 143, "brepl: interrupted\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			e := w.withREPL(fakes.NREPLPreset(tt.preset)).On("(f)").Out("begun\n")
			tt.script(e)
			s := w.starts("(f)")
			s.reads("begun\n")
			assert.NilError(t, s.Process.Signal(tt.signal))
			assert.Equal(t, s.ends(), tt.exit)
			assert.Equal(t, s.err.String(), tt.stderr)
			assert.Equal(t, s.out.String(), "")
		})
	}
	t.Run("the second one ends it at once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		server := w.withREPL()
		server.On("(f)").Out("begun\n").HangUninterruptible()
		s := w.starts("(f)")
		s.reads("begun\n")
		assert.NilError(t, s.Process.Signal(syscall.SIGINT))
		assert.Assert(t, server.AwaitOp("interrupt", 1, waitLimit))
		assert.NilError(t, s.Process.Signal(syscall.SIGINT))
		assert.Equal(t, s.ends(), 130)
		assert.Equal(t, s.err.String(), "") // after the first one alone it says what became of the code
	})
}

// Issue 5: a stdout that is closed ends quietly and interrupts.
func TestNREPLClientHead(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "")
	server := w.withREPL()
	server.On("(f)").OutRepeated(strings.Repeat("x", 999)+"\n", 1_000_000)
	r := w.shell(`brepl '(f)' | head -n 2 | wc -c; echo "${PIPESTATUS[0]}"`)
	r.is(0, "2000\n141\n", "")
	assert.Assert(t, server.AwaitOp("interrupt", 1, waitLimit) && server.AwaitOp("close", 1, waitLimit))
	for _, session := range server.Sessions() {
		assert.Assert(t, session.Closed && !session.Running, "%+v", session)
	}
}

// peakOf runs brepl with its stdout thrown away and returns its peak RSS in KiB and how much it printed.
func (w *world) peakOf(args ...string) (exit, peak int, printed int64) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), brepl(w.t), args...)
	cmd.Dir, cmd.Env = w.dir, w.environment()
	pipe, err := cmd.StdoutPipe()
	assert.NilError(w.t, err)
	assert.NilError(w.t, cmd.Start())
	buffer := make([]byte, 1<<20)
	for {
		n, err := pipe.Read(buffer)
		printed += int64(n)
		// VmHWM only grows, so the last look is the one that counts. The rusage of the child would hold our own memory too.
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
			kib, _ := strconv.Atoi(strings.Fields(after)[0])
			peak = max(peak, kib)
		}
		if err == io.EOF {
			break
		}
		assert.NilError(w.t, err)
	}
	_ = cmd.Wait() // the state says it
	return cmd.ProcessState.ExitCode(), peak, printed
}

// Issue 5: "streaming of a 100 MB output at constant memory (peak RSS under 40 MB)".
func TestNREPLClientConstantMemory(t *testing.T) {
	fullRun(t)
	brepl(t)
	t.Parallel()
	w := newWorld(t, "")
	server := w.withREPL()
	line := strings.Repeat("x", 1023) + "\n"
	for _, args := range [][]string{{"(f)"}, {"(f)", "--json"}} {
		server.On("(f)").OutRepeated(line, 100_000).Value(":end")
		exit, peak, printed := w.peakOf(args...)
		assert.Equal(t, exit, 0)
		lessThan(t, peak, 40)
		if len(args) == 1 {
			assert.Equal(t, printed, int64(100_000*1024+len(":end\n")))
		}
		t.Logf("%v: %.1f MB, peak RSS %d KiB", args, float64(printed)/1e6, peak)
	}
}

// Issue 5: a file's error has the file's name and line, and a line of the file.
func TestNREPLClientFileError(t *testing.T) {
	brepl(t)
	t.Parallel()
	const file = "(ns shop.cart)\n\n(defn total [items]\n  (reduce + (map :qty itmes)))\n"
	w := newWorld(t, "", fakes.WithFile("deps.edn", "{}\n", 0o644), fakes.WithFile("src/shop/cart.clj", file, 0o644))
	path := w.project.Path("src/shop/cart.clj")
	explained(w.withREPL()).OnLoadFile(path).Thrown(
		"Syntax error compiling at ("+path+":4:23).\nUnable to resolve symbol: itmes in this context\n", compilerException, compilerException)
	r := w.asks("-f", "src/shop/cart.clj")
	assert.Equal(t, r.exit, 1)
	assert.Equal(t, r.stdout, "")
	for _, part := range []string{"src/shop/cart.clj:4:23: ", "Unable to resolve symbol: itmes", "4 |   (reduce + (map :qty itmes)))\n", "^\n"} {
		assert.Assert(t, cmp.Contains(r.stderr, part))
	}
	assert.Equal(t, strings.Count(r.stderr, "itmes in this context"), 1, r.stderr)
}

// Issue 5: no zombie sessions: whatever a call came to, the server has as many sessions after it as before.
func TestNREPLClientLeavesNoSession(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "")
	server := explained(w.withREPL())
	server.On("1").AnyTimes().Value("1")
	server.On("(f)").AnyTimes().Exception("java.lang.Exception", "boom")
	server.On("(g)").AnyTimes().Hang()
	server.On("(read-line)").AnyTimes().NeedInput().Value("nil")
	calls := [][]string{
		{"1"},
		{"(f)"},
		{"(g)", "--timeout", "1"},
		{"(read-line)"},
		{"-m", "{:op :describe}"},
		{"-m", "{:op :eval :code \"(read-line)\"}"}, // without a session: given up
		{"--json", "1"},
		{"--hook", "(f)"},
		{"--verbose", "1"},
		{"-f", "none.clj"},
		{"-m", "{:op :nope}"},
	}
	for _, args := range calls {
		w.asks(args...)
	}
	sessions := server.Sessions()
	assert.Assert(t, len(sessions) >= len(calls)-1)
	assert.Assert(t, server.AwaitOp("close", len(sessions), waitLimit))
	for _, session := range server.Sessions() {
		assert.Assert(t, session.Closed && !session.Running, "%+v", session)
	}
}
