//go:build unix

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// oldFaults are the faults of the program that agent-gauntlet replaces, by their numbers in the specification.
var oldFaults = []fault{
	{1, "stdin left open: answers, but never exits", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		r := w.stopWith(fakes.HeldOpenNoNewline(w.stopEvent()))
		w.blocks(r)
	}},
	{2, "a failed gate passes at the next stop if nothing was done", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		for range 3 {
			w.blocks(w.stop(), "check tests failed: exit 1")
		}
	}},
	{2, "a failed review passes at the next stop if nothing was done", func(t *testing.T) {
		w := newGauntlet(t, map[string]string{
			"config.yml": "base_branch: main\ncli:\n  default_preference: [critic]\n  adapters:\n    critic:\n      command: [sh, -c, 'cat >/dev/null; cat \"$WORLD/answer\"']\n" +
				"entry_points:\n  - path: .\n    reviews: [words]\n",
			"reviews/words.md": "Say what is wrong.\n",
		})
		w.write("answer", `{"status":"fail","violations":[{"file":"src/b.txt","line":1,"issue":"a bad word","fix":"another","priority":"high"}]}`)
		w.project.Write("src/b.txt", "rude\n")
		w.blocks(w.stop(), "review words failed", "src/b.txt:1 a bad word")
		w.commit("as it is")
		w.blocks(w.stop(), "review words failed", "src/b.txt:1 a bad word")
		w.blocks(w.stop(fakes.Set("stop_hook_active", true)), "review words failed")
	}},
	{3, "committing the broken state hides it", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		w.blocks(w.stop())
		w.commit("broken") // on the base branch itself: nothing differs from it any more
		w.blocks(w.stop(), "check tests failed: exit 1")
		w.project.Git("commit", "-q", "--amend", "-m", "amended")
		w.blocks(w.stop(), "check tests failed: exit 1")
		w.project.Git("switch", "-q", "-c", "elsewhere")
		w.blocks(w.stop(), "check tests failed: exit 1")
		w.project.Write("src/b.txt", "whole\n")
		w.stop().is(0, "", saysPassed)
	}},
	{3, "what is committed after a pass is seen", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "whole\n")
		w.stop().is(0, "", saysPassed)
		w.project.Write("src/b.txt", "BROKEN\n")
		w.commit("broken")
		w.blocks(w.stop())
	}},
	{3, "what is committed after a stop without changes is seen", func(t *testing.T) {
		w := newChecked(t)
		w.stop().is(0, "", saysNothing)
		w.project.Write("src/b.txt", "BROKEN\n")
		w.commit("broken")
		w.blocks(w.stop())
	}},
	{4, "check and review exit 0 on failure", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		assert.Equal(t, w.gauntlet("check").exit, 1)
		assert.Equal(t, w.gauntlet("run").exit, 1)
		assert.Equal(t, w.gauntlet("check", "-g", "tests").exit, 1)
	}},
	{5, "run_in_ci ignored", func(t *testing.T) {
		w := newGauntlet(t, map[string]string{
			"config.yml":       "base_branch: main\nentry_points:\n  - path: .\n    checks: [both, ci, here]\n",
			"checks/both.yml":  "command: 'true'\n",
			"checks/ci.yml":    "command: 'true'\nrun_locally: false\n",
			"checks/here.yaml": "command: 'true'\nrun_in_ci: false\n",
		})
		w.project.Git("switch", "-q", "-c", "work")
		w.project.Write("src/b.txt", "x\n")
		w.commit("work")
		here, code := w.json("run")
		assert.Equal(t, code, 0)
		assert.DeepEqual(t, here.gates(), []string{"check both . passed", "check here . passed"})
		w.env = append(w.env, "CI=true")
		inCI, code := w.json("run")
		assert.Equal(t, code, 0)
		assert.DeepEqual(t, inCI.gates(), []string{"check both . passed", "check ci . passed"})
	}},
	{6, "a killed run's lock or marker file allows every later stop", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		w.project.Write(".gauntlet/checks/tests.yml", "command: 'touch \"$WORLD/up\"; sleep 30'\n")
		cmd := exec.CommandContext(t.Context(), gauntletProgram(t), "run")
		cmd.Dir, cmd.Env = w.dir, w.environment()
		assert.NilError(t, cmd.Start())
		await(t, func() bool { _, err := os.Stat(filepath.Join(w.scratch, "up")); return err == nil })
		assert.NilError(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		w.project.Write(".gauntlet/checks/tests.yml", "command: '! grep -rn BROKEN src'\n")
		w.commit("broken, and committed")
		w.blocks(w.stop(), "check tests failed: exit 1")
		status := w.gauntlet("status")
		assert.Assert(t, strings.Contains(status.stdout, "did not end (killed, or still running)"), status.stdout)
	}},
	{7, "sub-directory sessions find no config", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/deep/er/b.txt", "BROKEN\n")
		w.dir = w.project.Path("src/deep/er")
		w.blocks(w.stop(), "check tests failed: exit 1")
		assert.Equal(t, w.gauntlet("run").exit, 1)
		// A folder that is gone: the host's own folder counts.
		w.blocks(w.stop(fakes.Set("cwd", w.project.Path("src/gone"))), "check tests failed")
	}},
	{7, "non-ASCII names match nothing", func(t *testing.T) {
		w := newGauntlet(t, map[string]string{
			"config.yml":       "base_branch: main\nentry_points:\n  - path: größe/*\n    checks: [tests]\n  - path: 'lib/**/*.c'\n    checks: [glob]\n",
			"checks/tests.yml": "command: 'false'\n",
			"checks/glob.yml":  "command: 'false'\n",
		})
		w.project.Write("größe/日本/b \"q\"\n.txt", "x\n")
		w.project.Write("lib/\xff\xfe/caf\xe9.c", "x\n")
		got, code := w.json("run")
		assert.Equal(t, code, 1)
		assert.DeepEqual(t, got.gates(), []string{"check glob lib failed", "check tests größe/日本 failed"})
		assert.DeepEqual(t, got.files(), []string{`A "größe/日本/b \"q\"\n.txt"`, `A "lib/\xff\xfe/caf\xe9.c"`})
	}},
	{9, "missing tools block like real failures", func(t *testing.T) {
		w := newChecked(t)
		for command, why := range map[string]string{
			"no-such-tool --x":            "the command no-such-tool was not found or cannot be executed",
			"exit 75":                     "it says that it cannot run now (exit 75)",
			"true\nworking_directory: no": "working_directory no is not a folder",
		} {
			w.project.Write(".gauntlet/checks/tests.yml", "command: "+command+"\n")
			r := w.stop()
			r.is(0, tellUser("agent-gauntlet: the gates could not all run, and the stop is let through: check tests: "+why), saysInfra)
			run := w.gauntlet("run")
			assert.Equal(t, run.exit, 75, run.stdout)
			// The gate may say that it is not to be passed over.
			w.project.Write(".gauntlet/checks/tests.yml", "command: "+command+"\ncannot_run: block\n")
			w.blocks(w.stop(), "check tests cannot run: "+why)
			w.gauntlet("clean")
		}
	}},
	{9, "more than 10 MiB of output fails a passing check", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write(".gauntlet/checks/tests.yml", "command: 'head -c 30000000 /dev/zero | tr \"\\0\" x; echo; echo the end'\n")
		got, code := w.json("run")
		assert.Equal(t, code, 0)
		info, err := os.Stat(got.Gates[0].Log)
		assert.NilError(t, err)
		assert.Equal(t, info.Size(), int64(30_000_000+len("\nthe end\n")))
	}},
	{10, "unknown keys pass silently", func(t *testing.T) {
		w := newChecked(t, "max_retrys: 5\nstop_hook:\n  on_actve: allow\n")
		w.project.Write(".gauntlet/checks/tests.yml", "comand: x\n")
		const faulty = ".gauntlet/config.yml:5: unknown key \"max_retrys\"; did you mean \"max_retries\"?\n" +
			".gauntlet/config.yml:7: unknown key \"on_actve\"; did you mean \"on_active\"?"
		r := w.gauntlet("validate")
		r.is(1, "", faulty+"\n")
		w.gauntlet("run").is(1, "", "agent-gauntlet: "+faulty+"\n")
		stop := w.stop()
		stop.is(0, tellUser("agent-gauntlet: the gates did not run, the configuration cannot be used:\n"+faulty),
			gauntletSays("Starting gauntlet validation...", "Stop hook error: "+strings.ReplaceAll(faulty, "\n", "; ")+", allowing stop"))
	}},
}

