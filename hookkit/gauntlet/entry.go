package gauntlet

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// jobs are the gates of what changed: for each entry point with a changed file its gates, in the order of the configuration. A gate
// that two entry points give the same folder runs once there, over the files of both.
func jobs(c *Config, files []Change, want func(*Gate) bool) []*Job {
	var list []*Job
	for _, entry := range c.EntryPoints {
		byDir := entry.match(files)
		for _, dir := range sortedKeys(byDir) {
			for _, gate := range entry.Gates {
				if want(gate) {
					list = addJob(list, c, gate, dir, byDir[dir])
				}
			}
		}
	}
	return list
}

func addJob(list []*Job, c *Config, gate *Gate, dir string, files []Change) []*Job {
	for _, job := range list {
		if job.Gate == gate && job.Entry == dir {
			job.Files = mergeFiles(job.Files, files)
			return list
		}
	}
	return append(list, &Job{Gate: gate, Entry: dir, Dir: c.workDir(gate, dir, files), Files: files})
}

// workDir is where a check runs. An entry point may name a file: then its folder.
func (c *Config) workDir(gate *Gate, entry string, files []Change) string {
	if gate.WorkingDirectory != "" {
		return filepath.Join(c.Root, filepath.FromSlash(gate.WorkingDirectory))
	}
	dir := filepath.Join(c.Root, filepath.FromSlash(entry))
	isIt := func(f Change) bool { return f.Path == entry }
	if info, err := os.Stat(dir); (err != nil || !info.IsDir()) && slices.ContainsFunc(files, isIt) {
		return filepath.Dir(dir)
	}
	return dir
}

func mergeFiles(a, b []Change) []Change {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(all, func(a, b Change) bool { return a.Path == b.Path })
}

func sortedKeys(m map[string][]Change) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// match gives the changed files of an entry point, by the folder that its gates are for: the entry point's own; of "dir/*" each folder
// in dir; of a pattern the folder before its first special character.
func (e *EntryPoint) match(files []Change) map[string][]Change {
	byDir := map[string][]Change{}
	for _, f := range files {
		if dir, ok := e.dirOf(f.Path); ok && !e.excludes(f.Path, dir) {
			byDir[dir] = append(byDir[dir], f)
		}
	}
	return byDir
}

// dirOf is the folder that a file of this entry point belongs to.
func (e *EntryPoint) dirOf(file string) (dir string, ok bool) {
	if e.Path == "." {
		return ".", true
	}
	if parent, isEach := strings.CutSuffix(e.Path, "/*"); isEach && !hasMeta(parent) {
		return eachDir(parent, file)
	}
	if e.Path == "*" {
		return eachDir(".", file)
	}
	if !hasMeta(e.Path) {
		return e.Path, inDir(file, e.Path)
	}
	if !matches(e.Path, file) {
		return "", false
	}
	base, _ := doublestar.SplitPattern(e.Path)
	return base, true
}

// eachDir is the folder in parent that a file is in. A file right in parent belongs to none.
func eachDir(parent, file string) (dir string, ok bool) {
	if !inDir(file, parent) {
		return "", false
	}
	rest := file
	if parent != "." {
		rest = strings.TrimPrefix(file[len(parent):], "/")
	}
	first, _, deeper := strings.Cut(rest, "/")
	return path.Join(parent, first), deeper
}

// excludes reports whether a file is left out: patterns count from the root, and from the entry point's folder.
func (e *EntryPoint) excludes(file, dir string) bool {
	inside := strings.TrimPrefix(file, dir+"/")
	return slices.ContainsFunc(e.Exclude, func(pattern string) bool {
		pattern = cleanPattern(pattern)
		return matches(pattern, file) || matches(pattern, inside)
	})
}

// matches reports whether a pattern means a file: by itself, or as a folder that holds it.
func matches(pattern, file string) bool {
	if pattern == "." {
		return true
	}
	// Patterns were checked when the configuration was read.
	for _, p := range [...]string{pattern, pattern + "/**"} {
		if ok, err := doublestar.Match(p, file); err == nil && ok {
			return true
		}
	}
	return false
}

func hasMeta(pattern string) bool { return strings.ContainsAny(pattern, `*?[{\`) }
