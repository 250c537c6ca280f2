package fakes_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

func TestProjectTree(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and symlinks are not those of unix: the project builder is not tested here")
	}
	p := fakes.NewProject(t, map[string]string{"src/a.clj": "(ns a)\n"},
		fakes.WithHooks("{}"), fakes.WithPort(4711),
		fakes.WithFile("bin/run", "#!/bin/sh\n", 0o755), fakes.WithDir("empty", 0o700),
		fakes.WithSymlink("link/a", "../src/a.clj"))
	assert.Equal(t, p.Read(".nrepl-port"), "4711")
	assert.Equal(t, p.Read("link/a"), "(ns a)\n")
	assert.Equal(t, p.Path("src/a.clj"), filepath.Join(p.Dir(), "src", "a.clj"))
	assert.DeepEqual(t, p.Snapshot(), fakes.Snapshot{
		".brepl":           {Mode: fs.ModeDir | 0o755},
		".brepl/hooks.edn": {Mode: 0o644, Content: "{}"},
		".nrepl-port":      {Mode: 0o644, Content: "4711"},
		"bin":              {Mode: fs.ModeDir | 0o755},
		"bin/run":          {Mode: 0o755, Content: "#!/bin/sh\n"},
		"empty":            {Mode: fs.ModeDir | 0o700},
		"link":             {Mode: fs.ModeDir | 0o755},
		"link/a":           {Mode: fs.ModeSymlink | 0o777, Target: "../src/a.clj"},
		"src":              {Mode: fs.ModeDir | 0o755},
		"src/a.clj":        {Mode: 0o644, Content: "(ns a)\n"},
	})
}

func TestSnapshotChanges(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and symlinks are not those of unix: snapshots are not compared here")
	}
	p := fakes.NewProject(t, map[string]string{"a": "1", "b": "1", "c/d": "1"}, fakes.WithSymlink("l", "a"))
	before := p.Snapshot()
	assert.DeepEqual(t, before.Changes(p.Snapshot()), []string(nil))
	p.Write("a", "2")
	p.Write("new", "")
	p.Remove("c")
	p.Remove("l")
	assert.NilError(t, os.Symlink("b", p.Path("l")))
	assert.NilError(t, os.Chmod(p.Path("b"), 0o600))
	assert.DeepEqual(t, before.Changes(p.Snapshot()), []string{
		"content of a", "mode of b: -rw-r--r-- -> -rw-------", "removed c", "removed c/d", "target of l", "added new",
	})
}

// The user's and the system's git configuration have no say.
func TestProjectGit(t *testing.T) {
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_AUTHOR_NAME", "Somebody")
	p := fakes.NewProject(t, map[string]string{"a": "1"}, fakes.WithGit())
	assert.Equal(t, p.Git("log", "--format=%an %ae %at %s %D"), "Fake fake@example.org 1704067200 start HEAD -> main\n")
	assert.Equal(t, p.Git("status", "--porcelain"), "")
	before := p.Snapshot()
	p.Write("b", "2")
	assert.Equal(t, p.Git("status", "--porcelain"), "?? b\n")
	assert.DeepEqual(t, before.Changes(p.Snapshot()), []string{"added b"})
	for line := range strings.Lines(p.Git("config", "--list", "--show-origin")) {
		assert.Assert(t, strings.HasPrefix(line, "file:.git/config"), line)
	}
}

func TestProjectWithoutGitSaysSo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := newRecorder(t)
	during(func() { fakes.NewProject(r, nil, fakes.WithGit()) })
	got := r.finish()
	assert.Equal(t, len(got), 1)
	assert.Assert(t, cmp.Contains(got[0], "fatal: fakes: this test needs git on the PATH, and nothing of it was run"))

	s := &skipper{recorder: newRecorder(t)}
	during(func() { fakes.NewProject(s, nil, fakes.WithGit()) })
	assert.Equal(t, len(s.finish()), 0)
	assert.Assert(t, cmp.Contains(s.skipped, "this test needs git on the PATH"))
}

// skipper is a recorder that can be skipped.
type skipper struct {
	*recorder
	skipped string
}

func (s *skipper) Skipf(format string, _ ...any) {
	s.skipped = format
	runtime.Goexit()
}

func TestProjectFailsLoudly(t *testing.T) {
	r := newRecorder(t)
	p := fakes.NewProject(r, map[string]string{"file": ""})
	during(func() { p.Read("absent") })
	during(func() { p.Write("file/below", "") })
	got := r.finish()
	assert.Equal(t, len(got), 2)
	assert.Assert(t, cmp.Contains(got[0], "absent: no such file or directory"))
	assert.Assert(t, cmp.Contains(got[1], "file: not a directory"))
}
