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

// excluded reports whether `:validate {:exclude [globs]}` of hooks.edn names a file. The configuration is looked for where a stop looks
// for it, and read only when a file is broken. One that is not to be believed excludes nothing, which is said on stderr; `hook check` is
// what finds the faults of the others. A nil note is none.
func excluded(p *cli.Program, note noteFunc, path string) bool {
	dir, globs, err := exclusions(p)
	if err != nil {
		_, _ = fmt.Fprintf(p.Stderr, "brepl: %s\n", text.Escaped(err.Error(), ""))
		if note != nil {
			note("%v", err)
		}
	}
	names := namesIn(dir, path)
	return slices.ContainsFunc(globs, func(glob string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return hooksedn.Matches(glob, name) })
	})
}

// exclusions are the patterns of hooks.edn and the project that they are about. Without a file it is where a stop looks first.
func exclusions(p *cli.Program) (dir string, globs []string, err error) {
	dir, ok := hooksedn.Locate(p.Dir, p.Getenv("CLAUDE_PROJECT_DIR"))
	if ok {
		globs, err = hooksedn.LoadExclude(dir)
	}
	return dir, globs, err
}

// excludeHint tells how to leave a file alone that is broken on purpose; "" for a file that no pattern can mean.
func excludeHint(p *cli.Program, path string) string {
	dir, _, err := exclusions(p)
	names := namesIn(dir, path)
	if len(names) == 0 {
		return ""
	}
	if err != nil {
		return "\nIf this file is broken on purpose: " + text.Escaped(err.Error(), "")
	}
	literal := strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`, `!`, `\!`, `\`, `\\`)
	glob := literal.Replace(names[0])
	return "\nIf this file is broken on purpose, leave it alone with `:validate {:exclude [" + clj.QuoteString(glob) + "]}` in " + shown(p.Dir, filepath.Join(dir, hooksedn.Path)) + "."
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
