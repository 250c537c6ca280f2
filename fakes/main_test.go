package fakes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hookkit/brepl/fakes"
)

// childVariable makes the test binary one of the small hooks of children.
const childVariable = "FAKES_TEST_CHILD"

func TestMain(m *testing.M) {
	fakes.ToolMain()
	if name := os.Getenv(childVariable); name != "" {
		os.Exit(child(name))
	}
	os.Exit(m.Run())
}

// childSpec runs the test binary as the child with this name.
func childSpec(t fakes.T, name string) fakes.Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("no path of the test binary: %v", err)
	}
	return fakes.Spec{
		Path: self,
		// A child under the race detector would sleep for a second at its exit.
		Env: append(fakes.WithoutHostEnv(os.Environ()), childVariable+"="+name, "GORACE=atexit_sleep_ms=0"),
	}
}

// child is what the test binary does when it plays a hook.
func child(name string) int {
	switch name {
	case "decode": // one JSON value, without waiting for EOF
		var event struct {
			SessionID string `json:"session_id"`
		}
		r := io.Reader(os.Stdin)
		first := make([]byte, 3)
		if n, _ := io.ReadFull(r, first); string(first[:n]) != "\ufeff" {
			r = io.MultiReader(&readOnce{data: first[:n]}, r)
		}
		if err := json.NewDecoder(r).Decode(&event); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("session", event.SessionID)
		return 2
	case "copy": // as many bytes as the argument says, then whether more can come
		n, _ := strconv.Atoi(os.Args[1])
		data := make([]byte, n)
		if n, err := io.ReadFull(os.Stdin, data); err != nil {
			fmt.Fprintln(os.Stderr, n, err)
			return 1
		}
		fmt.Printf("%s", data)
		more := make(chan string, 1)
		go func() {
			_, err := os.Stdin.Read(make([]byte, 1))
			more <- fmt.Sprint(err)
		}()
		select {
		case err := <-more:
			fmt.Fprint(os.Stderr, err)
		case <-time.After(500 * time.Millisecond):
			fmt.Fprint(os.Stderr, "open")
		}
		return 0
	case "deaf": // does not read at all
		return 0
	case "hang":
		time.Sleep(time.Minute)
		return 0
	case "open stdin":
		f, err := os.Open("/dev/stdin")
		if err == nil {
			_ = f.Close()
		}
		fmt.Print(err != nil)
		return 0
	case "megabyte":
		n, err := os.Stdout.Write(make([]byte, 1<<20))
		fmt.Fprint(os.Stderr, n, " ", err != nil)
		return 0
	case "leave child": // a grandchild holds the streams
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"=hang")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Print("left")
		return 0
	case "kill itself":
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		fmt.Fprintln(os.Stderr, err)
		time.Sleep(time.Minute)
		return 1
	}
	fmt.Fprintln(os.Stderr, "no such child:", name)
	return 1
}

// readOnce is a reader of some bytes.
type readOnce struct{ data []byte }

func (r *readOnce) Read(p []byte) (int, error) {
	n := copy(p, r.data)
	r.data = r.data[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// recorder is a T that keeps what a fake reports, so that its strictness can
// be tested.
type recorder struct {
	dir string

	mu       sync.Mutex
	errors   []string
	cleanups []func()
}

var _ fakes.T = (*recorder)(nil)

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{dir: t.TempDir()}
	t.Cleanup(func() { r.finish() })
	return r
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf("fatal: "+format, args...)
	runtime.Goexit()
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) TempDir() string { return r.dir }

// finish ends the recorded test and returns what it reported.
func (r *recorder) finish() []string {
	for len(r.cleanups) > 0 {
		last := len(r.cleanups) - 1
		f := r.cleanups[last]
		r.cleanups = r.cleanups[:last]
		f()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.errors)
}

// during runs f, which may end in Fatalf.
func during(f func()) {
	var wg sync.WaitGroup
	wg.Go(f)
	wg.Wait()
}

func testdata(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
