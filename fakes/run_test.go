package fakes_test

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

func TestRunWholeShapesAllArrive(t *testing.T) {
	t.Parallel()
	event := fakes.StopEvent(fakes.InSession("s-é")).JSON()
	for _, pipes := range []bool{false, true} {
		for _, shape := range fakes.WholeShapes(event) {
			name := shape.String()
			if pipes {
				name += " through a pipe"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				spec := childSpec(t, "decode")
				spec.Pipes = pipes
				out := fakes.Run(t, spec, shape)
				assert.Equal(t, out.Exit, 2, out.Stderr)
				assert.Equal(t, out.Stdout, "session s-é\n")
				assert.Equal(t, out.Stderr, "")
				assert.Assert(t, !out.TimedOut && !out.StreamsHeld && out.Signal == "")
				assert.Assert(t, out.AfterBrace > 0 && out.AfterBrace <= out.Elapsed, "%v of %v", out.AfterBrace, out.Elapsed)
			})
		}
	}
}

// What each shape sends, byte for byte, and whether stdin is still open after.
func TestRunShapesByteForByte(t *testing.T) {
	t.Parallel()
	const event = `{"a":"é"}`
	tests := []struct {
		shape fakes.Stdin
		want  string
		held  bool
	}{
		{fakes.OneLine(event), event + "\n", false},
		{fakes.NoNewline(event), event, false},
		{fakes.HeldOpen(event), event + "\n", true},
		{fakes.HeldOpenNoNewline(event), event, true},
		{fakes.Chunked(event, 3), event, true},
		{fakes.Chunked(event, 0), event, true},
		{fakes.Slow(event, time.Millisecond), event, true},
		{fakes.BOM(event), "\ufeff" + event + "\n", true},
		{fakes.Pretty(event), "{\n  \"a\": \"é\"\n}\n", true},
		{fakes.CRLF(event), "{\r\n  \"a\": \"é\"\r\n}\n", true},
		{fakes.Pretty("no json"), "no json\n", true},
		{fakes.Half(event), `{"a":`, true},
		{fakes.HalfEOF(event), `{"a":`, false},
		{fakes.TwoValues(event, "{}"), event + "\n{}\n", true},
		{fakes.TrailingGarbage(event, " x"), event + " x", true},
		{fakes.UTF16("{é🐴}"), "\xff\xfe{\x00\xe9\x00\x3d\xd8\x34\xdc}\x00\n\x00", false},
		{fakes.Bytes([]byte("\x00\xff")), "\x00\xff", false},
		{fakes.BlankLine(), "\n", true},
		{fakes.EmptyOpen(), "", true},
		{fakes.EOF(), "", false},
		{fakes.DevNull(), "", false},
	}
	for _, test := range tests {
		t.Run(test.shape.String(), func(t *testing.T) {
			t.Parallel()
			spec := childSpec(t, "copy")
			spec.Args = []string{strconv.Itoa(len(test.want))}
			out := fakes.Run(t, spec, test.shape)
			assert.Equal(t, out.Stdout, test.want)
			after := "EOF"
			if test.held {
				after = "open"
			}
			assert.Equal(t, out.Stderr, after)
			assert.Equal(t, out.Exit, 0)
		})
	}
}

// Host protocol, "Input": the streams are unix sockets, so opening /dev/stdin
// fails. With pipes it does not.
func TestRunSockets(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux is opening /dev/stdin of a socket known to fail: not tested here")
	}
	spec := childSpec(t, "open stdin")
	assert.Equal(t, fakes.Run(t, spec, fakes.HeldOpen("{}")).Stdout, "true")
	spec.Pipes = true
	assert.Equal(t, fakes.Run(t, spec, fakes.HeldOpen("{}")).Stdout, "false")
}

func TestRunClosedStdin(t *testing.T) {
	spec := childSpec(t, "copy")
	spec.Args = []string{"0"}
	out := fakes.Run(t, spec, fakes.Closed())
	assert.Equal(t, out.Stderr, "EOF", "Go opens /dev/null where fd 0 is closed")
	assert.Equal(t, out.Exit, 0, out.Stderr)
	assert.Equal(t, out.AfterBrace, time.Duration(0))
}

func TestRunHardLimit(t *testing.T) {
	spec := childSpec(t, "hang")
	spec.Limit = 100 * time.Millisecond
	out := fakes.Run(t, spec, fakes.HeldOpen("{}"))
	assert.Assert(t, out.TimedOut)
	assert.Equal(t, out.Exit, -1)
	assert.Equal(t, out.Signal, "killed")
	assert.Assert(t, out.Elapsed >= spec.Limit, "%v", out.Elapsed)
}

