package edit

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/clj"
)

// toolInput is the input of Edit, Write and MultiEdit, as the host reads it.
type toolInput struct {
	File    string      `json:"file_path"`
	Content *string     `json:"content,omitempty"`
	Old     string      `json:"old_string"`
	New     string      `json:"new_string"`
	All     bool        `json:"replace_all"`
	Edits   []toolInput `json:"edits,omitempty"`
	More    string      `json:"more,omitempty"` // a field that we do not know
}

// leaves is what the host makes of a file, written down apart from simulate; false where it refuses the call.
func (in toolInput) leaves(text string) (string, bool) {
	if in.Content != nil {
		return *in.Content, true
	}
	edits := in.Edits
	if edits == nil {
		edits = []toolInput{in}
	}
	for i, one := range edits {
		for _, earlier := range edits[:i] {
			if old := strings.TrimRight(one.Old, "\n"); old != "" && strings.Contains(earlier.New, old) {
				return "", false // "old_string is a substring of a new_string from a previous edit"
			}
		}
		n := strings.Count(text, one.Old)
		if one.Old == "" || one.Old == one.New || n == 0 || n > 1 && !one.All {
			return "", false
		}
		if one.New == "" && !strings.HasSuffix(one.Old, "\n") && strings.Contains(text, one.Old+"\n") {
			one.Old += "\n"
		}
		if !one.All {
			n = 1
		} else {
			n = -1
		}
		text = strings.Replace(text, one.Old, one.New, n)
	}
	return text, true
}

// damaged draws a text with some characters put in or taken out.
func damaged(t *rapid.T, text string) string {
	for range rapid.IntRange(0, 3).Draw(t, "damages") {
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		if rapid.Bool().Draw(t, "in") {
			text = text[:at] + rapid.SampledFrom([]string{"(", ")", "[", "]", "}", " z", "\n  ", ";", "(q "}).Draw(t, "what") + text[at:]
		} else if at < len(text) {
			text = text[:at] + text[at+1:]
		}
	}
	return text
}

// tokens is a text without what a repair may change.
func tokens(text string) string {
	return strings.Trim(strings.NewReplacer("(", "", ")", "", "[", "", "]", "", "{", "", "}", "", " ", "", "\n", "").Replace(text), " ")
}

// "An edit that would leave a healthy file unbalanced is always repaired or denied": whatever the edit, what the host makes of the
// rewritten call is balanced, holds the agent's code, and keeps every other field.
func TestHealthyFilesStayHealthy(t *testing.T) {
	b := newTestbed(t, map[string]string{"src/a.clj": ""})
	forms := []string{"(ns a)\n", "\n", "(defn f [x]\n  (inc x))\n", "(def m {:a [1 2]\n        :b (f 3)}) ; note\n", "(f 1)\n", "(let [y 1\n      z (f y)]\n  (when z\n    (f z)))\n", "#_(old [x])\n"}
	repairs := 0
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(forms), 1, 6).Draw(t, "forms"), "")
		draw := func(text string) toolInput {
			from := rapid.IntRange(0, len(text)-1).Draw(t, "from")
			to := min(len(text), from+rapid.IntRange(1, 25).Draw(t, "length"))
			return toolInput{Old: text[from:to], New: damaged(t, text[from:to]), All: rapid.Bool().Draw(t, "all")}
		}
		in, tool := toolInput{}, rapid.SampledFrom([]string{"Edit", "Write", "MultiEdit"}).Draw(t, "tool")
		switch tool {
		case "Edit":
			in = draw(text)
		case "Write":
			content := damaged(t, text)
			in.Content = &content
		case "MultiEdit":
			for range rapid.IntRange(1, 3).Draw(t, "edits") {
				in.Edits = append(in.Edits, draw(text))
			}
		}
		in.File, in.More = b.path("src/a.clj"), "\"file_path\": é\u2028"
		raw, err := json.Marshal(in)
		assert.NilError(t, err)
		onDisk := text
		if rapid.Bool().Draw(t, "CRLF") { // the host reads LF
			onDisk = strings.ReplaceAll(text, "\n", "\r\n")
		}
		assert.NilError(t, os.WriteFile(in.File, []byte(onDisk), 0o600))
		out, _, exit := b.run(`{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"`+tool+`","tool_input":`+string(raw)+`}`, "validate")
		assert.Equal(t, exit, 0)
		wanted, accepted := in.leaves(text)
		if !accepted || strings.Contains(out, `"permissionDecision":"deny"`) {
			return
		}
		if out == "" {
			assert.Equal(t, len(clj.CheckDelimiters("", []byte(wanted))), 0, "%q", wanted)
			return
		}
		var answer struct {
			HookSpecificOutput struct{ UpdatedInput toolInput }
		}
		assert.NilError(t, json.Unmarshal([]byte(strings.ReplaceAll(out, "$DIR", b.dir)), &answer))
		updated := answer.HookSpecificOutput.UpdatedInput
		got, ok := updated.leaves(text)
		assert.Assert(t, ok, "the host refuses %s", out)
		assert.Equal(t, len(clj.CheckDelimiters("", []byte(got))), 0, "%q", got)
		assert.Equal(t, tokens(got), tokens(wanted))
		assert.Equal(t, updated.File, in.File)
		assert.Equal(t, updated.More, in.More)
		assert.Equal(t, updated.All, in.All)
		assert.Assert(t, strings.Contains(out, `"more":"\"file_path\": é`), out)
		repairs++
	})
	assert.Assert(t, repairs > 0, "nothing was repaired at all")
}
