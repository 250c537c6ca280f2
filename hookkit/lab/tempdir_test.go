//go:build unix

package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestSweep pins that only old folders of our name, whose process is gone, are removed.
func TestSweep(t *testing.T) {
	gone := exec.CommandContext(t.Context(), "true")
	assert.NilError(t, gone.Run())
	dir, old := t.TempDir(), time.Now().Add(-48*time.Hour)
	pid := strconv.Itoa(gone.Process.Pid)
	for name, stays := range map[string]bool{
		"hookkit-check-" + pid + "-1": false, "hookkit-check-" + pid + "-new": true, "hookkit-replay-" + pid + "-1": true,
		"hookkit-check-" + strconv.Itoa(os.Getpid()) + "-1": true, "hookkit-check-x-1": true, "hookkit-check-" + pid: true,
	} {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Join(path, "sub"), 0o700))
		if name != "hookkit-check-"+pid+"-new" {
			assert.NilError(t, os.Chtimes(path, old, old))
		}
		sweep(dir, "hookkit-check-", time.Now().Add(-sweepAge))
		_, err := os.Stat(path)
		assert.Equal(t, err == nil, stays, name)
	}
}
