package fakes

import (
	"encoding/json"
	"errors"
	"net"
)

// The messages between the process that plays the tool and the test, JSON one
// after the other: hello, then whether to read stdin, stdin if so, the steps,
// and last that they are done. The test's end of the connection closes when the
// tool is closed; the process then ends too.
type (
	toolHello struct {
		Args []string
		Dir  string
		Env  []string
		PID  int
	}
	toolRead  struct{ Stdin bool }
	toolStdin struct{ Data []byte }
	toolPlan  struct{ Steps []toolStep }
	toolDone  struct{ Done bool }
)

func (tool *Tool) accept() {
	for {
		conn, err := tool.ln.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				tool.problem("accept: %v", err)
			}
			return
		}
		tool.mu.Lock()
		if tool.closed {
			tool.mu.Unlock()
			_ = conn.Close() // the call finds nobody
			return
		}
		tool.conns[conn] = "its start"
		tool.mu.Unlock()
		tool.wg.Go(func() {
			tool.serve(conn)
			tool.mu.Lock()
			delete(tool.conns, conn)
			tool.mu.Unlock()
			_ = conn.Close() // closed already at the tool's end
		})
	}
}

// serve plays one call. An error on the connection is the death of the process
// at the other end, which the record of the call shows.
func (tool *Tool) serve(conn net.Conn) {
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	var hello toolHello
	if in.Decode(&hello) != nil {
		return
	}
	call := &ToolCall{Args: hello.Args, Dir: hello.Dir, Env: hello.Env, PID: hello.PID, Running: true}
	line := commandLine(tool.name, hello.Args)
	tool.mu.Lock()
	tool.calls = append(tool.calls, call)
	e, why := tool.choose(hello.Args, nil)
	read := e != nil && !e.deaf
	if read {
		tool.conns[conn] = line + ": for the end of its stdin"
	}
	tool.mu.Unlock()
	defer func() {
		tool.mu.Lock()
		call.Running = false
		tool.mu.Unlock()
	}()

	if out.Encode(toolRead{Stdin: read}) != nil {
		return
	}
	if read {
		var stdin toolStdin
		if in.Decode(&stdin) != nil {
			return
		}
		tool.mu.Lock()
		call.Stdin = string(stdin.Data)
		e, why = tool.choose(hello.Args, &call.Stdin)
		tool.mu.Unlock()
	}
	if out.Encode(toolPlan{Steps: tool.plan(conn, e, line, why, call.Stdin)}) != nil {
		return
	}
	var done toolDone
	if in.Decode(&done) == nil {
		tool.mu.Lock()
		call.Finished = done.Done
		tool.mu.Unlock()
	}
	_ = in.Decode(&done) // nothing comes any more: this is the end of the process
}

// plan uses an expectation, or reports that there is none.
func (tool *Tool) plan(conn net.Conn, e *ToolExpect, line, why, stdin string) []toolStep {
	tool.mu.Lock()
	tool.conns[conn] = "" // what it waits for now is scripted
	if e != nil {
		defer tool.mu.Unlock()
		e.used++
		return e.steps
	}
	tool.mu.Unlock()
	tool.problem("no expectation for %s with stdin %s: %s", line, clipped(stdin), why)
	code := toolUnexpected
	return []toolStep{{Err: []byte("fakes: no expectation for " + line + "\n")}, {Exit: &code}}
}
