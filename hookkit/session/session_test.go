//go:build unix

package session

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

// envOf is an environment with only a state folder.
func envOf(dir string) func(string) string {
	return func(name string) string {
		if name == "BREPL_STATE_DIR" {
			return dir
		}
		return ""
	}
}

func open(tb testing.TB, dir, id string) *Session {
	tb.Helper()
	s, err := Open(envOf(dir), id)
	assert.NilError(tb, err)
	return s
}

func TestSafeName(t *testing.T) {
	// Fault 11: a session id is never a path part.
	tests := []struct{ id, want string }{
		{"abc123", "abc123"},
		{"7F3A.b_c-d", "7F3A.b_c-d"},
		{"../../x", "..%2F..%2Fx"},
		{"/etc/passwd", "%2Fetc%2Fpasswd"},
		{"", "%empty"},
		{"%empty", "%25empty"},
		{".", "%2E"},
		{"..", "%2E%2E"},
		{"...", "..."},
		{"%2E", "%252E"},
		{"a\nb\x00c", "a%0Ab%00c"},
		{"é", "%C3%A9"},
		{"\xff", "%FF"},
		{`a\b c`, "a%5Cb%20c"},
		{strings.Repeat("x", 100), strings.Repeat("x", 100)},
		{strings.Repeat("x", 101), "%hash-"},
		{strings.Repeat("/", 34), "%hash-"},
		{strings.Repeat("x", 4096), "%hash-"},
	}
	seen := map[string]string{}
	for _, tt := range tests {
		got := SafeName(tt.id)
		if strings.HasPrefix(tt.want, "%hash-") {
			assert.Equal(t, len(got), len("%hash-")+32)
			assert.Assert(t, strings.HasPrefix(got, "%hash-"))
		} else {
			assert.Equal(t, got, tt.want)
		}
		other, ok := seen[got]
		assert.Assert(t, !ok, "%q and %q", other, tt.id)
		seen[got] = tt.id
	}
	assert.Assert(t, SafeName("abc") != SafeName("ABC"))
}

func TestSafeNameProperties(t *testing.T) {
	ids := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("./%2EeaA\x00"))))
	rapid.Check(t, func(t *rapid.T) {
		a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
		name := SafeName(a)
		assert.Assert(t, name != "" && name != "." && name != ".." && len(name) <= maxName)
		assert.Assert(t, strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-%") == "", "%q", name)
		assert.Equal(t, name == SafeName(b), a == b)
	})
}

func TestProjectID(t *testing.T) {
	a := ProjectID("unknown", "/home/me/a")
	assert.Equal(t, a, ProjectID("unknown", "/home/me/a/"))
	assert.Equal(t, SafeName(a), a)
	assert.Assert(t, strings.HasPrefix(a, "unknown-") && len(a) == len("unknown-")+16)
	assert.Assert(t, a != ProjectID("unknown", "/home/me/b"))
	assert.Assert(t, a != ProjectID("manual", "/home/me/a"))
}

func TestWhereStateIs(t *testing.T) {
	s, err := Open(func(string) string { return "" }, "abc123")
	assert.NilError(t, err)
	path, err := s.StatePath()
	assert.NilError(t, err)
	assert.Equal(t, path, "/tmp/brepl-stop-hook-abc123.edn")

	root := filepath.Join(t.TempDir(), "made", "on use")
	s = open(t, root, "abc123")
	_, err = os.Stat(root)
	assert.ErrorIs(t, err, os.ErrNotExist) // Open makes no system calls
	dir, err := s.Dir()
	assert.NilError(t, err)
	uid := strconv.Itoa(os.Geteuid())
	assert.Equal(t, dir, filepath.Join(root, "brepl-"+uid, "abc123"))
	for _, d := range []string{dir, filepath.Dir(dir)} {
		info, statErr := os.Stat(d)
		assert.NilError(t, statErr)
		assert.Equal(t, info.Mode(), os.ModeDir|0o700)
	}

	_, err = Open(envOf("rel"), "x")
	assert.Error(t, err, `BREPL_STATE_DIR="rel": give an absolute path, or unset it`)
}

