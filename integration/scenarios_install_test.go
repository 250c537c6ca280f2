//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

const (
	installCommand = "Install Command Enhancement"
	settingsMerge  = "Idempotent Claude Settings Merge"
	localSettings  = ".claude/settings.local.json"
	hooksFile      = ".brepl/hooks.edn"
	skillFile      = ".claude/skills/brepl/SKILL.md"
)

// prettier is somebody else's hook as a settings file holds it.
const prettier = `{
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Write",
        "hooks": [{ "type": "command", "command": "prettier --write" }]
      }
    ]
  }
}
`

// addedSkill is what the skill adds to a project in dir, which ends with a slash where it is not "".
func addedSkill(dir string) []string {
	return []string{"added " + dir + ".claude/skills", "added " + dir + ".claude/skills/brepl", "added " + dir + skillFile}
}

// installed is what `brepl hook install` says of its work on a settings file.
var installed = []string{
	"  + PreToolUse: brepl hook validate", "  + PostToolUse: brepl hook eval", "  + Stop: brepl hook stop", "  + SessionEnd: brepl hook session-end",
}

// templateWithTests is the seed's template with what the page spec/stop-semantics.md puts in the place of its first example, which ran zero
// tests on a fresh REPL, and the fields of its type.
func templateWithTests(t *testing.T, template string) string {
	t.Helper()
	for _, change := range [][2]string{
		{"Example: Run tests via nREPL", "Example: Run the project's tests via nREPL"},
		{"{:type :repl\n  ;;  :name \"run-tests\"\n  ;;  :code \"(clojure.test/run-tests)\"\n", "{:type :tests\n  ;;  :name \"tests\"\n"},
		{"- :repl or :bash (required)", "- :tests, :repl or :bash (required)"},
		{";; REPL-specific:\n", `;; Tests-specific (all optional; brepl finds the test namespaces on disk):
;;   :namespaces       - regex that namespaces must match, e.g. "shop.*-test"
;;   :paths, :exclude  - glob patterns of test files, e.g. ["test/**"]
;;   :focus, :skip     - keywords in the metadata of tests, e.g. [:integration]
;;   :changed-only?    - only what changes since the last pass reach (default: false)
;;   :namespace-timeout - seconds for one namespace (default: half of :timeout)
;;
;; REPL-specific:
`},
	} {
		assert.Equal(t, strings.Count(template, change[0]), 1, change[0])
		template = strings.Replace(template, change[0], change[1], 1)
	}
	return template
}

