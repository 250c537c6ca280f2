package session

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// SweepAge is how old leftovers of ended sessions get.
const SweepAge = 7 * 24 * time.Hour

const (
	sweepLimit = 200                   // leftovers removed in one sweep
	sweepTime  = 20 * time.Millisecond // and the time it may take
)

// Sweep removes what sessions left in the state folder when nothing told us that
// they ended: private folders, and files of counts, of which nothing has been
// changed for longer than olderThan before now. It removes only what belongs to
// us, follows no symbolic link, leaves a session whose lock is held, and stops
// after 200 removals or 20 ms; the next sweep goes on. It returns how many it
// removed. What it cannot remove is not worth an error.
func Sweep(env func(string) string, now time.Time, olderThan time.Duration) int {
	root, err := stateDir(env)
	if err != nil {
		return 0
	}
	s := sweeper{before: now.Add(-olderThan), end: time.Now().Add(sweepTime)}
	parent := filepath.Join(root, privateName())
	if privateDir(parent, false, "") == nil {
		s.sweep(parent, true, func(string) bool { return true })
	}
	s.sweep(root, false, isStateFile)
	return s.removed
}

// isStateFile recognises the files of counts and what becomes of them.
func isStateFile(name string) bool {
	temp := strings.HasPrefix(name, "."+filePrefix) && strings.HasSuffix(name, tempSuffix) // see tempPrefix
	return temp || strings.HasPrefix(name, filePrefix) && (strings.HasSuffix(name, fileSuffix) || strings.HasSuffix(name, badSuffix))
}

type sweeper struct {
	before  time.Time
	end     time.Time
	removed int
}

func (s *sweeper) over() bool {
	return s.removed >= sweepLimit || !time.Now().Before(s.end)
}

// sweep goes through one folder. If it is not private, as the state folder, which
// is everybody's, only regular files are removed.
func (s *sweeper) sweep(folder string, private bool, candidate func(name string) bool) {
	dir, err := os.Open(folder)
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }() // opened for reading
	for !s.over() {
		names, err := dir.Readdirnames(256)
		for _, name := range names {
			if s.over() {
				return
			}
			if candidate(name) && s.remove(filepath.Join(folder, name), private) {
				s.removed++
			}
		}
		if err != nil || len(names) == 0 {
			return // io.EOF, or nothing more to be had
		}
	}
}

func (s *sweeper) remove(path string, private bool) bool {
	info, err := os.Lstat(path)
	switch {
	case err != nil || !ownedByUs(info) || !info.ModTime().Before(s.before):
		return false
	case info.Mode().IsRegular():
		return os.Remove(path) == nil
	case info.IsDir() && private:
		return s.removeFolder(path)
	}
	return false
}

// removeFolder removes a session's folder unless it is in use. Writing into a
// file in place does not change the folder's time, so the files are looked at.
func (s *sweeper) removeFolder(path string) bool {
	dir, err := os.Open(path)
	if err != nil {
		return false
	}
	entries, err := dir.ReadDir(100)
	_ = dir.Close() // opened for reading
	if err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	for _, entry := range entries {
		info, infoErr := entry.Info()
		if infoErr != nil || !info.ModTime().Before(s.before) {
			return false
		}
	}
	lock := flock.New(filepath.Join(path, lockName), flock.SetFlag(os.O_RDWR))
	ok, err := lock.TryLock()
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !ok {
		return false
	}
	defer func() { _ = lock.Unlock() }() // of a file that is gone
	return os.RemoveAll(path) == nil
}
