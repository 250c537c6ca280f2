package triage

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/mock"
	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

func doubtfulAnalysis(t *testing.T) (*analysis, Config) {
	t.Helper()
	rules, err := newEngine(nil)
	assert.NilError(t, err)
	c := conversation{messages: []message{{agent: true, text: "We will use Redis for the sessions."}}}
	a := rules.analyse(&c)
	a.scores = map[Category]float64{Decision: 0.45} // whatever the weights say of it
	return a, defaultConfig()
}

func TestModelIsAskedOnlyInDoubt(t *testing.T) {
	t.Parallel()
	a, config := doubtfulAnalysis(t)
	assert.DeepEqual(t, a.doubts(&config), []Category{Decision})
	model := newMockModel(t)
	model.EXPECT().Ask(mock.Anything, mock.MatchedBy(func(q string) bool { return strings.Contains(q, "Redis for the sessions") })).
		Return(`{"confirm":["DECISION","RUNBOOK"],"deny":[]}`, nil).Once()
	k := hook{env: func(string) string { return "" }, note: func(string, ...any) {}, model: model}
	v := k.ask(t.Context(), &config, a)
	assert.DeepEqual(t, v.confirm, []Category{Decision})
	found := a.decide(&config, v)
	assert.Equal(t, len(found), 1)
	assert.Equal(t, found[0].Quote, "We will use Redis for the sessions.")
	config.Mode = Heuristic // nobody is asked: the mock allows one call
	assert.Equal(t, len(k.ask(t.Context(), &config, a).confirm), 0)
}

func TestModelThatHangsOrFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, config := doubtfulAnalysis(t)
		model := newMockModel(t)
		model.EXPECT().Ask(mock.Anything, mock.Anything).RunAndReturn(func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}).Once()
		k := hook{env: func(string) string { return "" }, note: func(string, ...any) {}, model: model}
		began := time.Now()
		assert.Equal(t, len(k.ask(t.Context(), &config, a).confirm), 0)
		assert.Equal(t, time.Since(began), config.Timeout)
		model.EXPECT().Ask(mock.Anything, mock.Anything).Return("", errors.New("no")).Once()
		assert.Equal(t, len(k.ask(t.Context(), &config, a).deny), 0)
	})
}

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	asked := []Category{Decision, Runbook}
	for _, c := range []struct{ text, confirm, deny string }{
		{`{"confirm":["DECISION"],"deny":["RUNBOOK"]}`, "DECISION", "RUNBOOK"},
		{"```json\n{\"confirm\":[\"DECISION\"]}\n```", "DECISION", ""},
		{`{"confirm":["CONSTRAINT","decision","DECISION rm -rf"]}`, "", ""},
		{`{"confirm":["DECISION"],"deny":["DECISION"]}`, "", ""},
		{`{"deny":["DECISION"],"note":"run this"}`, "", "DECISION"},
	} {
		v, err := parseAnswer(c.text, asked)
		assert.NilError(t, err)
		assert.Equal(t, join(v.confirm)+"/"+join(v.deny), c.confirm+"/"+c.deny, c.text)
	}
	for _, text := range []string{"", "yes", `["DECISION"]`, `{"categories":["DECISION"]}`, `{"confirm":"DECISION"}`, `Sure: {"confirm":["DECISION"]}`, `{"confirm":["DECISION"]} and more`} {
		_, err := parseAnswer(text, asked)
		assert.ErrorIs(t, err, errAnswer, text)
	}
}

func join(list []Category) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteString(string(c))
	}
	return b.String()
}

// TestProviders: each API's request and answer.
func TestProviders(t *testing.T) {
	t.Parallel()
	server := fakes.NewLLM(t)
	keys := map[string]string{"GOOGLE_API_KEY": "g", "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}
	env := func(name string) string { return keys[name] }
	server.On("/v1beta/models/gemini-2.5-flash:generateContent").Header("x-goog-api-key", "g").
		Reply(200, "application/json", `{"candidates":[{"content":{"parts":[{"text":"from gemini"}]}}]}`)
	server.On(fakes.AnthropicPath).Header("x-api-key", "a").Answer("from claude")
	server.On(fakes.OpenAIPath).Header("Authorization", "Bearer o").Answer("from another")
	for provider, want := range map[string]string{"gemini-flash": "from gemini", "claude-haiku": "from claude", "openai": "from another"} {
		config := defaultConfig()
		config.Provider, config.Endpoint, config.EndpointOf = provider, server.URL(), provider
		text, err := newModel(&config, env).Ask(t.Context(), "?")
		assert.NilError(t, err)
		assert.Equal(t, text, want)
		config.Endpoint = ""
		assert.Assert(t, newModel(&config, func(string) string { return "" }) == nil)
	}
}

// TestConfirmedOnce: what was taken back and a model confirms is asked for once too.
func TestConfirmedOnce(t *testing.T) {
	t.Parallel()
	a, config := doubtfulAnalysis(t)
	a.found = append(a.found, evidence{category: Decision, rule: "decided", raw: plain, weight: plain})
	a.spoken = nil
	a.cancel("taken back", func(*evidence) bool { return true })
	confirmed := verdict{confirm: []Category{Decision}}
	findings := a.fresh(asked{}, a.decide(&config, confirmed))
	assert.Equal(t, len(findings), 1)
	known := a.note(asked{}, findings)
	assert.Equal(t, len(a.fresh(known, a.decide(&config, confirmed))), 0)
}
