package project

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"
)

// in makes a folder with these files, and returns its real path.
func in(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(fs.NewDir(t, "project").Path())
	assert.NilError(t, err)
	for name, text := range files {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func TestRoot(t *testing.T) {
	t.Parallel()
	dir := in(t, map[string]string{
		".git/HEAD": "x", "src/a.clj": "", "sub/deps.edn": "{}", "sub/src/b/c.clj": "", "lein/project.clj": "", "lein/x/bb.edn/keep": "",
		"lein/no-git/.git/keep": "",
	})
	for from, want := range map[string]string{
		"": "", "src": "", "src/not/there": "", "sub": "sub", "sub/src/b": "sub", "lein/x": "lein", ".git": "",
		"lein/no-git": "lein", // git too passes over a .git without HEAD
	} {
		root, ok := Root(filepath.Join(dir, from))
		assert.Assert(t, ok, from)
		assert.Equal(t, root, filepath.Join(dir, want), from)
	}
	_, ok := Root(in(t, map[string]string{"src/a.clj": ""}))
	assert.Assert(t, !ok, "without a build file and a work tree")
}

// Faults 20: outside a project, in a sub-directory, a worktree, a submodule.
func TestGitRoot(t *testing.T) {
	dir := fs.NewDir(t, "git",
		fs.WithDir("repo",
			fs.WithDir(".git", fs.WithFile("HEAD", "ref: x")),
			fs.WithDir("a", fs.WithDir("b")),
			fs.WithDir("sub", fs.WithFile(".git", "gitdir: ../.git/modules/sub\n"), fs.WithDir("c")),
			fs.WithDir("empty", fs.WithDir(".git"), fs.WithDir("d")),
			fs.WithDir("text", fs.WithFile(".git", "x"))),
		fs.WithDir("plain"))
	tests := map[string]string{
		"repo":         "repo",
		"repo/a/b":     "repo",
		"repo/a/b/no":  "repo",
		"repo/sub":     "repo/sub",
		"repo/sub/c":   "repo/sub",
		"repo/empty/d": "repo", // git too passes over a .git without HEAD
		"repo/text":    "repo",
	}
	for from, want := range tests {
		root, ok := GitRoot(dir.Join(filepath.FromSlash(from)))
		assert.Equal(t, ok, true, from)
		assert.Equal(t, root, dir.Join(filepath.FromSlash(want)), from)
	}
	_, ok := GitRoot(dir.Join("plain"))
	assert.Equal(t, ok, false)
}

func TestRootWith(t *testing.T) {
	t.Parallel()
	dir := in(t, map[string]string{
		".c/x": "above", "repo/.git/HEAD": "x", "repo/a/.c/x": "", "repo/a/b/y": "", "repo/d/y": "", "repo/own/.git/HEAD": "", "repo/f/.c": "a file",
	})
	assert.NilError(t, os.Mkdir(filepath.Join(dir, "repo/loop"), 0o700))
	assert.NilError(t, os.Symlink(".c", filepath.Join(dir, "repo/loop/.c")))
	for from, want := range map[string]string{
		"repo/a": "repo/a", "repo/a/b": "repo/a", "repo/a/b/not/there": "repo/a", "repo/d": "", "repo": "", "repo/own": "", "repo/f": "", "": ".",
		"repo/loop": "repo/loop", // what cannot be looked at is there
	} {
		root, ok := RootWith(filepath.Join(dir, from), ".c/x")
		assert.Equal(t, ok, want != "", from)
		if ok {
			assert.Equal(t, root, filepath.Join(dir, want), from)
		}
	}
	_, ok := RootWith(filepath.Join(in(t, map[string]string{".c/x": "", "a/y": ""}), "a"), ".c/x")
	assert.Assert(t, !ok, "outside of a work tree nothing above counts")
	_, ok = RootWith("", ".c/x")
	assert.Assert(t, !ok)
}

func TestContains(t *testing.T) {
	t.Parallel()
	dir := in(t, map[string]string{"src/a.clj": "", "other/b.clj": "", "srcs/c.clj": ""})
	src := []string{filepath.Join(dir, "src")}
	assert.NilError(t, os.Symlink(filepath.Join(dir, "src"), filepath.Join(dir, "link")))
	for name, want := range map[string]bool{
		"src/a.clj": true, "src/not/there.clj": true, "other/b.clj": false, "srcs/c.clj": false, "link/a.clj": true, "src/../other/b.clj": false,
	} {
		assert.Equal(t, Contains(src, filepath.Clean(filepath.Join(dir, name))), want, name)
	}
	assert.Assert(t, Contains([]string{filepath.Join(dir, "link")}, filepath.Join(dir, "src/a.clj")))
	assert.Assert(t, !Contains(nil, filepath.Join(dir, "src/a.clj")))
}
