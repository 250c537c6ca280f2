package fakes

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Entry is one file, folder or link of a [Snapshot].
type Entry struct {
	Mode    fs.FileMode // type and permissions
	Content string      // of a regular file
	Target  string      // of a symbolic link
	Err     string      // why a file's content could not be read
}

// Snapshot is the state of a tree, by path with slashes, relative to its root.
// Two snapshots are equal when nothing changed.
type Snapshot map[string]Entry

// Snapshot returns the state of the project. What is inside of a .git folder
// is left out, since git itself writes there whenever it likes.
func (p *Project) Snapshot() Snapshot {
	p.t.Helper()
	s, err := TakeSnapshot(p.dir)
	p.check(err)
	return s
}

// TakeSnapshot returns the state of the tree under dir, without what is inside
// of a .git folder. A folder that cannot be read is an error.
func TakeSnapshot(dir string) (Snapshot, error) {
	s := Snapshot{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		entry := Entry{Mode: info.Mode()}
		switch {
		case info.Mode().IsRegular():
			entry.read(path)
		case info.Mode()&fs.ModeSymlink != 0:
			if entry.Target, err = os.Readlink(path); err != nil {
				return err
			}
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		s[filepath.ToSlash(name)] = entry
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		return nil
	})
	return s, err
}

func (e *Entry) read(path string) {
	data, err := os.ReadFile(path)
	e.Content = string(data)
	if err != nil {
		e.Err = err.Error()
	}
}

// Changes returns what differs in after, sorted by path and nil where nothing
// does: "added a", "removed b", "content of c", "mode of d: -rw-r--r-- ->
// -rw-------", "target of e".
func (s Snapshot) Changes(after Snapshot) []string {
	all := Snapshot{}
	maps.Copy(all, s)
	maps.Copy(all, after)
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, had := s[name]
		b, has := after[name]
		switch {
		case !had:
			changes = append(changes, "added "+name)
			continue
		case !has:
			changes = append(changes, "removed "+name)
			continue
		}
		if a.Mode != b.Mode {
			changes = append(changes, fmt.Sprintf("mode of %s: %v -> %v", name, a.Mode, b.Mode))
		}
		if a.Content != b.Content || a.Err != b.Err {
			changes = append(changes, "content of "+name)
		}
		if a.Target != b.Target {
			changes = append(changes, "target of "+name)
		}
	}
	return changes
}
