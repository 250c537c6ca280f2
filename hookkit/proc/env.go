package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/text"
)

// Var is one variable to set.
type Var struct{ Name, Value string }

// MergeEnv returns base with vars set, in a fixed order: the names of base as
// they first appear, then new names as they are given. Later values win, in base
// and in vars. Entries of base that are no NAME=value are left out, because no
// program could read them. A variable that cannot be set (its name empty or with
// '=' or NUL, its value with NUL) is an error that names it; the error holds all
// of them, and the environment returned is without them.
func MergeEnv(base []string, vars ...Var) ([]string, error) {
	env := make([]string, 0, len(base)+len(vars))
	at := make(map[string]int, len(base)+len(vars))
	set := func(name, entry string) {
		key := name
		if foldEnv {
			key = strings.ToUpper(name)
		}
		if i, ok := at[key]; ok {
			env[i] = entry
			return
		}
		at[key] = len(env)
		env = append(env, entry)
	}
	for _, entry := range base {
		if name, ok := entryName(entry); ok && !strings.Contains(entry, "\x00") {
			set(name, entry)
		}
	}
	var errs []error
	for _, v := range vars {
		switch {
		case v.Name == "":
			errs = append(errs, fmt.Errorf("variable with an empty name (value %q): %w", short(v.Value), ErrInvalid))
		case strings.ContainsAny(v.Name, "=\x00"):
			errs = append(errs, fmt.Errorf("variable %q: its name contains '=' or NUL: %w", short(v.Name), ErrInvalid))
		case strings.Contains(v.Value, "\x00"):
			errs = append(errs, fmt.Errorf("variable %q: its value contains NUL: %w", short(v.Name), ErrInvalid))
		default:
			set(v.Name, v.Name+"="+v.Value)
		}
	}
	return env, errors.Join(errs...)
}

// Getenv returns the value of a variable in env, "" when it is not there. The
// last entry wins.
func Getenv(env []string, name string) string {
	value, _ := lookupEnv(env, name)
	return value
}

func lookupEnv(env []string, name string) (string, bool) {
	for _, entry := range slices.Backward(env) {
		got, ok := entryName(entry)
		if ok && (got == name || foldEnv && strings.EqualFold(got, name)) {
			return entry[len(got)+1:], true
		}
	}
	return "", false
}

// entryName is the NAME of NAME=value. On Windows names may begin with '='.
func entryName(entry string) (string, bool) {
	from := 0
	if foldEnv && strings.HasPrefix(entry, "=") {
		from = 1
	}
	i := strings.IndexByte(entry[from:], '=') + from
	if i <= from-1 || i == 0 {
		return "", false
	}
	return entry[:i], true
}

// short keeps an error on one line of a sane length.
func short(s string) string { return text.CutBytes(s, 60) }

// prepare checks a command and finds its program. It returns the program's path
// and the environment to give to it.
func prepare(c Command) (path string, env []string, err error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return "", nil, &StartError{Program: "command", Dir: c.Dir, Kind: ErrInvalid, Err: errors.New("no program given")}
	}
	invalid := func(format string, args ...any) error {
		return &StartError{Program: short(c.Argv[0]), Dir: c.Dir, Kind: ErrInvalid, Err: fmt.Errorf(format, args...)}
	}
	for i, arg := range c.Argv {
		if strings.Contains(arg, "\x00") {
			return "", nil, invalid("argument %d contains NUL", i)
		}
	}
	for i, entry := range c.Env {
		if strings.Contains(entry, "\x00") {
			name, _, _ := strings.Cut(entry, "=")
			return "", nil, invalid("variable %d (%q) contains NUL", i, short(name))
		}
	}
	if strings.Contains(c.Dir, "\x00") {
		return "", nil, invalid("directory %q contains NUL", short(c.Dir))
	}
	env = append([]string{}, c.Env...) // never nil: that would mean our own environment
	if filepath.IsAbs(c.Dir) {
		// A clash with a PWD in Env would send programs that trust it elsewhere.
		env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "PWD=") })
		env = append(env, "PWD="+c.Dir)
	}
	path, err = LookPath(c.Argv[0], c.Env)
	switch err {
	case nil:
		return path, env, nil
	case ErrPermission: //nolint:errorlint // LookPath returns the sentinels themselves
		err = &StartError{Program: c.Argv[0], Dir: c.Dir, Kind: err, Err: errors.New("the file on the PATH is not executable")}
	default:
		err = &StartError{Program: short(c.Argv[0]), Dir: c.Dir, Kind: err, Err: errors.New("it is in no folder of PATH")}
	}
	return "", nil, err
}

// defaultPath is used when there is no PATH at all, as shells do.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// LookPath finds a program in the absolute folders of env's PATH. Relative ones
// are passed over: what they mean depends on the directory we happen to be in. A
// name with a folder in it is returned as it is. The error is [ErrNotFound], or
// [ErrPermission] when there is a file but none that can be run.
func LookPath(name string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') || filepath.Base(name) != name {
		return name, nil
	}
	list, ok := lookupEnv(env, "PATH")
	if !ok && !foldEnv {
		list = defaultPath
	}
	err := ErrNotFound
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, file := range candidates(name) {
			path := filepath.Join(dir, file)
			info, statErr := os.Stat(path)
			switch {
			case statErr != nil:
			case executable(info):
				return path, nil
			case info.Mode().IsRegular():
				err = ErrPermission
			}
		}
	}
	return "", err
}
