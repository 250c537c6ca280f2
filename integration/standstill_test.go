//go:build unix

package integration

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestEventAfterAStandstill: while a machine stands still, no time counts in which the event should have come.
func TestEventAfterAStandstill(t *testing.T) {
	fullRun(t)
	t.Parallel()
	w := newWorld(t, "")
	cmd := exec.CommandContext(t.Context(), brepl(t), "hook", "stop")
	cmd.Dir, cmd.Env = w.dir, w.environment()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	stdin, err := cmd.StdinPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	event := w.stopEvent()
	_, err = stdin.Write([]byte(event[:len(event)/2]))
	assert.NilError(t, err)
	time.Sleep(time.Second / 2) // until it has begun to read
	assert.NilError(t, cmd.Process.Signal(syscall.SIGSTOP))
	time.Sleep(6 * time.Second) // longer than it waits for an event
	assert.NilError(t, cmd.Process.Signal(syscall.SIGCONT))
	time.Sleep(time.Second / 5)
	_, err = stdin.Write([]byte(event[len(event)/2:]))
	assert.NilError(t, err)
	assert.NilError(t, cmd.Wait(), "%s", said.String())
	assert.Equal(t, said.String(), "{\"decision\":\"approve\"}\n")
}