func TestRunSignal(t *testing.T) {
	out := fakes.Run(t, childSpec(t, "kill itself"), fakes.EOF())
	assert.Equal(t, out.Exit, -1)
	assert.Equal(t, out.Signal, "killed")
	assert.Assert(t, !out.TimedOut)
}

// A hook need not read its input, however long it is.
func TestRunUnreadInput(t *testing.T) {
	big := fakes.PreWriteEvent("/a", strings.Repeat("x", 4<<20)).JSON()
	out := fakes.Run(t, childSpec(t, "deaf"), fakes.HeldOpen(big))
	assert.Equal(t, out.Exit, 0)
	assert.Equal(t, out.AfterBrace, time.Duration(0))
}

// Fault 10: stdout closed, or never read.
func TestRunStdoutClosedOrNeverRead(t *testing.T) {
	spec := childSpec(t, "megabyte")
	out := fakes.Run(t, spec, fakes.EOF())
	assert.Equal(t, len(out.Stdout), 1<<20)
	assert.Equal(t, out.Stderr, "1048576 false")

	spec.Stdout = fakes.ClosedOutput
	out = fakes.Run(t, spec, fakes.EOF())
	assert.Equal(t, out.Stdout, "")
	assert.Equal(t, out.Signal, "broken pipe", "Go programs die of SIGPIPE on fd 1")

	spec.Stdout = fakes.NeverReadOutput
	spec.Limit = 300 * time.Millisecond
	out = fakes.Run(t, spec, fakes.EOF())
	assert.Equal(t, out.Stdout, "")
	assert.Assert(t, out.TimedOut, "a megabyte does not fit into the kernel's buffer")
}

// Host protocol, "Output": a child that holds the streams after the exit costs
// a hook its JSON. It is killed with the group.
func TestRunSeesHeldStreams(t *testing.T) {
	began := time.Now()
	out := fakes.Run(t, childSpec(t, "leave child"), fakes.EOF())
	held := time.Since(began) - out.Elapsed
	assert.Assert(t, out.StreamsHeld)
	assert.Equal(t, out.Stdout, "left")
	assert.Equal(t, out.Exit, 0)
	assert.Assert(t, held >= 500*time.Millisecond, "the wait is not part of Elapsed: %v", held)
}

// The assertion the shapes exist for.
func TestRunMeasuresFromTheClosingBrace(t *testing.T) {
	event := fakes.StopEvent().JSON()
	slow := fakes.Run(t, childSpec(t, "decode"), fakes.Slow(event, time.Millisecond))
	assert.Assert(t, slow.Elapsed > 300*time.Millisecond, "%d bytes took %v", len(event), slow.Elapsed)
	assert.Assert(t, slow.Elapsed-slow.AfterBrace > 300*time.Millisecond, "%v of %v", slow.AfterBrace, slow.Elapsed)
}

func TestRunNoEventShapes(t *testing.T) {
	var names []string
	for _, shape := range fakes.NoEventShapes() {
		names = append(names, shape.String())
		out := fakes.Run(t, childSpec(t, "decode"), shape)
		assert.Equal(t, out.Exit, 1)
		assert.Equal(t, out.Stderr, "EOF\n", "%s", shape)
	}
	assert.DeepEqual(t, names, []string{"eof", "/dev/null", "closed"})
}

func TestRunReportsAMissingProgram(t *testing.T) {
	for _, shape := range []fakes.Stdin{fakes.EOF(), fakes.Closed()} {
		r := newRecorder(t)
		during(func() { fakes.Run(r, fakes.Spec{Path: "no-such-program-here"}, shape) })
		got := r.finish()
		assert.Equal(t, len(got), 1)
		assert.Assert(t, cmp.Contains(got[0], "fatal: fakes: cannot run no-such-program-here with stdin"))
		assert.Assert(t, cmp.Contains(got[0], "executable file not found"))
	}
}

func TestHostEnv(t *testing.T) {
	env := fakes.HostEnv("/p", "s")
	for _, want := range []string{"CLAUDECODE=1", "CLAUDE_PROJECT_DIR=/p", "CLAUDE_CODE_SESSION_ID=s"} {
		assert.Assert(t, slices.Contains(env, want), want)
	}
	base := []string{"PATH=/bin", "HOME=/h"}
	assert.DeepEqual(t, fakes.WithoutHostEnv(append(slices.Clone(base), env...)), base)
}