func TestPrivateFolderIsOursOrRefused(t *testing.T) {
	// Fault 50: another owner's, a symlink.
	tests := []struct {
		name    string
		prepare func(t *testing.T, path string)
		reason  error
		text    string
	}{
		{"symlink", func(t *testing.T, path string) {
			assert.NilError(t, os.Symlink(t.TempDir(), path))
		}, ErrSymlink, "PATH is not used: it is a symbolic link; remove it, or set BREPL_STATE_DIR to a folder of your own"},
		{"file", func(t *testing.T, path string) {
			assert.NilError(t, os.WriteFile(path, nil, 0o600))
		}, ErrNotFolder, "PATH is not used: it is not a folder; remove it, or set BREPL_STATE_DIR to a folder of your own"},
		{"other owner", func(t *testing.T, path string) {
			assert.NilError(t, os.Mkdir(path, 0o700))
			needRoot(t)
			assert.NilError(t, os.Chown(path, 12345, -1))
		}, ErrOwner, "PATH is not used: it belongs to another user (user id 12345, ours is 0); ask for its removal, or set BREPL_STATE_DIR to a folder of your own"},
		{"open to the group", func(t *testing.T, path string) {
			assert.NilError(t, os.Mkdir(path, 0o700))
			assert.NilError(t, os.Chmod(path, 0o750))
		}, ErrExposed, "PATH is not used: other users can access it (mode 0750); look at what is in it, then run: chmod 700 PATH"},
	}
	for _, tt := range tests {
		for _, level := range []string{"parent", "session"} {
			t.Run(tt.name+" as "+level, func(t *testing.T) {
				root := t.TempDir()
				path := filepath.Join(root, privateName())
				if level == "session" {
					assert.NilError(t, os.Mkdir(path, 0o700))
					path = filepath.Join(path, "s")
				}
				tt.prepare(t, path)
				s := open(t, root, "s")
				_, err := s.Dir()
				assert.ErrorIs(t, err, tt.reason)
				assert.Error(t, err, strings.ReplaceAll(tt.text, "PATH", path))
				_, err = s.Lock(t.Context(), time.Second)
				assert.ErrorIs(t, err, tt.reason)
				assert.ErrorIs(t, s.Remove(), tt.reason)
				_, err = os.Lstat(path)
				assert.NilError(t, err) // still there
			})
		}
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a file to another user")
	}
}

func TestRemove(t *testing.T) {
	root := t.TempDir()
	s, other := open(t, root, "a"), open(t, root, "b")
	for _, x := range []*Session{s, other} {
		path, err := x.StatePath()
		assert.NilError(t, err)
		assert.NilError(t, WriteFile(path, []byte("{}"), WriteOptions{State: true}))
		_, err = SetAside(path)
		assert.NilError(t, err)
		assert.NilError(t, WriteFile(path, []byte("{}"), WriteOptions{State: true}))
		dir, err := x.Dir()
		assert.NilError(t, err)
		assert.NilError(t, os.MkdirAll(filepath.Join(dir, "logs", "deep"), 0o700))
	}
	outside := filepath.Join(t.TempDir(), "kept")
	assert.NilError(t, os.Mkdir(outside, 0o700))
	dir, err := s.Dir()
	assert.NilError(t, err)
	assert.NilError(t, os.Symlink(outside, filepath.Join(dir, "link")))

	unlock, err := s.Lock(t.Context(), 0)
	assert.NilError(t, err)
	assert.NilError(t, s.Remove())
	unlock()
	assert.NilError(t, s.Remove()) // nothing there is fine
	_, err = os.Stat(outside)
	assert.NilError(t, err)
	assert.DeepEqual(t, tree(t, root), []string{
		privateName(), privateName() + "/b", privateName() + "/b/logs", privateName() + "/b/logs/deep",
		"brepl-stop-hook-b.edn", "brepl-stop-hook-b.edn.bad",
	}) // two sessions do not mix
}

