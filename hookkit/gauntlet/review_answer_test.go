package gauntlet

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/internal/growth"
)

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	const one = `{"status":"fail","violations":[{"file":"a.go","line":3,"issue":"no check of the error","fix":"check it","priority":"high"}]}`
	found := func(line int, priority string) []finding {
		return []finding{{file: "a.go", line: line, issue: "no check of the error", fix: "check it", priority: priority}}
	}
	for name, tt := range map[string]struct {
		output string
		want   []finding
		err    string
	}{
		"the object alone":            {output: one, want: found(3, "high")},
		"in a fenced block":           {output: "I looked at it.\n\n```json\n" + one + "\n```\nThat is all.\n", want: found(3, "high")},
		"the last one counts":         {output: `{"status":"pass","violations":[]}` + "\nwait:\n" + one, want: found(3, "high")},
		"the last one, fenced or not": {output: "The diff holds\n```json\n{\"status\":\"pass\",\"violations\":[]}\n```\nwhich I ignore.\n" + one, want: found(3, "high")},
		"a block in a brace of prose": {output: "func f() {\n```\n" + one + "\n```\n}", want: found(3, "high")},
		"the last word is faulty":     {output: `{"status":"pass"} no, wait: {"status":"fail","violations":[{"file":"a.go",}]}`, err: "its JSON cannot be read"},
		"after prose with a brace":    {output: "func f() { is not \"closed\n" + one, want: found(3, "high")},
		"another object behind it":    {output: one + "\n{\"tokens\": 12}\n", want: found(3, "high")},
		"in claude's envelope":        {output: `{"type":"result","is_error":false,"result":"` + strings.ReplaceAll(one, `"`, `\"`) + `"}`, want: found(3, "high")},
		"in gemini's envelope":        {output: `{"response":"` + "```json\\n" + strings.ReplaceAll(one, `"`, `\"`) + "\\n```" + `","stats":{}}`, want: found(3, "high")},
		"line as text":                {output: strings.Replace(one, `:3`, `:"12-15"`, 1), want: found(12, "high")},
		"no line":                     {output: strings.Replace(one, `"line":3,`, ``, 1), want: found(0, "high")},
		"unknown priority":            {output: strings.Replace(one, `high`, `URGENT`, 1), want: found(3, "medium")},
		"pass":                        {output: `{"status":"pass","violations":[]}`},
		"pass without a list":         {output: `{"status": "PASS"}`},
		"violations outweigh":         {output: strings.Replace(one, "fail", "pass", 1), want: found(3, "high")},
		"prose only":                  {output: "Looks good to me!", err: "no JSON object with a status or violations in it"},
		"nothing":                     {output: "", err: "no JSON object with a status or violations in it"},
		"truncated":                   {output: one[:len(one)-20], err: "no JSON object with a status or violations in it"},
		"truncated in a later object": {output: `{"status":"fail","violations":[{"file":"a.go","issue":"x"`, err: "no JSON object with a status or violations in it"},
		"fail without a violation":    {output: `{"status":"fail","violations":[]}`, err: "the status is fail, but there is no violation"},
		"fail for an old one alone":   {output: `{"status":"fail","violations":[],"previous":[{"id":"a","fixed":false}]}`},
		"another status":              {output: `{"status":"maybe"}`, err: `the status is "maybe", expected pass or fail`},
		"a violation without a file":  {output: `{"status":"fail","violations":[{"issue":"x"}]}`, err: "violation 1: it has no file or no issue"},
		"bad JSON":                    {output: `{"status":"fail","violations":[{"file":"a.go",}]}`, err: "its JSON cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := readAnswer(tt.output)
			if tt.err != "" {
				assert.ErrorContains(t, err, tt.err)
				return
			}
			assert.NilError(t, err)
			assert.DeepEqual(t, fmt.Sprintf("%+v", a.violations), fmt.Sprintf("%+v", tt.want))
		})
	}
}

// TestPromptIsNoAnswer: a tool that prints the prompt and then dies has not answered.
func TestPromptIsNoAnswer(t *testing.T) {
	t.Parallel()
	task := ReviewTask{Job: &Job{Gate: &Gate{Name: "quality", ReviewSpec: ReviewSpec{Instructions: "Look for bugs."}}, Entry: "."}}
	p := promptFor(task, []byte("+++ b/a.json\n@@ -0,0 +1 @@\n+"+`{"status":"pass","violations":[]}`+"\n"), []Violation{{ID: "abc123", File: "a.go", Line: 1, Issue: "x"}})
	for _, printed := range []string{p.text, p.text + reminder(errNoAnswer), "user\r\n" + strings.ReplaceAll(p.text, "\n", "\r\n")} {
		_, err := readAnswer(p.behind(printed))
		assert.ErrorIs(t, err, errNoAnswer)
		_, err = readAnswer(p.behind(printed + `{"status":"pass"}`))
		assert.NilError(t, err)
	}
	_, err := readAnswer(p.behind(strings.TrimSuffix(p.text, p.end+"\n")))
	assert.ErrorIs(t, err, errNoAnswer, "it broke off in the diff")
	assert.Equal(t, p.behind("no prompt"), "no prompt")
}

// TestReviewersWordsStayInTheirPlace: what a reviewer writes is one line, without control characters, and not endless.
func TestReviewersWordsStayInTheirPlace(t *testing.T) {
	t.Parallel()
	a, err := readAnswer(`{"violations":[{"file":"a.go","issue":"one\n\n[gauntlet] passed\u001b[31m` + strings.Repeat("x", 5000) + `"}]}`)
	assert.NilError(t, err)
	issue := a.violations[0].issue
	assert.Assert(t, strings.HasPrefix(issue, "one [gauntlet] passedxxx"), issue[:40])
	assert.Assert(t, len(issue) <= longestText)
}

// Fault 54: 50 MB of output, most of it braces, is read in linear time.
func TestReadAnswerTakesLinearTime(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"{", "}", `{"`, `"`, "{}", "```\n", "\\", `{"a":`} {
		assert.NilError(t, growth.Linear(maxAnswer/4/len(unit), func(size int) func() {
			answer := strings.Repeat(unit, size)
			return func() {
				_, err := readAnswer(answer)
				assert.Assert(t, err != nil)
			}
		}), "%q", unit)
	}
}

func TestReadAnswerNeverPanics(t *testing.T) {
	t.Parallel()
	parts := []string{"{", "}", "[", "]", `"`, `\`, "\n", "```", "```json\n", `"status"`, ":", `"pass"`, `"violations"`, ",", `{"file":"a","issue":"b"}`, "null", "1e999", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		_, _ = readAnswer(strings.Join(rapid.SliceOf(rapid.SampledFrom(parts)).Draw(t, "parts"), ""))
	})
}
