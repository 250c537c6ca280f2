package gauntlet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

func TestEntryPoints(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		path, exclude string
		files         string
		want          string // folder: files; …
	}{
		{".", "", "a b/c", ".: a b/c"},
		{"src", "", "src/a src/b/c srcs/x src", "src: src src/a src/b/c"},
		{"src/deep", "", "src/a src/deep/a", "src/deep: src/deep/a"},
		{"apps/*", "", "apps/a/x apps/b/y/z apps/README other/a/x", "apps/a: apps/a/x; apps/b: apps/b/y/z"},
		{"*", "", "a/x b/y top", "a: a/x; b: b/y"},
		{"src/**/*.go", "", "src/a.go src/b/c.go src/b/c.txt x.go", "src: src/a.go src/b/c.go"},
		{"**/*.md", "", "README.md docs/a.md docs/b.txt", ".: README.md docs/a.md"},
		{"lib/{a,b}/*.c", "", "lib/a/x.c lib/b/y.c lib/c/z.c", "lib: lib/a/x.c lib/b/y.c"},
		{".", "docs", "docs/a doc docs", ".: doc"},
		{".", "docs/**/*.md", "docs/a.md docs/b/c.md docs/x", ".: docs/x"},
		{"src", "vendor", "src/vendor/x src/y", "src: src/y"},
		{"src", "src/vendor/", "src/vendor/x src/y", "src: src/y"},
		{"größe/*", "", "größe/日本/x", "größe/日本: größe/日本/x"},
		{"src/*.c", "", "src/\xff\xfe.c src/caf\xe9.c", "src: src/caf\xe9.c src/\xff\xfe.c"},
		{"src", "*.c", "src/\xff\xfe.c src/a", "src: src/a"},
		{"a b", "", "a\xa0b/x|a b/\n", "a b: a b/\n"},
	} {
		t.Run(row.path+" without "+row.exclude, func(t *testing.T) {
			t.Parallel()
			entry := EntryPoint{Path: cleanPattern(row.path)}
			if row.exclude != "" {
				entry.Exclude = []string{row.exclude}
			}
			separator := " "
			if strings.Contains(row.files, "|") {
				separator = "|"
			}
			var files []Change
			for name := range strings.SplitSeq(row.files, separator) {
				files = append(files, Change{Path: name})
			}
			slices.SortFunc(files, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
			byDir := entry.match(files)
			var got []string
			for _, dir := range sortedKeys(byDir) {
				var names []string
				for _, f := range byDir[dir] {
					names = append(names, f.Path)
				}
				got = append(got, dir+": "+strings.Join(names, " "))
			}
			assert.Equal(t, strings.Join(got, "; "), row.want)
		})
	}
}

func TestJobsMeetInOneFolder(t *testing.T) {
	t.Parallel()
	lint := &Gate{Kind: Check, Name: "lint"}
	c := &Config{Root: "/p", EntryPoints: []EntryPoint{{Path: "src/*.a", Gates: []*Gate{lint}}, {Path: "src/*.b", Gates: []*Gate{lint}}, {Path: "src", Gates: []*Gate{lint}}}}
	list := jobs(c, []Change{{Path: "src/x.a"}, {Path: "src/y.b"}}, func(*Gate) bool { return true })
	assert.Equal(t, len(list), 1)
	assert.Equal(t, list[0].ID(), "check lint src")
	assert.Equal(t, list[0].Dir, "/p/src")
	assert.Equal(t, fmt.Sprint(len(list[0].Files)), "2")
}

// Whatever a file is called, an entry point that is a folder takes exactly what is in the folder, and "." takes everything.
func TestFolderTakesWhatIsInIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Trim(strings.ReplaceAll(string(rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "name")), "\x00", ""), "/")
		if name == "" {
			return
		}
		all, in := EntryPoint{Path: "."}, EntryPoint{Path: "dir"}
		assert.Equal(t, len(all.match([]Change{{Path: name}})["."]), 1)
		assert.Equal(t, len(in.match([]Change{{Path: "dir/" + name}})["dir"]), 1)
		assert.Equal(t, len(in.match([]Change{{Path: "dirx" + name}})), 0)
	})
}

// A check whose entry point names a file must not pass for want of a folder of that name.
func TestEntryPointThatIsAFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	assert.NilError(t, os.MkdirAll(filepath.Join(root, "now", "a-folder"), 0o755))
	assert.NilError(t, os.WriteFile(filepath.Join(root, "now", "a-file"), nil, 0o600))
	c := &Config{Root: root}
	for entry, want := range map[string]string{
		"now/a-file": "now", "now/deleted": "now", "now/a-folder": "now/a-folder", "now": "now",
	} {
		gate := &Gate{Kind: Check, Name: "c"}
		c.EntryPoints = []EntryPoint{{Path: entry, Gates: []*Gate{gate}}}
		list := jobs(c, []Change{{Path: entry}}, func(*Gate) bool { return true })
		assert.Equal(t, len(list), 1)
		assert.Equal(t, list[0].Dir, filepath.Join(root, filepath.FromSlash(want)), entry)
	}
}
