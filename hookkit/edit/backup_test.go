package edit

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/cli"
)

func (b *testbed) store() *store {
	b.t.Helper()
	s, err := openStore(&cli.Program{Dir: b.dir, Env: b.env}, "s1")
	assert.NilError(b.t, err)
	return s
}

// kept lists the backups of session s1 as "id name content".
func (b *testbed) kept() []string {
	b.t.Helper()
	list, err := b.store().list()
	assert.NilError(b.t, err)
	var lines []string
	for _, one := range list {
		content, err := one.content()
		assert.NilError(b.t, err)
		lines = append(lines, fmt.Sprintf("%d %s %q", one.id, shown(b.dir, one.path), content))
	}
	return lines
}

// "Backups per session before an edit of a Clojure file": once for each content, none of a refused edit, nothing of other files.
func TestBackupBeforeEdits(t *testing.T) {
	b := newTestbed(t, map[string]string{"src/a.clj": "(a)", "b.md": "b"})
	b.event("Edit", `"old_string":"(a)","new_string":"(b)"`)
	b.event("Write", `"content":"(c)"`)
	b.event("Write", `"content":"(c \""`) // denied
	b.eventFor("b.md", "Write", `"content":"x"`)
	b.eventFor("new.clj", "Write", `"content":"(n)"`)
	assert.DeepEqual(t, b.kept(), []string{`1 src/a.clj "(a)"`})
	b.write("src/a.clj", "(b)")
	b.event("Write", `"content":"(c"`) // repaired
	assert.DeepEqual(t, b.kept(), []string{`1 src/a.clj "(a)"`, `2 src/a.clj "(b)"`})

	dirs, err := filepath.Glob(filepath.Join(b.state, "*", "s1", "backups"))
	assert.NilError(t, err)
	assert.Equal(t, len(dirs), 1, "the session's folder, which session-end removes")
	for _, name := range []string{"1.bak", "manifest.edn"} {
		info, err := os.Stat(filepath.Join(dirs[0], name))
		assert.NilError(t, err)
		assert.Equal(t, info.Mode().Perm(), os.FileMode(0o600))
	}
}

// "no collisions": files of the same name, odd names, and processes at the same moment.
func TestBackupNoCollisions(t *testing.T) {
	b := newTestbed(t, nil)
	var wait sync.WaitGroup
	const n = 30
	for i := range n {
		wait.Go(func() {
			_, err := b.store().save(b.path(fmt.Sprintf("d%d/a \"b\"\n.clj", i)), fmt.Appendf(nil, "(%d)", i), 0o640)
			assert.Check(t, err)
		})
	}
	wait.Wait()
	list, err := b.store().list()
	assert.NilError(t, err)
	assert.Equal(t, len(list), n)
	for i := range n {
		one, ok := newest(list, b.path(fmt.Sprintf("d%d/a \"b\"\n.clj", i)))
		assert.Assert(t, ok, i)
		content, err := one.content()
		assert.NilError(t, err)
		assert.Equal(t, string(content), fmt.Sprintf("(%d)", i))
		assert.Equal(t, one.mode, os.FileMode(0o640))
	}
}

// Backups do not grow without bound: the first of each file in the session stays, and the last 20. No number is given twice.
func TestBackupBound(t *testing.T) {
	b := newTestbed(t, nil)
	save := func(name, text string) backup {
		t.Helper()
		one, err := b.store().save(b.path(name), []byte(text), 0o644)
		assert.NilError(t, err)
		return one
	}
	save("a.clj", "(first)")
	save("b.clj", "(b)")
	for i := range 50 {
		save("a.clj", fmt.Sprintf("(%d)", i))
	}
	kept := b.kept()
	assert.Equal(t, len(kept), 2+keptLast)
	assert.DeepEqual(t, kept[:3], []string{`1 a.clj "(first)"`, `2 b.clj "(b)"`, `33 a.clj "(30)"`})
	assert.Equal(t, kept[len(kept)-1], `52 a.clj "(49)"`)

	// The newest ones go, as somebody who cleans up would do it.
	dir, err := b.store().dir(false)
	assert.NilError(t, err)
	for i := 2; i <= 52; i++ {
		if err = os.Remove(filepath.Join(dir, fmt.Sprintf("%d.bak", i))); err != nil {
			assert.ErrorIs(t, err, os.ErrNotExist)
		}
	}
	assert.Equal(t, save("b.clj", "(b2)").id, 53)
	assert.DeepEqual(t, b.kept(), []string{`1 a.clj "(first)"`, `53 b.clj "(b2)"`})
}

