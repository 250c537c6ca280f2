package edit

import (
	"testing"

	"gotest.tools/v3/assert"
)

// A file in .claude/worktrees is another branch's: loaded, it would take the place of the project's own namespace.
func TestIsSource(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"src/a.clj": true, "a.cljc": true, "src/a.b/c.clj": true, "README.md": false,
		".claude/worktrees/wt/src/a.clj": false, "src/.a.clj": false, ".clj-kondo/hooks/a.clj": false, ".a.clj": false,
	} {
		assert.Equal(t, isSource(name), want, name)
	}
}
