//go:build unix

package integration

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// replServer is an nREPL server that speaks for itself: a JVM, here or in a container.
type replServer struct {
	Host string
	Port int
	Dir  string // where it runs; "" for one in a container
	// Kill ends the server at once, as a crash does. It may be called more than once.
	Kill func()
	// Console is what a person sees of a local server beside what it says at its start.
	Console *console
}

// console is a terminal that remembers.
type console struct {
	mu   sync.Mutex
	text strings.Builder
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// A JVM starts in 2.5 s; a busy machine with two cores may take ten times that.
const replStartLimit = 90 * time.Second

// realREPL gives the server of one kind that all tests share, and fresh ones to be killed or broken. Leave the shared one usable; what
// defines vars takes a namespace of its own.
func realREPL(need func(*testing.T), start func() (*replServer, error)) (shared, fresh func(*testing.T) *replServer) {
	once := sync.OnceValues(func() (*replServer, error) {
		server, err := start()
		if err == nil {
			atEnd(server.Kill)
		}
		return server, err
	})
	shared = func(t *testing.T) *replServer {
		t.Helper()
		need(t)
		server, err := once()
		assert.NilError(t, err)
		return server
	}
	fresh = func(t *testing.T) *replServer {
		t.Helper()
		need(t)
		server, err := start()
		assert.NilError(t, err)
		t.Cleanup(server.Kill)
		return server
	}
	return shared, fresh
}

var jvmREPL, freshJVM = realREPL(needJVM, startJVM)

func needJVM(t *testing.T) {
	t.Helper()
	fullRun(t)
	out, err := exec.CommandContext(t.Context(), "../scripts/jvm-nrepl", "--check").CombinedOutput()
	if err != nil {
		skipOrFail(t, "no nREPL on a local JVM: %s", strings.TrimSpace(string(out)))
	}
}

// startJVM runs scripts/jvm-nrepl in a folder of its own and returns when the server answers.
func startJVM() (*replServer, error) { return startJVMWith() }

// startJVMWith is startJVM with more folders on the class path.
func startJVMWith(folders ...string) (*replServer, error) {
	dir, err := os.MkdirTemp("", "brepl-jvm-") // a server writes .nrepl-port where it starts
	if err != nil {
		return nil, err
	}
	// The first line is "nREPL server started on port 34567 on host localhost - …".
	seen := &console{}
	first, end, err := runJVM(dir, seen, folders)
	kill := sync.OnceFunc(func() {
		end()
		_ = os.RemoveAll(dir)
	})
	if err != nil {
		kill()
		return nil, err
	}
	_, rest, _ := strings.Cut(first, " on port ")
	digits, _, _ := strings.Cut(rest, " ")
	port, err := strconv.Atoi(digits)
	if err != nil {
		kill()
		return nil, fmt.Errorf("the JVM server told no port: %q", first)
	}
	server := &replServer{Host: "127.0.0.1", Port: port, Dir: dir, Kill: kill, Console: seen}
	if err := server.ready(replStartLimit); err != nil {
		kill()
		return nil, err
	}
	return server, nil
}

// runJVM runs scripts/jvm-nrepl and returns the first line that it prints. end ends the whole group: killing the script alone, as the
// end of a test's context would, leaves its JVM behind. The server also ends with its stdin, so that a test binary that dies takes it
// along. end is never nil.
func runJVM(dir string, stderr io.Writer, folders []string, args ...string) (first string, end func(), err error) {
	end = func() {}
	script, err := filepath.Abs("../scripts/jvm-nrepl")
	if err != nil {
		return "", end, err
	}
	cmd := exec.CommandContext(context.Background(), script, append([]string{"--until-eof"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, stderr
	cmd.Env = append(os.Environ(), "BREPL_TEST_CLASSPATH="+strings.Join(folders, ":"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err = cmd.StdinPipe(); err != nil {
		return "", end, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", end, err
	}
	if err := cmd.Start(); err != nil {
		return "", end, err
	}
	end = func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // already gone is fine
		_ = cmd.Wait()                                      // it was killed: the status says nothing
	}
	line := make(chan string, 1)
	go func() {
		first, _ := bufio.NewReader(stdout).ReadString('\n') // the caller reports an empty line
		line <- first
	}()
	select {
	case first := <-line:
		return first, end, nil
	case <-time.After(replStartLimit):
		return "", end, fmt.Errorf("the JVM server printed nothing within %v", replStartLimit)
	}
}

// ready waits until the server answers a message. That its port is open says nothing: docker's proxy opens it at once.
func (s *replServer) ready(limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		err := s.ping()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (s *replServer) ping() error {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(s.Host, strconv.Itoa(s.Port)), time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("d2:op8:describee")); err != nil {
		return err
	}
	var answer [1]byte
	if _, err := conn.Read(answer[:]); err != nil {
		return err
	}
	if answer[0] != 'd' {
		return errors.New("the port is open, but what answers is no nREPL server")
	}
	return nil
}
