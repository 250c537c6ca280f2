package stop

import (
	"context"
	"errors"
	"fmt"
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
	session *session.Session // nil: remember nothing
	env     func(string) string
	now     time.Time
	warn    func(string) // a line for stderr; called once for each different line
}

// load reads what is remembered. What cannot be believed or read counts as empty.
func (s *store) load() *memory {
	m := newMemory()
	if s.session == nil {
		return m
	}
	if path, err := s.countsPath(); err == nil {
		s.read(path, m.readCounts)
	}
	if dir, err := s.session.Find(); err == nil {
		s.read(filepath.Join(dir, detailsName), m.readDetails)
	}
	return m
}

func (s *store) read(path string, parse func([]byte) error) {
	text, err := session.ReadOwned(path, maxStateBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		s.warn(fmt.Sprintf("the state of this session cannot be read and counts as empty: %v", err))
		return
	}
	if err = parse(text); err != nil {
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
	s.warn(fmt.Sprintf("%v; counting goes on in %s", refused, dir))
	return filepath.Join(dir, filepath.Base(path)), nil
}

// update changes what is remembered, under the session's lock, from what the files say at that moment.
// The counts file is deleted when nothing is left to count.
func (s *store) update(ctx context.Context, change func(*memory)) error {
	if s.session == nil {
		change(newMemory())
		return nil
	}
	dir, err := s.folder()
	if err != nil {
		return err
	}
	// The run's own deadline may have passed already; what was learned must be kept all the same.
	unlock, err := s.session.Lock(context.WithoutCancel(ctx), session.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	m := s.load()
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
	return s.session.Dir()
}

// keep writes a file into the private folder and returns its path, "" if there is no such folder or
// no way to write: a log that is missing must not change a verdict.
func (s *store) keep(name string, data []byte) string {
	if s.session == nil {
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
