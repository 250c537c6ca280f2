package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// LockWait is how long [Session.Lock] waits when it is given 0.
const LockWait = 5 * time.Second

// Lock takes the session's lock and returns the function that gives it back. It
// excludes goroutines as well as processes. The kernel frees it when its holder
// ends, however that happens. After wait (0: LockWait) the error is ErrLocked;
// when ctx ends first, it is the reason of ctx.
func (s *Session) Lock(ctx context.Context, wait time.Duration) (unlock func(), err error) {
	if wait <= 0 {
		wait = LockWait
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 10*time.Millisecond) {
		unlock, err = s.tryLock()
		if unlock != nil || err != nil {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the lock of session %.100q: %w", s.id, context.Cause(ctx))
		case <-timer.C:
			return nil, fmt.Errorf("session %.100q: %w, for %v now; try again when it has finished", s.id, ErrLocked, wait)
		case <-time.After(pause):
		}
	}
}

// tryLock returns nil, nil when somebody else has the lock, and when what was
// locked is no longer the lock: the end of a session removes the file, and a lock
// on a removed file excludes nobody.
func (s *Session) tryLock() (func(), error) {
	dir, err := s.Dir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, lockName)
	// A symbolic link would be followed, and then never be what was locked.
	if err = checkOwned(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // the folder was removed just now: try again
	case err != nil:
		return nil, fmt.Errorf("cannot lock the session: %w", err)
	case !ok:
		return nil, nil //nolint:nilnil // held
	}
	unlock := func() { _ = lock.Unlock() } // closing the file frees it in any case
	locked, err := lock.Stat()
	if err == nil {
		var now fs.FileInfo
		if now, err = os.Lstat(path); err == nil && os.SameFile(locked, now) {
			return unlock, nil
		}
	}
	unlock()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot lock the session: %w", err)
	}
	return nil, nil //nolint:nilnil // removed or replaced: try again
}
