//go:build unix

package fakes_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

// use runs the tool and returns its streams and how it ended.
func use(tool *fakes.Tool, stdin string, args ...string) (stdout, stderr string, state *os.ProcessState) {
	cmd := exec.Command(tool.Path(), args...)
	var out, err bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &err
	cmd.Env = tool.Env([]string{"HOME=/nowhere"})
	_ = cmd.Run() // the state tells
	return out.String(), err.String(), cmd.ProcessState
}

func TestToolAnswers(t *testing.T) {
	tool := fakes.NewTool(t, "claude")
	tool.Expect("-p", "a b", "", "it's $HOME\n", "-*").Stdin("one", "three").Answer("out\n", "err\n", 3)
	tool.Expect("-p").Stdin("first").Answer("1", "", 0)
	tool.Expect("-p").Stdin("second").Answer("2", "", 0)
	tool.Expect("--version").Print("1.0").Print(".1\n").Times(2)

	out, errs, state := use(tool, "one two three", "-p", "a b", "", "it's $HOME\n", "-*")
	assert.Equal(t, out, "out\n")
	assert.Equal(t, errs, "err\n")
	assert.Equal(t, state.ExitCode(), 3)
	out, _, _ = use(tool, "the second", "-p") // by what is on stdin, not by the order
	assert.Equal(t, out, "2")
	out, _, _ = use(tool, "the first", "-p")
	assert.Equal(t, out, "1")
	for range 2 {
		out, _, state = use(tool, "", "--version")
		assert.Equal(t, out, "1.0.1\n")
		assert.Equal(t, state.ExitCode(), 0)
	}
	assert.Assert(t, tool.AwaitEnds(5, time.Minute))
	calls := tool.Calls()
	assert.DeepEqual(t, calls[0].Args, []string{"-p", "a b", "", "it's $HOME\n", "-*"})
	assert.Equal(t, calls[0].Stdin, "one two three")
	assert.Assert(t, calls[0].Finished && calls[0].PID > 0)
	assert.Assert(t, slices.Contains(calls[0].Env, "HOME=/nowhere"))
	here, err := os.Getwd()
	assert.NilError(t, err)
	assert.Equal(t, calls[0].Dir, here)
}

func TestToolFaults(t *testing.T) {
	tool := fakes.NewTool(t, "codex")
	tool.Expect("slow").Slow(50*time.Millisecond).Answer("late", "", 0)
	tool.Expect("cut").Truncated("0123456789")
	tool.Expect("flood").Flood(50 << 20)
	tool.Expect("login").AskLogin()
	tool.Expect("crash").Print("begun").Crash()
	tool.Expect("deaf").IgnoreStdin().Answer("x", "", 0)

	start := time.Now()
	out, _, _ := use(tool, "", "slow")
	assert.Assert(t, out == "late" && time.Since(start) >= 50*time.Millisecond)
	out, _, _ = use(tool, "", "cut")
	assert.Equal(t, out, "01234")
	out, _, state := use(tool, "", "flood")
	assert.Equal(t, len(out), 50<<20)
	assert.Equal(t, state.ExitCode(), 0)
	out, _, state = use(tool, "", "login")
	assert.Assert(t, cmp.Contains(out, "/login"))
	assert.Equal(t, state.ExitCode(), 1)
	out, _, state = use(tool, "", "crash")
	assert.Equal(t, out, "begun")
	assert.Equal(t, state.String(), "signal: killed")

	// A tool that reads no stdin ends although stdin stays open.
	r, w, err := os.Pipe()
	assert.NilError(t, err)
	cmd := exec.Command(tool.Path(), "deaf")
	cmd.Stdin = r
	data, err := cmd.Output()
	assert.NilError(t, err)
	assert.Equal(t, string(data), "x")
	assert.NilError(t, w.Close())
	assert.NilError(t, r.Close())

	assert.Assert(t, tool.AwaitEnds(6, time.Minute))
	for _, c := range tool.Calls() {
		assert.Equal(t, c.Finished, c.Args[0] != "crash", c.Args[0])
	}
}

