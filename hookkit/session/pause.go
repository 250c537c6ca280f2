package session

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// Pause lets the stops of a session pass for a while. It is a small file in the private folder: the time of its end, and who began it if
// that was the agent. A project has one too: it belongs to the session of its ProjectID.
type Pause struct {
	Until   time.Time // zero: it has no end of its own
	ByAgent bool      // begun in the agent's shell
}

const (
	untilResumed  = "until resumed"
	byAgent       = "by the agent"
	maxPauseBytes = 100
)

// Pause starts a pause. name is the file's: each program has its own.
func (s *Session) Pause(name string, p Pause) error {
	dir, err := s.Dir()
	if err != nil {
		return err
	}
	text := untilResumed + "\n"
	if !p.Until.IsZero() {
		text = p.Until.UTC().Format(time.RFC3339) + "\n"
	}
	if p.ByAgent {
		text += byAgent + "\n"
	}
	return WriteFile(filepath.Join(dir, name), []byte(text), WriteOptions{State: true})
}

// Paused gives the pause that there is at the time now. What cannot be read is no pause: the gate stays up.
func (s *Session) Paused(name string, now time.Time) (p Pause, paused bool) {
	dir, err := s.Find()
	if err != nil {
		return p, false
	}
	text, err := ReadOwned(filepath.Join(dir, name), maxPauseBytes)
	if err != nil {
		return p, false
	}
	end, who, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	p.ByAgent = who == byAgent
	if end == untilResumed {
		return p, true
	}
	p.Until, err = time.Parse(time.RFC3339, end)
	return p, err == nil && now.Before(p.Until)
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
