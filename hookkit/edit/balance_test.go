package edit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const (
	broken   = "(defn f [x]\n  (inc x)\n"
	mended   = "(defn f [x]\n  (inc x))\n"
	refused  = "(def s \"abc)\n"
	didWhat  = "added `)` at the end of line 2\n"
	whyNot   = " was not repaired: the string that starts at 1:8 has no end\n"
	fineText = "\ufeff(a\r\n\t b)\f,"
)

// brepl balance FILE… | -: what each flag writes where, and the exit code.
func TestBalance(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		stdin  string
		stdout string
		stderr string // its start
		exit   int
		files  map[string]string // those that differ afterwards
	}{
		{"in place", []string{"bad.clj"}, "", "bad.clj: " + didWhat, "", 0, map[string]string{"bad.clj": mended}},
		{"balanced: nothing", []string{"fine.clj"}, "", "", "", 0, nil},
		{"many files, one refused", []string{"string.clj", "bad.clj", "fine.clj"}, "", "bad.clj: " + didWhat, "brepl balance: string.clj" + whyNot, 1, map[string]string{"bad.clj": mended}},
		{"refused", []string{"string.clj"}, "", "", "brepl balance: string.clj" + whyNot + "  1:8 ", 1, nil},
		{"--dry-run", []string{"--dry-run", "bad.clj"}, "", mended, "", 0, nil},
		{"--dry-run behind the file, as brepl 2.x has it", []string{"bad.clj", "--dry-run"}, "", mended, "", 0, nil},
		{"--dry-run, balanced", []string{"--dry-run", "fine.clj"}, "", fineText, "", 0, nil},
		{"--dry-run, refused", []string{"--dry-run", "string.clj"}, "", "", "brepl balance: string.clj" + whyNot, 1, nil},
		{"--diff", []string{"--diff", "bad.clj", "fine.clj"}, "", "diff bad.clj bad.clj (repaired)\n--- bad.clj\n+++ bad.clj (repaired)\n@@ -1,2 +1,2 @@\n (defn f [x]\n-  (inc x)\n+  (inc x))\n", "", 0, nil},
		{"--check", []string{"--check", "fine.clj", "bad.clj"}, "", "bad.clj would change: " + didWhat, "", 1, nil},
		{"--check, balanced", []string{"--check", "fine.clj"}, "", "", "", 0, nil},
		{"--check, refused", []string{"--check", "string.clj"}, "", "", "brepl balance: string.clj" + whyNot, 1, nil},
		{"--json", []string{"--json", "bad.clj"}, "", `{"file":"bad.clj","changed":true,"confidence":"sure","edits":[{"line":2,"column":10,"removed":"","inserted":")"}]}` + "\n", "", 0, map[string]string{"bad.clj": mended}},
		{"--json --check", []string{"--json", "--check", "bad.clj", "fine.clj"}, "", `{"file":"bad.clj","changed":true,"confidence":"sure","edits":[{"line":2,"column":10,"removed":"","inserted":")"}]}` + "\n" + `{"file":"fine.clj","changed":false}` + "\n", "", 1, nil},
		{"--json -", []string{"--json", "-"}, "(a", `{"file":"-","changed":true,"confidence":"sure","edits":[{"line":1,"column":3,"removed":"","inserted":")"}],"text":"(a)"}` + "\n", "", 0, nil},
		{"--json --diff", []string{"--json", "--diff", "bad.clj"}, "", `{"file":"bad.clj","changed":true,"confidence":"sure","edits":[{"line":2,"column":10,"removed":"","inserted":")"}]}` + "\n", "", 0, nil},
		{"--json --dry-run", []string{"--json", "--dry-run", "fine.clj"}, "", `{"file":"fine.clj","changed":false,"text":"` + "\ufeff" + `(a\r\n\t b)\f,"}` + "\n", "", 0, nil},
		{"--json, a line for each file", []string{"--json", "nowhere.clj", "string.clj"}, "", `{"file":"nowhere.clj","changed":false,"error":"there is no file nowhere.clj"}` + "\n" + `{"file":"string.clj","changed":false,"refused":"the string that starts at 1:8 has no end","places":[{"line":1,"column":8,"text":"the string that starts here has no end; the quote that is missing may be before it"}]}` + "\n", "brepl balance: there is no file nowhere.clj\nbrepl balance: string.clj" + whyNot, 1, nil},
		{"--json, a text that JSON cannot hold", []string{"--json", "-"}, "(a \"\xff\"", `{"file":"-","changed":false,"confidence":"sure","edits":[{"line":1,"column":8,"removed":"","inserted":")"}],"error":"the text of - is not UTF-8, which JSON cannot hold; leave out --json"}` + "\n", "brepl balance: the text of - is not UTF-8, which JSON cannot hold; leave out --json\n", 1, nil},
		{"bytes that are no UTF-8 stay", []string{"-"}, "(a \"\xff\"", "(a \"\xff\")", "", 0, nil},
		{"a name with a dash", []string{"--check", "--", "-bad.clj"}, "", "-bad.clj would change: " + didWhat, "", 1, nil},
		{"stdin", []string{"-"}, broken, mended, "", 0, nil},
		{"stdin, balanced", []string{"-"}, fineText, fineText, "", 0, nil},
		{"stdin, empty", []string{"-"}, "", "", "", 0, nil},
		{"stdin, refused", []string{"-"}, refused, "", "brepl balance: -" + whyNot, 1, nil},
		{"stdin, --check", []string{"--check", "-"}, broken, "- would change: " + didWhat, "", 1, nil},
		{"excluded by hooks.edn", []string{"test/bad.clj", "test/string.clj"}, "", "", "", 0, nil},
		{"no file", nil, "", "", "brepl balance: no file given; - is stdin\n", 1, nil},
		{"- and a file", []string{"-", "bad.clj"}, "", "", "brepl balance: - stands alone\n", 1, nil},
		{"two ways", []string{"--diff", "--check", "bad.clj"}, "", "", "brepl balance: --dry-run, --diff and --check exclude each other\n", 1, nil},
		{"missing", []string{"nowhere.clj", "bad.clj"}, "", "bad.clj: " + didWhat, "brepl balance: there is no file nowhere.clj\n", 1, map[string]string{"bad.clj": mended}},
		{"a folder", []string{"test"}, "", "", "brepl balance: read $DIR/test: not a regular file\n", 1, nil},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{
				"bad.clj": broken, "-bad.clj": broken, "string.clj": refused, "fine.clj": fineText, "test/bad.clj": broken, "test/string.clj": refused,
				".brepl/hooks.edn": `{:validate {:exclude ["test/*.clj"]}}`,
			}
			b := newTestbed(t, files)
			stdout, stderr, exit := b.run(c.stdin, append([]string{"balance"}, c.args...)...)
			assert.Equal(t, stdout, c.stdout)
			assert.Assert(t, strings.HasPrefix(stderr, c.stderr) && (c.stderr != "" || stderr == ""), stderr)
			assert.Equal(t, exit, c.exit)
			for name, text := range files {
				if changed, ok := c.files[name]; ok {
					text = changed
				}
				assert.Equal(t, b.read(name), text, name)
			}
		})
	}
}

