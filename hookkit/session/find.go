package session

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Find returns the session's private folder if it is there, without making it. The error is fs.ErrNotExist
// when it is missing, or a *RefusedError as with [Session.Dir].
func (s *Session) Find() (string, error) {
	root, err := s.root()
	if err != nil {
		return "", err
	}
	parent := filepath.Join(root, privateName())
	dir := filepath.Join(parent, s.name)
	for _, d := range []string{parent, dir} {
		if err := privateDir(d, false, s.elsewhere); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return "", fs.ErrNotExist
			}
			return "", err
		}
	}
	return dir, nil
}
