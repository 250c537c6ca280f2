package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// WriteOptions say how [WriteFile] replaces a file. The zero value is right for a
// file of our own in the private folder.
type WriteOptions struct {
	// Mode is for a file that is not there yet, less the umask; 0 is 0600. A file
	// that is there keeps its mode, user and group.
	Mode fs.FileMode
	// Sync brings the file to the disk before it replaces the old one: for users'
	// files (about 6 ms). Bringing the folder's change there too is tried; that it
	// fails is no error, since the file is complete either way.
	Sync bool
	// State is for files in a folder open to everyone: a symbolic link, a file of
	// another user or anything but a regular file is not replaced but refused.
	// Without it a symbolic link stays, and the file it names is replaced.
	State bool
	// Expect, when not nil, is the content that was read before. If the file has
	// another content by now, or is gone, the error is ErrChanged. On Linux, where
	// the file system can exchange two files, what comes out is compared again, so
	// that no other file put in its place is lost; elsewhere one that comes in the
	// few microseconds between comparing and renaming is. A program that writes
	// into the old file in place can lose what it writes in these microseconds.
	Expect []byte
	// Absent: no file was there before. If one is there by now, the error is
	// ErrChanged. This leaves no gap where the file system knows hard links.
	Absent bool
}

// WriteFile replaces the content of a file whole: a reader, and whoever comes
// after a crash, finds the old content or the new one. It writes a new file
// beside the old one and renames it. On every error the old file is as it was and
// the new one is gone. A process that is killed can leave the new file behind,
// .NAME.PID-N.tmp; the next Sync write of the same file removes it, and so does
// [RemoveStrays], and in the state folder [Sweep].
//
// Because it is a new file, other hard links to the old one keep the old
// content, and access lists and extended attributes are not carried over.
// A file without write permission for its owner is refused (ErrReadOnly), and so
// is one whose user and group we may not keep (ErrOwner).
func WriteFile(path string, data []byte, opts WriteOptions) error {
	return writeFile(osFiles{}, path, data, opts)
}

// files are the steps at which writing can fail.
type files interface {
	create(path string, mode fs.FileMode) (file, error)
	rename(from, to string) error
	exchange(a, b string) error
	link(from, to string) error
	remove(path string) error
	syncDir(path string) error
}

type file interface {
	io.Writer
	Stat() (fs.FileInfo, error)
	Chown(uid, gid int) error
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
}

// counter makes the names of new files unique in this process.
var counter atomic.Uint64

func writeFile(sys files, path string, data []byte, opts WriteOptions) error {
	old, path, err := target(path, opts)
	if err != nil {
		return err
	}
	f, temp, err := createTemp(sys, path, old, opts)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	info, err := fill(f, path, old, data, opts)
	if err == nil {
		err = replace(sys, temp, path, opts)
	}
	if err != nil {
		_ = sys.remove(temp) // the first error is the one to tell
		if _, ok := errors.AsType[*RefusedError](err); ok {
			return err
		}
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	if opts.Sync {
		_ = sys.syncDir(filepath.Dir(path)) // see WriteOptions.Sync
		removeStrays(sys, path, info.ModTime())
	}
	return nil
}

// RemoveStrays deletes what killed writers of a file left beside it: new files of
// ours whose process is gone, or that are older than a minute. Symbolic links are
// followed as [WriteFile] does. What cannot be removed is not worth an error.
func RemoveStrays(path string) {
	if _, target, err := follow(path); err == nil {
		removeStrays(osFiles{}, target, time.Now())
	}
}

// target looks at what is to be replaced. It returns nil for a file that is not
// there, and the path with a symbolic link resolved.
func target(path string, opts WriteOptions) (info fs.FileInfo, resolved string, err error) {
	resolved = path
	if !opts.State {
		info, resolved, err = follow(path)
	} else if info, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		info, err = nil, nil
	}
	if _, refused := errors.AsType[*RefusedError](err); err != nil && !refused {
		return nil, "", fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err != nil || info == nil {
		return nil, resolved, err
	}
	return info, resolved, replaceable(resolved, info, opts)
}

// follow finds the file that a path leads to through symbolic links; info is nil
// when it is not there.
func follow(path string) (info fs.FileInfo, target string, err error) {
	name := path
	for range 40 { // as many as Linux follows
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, path, nil
		}
		if err != nil {
			return nil, "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return info, path, nil
		}
		link, err := os.Readlink(path)
		if err != nil {
			return nil, "", err
		}
		if !filepath.IsAbs(link) {
			link = filepath.Dir(path) + string(filepath.Separator) + link // no Join: ".." goes up from where a link leads
		}
		path = link
	}
	return nil, "", &RefusedError{Path: name, Reason: ErrSymlink, Detail: "too many, one after the other"}
}

// replaceable returns a *RefusedError when a file is not to be replaced.
func replaceable(path string, info fs.FileInfo, opts WriteOptions) error {
	ownerOK := func(fs.FileInfo) bool { return true } // createTemp keeps it or fails
	if opts.State {
		ownerOK = ownedByUs
	}
	if err := refuse(path, info, ownerOK); err != nil {
		return err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return &RefusedError{Path: path, Reason: ErrReadOnly, Detail: fmt.Sprintf("mode %04o", info.Mode().Perm()), Hint: "make it writable first: chmod u+w " + path}
	}
	return nil
}

// createTemp creates the new file in the folder of the old one.
func createTemp(sys files, path string, old fs.FileInfo, opts WriteOptions) (file, string, error) {
	mode := fs.FileMode(0o600)
	if old == nil && opts.Mode != 0 {
		mode = opts.Mode.Perm()
	}
	dir, base := filepath.Split(path)
	if len(base) > maxTempBase {
		base = base[:maxTempBase]
	}
	// In an open folder somebody may have taken the name; a few of them at most.
	for tries := 0; ; tries++ {
		temp := dir + tempPrefix(base) + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(counter.Add(1), 10) + tempSuffix
		f, err := sys.create(temp, mode)
		if errors.Is(err, fs.ErrExist) && tries < 100 {
			continue
		}
		return f, temp, err
	}
}

