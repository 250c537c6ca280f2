package triage

import (
	"encoding/json"
	"fmt"
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
	write(t, filepath.Join(home, ".config/memory-triage/memory-config.json"), `{"triage":{"blocking":false,"llm_provider":"openai","llm_endpoint":"http://localhost:1","heuristic_threshold":0.3}}`)
	write(t, filepath.Join(project, ".claude/memory-config.json"), `{"triage":{"heuristic_threshold":0.4,"thresholds":{"RUNBOOK":0.9}}}`)
	write(t, filepath.Join(project, ".claude/memory/memory-config.json"), "\ufeff"+`{"triage":{"llm_timeout_ms":500}}`)
	vars["MEMORY_TRIAGE_MAX_TRANSCRIPT_MESSAGES"] = "7"
	c, warnings = loadConfig(project, env)
	assert.Equal(t, len(warnings), 0, "%q", warnings)
	assert.Equal(t, c.Blocking, true) // the file at the root says so
	assert.Equal(t, c.Endpoint+" "+c.EndpointOf, "http://localhost:1 openai")
	assert.Equal(t, c.Provider, "gemini-flash") // as the file at the root says, and its key does not go to that endpoint
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
		`{"triage":{"llm_timeout_ms":1e13}}`, `{"triage":{"llm_timeout_ms":1e400}}`, `{"triage":{"thresholds":{"DECISION":1e400}}}`, `{"triage":{"heuristic_threshold":-1}}`,
		`{"triage":{"keywords":{"a\nb":{"DECISION":["…"]}}}}`, `{"triage":{"keywords":{"de":{"DECISION":["` + strings.Repeat("wort ", maxKeyword+1) + `"]}}}}`,
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

// TestConfigSaysWhatIsExpected: the lines name what is wrong in the words of the file.
func TestConfigSaysWhatIsExpected(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                              `:1:1: give one object, and in it an object "triage"; it is ignored`,
		`{"triage":7}`:                    `: give one object, and in it an object "triage"; it is ignored`,
		`{"triage":{"mode":"fast"}}`:      `: mode is "fast": give hybrid, heuristic or off; it is ignored`,
		`{"triage":{"mode":1e400}}`:       `: "mode" holds a number that is too large; it is ignored`,
		`{"triage":{"thresholds":[0]}}`:   `: thresholds is [0]: give an object of categories and numbers; it is ignored`,
		`{"triage":{"llm_endpoint":"x"}}`: `: llm_endpoint counts only in the user's own settings; it is ignored`,
	} {
		project := t.TempDir()
		write(t, filepath.Join(project, configName), text)
		_, warnings := loadConfig(project, func(string) string { return "" })
		assert.Equal(t, len(warnings), 1, "%s: %q", text, warnings)
		assert.Assert(t, strings.HasSuffix(warnings[0], want), warnings[0])
	}
	project := t.TempDir()
	assert.NilError(t, os.Mkdir(filepath.Join(project, configName), 0o700))
	_, warnings := loadConfig(project, func(string) string { return "" })
	assert.Equal(t, len(warnings), 1)
	assert.Assert(t, strings.HasSuffix(warnings[0], configName+": the file cannot be read: it is not a regular file; it is ignored"), warnings[0])
}

func TestConfigOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, v := range [][2]string{
		{"LLM_TIMEOUT_MS", "1e13"},
		{"LLM_TIMEOUT_MS", "1e400"},
		{"LLM_TIMEOUT_MS", "NaN"},
		{"HEURISTIC_THRESHOLD", "NaN"},
		{"MAX_TRANSCRIPT_MESSAGES", "1e300"},
		{"THRESHOLDS", `{"DECISION":0.9}`},
		{"KEYWORDS", "{}"},
		{"LLM_ENDPOINT", "http://localhost"},
		{"LLM_MODEL", "m"},
		{"BLOCKING", "maybe"},
		{"MODE", "OFF"},
	} {
		c, warnings := loadConfig("", func(name string) string {
			if name == "MEMORY_TRIAGE_"+v[0] {
				return v[1]
			}
			return ""
		})
		assert.DeepEqual(t, c, defaultConfig())
		assert.Equal(t, len(warnings), 1, "%s: %q", v, warnings)
		assert.Assert(t, strings.HasPrefix(warnings[0], "memory-triage: MEMORY_TRIAGE_"+v[0]+": "), warnings[0])
	}
}

