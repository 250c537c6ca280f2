package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/proc"
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

// NewEnv makes an Env from the environment's variables. The state folder is
// $XDG_STATE_HOME/brepl, else ~/.local/state/brepl.
func NewEnv(dir, executable string, getenv func(string) string) Env {
	home := getenv("HOME")
	if home == "" {
		home = getenv("USERPROFILE") // windows
	}
	state := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) && home != "" {
		state = filepath.Join(home, ".local", "state")
	}
	if filepath.IsAbs(state) {
		state = filepath.Join(state, Program)
	} else {
		state = ""
	}
	return Env{Dir: dir, Home: home, StateDir: state, Executable: executable, Path: getenv("PATH")}
}

// project finds the folder to work in: the root of the git work tree, else Dir.
// A work tree that is the home folder (dotfiles kept in git) is not taken for
// the project of a folder in it.
func (e Env) project() (root string, notes []string, err error) {
	if !filepath.IsAbs(e.Dir) {
		return "", nil, errors.New("the current directory is not known; change to your project and try again")
	}
	root = filepath.Clean(e.Dir)
	git, ok := settings.GitRoot(root)
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

// program is how the settings call brepl: plain in files that others share and
// where the PATH leads to this very binary; else by absolute path, because a
// hook's PATH is the agent's.
func (e Env) program(scope settings.Scope) (word string, warnings []string, err error) {
	found, err := proc.LookPath(Program, []string{"PATH=" + e.Path})
	if err != nil {
		found = "" // what is there but cannot be run is not found by the agent either
	}
	if scope == settings.Project {
		if found == "" {
			warnings = append(warnings, Program+" is not on your PATH, and the project's settings call it by that name: the hooks will not run until it is")
		}
		return Program, warnings, nil
	}
	if found != "" && sameFile(found, e.Executable) {
		return Program, nil, nil
	}
	switch name := strings.TrimSuffix(filepath.Base(e.Executable), ".exe"); {
	case !filepath.IsAbs(e.Executable):
		return "", nil, errors.New("cannot tell where this program is; put it on the PATH as " + Program + " and try again")
	case name != Program:
		return "", nil, fmt.Errorf("this program is called %q; name it %s, or its hooks could not be found again", name, Program)
	case !utf8.ValidString(e.Executable):
		return "", nil, fmt.Errorf("the path %q is not UTF-8 and cannot be written to JSON; put the program on the PATH", e.Executable)
	}
	if strings.Contains(e.Executable, "go-build") {
		warnings = append(warnings, e.Executable+" was built by go run and will be removed: the hooks stop working then")
	}
	if found != "" {
		warnings = append(warnings, fmt.Sprintf("%s on your PATH is another file (%s): the hooks call this one, %s", Program, found, e.Executable))
	}
	return settings.ShellQuote(e.Executable), warnings, nil
}

func sameFile(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}
