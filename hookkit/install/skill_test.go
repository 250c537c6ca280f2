package install

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"

	"github.com/hookkit/brepl/hookkit/cli"
)

func (w world) skill() string { return skillPath(w.env.Dir) }

// Issue 5: `hook install` includes the skill, `hook uninstall` takes it out, --no-skill leaves it alone, and a dry run shows it.
func TestInstallSkill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.install(t, "--dry-run")
	assert.Equal(t, r.Skill.Status, Created)
	assert.Assert(t, strings.Contains(r.Diff, "\n--- /dev/null\n+++ "+w.skill()+"\n"), r.Diff)
	_, err := os.Lstat(w.path(".claude"))
	assert.ErrorIs(t, err, os.ErrNotExist)

	assert.Equal(t, w.install(t).Skill.Status, Created)
	assert.Equal(t, read(t, w.skill()), string(skillText()))
	assert.Equal(t, w.install(t).Skill.Status, Unchanged)
	assert.Assert(t, w.install(t, "--no-skill").Skill == nil)
	assert.Equal(t, w.uninstall(t, "--dry-run").Skill.Status, Deleted)
	assert.Assert(t, w.uninstall(t, "--no-skill").Skill == nil)
	assert.Equal(t, read(t, w.skill()), string(skillText()))

	w.install(t, "--no-skill")
	assert.Equal(t, w.uninstall(t).Skill.Status, Deleted)
	assert.Assert(t, w.uninstall(t).Skill == nil)
	_, err = os.Lstat(w.path(".claude", "skills"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Everything that install made goes again, and nothing else: other skills stay.
func TestUninstallSkillLeavesOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fs.WithDir(".claude", fs.WithDir("skills", fs.WithDir("other", fs.WithFile("SKILL.md", "x")), fs.WithDir("brepl", fs.WithFile("notes.md", "mine")))))
	w.install(t)
	w.uninstall(t)
	assert.Equal(t, read(t, w.path(".claude", "skills", "other", "SKILL.md")), "x")
	assert.Equal(t, read(t, w.path(".claude", "skills", "brepl", "notes.md")), "mine")
	_, err := os.Lstat(w.skill())
	assert.ErrorIs(t, err, os.ErrNotExist)

	w = newWorld(t)
	w.install(t, "--scope", "project")
	w.uninstall(t, "--scope", "project")
	_, err = os.Lstat(w.path(".claude"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// A file that somebody has changed is never overwritten without saying so, and never deleted.
func TestSkillOfAUser(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"changed": strings.Replace(string(skillText()), "heredoc", "here document", 1),
		"theirs":  "---\nname: brepl\n---\n",
		"empty":   "",
		"added":   string(skillText()) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			assert.NilError(t, os.MkdirAll(filepath.Dir(w.skill()), 0o755))
			assert.NilError(t, os.WriteFile(w.skill(), []byte(text), 0o600))
			r := w.install(t)
			assert.Equal(t, r.Skill.Status, Present)
			assert.DeepEqual(t, r.Warnings, []string{w.skill() + " was changed, or is not from brepl, and stays as it is; `brepl skill install --force` replaces it"})
			assert.Equal(t, w.uninstall(t).Skill.Status, Present)
			assert.Equal(t, read(t, w.skill()), text)

			code, stdout, stderr := w.runSkill(t, "install", "--force")
			assert.Equal(t, stdout+stderr, ".claude/skills/brepl/SKILL.md: updated\n")
			assert.Equal(t, code, 0)
			assert.Equal(t, read(t, w.skill()), string(skillText()))
		})
	}
}

// What an earlier version has written is not the user's: it is replaced, and deleted.
func TestSkillOfAnotherVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := "# an older text\n"
	old += skillMark([]byte(old))
	assert.NilError(t, os.MkdirAll(filepath.Dir(w.skill()), 0o755))
	assert.NilError(t, os.WriteFile(w.skill(), []byte(old), 0o600))
	assert.Equal(t, w.install(t).Skill.Status, Updated)
	assert.Equal(t, read(t, w.skill()), string(skillText()))
	assert.NilError(t, os.WriteFile(w.skill(), []byte(old), 0o600))
	assert.Equal(t, w.uninstall(t).Skill.Status, Deleted)
}

