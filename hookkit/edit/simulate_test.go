package edit

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/clj"
)

// toolEvent is a PreToolUse event with this tool input.
func toolEvent(t *testing.T, tool, input string) *hookkit.PreToolUse {
	t.Helper()
	event, err := hookkit.ParseEvent([]byte(`{"hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":` + input + `}`))
	assert.NilError(t, err)
	return event.(*hookkit.PreToolUse)
}

// Fault 46: old_string absent or ambiguous is the host's business.
func TestSimulate(t *testing.T) {
	tests := []struct {
		name        string
		tool, input string
		before      string
		after       string // "-": the host refuses
	}{
		{"Write", "Write", `{"file_path":"a.clj","content":"(b)"}`, "(a)", "(b)"},
		{"Write without content", "Write", `{"file_path":"a.clj"}`, "(a)", "-"},
		{"Write without a file", "Write", `{"content":"(b)"}`, "(a)", "-"},
		{"Edit", "Edit", `{"file_path":"a.clj","old_string":"b","new_string":"B"}`, "a b c", "a B c"},
		{"Edit, replace_all false", "Edit", `{"file_path":"a.clj","old_string":"b","new_string":"B","replace_all":false}`, "a b c", "a B c"},
		{"Edit, absent", "Edit", `{"file_path":"a.clj","old_string":"x","new_string":"B"}`, "a b c", "-"},
		{"Edit, ambiguous", "Edit", `{"file_path":"a.clj","old_string":"b","new_string":"B"}`, "b b", "-"},
		{"Edit, replace_all", "Edit", `{"file_path":"a.clj","old_string":"b","new_string":"BB","replace_all":true}`, "b a b", "BB a BB"},
		{"Edit, replace_all makes no new match", "Edit", `{"file_path":"a.clj","old_string":"aa","new_string":"a","replace_all":true}`, "aaaaa", "aaa"},
		{"Edit, nothing to change", "Edit", `{"file_path":"a.clj","old_string":"b","new_string":"b"}`, "b", "-"},
		{"Edit, empty old_string, no file", "Edit", `{"file_path":"a.clj","old_string":"","new_string":"(b)"}`, "", "(b)"},
		{"Edit, empty old_string, blank file", "Edit", `{"file_path":"a.clj","old_string":"","new_string":"(b)"}`, " \n", "(b)"},
		{"Edit, empty old_string, a file with text", "Edit", `{"file_path":"a.clj","old_string":"","new_string":"(b)"}`, "(a)", "-"},
		{"Edit, the last of two fields of one name counts", "Edit", `{"file_path":"a.clj","old_string":"a","old_string":"b","new_string":"B"}`, "a b", "a B"},
		{"Edit, deleting the end of a line takes the line end too, as the host does it", "Edit", `{"file_path":"a.clj","old_string":" b","new_string":""}`, "(a ; b\n c)", "(a ; c)"},
		{"Edit, deleting the end of a CRLF line", "Edit", `{"file_path":"a.clj","old_string":" b","new_string":""}`, "(a ; b\r\n c)", "(a ; c)"},
		{"Edit, deleting in the midst of a line", "Edit", `{"file_path":"a.clj","old_string":"b ","new_string":""}`, "a b c\n", "a c\n"},
		{"Edit, deleting a line with its end", "Edit", `{"file_path":"a.clj","old_string":"b\n","new_string":""}`, "a\nb\n\nc\n", "a\n\nc\n"},
		{"Edit, deleting everywhere: the host takes those at line ends", "Edit", `{"file_path":"a.clj","old_string":"b","new_string":"","replace_all":true}`, "a b\nb c\n", "a b c\n"},
		{"Edit of a CRLF file, as the host does it", "Edit", `{"file_path":"a.clj","old_string":"a\nb","new_string":"c"}`, "a\r\nb\r\n", "c\n"},
		{"Edit of a line of a CRLF file", "Edit", `{"file_path":"a.clj","old_string":"b","new_string":"c"}`, "a\r\nb\r\n", "a\nc\n"},
		{"Edit of a CRLF file by its bytes", "Edit", `{"file_path":"a.clj","old_string":"a\r\nb","new_string":"c"}`, "a\r\nb\r\n", "c\r\n"},
		{"MultiEdit, in sequence", "MultiEdit", `{"file_path":"a.clj","edits":[{"old_string":"a","new_string":"b"},{"old_string":"b","new_string":"c","replace_all":true}]}`, "a b", "c c"},
		{"MultiEdit, the second becomes ambiguous", "MultiEdit", `{"file_path":"a.clj","edits":[{"old_string":"a","new_string":"b"},{"old_string":"b","new_string":"c"}]}`, "a b", "-"},
		{"MultiEdit that makes a file", "MultiEdit", `{"file_path":"a.clj","edits":[{"old_string":"","new_string":"a b"},{"old_string":"b","new_string":"c"}]}`, "", "a c"},
		{"MultiEdit without edits", "MultiEdit", `{"file_path":"a.clj","edits":[]}`, "a", "-"},
		{"MultiEdit, an edit without new_string", "MultiEdit", `{"file_path":"a.clj","edits":[{"old_string":"a"}]}`, "a", "-"},
		{"MultiEdit, edits of another type", "MultiEdit", `{"file_path":"a.clj","edits":7}`, "a", "-"},
		{"another tool", "Bash", `{"file_path":"a.clj","command":"x"}`, "a", "-"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			after := "-"
			if edit, ok := readCall(toolEvent(t, c.tool, c.input)); ok {
				if s, done := edit.simulate(c.before); done {
					after = s.after
				}
			}
			assert.Equal(t, after, c.after)
		})
	}
}

