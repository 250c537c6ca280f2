package settings

import (
	"path/filepath"

	"github.com/hookkit/brepl/hookkit/project"
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
	if root, ok := project.GitRoot(dir); ok && root != filepath.Clean(dir) {
		files = append(files, File{Local, Local.PathIn(root)})
	}
	files = append(files, File{Project, Project.PathIn(dir)})
	if home != "" && filepath.Clean(home) != filepath.Clean(dir) {
		files = append(files, File{User, User.PathIn(home)})
	}
	return files
}