// One file that was edited by several paths is restored by any of them.
func TestBackupLinkedFolder(t *testing.T) {
	b := newTestbed(t, map[string]string{"src/a.clj": "(1)"})
	assert.NilError(t, os.Symlink("src", b.path("link")))
	for _, name := range []string{"src/a.clj", "link/a.clj"} {
		b.eventFor(name, "Write", `"content":"(2)"`)
		b.write("src/a.clj", "(2)")
	}
	b.write("src/a.clj", "(3")
	for _, c := range [][2]string{{"link/a.clj", "(2)"}, {"src/a.clj", "(3"}} {
		_, stderr, exit := b.run("", "backup", "restore", "--session", "s1", c[0])
		assert.Equal(t, stderr, "")
		assert.Equal(t, exit, 0)
		assert.Equal(t, b.read("src/a.clj"), c[1])
	}
	out, _, exit := b.run("", "backup", "diff", "--session", "s1", "link/a.clj")
	assert.Equal(t, exit, 0)
	assert.Equal(t, strings.Count(out, "+++"), 1, out)
}

// A manifest that was cut off by a full disk loses no other backup.
func TestBackupManifestDamaged(t *testing.T) {
	b := newTestbed(t, nil)
	_, err := b.store().save(b.path("a.clj"), []byte("(a)"), 0o644)
	assert.NilError(t, err)
	dir, err := b.store().dir(false)
	assert.NilError(t, err)
	f, err := os.OpenFile(filepath.Join(dir, manifestName), os.O_APPEND|os.O_WRONLY, 0)
	assert.NilError(t, err)
	_, err = f.WriteString("\n{:id 2 :mo")
	assert.NilError(t, err)
	assert.NilError(t, f.Close())
	_, err = b.store().save(b.path("b.clj"), []byte("(b)"), 0o644)
	assert.NilError(t, err)
	_, err = b.store().save(b.path("c.clj"), []byte("(c)"), 0o644)
	assert.NilError(t, err)
	assert.DeepEqual(t, b.kept(), []string{`1 a.clj "(a)"`, `2 b.clj "(b)"`, `3 c.clj "(c)"`})
}

func TestBackupDir(t *testing.T) {
	b := newTestbed(t, map[string]string{"src/a.clj": "(a)"})
	own := t.TempDir()
	b.env = append(b.env, "BREPL_HOOK_BACKUP_DIR="+own)
	b.event("Write", `"content":"(b)"`)
	content, err := os.ReadFile(filepath.Join(own, "s1", "1.bak"))
	assert.NilError(t, err)
	assert.Equal(t, string(content), "(a)")
	out, _, exit := b.run("", "backup", "list")
	assert.Equal(t, exit, 0)
	assert.Assert(t, strings.HasSuffix(out, "  src/a.clj  (session s1)\n"), out)

	b.env = append(b.env, "BREPL_HOOK_BACKUP_DIR=here")
	stdout, stderr, exit := b.run(`{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"`+b.path("src/a.clj")+`","content":"(c)"}}`, "validate")
	assert.Equal(t, exit, 0)
	assert.Equal(t, stdout, "")
	assert.Equal(t, stderr, "brepl: no backup of src/a.clj: BREPL_HOOK_BACKUP_DIR=\"here\": give an absolute path, or unset it\n")
}

