//go:build unix

package nrepl

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// Fault 34: a FIFO under the name of the port file does not hang the search.
func TestPortFileIsFIFO(t *testing.T) {
	l := lookup(t, "-")
	assert.NilError(t, syscall.Mkfifo(filepath.Join(l.Dir, ".nrepl-port"), 0o600))
	targets, problems := l.Targets()
	assert.Equal(t, len(targets), 0)
	assert.ErrorContains(t, problems[0], ".nrepl-port: is not a regular file")
}

func TestPortFileUnreadable(t *testing.T) {
	l := lookup(t, "7888")
	path := filepath.Join(l.Dir, ".nrepl-port")
	assert.NilError(t, os.Remove(path))
	assert.NilError(t, os.Symlink(path, path))
	_, problems := l.Targets()
	assert.ErrorContains(t, problems[0], ".nrepl-port: too many levels of symbolic links")
}
