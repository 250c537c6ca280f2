package session

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// A pause lets the stops of a session pass for a while. It is a small file in the private folder, with the time of its end in it. A
// project has one too: it belongs to the session of its ProjectID.

const (
	untilResumed  = "until resumed"
	maxPauseBytes = 100
)

// Pause starts a pause; a zero until has no end of its own. name is the file's: each program has its own pause.
func (s *Session) Pause(name string, until time.Time) error {
	dir, err := s.Dir()
	if err != nil {
		return err
	}
	text := untilResumed + "\n"
	if !until.IsZero() {
		text = until.UTC().Format(time.RFC3339) + "\n"
	}
	return WriteFile(filepath.Join(dir, name), []byte(text), WriteOptions{State: true})
}

// Paused reports whether there is a pause at the time now, and its end if it has one. What cannot be read is no
// pause: the gate stays up.
func (s *Session) Paused(name string, now time.Time) (until time.Time, paused bool) {
	dir, err := s.Find()
	if err != nil {
		return until, false
	}
	text, err := ReadOwned(filepath.Join(dir, name), maxPauseBytes)
	if err != nil {
		return until, false
	}
	word := strings.TrimSpace(string(text))
	if word == untilResumed {
		return until, true
	}
	until, err = time.Parse(time.RFC3339, word)
	return until, err == nil && now.Before(until)
}

// EndPause removes a pause and reports whether there was one.
func (s *Session) EndPause(name string) (bool, error) {
	dir, err := s.Find()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	path := filepath.Join(dir, name)
	if _, err := ReadOwned(path, maxPauseBytes); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return true, RemoveOwned(path)
}
