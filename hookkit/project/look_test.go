package project

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func clojure(name string) bool { return filepath.Ext(name) == ".clj" }

func scan(t *testing.T, dir string) Look {
	t.Helper()
	look, err := Scan(t.Context(), dir, os.Environ(), clojure)
	assert.NilError(t, err)
	return look
}

func TestScan(t *testing.T) {
	t.Parallel()
	dir := in(t, map[string]string{
		"src/a.clj": "a", "src/b.txt": "", "c.clj": "", ".git/d.clj": "", ".cpcache/e.clj": "", "target/f.clj": "", "src/target/g.clj": "",
		"node_modules/h.clj": "", ".hidden.clj": "",
	})
	assert.NilError(t, os.Symlink(filepath.Join(dir, "c.clj"), filepath.Join(dir, "src/link.clj")))
	before := scan(t, dir)
	var names []string
	for path := range before {
		rel, err := filepath.Rel(dir, path)
		assert.NilError(t, err)
		names = append(names, rel)
	}
	assert.Equal(t, len(names), 3, "%v", names)
	assert.Assert(t, before.Equal(scan(t, dir)))

	// Another size, another time, a new file, one that is gone.
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "src/a.clj"), []byte("ab"), 0o600))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "src/new.clj"), nil, 0o600))
	assert.NilError(t, os.Chtimes(filepath.Join(dir, "c.clj"), time.Time{}, time.Unix(1, 0)))
	assert.NilError(t, os.Remove(filepath.Join(dir, ".hidden.clj")))
	after := scan(t, dir)
	assert.DeepEqual(t, before.Changed(after), []string{filepath.Join(dir, "c.clj"), filepath.Join(dir, "src/a.clj"), filepath.Join(dir, "src/new.clj")})
	assert.Assert(t, !before.Equal(after))

	linked := filepath.Join(t.TempDir(), "link")
	assert.NilError(t, os.Symlink(dir, linked))
	assert.Assert(t, scan(t, linked).Equal(after))

	// One file at a time is the same, by whatever name.
	for name, want := range after {
		rel, err := filepath.Rel(dir, name)
		assert.NilError(t, err)
		path, stamp, ok := StampOf(filepath.Join(linked, rel))
		assert.Assert(t, ok && path == name && stamp == want, name)
	}
	for _, name := range []string{".hidden.clj", "src", "src/missing.clj"} {
		_, _, ok := StampOf(filepath.Join(dir, name))
		assert.Assert(t, !ok, name)
	}
	assert.Equal(t, len(scan(t, filepath.Join(dir, "missing"))), 0)
}

func TestScanIsBounded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Scan(ctx, in(t, map[string]string{"a.clj": ""}), os.Environ(), clojure)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestLookOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "look")
	_, err := ReadLook(path, "/r \"x")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	look := Look{"/a b\n\xff.clj": {-1, 0}, "/é": {1 << 62, 7}}
	assert.NilError(t, os.WriteFile(path, look.Encode("/r \"x"), 0o600))
	got, err := ReadLook(path, "/r \"x")
	assert.NilError(t, err)
	assert.DeepEqual(t, got, look)

	_, err = ReadLook(path, "/r")
	assert.ErrorContains(t, err, "not a look at /r of")
	whole := string(look.Encode("/r \"x"))
	for _, text := range []string{"", "x", whole[:len(whole)-3], strings.Replace(whole, "look 1", "look 2", 1), whole + "x\n"} {
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err = ReadLook(path, "/r \"x")
		assert.Assert(t, err != nil && !errors.Is(err, fs.ErrNotExist), "%q", text)
	}
	_, err = ReadLook(dir, dir)
	assert.ErrorContains(t, err, "not a file")
}
