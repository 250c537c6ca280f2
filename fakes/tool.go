package fakes

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Tool is a fake command-line tool: an executable in a folder of its own, to be
// put on PATH, whose answers are scripted by the test that runs beside it.
//
//	func TestMain(m *testing.M) {
//		fakes.ToolMain()
//		os.Exit(m.Run())
//	}
//
//	tool := fakes.NewTool(t, "claude")
//	tool.Expect("-p", "--output-format", "json").Stdin("review this").Answer(`{"result":"ok"}`, "", 0)
//	cmd.Env = tool.Env(os.Environ())
//
// The executable is a script of two lines that starts the running program, the
// test binary, once more; [ToolMain] at its beginning turns that process into
// the tool. It asks the test over a unix socket what to do. This needs no
// compiler and no shell tricks at test time, the tool can do what a process
// can, and a call that nothing foresees fails the test at the moment it is
// made. The script holds the address of the test, so it also works where the
// program under test passes on nothing of its environment.
//
// It is strict about arguments and standard input: another call fails the test
// and ends with code 97; an expectation that nothing used fails it at the end.
// All methods may be called from any goroutine. It works on unix only.
type Tool struct {
	t      T // nil outside of tests
	name   string
	dir    string
	socket string
	ln     net.Listener
	wg     sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	conns    map[net.Conn]string // what the call waits for
	expects  []*ToolExpect
	calls    []*ToolCall
	problems []string
}

// toolUnexpected is the exit code of a call that nothing foresees.
const toolUnexpected = 97

// ToolCall is one run of the tool.
type ToolCall struct {
	Args  []string // without the name
	Dir   string
	Env   []string
	Stdin string // what was read; nothing with [ToolExpect.IgnoreStdin]
	PID   int
	// Finished says that the call came to its end. A call that has neither
	// finished nor is Running was killed, or has crashed as scripted.
	Finished, Running bool
}

// toolMainCalled says that this program can play a tool. It stands for what a
// program is, not for what it does: nothing else can tell NewTool that the
// program would run its own tests instead, without end.
var toolMainCalled atomic.Bool

// NewTool makes a tool of this name that ends with the test. The program must
// call [ToolMain] first.
func NewTool(t T, name string) *Tool {
	t.Helper()
	tool, err := startTool(t, name)
	if err != nil {
		t.Fatalf("fakes: cannot make the tool %s: %v", name, err)
		return nil
	}
	t.Cleanup(tool.Close)
	return tool
}

// StartTool makes a tool outside of a test. Ask [Tool.Problems] for what would
// have failed a test, and end it with [Tool.Close], which removes its folder.
func StartTool(name string) (*Tool, error) { return startTool(nil, name) }

func startTool(t T, name string) (*Tool, error) {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return nil, fmt.Errorf("%q is no name of a command", name)
	}
	if !toolMainCalled.Load() {
		return nil, fmt.Errorf("call fakes.ToolMain() first thing in TestMain, or in main: this program is started again to play the tool")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	base, err := os.MkdirTemp("", "tool-") // not t.TempDir: the path of a socket has at most 104 bytes
	if err != nil {
		return nil, err
	}
	tool := &Tool{t: t, name: name, dir: filepath.Join(base, "bin"), socket: filepath.Join(base, "s"), conns: map[net.Conn]string{}}
	if err = tool.install(self); err != nil {
		_ = os.RemoveAll(base) // nothing of it is needed any more
		return nil, err
	}
	tool.wg.Go(tool.accept)
	return tool, nil
}

func (tool *Tool) install(self string) error {
	if err := os.Mkdir(tool.dir, 0o750); err != nil {
		return err
	}
	script, err := toolScript(self, tool.socket, tool.name)
	if err != nil {
		return err
	}
	if err = WriteProgram(tool.Path(), script); err != nil {
		return err
	}
	tool.ln, err = net.Listen("unix", tool.socket)
	return err
}

// Dir returns the folder that holds the tool and nothing else, for the front of
// PATH.
func (tool *Tool) Dir() string { return tool.dir }

// Path returns the path of the executable.
func (tool *Tool) Path() string { return filepath.Join(tool.dir, tool.name) }

// Env returns base with the tool's folder in front of its PATH. It chains:
// b.Env(a.Env(base)) has both tools.
func (tool *Tool) Env(base []string) []string {
	env := slices.Clone(base)
	i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	if i < 0 {
		return append(env, "PATH="+tool.dir)
	}
	env[i] = "PATH=" + tool.dir + string(filepath.ListSeparator) + strings.TrimPrefix(env[i], "PATH=")
	return env
}

// Calls returns the calls so far, in order, also those that nothing foresaw.
func (tool *Tool) Calls() []ToolCall {
	tool.mu.Lock()
	defer tool.mu.Unlock()
	calls := make([]ToolCall, 0, len(tool.calls))
	for _, c := range tool.calls {
		calls = append(calls, *c)
	}
	return calls
}

// AwaitEnds waits until n calls have ended, in whatever way, at most for limit,
// and reports whether they have.
func (tool *Tool) AwaitEnds(n int, limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for {
		ended := 0
		for _, c := range tool.Calls() {
			if !c.Running {
				ended++
			}
		}
		if ended >= n {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Problems returns what was wrong so far: calls that nothing foresaw and, after
// [Tool.Close], expectations that nothing used. With a T each was reported as an
// error too.
func (tool *Tool) Problems() []string {
	tool.mu.Lock()
	defer tool.mu.Unlock()
	return slices.Clone(tool.problems)
}

func (tool *Tool) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	tool.mu.Lock()
	tool.problems = append(tool.problems, text)
	tool.mu.Unlock()
	if tool.t != nil {
		tool.t.Errorf("fakes.Tool %s: %s", tool.name, text)
	}
}

// waiting says what each call waits for that has not got as far as its script.
func (tool *Tool) waiting() []string {
	tool.mu.Lock()
	defer tool.mu.Unlock()
	var all []string
	for _, what := range tool.conns {
		if what != "" {
			all = append(all, what)
		}
	}
	return all
}

// Close ends the tool: calls that still run end with code 97, the folder is
// removed, and what was not used is reported. Closing twice is fine.
func (tool *Tool) Close() {
	for range 200 { // a call that was just killed is heard of a little later
		if len(tool.waiting()) == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	waiting := tool.waiting()
	tool.mu.Lock()
	first := !tool.closed
	tool.closed = true
	for c := range tool.conns {
		_ = c.Close() // the call may have ended meanwhile
	}
	tool.mu.Unlock()
	if !first {
		return
	}
	_ = tool.ln.Close() // nothing can be done about it
	tool.wg.Wait()
	for _, w := range waiting {
		tool.problem("at the end a call still waits: %s", w)
	}
	for _, e := range tool.expects {
		if e.used < e.least {
			tool.problem("expectation not used: %s: expected %s, used %s", e, times(e.least), times(e.used))
		}
	}
	_ = os.RemoveAll(filepath.Dir(tool.dir)) // a temporary folder
}
