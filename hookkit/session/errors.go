package session

import (
	"errors"
	"fmt"
)

// Why a file or folder is not used. [errors.Is] finds them in the errors of this
// package.
var (
	ErrSymlink    = errors.New("it is a symbolic link")
	ErrNotRegular = errors.New("it is not a regular file")
	ErrNotFolder  = errors.New("it is not a folder")
	ErrOwner      = errors.New("it belongs to another user")
	ErrExposed    = errors.New("other users can access it")
	ErrTooLarge   = errors.New("it is too large")
	ErrReadOnly   = errors.New("it is read-only")
	ErrChanged    = errors.New("it was changed by someone else in the meantime")
	ErrLocked     = errors.New("another process holds the lock")
)

// RefusedError names a file or folder that is there but is not used, so that a
// caller can tell its user once what was not believed, and go on without it.
type RefusedError struct {
	Path   string
	Reason error  // one of the errors above
	Detail string // facts, such as the owner; may be ""
	Hint   string // what the user can do; may be ""
}

// Error is one line: path, reason, and what to do.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("%s is not used: %v", e.Path, e.Reason)
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap gives the reason.
func (e *RefusedError) Unwrap() error { return e.Reason }
