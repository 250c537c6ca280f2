package gauntlet

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/fakes"
)

func TestParseRaw(t *testing.T) {
	t.Parallel()
	list, err := parseRaw([]byte(":100644 100755 aa bb M\x00b\nb\x00:000000 100644 00 cc A\x00a\xff\x00"))
	assert.NilError(t, err)
	assert.Equal(t, len(list), 2)
	assert.Equal(t, list[0], Change{Path: "a\xff", Status: 'A', mode: "100644", object: "cc"})
	assert.Equal(t, list[1], Change{Path: "b\nb", Status: 'M', mode: "100755", object: "bb"})
	for _, wrong := range []string{"x", ":1 2 3 4 M", ":1 2 3 4 M\x00a", ":1 2 3\x00a\x00", "\x00\x00"} {
		_, err := parseRaw([]byte(wrong))
		assert.ErrorContains(t, err, "not its raw format", "%q", wrong)
	}
}

// snapped is a project with a snapshotter.
func snapped(t *testing.T) (*fakes.Project, *snapshotter) {
	t.Helper()
	p := fakes.NewProject(t, map[string]string{"a": "1\n", "dir/b": "2\n", ".gitignore": "ignored\n"}, fakes.WithGit())
	repo, err := openRepository(t.Context(), p.Dir(), p.GitEnv())
	assert.NilError(t, err)
	assert.NilError(t, repo.learn())
	return p, &snapshotter{repo: repo, dir: t.TempDir()}
}

func (s *snapshotter) must(t *testing.T) string {
	t.Helper()
	notes, err := s.stage(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, len(notes), 0, "%v", notes)
	tree, err := s.tree(t.Context())
	assert.NilError(t, err)
	s.close()
	return tree
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	p, s := snapped(t)
	first := s.must(t)
	p.Write("a", "changed\n")
	p.Write("dir/new", "3\n")
	p.Write("ignored", "x\n")
	p.Remove("dir/b")
	p.Write("staged", "4\n")
	p.Git("add", "staged")
	second := s.must(t)
	changes, err := s.between(t.Context(), first, second)
	assert.NilError(t, err)
	var got []string
	for _, c := range changes {
		got = append(got, string(c.Status)+c.Path)
	}
	assert.Equal(t, strings.Join(got, " "), "Ma Ddir/b Adir/new Astaged")

	diff, err := s.diff(t.Context(), first, second, changes[2:3])
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(diff), "+++ b/dir/new\n@@ -0,0 +1 @@\n+3\n"), "%s", diff)
	assert.Assert(t, !strings.Contains(string(diff), "changed"), "%s", diff)

	// Committing changes nothing of the work tree, and so nothing of the snapshot.
	p.Git("add", "-A")
	p.Git("commit", "-qm", "x")
	assert.Equal(t, s.must(t), second)
	entries, err := os.ReadDir(s.dir)
	assert.NilError(t, err)
	assert.Equal(t, len(entries), 1, "the copy of the index is gone")
}

// A file that is changed at once after git has looked at it, to one of the same size, must be seen: git tells by the index's time.
func TestSnapshotSeesRacyChanges(t *testing.T) {
	t.Parallel()
	p, s := snapped(t)
	for i := range 20 {
		p.Git("add", "-A")
		p.Write("a", string(rune('a'+i))+"\n")
		tree := s.must(t)
		cmd := exec.CommandContext(t.Context(), "git", "cat-file", "-p", tree+":a")
		cmd.Dir, cmd.Env = p.Dir(), append(p.GitEnv(), s.env()...)
		out, err := cmd.Output()
		assert.NilError(t, err)
		assert.Equal(t, string(out), string(rune('a'+i))+"\n")
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	p, s := snapped(t)
	p.Write("a", "one\n")
	first := s.must(t)
	old := filepath.Join(s.dir, "objects")
	assert.NilError(t, filepath.WalkDir(old, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, _ := d.Info()
			return os.Chtimes(path, info.ModTime().AddDate(0, 0, -1), info.ModTime().AddDate(0, 0, -1))
		}
		return err
	}))
	p.Write("b", "two\n")
	info, err := os.Stat(s.dir)
	assert.NilError(t, err)
	second := s.must(t)
	s.prune(info.ModTime().AddDate(0, 0, -1).Add(1e9))
	_, err = s.between(t.Context(), second, second)
	assert.NilError(t, err, "what the last snapshot holds stays, though it was written before")
	diff, err := s.diff(t.Context(), s.repo.head, second, nil)
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(diff), "+one") && strings.Contains(string(diff), "+two"), "%s", diff)
	_, err = s.between(t.Context(), first, second)
	assert.Assert(t, err != nil, "the tree of the first one is gone")
}

func TestSnapshotLeavesOut(t *testing.T) {
	t.Parallel()
	p, s := snapped(t)
	before := s.must(t)
	p.Write("small", "x\n")
	f, err := os.Create(p.Path("data.bin"))
	assert.NilError(t, err)
	assert.NilError(t, f.Truncate(maxUntracked+1)) // it takes no room
	assert.NilError(t, f.Close())
	notes, err := s.stage(t.Context())
	assert.NilError(t, err)
	assert.DeepEqual(t, notes, []string{"data.bin is untracked and too large to be looked at: it does not count as changed; add it to .gitignore"})
	changes, err := s.since(t.Context(), before)
	assert.NilError(t, err)
	assert.Equal(t, len(changes), 1)
	assert.Equal(t, changes[0].Path, "small")
}

// A folder that became a file, and a file that became a folder.
func TestSnapshotReplaces(t *testing.T) {
	t.Parallel()
	p, s := snapped(t)
	before := s.must(t)
	p.Remove("dir")
	p.Write("dir", "a file now\n")
	p.Remove("a")
	p.Write("a/b", "a folder now\n")
	changes, err := s.between(t.Context(), before, s.must(t))
	assert.NilError(t, err)
	var got []string
	for _, c := range changes {
		got = append(got, string(c.Status)+c.Path)
	}
	assert.Equal(t, strings.Join(got, " "), "Da Aa/b Adir Ddir/b")
}

// Names of any bytes come out of git as they are on the disk.
func TestSnapshotNames(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	t.Parallel()
	p, s := snapped(t)
	first := s.must(t)
	rapid.Check(t, func(rt *rapid.T) {
		bytes := rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 30).Draw(rt, "name")
		name := strings.ReplaceAll(string(bytes), "/", "_")
		if name == "." || name == ".." || strings.EqualFold(name, ".git") {
			return
		}
		path := filepath.Join(p.Dir(), "names", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			rt.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			return // a file system that knows better
		}
		defer func() { _ = os.Remove(path) }()
		changes, err := s.between(t.Context(), first, s.must(t))
		assert.NilError(rt, err)
		if strings.HasPrefix(strings.ToLower(name), ".git") || strings.HasPrefix(strings.ToLower(name), "git~") {
			return // git refuses some names that could be taken for its own
		}
		assert.Equal(rt, len(changes), 1)
		assert.Equal(rt, changes[0].Path, "names/"+name)
		diff, err := s.diff(t.Context(), first, s.must(t), changes)
		assert.NilError(rt, err)
		assert.Assert(rt, len(diff) > 0)
	})
}
