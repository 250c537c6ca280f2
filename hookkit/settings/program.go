package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit/proc"
)

// word is how a settings file of a scope calls a program: plain in files that others share and where the PATH leads to this very
// binary; else by absolute path, because a hook's PATH is the agent's. Warnings are lines for people.
func (e Env) word(program string, scope Scope) (word string, warnings []string, err error) {
	found, err := proc.LookPath(program, []string{"PATH=" + e.Getenv("PATH")})
	if err != nil {
		found = "" // what is there but cannot be run is not found by the agent either
	}
	if scope == Project {
		if found == "" {
			warnings = append(warnings, program+" is not on your PATH, and the project's settings call it by that name: the hooks will not run until it is")
		}
		return program, warnings, nil
	}
	if found != "" && sameFile(found, e.Executable) {
		return program, nil, nil
	}
	switch name := strings.TrimSuffix(filepath.Base(e.Executable), ".exe"); {
	case !filepath.IsAbs(e.Executable):
		return "", nil, errors.New("cannot tell where this program is; put it on the PATH as " + program + " and try again")
	case name != program:
		return "", nil, fmt.Errorf("this program is called %q; name it %s, or its hooks could not be found again", name, program)
	case !utf8.ValidString(e.Executable):
		return "", nil, fmt.Errorf("the path %q is not UTF-8 and cannot be written to JSON; put the program on the PATH", e.Executable)
	}
	if strings.Contains(e.Executable, "go-build") {
		warnings = append(warnings, e.Executable+" was built by go run and will be removed: the hooks stop working then")
	}
	if found != "" {
		warnings = append(warnings, fmt.Sprintf("%s on your PATH is another file (%s): the hooks call this one, %s", program, found, e.Executable))
	}
	return ShellQuote(e.Executable), warnings, nil
}

func sameFile(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}

// StateDir is the folder for what uninstalling a program must remember: $XDG_STATE_HOME/program, else ~/.local/state/program; "" if
// neither is known.
func StateDir(program string, getenv func(string) string) string {
	state := getenv("XDG_STATE_HOME")
	if home := Home(getenv); !filepath.IsAbs(state) && home != "" {
		state = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(state) {
		return ""
	}
	return filepath.Join(state, program)
}

// Home is the folder of the user's own files; "" if the environment does not say it.
func Home(getenv func(string) string) string {
	if home := getenv("HOME"); home != "" {
		return home
	}
	return getenv("USERPROFILE") // windows
}