// edits makes the edit list of a repair that turns one text into another by one change.
func edits(at int, removed, inserted string) []clj.Edit {
	return []clj.Edit{{Pos: clj.Pos{Offset: at}, Removed: removed, Inserted: inserted}}
}

// "a fix outside new_string → a larger unique old_string/new_string pair, as small as possible": by the letter, with repairs given.
func TestRewrite(t *testing.T) {
	const editB = `{"file_path":"a.clj", "old_string":"b","new_string":"(b","replace_all":false,"more":[1, 2]}`
	tests := []struct {
		name        string
		tool, input string
		before      string
		edits       []clj.Edit
		want        string // "error: …" or the input
	}{
		{"Write", "Write", `{"content" : "(a","file_path":"\u0061.clj"}`, "", edits(2, "", ")"), `{"content" : "(a)","file_path":"\u0061.clj"}`},
		{"within new_string", "Edit", editB, "a b c", edits(4, "", ")"), `{"file_path":"a.clj", "old_string":"b","new_string":"(b)","replace_all":false,"more":[1, 2]}`},
		{"after it", "Edit", editB, "a b c d", edits(6, "", ")"), `{"file_path":"a.clj", "old_string":"b c","new_string":"(b c)","replace_all":false,"more":[1, 2]}`},
		{"before it", "Edit", editB, "a) b c d", edits(1, ")", ""), `{"file_path":"a.clj", "old_string":") b","new_string":" (b","replace_all":false,"more":[1, 2]}`},
		{"on both sides", "Edit", editB, "a) b c d", append(edits(1, ")", ""), edits(7, "", ")")...), `{"file_path":"a.clj", "old_string":") b c","new_string":" (b c)","replace_all":false,"more":[1, 2]}`},
		{"it would undo the edit", "Edit", editB, "a b c", edits(2, "(", ""), "error: the repair would undo the edit"},
		{"on another line of a CRLF file", "Edit", editB, "a b\r\nc", edits(6, "", ")"), "error: the repair is on another line than the edit, and the file has CRLF line ends, which the host may not match"},
		{"on the same line of a CRLF file", "Edit", editB, "a b c\r\nd", edits(6, "", ")"), `{"file_path":"a.clj", "old_string":"b c","new_string":"(b c)","replace_all":false,"more":[1, 2]}`},
		{"in each of several places", "Edit", `{"file_path":"a.clj","old_string":"b","new_string":"(b","replace_all":true}`, "b a b", append(edits(2, "", ")"), edits(7, "", ")")...), `{"file_path":"a.clj","old_string":"b","new_string":"(b)","replace_all":true}`},
		{"in one of several places", "Edit", `{"file_path":"a.clj","old_string":"b","new_string":"(b","replace_all":true}`, "x b) a b y", edits(10, "", ")"), `{"file_path":"a.clj","old_string":"b) a b","new_string":"(b) a (b)","replace_all":true}`},
		{"a new file", "Edit", `{"file_path":"a.clj","old_string":"","new_string":"(b"}`, "", edits(2, "", ")"), `{"file_path":"a.clj","old_string":"","new_string":"(b)"}`},
		{"new_string with a lone surrogate", "Edit", `{"file_path":"a.clj","old_string":"b","new_string":"(\ud800"}`, "b", edits(4, "", ")"), `error: field "new_string" holds lone surrogates or bytes that are no UTF-8, which a new text would lose`},
		{"content that is not UTF-8", "Write", "{\"file_path\":\"a.clj\",\"content\":\"(\xff\"}", "", edits(4, "", ")"), `error: field "content" holds lone surrogates or bytes that are no UTF-8, which a new text would lose`},
		{"the file around it is not UTF-8", "Edit", editB, "b \xff c", edits(5, "", ")"), `error: field "old_string": the new text is not valid UTF-8`},
		{
			"MultiEdit", "MultiEdit", `{"edits":[ {"old_string":"b","new_string":"(b<"} ],"file_path":"a.clj"}`, "a\nb\nc\n", edits(5, "", ")"),
			`{"edits":[ {"old_string":"b","new_string":"(b<)"} ],"file_path":"a.clj"}`,
		},
		{
			"MultiEdit, the damage in the second of three, every other byte kept", "MultiEdit",
			`{"edits":[{"old_string":"a","new_string":"A", "x" : "\u0041\ud800"} , { "new_string" : "(b","old_string":"b" },{"old_string":"c","new_string":"C"}],"file_path":"a.clj"}`, "a\nb\nc\n", edits(4, "", ")"),
			`{"edits":[{"old_string":"a","new_string":"A", "x" : "\u0041\ud800"} , { "new_string" : "(b)","old_string":"b" },{"old_string":"c","new_string":"C"}],"file_path":"a.clj"}`,
		},
		{
			"MultiEdit, outside of what it writes", "MultiEdit", `{"file_path":"a.clj","edits":[ {"old_string":"b","new_string":"(b"} ]}`, "a\nb\nc\n", edits(6, "", ")"),
			`{"file_path":"a.clj","edits":[ {"old_string":"b","new_string":"(b"},{"old_string":"c\n","new_string":"c)\n"} ]}`,
		},
		{
			"MultiEdit, a line that is there twice", "MultiEdit", `{"file_path":"a.clj","edits":[{"old_string":"1","new_string":"(1"}]}`, "b\nx\nb\n1\n", edits(5, "", ")"),
			`{"file_path":"a.clj","edits":[{"old_string":"1","new_string":"(1"},{"old_string":"x\nb\n(1\n","new_string":"x\nb)\n(1\n"}]}`,
		},
		{
			// The host refuses a later replacement of what an earlier one wrote.
			"MultiEdit, in two of them", "MultiEdit", `{"file_path":"a.clj","edits":[{"old_string":"","new_string":"(a\nb\n"},{"old_string":"b","new_string":"(b"}]}`, "", append(edits(2, "", ")"), edits(5, "", ")")...),
			`{"file_path":"a.clj","edits":[{"old_string":"","new_string":"(a\nb\n"},{"old_string":"b","new_string":"(b"},{"old_string":"\n(b","new_string":")\n(b)"}]}`,
		},
		{"MultiEdit, on another line of a CRLF file", "MultiEdit", `{"file_path":"a.clj","edits":[{"old_string":"b","new_string":"(b"}]}`, "b\r\nc\r\n", edits(5, "", ")"), "error: the repair is on another line than the edit, and the file has CRLF line ends, which the host may not match"},
		{"MultiEdit with a lone surrogate where the damage is", "MultiEdit", `{"file_path":"a.clj","edits":[{"old_string":"b","new_string":"(\ud800"}]}`, "b\n", edits(4, "", ")"), `error: field "new_string" holds lone surrogates or bytes that are no UTF-8, which a new text would lose`},
		{"MultiEdit with a lone surrogate beside it", "MultiEdit", `{"file_path":"a.clj","edits":[{"old_string":"b","new_string":"(\ud800"}]}`, "b c\n", edits(6, "", ")"), `error: the edits or the file hold lone surrogates or bytes that are no UTF-8, which a new text would lose`},
		{"MultiEdit of a list that stands there twice", "MultiEdit", `{"file_path":"a.clj","edits":[{"old_string":"b","new_string":"(b"}],"x":[{"old_string":"b","new_string":"(b"}]}`, "b\n", edits(2, "", ")"), `error: the list of edits stands in the input twice`},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			e := toolEvent(t, c.tool, c.input)
			edit, ok := readCall(e)
			assert.Assert(t, ok)
			s, ok := edit.simulate(c.before)
			assert.Assert(t, ok)
			repaired := s.after
			for _, one := range slices.Backward(c.edits) {
				at := one.Pos.Offset
				rest, found := strings.CutPrefix(repaired[at:], one.Removed)
				assert.Assert(t, found, "the table removes what is not there")
				repaired = repaired[:at] + one.Inserted + rest
			}
			input, larger, err := edit.rewrite(e, s, clj.RepairResult{Text: []byte(repaired), Edits: c.edits})
			if err != nil {
				assert.Equal(t, "error: "+err.Error(), c.want)
				return
			}
			assert.Equal(t, string(input), c.want)
			// What counts: the rewritten call leaves the repaired text.
			again := toolEvent(t, c.tool, string(input))
			rewritten, ok := readCall(again)
			assert.Assert(t, ok)
			left, ok := rewritten.simulate(c.before)
			assert.Assert(t, ok)
			assert.Equal(t, left.after, repaired)
			assert.Equal(t, larger, len(rewritten.changes) > len(edit.changes) || !edit.write && rewritten.changes[0].old != edit.changes[0].old)
		})
	}
}

