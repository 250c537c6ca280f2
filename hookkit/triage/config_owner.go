package triage

import (
	"encoding/json"
	"io/fs"
	"os"
	osuser "os/user"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/hookkit/brepl/hookkit/project"
)

// Whose a file of settings is.

// isUsers says whether a file was read as the user's already. In the home folder the user's file stands where a project's would; it is the
// user's, and is read once.
func (l *configLoader) isUsers(source configSource) bool {
	info, err := os.Stat(source.path)
	if err != nil {
		return false // told by who reads it
	}
	if slices.ContainsFunc(l.users, func(u fs.FileInfo) bool { return os.SameFile(u, info) }) {
		return true
	}
	if source.user {
		l.users = append(l.users, info)
	}
	return false
}

// usersOnly are the settings that count only in the user's own file.
var usersOnly = []string{"llm_endpoint", "llm_model"}

// dropProjects takes what only the user may say out of the settings of a user's file that lies in the project's folder: a variable that the
// project sets, XDG_CONFIG_HOME or HOME, can make any of its files the user's. Links are followed only for these settings.
func (l *configLoader) dropProjects(path string, given map[string]json.RawMessage) {
	for _, name := range usersOnly {
		if value, ok := given[name]; ok && string(value) != "null" && l.fromProject(path) {
			l.say(path, name+" counts only in the user's own settings, and this file lies in the project's folder")
			delete(given, name)
		}
	}
}

// fromProject says whether a file lies in the project's folder, or in the git work tree around it. Where the user's home itself lies there,
// the home's files are the user's all the same.
func (l *configLoader) fromProject(path string) bool {
	if !filepath.IsAbs(l.project) {
		return false
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true // nobody knows where it is
	}
	dir, err := filepath.EvalSymlinks(l.project)
	if err != nil {
		return false // there is no such folder
	}
	folders := []string{dir}
	if root, ok := project.GitRoot(dir); ok {
		folders = append(folders, root)
	}
	return slices.ContainsFunc(folders, func(folder string) bool { return within(path, folder) && !l.homeWithin(folder, path) })
}

// homeWithin says whether the user's home lies in a folder, and a path in that home.
func (l *configLoader) homeWithin(folder, path string) bool {
	home, err := filepath.EvalSymlinks(l.home())
	return err == nil && filepath.IsAbs(home) && within(home, folder) && within(path, home)
}

// within says whether a path without links is a folder or lies in it, also where the folder has a second name.
func within(path, folder string) bool {
	of, err := os.Stat(folder)
	if err != nil {
		return false
	}
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, of) {
			return true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
}

// homeOfUser is the home folder in the machine's list of users, "" where it does not say. HOME is a variable that a project can set.
func homeOfUser() string {
	u, err := osuser.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		return ""
	}
	return u.HomeDir
}
