package edit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// `:validate {:exclude [globs]}` leaves files alone that are broken on purpose.
func TestValidateExclude(t *testing.T) {
	tests := []struct {
		name, hooks string
		file        string
		excluded    bool
	}{
		{"by name", `{:validate {:exclude ["src/a.clj"]}}`, "src/a.clj", true},
		{"by glob", `{:stop [] :validate {:exclude ["other" "test/**/*.clj"]}}`, "test/bad/x.clj", true},
		{"a folder", `{:validate {:exclude ["./test/bad/"]}}`, "test/bad/deep/x.clj", true},
		{"not named", `{:validate {:exclude ["src/b.clj"]}}`, "src/a.clj", false},
		{"nothing excluded", `{:validate {}}`, "src/a.clj", false},
		{"no vector of strings", `{:validate {:exclude 7}}`, "src/a.clj", false},
		{"beside code that is no EDN", `{:stop [{:type :repl :name "t" :code (do 'x @y #(f %) #"re")}] :validate {:exclude ["src/a.clj"]}}`, "src/a.clj", true},
		{"a bad glob", `{:validate {:exclude ["[" ""]}}`, "src/a.clj", false},
		{"broken itself", `{:validate {:exclude ["src/a.clj"]`, "src/a.clj", false},
		{"empty", "", "src/a.clj", false},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			b := newTestbed(t, map[string]string{".brepl/hooks.edn": c.hooks})
			got := b.eventFor(c.file, "Write", `"content":"(f \"x"`)
			assert.Equal(t, got == "", c.excluded, got)
			stdout, _, exit := b.run("", "validate", c.file, `(f "x`)
			assert.Equal(t, exit, 0)
			assert.Equal(t, strings.Contains(stdout, `"decision":"allow"`), c.excluded, stdout)
		})
	}
	t.Run("in the host's project, from a sub-directory", func(t *testing.T) {
		b := newTestbed(t, map[string]string{".brepl/hooks.edn": `{:validate {:exclude ["src/a.clj"]}}`, ".git/HEAD": "", "src/x/y": ""})
		root := b.dir
		b.dir = filepath.Join(root, "src", "x")
		b.env = append(b.env, "CLAUDE_PROJECT_DIR="+filepath.Join(root, "src"))
		assert.Equal(t, b.eventFor("../a.clj", "Write", `"content":"(f \"x"`), "")
	})
}

// The deny text says how a file is excluded; what it says works, whatever the file is called and wherever the agent stands.
func TestExcludeHint(t *testing.T) {
	const mark = "`:validate {:exclude ["
	for _, c := range []struct{ dir, file, want string }{
		{".", "src/a.clj", `"src/a.clj"`},
		{".", "src/[x]{y}*?!.clj", `"src/\\[x\\]\\{y\\}\\*\\?\\!.clj"`},
		{".", "a\nb.clj", `"a\nb.clj"`},
		{"src", "a.clj", `"src/a.clj"`},
		{".", "../a.clj", ""},
	} {
		b := newTestbed(t, map[string]string{"p/.brepl/hooks.edn": "{}", "p/src/x": "", "p/.git/HEAD": ""})
		root := b.path("p")
		b.env = append(b.env, "CLAUDE_PROJECT_DIR="+root)
		b.dir = filepath.Join(root, c.dir)
		ask := func() string {
			stdout, _, _ := b.run("", "validate", c.file, "(f \"")
			var a answer
			assert.NilError(t, json.Unmarshal([]byte(stdout), &a))
			return a.Reason
		}
		_, hint, found := strings.Cut(ask(), mark)
		assert.Equal(t, found, c.want != "", "%q", c.file)
		if !found {
			continue
		}
		glob, _, _ := strings.Cut(hint, "]}`")
		assert.Equal(t, glob, c.want)
		assert.NilError(t, os.WriteFile(filepath.Join(root, ".brepl", "hooks.edn"), []byte("{:validate {:exclude ["+glob+"]}}"), 0o600))
		assert.Equal(t, ask(), "", "%q", c.file)
	}
}
