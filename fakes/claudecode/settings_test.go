package claudecode_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes/claudecode"
)

func load(text string) (claudecode.Hooks, []claudecode.Dropped) {
	return claudecode.LoadHooks([]claudecode.Source{{Scope: "project", Path: "s.json", Data: []byte(text)}})
}

func TestLoadHooksDrops(t *testing.T) {
	for text, want := range map[string]string{
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`: "",
		`{"permissions":{}}`:  "",
		"{\n\"hooks\":{},\n}": ": the file is not strict JSON: line 3",
		`{"hooks":{"PreToolUse":[{"matcher":"Edit(?!x)","hooks":[]}]}}`: "hooks.PreToolUse[0]: its matcher is no regular expression that can be read here, so it matches nothing: error parsing regexp",
		`{"hooks":{"Stop":[{"matcher":"Edit(?!x)","hooks":[]}]}}`:       "", // not looked at
		// Case counts: the client knows neither of these.
		`{"Hooks":{"Stopp":[]}}`: "",
		`{"hooks":{"Stop":[{"Hooks":[{"type":"command","command":"x"}]}]}}`:             `hooks.Stop[0]: it has no "hooks"`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","Command":"x"}]}]}}`:             "hooks.Stop[0].hooks[0]: it has no command",
		`{"hooks":{"Stop":[{"hooks":[{"TYPE":"command","command":"x"}]}]}}`:             `hooks.Stop[0].hooks[0]: the client has no handler of type ""`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","Timeout":0}]}]}}`: "",
		`{"hooks":[]}`:                                                                           "hooks: it is not an object",
		`{"hooks":{"PreToolUse":{}}}`:                                                            "hooks.PreToolUse: it is not an array, which drops every hook of the file",
		`{"hooks":{"Stopp":[]}}`:                                                                 "hooks.Stopp: the client has no such event",
		`{"hooks":{"Stop":[{"matcher":""}]}}`:                                                    `hooks.Stop[0]: it has no "hooks"`,
		`{"hooks":{"Stop":["x"]}}`:                                                               "hooks.Stop[0]: it does not have the shape of an entry",
		`{"hooks":{"Stop":[{"hooks":[{"type":"x","command":"x"}]}]}}`:                            `hooks.Stop[0].hooks[0]: the client has no handler of type "x"`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"x"}]}]}}`:                        `hooks.Stop[0].hooks[0]: handlers of type "prompt" are not simulated`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command"}]}]}}`:                                    "hooks.Stop[0].hooks[0]: it has no command",
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","timeout":0}]}]}}`:          "hooks.Stop[0].hooks[0]: its timeout is 0; it must be a number above 0",
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","timeout":"30"}]}]}}`:       `hooks.Stop[0].hooks[0]: its timeout is "30"; it must be a number above 0`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":["x"]}]}]}}`:                    "hooks.Stop[0].hooks[0]: it does not have the shape of a handler",
		`{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"x","timeout":1e99}]}]}}`: "",
	} {
		_, dropped := load(text)
		got := ""
		for _, d := range dropped {
			assert.Equal(t, d.Path, "s.json")
			got += d.What + ": " + d.Why
		}
		if want == "" {
			assert.Equal(t, got, "", text)
		} else {
			assert.Assert(t, strings.HasPrefix(got, want), "%s: %s", text, got)
		}
	}
}

func TestFor(t *testing.T) {
	hooks, dropped := load(`{"hooks":{"PreToolUse":[
		{"matcher":"Edit|Write","hooks":[{"type":"command","command":"a","timeout":5},{"type":"command","command":"b","if":"Edit(*.clj)"}]},
		{"hooks":[{"type":"command","command":"a"},{"type":"command","command":"a","args":[]}]}]}}`)
	assert.Equal(t, len(dropped), 0)
	var ran []string
	for _, h := range hooks.For("PreToolUse", "Edit", json.RawMessage(`{"file_path":"/p/x.clj"}`)) {
		ran = append(ran, strings.Join(claudecode.ShellCommand(h, "/p"), " ")+" "+h.Timeout.String())
	}
	assert.DeepEqual(t, ran, []string{"/bin/sh -c a 5s", "/bin/sh -c b 10m0s"})
	assert.Equal(t, len(hooks.For("PreToolUse", "Bash", json.RawMessage(`{"command":"x"}`))), 1)
	assert.Equal(t, len(hooks.For("Stop", "", nil)), 0)
	assert.Equal(t, hooks.All()[0].Timeout, 5*time.Second)

	cased, dropped := load(`{"hooks":{"PreToolUse":[{"Matcher":"Edit","hooks":[{"type":"command","command":"x","If":"Edit","Args":["y"]}]}]}}`)
	assert.Equal(t, len(dropped), 0)
	every := cased.For("PreToolUse", "Bash", nil)
	assert.Equal(t, len(every), 1)
	assert.Assert(t, every[0].Args == nil && every[0].If == "")
}

func TestMatchIf(t *testing.T) {
	for _, c := range []struct {
		rule, tool, input string
		want              bool
	}{
		{"Edit", "Edit", `{}`, true},
		{"Edit", "Write", `{}`, false},
		{"Edit(**/*.clj)", "Edit", `{"file_path":"/p/src/a.clj"}`, true},
		{"Edit(**/*.clj)", "Edit", `{"file_path":"/p/src/a.cljs"}`, false},
		{"Edit(*.clj)", "Edit", `{"file_path":"/p/src/a.clj"}`, true},
		{"Edit(src/*.clj)", "Edit", `{"file_path":"/p/src/a.clj"}`, true},
		{"Edit(src/*.clj)", "Edit", `{"file_path":"/p/src/deep/a.clj"}`, false},
		{"Edit(src/**)", "Edit", `{"file_path":"/p/src/deep/a.clj"}`, true},
		{"Edit(//p/src/**)", "Edit", `{"file_path":"/p/src/a"}`, true},
		{"Edit(//src/**)", "Edit", `{"file_path":"/p/src/a"}`, false},
		{"Edit(a.clj", "Edit", `{"file_path":"/p/a.clj"}`, false},
		{"Edit(a.clj)", "Edit", `{"file_path":5}`, false},
		{"Bash(git *)", "Bash", `{"command":"git push"}`, true},
		{"Bash(git *)", "Bash", `{"command":"git"}`, true},
		{"Bash(git *)", "Bash", `{"command":"gitk"}`, false},
		{"Bash(git:*)", "Bash", `{"command":"git push"}`, true},
		{"Bash(git:*)", "Bash", `{"command":"git"}`, true},
		{"Bash(git:*)", "Bash", `{"command":"gitk"}`, false},
		{"Bash(git:*)", "Bash", `{"command":"git-lfs pull"}`, false},
		{"Bash(git:*)", "Bash", `{"command":"cd x && git push"}`, false},
		{"Bash(git push:*)", "Bash", `{"command":"git pull"}`, false},
		{"Bash(git:*)", "Edit", `{"command":"git push"}`, false},
		{"Bash(git:*)", "Bash", `{"Command":"git push"}`, false},
		{"Bash(npm run test)", "Bash", `{"command":"npm run test"}`, true},
		{"Bash(npm run test)", "Bash", `{"command":"npm run tests"}`, false},
	} {
		assert.Equal(t, claudecode.MatchIf(c.rule, c.tool, json.RawMessage(c.input)), c.want, "%s, %s %s", c.rule, c.tool, c.input)
	}
}
