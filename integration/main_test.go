package integration

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/hookkit/brepl/fakes"
)

func TestMain(m *testing.M) {
	fakes.ToolMain()
	if len(os.Args) > 1 && os.Args[1] == parrotCommand {
		os.Exit(parrot())
	}
	if len(os.Args) > 1 && os.Args[1] == neighboursCommand {
		os.Exit(neighbours(os.Args[2:]))
	}
	if code, known := clientCommands(os.Args); known {
		os.Exit(code)
	}
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given { // most of the time a test waits for programs that it started
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	os.Exit(runAndStopServers(m))
}

// last is what shared things need after the last test.
var last struct {
	sync.Mutex
	calls []func()
}

// atEnd calls f after the last test.
func atEnd(f func()) {
	last.Lock()
	defer last.Unlock()
	last.calls = append(last.calls, f)
}

func runAndStopServers(m *testing.M) int {
	defer func() {
		for _, stop := range last.calls {
			stop()
		}
	}()
	return m.Run()
}

// fullRun leaves a test to the full run: load, endurance, huge inputs, waits of seconds, real servers, stories told
// again, and the long tables: a broken world, what the client does, recorded sessions.
func fullRun(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
}

// skipOrFail ends a test whose surroundings are missing: a failure in CI, where everything must run, else a skip.
func skipOrFail(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("missing in CI: "+format, args...)
	}
	t.Skipf("SKIPPED: "+format, args...)
}
