package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// lockMessage is matched by others, letter by letter.
const lockMessage = "A gauntlet run is already in progress"

// runLock is the lock around a run: the kernel's, so that it ends with its holder, however that ends. What the file says is for people.
type runLock struct {
	flock *flock.Flock
	path  string
}

// tryLock takes the lock of log_dir. lock is nil when somebody else holds it; holder is what they wrote.
func tryLock(dir stateDir, runID string, now time.Time) (lock *runLock, holder string, err error) {
	path := dir.path(lockName)
	if info, missing := os.Lstat(path); missing == nil && !info.Mode().IsRegular() {
		_ = os.Remove(path) // a link would have us write where it leads
	}
	f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err != nil {
		return nil, "", fmt.Errorf("cannot lock %s: %w", path, err)
	}
	if !ok {
		return nil, holderOf(path), nil
	}
	locked, err := f.Stat()
	if err == nil {
		var now os.FileInfo
		if now, err = os.Lstat(path); err == nil && !os.SameFile(locked, now) {
			err = errors.New("it was replaced just now")
		}
	}
	if err != nil {
		// Somebody removed log_dir at this moment; a lock on a removed file excludes nobody.
		_ = f.Unlock()
		return nil, "", fmt.Errorf("cannot lock %s: %w", path, err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	text := fmt.Sprintf("pid %d\nhost %s\nstarted %s\nrun %s\n", os.Getpid(), host, now.Format(time.RFC3339), runID)
	_ = os.WriteFile(path, []byte(text), 0o600) // in place: the lock is on this file; without the text it holds all the same
	return &runLock{flock: f, path: path}, "", nil
}

// release gives the lock back. The file stays, without text: removing it would let two hold it.
func (l *runLock) release() {
	_ = os.Truncate(l.path, 0)
	_ = l.flock.Unlock()
}

// holderOf is what the lock's holder wrote, on one line: "pid 12, host x, started …, run …".
func holderOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return ""
	}
	return strings.Join(strings.Split(strings.TrimSpace(string(text)), "\n"), ", ")
}

// waitUnlocked waits until nobody holds the lock, and returns it taken. The error is that of ctx.
func waitUnlocked(ctx context.Context, dir stateDir, runID string) (*runLock, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		lock, _, err := tryLock(dir, runID, time.Now())
		if lock != nil || err != nil {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// runOfHolder is the id of the run that a holder's text names.
func runOfHolder(holder string) string {
	_, id, _ := strings.Cut(holder, "run ")
	return id
}

// logFile is where a job's log is, in the folder of its run.
func logFile(runDir string, job *Job) string { return filepath.Join(runDir, job.fileName()+".log") }