// `brepl backup list|diff|restore [FILE]`.
func TestBackupCommands(t *testing.T) {
	b := newTestbed(t, map[string]string{"src/a.clj": "(a)\n", "b.clj": "(b)\n"})
	command := func(args ...string) string {
		t.Helper()
		stdout, stderr, exit := b.run("", append([]string{"backup"}, args...)...)
		if exit != 0 {
			assert.Equal(t, stdout, "")
			return strings.TrimSpace(stderr)
		}
		assert.Equal(t, stderr, "")
		if args[0] == "restore" { // issue 14: which of them, nobody could tell
			stdout = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`).ReplaceAllString(stdout, "$$WHEN")
		}
		return stdout
	}
	assert.Equal(t, command("list"), "brepl backup list: there are no backups")
	b.env = append(b.env, "CLAUDE_CODE_SESSION_ID=s1")
	assert.Equal(t, command("restore", "b.clj"), "brepl backup restore: there is no backup of b.clj")
	assert.NilError(t, os.Chmod(b.path("src/a.clj"), 0o600))
	b.event("Write", `"content":"(a2)"`)
	b.eventFor("b.clj", "Write", `"content":"(b2)"`)
	b.write("src/a.clj", "(a2\n")
	assert.NilError(t, os.Remove(b.path("b.clj")))

	lines := strings.Split(strings.TrimSpace(command("list")), "\n")
	assert.Equal(t, len(lines), 2)
	assert.Assert(t, strings.HasPrefix(lines[0], "1  2") && strings.HasSuffix(lines[0], "          4 bytes  src/a.clj"), "%q", lines[0])
	assert.Equal(t, command("diff", "src/a.clj"), "diff src/a.clj (backup 1) src/a.clj\n--- src/a.clj (backup 1)\n+++ src/a.clj\n@@ -1,1 +1,1 @@\n-(a)\n+(a2\n")
	assert.Equal(t, command("restore"), "brepl backup restore: there are backups of 2 files; name the one to restore (`brepl backup list` shows them)")
	assert.NilError(t, os.Chmod(b.path("src/a.clj"), 0o644))
	assert.Equal(t, command("restore", "src/a.clj"), "src/a.clj is restored from backup 1, as it was on $WHEN; what was there is backup 3\n")
	assert.Equal(t, b.read("src/a.clj"), "(a)\n")
	info, err := os.Stat(b.path("src/a.clj"))
	assert.NilError(t, err)
	assert.Equal(t, info.Mode().Perm(), os.FileMode(0o600))
	assert.Equal(t, command("restore", "--id", "3", "src/a.clj"), "src/a.clj is restored from backup 3, as it was on $WHEN; what was there is backup 4\n")
	assert.Equal(t, b.read("src/a.clj"), "(a2\n")
	assert.Equal(t, command("restore", "--id", "9", "src/a.clj"), "brepl backup restore: there is no backup 9 of src/a.clj; `brepl backup list $DIR/src/a.clj` lists them")
	assert.Equal(t, command("restore", b.path("b.clj")), "b.clj is restored from backup 2, as it was on $WHEN\n")
	assert.Equal(t, b.read("b.clj"), "(b)\n")
	assert.Equal(t, command("restore", "b.clj"), "b.clj is as in its backups\n")

	// A person is in no session: all sessions of the user are looked at.
	b.env = []string{"BREPL_STATE_DIR=" + b.state}
	assert.Assert(t, strings.Contains(command("list", "b.clj"), "b.clj  (session s1)\n"))
	assert.Equal(t, command("restore", "--id", "2", "b.clj"), "brepl backup restore: --id needs --session: each session has its own numbers (`brepl backup list` shows them)")
	assert.Equal(t, command("restore", "b.clj", "--session", "s1", "--id", "2"), "b.clj is restored from backup 2, as it was on $WHEN; what was there is backup 2\n")

	// Issue 14: in another project they were all listed. A file that is named is found from everywhere.
	here := b.dir
	b.dir = t.TempDir()
	assert.Equal(t, command("list"), "brepl backup list: there are no backups of this project; `brepl backup list --all` shows 4 of others")
	assert.Equal(t, command("diff"), "brepl backup diff: there are no backups of this project; `brepl backup list --all` shows 4 of others")
	assert.Equal(t, strings.Count(command("list", "--all"), "(session s1)\n"), 4)
	assert.Equal(t, strings.Count(command("list", filepath.Join(here, "b.clj")), "(session s1)\n"), 1)
	s, err := openStore(&cli.Program{Env: b.env}, "s2")
	assert.NilError(t, err)
	_, err = s.save(b.path("mine.clj"), []byte("(m)"), 0o600)
	assert.NilError(t, err)
	assert.Assert(t, strings.HasSuffix(command("list"), "  mine.clj  (session s2)\n4 more of other projects: brepl backup list --all\n"))
}