// TestEndpointOfAProvider: whoever chooses another provider than the user did, its key does not go to the user's endpoint.
func TestEndpointOfAProvider(t *testing.T) {
	t.Parallel()
	keys := map[string]string{"GEMINI_API_KEY": "g", "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}
	for _, c := range []struct{ user, project, variable, want string }{
		{`"llm_provider":"openai","llm_endpoint":"http://mine/"`, ``, ``, "http://mine/v1/chat/completions"},
		{`"llm_provider":"openai","llm_endpoint":"http://mine/v1"`, `"llm_provider":"openai"`, ``, "http://mine/v1/chat/completions"},
		{`"llm_provider":"openai","llm_endpoint":"http://mine"`, `"llm_provider":"claude-haiku"`, ``, anthropicBase + "/v1/messages"},
		{`"llm_provider":"openai","llm_endpoint":"http://mine","llm_model":"m"`, ``, `gemini-flash`, geminiBase + "/v1beta/models/" + geminiModel + ":generateContent"},
		{`"llm_provider":"claude-haiku","llm_endpoint":"http://mine"`, ``, ``, "http://mine/v1/messages"},
		{`"llm_provider":"claude-haiku","llm_endpoint":"http://mine"`, `"llm_provider":"openai"`, ``, ""},
		{`"llm_endpoint":"http://mine"`, `"llm_provider":"openai"`, ``, ""},
		{`"llm_endpoint":"http://mine"`, ``, `openai`, ""},
		{`"llm_model":"gemini-x"`, ``, ``, geminiBase + "/v1beta/models/gemini-x:generateContent"},
		{`"llm_provider":"openai","llm_endpoint":"ftp://mine"`, ``, ``, ""},
		{``, `"llm_provider":"openai","llm_endpoint":"http://theirs"`, ``, ""},
	} {
		project, home := t.TempDir(), t.TempDir()
		write(t, filepath.Join(home, ".claude", configName), `{"triage":{`+c.user+`}}`)
		write(t, filepath.Join(project, configName), `{"triage":{`+c.project+`}}`)
		env := func(name string) string {
			switch name {
			case "HOME":
				return home
			case "MEMORY_TRIAGE_LLM_PROVIDER":
				return c.variable
			}
			return keys[name]
		}
		config, _ := loadConfig(project, env)
		got := ""
		if m, ok := newModel(&config, env).(httpModel); ok {
			got = m.url
		}
		assert.Equal(t, got, c.want, "%+v", c)
	}
}

// TestWhoseFile: what only the user may say counts where the file is the user's, whatever variables and links lead to it.
func TestWhoseFile(t *testing.T) {
	t.Parallel()
	const xdg = "memory-triage/" + configName
	const claude = ".claude/" + configName
	for _, c := range []struct {
		name, file, project, home, configHome, users string // below one folder; users is the home in the list of users
		dirs                                         []string
		links                                        map[string]string
		theirs                                       bool // the file is the project's
	}{
		{name: "ordinary", file: "home/" + claude, project: "work/p", home: "home", users: "home"},
		{name: "ordinary, XDG", file: "etc/" + xdg, project: "work/p", home: "home", configHome: "etc", users: "home"},
		{name: "a neighbour's name", file: "work/pp/" + xdg, project: "work/p", home: "home", configHome: "work/pp", users: "home"},
		{name: "XDG in the project", file: "work/p/cfg/" + xdg, project: "work/p", home: "home", configHome: "work/p/cfg", users: "home", theirs: true},
		{name: "XDG over a link", file: "work/p/cfg/" + xdg, project: "work/p", home: "home", configHome: "link", links: map[string]string{"link": "work/p/cfg"}, users: "home", theirs: true},
		{name: "the project over a link", file: "work/p/cfg/" + xdg, project: "link", home: "home", configHome: "work/p/cfg", links: map[string]string{"link": "work/p"}, users: "home", theirs: true},
		{name: "a link into the project", file: "work/p/x.json", project: "work/p", home: "home", links: map[string]string{"home/" + claude: "work/p/x.json"}, users: "home", theirs: true},
		{name: "HOME in the project", file: "work/p/h/" + claude, project: "work/p", home: "work/p/h", users: "home", theirs: true},
		{name: "HOME is the project", file: "work/p/" + claude, project: "work/p", home: "work/p", users: "home", theirs: true},
		{name: "the same, and nobody knows the home", file: "work/p/" + claude, project: "work/p", home: "work/p", theirs: true},
		{name: "in the work tree", file: "work/cfg/" + xdg, project: "work/p", home: "home", configHome: "work/cfg", dirs: []string{"work/.git/HEAD"}, users: "home", theirs: true},
		{name: "the project is the home", file: "home/" + claude, project: "home", home: "home", users: "home"},
		{name: "the project is the home, XDG", file: "home/.config/" + xdg, project: "home", home: "home", users: "home"},
		{name: "the project is the home, over links", file: "home/" + claude, project: "link", home: "home", users: "other", links: map[string]string{"link": "home", "other": "home"}},
		{name: "the home is in the project", file: "work/home/" + claude, project: "work", home: "work/home", users: "work/home"},
		{name: "the home is a work tree", file: "home/" + claude, project: "home/p", home: "home", dirs: []string{"home/.git/HEAD"}, users: "home"},
		{name: "the home is a work tree, XDG in the project", file: "home/p/cfg/" + xdg, project: "home/p", home: "home", configHome: "home/p/cfg", dirs: []string{"home/.git/HEAD"}, users: "home", theirs: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			at := func(path string) string {
				if path == "" {
					return ""
				}
				return filepath.Join(dir, path)
			}
			for _, d := range append(c.dirs, "work/p/x", "home/p/x") {
				assert.NilError(t, os.MkdirAll(at(d), 0o700))
			}
			write(t, at(c.file), `{"triage":{"llm_provider":"openai","llm_endpoint":"http://there","llm_model":"m","llm_timeout_ms":0,"heuristic_threshold":0.4}}`)
			for link, to := range c.links {
				assert.NilError(t, os.MkdirAll(filepath.Dir(at(link)), 0o700))
				assert.NilError(t, os.Symlink(at(to), at(link)))
			}
			l := configLoader{config: defaultConfig(), project: at(c.project), home: func() string { return at(c.users) }}
			l.load(func(name string) string {
				return map[string]string{"HOME": at(c.home), "XDG_CONFIG_HOME": at(c.configHome)}[name]
			})
			// Every other setting counts, and a bad value is told once.
			assert.Equal(t, l.config.Threshold, 0.4)
			assert.Equal(t, l.config.Provider, "openai")
			said := strings.Join(l.warnings, "\n")
			assert.Equal(t, strings.Count(said, "llm_timeout_ms is 0"), 1, said)
			if c.theirs {
				assert.Equal(t, l.config.Endpoint+l.config.Model, "")
				assert.Equal(t, len(l.warnings), 3, said)
				for _, name := range usersOnly {
					assert.Assert(t, strings.Contains(said, configName+": "+name+" counts only in the user's own settings, and this file lies in the project's folder; it is ignored"), said)
				}
				return
			}
			assert.Equal(t, l.config.Endpoint+" "+l.config.Model, "http://there m")
			assert.Equal(t, len(l.warnings), 1, said)
		})
	}
}

