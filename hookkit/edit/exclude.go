package edit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/text"
)

// rules are what hooks.edn says for the edit hooks, and the project that it is about.
type rules struct {
	dir string
	*hooksedn.Config
}

// findRules looks for hooks.edn where a stop looks for it. Without a file there are no rules, and dir is where a stop looks first.
func findRules(p *cli.Program) (rules, error) {
	dir, ok := hooksedn.Locate(p.Dir, p.Getenv("CLAUDE_PROJECT_DIR"))
	if !ok {
		return rules{dir, &hooksedn.Config{}}, nil
	}
	config, err := hooksedn.LoadForEdits(dir)
	return rules{dir, config}, err
}

// readRules is findRules for a hook. A file that is not to be believed has none, which is said on stderr; `hook check` is what finds the
// faults of the others. A nil note is none.
func readRules(p *cli.Program, note noteFunc) rules {
	r, err := findRules(p)
	if err != nil {
		_, _ = fmt.Fprintf(p.Stderr, "brepl: %s\n", text.Escaped(err.Error(), ""))
		if note != nil {
			note("%v", err)
		}
	}
	return r
}

// names reports whether one of the patterns means a file.
func (r rules) names(globs []string, path string) bool {
	if len(globs) == 0 {
		return false
	}
	names := namesIn(r.dir, path)
	return slices.ContainsFunc(globs, func(glob string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return hooksedn.Matches(glob, name) })
	})
}

// excluded reports whether `:validate {:exclude [globs]}` names a file: that is asked only when the file is broken.
func excluded(p *cli.Program, note noteFunc, path string) bool {
	r := readRules(p, note)
	return r.names(r.Exclude, path)
}

// excludeHint tells how to leave a file alone that is broken on purpose; "" for a file that no pattern can mean.
func excludeHint(p *cli.Program, path string) string {
	r, err := findRules(p)
	names := namesIn(r.dir, path)
	if len(names) == 0 {
		return ""
	}
	if err != nil {
		return "\nIf this file is broken on purpose: " + text.Escaped(err.Error(), "")
	}
	literal := strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`, `!`, `\!`, `\`, `\\`)
	glob := literal.Replace(names[0])
	return "\nIf this file is broken on purpose, leave it alone with `:validate {:exclude [" + clj.QuoteString(glob) + "]}` in " + shown(p.Dir, filepath.Join(r.dir, hooksedn.Path)) + "."
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
