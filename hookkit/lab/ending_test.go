//go:build linux

package lab

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestInterruptLeavesNothing pins that simulate and replay end on TERM, that the hooks that run are ended, children that ignore TERM and
// left the group included, and that no scratch folder stays.
func TestInterruptLeavesNothing(t *testing.T) {
	t.Parallel()
	hook := `trap "" TERM; setsid sleep 4217 & touch "$OUT/started"; sleep 4217; sleep 4217`
	var tp tape
	tp.call("s1", "Stop", hook, "", 0, "", "")
	for name, files := range map[string]map[string]string{
		"replay": {"r.jsonl": strings.Join(tp.lines, "")},
		"simulate": {"r.txtar": "stop\n-- .claude/settings.json --\n" +
			`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":` + strconv.Quote(hook) + `}]}]}}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeFiles(t, files)
			file := "r.jsonl"
			if name == "simulate" {
				file = "r.txtar"
			}
			temp := t.TempDir()
			cmd := exec.CommandContext(t.Context(), hookkitBinary(t), name, file)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + temp, "OUT=" + dir}
			assert.NilError(t, cmd.Start())
			for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
				if started, _ := filepath.Glob(filepath.Join(dir, "started")); len(started) > 0 {
					break
				}
				assert.Assert(t, time.Now().Before(deadline), "the hook did not start")
			}
			time.Sleep(100 * time.Millisecond) // it is in its sleep now, most of the time
			assert.NilError(t, cmd.Process.Signal(syscall.SIGTERM))
			var exit *exec.ExitError
			assert.Assert(t, errors.As(cmd.Wait(), &exit))
			assert.Equal(t, exit.ExitCode(), 1)
			left, err := filepath.Glob(filepath.Join(temp, "*"))
			assert.NilError(t, err)
			assert.Equal(t, len(left), 0, "%q", left)
			assert.Equal(t, len(marked(strconv.Itoa(cmd.Process.Pid)+".")), 0, "a process of the hook is left")
		})
	}
}
