package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"gotest.tools/v3/assert"
)

// openTerminal returns the two ends of a pseudo-terminal: what a person sees and types, and the program's side.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		skipOrFail(t, "no pseudo-terminal: "+err.Error())
	}
	t.Cleanup(func() { _ = person.Close() })
	var number, unlocked uint32
	for request, value := range map[uintptr]*uint32{syscall.TIOCSPTLCK: &unlocked, syscall.TIOCGPTN: &number} {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(value)))
		assert.Assert(t, errno == 0, errno)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	assert.NilError(t, err)
	return person, program
}

// screen is a brepl on a terminal of its own.
type screen struct {
	t      *testing.T
	cmd    *exec.Cmd
	person *os.File
	ended  chan struct{}

	mu   sync.Mutex
	text strings.Builder
}

func (w *world) onScreen(args ...string) *screen {
	w.t.Helper()
	person, program := openTerminal(w.t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	w.t.Cleanup(cancel)
	s := &screen{t: w.t, cmd: exec.CommandContext(ctx, brepl(w.t), args...), person: person, ended: make(chan struct{})}
	s.cmd.Dir, s.cmd.Env = w.dir, append(w.environment(), "TERM=xterm")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = program, program, program
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	assert.NilError(w.t, s.cmd.Start())
	assert.NilError(w.t, program.Close())
	go func() {
		defer close(s.ended)
		buffer := make([]byte, 4096)
		for {
			n, err := person.Read(buffer)
			s.mu.Lock()
			s.text.Write(buffer[:n])
			s.mu.Unlock()
			if err != nil { // EIO: the program has gone
				return
			}
		}
	}()
	return s
}

func (s *screen) shows() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.text.String(), "\r\n", "\n")
}

// waits until the screen shows a text, then types.
func (s *screen) waits(text, keys string) {
	s.t.Helper()
	for deadline := time.Now().Add(waitLimit); !strings.Contains(s.shows(), text); time.Sleep(5 * time.Millisecond) {
		assert.Assert(s.t, time.Now().Before(deadline), "%q is not on the screen:\n%s", text, s.shows())
	}
	_, err := s.person.WriteString(keys)
	assert.NilError(s.t, err)
}

// is compares the exit code and all that was shown.
func (s *screen) is(exit int, shown string) {
	s.t.Helper()
	_ = s.cmd.Wait() // the state says it
	<-s.ended
	assert.Equal(s.t, s.shows(), shown)
	assert.Equal(s.t, s.cmd.ProcessState.ExitCode(), exit)
}

// Issue 5: need-input reads the terminal; Ctrl-D there is the end of the input, Ctrl-C interrupts.
func TestNREPLClientTerminal(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "")
	server := explained(w.withREPL())

	server.On("(ask)").Out("name? ").NeedInput().Value(`"Ada"`)
	s := w.onScreen("(ask)")
	s.waits("name? ", "Ada\n")
	s.is(0, "name? Ada\n\n\x1b[1m\"Ada\"\x1b[0m\n")

	server.On("(ask)").Out("name? ").NeedInput().Value("nil")
	s = w.onScreen("(ask)")
	s.waits("name? ", "\x04")
	s.is(0, "name? \n\x1b[1mnil\x1b[0m\n")

	server.On("(ask)").Out("name? ").NeedInput()
	s = w.onScreen("(ask)")
	s.waits("name? ", "\x03")
	s.is(130, "name? ^C\nbrepl: interrupted\n")

	server.On("(loop)").Out("begun\n").Hang()
	s = w.onScreen("(loop)")
	s.waits("begun\n", "\x03")
	s.is(130, "begun\n^Cbrepl: interrupted\n")

	var texts []string
	for _, m := range server.Received() {
		if m.Op() == "stdin" {
			texts = append(texts, m.Text("stdin"))
		}
	}
	assert.DeepEqual(t, texts, []string{"Ada\n", ""})
}

// Issue 5: colours are for a terminal, and not with NO_COLOR; the server's own stay.
func TestNREPLClientColours(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newWorld(t, "")
	server := w.withREPL()
	script := func() { server.On("(f)").Out("\x1b[32mgreen\x1b[0m\n").Err("warn\n").Out("x").Value("3") }
	script()
	w.onScreen("(f)").is(0, "\x1b[32mgreen\x1b[0m\n\x1b[31mwarn\x1b[0m\nx\n\x1b[1m3\x1b[0m\n")
	w.env = append(w.env, "NO_COLOR=1")
	script()
	w.onScreen("(f)").is(0, "\x1b[32mgreen\x1b[0m\nwarn\nx\n3\n")
	w.onScreen().is(2, "brepl: nothing to evaluate: give an expression, -e, -f, -m, or code on stdin\nRun 'brepl --help' for usage.\n")
}