func TestGauntletOldFaults(t *testing.T) {
	fullRun(t)
	gauntletProgram(t)
	t.Parallel()
	numbers := map[int]bool{}
	for _, f := range oldFaults {
		numbers[f.number] = true
		t.Run(fmt.Sprintf("%d %s", f.number, f.title), func(t *testing.T) {
			t.Parallel()
			f.run(t)
		})
	}
	for n := 1; n <= 10; n++ {
		// 8 is about violations: gauntlet reviews' own tests.
		assert.Check(t, numbers[n] || n == 8, "fault %d of the old program has no test", n)
	}
}

const unreadableTwice = "claude: unreadable answer, twice: no JSON object with a status or violations in it"

// gauntletFaults are the rows of faults.md that belong to agent-gauntlet's core.
var gauntletFaults = []fault{
	{53, "git missing", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		w.env = append(w.env, "PATH="+realTempDir(t))
		r := w.gauntlet("run")
		assert.Equal(t, r.exit, 75)
		assert.Equal(t, r.stdout, "Status: Cannot run: git is needed to tell what has changed, and there is no git on the PATH\n")
		w.stop().is(0, tellUser("agent-gauntlet: the gates could not all run, and the stop is let through: "+
			"git is needed to tell what has changed, and there is no git on the PATH"), saysInfra)
	}},
	{53, "no repository", func(t *testing.T) {
		w := newChecked(t)
		w.project.Remove(".git")
		r := w.gauntlet("run")
		assert.Equal(t, r.exit, 75)
		assert.Equal(t, r.stdout, "Status: Cannot run: git is needed to tell what has changed, and $PROJECT is in no git repository; `git init` makes one\n")
		assert.Equal(t, w.stop().stderr, saysInfra)
	}},
	{53, "no commits", func(t *testing.T) {
		w := newChecked(t)
		w.project.Remove(".git")
		w.project.Git("init", "-q", "-b", "main")
		got, code := w.json("run")
		assert.Equal(t, code, 0)
		assert.DeepEqual(t, got.files(), []string{"A .gauntlet/checks/tests.yml", "A .gauntlet/config.yml", "A src/a.txt"})
		w.project.Write("src/b.txt", "BROKEN\n")
		w.blocks(w.stop())
		w.commit("the first one, and broken")
		w.blocks(w.stop())
	}},
	{53, "detached", func(t *testing.T) {
		w := newChecked(t)
		w.project.Git("checkout", "-q", "--detach")
		w.project.Write("src/b.txt", "BROKEN\n")
		w.blocks(w.stop())
		w.commit("broken")
		w.blocks(w.stop())
	}},
	{53, "shallow", func(t *testing.T) {
		w := newChecked(t)
		w.project.Git("switch", "-q", "-c", "work")
		for i := range 3 {
			w.project.Write("src/b.txt", fmt.Sprintf("%d\n", i))
			w.commit("work")
		}
		// The clone has the last commits of both branches, and nothing that they have in common.
		clone := filepath.Join(realTempDir(t), "clone")
		w.project.Git("clone", "-q", "--depth=1", "--no-single-branch", "file://"+w.project.Dir(), clone)
		w.dir = clone
		got, code := w.json("detect", "-b", "origin/main")
		assert.Equal(t, code, 0)
		assert.DeepEqual(t, got.files(), []string{"A src/b.txt"})
		notes := w.gauntlet("detect", "-b", "origin/main").stderr
		assert.Equal(t, notes, "agent-gauntlet: base origin/main has no common commit with HEAD, in a shallow clone: everything that differs from it counts\n")
	}},
	{53, "base ref missing", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write(".gauntlet/config.yml", strings.Replace(oneCheck, "main", "origin/gone", 1))
		w.commit("another base")
		w.project.Git("switch", "-q", "-c", "work")
		w.project.Write("src/b.txt", "x\n")
		w.commit("work")
		r := w.gauntlet("run")
		r.is(0, "passed      check tests ($TOOK)\nStatus: Passed\n", "agent-gauntlet: base branch origin/gone not found, using main instead\n")
		w.project.Git("branch", "-m", "main", "trunk")
		r = w.gauntlet("detect", "-b", "nowhere")
		assert.Assert(t, strings.HasPrefix(r.stderr, "agent-gauntlet: base branch nowhere not found, using HEAD instead\n"), r.stderr)
		w.gauntlet("run", "-c", "nowhere").is(75, "Status: Cannot run: there is no commit \"nowhere\"\n", "")
	}},
	{53, "submodules", func(t *testing.T) {
		w := newChecked(t)
		other := newChecked(t)
		w.project.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.project.Dir(), "sub")
		got, code := w.json("run")
		assert.Equal(t, code, 0)
		assert.DeepEqual(t, got.files(), []string{"A .gitmodules", "A sub"})
		// A session inside of the submodule has the submodule's gates.
		w.dir = w.project.Path("sub")
		w.project.Write("sub/src/b.txt", "BROKEN\n")
		w.blocks(w.stop(), "check tests failed")
		// A repository that is simply there, without a commit, is no reason to stop.
		w.dir = w.project.Dir()
		w.project.Git("init", "-q", "stray")
		w.project.Write("stray/x", "x\n")
		w.project.Write("src/c.txt", "x\n")
		again, code := w.json("run")
		assert.Equal(t, code, 0, "%v", again)
		assert.Assert(t, slices.Contains(again.files(), "A src/c.txt"), "%v", again.files())
	}},
	{53, "100,000 files", func(t *testing.T) {
		fullRun(t)
		w := newChecked(t)
		for i := range 200 {
			dir := w.project.Path(fmt.Sprintf("many/%d", i))
			assert.NilError(t, os.MkdirAll(dir, 0o755))
			for j := range 500 {
				assert.NilError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(j)), nil, 0o600))
			}
		}
		got, code := w.json("run")
		assert.Equal(t, code, 0)
		assert.Equal(t, len(got.Changes.Files), 100_000)
		w.project.Write("src/b.txt", "BROKEN\n")
		r := w.stop()
		w.blocks(r)
	}},
	{53, "a file that cannot be read, an index in the middle of a merge, a linked worktree", func(t *testing.T) {
		if os.Geteuid() != 0 {
			w := newChecked(t)
			w.project.Write("src/b.txt", "BROKEN\n")
			w.project.Write("src/closed.txt", "x\n")
			assert.NilError(t, os.Chmod(w.project.Path("src/closed.txt"), 0))
			w.blocks(w.stop())
		}
		w := newChecked(t)
		w.project.Git("switch", "-q", "-c", "work")
		w.project.Write("src/a.txt", "mine\n")
		w.commit("mine")
		w.project.Git("switch", "-q", "main")
		w.project.Write("src/a.txt", "theirs\n")
		w.commit("theirs")
		merge := exec.CommandContext(t.Context(), "git", "-C", w.project.Dir(), "merge", "work")
		merge.Env = w.project.GitEnv()
		assert.ErrorContains(t, merge.Run(), "exit status 1")
		before := w.project.Git("ls-files", "-s", "-u")
		w.project.Write("src/b.txt", "BROKEN\n")
		w.blocks(w.stop())
		assert.Equal(t, w.project.Git("ls-files", "-s", "-u"), before, "git's own index stays as it is")

		w = newChecked(t)
		tree := filepath.Join(realTempDir(t), "tree")
		w.project.Git("worktree", "add", "-q", "-b", "linked", tree)
		assert.NilError(t, os.WriteFile(filepath.Join(tree, "src/b.txt"), []byte("BROKEN\n"), 0o600))
		w.dir = tree
		w.blocks(w.stop())
	}},
	{53, "the repository stays as it is", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		w.project.Git("add", "src/b.txt")
		w.project.Write("src/b.txt", "BROKEN again\n")
		w.project.Git("status")
		look := func() string {
			var list []string
			assert.NilError(t, filepath.WalkDir(w.project.Path(".git"), func(path string, d os.DirEntry, err error) error {
				assert.NilError(t, err)
				info, err := d.Info()
				assert.NilError(t, err)
				entry := fmt.Sprint(path, info.Mode(), info.Size())
				// Git renews the time of an object that it would have written again, so that it is kept.
				if !strings.Contains(path, "/objects/") {
					entry += info.ModTime().String()
				}
				list = append(list, entry)
				return nil
			}))
			return strings.Join(list, "\n")
		}
		before := look()
		w.blocks(w.stop())
		w.gauntlet("detect")
		assert.Equal(t, look(), before)
		assert.Equal(t, w.project.Git("status", "--porcelain"), "AM src/b.txt\n")
	}},
	{53, "the variables of a git hook", func(t *testing.T) {
		w := newChecked(t)
		other := newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		w.env = append(w.env, "GIT_DIR="+other.project.Path(".git"), "GIT_WORK_TREE="+other.project.Dir(), "GIT_INDEX_FILE="+other.project.Path(".git/index"))
		w.blocks(w.stop())
	}},
	{54, "reviewer prints prose", noAnswer(func(reviewer *fakes.ToolExpect) { reviewer.Times(2).Answer("Looks good!", "", 0) }, unreadableTwice)},
	{54, "reviewer prints truncated JSON", noAnswer(func(reviewer *fakes.ToolExpect) {
		reviewer.Times(2).Truncated(reviewFinds([4]any{"src/b.txt", 1, "wrong", "low"}))
	}, unreadableTwice)},
	{54, "reviewer prints 50 MB", noAnswer(func(reviewer *fakes.ToolExpect) { reviewer.Times(2).Flood(50<<20).Answer("", "", 0) }, unreadableTwice)},
	{54, "reviewer asks for login", noAnswer(func(reviewer *fakes.ToolExpect) { reviewer.AskLogin() }, "claude: not logged in")},
}
