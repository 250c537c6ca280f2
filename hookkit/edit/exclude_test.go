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
		{"beside faults of the stop hooks", `{:stop [{:type :bash}] :validate {:exclude ["[" "src/a.clj"]}}`, "src/a.clj", true},
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

// Fault 26: the edit hooks believed a hooks.edn that the stop hooks refuse, since others can write it.
func TestExcludeTrust(t *testing.T) {
	b := newTestbed(t, map[string]string{".brepl/hooks.edn": `{:validate {:exclude ["src/a.clj"]}}`, "src/a.clj": "(a)"})
	hooks := b.path(".brepl/hooks.edn")
	ask := func() (reason, stderr string) {
		stdout, stderr, exit := b.run("", "validate", "src/a.clj", "(f \"")
		assert.Equal(t, exit, 0)
		var a answer
		assert.NilError(t, json.Unmarshal([]byte(stdout), &a))
		return a.Reason, stderr
	}
	reason, stderr := ask()
	assert.Equal(t, reason+stderr, "")

	assert.NilError(t, os.Chmod(hooks, 0o666))
	const said = "$DIR/.brepl/hooks.edn can be written by every user of this machine, so what it excludes does not count; `chmod o-w $DIR/.brepl/hooks.edn`"
	reason, stderr = ask()
	assert.Equal(t, strings.TrimSpace(stderr), "brepl: "+said)
	assert.Assert(t, strings.HasSuffix(strings.ReplaceAll(reason, b.dir, "$DIR"), "\nIf this file is broken on purpose: "+said), reason)
	stdout, stderr, exit := b.run(`{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"`+
		b.path("src/a.clj")+`","content":"(f \"x"}}`, "validate")
	assert.Equal(t, exit, 0)
	assert.Assert(t, strings.Contains(stdout, `"permissionDecision":"deny"`), stdout)
	assert.Equal(t, strings.TrimSpace(stderr), "brepl: "+said)

	// Without a fault in the edited file nobody looks.
	_, stderr, exit = b.run("", "validate", "src/a.clj", "(f)")
	assert.Equal(t, exit, 0)
	assert.Equal(t, stderr, "")
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
