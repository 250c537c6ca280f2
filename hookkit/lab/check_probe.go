package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/fakes"
)

// checkMarker is a variable in the environment of a hook under check. Its children inherit it, so that they can be found again.
const checkMarker = "HOOKKIT_CHECK"

// probe is a run of the hook that is watched and ended here. Its output is dropped.
type probe struct {
	cmd   *exec.Cmd
	stdin *os.File
	ended chan struct{}
}

// startProbe starts the hook, sends it the event and leaves stdin open.
func startProbe(spec fakes.Spec, event string) (*probe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(spec.Path, spec.Args...) //nolint:noctx // it is ended by the caller, gently first
	cmd.Dir, cmd.Env, cmd.Stdin = spec.Dir, spec.Env, r
	ownGroup(cmd)
	err = cmd.Start()
	_ = r.Close() // the child has its own
	if err != nil {
		_ = w.Close() // nobody reads it
		return nil, err
	}
	p := &probe{cmd: cmd, stdin: w, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is not asked here
		close(p.ended)
	}()
	go func() { _, _ = w.WriteString(event) }() // not reading its input is a hook's right
	return p, nil
}

// wait reports whether the hook ended in time.
func (p *probe) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		return false
	}
}

// end kills what is left.
func (p *probe) end() {
	p.kill()
	<-p.ended
	_ = p.stdin.Close() // nobody reads it
}

// leftoverGrace is how long a child may take to end after the hook.
const leftoverGrace = 300 * time.Millisecond

// leftovers names the processes that the ended hook has left behind.
func (p *probe) leftovers(marker string) []string {
	deadline := time.Now().Add(leftoverGrace)
	for {
		names := p.living(marker)
		if len(names) == 0 || time.Now().After(deadline) {
			return names
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (p *probe) living(marker string) []string {
	if runtime.GOOS != "linux" {
		if p.groupAlive() {
			return []string{"a process of the hook's group"}
		}
		return nil
	}
	var names []string
	for _, pid := range marked(marker) {
		name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
		if err == nil {
			names = append(names, strings.TrimSpace(string(name))+" (pid "+strconv.Itoa(pid)+")")
		}
	}
	return names
}

// marked returns the processes whose marker starts so, where the system tells the environment of a process.
func marked(marker string) []int {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well formed
	var pids []int
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+checkMarker+"="+marker)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// newMarker returns the beginning of markers that no other program has.
func newMarker() string { return fmt.Sprintf("%d.%x.", os.Getpid(), time.Now().UnixNano()) }

// endWith ends what carries the marker as soon as ctx ends, and goes on with it: the hook that is ended may not be the last to start.
// stop ends what is left then.
func endWith(ctx context.Context, marker string) (stop func()) {
	const often = 20 * time.Millisecond
	finished, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-finished:
			return
		case <-ctx.Done():
		}
		ticker := time.NewTicker(often)
		defer ticker.Stop()
		for {
			killMarked(marker)
			select {
			case <-finished:
				return
			case <-ticker.C:
			}
		}
	}()
	return func() {
		close(finished)
		<-done
		if ctx.Err() != nil {
			killMarked(marker)
		}
	}
}

// killMarked ends what hooks under this check have left, wherever it is.
func killMarked(marker string) {
	for _, pid := range marked(marker) {
		killProcess(pid)
	}
}
