//go:build unix

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
)

// built builds one of the programs once and returns its path. Its folder holds nothing else and can stand on a PATH.
func built(t *testing.T, name string) string {
	t.Helper()
	build, _ := programs.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp("", name+"-") //nolint:usetesting // it serves all tests and outlives the first
		if err != nil {
			return "", err
		}
		atEnd(func() { _ = os.RemoveAll(dir) })
		path := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, "../cmd/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("cannot build cmd/%s: %w\n%s", name, err, out)
		}
		return path, nil
	}))
	path, err := build.(func() (string, error))()
	assert.NilError(t, err)
	return path
}

var programs sync.Map // name to what builds it
