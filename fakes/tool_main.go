package fakes

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// toolMarker is the first argument of a process that plays a tool. The address
// of the test and the tool's own arguments follow.
const toolMarker = "fakes-tool-of:"

// ToolMain makes a program able to play the tools that it makes with [NewTool].
// Call it first thing in TestMain, or in main of a program that is no test. It
// returns at once, unless this process is the call of a tool: then it plays the
// call and ends the process.
//
//nolint:forbidigo // it is the main function of the tool's process
func ToolMain() {
	toolMainCalled.Store(true)
	if len(os.Args) < 2 || !strings.HasPrefix(os.Args[1], toolMarker) {
		return
	}
	code := playTool(strings.TrimPrefix(os.Args[1], toolMarker), os.Args[2:], os.Environ())
	// Not os.Exit, which under the race detector sleeps for a second.
	syscall.Exit(code)
}

// playTool is one call, on the process's own streams.
//
//nolint:forbidigo // it is the main function of the tool's process
func playTool(socket string, args, env []string) int {
	conn, err := net.Dial("unix", socket) //nolint:gosec // the address stands in the script that NewTool wrote
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakes: the test that made this tool has ended:", err)
		return toolUnexpected
	}
	defer func() { _ = conn.Close() }() // the process ends
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	dir, _ := os.Getwd() // a folder that is gone has no name
	if err = out.Encode(toolHello{Args: args, Dir: dir, Env: env, PID: os.Getpid()}); err != nil {
		return toolUnexpected
	}
	var read toolRead
	if err = in.Decode(&read); err != nil {
		return toolUnexpected
	}
	plans := make(chan toolPlan, 1)
	gone := make(chan struct{}) // closes when the test has ended
	go func() {
		defer close(gone)
		var plan toolPlan
		if in.Decode(&plan) == nil {
			plans <- plan
			_ = in.Decode(&plan) // nothing more comes but the end
		}
	}()
	if read.Stdin {
		go sendStdin(os.Stdin, out) // its other end may never be closed
	}
	var plan toolPlan
	select {
	case plan = <-plans:
	case <-gone:
		return toolUnexpected
	}
	code := 0
	for _, step := range plan.Steps {
		if step.Exit != nil {
			code = *step.Exit
			break
		}
		if !step.play(os.Stdout, os.Stderr, gone) {
			return toolUnexpected
		}
	}
	_ = out.Encode(toolDone{Done: true}) // a test that is gone need not know
	return code
}

// sendStdin reads standard input to its end. What cannot be read or sent leaves
// the call without a plan, until the test ends.
func sendStdin(stdin io.Reader, out *json.Encoder) {
	if data, err := io.ReadAll(stdin); err == nil {
		_ = out.Encode(toolStdin{Data: data})
	}
}

// play reports false when the test has ended before the step.
func (s toolStep) play(stdout, stderr io.Writer, gone <-chan struct{}) bool {
	// A caller that has closed our streams kills us with SIGPIPE, as any tool;
	// other errors of writing are the caller's too.
	_, _ = stdout.Write(s.Out)
	_, _ = stderr.Write(s.Err)
	const line = "0123456789 0123456789 0123456789 0123456789 0123456789 012345678\n"
	block := []byte(strings.Repeat(line, 1000))
	for left := s.Fill; left > 0; {
		n, err := stdout.Write(block[:min(left, int64(len(block)))])
		if err != nil {
			break
		}
		left -= int64(n)
	}
	if s.Crash {
		killItself()
	}
	if !s.Hang && s.Sleep <= 0 {
		return true
	}
	var over <-chan time.Time // nil where it hangs
	if !s.Hang {
		timer := time.NewTimer(s.Sleep)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
		return true
	case <-gone:
		return false
	}
}
