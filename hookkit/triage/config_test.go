package triage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestConfig(t *testing.T) {
	t.Parallel()
	project, home := t.TempDir(), t.TempDir()
	vars := map[string]string{"HOME": home}
	env := func(name string) string { return vars[name] }
	c, warnings := loadConfig(project, env)
	assert.DeepEqual(t, c, defaultConfig())
	assert.Equal(t, len(warnings), 0)
	// The seed's example is what holds without it.
	write(t, filepath.Join(project, "memory-config.json"), `{"other":1,"triage":{"mode":"hybrid","max_transcript_messages":50,"heuristic_threshold":0.6,"llm_provider":"gemini-flash","llm_timeout_ms":10000,"blocking":true}}`)
	c, warnings = loadConfig(project, env)
	c.Files = nil
	assert.DeepEqual(t, c, defaultConfig())
	assert.Equal(t, len(warnings), 0)
	// The nearest file counts for each setting.
	write(t, filepath.Join(home, ".config/memory-triage/memory-config.json"), `{"triage":{"blocking":false,"llm_endpoint":"http://localhost:1","heuristic_threshold":0.3}}`)
	write(t, filepath.Join(project, ".claude/memory-config.json"), `{"triage":{"heuristic_threshold":0.4,"thresholds":{"RUNBOOK":0.9}}}`)
	write(t, filepath.Join(project, ".claude/memory/memory-config.json"), "\ufeff"+`{"triage":{"llm_timeout_ms":500}}`)
	vars["MEMORY_TRIAGE_MAX_TRANSCRIPT_MESSAGES"] = "7"
	c, warnings = loadConfig(project, env)
	assert.Equal(t, len(warnings), 0, "%q", warnings)
	assert.Equal(t, c.Blocking, true) // the file at the root says so
	assert.Equal(t, c.Endpoint, "http://localhost:1")
	assert.Equal(t, c.threshold(Decision), 0.4)
	assert.Equal(t, c.threshold(Runbook), 0.9)
	assert.Equal(t, c.Timeout, 500*time.Millisecond)
	assert.Equal(t, c.Messages, 7)
}

func TestConfigWithFaults(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"triage":{"mode":"fast"}}`, `{"triage":{"max_transcript_messages":0}}`, `{"triage":{"max_transcript_messages":1.5}}`, `{"triage":{"heuristic_threshold":"high"}}`,
		`{"triage":{"thresholds":{"NONE":0.5}}}`, `{"triage":{"thresholds":7}}`, `{"triage":{"llm_provider":"x"}}`, `{"triage":{"llm_timeout_ms":90000}}`, `{"triage":{"blocking":"no"}}`,
		`{"triage":{"instruction":7}}`, `{"triage":{"llm_endpoint":"http://evil"}}`, `{"triage":{"unknown":1}}`, `{"triage":{"keywords":7}}`, `{"triage":{"keywords":{"de":{"SESSION_SUMMARY":["x"]}}}}`, `{"triage":[]}`, `{`, ``, `[]`,
	} {
		project := t.TempDir()
		write(t, filepath.Join(project, ".claude/memory-config.json"), text)
		c, warnings := loadConfig(project, func(string) string { return "" })
		c.Files, c.Keywords = nil, nil
		assert.DeepEqual(t, c, defaultConfig())
		assert.Equal(t, len(warnings), 1, "%s: %q", text, warnings)
		assert.Assert(t, strings.HasPrefix(warnings[0], "memory-triage: ") && strings.Contains(warnings[0], "memory-config.json") && !strings.Contains(warnings[0], "\n"), warnings[0])
	}
}

// TestKeywords: a table of words for another language.
func TestKeywords(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	write(t, filepath.Join(project, "memory-config.json"), `{"triage":{"keywords":{"de":{"DECISION":["wir haben uns für … entschieden"],"PREFERENCE":["ab jetzt"]}}}}`)
	c, warnings := loadConfig(project, func(string) string { return "" })
	assert.Equal(t, len(warnings), 0, "%q", warnings)
	rules, err := newEngine(c.keywordRules())
	assert.NilError(t, err)
	for text, want := range map[string]Category{"Wir haben uns für Postgres entschieden.": Decision, "Ab jetzt bitte nur Tabs.": Preference} {
		conv := conversation{messages: []message{{text: text}}}
		a := rules.analyse(&conv)
		assert.Assert(t, a.scores[want] >= c.threshold(want), "%s: %v", text, a.scores)
	}
}
