package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/settings"
)

// Env is the part of the world that install looks at. No other folder is
// touched than Dir's project and StateDir.
type Env struct {
	Dir        string // where the person stands; absolute
	Home       string // "" if not known
	StateDir   string // where uninstall's memory is kept; "" for none
	Executable string // the running binary; absolute
	Path       string // the value of PATH
}

// NewEnv makes an Env from the environment's variables.
func NewEnv(dir, executable string, getenv func(string) string) Env {
	return Env{Dir: dir, Home: settings.Home(getenv), StateDir: settings.StateDir(Program, getenv), Executable: executable, Path: getenv("PATH")}
}

// project finds the folder to work in: the root of the git work tree, else Dir.
// A work tree that is the home folder (dotfiles kept in git) is not taken for
// the project of a folder in it.
func (e Env) project() (root string, notes []string, err error) {
	if !filepath.IsAbs(e.Dir) {
		return "", nil, errors.New("the current directory is not known; change to your project and try again")
	}
	root = filepath.Clean(e.Dir)
	git, ok := project.GitRoot(root)
	switch {
	case !ok || git == root:
	case e.isHome(git):
		notes = append(notes, fmt.Sprintf("%s is a git work tree, but it is the home folder; the project is taken to be %s", git, root))
	default:
		notes = append(notes, "the project is the git work tree "+git)
		root = git
	}
	return root, notes, nil
}

// refuse says why a folder is no place to install in. The root of the file
// system is none. In the home folder the project's settings are the user's, which count
// everywhere; the local ones are allowed, with a word about what they are good for.
func (e Env) refuse(root string, scope settings.Scope) (note string, err error) {
	switch {
	case filepath.Dir(root) == root:
		return "", fmt.Errorf("%s is no project; change to your project and try again", root)
	case !e.isHome(root):
		return "", nil
	case scope == settings.Project:
		return "", fmt.Errorf("%s counts for every project of yours, not for one; change to your project and try again", scope.PathIn(root))
	default:
		return "this is the home folder: the hooks run only when the agent is started right here", nil
	}
}

func (e Env) isHome(dir string) bool {
	if e.Home == "" {
		return false
	}
	home, err := os.Stat(e.Home)
	if err != nil {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && os.SameFile(home, info)
}

// program is how the settings of a scope call brepl.
func (e Env) program(scope settings.Scope) (word string, warnings []string, err error) {
	return settings.Program{Name: Program, Executable: e.Executable, Path: e.Path}.Word(scope)
}
