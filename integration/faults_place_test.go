//go:build unix

package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

func uidOf(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Lstat(path)
	assert.NilError(t, err)
	stat, ok := info.Sys().(*syscall.Stat_t)
	assert.Assert(t, ok)
	return int(stat.Uid)
}

func treeOf(t *testing.T, dir string) fakes.Snapshot {
	t.Helper()
	s, err := fakes.TakeSnapshot(dir)
	assert.NilError(t, err)
	return s
}

// mountSmall makes dir a file system of 256 KiB, until the test ends.
func (w *world) mountSmall(dir string) {
	w.t.Helper()
	if runtime.GOOS != "linux" {
		w.t.Skipf("SKIPPED: no tmpfs on %s", runtime.GOOS)
	}
	needRoot(w.t, "mount a small file system")
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k,mode=755", "none", dir).CombinedOutput(); err != nil {
		w.t.Skipf("SKIPPED: cannot mount a small file system: %v: %s", err, out)
	}
	w.t.Cleanup(func() {
		out, err := exec.Command("umount", "-l", dir).CombinedOutput()
		assert.Check(w.t, err, "%s", out)
	})
}

// fillDisk writes a file until nothing more fits.
func fillDisk(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "fill"))
	assert.NilError(t, err)
	_, err = io.Copy(f, same('x'))
	assert.Assert(t, errors.Is(err, syscall.ENOSPC), "%v", err)
	assert.NilError(t, f.Close())
}

