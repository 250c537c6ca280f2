package session

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// Issue 4: backups are gone at session end, and nothing else is that a session id happens to name.
func TestRemoveBackups(t *testing.T) {
	own := t.TempDir()
	env := func(name string) string {
		if name == "BREPL_HOOK_BACKUP_DIR" {
			return own
		}
		return ""
	}
	put := func(name string) {
		t.Helper()
		assert.NilError(t, os.MkdirAll(filepath.Dir(filepath.Join(own, name)), 0o700))
		assert.NilError(t, os.WriteFile(filepath.Join(own, name), nil, 0o600))
	}
	for _, name := range []string{
		"ours/1.bak", "ours/22.bak", "ours/manifest.edn", "mixed/1.bak", "mixed/manifest.edn", "mixed/notes.bak", "mixed/sub/1.bak", "photos/1.bak", "other/manifest.edn",
	} {
		put(name)
	}
	for _, id := range []string{"ours", "mixed", "photos", "nowhere", "..", ""} {
		assert.NilError(t, RemoveBackups(env, id))
	}
	for name, stays := range map[string]bool{
		"ours": false, "mixed/1.bak": false, "mixed/manifest.edn": false, "mixed/notes.bak": true, "mixed/sub/1.bak": true, "photos/1.bak": true, "other/manifest.edn": true,
	} {
		_, err := os.Lstat(filepath.Join(own, name))
		assert.Equal(t, err == nil, stays, name)
	}
	own = "here"
	assert.Error(t, RemoveBackups(env, "ours"), `BREPL_HOOK_BACKUP_DIR="here": give an absolute path, or unset it`)
	own = ""
	assert.NilError(t, RemoveBackups(env, "ours"))
}