// What could not be written is not reported as changed, and the file is as it was.
func TestBalanceReadOnly(t *testing.T) {
	b := newTestbed(t, map[string]string{"bad.clj": broken})
	assert.NilError(t, os.Chmod(b.path("bad.clj"), 0o444))
	stdout, stderr, exit := b.run("", "balance", "--json", "bad.clj")
	assert.Equal(t, exit, 1)
	const said = "bad.clj was not repaired: $DIR/bad.clj is not used: it is read-only (mode 0444); make it writable first: chmod u+w $DIR/bad.clj"
	assert.Equal(t, stderr, "brepl balance: "+said+"\n")
	assert.Equal(t, stdout, `{"file":"bad.clj","changed":false,"confidence":"sure","edits":[{"line":2,"column":10,"removed":"","inserted":")"}],"error":"`+said+`"}`+"\n")
	assert.Equal(t, b.read("bad.clj"), broken)
}

// "Backups … before any repair in place"; the mode stays, a link stays a link.
func TestBalanceInPlace(t *testing.T) {
	b := newTestbed(t, map[string]string{"real/a.clj": broken})
	assert.NilError(t, os.Chmod(b.path("real/a.clj"), 0o640))
	assert.NilError(t, os.Symlink(filepath.Join("real", "a.clj"), b.path("link.clj")))
	b.env = append(b.env, "CLAUDE_CODE_SESSION_ID=s1")
	_, stderr, exit := b.run("", "balance", "link.clj")
	assert.Equal(t, stderr, "")
	assert.Equal(t, exit, 0)
	assert.Equal(t, b.read("real/a.clj"), mended)
	info, err := os.Lstat(b.path("real/a.clj"))
	assert.NilError(t, err)
	assert.Equal(t, info.Mode(), os.FileMode(0o640))
	info, err = os.Lstat(b.path("link.clj"))
	assert.NilError(t, err)
	assert.Assert(t, info.Mode()&os.ModeSymlink != 0)
	assert.DeepEqual(t, b.kept(), []string{`1 link.clj "` + strings.ReplaceAll(broken, "\n", `\n`) + `"`})
}
