package edit

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/project"
)

const (
	configPath     = ".brepl/hooks.edn"
	maxConfigBytes = 1 << 20
)

// excluded reports whether `:validate {:exclude [globs]}` of hooks.edn names a file. The configuration is looked for where a stop looks
// for it: in the current directory; then, under a host, in the host's project directory and at its git root. It is read only when a file
// is broken. One that cannot be read excludes nothing; `hook check` is what finds its faults.
func excluded(p *cli.Program, path string) bool {
	dir, data := configuration(p)
	if dir == "" {
		return false
	}
	// As the stop hooks read it: code may be a form in it.
	nodes, errs := clj.ReadAll(configPath, data, clj.Options{Dialect: clj.Clojure})
	if len(errs) > 0 || len(nodes) == 0 {
		return false
	}
	globs := nodes[0].Get("validate").Get("exclude")
	if globs == nil {
		return false
	}
	names := namesIn(dir, path)
	for _, one := range globs.Children {
		glob, _ := one.Str()
		for _, name := range names {
			if matches(glob, name) {
				return true
			}
		}
	}
	return false
}

// excludeHint tells how to leave a file alone that is broken on purpose; "" for a file that no pattern can mean.
func excludeHint(p *cli.Program, path string) string {
	dir, _ := configuration(p)
	if dir == "" { // to be made where a stop finds it first
		dir = p.Dir
	}
	names := namesIn(dir, path)
	if len(names) == 0 {
		return ""
	}
	literal := strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`, `!`, `\!`, `\`, `\\`)
	glob := literal.Replace(names[0])
	return "\nIf this file is broken on purpose, leave it alone with `:validate {:exclude [" + clj.QuoteString(glob) + "]}` in " + shown(p.Dir, filepath.Join(dir, configPath)) + "."
}

func configuration(p *cli.Program) (dir string, data []byte) {
	dirs := []string{p.Dir}
	if host := p.Getenv("CLAUDE_PROJECT_DIR"); host != "" {
		dirs = append(dirs, host)
		if root, ok := project.GitRoot(host); ok {
			dirs = append(dirs, root)
		}
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, configPath)
		info, err := os.Stat(path)
		if dir == "" || err != nil {
			continue
		}
		if !info.Mode().IsRegular() || info.Size() > maxConfigBytes {
			return "", nil
		}
		if data, err = os.ReadFile(path); err != nil {
			return "", nil
		}
		return dir, data
	}
	return "", nil
}

// namesIn are the names that a file has below a project: as it is called, and with symbolic links followed.
func namesIn(dir, path string) []string {
	var names []string
	add := func(dir, path string) {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			names = append(names, filepath.ToSlash(rel))
		}
	}
	add(dir, path)
	// The file may not be there yet.
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if realDir, dirErr := filepath.EvalSymlinks(dir); err == nil && dirErr == nil {
		add(realDir, filepath.Join(folder, filepath.Base(path)))
	}
	return names
}

// matches reports whether a pattern means a file: by itself, or as a folder that holds it.
func matches(pattern, name string) bool {
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	if pattern == "" {
		return false
	}
	for _, p := range []string{pattern, pattern + "/**"} {
		if ok, err := doublestar.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}
