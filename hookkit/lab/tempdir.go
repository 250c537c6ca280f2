package lab

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sweepAge is how old a folder must be at the least: a process that cannot be seen from here may still use a newer one.
const sweepAge = 24 * time.Hour

// makeTempDir makes a scratch folder in parent ("" is the system's) and removes those of the same kind that a killed process has left.
func makeTempDir(parent, kind string) (string, error) {
	prefix := "hookkit-" + kind + "-"
	if parent == "" {
		parent = os.TempDir()
	}
	sweep(parent, prefix, time.Now().Add(-sweepAge))
	return os.MkdirTemp(parent, prefix+strconv.Itoa(os.Getpid())+"-")
}

// sweep removes folders whose process is gone and that nobody has changed since a time. What cannot be removed is somebody else's.
func sweep(parent, prefix string, since time.Time) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		rest, ok := strings.CutPrefix(entry.Name(), prefix)
		number, _, numbered := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(number)
		if !ok || !numbered || err != nil || pid < 1 || !entry.IsDir() || processAlive(pid) {
			continue
		}
		if info, err := entry.Info(); err == nil && info.ModTime().Before(since) {
			_ = os.RemoveAll(filepath.Join(parent, entry.Name()))
		}
	}
}
