package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// What can keep a command from starting. A [*StartError] matches exactly one of
// them with [errors.Is], or none when the system gave another reason.
var (
	// ErrNoDir: the directory to run in is missing or not a directory.
	ErrNoDir = errors.New("no such directory")
	// ErrNotFound: there is no such program, or its interpreter is missing.
	ErrNotFound = errors.New("program not found")
	// ErrPermission: the program may not be executed, or the directory not entered.
	ErrPermission = errors.New("permission denied")
	// ErrTooBig: arguments and environment together are over the system's limit.
	ErrTooBig = errors.New("arguments and environment are too big")
	// ErrInvalid: an argument or variable cannot be given to a program at all.
	ErrInvalid = errors.New("invalid argument or variable")
	// ErrNoShell: neither bash nor sh is on the PATH.
	ErrNoShell = errors.New("no shell")
)

// StartError says why a command did not start.
type StartError struct {
	Program string // first word of the command, as given
	Dir     string // directory to run in, as given
	Kind    error  // one of the errors above, or nil
	Err     error  // the system's reason
}

// Error names the command and the reason.
func (e *StartError) Error() string {
	switch e.Kind {
	case ErrNoDir: //nolint:errorlint // Kind is one of the sentinels itself
		return fmt.Sprintf("cannot run %s: directory %s: %v", e.Program, e.Dir, e.Err)
	case nil:
		return fmt.Sprintf("cannot run %s: %v", e.Program, e.Err)
	}
	return fmt.Sprintf("cannot run %s: %v: %v", e.Program, e.Kind, e.Err)
}

// Unwrap gives the kind and the system's reason.
func (e *StartError) Unwrap() []error {
	if e.Kind == nil {
		return []error{e.Err}
	}
	return []error{e.Kind, e.Err}
}

// startError sorts the error of a failed start. The system reports a missing
// directory and a missing program with the same code, so the directory is
// looked at again.
func startError(c Command, err error) *StartError {
	e := &StartError{Program: c.Argv[0], Dir: c.Dir, Err: reason(err)}
	if c.Dir != "" {
		info, statErr := os.Stat(c.Dir)
		switch {
		case errors.Is(statErr, fs.ErrPermission):
			e.Kind, e.Err = ErrPermission, statErr
			return e
		case statErr != nil:
			e.Kind, e.Err = ErrNoDir, reason(statErr)
			return e
		case !info.IsDir():
			e.Kind, e.Err = ErrNoDir, errors.New("not a directory")
			return e
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Kind = ErrNotFound
	case errors.Is(err, fs.ErrPermission):
		e.Kind = ErrPermission
	case isTooBig(err):
		e.Kind = ErrTooBig
	}
	return e
}

// reason strips the path and operation that [StartError] states itself.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