// TestHomeOfUser: the home is not taken from the variable.
func TestHomeOfUser(t *testing.T) {
	before := homeOfUser()
	t.Setenv("HOME", t.TempDir())
	assert.Equal(t, homeOfUser(), before)
}

// TestTooManyKeywords: what the tables cannot hold is left out, and the rules of the program stay.
func TestTooManyKeywords(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	t.Parallel()
	for _, n := range []int{1, 300, 40_000} {
		var words []string
		for i := range n {
			words = append(words, fmt.Sprintf("wort%d eins", i))
		}
		data, err := json.Marshal(words)
		assert.NilError(t, err)
		project := t.TempDir()
		write(t, filepath.Join(project, configName), `{"triage":{"keywords":{"de":{"DECISION":`+string(data)+`}}}}`)
		c, warnings := loadConfig(project, func(string) string { return "" })
		if n == 40_000 {
			assert.Equal(t, len(warnings), 1, "%q", warnings)
			assert.Assert(t, strings.HasSuffix(warnings[0], ": keywords are too many for the tables; it is ignored"), warnings[0])
		} else {
			assert.Equal(t, len(warnings), 0, "%q", warnings)
			assert.Equal(t, len(c.keywordRules()), n)
		}
		a, err := analyseConversation(&conversation{messages: []message{{text: "We decided to use Postgres instead of MySQL."}}}, &c)
		assert.NilError(t, err)
		assert.Assert(t, a.scores[Decision] >= c.threshold(Decision))
	}
}

// TestKeywordsThatFit: what fits is what the tables take, up to the last word.
func TestKeywordsThatFit(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"w%d", "w%[1]d v%[1]d u%[1]d", "same words for all of them", strings.Repeat("x%[1]d ", 20)} {
		var rules []rule
		add := func(n int) {
			for i := range n {
				text := words
				if strings.Contains(words, "%") {
					text = fmt.Sprintf(words, len(rules)+i)
				}
				rules = append(rules, rule{name: "x", category: Decision, weight: plain, any: []string{text}})
			}
		}
		for step := 1024; step > 0; step /= 2 {
			for before := len(rules); ; before = len(rules) {
				if add(step); !fits(rules) {
					rules = rules[:before]
					break
				}
			}
		}
		_, err := newEngine(rules)
		assert.NilError(t, err, "%d of %s", len(rules), words)
	}
}
