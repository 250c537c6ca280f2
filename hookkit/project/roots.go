package project

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// BuildFiles mark the root of a Clojure project.
var BuildFiles = [...]string{"deps.edn", "project.clj", "shadow-cljs.edn", "bb.edn"}

// ErrNoDirectory is what a person is told where the current directory was deleted or cannot be entered.
var ErrNoDirectory = errors.New("the current directory is not known; change to your project and try again")

// Root returns the root of the Clojure project that dir belongs to: the nearest folder upwards with one of [BuildFiles], and without one
// the root of the git work tree. Nothing above the root of a work tree is looked at. It is false where nothing marks a project. dir need
// not exist.
func Root(dir string) (root string, ok bool) {
	return upwards(dir, func(at string) bool {
		return slices.ContainsFunc(BuildFiles[:], func(name string) bool {
			info, err := os.Stat(filepath.Join(at, name))
			return err == nil && info.Mode().IsRegular()
		}) || isWorkTree(at)
	})
}

// GitRoot returns the root of the git work tree that holds dir, without running git. A work tree has a .git folder with a HEAD, or, for
// linked worktrees and submodules, a .git file that begins with "gitdir:". A relative dir is walked as written. It is false outside of
// any work tree.
func GitRoot(dir string) (root string, ok bool) { return upwards(dir, isWorkTree) }

// RootWith returns the nearest folder upwards from dir in which [Exists] finds a file, name being its path with slashes. Nothing above
// the root of the git work tree is looked at, and outside of any only dir. It is false where there is no such file.
func RootWith(dir, name string) (root string, ok bool) {
	if dir == "" {
		return "", false
	}
	has := func(at string) bool { return Exists(filepath.Join(at, filepath.FromSlash(name))) }
	top, inGit := GitRoot(dir)
	if !inGit {
		dir = filepath.Clean(dir)
		return dir, has(dir)
	}
	root, ok = upwards(dir, func(at string) bool { return at == top || has(at) })
	return root, ok && has(root)
}

// upwards returns the nearest folder from dir on that is one.
func upwards(dir string, is func(at string) bool) (string, bool) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if is(at) {
			return at, true
		}
		if filepath.Dir(at) == at {
			return "", false
		}
	}
}

// isWorkTree reports whether git takes a folder for the root of a work tree.
func isWorkTree(dir string) bool {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return false
	case info.IsDir():
		_, err := os.Lstat(filepath.Join(path, "HEAD"))
		return err == nil
	case info.Mode().IsRegular():
		f, err := os.Open(path)
		if err != nil {
			return false
		}
		defer func() { _ = f.Close() }() // only read
		head := make([]byte, len("gitdir:"))
		_, err = io.ReadFull(f, head)
		return err == nil && bytes.Equal(head, []byte("gitdir:"))
	default:
		return false
	}
}

// Exists reports whether there is something under a path. It is also true for what cannot be looked at, such as a link to itself or a file
// in a folder of somebody else: that must become an error when it is read, and not a gate that is missing.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// Contains reports whether a file lies in one of the folders, by its name or with symbolic links followed.
func Contains(folders []string, file string) bool {
	if slices.ContainsFunc(folders, func(dir string) bool { return within(dir, file) }) {
		return true
	}
	file = Physical(file)
	return slices.ContainsFunc(folders, func(dir string) bool { return within(Physical(dir), file) })
}

// Physical is a path with symbolic links followed, or the path itself where it cannot be followed.
func Physical(path string) string {
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		return followed
	}
	return path
}

func within(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}
