package settings

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
)

// A Scope says for whom a settings file counts.
type Scope string

// The scopes that the host merges. Values are stable and shown to people.
const (
	Local   Scope = "local"   // .claude/settings.local.json: this checkout, this person
	Project Scope = "project" // .claude/settings.json: committed, everybody
	User    Scope = "user"    // ~/.claude/settings.json: this person, everywhere
)

// A File is one settings file that the host may read. It need not exist.
type File struct {
	Scope Scope  `json:"scope"`
	Path  string `json:"path"`
}

// PathIn returns the file of a scope below dir, the project's folder or,
// for User, the home folder.
func (s Scope) PathIn(dir string) string {
	if s == Local {
		return filepath.Join(dir, ".claude", "settings.local.json")
	}
	return filepath.Join(dir, ".claude", "settings.json")
}

// Files lists the settings files that the host merges when it is started in
// dir. The local file is also looked for at the root of the git repository,
// the project file is not (observed; spec/host-protocol.md "Settings").
// An empty home leaves the user's file out. No path is listed twice.
func Files(dir, home string) []File {
	files := []File{{Local, Local.PathIn(dir)}}
	if root, ok := GitRoot(dir); ok && root != filepath.Clean(dir) {
		files = append(files, File{Local, Local.PathIn(root)})
	}
	files = append(files, File{Project, Project.PathIn(dir)})
	if home != "" && filepath.Clean(home) != filepath.Clean(dir) {
		files = append(files, File{User, User.PathIn(home)})
	}
	return files
}

// GitRoot walks up from dir to the work tree that holds it, without running
// git. A work tree has a .git folder with a HEAD, or, for linked worktrees
// and submodules, a .git file that begins with "gitdir:". A relative dir is
// walked as written. It reports false outside of any work tree.
func GitRoot(dir string) (root string, ok bool) {
	for dir = filepath.Clean(dir); ; {
		if isGit(filepath.Join(dir, ".git")) {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

func isGit(path string) bool {
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