// maxTempBase keeps the name of the new file below 255 bytes.
const maxTempBase = 200

// tempPrefix begins the names of new files for one file. The dot hides them.
func tempPrefix(base string) string { return "." + base + "." }

// fill gives the new file its owner, content and mode, in this order: nothing is
// written to a file that cannot be used, and nobody reads it before it is whole.
func fill(f file, path string, old fs.FileInfo, data []byte, opts WriteOptions) (info fs.FileInfo, err error) {
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	info, err = f.Stat()
	if err != nil {
		return nil, err
	}
	if old != nil {
		uid, gid := owner(old)
		if newUID, newGID := owner(info); uid != newUID || gid != newGID {
			if err = f.Chown(uid, gid); err != nil {
				return nil, &RefusedError{Path: path, Reason: ErrOwner, Detail: fmt.Sprintf("user id %d, group id %d cannot be kept: %v", uid, gid, err), Hint: "write it as its owner"}
			}
		}
	}
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return nil, err
	}
	if old != nil {
		if err = f.Chmod(old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)); err != nil {
			return nil, err
		}
	}
	if opts.Sync {
		err = f.Sync()
	}
	return info, err
}

// replace puts the new file in the place of the old one, if that is still what
// the caller has seen.
func replace(sys files, temp, path string, opts WriteOptions) error {
	changed := &RefusedError{Path: path, Reason: ErrChanged, Hint: "nothing was written; try again"}
	if opts.Absent {
		err := sys.link(temp, path)
		switch {
		case err == nil:
			_ = sys.remove(temp) // a second name for the new file: harmless
			return nil
		case errors.Is(err, fs.ErrExist):
			return changed
		}
		if _, err = os.Lstat(path); !errors.Is(err, fs.ErrNotExist) { // no hard links here
			return changed
		}
	}
	if opts.Expect != nil {
		same, err := hasContent(path, opts.Expect)
		if err != nil {
			return err
		}
		if !same {
			return changed
		}
		switch err = swap(sys, temp, path, opts.Expect); {
		case err == nil:
			return nil
		case errors.Is(err, errSwapped), errors.Is(err, fs.ErrNotExist):
			return changed
		} // two files cannot be exchanged here
	}
	return sys.rename(temp, path)
}

var errSwapped = errors.New("something else was in its place")

// swap exchanges the new file with the old one and looks at what has come out.
// When that is not what was expected, it goes back, and the error is errSwapped.
// Files are told apart by their inodes, so those in question are held open: a
// number that is free again is given to the next file.
func swap(sys files, temp, path string, expect []byte) error {
	var held closers
	defer held.close()
	in, err := held.hold(temp)
	if err != nil {
		return err
	}
	if err = sys.exchange(temp, path); err != nil {
		return err
	}
	if same, err := hasContent(temp, expect); err == nil && same {
		_ = sys.remove(temp) // the old file; else it is a stray
		return nil
	}
	// Going back, what comes out must be what went in before. If it is not, somebody
	// has replaced that in turn, and theirs is the newest: once more.
	for {
		back, err := held.hold(temp)
		if err == nil {
			err = sys.exchange(temp, path)
		}
		if err != nil {
			return errors.Join(errSwapped, sys.rename(temp, path)) // at least this one
		}
		if out, err := os.Lstat(temp); err != nil || os.SameFile(out, in) {
			return errSwapped
		}
		in = back
	}
}

// closers are open files that are only held.
type closers []*os.File

func (c *closers) hold(path string) (fs.FileInfo, error) {
	f, err := openHandle(path)
	if err != nil {
		return nil, err
	}
	*c = append(*c, f)
	return f.Stat()
}

func (c *closers) close() {
	for _, f := range *c {
		_ = f.Close() // nothing was written
	}
}

// hasContent compares a file with what it is expected to hold.
func hasContent(path string, want []byte) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	got, err := io.ReadAll(io.LimitReader(f, int64(len(want))+1))
	return bytes.Equal(got, want), err
}

// strayAge is how old a new file is that nobody can still be writing.
const strayAge = time.Minute

// removeStrays deletes what killed processes left beside path.
func removeStrays(sys files, path string, now time.Time) {
	dir, base := filepath.Split(path)
	if len(base) > maxTempBase {
		base = base[:maxTempBase]
	}
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return
	}
	for _, entry := range entries {
		rest, ok := strings.CutPrefix(entry.Name(), tempPrefix(base))
		if !ok || !strings.HasSuffix(rest, tempSuffix) || !entry.Type().IsRegular() {
			continue
		}
		number, _, _ := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(number)
		if err != nil || pid <= 0 {
			continue
		}
		info, err := entry.Info()
		if err == nil && ownedByUs(info) && (processGone(pid) || now.Sub(info.ModTime()) > strayAge) {
			_ = sys.remove(filepath.Join(dir, entry.Name())) // the next write tries again
		}
	}
}

// osFiles are the real files.
type osFiles struct{}

func (osFiles) create(path string, mode fs.FileMode) (file, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osFiles) rename(from, to string) error { return os.Rename(from, to) }
func (osFiles) exchange(a, b string) error   { return exchange(a, b) }
func (osFiles) link(from, to string) error   { return os.Link(from, to) }
func (osFiles) remove(path string) error     { return os.Remove(path) }

func (osFiles) syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // opened for reading
	return dir.Sync()
}
