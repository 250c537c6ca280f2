package stop

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestSnapshot(t *testing.T) {
	for _, kind := range []string{"git", "plain"} {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "p")
			write := func(name, text string) {
				t.Helper()
				path := filepath.Join(dir, name)
				assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				assert.NilError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			if kind == "git" {
				cmd := exec.Command("git", "init", "-q", dir)
				out, err := cmd.CombinedOutput()
				assert.NilError(t, err, "%s", out)
				write(".gitignore", "target/\nnode_modules/\n")
			}
			write("src/a.clj", "a")
			write("src/ü b.clj", "b")
			write("README.md", "r")
			look := func(patterns ...string) string {
				t.Helper()
				for range 10 { // a busy machine may need longer than the limit
					if s := snapshot(t.Context(), dir, os.Environ(), patterns); s != "" {
						return s
					}
				}
				t.Fatalf("10 looks took longer than %v each", snapshotLimit)
				return ""
			}
			all, sources := look(), look("src/**")
			assert.Equal(t, look(), all)

			write("target/x.class", "x")
			write("node_modules/m/i.js", "x")
			assert.Equal(t, look(), all, "what is ignored does not count")

			write("README.md", "changed")
			assert.Assert(t, look() != all)
			assert.Equal(t, look("src/**"), sources, "only what matches counts")

			write("src/ü b.clj", "changed")
			assert.Assert(t, look("src/**") != sources)

			for _, same := range []string{"./src/**", "src", "src/", "src/*.clj"} {
				assert.Equal(t, look(same), look("src/**"), "%s", same)
			}
			assert.Equal(t, snapshot(t.Context(), dir, os.Environ(), []string{"sources/**"}), "", "a pattern without a file is never unchanged")
			assert.DeepEqual(t, unmatched(t.Context(), dir, os.Environ(), []string{"src", "sources/**", "*.md"}), []string{"sources/**"})

			sources = look("src/**")
			assert.NilError(t, exec.Command("git", "init", "-q", filepath.Join(dir, "src/vendored")).Run())
			write("src/vendored/v.clj", "v")
			assert.Assert(t, look("src/**") != sources, "a repository inside the project")
			sources = look("src/**")
			write("src/vendored/v.clj", "changed")
			assert.Assert(t, look("src/**") != sources, "a file in it")

			// What a repository inside ignores was a change, though the edit hooks passed it over.
			write("src/vendored/.gitignore", "/out/\n")
			sources = look("src/**")
			write("src/vendored/out/x.class", "x")
			assert.Equal(t, look("src/**"), sources, "what is ignored there does not count")
			assert.NilError(t, os.Symlink(dir, dir+"-link"))
			assert.Equal(t, snapshot(t.Context(), dir+"-link", os.Environ(), []string{"src/**"}), sources, "by another path")

			sources = look("src/**")
			assert.NilError(t, os.Remove(filepath.Join(dir, "src/a.clj")))
			assert.Assert(t, look("src/**") != sources, "a file that is gone is a change")
		})
	}
}

// A look that takes too long is "", which never equals anything.
func TestSnapshotGivesUp(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	assert.Equal(t, snapshot(ctx, t.TempDir(), os.Environ(), nil), "")
}
