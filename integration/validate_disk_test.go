//go:build unix

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// Issue 4: pre-edit → edit → post-edit through the agent, what is left on disk byte for byte and what the agent read.
func TestEditOnDisk(t *testing.T) {
	brepl(t)
	t.Parallel()
	const enlarged = " The replaced part of the file was enlarged for it."
	tests := []struct {
		name             string
		before, old, new string
		all              bool
		after            string // what is on disk then
		told             string // "" for nothing
	}{
		{
			"within new_string", "(defn f [x]\n  (inc x))\n", "(inc x))", "(let [y (inc x)]\n    y)", false,
			"(defn f [x]\n  (let [y (inc x)]\n    y))\n", "added `)` at the end of line 3.",
		},
		{
			"a closer lost outside of it", "(defn f [x]\n  (inc x))\n\n(defn g [] 1)\n", "(inc", "(when x\n    (inc", false,
			"(defn f [x]\n  (when x\n    (inc x)))\n\n(defn g [] 1)\n", "added `)` at the end of line 3." + enlarged,
		},
		{
			"everywhere", "(f 1)\n(g 2)\n(f 1)\n", "(f 1)", "(f (h 1)", true,
			"(f (h 1))\n(g 2)\n(f (h 1))\n", "added `)` at the end of line 1, added `)` at the end of line 3.",
		},
		{
			"byte order mark, CRLF, tabs, no final newline", "\ufeff(defn f [x]\r\n\t(inc x))\r\n\r\n( odd\r\n      style )", "(inc x))", "(inc (inc x))", false,
			"\ufeff(defn f [x]\r\n\t(inc (inc x)))\r\n\r\n( odd\r\n      style )", "added `)` at the end of line 2.",
		},
		{
			"a deletion at the end of a line takes the line end with it, and the comment swallows the closer", "(f ; one two\n)\n", " two", "", false,
			"(f) ; one)\n", "added `)` at 1:3." + enlarged,
		},
		{"healthy, whatever its style", "( a\n      b )\n", "b", "(b)", false, "( a\n      (b) )\n", ""},
	}
	a := newAgent(t, "{}\n")
	a.withREPL(fakes.NREPLRelaxed())
	const file = "src/a.clj"
	for _, c := range tests {
		a.project.Write(file, c.before)
		var options []fakes.EditOption
		if c.all {
			options = append(options, fakes.ReplaceAll())
		}
		turn := a.Edit(file, c.old, c.new, options...)
		a.onDisk(file, c.after)
		assert.Assert(t, turn.ToolRan && !turn.Blocked && !turn.Asked, "%s\n%s", c.name, a.Story())
		if c.told == "" {
			assert.Equal(t, turn.ToldText(), "", c.name)
		} else {
			assert.DeepEqual(t, toldOf(turn), repaired(file, c.told))
		}
	}
}

// Issue 4: backups are gone at session end, in BREPL_HOOK_BACKUP_DIR too; what else is there stays.
func TestOwnBackupFolder(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newProgramWorld(t)
	w.install()
	own := filepath.Join(w.scratch, "backups")
	w.env = append(w.env, "BREPL_HOOK_BACKUP_DIR="+own)
	w.project.Write("src/a.clj", "(a)\n")
	a := w.agent()
	a.Edit("src/a.clj", "a", "b")
	kept := filepath.Join(own, w.session)
	assert.Equal(t, content(t, filepath.Join(kept, "1.bak")), "(a)\n")
	assert.NilError(t, os.WriteFile(filepath.Join(own, "mine"), nil, 0o600))
	turn := a.Bash("brepl backup restore src/a.clj")
	assert.Equal(t, normalize(strings.TrimSpace(turn.ToolResult), measured()), "src/a.clj is restored from backup 1, as it was on $WHEN; what was there is backup 2")
	a.onDisk("src/a.clj", "(a)\n")
	a.Exit("other")
	entries, err := os.ReadDir(own)
	assert.NilError(t, err)
	assert.Equal(t, len(entries), 1)
	assert.Equal(t, entries[0].Name(), "mine")
}

// "usable as a git pre-commit check": the hook of docs/brepl.md, as it stands there.
func TestPreCommit(t *testing.T) {
	program := brepl(t)
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		skipOrFail(t, "git: %v", err)
	}
	manual, err := os.ReadFile(filepath.Join(root, "docs", "brepl.md"))
	assert.NilError(t, err)
	_, rest, _ := strings.Cut(string(manual), "`.git/hooks/pre-commit`, executable:\n\n```sh\n")
	hook, _, found := strings.Cut(rest, "```\n")
	assert.Assert(t, found, "docs/brepl.md shows no pre-commit hook")

	dir, home := realTempDir(t), realTempDir(t)
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "BREPL_STATE_DIR=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
		out, gitErr := cmd.CombinedOutput()
		return string(out), gitErr
	}
	put := func(name, text string) {
		t.Helper()
		assert.NilError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	out, err := git("init", "-q")
	assert.NilError(t, err, out)
	put(".git/hooks/pre-commit", hook)
	commit := func(want string, names ...string) {
		t.Helper()
		out, err = git(append([]string{"add", "--"}, names...)...)
		assert.NilError(t, err, out)
		put("src/a b.clj", "(working tree, not looked at") // what is staged counts
		out, err = git("commit", "-q", "-m", "m")
		assert.Equal(t, err != nil, want != "", out)
		assert.Equal(t, out, want)
	}
	put(".brepl/hooks.edn", `{:validate {:exclude ["broken"]}}`)
	put("src/a b.clj", "(a)\n")
	put("broken/x.clj", "(x \"")
	put("README.md", "(((")
	commit("", ".brepl", "src", "broken", "README.md")
	put("src/a b.clj", "(a\n  b\n")
	commit("src/a b.clj would change: added `)` at the end of line 2\n", "src")
	put("src/a b.clj", "(a\n  b)\n")
	put("-c.clj", "(c \"")
	commit("brepl balance: -c.clj was not repaired: the string that starts at 1:4 has no end\n"+
		"  1:4 the string that starts here has no end; the quote that is missing may be before it\n", "src", "-c.clj")
	put("src/a b.clj", "(a\n  b)\n")
	put("-c.clj", "(c)")
	commit("", "src", "-c.clj")
	left, err := filepath.Glob(filepath.Join(home, "tmp.*"))
	assert.NilError(t, err)
	assert.Equal(t, len(left), 0)
}