var installScenarios = []scenario{
	{seed000, settingsSync, installExample, func(t *testing.T) {
		before, after := seedBlock(t, "**Before** (existing settings):"), seedBlock(t, "**After** `brepl hook install`:")
		w := newProgramWorld(t, fakes.WithFile(localSettings, before, 0o644))
		w.byHand("install").is(0, lines(
			localSettings+": updated",
			"  - PostToolUse: brepl hook eval",
			"  + PreToolUse: brepl hook validate", "  + PostToolUse: brepl hook eval", "  + Stop: brepl hook stop", "  + SessionEnd: brepl hook session-end",
			"  1 other handler is left as it is",
			hooksFile+": created; put your stop hooks there",
			skillFile+": created",
		), "")
		assert.Equal(t, canonical(t, w.project.Read(localSettings)), canonical(t, after))
	}},

	{seed001, installCommand, "Install creates template config", func(t *testing.T) {
		w := newProgramWorld(t)
		before := w.project.Snapshot()
		w.byHand("install").is(0, lines(append(append([]string{localSettings + ": created"}, installed...), hooksFile+": created; put your stop hooks there", skillFile+": created")...), "")
		assert.DeepEqual(t, before.Changes(w.project.Snapshot()), slices.Concat([]string{
			"added .brepl", "added " + hooksFile, "added .claude", "added " + localSettings,
		}, addedSkill("")))
		assert.Equal(t, w.project.Read(hooksFile), templateWithTests(t, seedBlock(t, "### `.brepl/hooks.edn` Template")))
		assert.Equal(t, canonical(t, w.project.Read(localSettings)), canonical(t, `{"hooks":{
			"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook validate"}]}],
			"PostToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook eval"}]}],
			"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]}],
			"SessionEnd":[{"matcher":"*","hooks":[{"type":"command","command":"brepl hook session-end"}]}]}}`))
		// What was created is a configuration without hooks.
		w.hook("check").is(0, ".brepl/hooks.edn can be used: 0 hooks\n", "")
		w.stop().is(0, approve, "")
	}},
	{seed001, installCommand, "Install preserves existing brepl config", func(t *testing.T) {
		mine := hooksEDN(bash("mine", "true")) + ";; no newline at the end"
		w := newProgramWorld(t, fakes.WithHooks(mine))
		w.byHand("install").is(0, lines(append(append([]string{localSettings + ": created"}, installed...), hooksFile+": already there, not touched", skillFile+": created")...), "")
		assert.Equal(t, w.project.Read(hooksFile), mine)
		assert.Assert(t, strings.Contains(w.project.Read(localSettings), `"brepl hook stop"`))
	}},

	{seed001, settingsMerge, "Preserve non-brepl hooks during install", func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithFile(localSettings, prettier, 0o640))
		w.byHand("install").is(0, lines(append(append([]string{localSettings + ": updated"}, installed...),
			"  1 other handler is left as it is", hooksFile+": created; put your stop hooks there", skillFile+": created")...), "")
		text := w.project.Read(localSettings)
		// Not only the hook: its very text.
		assert.Assert(t, strings.Contains(text, "    \"PostToolUse\": [\n      {\n        \"matcher\": \"Write\",\n"+
			"        \"hooks\": [{ \"type\": \"command\", \"command\": \"prettier --write\" }]\n      }"), text)
		assert.Equal(t, canonical(t, text), canonical(t, `{"hooks":{
			"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook validate"}]}],
			"PostToolUse":[{"matcher":"Write","hooks":[{"type":"command","command":"prettier --write"}]},
				{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook eval"}]}],
			"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]}],
			"SessionEnd":[{"matcher":"*","hooks":[{"type":"command","command":"brepl hook session-end"}]}]}}`))
		info, err := os.Stat(w.project.Path(localSettings))
		assert.NilError(t, err)
		assert.Equal(t, info.Mode().Perm(), os.FileMode(0o640))
	}},
	{seed001, settingsMerge, "Update brepl hooks idempotently", func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithHooks("{}"), fakes.WithFile(localSettings, `{"model":"x","hooks":{
			"PostToolUse":[{"matcher":"Edit","hooks":[{"type":"command","command":"brepl hook eval --old"},{"type":"command","command":"prettier --write"}]}],
			"Stop":[{"hooks":[{"type":"command","command":"/old/place/brepl hooks stop"}]},{"hooks":[{"type":"command","command":"say done"}]}]}}`, 0o644))
		w.byHand("install").is(0, lines(
			localSettings+": updated",
			"  - PostToolUse: brepl hook eval --old", "  - Stop: /old/place/brepl hooks stop",
			"  + PreToolUse: brepl hook validate", "  + PostToolUse: brepl hook eval", "  + Stop: brepl hook stop", "  + SessionEnd: brepl hook session-end",
			"  2 other handlers are left as they are",
			hooksFile+": already there, not touched",
			skillFile+": created",
		), "")
		assert.Equal(t, canonical(t, w.project.Read(localSettings)), canonical(t, `{"model":"x","hooks":{
			"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook validate"}]}],
			"PostToolUse":[{"matcher":"Edit","hooks":[{"type":"command","command":"prettier --write"}]},
				{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook eval"}]}],
			"Stop":[{"hooks":[{"type":"command","command":"say done"}]},{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]}],
			"SessionEnd":[{"matcher":"*","hooks":[{"type":"command","command":"brepl hook session-end"}]}]}}`))
	}},
	{seed001, settingsMerge, "Install is idempotent", func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithFile(localSettings, prettier, 0o644))
		assert.Equal(t, w.byHand("install").exit, 0)
		before := w.project.Snapshot()
		w.byHand("install").is(0, lines(
			localSettings+": already as wanted",
			"  = PreToolUse: brepl hook validate", "  = PostToolUse: brepl hook eval", "  = Stop: brepl hook stop", "  = SessionEnd: brepl hook session-end",
			"  1 other handler is left as it is",
			hooksFile+": already there, not touched",
			skillFile+": already as wanted",
		), "")
		assert.DeepEqual(t, before.Changes(w.project.Snapshot()), []string(nil))
	}},
}

// newProgramWorld is a world without hooks whose PATH leads to the program, for commands that change the project.
func newProgramWorld(t *testing.T, options ...fakes.ProjectOption) *world {
	t.Helper()
	w := newWorld(t, "", options...)
	w.mayChange = true
	w.env = append(w.env, "PATH="+filepath.Dir(brepl(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	w.rules = append(w.rules, literal(brepl(t), "$$BREPL"))
	return w
}

// seedBlock is the fenced code after a line of seed 000.
func seedBlock(t *testing.T, after string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/seeds/" + seed000)
	assert.NilError(t, err)
	_, rest, found := strings.Cut(string(text), "\n"+after+"\n")
	assert.Assert(t, found, after)
	_, rest, _ = strings.Cut(rest, "\n```")
	_, rest, _ = strings.Cut(rest, "\n")
	block, _, found := strings.Cut(rest, "```\n")
	assert.Assert(t, found, after)
	return block
}
