package stop

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/session"
)

const pauseName = "pause"

// A pause lets stops pass for a while. It belongs to a session, or, when somebody sets it outside of any,
// to a project. It is a file in the private folder of the one or the other, with the time of its end in it.

// projectPause is the session under which a project's pause is kept.
func projectPause(env func(string) string, dir string) (*session.Session, error) {
	if dir == "" {
		return nil, errNoDirectory // it would be a pause for every project
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved // the agent and its user may have come by different paths
	}
	return session.Open(env, session.ProjectID("project", dir))
}

// setPause starts a pause; a zero until has no end of its own.
func setPause(s *session.Session, until time.Time) error {
	dir, err := s.Dir()
	if err != nil {
		return err
	}
	text := "until resumed\n"
	if !until.IsZero() {
		text = until.UTC().Format(time.RFC3339) + "\n"
	}
	return session.WriteFile(filepath.Join(dir, pauseName), []byte(text), session.WriteOptions{State: true})
}

// pauseOf reports whether there is a pause at the time now, and its end if it has one. What cannot
// be read is no pause: the gate stays up.
func pauseOf(s *session.Session, now time.Time) (until time.Time, paused bool) {
	dir, err := s.Find()
	if err != nil {
		return until, false
	}
	text, err := session.ReadOwned(filepath.Join(dir, pauseName), 100)
	if err != nil {
		return until, false
	}
	word := strings.TrimSpace(string(text))
	if word == "until resumed" {
		return until, true
	}
	until, err = time.Parse(time.RFC3339, word)
	return until, err == nil && now.Before(until)
}

// endPause removes a pause and reports whether there was one.
func endPause(s *session.Session) (bool, error) {
	dir, err := s.Find()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	path := filepath.Join(dir, pauseName)
	if _, err := session.ReadOwned(path, 100); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return true, session.RemoveOwned(path)
}

// pauseLine tells the user of a stop that passed because of a pause.
func pauseLine(until, now time.Time) string {
	if until.IsZero() {
		return "brepl: stop hooks are paused; `brepl hook resume` ends this"
	}
	return fmt.Sprintf("brepl: stop hooks are paused until %s; `brepl hook resume` ends this", clock(until, now))
}

// clock is a time for people: with the date unless it comes within a day.
func clock(t, now time.Time) string {
	if t.Sub(now) < 24*time.Hour {
		return t.Local().Format("15:04")
	}
	return t.Local().Format("2 January 15:04")
}
