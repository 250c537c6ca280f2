package install

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/settings"
)

// skillBody is what the agent reads of brepl.
//
//go:embed SKILL.md
var skillBody string

// maxSkill bounds the file that is compared with ours.
const maxSkill = 1 << 20

func skillPath(root string) string {
	return filepath.Join(root, ".claude", "skills", breplName, "SKILL.md")
}

// skillMark is the last line of the file. It holds a hash of what stands above, which tells a file that is as some version of brepl has
// written it from one that somebody has changed.
func skillMark(body []byte) string {
	sum := fnv.New64a()
	_, _ = sum.Write(body) // a hash takes everything
	return fmt.Sprintf("\n<!-- written by brepl skill install, which replaces it as long as nobody has changed it: %016x -->\n", sum.Sum64())
}

// skillText is the whole file.
func skillText() []byte { return []byte(skillBody + skillMark([]byte(skillBody))) }

// skillIsOurs reports whether a file is as a version of brepl has written it.
func skillIsOurs(text []byte) bool {
	n := len(text) - len(skillMark(nil))
	return n > 0 && bytes.Equal(text[n:], []byte(skillMark(text[:n])))
}

// readSkill gives the text of the file, and whether there is something under its name.
func readSkill(path string) (text []byte, there bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, linkErr := os.Lstat(path)
		return nil, linkErr == nil, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("cannot look at %s: %w", path, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSkill {
		return nil, true, nil // whatever it is, it is not ours
	}
	text, err = os.ReadFile(path)
	return text, true, err
}

// installSkill writes the file. One that somebody has changed is left as it is, unless force is set.
func (r *Report) installSkill(dryRun, force bool) error {
	path := skillPath(r.Root)
	r.Skill = &Skill{Path: path, Status: Failed}
	if !dryRun {
		session.RemoveStrays(path)
	}
	old, there, err := readSkill(path)
	if err != nil {
		return err
	}
	text := skillText()
	switch {
	case bytes.Equal(old, text):
		r.Skill.Status = Unchanged
		return nil
	case there && !skillIsOurs(old) && (!force || old == nil):
		r.Skill.Status = Present
		r.Warnings = append(r.Warnings, path+" was changed, or is not from "+breplName+", and stays as it is; `brepl skill install --force` replaces it")
		return nil
	}
	from := path
	if !there {
		from = "/dev/null"
	}
	if dryRun {
		r.Diff += string(diff.Diff(from, old, path, text))
	} else {
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil { //nolint:gosec // a project's folder, read by all who work on it
			err = session.WriteFile(path, text, session.WriteOptions{Mode: 0o644, Sync: true, Expect: old, Absent: !there})
		}
		if now, _, _ := readSkill(path); errors.Is(err, session.ErrChanged) && bytes.Equal(now, text) {
			err = nil // another install was quicker
		}
		if err != nil {
			return fmt.Errorf("cannot write the skill: %w", err)
		}
	}
	r.Skill.Status = Created
	if there {
		r.Skill.Status = Updated
	}
	return nil
}

// uninstallSkill deletes the file where it is as brepl has written it, and the folders above it that are empty then.
func (r *Report) uninstallSkill(dryRun bool) error {
	path := skillPath(r.Root)
	text, there, err := readSkill(path)
	switch {
	case err != nil:
		r.Skill = &Skill{Path: path, Status: Failed}
		return err
	case !there:
		return nil
	case !skillIsOurs(text):
		r.Skill = &Skill{Path: path, Status: Present}
		return nil
	}
	r.Skill = &Skill{Path: path, Status: Deleted}
	if dryRun {
		r.Diff += string(diff.Diff(path, text, "/dev/null", nil))
		return nil
	}
	if err = os.Remove(path); err != nil {
		r.Skill.Status = Failed
		return fmt.Errorf("cannot delete the skill: %w", err)
	}
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() { // a symbolic link is the user's
			_ = os.Remove(dir) // stays when something else is in it
		}
	}
	return nil
}

// SkillCommands is the row "skill" for the table of brepl.
func SkillCommands() []cli.Command {
	return []cli.Command{{
		Name: "skill", Short: "Teach the agent how to use brepl: install, uninstall",
		Sub: []cli.Command{
			skillCommand(installAction, "put a skill for the agent into .claude/skills of this project",
				"Writes .claude/skills/brepl/SKILL.md at the root of the git work tree (or here,\noutside of git). The agent reads it when it works with Clojure.\n"+
					"A file that you have changed is left as it is."),
			skillCommand(uninstallAction, "take the skill out again",
				"Deletes .claude/skills/brepl/SKILL.md, unless you have changed it."),
		},
	}}
}

func skillCommand(name, short, long string) cli.Command {
	var o output
	var force bool
	return cli.Command{
		Name: name, Usage: "[flags]", Short: short, Long: long,
		Options: func(set *flag.FlagSet) {
			o.declare(set)
			force = false
			if name == installAction {
				set.BoolVar(&force, "force", false, "replace a file that somebody has changed, too")
			}
		},
		Run: func(_ context.Context, p *cli.Program, args []string) int {
			if err := noArguments(args); err != nil {
				return p.UsageError(err)
			}
			r := Report{Action: name, DryRun: o.dryRun, Files: []File{}}
			site, err := settings.NewEnv(p.Dir, p.Getenv).Site(settings.Local)
			if err == nil {
				err = site.Refuse()
			}
			if err == nil {
				r.Root, r.Notes = site.Root, site.Notes
				if site.IsHome() {
					r.Notes = append(r.Notes, "this is the home folder: the skill counts for every project of yours")
				}
				if name == installAction {
					err = r.installSkill(o.dryRun, force)
				} else {
					err = r.uninstallSkill(o.dryRun)
				}
			}
			if err == nil && r.Skill == nil {
				r.Skill = &Skill{Path: skillPath(r.Root), Status: Absent}
			}
			return o.print(p, r, err)
		},
	}
}