var settingsPlaceFaults = []fault{
	{19, "installers at once: each entry once, and all of them content", func(t *testing.T) {
		w := newFaultProgram(t, fakes.WithFile(localSettings, "{\n  \"model\": \"x\"\n}\n", 0o644))
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				o, err := w.spec("hook", "install").Run(fakes.DevNull())
				if err != nil || o.Exit != 0 || o.Stderr != "" {
					t.Errorf("exit %d, %v\n%s", o.Exit, err, o.Stderr)
				}
			})
		}
		all.Wait()
		text := w.project.Read(localSettings)
		for _, command := range []string{"validate", "eval", "stop", "session-end"} {
			assert.Equal(t, strings.Count(text, `"brepl hook `+command+`"`), 1, text)
		}
		w.nothingLeft(w.project.Dir(), w.home)
		w.mayChange = true
		assert.Equal(t, w.hook("uninstall").exit, 0)
		assert.Equal(t, w.project.Read(localSettings), "{\n  \"model\": \"x\"\n}\n")
	}},
	{19, "the agent rewrites the file at the same moment: nothing of its text is lost", func(t *testing.T) {
		w := newFaultProgram(t, fakes.WithFile(localSettings, "{}\n", 0o644), fakes.WithHooks("{}"))
		file := w.project.Path(localSettings)
		done := make(chan struct{})
		var agent, installers sync.WaitGroup
		last := 0
		agent.Go(func() {
			for n := 1; ; n++ {
				// As an agent does it: read, change a key, write beside it, rename.
				settings := map[string]any{}
				data, err := os.ReadFile(file)
				if err != nil || json.Unmarshal(data, &settings) != nil {
					t.Errorf("the agent found %q, %v", data, err)
					return
				}
				settings["count"] = n
				text, err := json.MarshalIndent(settings, "", "  ")
				if err == nil {
					err = os.WriteFile(file+".agent", text, 0o600)
				}
				if err == nil {
					err = os.Rename(file+".agent", file)
				}
				if err != nil {
					t.Error(err)
					return
				}
				last = n
				select {
				case <-done:
					return
				case <-time.After(3 * time.Millisecond):
				}
			}
		})
		for range 2 {
			installers.Go(func() {
				for range 8 {
					o, err := w.spec("hook", "install").Run(fakes.DevNull())
					changed := o.Exit == 1 && strings.Contains(o.Stderr, "it was changed by someone else in the meantime; nothing was written; try again")
					if err != nil || o.Exit != 0 && !changed {
						t.Errorf("exit %d, %v\n%s", o.Exit, err, o.Stderr)
					}
				}
			})
		}
		installers.Wait()
		close(done)
		agent.Wait()
		// The agent does not know our lock, so its last write may have undone our entries, but nothing is broken and its key is there.
		var settings map[string]any
		assert.NilError(t, json.Unmarshal([]byte(w.project.Read(localSettings)), &settings))
		assert.Equal(t, settings["count"], float64(last))
		w.mayChange = true
		assert.Equal(t, w.hook("install").exit, 0)
		text := w.project.Read(localSettings)
		assert.Equal(t, strings.Count(text, `"brepl hook stop"`), 1, text)
		assert.Assert(t, strings.Contains(text, fmt.Sprintf(`"count": %d`, last)), text)
		w.nothingLeft(w.project.Dir(), w.home)
	}},
	{20, "in $HOME", func(t *testing.T) {
		w := newFaultProgram(t)
		w.home = w.project.Dir()
		w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.scratch, "xdg"))
		w.rules = append(w.rules, literal(w.project.Dir(), "$$PROJECT"))
		w.hook("install", "--scope", "project").is(1, "", "brepl hook install: $PROJECT/.claude/settings.json counts for every project of yours, not for one; change to your project and try again\n")
		before := w.project.Snapshot()
		w.mayChange = true
		r := w.hook("install")
		assert.Equal(t, r.exit, 0, r.stderr)
		assert.Assert(t, strings.Contains(r.stdout, "note: this is the home folder: the hooks run only when the agent is started right here\n"), r.stdout)
		assert.Equal(t, w.hook("uninstall").exit, 0)
		assert.DeepEqual(t, before.Changes(w.project.Snapshot()), []string{"added .brepl", "added " + hooksFile})
	}},
	{20, "in /", func(t *testing.T) {
		w := newFaultProgram(t)
		w.dir = "/"
		w.env = append(w.env, "CLAUDE_PROJECT_DIR=/")
		for _, args := range [][]string{{"install"}, {"install", "--scope", "project"}, {"install", "--dry-run"}} {
			w.hook(args...).is(1, "", "brepl hook install: / is no project; change to your project and try again\n")
		}
		w.hook("uninstall").is(0, ".claude/settings.local.json: there is none, so nothing is installed\n", "")
		w.stop().is(0, approve, "")
		w.hook("check").is(1, "", "there is no .brepl/hooks.edn in /; `brepl hook install` writes one with examples\n")
		for _, name := range []string{"/.claude", "/.brepl"} {
			_, err := os.Lstat(name)
			assert.Assert(t, os.IsNotExist(err), "%s: %v", name, err)
		}
	}},
	{20, "outside a project", func(t *testing.T) {
		w := newFaultProgram(t, fakes.WithDir("deep/er", 0o755))
		w.dir = w.project.Path("deep/er")
		w.env = append(w.env, "CLAUDE_PROJECT_DIR="+w.dir)
		w.stop().is(0, approve, "")
		w.hook("check").is(1, "", "there is no .brepl/hooks.edn in $PROJECT/deep/er; `brepl hook install` writes one with examples\n")
		w.hook("run").is(1, "", "there is no .brepl/hooks.edn in $PROJECT/deep/er; `brepl hook install` writes one with examples\n")
		w.hook("stop", "--dry-run").is(0, "No .brepl/hooks.edn here: every stop is allowed.\n", "")
		w.hook("uninstall").is(0, localSettings+": there is none, so nothing is installed\n", "")
		before := w.project.Snapshot()
		w.mayChange = true
		assert.Equal(t, w.hook("install").exit, 0)
		assert.DeepEqual(t, before.Changes(w.project.Snapshot()), slices.Concat([]string{
			"added deep/er/.brepl", "added deep/er/" + hooksFile, "added deep/er/.claude", "added deep/er/" + localSettings,
		}, addedSkill("deep/er/")))
	}},
	{20, "in a submodule", func(t *testing.T) {
		library := fakes.NewProject(t, map[string]string{"lib.clj": "(ns lib)\n"}, fakes.WithHooks(hooksEDN(bash("lib", whereAmI))), fakes.WithGit())
		w := newFaultProgram(t, fakes.WithHooks(hooksEDN(bash("outer", whereAmI))), fakes.WithGit())
		w.project.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.Dir(), "lib")
		w.dir = w.project.Path("lib")
		w.env = append(w.env, "CLAUDE_PROJECT_DIR="+w.dir)
		before := w.project.Snapshot()
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "$PROJECT/lib\n")
		w.mayChange = true
		r := w.hook("install")
		assert.Equal(t, r.exit, 0, r.stderr)
		assert.DeepEqual(t, before.Changes(w.project.Snapshot()), slices.Concat([]string{"added lib/.claude", "added lib/" + localSettings}, addedSkill("lib/")))
		assert.Equal(t, w.hook("uninstall").exit, 0)
		assert.DeepEqual(t, before.Changes(w.project.Snapshot()), []string(nil))
	}},
}