// tree lists everything under a folder.
func tree(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	assert.NilError(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if name, _ := filepath.Rel(root, path); name != "." {
			names = append(names, name)
		}
		return err
	}))
	return names
}

func TestReadOwned(t *testing.T) {
	// Fault 50: symlinks, FIFOs, other owners, too large: not believed, and no hang.
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	assert.NilError(t, os.WriteFile(at("ok"), []byte("12345678"), 0o644))
	assert.NilError(t, os.WriteFile(at("large"), []byte("123456789"), 0o600))
	assert.NilError(t, os.Symlink(at("ok"), at("link")))
	assert.NilError(t, os.Symlink(at("nothing"), at("dangling")))
	assert.NilError(t, syscall.Mkfifo(at("fifo"), 0o600))
	assert.NilError(t, os.Mkdir(at("folder"), 0o700))

	data, err := ReadOwned(at("ok"), 8)
	assert.NilError(t, err)
	assert.Equal(t, string(data), "12345678")
	_, err = ReadOwned(at("missing"), 8)
	assert.ErrorIs(t, err, os.ErrNotExist)
	cases := map[string]error{"large": ErrTooLarge, "link": ErrSymlink, "dangling": ErrSymlink, "fifo": ErrNotRegular, "folder": ErrNotRegular}
	if os.Geteuid() == 0 {
		assert.NilError(t, os.WriteFile(at("theirs"), nil, 0o600))
		assert.NilError(t, os.Chown(at("theirs"), 12345, -1))
		cases["theirs"] = ErrOwner
	}
	for name, want := range cases {
		_, err := ReadOwned(at(name), 8)
		assert.ErrorIs(t, err, want)
		assert.ErrorContains(t, err, at(name)+" is not used: ")
		if name == "large" {
			continue
		}
		assert.ErrorIs(t, RemoveOwned(at(name)), want)
		_, err = SetAside(at(name))
		assert.ErrorIs(t, err, want)
		_, err = os.Lstat(at(name))
		assert.NilError(t, err)
	}
}

func TestSetAside(t *testing.T) {
	// Fault 50: a state file that does not parse is kept as .bad.
	path := filepath.Join(t.TempDir(), "x.edn")
	for _, text := range []string{"{:broken", "{:again"} {
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
		bad, err := SetAside(path)
		assert.NilError(t, err)
		assert.Equal(t, bad, path+".bad")
		got, err := os.ReadFile(bad)
		assert.NilError(t, err)
		assert.Equal(t, string(got), text)
		_, err = os.Lstat(path)
		assert.ErrorIs(t, err, os.ErrNotExist)
	}
	assert.NilError(t, os.WriteFile(path, nil, 0o600))
	assert.NilError(t, os.Remove(path+".bad"))
	assert.NilError(t, os.Symlink("/etc/passwd", path+".bad"))
	_, err := SetAside(path)
	assert.ErrorIs(t, err, ErrSymlink)
}