func TestKindOf(t *testing.T) {
	for path, want := range map[string]kind{
		"a.clj": clojure, "/x/a.cljs": clojure, "a.cljc": clojure, "a.cljd": clojure, "a.cljx": clojure, "a.bb": clojure, "deps.edn": clojure, "a.lpy": clojure,
		"a.md": foreign, "a.clj.txt": foreign, "a.CLJ": foreign, "script": script, "bin/x": script, "a.py": foreign, "x.clj/y.js": foreign,
	} {
		assert.Equal(t, kindOf(path), want, path)
	}
	for text, want := range map[string]bool{
		"#!/usr/bin/env bb\n(": true, "#!/usr/bin/bb": true, "#!/usr/bin/env -S clojure -M\n": true, "#! /opt/clj -M": true,
		"#!/usr/bin/env A=1 bb -x": true, "#!/usr/bin/make -f bb": false, "#!/bin/sh bb": false, "#!": false,
		"#!/bin/sh\nbb": false, "": false, "(ns a)": false, "#!/usr/bin/env bbq": false,
	} {
		assert.Equal(t, isScript(text), want, text)
	}
}

// The words for each kind of error; those of the seed's example are kept.
func TestSentences(t *testing.T) {
	for src, want := range map[string][2]string{
		"\n(defn":  {"Syntax error: unclosed delimiter", "Found unclosed '(' at line 2. Please add missing closing parenthesis."},
		"[1":       {"Syntax error: unclosed delimiter", "Found unclosed '[' at line 1. Please add missing closing bracket."},
		"#{1":      {"Syntax error: unclosed delimiter", "Found unclosed '{' at line 1. Please add missing closing brace."},
		"(str \"a": {"Syntax error: unclosed string", "Found unclosed string at line 1. Please add missing closing quote."},
		"#\"a":     {"Syntax error: unclosed regex", "Found unclosed regex at line 1. Please add missing closing quote."},
		"(a))":     {"Syntax error: unmatched delimiter", "Found an error at line 1: Unmatched delimiter: ), nothing is open here. Please fix it."},
		"[a\n)":    {"Syntax error: unmatched delimiter", "Found a closing parenthesis at line 2 where ']' should close the '[' of line 1. Please fix the one or the other."},
		"'":        {"Syntax error: unexpected end of file", "Found an error at line 1: EOF while reading, starting at line 1: expected a form after ' at line 1, column 1. Please fix it."},
		"(a #_)":   {"Syntax error: unmatched delimiter", "Found an error at line 1: Unmatched delimiter: ), expected a form after #_ at line 1, column 4. Please fix it."},
	} {
		errs := clj.CheckDelimiters("", []byte(src))
		assert.Assert(t, len(errs) > 0, src)
		assert.DeepEqual(t, [2]string{summary(errs[0]), sentence(errs[0])}, want)
	}
}
