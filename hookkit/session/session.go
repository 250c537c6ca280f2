package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	filePrefix = "brepl-stop-hook-" // of retry counts, directly in the state folder
	fileSuffix = ".edn"
	badSuffix  = ".bad" // set aside because it did not parse
	tempSuffix = ".tmp" // being written
	lockName   = "lock"
)

// Session is the place of one session's state. Its methods may be called at the
// same time.
type Session struct {
	id   string
	name string
	root func() (string, error) // the state folder
	// elsewhere is what a person can do about a state folder that is not used,
	// beside removing what is in the way.
	elsewhere string
}

const setStateDir = ", or set BREPL_STATE_DIR to a folder of your own"

// Open says where a session's state is. It makes no system calls: nothing is
// looked at before something is read or written. env is the environment. The
// error is a BREPL_STATE_DIR that is no absolute path.
func Open(env func(string) string, id string) (*Session, error) {
	if dir := env("BREPL_STATE_DIR"); dir != "" && !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("BREPL_STATE_DIR=%q: give an absolute path, or unset it", dir)
	}
	return &Session{
		id:   id,
		name: SafeName(id),
		root: sync.OnceValues(func() (string, error) { return stateDir(env) }),

		elsewhere: setStateDir,
	}, nil
}

// OpenIn is Open with a state folder that does not depend on BREPL_STATE_DIR. It
// is made when something is written. The error is a folder that is no absolute path.
func OpenIn(dir, id string) (*Session, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("state folder %q: give an absolute path", dir)
	}
	return &Session{
		id:   id,
		name: SafeName(id),
		root: sync.OnceValues(func() (string, error) { return makeDir(dir) }),
	}, nil
}

// ID is the id the session was opened with.
func (s *Session) ID() string { return s.id }

// StatePath is the file of retry counts, brepl-stop-hook-{id}.edn in the state
// folder. It is in a folder open to everyone: read it with [ReadOwned], replace
// it with [WriteFile] and State set, delete it with [RemoveOwned], put it away
// with [SetAside]. The file is not looked at here.
func (s *Session) StatePath() (string, error) {
	root, err := s.root()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, filePrefix+s.name+fileSuffix), nil
}

// Dir returns the session's private folder and makes it when it is not there.
// A folder that somebody else could have prepared or can look into is not used:
// the error is a *RefusedError that says what to do. The folder may be removed
// by another process at any time; ask again for each use.
func (s *Session) Dir() (string, error) {
	root, err := s.root()
	if err != nil {
		return "", err
	}
	parent := filepath.Join(root, privateName())
	dir := filepath.Join(parent, s.name)
	if err = privateDir(parent, true, s.elsewhere); err != nil {
		return "", err
	}
	// The end of the session may remove it between making it and looking at it.
	for range 50 {
		if err = privateDir(dir, true, s.elsewhere); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	return dir, nil
}

// Remove deletes the session's files and its private folder. Files of others
// under these names stay; that is reported. Hold the lock while removing if other
// processes of the session may still run; unlocking afterwards is fine.
func (s *Session) Remove() error {
	path, err := s.StatePath()
	if err != nil {
		return err
	}
	errs := []error{RemoveOwned(path), RemoveOwned(path + badSuffix)}
	parent := filepath.Join(filepath.Dir(path), privateName())
	dir := filepath.Join(parent, s.name)
	if err = privateDir(parent, false, s.elsewhere); err == nil {
		err = privateDir(dir, false, s.elsewhere)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		errs = append(errs, err)
	default:
		errs = append(errs, removeAll(dir))
	}
	return errors.Join(errs...)
}

// removeAll deletes a folder into which another process may still write.
func removeAll(dir string) error {
	var err error
	for range 5 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return fmt.Errorf("cannot remove the session's folder: %w", err)
}

// stateDir finds the state folder, and makes BREPL_STATE_DIR when it is missing.
func stateDir(env func(string) string) (string, error) {
	if dir := env("BREPL_STATE_DIR"); dir != "" {
		made, err := makeDir(dir)
		if err != nil {
			return "", fmt.Errorf("BREPL_STATE_DIR: %w", err)
		}
		return made, nil
	}
	if info, err := os.Stat("/tmp"); err == nil && info.IsDir() && filepath.IsAbs("/tmp") {
		return "/tmp", nil
	}
	for _, name := range tempVars {
		if dir := env(name); filepath.IsAbs(dir) {
			return filepath.Clean(dir), nil
		}
	}
	return "", fmt.Errorf("no folder for state: there is no /tmp, and none of %s is set; set BREPL_STATE_DIR to a folder of your own",
		strings.Join(tempVars, ", "))
}

func makeDir(dir string) (string, error) {
	return filepath.Clean(dir), os.MkdirAll(dir, 0o700)
}

// privateDir checks that a folder is ours alone, after making it if asked to. The
// error is fs.ErrNotExist when it is missing, or a *RefusedError. elsewhere ends
// its hint.
func privateDir(path string, create bool, elsewhere string) error {
	info, err := os.Lstat(path)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("cannot make the folder for state: %w", err)
		}
		info, err = os.Lstat(path)
	}
	if err != nil {
		return fmt.Errorf("cannot use the folder for state: %w", err)
	}
	refused := func(reason error, detail, hint string) error {
		return &RefusedError{Path: path, Reason: reason, Detail: detail, Hint: hint}
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return refused(ErrSymlink, "", "remove it"+elsewhere)
	case !info.IsDir():
		return refused(ErrNotFolder, "", "remove it"+elsewhere)
	case !ownedByUs(info):
		return refused(ErrOwner, ownerText(info), "ask for its removal"+elsewhere)
	case exposed(info):
		return refused(ErrExposed, fmt.Sprintf("mode %04o", info.Mode().Perm()), "look at what is in it, then run: chmod 700 "+path)
	}
	return nil
}