func TestSweep(t *testing.T) {
	// Fault 51: no SessionEnd, or it was killed: swept later.
	now := time.Now()
	old, fresh := now.Add(-8*24*time.Hour), now.Add(-6*24*time.Hour)
	root := t.TempDir()
	private := filepath.Join(root, privateName())
	put := func(name string, mtime time.Time) {
		path := filepath.Join(root, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		if strings.HasSuffix(name, "/") {
			assert.NilError(t, os.MkdirAll(path, 0o700))
		} else {
			assert.NilError(t, os.WriteFile(path, nil, 0o600))
		}
		assert.NilError(t, os.Chtimes(path, mtime, mtime))
	}
	p := privateName() + "/"
	put("brepl-stop-hook-old.edn", old)
	put("brepl-stop-hook-old.edn.bad", old)
	put(".brepl-stop-hook-old.edn.12-3.tmp", old)
	put("brepl-stop-hook-fresh.edn", fresh)
	put("brepl-stop-hook-future.edn", now.Add(24*time.Hour))
	put("brepl-stop-hook-old.txt", old)
	put("somebody-elses.edn", old)
	put("brepl-stop-hook-folder.edn/", old)
	outside := filepath.Join(t.TempDir(), "target")
	assert.NilError(t, os.WriteFile(outside, nil, 0o600))
	assert.NilError(t, os.Symlink(outside, filepath.Join(root, "brepl-stop-hook-link.edn")))
	assert.NilError(t, os.Chtimes(outside, old, old))
	for _, name := range []string{"old", "fresh", "written", "locked"} {
		put(p+name+"/lock", old)
	}
	put(p+"written/log", fresh)
	if os.Geteuid() == 0 {
		put("brepl-stop-hook-theirs.edn", old)
		assert.NilError(t, os.Chown(filepath.Join(root, "brepl-stop-hook-theirs.edn"), 12345, -1))
	}
	unlock, err := open(t, root, "locked").Lock(t.Context(), 0)
	assert.NilError(t, err)
	defer unlock()
	for name, mtime := range map[string]time.Time{"old": old, "fresh": fresh, "written": old, "locked": old} {
		assert.NilError(t, os.Chtimes(filepath.Join(private, name), mtime, mtime))
	}

	assert.Equal(t, Sweep(envOf(root), now, SweepAge), 4)
	want := []string{p + "fresh", p + "fresh/lock", p + "locked", p + "locked/lock", p + "written", p + "written/lock", p + "written/log"}
	want = append([]string{privateName()}, want...)
	want = append(want, "brepl-stop-hook-folder.edn", "brepl-stop-hook-fresh.edn", "brepl-stop-hook-future.edn", "brepl-stop-hook-link.edn", "brepl-stop-hook-old.txt")
	if os.Geteuid() == 0 {
		want = append(want, "brepl-stop-hook-theirs.edn")
	}
	want = append(want, "somebody-elses.edn")
	assert.DeepEqual(t, tree(t, root), want)
	_, err = os.Stat(outside)
	assert.NilError(t, err)
}

func TestSweepIsBounded(t *testing.T) {
	root := t.TempDir()
	old := time.Now().Add(-10 * 24 * time.Hour)
	for i := range 300 {
		path := filepath.Join(root, filePrefix+strconv.Itoa(i)+fileSuffix)
		assert.NilError(t, os.WriteFile(path, nil, 0o600))
		assert.NilError(t, os.Chtimes(path, old, old))
	}
	first := Sweep(envOf(root), time.Now(), SweepAge)
	assert.Assert(t, first > 0 && first <= sweepLimit, "%d", first)
	total := first
	for range 300 {
		total += Sweep(envOf(root), time.Now(), SweepAge)
	}
	assert.Equal(t, total, 300)
}

func TestOpenIn(t *testing.T) {
	// Another state folder than that of sessions: no hint names a variable that it does not depend on.
	_, err := OpenIn("rel", "s")
	assert.Error(t, err, `state folder "rel": give an absolute path`)
	root := filepath.Join(t.TempDir(), "deep", "state")
	s, err := OpenIn(root, "s")
	assert.NilError(t, err)
	dir, err := s.Dir()
	assert.NilError(t, err)
	assert.Equal(t, dir, filepath.Join(root, privateName(), "s"))

	assert.NilError(t, os.RemoveAll(dir))
	assert.NilError(t, os.WriteFile(dir, nil, 0o600))
	_, err = s.Dir()
	assert.Error(t, err, dir+" is not used: it is not a folder; remove it")

	s, err = OpenIn(filepath.Join(dir, "below a file"), "s")
	assert.NilError(t, err)
	_, err = s.Dir()
	assert.Error(t, err, "mkdir "+dir+": not a directory")
}
