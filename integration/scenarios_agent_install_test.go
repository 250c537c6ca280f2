//go:build unix

package integration

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// ourHandlers is what install registers, as the client reads it.
var ourHandlers = []string{
	"PostToolUse: brepl hook eval", "PreToolUse: brepl hook validate", "SessionEnd: brepl hook session-end", "Stop: brepl hook stop",
}

// handlersWith are our handlers and others, in the order of world.handlers.
func handlersWith(others ...string) []string {
	return slices.Sorted(slices.Values(append(others, ourHandlers...)))
}

var agentInstallScenarios = []scenario{
	{seed000, settingsSync, installExample, func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithFile(localSettings, seedBlock(t, "**Before** (existing settings):"), 0o644))
		w.tool("prettier", `echo "$*" >> "$WORLD/prettier"`)
		w.install()
		assert.DeepEqual(t, w.handlers(), handlersWith("PostToolUse: prettier --write"))
		a := w.agent()
		a.editsWithPrettier()
	}},

	{seed001, settingsMerge, "Update brepl hooks idempotently", func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithHooks(hooksEDN(bash("tests", "exit 1", retry))), fakes.WithFile(localSettings, `{"hooks":{
			"Stop":[{"hooks":[{"type":"command","command":"/old/place/brepl hooks stop"}]},{"hooks":[{"type":"command","command":"say done"}]}]}}`, 0o644))
		w.tool("say", `echo "$*" >> "$WORLD/said"`)
		// A client runs what is registered: with the old place gone, no stop was held.
		before := w.agent().Stop()
		assert.DeepEqual(t, commands(before, "Stop"), []string{"/old/place/brepl hooks stop", "say done"})
		assert.Assert(t, !before.Blocked && !before.GoesOn)

		w.install()
		assert.DeepEqual(t, w.handlers(), handlersWith("Stop: say done"))
		a := w.agent()
		after := a.Stop()
		assert.DeepEqual(t, commands(after, "Stop"), []string{stopCommand, "say done"})
		assert.Assert(t, after.Blocked)
		assert.DeepEqual(t, a.texts(after.Told), refusesAt("tests", 1).Told)
		assert.Equal(t, w.wrote("said"), "done\ndone\n")
	}},
}

// editsWithPrettier is an agent that writes a file and changes it: ours run at both, prettier only at the Write, as its
// matcher says.
func (a *agent) editsWithPrettier() {
	a.t.Helper()
	a.withREPL(fakes.NREPLRelaxed())
	write := a.Write("src/a.clj", "(ns a)\n")
	assert.DeepEqual(a.t, commands(write, "PreToolUse"), []string{"brepl hook validate"})
	assert.DeepEqual(a.t, commands(write, "PostToolUse"), []string{"brepl hook eval", "prettier --write"})
	edit := a.Edit("src/a.clj", "(ns a)", "(ns a \"of it\")")
	assert.DeepEqual(a.t, commands(edit, "PreToolUse"), []string{"brepl hook validate"})
	assert.DeepEqual(a.t, commands(edit, "PostToolUse"), []string{"brepl hook eval"})
	for _, turn := range []*fakes.Turn{write, edit} {
		assert.Assert(a.t, turn.ToolRan && !turn.Blocked && !turn.ToolFailed, a.Story())
		assert.Equal(a.t, len(turn.Told)+len(turn.Shown), 0, a.Story())
	}
	assert.Equal(a.t, a.project.Read("src/a.clj"), "(ns a \"of it\")\n")
	assert.Equal(a.t, a.wrote("prettier"), "--write\n")
}
