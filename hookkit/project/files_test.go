package project

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// files are the names that Files gives, sorted.
func files(t *testing.T, root string, env ...string) string {
	t.Helper()
	var names []string
	all := func(string) bool { return true }
	err := Files(t.Context(), root, append(os.Environ(), env...), all, func(name string, _ fs.FileInfo) { names = append(names, name) })
	assert.NilError(t, err)
	slices.Sort(names)
	return strings.Join(names, " ")
}

func gitInit(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput()
	assert.NilError(t, err, "%s", out)
}

// spec/stop-semantics.md "What changed": the stop hooks and the edit hooks had different rules for what counts.
func TestFiles(t *testing.T) {
	t.Parallel()
	tree := func() string {
		dir := in(t, map[string]string{
			"src/a.clj": "", "src/target/b.clj": "", ".dev/c.clj": "", "build/d.clj": "", "node_modules/e.clj": "", ".cpcache/f.clj": "",
			"lib/.gitignore": "/out/\n", "lib/src/g.clj": "", "lib/out/h.clj": "", "lib/target/i.clj": "",
		})
		gitInit(t, filepath.Join(dir, "lib"))
		assert.NilError(t, os.Symlink("nowhere", filepath.Join(dir, "src/link.clj")))
		assert.NilError(t, os.Symlink("src", filepath.Join(dir, "folder")))
		return dir
	}
	plain := tree()
	assert.Equal(t, files(t, plain), ".dev/c.clj build/d.clj folder lib/.gitignore lib/src/g.clj lib/target/i.clj src/a.clj src/link.clj",
		"what lies in a work tree is for its git to say")

	repo := tree()
	gitInit(t, repo)
	assert.NilError(t, os.WriteFile(filepath.Join(repo, ".gitignore"), []byte("/build/\n/node_modules/\n/.cpcache/\n"), 0o600))
	want := ".dev/c.clj .gitignore folder lib/.gitignore lib/src/g.clj lib/target/i.clj src/a.clj src/link.clj src/target/b.clj"
	assert.Equal(t, files(t, repo), want, "a folder of any name counts that git does not ignore")
	assert.Equal(t, files(t, filepath.Join(repo, "src")), "a.clj link.clj target/b.clj")

	// lib as a submodule, which git names without a slash.
	cmd := exec.CommandContext(t.Context(), "git", "-C", repo, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",lib")
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	assert.Equal(t, files(t, repo), want)

	linked := filepath.Join(t.TempDir(), "link")
	assert.NilError(t, os.Symlink(plain, linked))
	assert.Equal(t, files(t, linked), files(t, plain), "a root that is a link")

	// A git hook that starts the agent says which repository is meant; ours is the folder's.
	assert.Equal(t, files(t, repo, "GIT_DIR="+filepath.Join(repo, "lib/.git"), "GIT_WORK_TREE="+filepath.Join(repo, "lib")), want)

	// Without git, the rule of a plain folder.
	assert.Equal(t, files(t, filepath.Join(repo, "missing")), "")
	assert.NilError(t, os.WriteFile(filepath.Join(repo, ".git/index"), []byte("broken"), 0o600))
	assert.Assert(t, strings.Contains(files(t, repo), "build/d.clj"))
}

func TestListedName(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"H 100644 0123 0\ta b/c": "a b/c", "M 100755 0123 2\tx\ty": "x\ty", "S 120000 0123 0\tlink": "link",
		"H 160000 0123 0\tlib": "lib is a folder", "? a b": "a b", "? 160000 0123 0\tx": "160000 0123 0\tx", "? lib/": "lib is a folder",
	} {
		name, isFolder := listedName(entry)
		if isFolder {
			name += " is a folder"
		}
		assert.Equal(t, name, want, "%q", entry)
	}
}

func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	dir := in(t, map[string]string{"a/b": "", "a/c": ""})
	w := walk{ctx: t.Context(), root: dir, entries: maxEntries - 4, want: func(string) bool { return true }, visit: func(string, fs.FileInfo) {}}
	assert.NilError(t, w.folder("", false))
	w.entries = maxEntries - 3
	assert.ErrorIs(t, w.folder("", false), ErrTooLarge)
	w.entries = maxEntries - 1
	assert.ErrorIs(t, w.listed("", []byte("H 100644 0 0\ta/b\x00? a/c\x00")), ErrTooLarge)
}