// A tool that hangs is killed by its caller, or ends with the test: no process
// is left.
func TestToolHangs(t *testing.T) {
	tool, err := fakes.StartTool("hanging")
	assert.NilError(t, err)
	defer tool.Close()
	tool.Expect().Print("begun").Hang().Times(2)
	hanging := func() *exec.Cmd {
		cmd := exec.Command(tool.Path())
		out, pipeErr := cmd.StdoutPipe()
		assert.NilError(t, pipeErr)
		assert.NilError(t, cmd.Start())
		_, pipeErr = io.ReadFull(out, make([]byte, len("begun")))
		assert.NilError(t, pipeErr)
		return cmd
	}
	killed, left := hanging(), hanging()
	assert.NilError(t, killed.Process.Kill())
	assert.ErrorContains(t, killed.Wait(), "killed")
	assert.Assert(t, tool.AwaitEnds(1, time.Minute))
	assert.Assert(t, !tool.AwaitEnds(2, 0))
	tool.Close()
	assert.ErrorContains(t, left.Wait(), "exit status 97")
	for _, c := range tool.Calls() {
		assert.Assert(t, !c.Finished && !c.Running)
	}
	tool.Close()
	assert.Equal(t, len(tool.Problems()), 0)
	_, err = os.Stat(filepath.Dir(tool.Dir()))
	assert.Assert(t, os.IsNotExist(err))
}

func TestToolIsStrict(t *testing.T) {
	r := newRecorder(t)
	tool := fakes.NewTool(r, "claude")
	tool.Expect("-p").Stdin("needle").Answer("never", "", 0)
	tool.Expect("--never").Times(0)
	tool.Expect("--some").AnyTimes()

	out, errs, state := use(tool, "hay", "-p")
	assert.Equal(t, out, "")
	assert.Equal(t, errs, "fakes: no expectation for claude -p\n")
	assert.Equal(t, state.ExitCode(), 97)
	_, errs, _ = use(tool, "", "-p", "x y")
	assert.Equal(t, errs, "fakes: no expectation for claude -p \"x y\"\n")
	_, _, state = use(tool, "", "--some")
	assert.Equal(t, state.ExitCode(), 0)

	stdin, held := io.Pipe() // its end never comes
	cmd := exec.Command(tool.Path(), "-p")
	cmd.Stdin = stdin
	assert.NilError(t, cmd.Start())
	assert.Assert(t, eventually(func() bool { return len(tool.Calls()) == 4 }))
	assert.Assert(t, eventually(func() bool { return tool.Calls()[3].Running }))

	got := r.finish()
	assert.NilError(t, held.Close())
	assert.ErrorContains(t, cmd.Wait(), "exit status 97")
	assert.DeepEqual(t, got, []string{
		`fakes.Tool claude: no expectation for claude -p with stdin "hay": claude -p: stdin has no "needle"; claude --some: the arguments differ`,
		`fakes.Tool claude: no expectation for claude -p "x y" with stdin "": claude -p: the arguments differ; claude --some: the arguments differ`,
		"fakes.Tool claude: at the end a call still waits: claude -p: for the end of its stdin",
		"fakes.Tool claude: expectation not used: claude -p: expected once, used 0 times",
	})

	_, err := fakes.StartTool("../claude")
	assert.Error(t, err, `"../claude" is no name of a command`)
}

// Two tools, found by name; the program under test may pass on an empty
// environment.
func TestToolsOnPath(t *testing.T) {
	one, two := fakes.NewTool(t, "one"), fakes.NewTool(t, "two")
	one.Expect("1").Answer("first ", "", 0)
	two.Expect("2").Answer("second", "", 0)
	cmd := exec.Command("sh", "-c", "one 1; exec env -i "+two.Path()+" 2")
	cmd.Env = two.Env(one.Env(os.Environ()))
	out, err := cmd.Output()
	assert.NilError(t, err)
	assert.Equal(t, string(out), "first second")
	assert.DeepEqual(t, one.Env(nil), []string{"PATH=" + one.Dir()})
}