// Something else under the name stays what it is.
func TestSkillIsNoFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fs.WithDir(".claude", fs.WithDir("skills", fs.WithDir("brepl", fs.WithDir("SKILL.md")))))
	assert.Equal(t, w.install(t).Skill.Status, Present)
	code, stdout, _ := w.runSkill(t, "install", "--force")
	assert.Equal(t, code, 0)
	assert.Assert(t, strings.Contains(stdout, "not touched"), stdout)

	w = newWorld(t, fs.WithDir(".claude", fs.WithFile("skills", "x")))
	code, stdout, stderr := w.runSkill(t, "install")
	assert.Equal(t, code, 1)
	assert.Equal(t, stdout, ".claude/skills/brepl/SKILL.md: left as it is\n")
	assert.Assert(t, strings.HasPrefix(stderr, "brepl skill install: cannot "), stderr)
}

// Folders that somebody has put there by a symbolic link stay, with the link.
func TestUninstallSkillLeavesLinks(t *testing.T) {
	t.Parallel()
	for _, link := range []string{".claude", ".claude/skills", ".claude/skills/brepl"} {
		t.Run(link, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			elsewhere := t.TempDir()
			at := w.path(filepath.FromSlash(link))
			assert.NilError(t, os.MkdirAll(filepath.Dir(at), 0o755))
			assert.NilError(t, os.Symlink(elsewhere, at))
			w.install(t)
			assert.Equal(t, read(t, w.skill()), string(skillText()))
			assert.Equal(t, w.uninstall(t).Skill.Status, Deleted)
			target, err := os.Readlink(at)
			assert.NilError(t, err)
			assert.Equal(t, target, elsewhere)
			files, err := os.ReadDir(elsewhere)
			assert.NilError(t, err)
			assert.Equal(t, len(files), 0)
		})
	}
}

// Fault 20: the root of the file system is no project; in the home folder it is said what the skill means there.
func TestSkillElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.Dir = "/"
	code, stdout, stderr := w.runSkill(t, "install", "--dry-run")
	assert.Equal(t, code, 1)
	assert.Equal(t, stdout, "")
	assert.Equal(t, stderr, "brepl skill install: / is no project; change to your project and try again\n")

	w.env.Dir = w.env.Home
	_, stdout, _ = w.runSkill(t, "install")
	assert.Assert(t, strings.HasSuffix(stdout, "note: this is the home folder: the skill counts for every project of yours\n"), stdout)
}

// The skill has what an agent's host asks of one, and what it teaches is there.
func TestSkillText(t *testing.T) {
	t.Parallel()
	text := string(skillText())
	assert.Assert(t, strings.HasPrefix(text, "---\nname: brepl\ndescription: "))
	assert.Assert(t, skillIsOurs([]byte(text)))
	for _, part := range []string{"brepl <<'EOF'\n", "brepl -f ", "brepl ls", "brepl balance ", "brepl backup restore "} {
		assert.Assert(t, strings.Contains(text, part), part)
	}
	head, _, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "---\n")
	assert.Assert(t, len(head) < 1100, "a description has at most 1024 characters")
}

// runSkill runs "brepl skill ARGS" in the world.
func (w world) runSkill(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := cli.Program{Name: "brepl", Args: append([]string{"skill"}, args...), Dir: w.env.Dir, Env: []string{"HOME=" + w.env.Home}, Stdout: &out, Stderr: &errs}
	code = p.Main(t.Context(), cli.Command{Sub: SkillCommands()})
	return code, out.String(), errs.String()
}

func TestSkillCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	steps := []struct{ args, stdout string }{
		{"uninstall", ".claude/skills/brepl/SKILL.md: there is none\n"},
		{"install", ".claude/skills/brepl/SKILL.md: created\n"},
		{"install", ".claude/skills/brepl/SKILL.md: already as wanted\n"},
		{"uninstall", ".claude/skills/brepl/SKILL.md: deleted\n"},
		{"uninstall --json", `{
  "action": "uninstall",
  "dry_run": false,
  "root": "` + w.env.Dir + `",
  "files": [],
  "skill": {
    "path": "` + w.skill() + `",
    "status": "absent"
  }
}
`},
	}
	for _, step := range steps {
		code, stdout, stderr := w.runSkill(t, strings.Fields(step.args)...)
		assert.Equal(t, stderr, "")
		assert.Equal(t, stdout, step.stdout)
		assert.Equal(t, code, 0)
	}
	code, _, stderr := w.runSkill(t, "install", "x")
	assert.Equal(t, code, 1)
	assert.Assert(t, strings.HasPrefix(stderr, "brepl skill install: unexpected argument \"x\"\n"), stderr)
}
