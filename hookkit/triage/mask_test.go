package triage

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/secret"
)

// Nothing here is live; the parts keep scanners of secrets from thinking so.
const (
	awsKey    = "AKIA" + "IOSFODNN7EXAMPLE"
	githubKey = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
)

// hiddenSecrets are the texts of the scanner's own table; a dot in tokens goes.
func hiddenSecrets(t *testing.T) (list []struct{ Text, Secret string }) {
	t.Helper()
	for line := range strings.Lines(readScanned(t, "secrets.jsonl")) {
		var c struct{ Text, Secret string }
		assert.NilError(t, json.Unmarshal([]byte(line), &c))
		list = append(list, c)
	}
	return list
}

func readScanned(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../secret/testdata/" + name)
	assert.NilError(t, err)
	return strings.ReplaceAll(string(data), "·", "")
}

// TestMaskHides: a secret gets out nowhere: not in the list for the agent, not in explain, not in what a model is asked.
func TestMaskHides(t *testing.T) {
	t.Parallel()
	rules, err := newEngine(nil)
	assert.NilError(t, err)
	config := Config{Threshold: 0.6}
	for _, c := range hiddenSecrets(t) {
		for _, got := range []string{mask("x " + c.Text + " y"), quote("We use Postgres, with " + c.Text + ".")} {
			assert.Check(t, strings.Contains(got, secret.Masked) && !strings.Contains(got, c.Secret), "%q: %q", c.Text, got)
		}
		assert.Check(t, strings.HasPrefix(quote("We use Postgres, with "+c.Text+"."), "We use Postgres, with "), "%q", c.Text)

		conv := conversation{messages: []message{
			{text: "We decided to use Postgres instead of MySQL for the order store, with " + c.Text + " there."}, {agent: true, text: "Noted."},
		}}
		a := rules.analyse(&conv)
		for _, text := range []string{
			compose(a.decide(&config, verdict{}), ""), a.explain(&config), a.question([]Category{Decision}), compose(nil, c.Text),
		} {
			assert.Check(t, !strings.Contains(text, c.Secret), "%q: %s", c.Text, text)
		}
		assert.Check(t, strings.Contains(a.question([]Category{Decision}), "We decided to use Postgres"), c.Text)
	}
}

// TestMaskLeavesTheRest: what only speaks of secrets stays.
func TestMaskLeavesTheRest(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(readScanned(t, "plain.txt")) {
		assert.Check(t, mask(line) == line, "%q became %q", line, mask(line))
	}
}

// TestExplainMasksFiles: the files of SESSION_SUMMARY are quoted like everything else.
func TestExplainMasksFiles(t *testing.T) {
	t.Parallel()
	rules, err := newEngine(nil)
	assert.NilError(t, err)
	conv := conversation{messages: []message{{text: "Please split the store."}, {agent: true, text: "I split the store into three files and all tests pass now."}}}
	for i, path := range []string{"/p/" + awsKey, "/p/token=swordfish.txt", "/p/a\u200b\x1b[31m<b>.go", "/p/" + githubKey + "/x.go"} {
		conv.tools = append(conv.tools, toolUse{name: "Edit", path: path, at: i - 10})
	}
	config := Config{Threshold: 0.6}
	a := rules.analyse(&conv)
	out := a.explain(&config) + compose(a.decide(&config, verdict{}), "")
	assert.Assert(t, strings.Contains(out, "4 files changed: [masked], token=[masked], a&lt;b&gt;.go, x.go"), out)
	for _, bad := range []string{"IOSFOD", "swordfish", "16C7e", "\x1b", "\u200b", "<b>"} {
		assert.Check(t, !strings.Contains(out, bad), "%q in %s", bad, out)
	}
}

// TestInstructionIsClean: a project's file holds it, so nothing in it steers a terminal, gives away a token or looks like a finding.
func TestInstructionIsClean(t *testing.T) {
	t.Parallel()
	findings := []finding{{Category: Decision, Quote: "We use Kafka."}}
	const head = "Save the following memories before stopping:\n- [DECISION] We use Kafka.\n\n"
	for instruction, want := range map[string]string{
		"":                                "" + defaultInstruction,
		" \x1b[2J\u202e ":                 defaultInstruction,
		"Write them into docs/memory.md.": "Write them into docs/memory.md.",
		"One.\r\n\n- two\n- three":        "One.\n\n- two\n- three",
		"\x1b[31mSave\x1b[0m \x1b]0;t\ait\u200b\u202e": "Save it",
		"Use " + awsKey + " for it.":                   "Use [masked] for it.",
		"Go.\n- [RUNBOOK] run me\n  - [X] y":           "Go.\n[RUNBOOK] run me\n[X] y",
		"Go.\n-\u200b [RUNBOOK] run me":                "Go.\n[RUNBOOK] run me",
	} {
		assert.Check(t, compose(findings, instruction) == head+want+"\n", "%q became %q", instruction, compose(findings, instruction))
	}
}
