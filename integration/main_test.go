package integration

import (
	"os"
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
	os.Exit(runAndStopServers(m))
}

// atEnd is called after the last test, for what is shared by all of them.
var atEnd []func()

func runAndStopServers(m *testing.M) int {
	defer func() {
		for _, stop := range atEnd {
			stop()
		}
	}()
	return m.Run()
}

// skipOrFail ends a test whose surroundings are missing: a failure in CI, where everything must run, else a skip.
func skipOrFail(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("missing in CI: "+format, args...)
	}
	t.Skipf("SKIPPED: "+format, args...)
}
