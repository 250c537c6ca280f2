package gauntlet

import (
	"context"
	"errors"
	"os"
	"regexp"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestLock(t *testing.T) {
	t.Parallel()
	dir := stateDir(t.TempDir())
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	lock, _, err := tryLock(dir, "r1", now)
	assert.NilError(t, err)
	assert.Assert(t, lock != nil)
	other, holder, err := tryLock(dir, "r2", now)
	assert.NilError(t, err)
	assert.Assert(t, other == nil)
	assert.Assert(t, regexp.MustCompile(`\Apid \d+, host \S+, started 2026-03-01T12:00:00Z, run r1\z`).MatchString(holder), holder)
	assert.Equal(t, runOfHolder(holder), "r1")

	waiting, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err = waitUnlocked(waiting, dir, "r2")
	assert.Assert(t, errors.Is(err, context.DeadlineExceeded), "%v", err)

	lock.release()
	other, err = waitUnlocked(t.Context(), dir, "r2")
	assert.NilError(t, err)
	other.release()

	// Text that a dead holder left holds nobody.
	assert.NilError(t, os.WriteFile(dir.path(lockName), []byte("pid 1\nhost x\n"), 0o600))
	lock, _, err = tryLock(dir, "r3", now)
	assert.NilError(t, err)
	assert.Assert(t, lock != nil)
	lock.release()
}
