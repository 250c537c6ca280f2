package fakes

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ToolExpect is one foreseen call of a [Tool] and what the tool does, a sequence
// of steps in the order of the methods. A call without a last step that ends it
// ends with code 0. It is foreseen once; see [ToolExpect.Times]. Several
// expectations for the same call are used in the order in which they were made.
type ToolExpect struct {
	tool  *Tool
	what  string
	match func(args []string) bool
	stdin []string
	deaf  bool
	steps []toolStep
	used  int
	least int
	most  int // -1: any number
}

// toolStep is one thing that the tool does; one field is set.
type toolStep struct {
	Out   []byte        `json:",omitempty"`
	Err   []byte        `json:",omitempty"`
	Fill  int64         `json:",omitempty"` // bytes of lines on stdout
	Sleep time.Duration `json:",omitempty"`
	Hang  bool          `json:",omitempty"`
	Crash bool          `json:",omitempty"`
	Exit  *int          `json:",omitempty"`
}

// Expect expects a call with exactly these arguments.
func (tool *Tool) Expect(args ...string) *ToolExpect {
	args = slices.Clone(args)
	return tool.ExpectMatch(commandLine(tool.name, args), func(got []string) bool { return slices.Equal(got, args) })
}

// ExpectMatch expects a call for whose arguments match returns true. The
// description stands in failure messages. match must not call the tool.
func (tool *Tool) ExpectMatch(description string, match func(args []string) bool) *ToolExpect {
	e := &ToolExpect{tool: tool, what: description, match: match, least: 1, most: 1}
	tool.mu.Lock()
	defer tool.mu.Unlock()
	tool.expects = append(tool.expects, e)
	return e
}

// String names the expectation in failure messages.
func (e *ToolExpect) String() string { return e.what }

// Stdin demands that standard input has each of these texts. Standard input is
// read to its end in any case, before the first step, but with
// [ToolExpect.IgnoreStdin].
func (e *ToolExpect) Stdin(contains ...string) *ToolExpect {
	e.tool.mu.Lock()
	defer e.tool.mu.Unlock()
	e.stdin = append(e.stdin, contains...)
	return e
}

// IgnoreStdin does not read standard input at all, as a tool that has its
// question in the arguments.
func (e *ToolExpect) IgnoreStdin() *ToolExpect {
	e.tool.mu.Lock()
	defer e.tool.mu.Unlock()
	e.deaf = true
	return e
}

// Times expects the call exactly n times, each answered the same way. 0 means
// never.
func (e *ToolExpect) Times(n int) *ToolExpect { return e.count(n, n) }

// AnyTimes allows the call any number of times, also none.
func (e *ToolExpect) AnyTimes() *ToolExpect { return e.count(0, -1) }

func (e *ToolExpect) count(least, most int) *ToolExpect {
	e.tool.mu.Lock()
	defer e.tool.mu.Unlock()
	e.least, e.most = least, most
	return e
}

func (e *ToolExpect) add(steps ...toolStep) *ToolExpect {
	e.tool.mu.Lock()
	defer e.tool.mu.Unlock()
	e.steps = append(e.steps, steps...)
	return e
}

// Answer writes both streams and ends with this code.
func (e *ToolExpect) Answer(stdout, stderr string, exit int) *ToolExpect {
	return e.add(toolStep{Out: []byte(stdout)}, toolStep{Err: []byte(stderr)}, toolStep{Exit: &exit})
}

// Print writes to standard output and goes on.
func (e *ToolExpect) Print(stdout string) *ToolExpect { return e.add(toolStep{Out: []byte(stdout)}) }

// Slow waits, then goes on.
func (e *ToolExpect) Slow(d time.Duration) *ToolExpect { return e.add(toolStep{Sleep: d}) }

// Hang goes on until it is killed or the tool is closed.
func (e *ToolExpect) Hang() *ToolExpect { return e.add(toolStep{Hang: true}) }

// Truncated writes the first half of stdout and ends with code 0, as a tool does
// whose own source broke off.
func (e *ToolExpect) Truncated(stdout string) *ToolExpect {
	return e.Answer(stdout[:len(stdout)/2], "", 0)
}

// Flood writes n bytes of lines to standard output, such as 50<<20, and goes on.
func (e *ToolExpect) Flood(n int64) *ToolExpect { return e.add(toolStep{Fill: n}) }

// AskLogin says that nobody is logged in and ends with code 1.
func (e *ToolExpect) AskLogin() *ToolExpect {
	return e.Answer("Invalid API key · Please run /login\n", "", 1)
}

// Crash ends by SIGKILL, as from the kernel when memory is short. What was
// written before has arrived.
func (e *ToolExpect) Crash() *ToolExpect { return e.add(toolStep{Crash: true}) }

// choose finds the open expectation for these arguments and, where it was read,
// standard input. Without one it says why each does not want the call. tool.mu
// is held.
func (tool *Tool) choose(args []string, stdin *string) (*ToolExpect, string) {
	var why []string
	for _, e := range tool.expects {
		switch {
		case e.most >= 0 && e.used >= e.most:
			continue
		case !e.match(args):
			why = append(why, e.what+": the arguments differ")
			continue
		case stdin == nil:
			return e, ""
		}
		i := slices.IndexFunc(e.stdin, func(part string) bool { return !strings.Contains(*stdin, part) })
		if i < 0 || e.deaf {
			return e, ""
		}
		why = append(why, fmt.Sprintf("%s: stdin has no %q", e.what, e.stdin[i]))
	}
	if len(why) == 0 {
		why = []string{"nothing is expected any more"}
	}
	return nil, strings.Join(why, "; ")
}

// commandLine is a call for failure messages.
func commandLine(name string, args []string) string {
	var b strings.Builder
	b.WriteString(name)
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$") {
			a = fmt.Sprintf("%q", a)
		}
		b.WriteString(" " + a)
	}
	return b.String()
}
