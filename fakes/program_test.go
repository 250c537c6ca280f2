//go:build unix

package fakes_test

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// Pins "text file busy": a program can be started right after it was written while others are started, and rewritten after it ended.
func TestProgramsStartWhileOthersDo(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	stop := make(chan struct{})
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = exec.Command("/bin/sh", "-c", ":").Run() // a fork is all that is wanted
				}
			}
		})
	}
	defer others.Wait()
	defer close(stop)
	path := filepath.Join(t.TempDir(), "program")
	p := fakes.NewProject(t, map[string]string{"bin/tool": ""}, fakes.WithFile("bin/tool", "", 0o755))
	for range 150 {
		assert.NilError(t, fakes.WriteProgram(path, "#!/bin/sh\n:\n"))
		assert.NilError(t, exec.Command(path).Run())
		p.Write("bin/tool", "#!/bin/sh\n:\n")
		assert.NilError(t, exec.Command(p.Path("bin/tool")).Run())
	}
}
