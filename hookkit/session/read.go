package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadOwned reads a file from a folder that others can write to. Only a regular
// file of at most limit bytes that belongs to us or to root is read; everything
// else is a *RefusedError. Symbolic links are not followed, and a FIFO does not
// make it wait. A missing file is fs.ErrNotExist.
func ReadOwned(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|safeOpen, 0)
	if err != nil {
		if isLinkError(err) {
			return nil, &RefusedError{Path: path, Reason: ErrSymlink, Hint: "remove it"}
		}
		// A socket cannot be opened, nor can a file that others keep from us.
		if info, statErr := os.Lstat(path); statErr == nil {
			if refused := refuse(path, info, believed); refused != nil {
				return nil, refused
			}
		}
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err = refuse(path, info, believed); err != nil {
		return nil, err
	}
	tooLarge := &RefusedError{Path: path, Reason: ErrTooLarge, Detail: fmt.Sprintf("over %d bytes", limit), Hint: "remove it"}
	if info.Size() > limit {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, tooLarge // it grew
	}
	return data, nil
}

// RemoveOwned deletes a regular file of ours. A missing file is fine; anything
// else under this name stays and is a *RefusedError.
func RemoveOwned(path string) error {
	err := checkOwned(path)
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// SetAside renames a regular file of ours that cannot be read to path.bad, where
// it replaces an older one, and returns that name.
func SetAside(path string) (string, error) {
	bad := path + badSuffix
	if err := checkOwned(path); err != nil {
		return "", err
	}
	if err := checkOwned(bad); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return bad, os.Rename(path, bad)
}

// checkOwned looks at what is under a name without following links.
func checkOwned(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return refuse(path, info, ownedByUs)
}

// refuse returns a *RefusedError unless info is a regular file whose owner is ok.
func refuse(path string, info fs.FileInfo, ownerOK func(fs.FileInfo) bool) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return &RefusedError{Path: path, Reason: ErrSymlink, Hint: "remove it"}
	case !info.Mode().IsRegular():
		return &RefusedError{Path: path, Reason: ErrNotRegular, Detail: info.Mode().Type().String(), Hint: "remove it"}
	case !ownerOK(info):
		return &RefusedError{Path: path, Reason: ErrOwner, Detail: ownerText(info), Hint: "ask for its removal, or set BREPL_STATE_DIR to a folder of your own"}
	}
	return nil
}
