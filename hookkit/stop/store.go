package stop

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hookkit/brepl/hookkit/session"
)

const (
	maxStateBytes = 1 << 20
	detailsName   = "stop.edn"
)

// store keeps one session's memory in files: the counts where the specification puts them, everything
// else in the session's private folder. Without a session (somebody at a terminal) it remembers nothing.
type store struct {
	id      string           // the session's, as commands see it
	session *session.Session // nil: remember nothing
	env     func(string) string
	now     time.Time
	warn    func(string) // a line for stderr; called once for each different line

	end     time.Time // when the host ends us; zero: it does not
	gaveUp  bool      // the lock could not be had once; it is not waited for again
	entered bool      // the private folder was there for us
}

// load reads what is remembered. What cannot be believed or read counts as empty.
func (s *store) load() *memory { return s.read(false) }

// read is load; with locked, under the session's lock, what does not parse is set aside.
func (s *store) read(locked bool) *memory {
	m := newMemory()
	if s.session == nil {
		return m
	}
	if path, err := s.countsPath(); err == nil {
		s.readFile(path, locked, m.readCounts)
	}
	if dir, err := s.session.Find(); err == nil {
		s.readFile(filepath.Join(dir, detailsName), locked, m.readDetails)
	}
	return m
}

func (s *store) readFile(path string, locked bool, parse func([]byte) error) {
	text, err := session.ReadOwned(path, maxStateBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		s.warn(fmt.Sprintf("the state of this session cannot be read and counts as empty: %v", err))
		return
	}
	if err = parse(text); err != nil && locked {
		where, asideErr := session.SetAside(path)
		if asideErr != nil {
			where = "left in place: " + asideErr.Error()
		}
		s.warn(fmt.Sprintf("%s does not parse (%v); it counts as empty and is now %s", path, err, where))
	}
}

// countsPath is the documented file, or one in the private folder where the documented one
// is not ours to use: a symbolic link, or another user's.
func (s *store) countsPath() (string, error) {
	path, err := s.session.StatePath()
	if err != nil {
		return "", err
	}
	var refused *session.RefusedError
	if _, err = session.ReadOwned(path, maxStateBytes); !errors.As(err, &refused) {
		return path, nil
	}
	dir, err := s.session.Dir()
	if err != nil {
		return "", err
	}
	s.warnOnce(dir, fmt.Sprintf("%v; counting goes on in %s", refused, dir))
	return filepath.Join(dir, filepath.Base(path)), nil
}

// warnOnce says a line once in a session. A mark in the session's folder remembers it.
func (s *store) warnOnce(dir, line string) {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(line)) // a hash takes everything
	mark := session.WriteFile(filepath.Join(dir, fmt.Sprintf("said-%016x", sum.Sum64())), nil, session.WriteOptions{State: true, Absent: true})
	if !errors.Is(mark, session.ErrChanged) {
		s.warn(line)
	}
}

// update changes what is remembered, under the session's lock, from what the files say at that moment.
// The counts file is deleted when nothing is left to count.
func (s *store) update(ctx context.Context, change func(*memory)) error {
	if s.session == nil {
		change(newMemory())
		return nil
	}
	if s.ended() {
		change(newMemory()) // nobody will read it
		return nil
	}
	dir, err := s.folder()
	if err != nil {
		return err
	}
	// Our own deadline may have passed already; what was learned must be kept all the same.
	unlock, err := s.session.Lock(context.WithoutCancel(ctx), s.patience())
	if err != nil {
		s.gaveUp = true
		return err
	}
	defer unlock()
	m := s.read(true)
	change(m)
	path, err := s.countsPath()
	if err != nil {
		return err
	}
	if len(m.counts) == 0 {
		err = session.RemoveOwned(path)
	} else {
		err = session.WriteFile(path, []byte(m.countsText()), session.WriteOptions{State: true})
	}
	if err != nil {
		return err
	}
	return session.WriteFile(filepath.Join(dir, detailsName), []byte(m.detailsText()), session.WriteOptions{State: true})
}

// patience is how long the lock may be waited for: a verdict must be given before the host ends us.
func (s *store) patience() time.Duration {
	const least = time.Millisecond
	switch {
	case s.gaveUp:
		return least
	case s.end.IsZero():
		return session.LockWait
	}
	return max(least, min(session.LockWait, time.Until(s.end)-500*time.Millisecond))
}

// ended reports whether the session came to its end while we ran: its folder was there and is gone.
// What we would write now, nothing would remove.
func (s *store) ended() bool {
	if !s.entered {
		return false
	}
	_, err := s.session.Find()
	return errors.Is(err, fs.ErrNotExist)
}

// counted reports whether there is a file of counts.
func (s *store) counted() bool {
	if s.session == nil {
		return false
	}
	path, err := s.session.StatePath()
	if err != nil {
		return false
	}
	_, err = os.Lstat(path)
	return err == nil
}

// folder is the session's private folder. The first use in a session sweeps what others left behind.
func (s *store) folder() (string, error) {
	if _, err := s.session.Find(); errors.Is(err, fs.ErrNotExist) {
		session.Sweep(s.env, s.now, session.SweepAge)
	}
	dir, err := s.session.Dir()
	s.entered = s.entered || err == nil
	return dir, err
}

// scratch is keep for a file of this process alone. It is written in place: nobody looks before the path is told,
// and a rename costs a tenth of the whole hook.
func (s *store) scratch(name string, data []byte) string {
	if s.session == nil {
		return ""
	}
	dir, err := s.folder()
	if err != nil {
		s.warn(err.Error())
		return ""
	}
	path := filepath.Join(dir, name)
	_ = os.Remove(path) // of a process that had our number before
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		_ = os.Remove(path) // half of an event is none
		s.warn(err.Error())
		return ""
	}
	return path
}

// keep writes a file into the private folder and returns its path, "" if there is no such folder or
// no way to write: a log that is missing must not change a verdict.
func (s *store) keep(name string, data []byte) string {
	if s.session == nil || s.ended() {
		return ""
	}
	dir, err := s.folder()
	if err != nil {
		s.warn(err.Error())
		return ""
	}
	path := filepath.Join(dir, name)
	if err := session.WriteFile(path, data, session.WriteOptions{State: true}); err != nil {
		s.warn(err.Error())
		return ""
	}
	return path
}
