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

// TestTriageStory plays a session against the installed hook: the agent is asked once, saves, and may stop. Its last message is not in the
// transcript yet when the hook runs.
func TestTriageStory(t *testing.T) {
	t.Parallel()
	program := built(t, "memory-triage")
	project := fakes.NewProject(t, map[string]string{".claude/settings.json": "{}\n"})
	home := realTempDir(t)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "BREPL_STATE_DIR=" + realTempDir(t)}
	install := exec.CommandContext(t.Context(), program, "install")
	install.Dir, install.Env = project.Dir(), env
	out, err := install.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	settings := project.Read(".claude/settings.local.json")
	for _, want := range []string{`"matcher": "*"`, `"timeout": 30`, `"statusMessage": "Evaluating session for memories..."`, program + " hook"} {
		assert.Assert(t, strings.Contains(settings, want), "%q is not in %s", want, settings)
	}

	claude := fakes.NewClaude(t, project.Dir(), fakes.ClaudeEnv(env), fakes.ClaudeHome(home))
	claude.Prompt("Which store shall the orders go to?")
	stop := claude.Stop("We decided to use Postgres instead of MySQL for the orders, because the reports need it.")
	assert.Assert(t, stop.Blocked, claude.Story())
	assert.Assert(t, strings.Contains(stop.ToldText(), "- [DECISION] We decided to use Postgres instead of MySQL for the orders"), stop.ToldText())
	assert.Equal(t, strings.Count(stop.ToldText(), "Postgres"), 1) // once
	claude.Write(".claude/memory/decisions.md", "Postgres for the orders.\n")
	assert.Assert(t, !claude.Stop("Saved.").Blocked, claude.Story())
	claude.Prompt("Thanks. What time is it?")
	assert.Assert(t, !claude.Stop("Ten o'clock.").Blocked, claude.Story())
	claude.Prompt("From now on always use pnpm, never npm.")
	stop = claude.Stop("Okay.")
	assert.Assert(t, stop.Blocked && strings.Contains(stop.ToldText(), "[PREFERENCE]") && !strings.Contains(stop.ToldText(), "[DECISION]"), claude.Story())
	claude.Exit("other")
	_, err = os.Lstat(filepath.Join(project.Dir(), ".claude", ".stop_hook_active"))
	assert.Assert(t, os.IsNotExist(err), "the flag is still there")

	uninstall := exec.CommandContext(t.Context(), program, "uninstall")
	uninstall.Dir, uninstall.Env = project.Dir(), env
	out, err = uninstall.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	_, err = os.Lstat(filepath.Join(project.Dir(), ".claude/settings.local.json"))
	assert.Assert(t, os.IsNotExist(err), "%s", out)
}

// TestTriageHookExplains asks the hook itself why: nothing is decided and nothing is kept, so that the next stop asks as ever.
func TestTriageHookExplains(t *testing.T) {
	t.Parallel()
	w := decided(t)
	r := w.run(fakes.OneLine(w.event()), "hook", "--explain")
	assert.Equal(t, r.exit, 0, r.stderr)
	assert.Equal(t, r.stderr, "")
	for _, want := range []string{"2 messages, 2 sentences\n", "DECISION  0.", ": yes\n", saysDecision, `rule "`} {
		assert.Assert(t, strings.Contains(r.stdout, want), "%q is not in %s", want, r.stdout)
	}
	_, err := os.Lstat(w.flag())
	assert.Assert(t, os.IsNotExist(err), "a flag was raised")
	w.stop().asksFor("DECISION " + saysDecision)
}
