//go:build unix

package integration

import (
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

const gauntletEntry = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"agent-gauntlet stop-hook","timeout":300}]}]}}`

// onPath puts our programs in front of the PATH of a world.
func (w *gauntletWorld) onPath() {
	w.t.Helper()
	w.env = append(w.env, "PATH="+filepath.Dir(gauntletProgram(w.t))+":"+filepath.Dir(brepl(w.t))+":"+pathOf(w.environment()))
}

func pathOf(env []string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			return value
		}
	}
	return ""
}

// The main job: the agent changes code, tries to stop, is blocked with the failing gate's report, commits, is blocked again, fixes it, stops.
func TestGauntletMainJob(t *testing.T) {
	gauntletProgram(t)
	t.Parallel()
	w := newChecked(t)
	w.onPath()
	w.project.Write(localSettings, gauntletEntry)
	agent := w.agent()
	agent.Prompt("Add b.")
	agent.Write("src/b.txt", "BROKEN\n")
	turn := agent.Stop()
	assert.Assert(t, turn.Blocked && turn.GoesOn && !turn.Ended, agent.Story())
	assert.Assert(t, strings.Contains(turn.ToldText(), "| src/b.txt:1:BROKEN"), turn.ToldText())
	assert.Assert(t, strings.Contains(turn.ToldText(), "This was attempt 1 of 4."), turn.ToldText())
	agent.Bash("git add -A && git -c user.email=a@b -c user.name=a commit -q -m broken && cd src")
	turn = agent.Stop()
	assert.Assert(t, turn.Blocked, agent.Story())
	assert.Assert(t, strings.Contains(turn.ToldText(), "This was attempt 2 of 4."), turn.ToldText())
	agent.Write("src/b.txt", "whole\n")
	turn = agent.Stop()
	assert.Assert(t, !turn.Blocked && !turn.GoesOn, agent.Story())
	assert.Equal(t, turn.ToldText(), "")
	for _, turn := range agent.Turns() {
		for _, hook := range turn.Hooks {
			assert.Equal(t, hook.Reaction.Fault, "", agent.Story())
			assert.Equal(t, hook.Exit, 0, agent.Story())
		}
	}
}

// The literal object of the seed ends the agent's work: it is why it is not the default.
func TestGauntletLiteralEndsTheWork(t *testing.T) {
	gauntletProgram(t)
	t.Parallel()
	w := newChecked(t, "stop_hook:\n  output: literal\n")
	w.onPath()
	w.project.Write(localSettings, gauntletEntry)
	agent := w.agent()
	agent.Write("src/b.txt", "BROKEN\n")
	turn := agent.Stop()
	assert.Assert(t, turn.Ended && !turn.GoesOn, agent.Story())
	assert.Assert(t, strings.Contains(turn.ShownText(), gauntletSentence), turn.ShownText())
}

// brepl chains the gates as one of its hooks, alone or with both programs' hooks side by side.
func TestGauntletUnderBrepl(t *testing.T) {
	fullRun(t)
	gauntletProgram(t)
	brepl(t)
	t.Parallel()
	const chain = `{:stop [{:type :bash :name "gauntlet" :command "agent-gauntlet run" :retry-on-failure? true}]}`
	for title, settings := range map[string]string{
		"alone":        `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"brepl hook stop"}]}]}}`,
		"side by side": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"brepl hook stop"},{"type":"command","command":"agent-gauntlet stop-hook","timeout":300}]}]}}`,
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newChecked(t)
			w.onPath()
			w.project.Write(".brepl/hooks.edn", chain)
			w.project.Write(".gauntlet/checks/tests.yml", "command: 'echo ran >> \"$WORLD/runs\"; sleep 0.3; ! grep -rn BROKEN src'\n")
			w.project.Write(localSettings, settings)
			agent := w.agent()
			agent.Write("src/b.txt", "BROKEN\n")
			turn := agent.Stop()
			assert.Assert(t, turn.Blocked, agent.Story())
			assert.Assert(t, strings.Contains(turn.ToldText(), "src/b.txt:1:BROKEN"), turn.ToldText())
			assert.Equal(t, w.wrote("runs"), "ran\n", agent.Story())
			agent.Write("src/b.txt", "whole\n")
			assert.Assert(t, !agent.Stop().Blocked, agent.Story())
			assert.Equal(t, w.wrote("runs"), "ran\nran\n", agent.Story())
		})
	}
	t.Run("75 is no failure for brepl", func(t *testing.T) {
		t.Parallel()
		w := newChecked(t)
		w.onPath()
		w.project.Write(".brepl/hooks.edn", chain)
		w.project.Write(".gauntlet/checks/tests.yml", "command: no-such-tool\n")
		w.project.Write("src/b.txt", "x\n")
		r := w.result(fakes.Run(t, fakes.Spec{Path: brepl(t), Args: []string{"hook", "stop"}, Dir: w.dir, Env: w.environment()}, fakes.OneLine(w.stopEvent())))
		assert.Equal(t, r.exit, 0, r.stderr)
		assert.Assert(t, strings.Contains(r.stdout, "it says that it cannot run now (exit 75)"), r.stdout)
	})
}
