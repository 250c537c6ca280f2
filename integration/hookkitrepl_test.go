//go:build unix

package integration

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// Pins issue 3, 5: `hookkit repl` serves a script to a real hook, and removes its port file when it ends, by TERM or by the end of stdin.
func TestHookkitREPL(t *testing.T) {
	fullRun(t)
	t.Parallel()
	program := built(t, "hookkit")
	for _, c := range []struct {
		name   string
		script string
		end    func(cmd *exec.Cmd, stdin interface{ Close() error }) error
		exit   int
		stderr string
	}{
		{"TERM", "eval (run-tests)\n  out Testing a\n  value {:fail 1, :error 0}\n", func(cmd *exec.Cmd, _ interface{ Close() error }) error {
			return cmd.Process.Signal(syscall.SIGTERM)
		}, 0, ""},
		{"end of stdin", "any\n  out Testing a\n  value {:fail 1, :error 0}\n", func(_ *exec.Cmd, stdin interface{ Close() error }) error {
			return stdin.Close()
		}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hooksEDN(eval("tests", "(run-tests)", ":retry-on-failure? true")))
			w.mayChange = true
			dir := w.project.Dir()
			w.project.Write("s.repl", c.script)
			cmd := exec.CommandContext(t.Context(), program, "repl", "s.repl", "--until-eof")
			cmd.Dir = dir
			stdin, err := cmd.StdinPipe()
			assert.NilError(t, err)
			stdout, err := cmd.StdoutPipe()
			assert.NilError(t, err)
			var errs strings.Builder
			cmd.Stderr = &errs
			assert.NilError(t, cmd.Start())
			line, err := bufio.NewReader(stdout).ReadString('\n')
			assert.NilError(t, err)
			assert.Equal(t, line, "nREPL server on 127.0.0.1:"+w.project.Read(".nrepl-port")+", its port in "+filepath.Join(dir, ".nrepl-port")+"\n")

			stop := w.stop()
			assert.Equal(t, stop.exit, 2, stop.stderr)
			assert.Assert(t, strings.Contains(stop.stderr, "Testing a"), stop.stderr)

			// A second server does not take the folder away from the first.
			second := exec.CommandContext(t.Context(), program, "repl", "s.repl")
			second.Dir = dir
			text, err := second.CombinedOutput()
			assert.ErrorContains(t, err, "exit status 1")
			assert.Assert(t, strings.Contains(string(text), "names a server that answers"), "%s", text)

			assert.NilError(t, c.end(cmd, stdin))
			_ = cmd.Wait() // the exit code tells
			assert.Equal(t, cmd.ProcessState.ExitCode(), c.exit)
			assert.Equal(t, errs.String(), c.stderr)
			_, err = os.Stat(filepath.Join(dir, ".nrepl-port"))
			assert.Assert(t, os.IsNotExist(err))
		})
	}
}

func TestHookkitREPLUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, flags, stderr string }{
		{"eval (+ 1 2)\n", "--port 70000", "hookkit repl: --port is a number from 1 to 65535\nRun 'hookkit repl --help' for usage.\n"},
		{"# nothing\n", "", "s.repl: the script has no request; write one as: eval (+ 1 2), and below it, indented: value 3\n"},
		{"\n  value 3\n", "", "s.repl:2: an answer needs a request above it, such as: eval (+ 1 2)\n"},
		{"evla 1\n", "", "s.repl:1: a request is one of: eval CODE, contains PART, load-file PATH, any\n"},
		{"eval\n", "", "s.repl:1: a request is one of: eval CODE, contains PART, load-file PATH, any\n"},
		{"any\n  vale 3\n", "", "s.repl:2: an answer is one of: value TEXT, out TEXT, err TEXT, exception CLASS MESSAGE, delay DURATION, hang, drop\n"},
		{"any\n  delay long\n", "", "s.repl:2: \"long\" is no duration; write it like 300ms or 2s\n"},
		{"any\n  out \"a\" b\n", "", "s.repl:2: there is more after the closing quote: b\n"},
		{"preset jvm\n", "", "s.repl:1: there is no server \"jvm\"; there are jvm-1.0.0, jvm-1.7, babashka, nbb, let-go\n"},
	} {
		dir := realTempDir(t)
		assert.NilError(t, os.WriteFile(filepath.Join(dir, "s.repl"), []byte(c.script), 0o600))
		exit, stdout, stderr := runHookkit(t, dir, append([]string{"repl", "s.repl"}, strings.Fields(c.flags)...)...)
		assert.Equal(t, exit, 1)
		assert.Equal(t, stdout, "")
		assert.Equal(t, stderr, c.stderr)
	}
}
