package triage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/internal/growth"
)

func tailOf(t assert.TestingT, data string) (lines []string, cut int) {
	err := readTail(strings.NewReader(data), int64(len(data)), func(text []byte, isCut bool) bool {
		lines = append(lines, string(text))
		if isCut {
			cut++
		}
		return true
	})
	assert.NilError(t, err)
	return lines, cut
}

// TestReadTail: what comes from the end is what stands in the file, whatever the blocks' borders cut.
func TestReadTail(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 80, 5_000, readSize - 1, readSize, 2 * readSize, blockSize - 1, blockSize, blockSize + 1, 2*blockSize + 7}), 0, 12).Draw(t, "sizes")
		var want []string
		for i, n := range sizes {
			want = append(want, strings.Repeat(string(rune('a'+i)), n))
		}
		data := strings.Join(want, "\n")
		if rapid.Bool().Draw(t, "newline at the end") {
			data += "\n"
		}
		got, cut := tailOf(t, data)
		slices.Reverse(got)
		assert.Equal(t, cut, 0)
		assert.Equal(t, len(got), len(want))
		for i := range want {
			assert.Assert(t, got[i] == want[i], "line %d of %v", i, sizes)
		}
	})
}

func TestReadTailOfLongLines(t *testing.T) {
	t.Parallel()
	data := "first\n{\"long\":\"" + strings.Repeat("x", 3*maxLine) + "\"}\nlast\n"
	got, cut := tailOf(t, data)
	assert.Equal(t, cut, 1)
	assert.Equal(t, len(got), 3)
	assert.Equal(t, got[0]+" "+got[2], "last first")
	assert.Assert(t, strings.HasPrefix(got[1], `{"long":"xxx`) && len(got[1]) <= lineHead)
}

func TestReadTailIsBounded(t *testing.T) {
	t.Parallel()
	data := strings.Repeat(strings.Repeat("y", 99)+"\n", 200_000)
	lines, _ := tailOf(t, data)
	assert.Assert(t, len(lines) <= maxRead/100 && len(lines) > maxRead/100-10, "%d", len(lines))
}

func TestOpenTranscript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, "session-1.jsonl")
	assert.NilError(t, os.WriteFile(own, []byte("{}\n"), 0o600))
	for _, c := range []struct{ path, session, want string }{
		{own, "session-1", own},
		{filepath.Join(dir, "gone.jsonl"), "session-1", own},
		{filepath.Join(dir, "gone.jsonl"), "session-2", ""},
		{filepath.Join(dir, "gone.jsonl"), "../session-1", ""},
		{filepath.Join(dir, "gone.jsonl"), "", ""},
		{"", "session-1", ""},
		{"~/session-1.jsonl", "x", own},
	} {
		assert.Equal(t, findTranscript(c.path, dir, c.session), c.want, "%+v", c)
	}
	_, _, err := openTranscript(dir)
	assert.ErrorIs(t, err, errNotRegular)
}

// TestRecords reads single lines.
func TestRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line, text, tools string }{
		{"a prompt", `{"type":"user","message":{"role":"user","content":"hello"}}`, "hello", ""},
		{"blocks", `{"message":{"id":"m","role":"assistant","content":[{"type":"thinking","thinking":"no"},{"type":"text","text":"a"},{"type":"text","text":"b"}]},"type":"assistant"}`, "a\n\nb", ""},
		{"a tool", `{"message":{"content":[{"type":"tool_use","id":"t","name":"Edit","input":{"replace_all":false,"file_path":"/a.go","old_string":"x"}}]},"type":"assistant"}`, "", "Edit /a.go"},
		{"a notebook", `{"message":{"content":[{"type":"tool_use","name":"NotebookEdit","input":{"notebook_path":"/n.ipynb"}}]},"type":"assistant"}`, "", "NotebookEdit /n.ipynb"},
		{"a sidechain", `{"isSidechain":true,"type":"user","message":{"content":"hello"}}`, "", ""},
		{"meta", `{"type":"user","message":{"content":"hello"},"isMeta":true}`, "", ""},
		{"a summary", `{"type":"user","message":{"content":"hello"},"isCompactSummary":true}`, "", ""},
		{"an API error", `{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"x"}]}}`, "", ""},
		{"synthetic", `{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"x"}]}}`, "", ""},
		{"a result", `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"we decided"}]},"toolUseResult":{}}`, "", ""},
		{"a command", `{"type":"user","message":{"content":"<command-name>/x</command-name>"}}`, "", ""},
		{"a reminder inside", `{"type":"user","message":{"content":"a<system-reminder>we decided</system-reminder> b"}}`, "a  b", ""},
		{"a reminder after a longer tag", `{"type":"user","message":{"content":"a <system-reminders> b\n<system-reminder>we decided</system-reminder>"}}`, "a <system-reminders> b", ""},
		{"hook feedback", `{"type":"user","message":{"content":"Stop hook feedback:\nx"}}`, "", ""},
		{"an interrupt", `{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`, "", ""},
		{"an attachment", `{"attachment":{"type":"x"},"type":"user","message":{"content":"hello"}}`, "", ""},
		{"api-request", `{"type":"api-request-blob","message":{"role":"user","content":"hello"}}`, "", ""},
		{"half a line", `{"type":"user","message":{"content":"hel`, "", ""},
		{"null", `null`, "", ""},
		{"odd types", `{"type":"user","message":{"content":[7,null,{"type":"text","text":[]}]}}`, "", ""},
		{"escapes", `{"type":"user","message":{"content":"a\n\ud83d\ude00\ud800"}}`, "a\n😀\ufffd", ""},
		{"invalid UTF-8", "{\"type\":\"user\",\"message\":{\"content\":\"a\xff\"}}", "a\ufffd", ""},
	} {
		r, _ := readRecord([]byte(c.line), false)
		var tools []string
		for _, u := range r.tools {
			tools = append(tools, u.name+" "+u.path)
		}
		assert.Equal(t, r.words(), c.text, c.name)
		assert.Equal(t, strings.Join(tools, ","), c.tools, c.name)
	}
}

// TestKeepsMemories: notes in a folder for memories, and neither sources in a folder of that name nor a project below one.
func TestKeepsMemories(t *testing.T) {
	t.Parallel()
	const project = "/home/me/memory/app"
	for _, c := range []struct {
		path, project string
		want          bool
	}{
		{"/p/.claude/memory/decisions.md", "/p", true},
		{"/p/memory/2026/notes.org", "/p", true},
		{"/p/docs/Memories/NOTES.TXT", "/p/", true},
		{"/p/memory/index.json", "/p", true},
		{"/p/memory/decisions", "/p", true},
		{"memory/decisions.md", "/p", true},
		{`docs\memory\decisions.md`, "/p", true},
		{"/p/memory.md", "/p", false},
		{"/p/src/memory/alloc.c", "/p", false},
		{"/p/src/memory/orders.go", "", false},
		{"/p/memory/.gitignore", "/p", false},
		{"/p/memory/notes.md", "", true},
		{project + "/README.md", project, false},
		{project + "/docs/plan.md", project, false},
		{project + "/README.md", "/home/me/memory/ap", false},
		{project + "/memory/plan.md", project, true},
		{project + "/.claude/memory/plan.md", project, true},
		{"/home/me/memory/other/plan.md", project, false},
		{"/home/me/memory/plan.md", "/p", true},
		{"/home/me/.claude/projects/-home-me-memory-app/memory/MEMORY.md", project, true},
		{"/home/me/.claude/CLAUDE.md", project, false},
		{"/home/me/memory/.claude/settings.json", project, false},
		{"/p/.claude/worktrees/memory/README.md", "/p/.claude/worktrees/memory", false},
		{"", "/p", false},
		{"/", "/", false},
	} {
		assert.Equal(t, keepsMemories(c.path, c.project), c.want, "%+v", c)
	}
}

// TestRealTranscripts reads recordings of a real client: prompts and replies, and nothing of the client's own.
func TestRealTranscripts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"edit-multistep": {"remove-stock must never go below zero", "core.clj"}, "compact": {"Clamp remove-stock.", "core.clj"},
	} {
		f, size, err := openTranscript("../../integration/testdata/replay/" + name + ".transcript.jsonl")
		assert.NilError(t, err)
		c, err := readConversation(f, size, 50, "")
		assert.NilError(t, err)
		assert.NilError(t, f.Close())
		all := ""
		for _, m := range c.messages {
			all += m.text + "\n"
		}
		assert.Assert(t, strings.Contains(all, want[0]), all)
		for _, host := range []string{"client text left out", "<local-command", "<command-name>", "This session is being continued"} {
			assert.Assert(t, !strings.Contains(all, host), "%s holds %q:\n%s", name, host, all)
		}
		assert.Assert(t, slices.ContainsFunc(c.tools, func(u toolUse) bool { return u.edits() && strings.HasSuffix(u.path, want[1]) }))
	}
}

// TestWindow: lines of one reply count once, and tool results do not use the window up.
func TestWindow(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString(`{"type":"user","message":{"content":"first"}}` + "\n")
	b.WriteString(`{"type":"user","message":{"content":"second"}}` + "\n")
	for range 3 {
		b.WriteString(`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"part"}]}}` + "\n")
		b.WriteString(`{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/a.go"}}]}}` + "\n")
		b.WriteString(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"x"}]}}` + "\n")
	}
	b.WriteString(`{"type":"assistant","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name":"Write","input":{"file_path":"/b.go"}}]}}` + "\n")
	c, err := readConversation(bytes.NewReader(b.Bytes()), int64(b.Len()), 2, "")
	assert.NilError(t, err)
	assert.Equal(t, len(c.messages), 2)
	assert.Equal(t, c.messages[0].text+"|"+c.messages[1].text, "second|part\n\npart\n\npart")
	assert.Assert(t, c.partial)
	assert.Equal(t, len(c.tools), 3) // the Write failed
	c.appendLast("part\n\npart", 2)
	assert.Equal(t, len(c.messages), 2) // it is there already
	c.appendLast("We are done.", 2)
	assert.Equal(t, len(c.messages), 2) // the window does not grow
	assert.Equal(t, c.messages[1].text, "We are done.")
	assert.Equal(t, len(c.tools), 3)
}

// TestWindowOfTheLast: more came before where the last message takes the place of another one, and only there.
func TestWindowOfTheLast(t *testing.T) {
	t.Parallel()
	data := `{"type":"user","message":{"content":"first"}}` + "\n" + `{"type":"user","message":{"content":"second"}}` + "\n"
	for _, c := range []struct {
		most    int
		last    string
		want    string
		partial bool
	}{
		{1, "", "second", true},
		{1, "Done.", "Done.", true},
		{2, "", "first|second", false},
		{2, "Done.", "second|Done.", true},
		{3, "Done.", "first|second|Done.", false},
	} {
		conv, err := readConversation(strings.NewReader(data), int64(len(data)), c.most, "")
		assert.NilError(t, err)
		conv.appendLast(c.last, c.most)
		var texts []string
		for _, m := range conv.messages {
			texts = append(texts, m.text)
		}
		assert.Equal(t, strings.Join(texts, "|"), c.want)
		assert.Equal(t, conv.partial, c.partial, c.want)
	}
}

// TestManyLinesOfOneReply: the time does not grow with the square of the lines, and of a long reply both ends are there.
func TestManyLinesOfOneReply(t *testing.T) {
	t.Parallel()
	const lines = 40_000
	reply := func(lines int) []byte {
		var b bytes.Buffer
		b.WriteString(`{"type":"user","message":{"content":"Go."}}` + "\n")
		for i := range lines {
			fmt.Fprintf(&b, `{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"This is part %d of the long reply."}]}}`+"\n", i)
		}
		return b.Bytes()
	}
	read := func(data []byte) conversation {
		c, err := readConversation(bytes.NewReader(data), int64(len(data)), 50, "")
		assert.NilError(t, err)
		return c
	}
	assert.NilError(t, growth.Linear(lines/4, func(lines int) func() {
		data := reply(lines)
		return func() { read(data) }
	}))
	c := read(reply(lines))
	assert.Equal(t, len(c.messages), 2)
	text := c.messages[1].text
	assert.Assert(t, strings.HasPrefix(text, "This is part 0 of the long reply.\n\nThis is part 1 of") && len(text) <= maxCollected, "%d bytes: %.100s", len(text), text)
	assert.Assert(t, strings.HasSuffix(text, "part 39998 of the long reply.\n\nThis is part 39999 of the long reply."))
	c.appendLast("This is part 39999 of the long reply.", 50)
	assert.Equal(t, len(c.messages), 2)
}

// TestCollected: what is looked at of a message does not depend on how its lines were cut.
func TestCollected(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.IntRange(1, 2*maxMessage), 1, 40).Draw(t, "sizes")
		var c collected
		var texts []string
		for i, n := range parts {
			texts = append(texts, strings.Repeat(string(rune('A'+i)), n))
		}
		for _, text := range slices.Backward(texts) {
			c.add(text)
		}
		assert.Assert(t, c.size <= maxCollected && len(c.whole().text) <= maxCollected+2*len(parts))
		assert.Assert(t, shortened(c.whole().text) == shortened(strings.Join(texts, "\n\n")), "%v", parts)
	})
}

// TestHookTexts: what the host passes on from a hook is nobody's words, in the forms in which it writes it; words about hooks are.
func TestHookTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Stop hook feedback:\n[tests]: 2 failures", "Stop hook feedback:", "SubagentStop hook feedback:\nName the test.",
		`Stop hook blocking error from command: "tests": 2 failures`, `PostToolUse:Edit hook blocking error from command: "eval": no`,
		"PreToolUse:Write hook error: [hook]: no", "PreToolUse:mcp__db__query hook additional context: x",
		"UserPromptSubmit hook additional context: x", "SessionStart:startup hook success: hello",
	} {
		assert.Equal(t, withoutHost(text), "", text)
	}
	for _, text := range []string{
		"Stop hook feedback is noisy.", "Stop hook feedback: it is noisy.", "PreToolUse hook output is noisy.", "PostToolUse hooks are slow.",
		"UserPromptSubmit hook: always log it.", "Stop hook errors are hidden.", "The Stop hook feedback:\nit is noisy.",
		"PreToolUse hook error: it is noisy.", "PreToolUse: the hook error: it is noisy.",
	} {
		assert.Equal(t, withoutHost(text), text)
	}
}

// TestManyTags: thousands of reminders in one prompt are taken out in one go, and thousands that are spoken of are left in one go.
func TestManyTags(t *testing.T) {
	t.Parallel()
	assert.NilError(t, growth.Linear(25_000/4, func(tags int) func() {
		text := "a" + strings.Repeat("<system-reminder>x</system-reminder>", tags) + "b"
		return func() { assert.Equal(t, strings.Join(strings.Fields(withoutHost(text)), " "), "a b") }
	}))
	assert.NilError(t, growth.Linear(10_000, func(tags int) func() {
		spoken := strings.Repeat("the <system-reminder> tag ", tags)
		return func() {
			assert.Assert(t, withoutHost(spoken+"\n<system-reminder>x</system-reminder>") == spoken+"\n ")
			assert.Assert(t, withoutHost(spoken+".") == spoken+".")
		}
	}))
}

// TestWithoutTag: what is enclosed goes, and so does the rest behind a tag that begins a line; a tag that is only spoken of takes nothing.
func TestWithoutTag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"a <x>b</x> c <x>d</x>", "a   c  "},
		{"a <x>b", "a <x>b"},
		{"<x>b", ""},
		{"a\n  <x>b\nc", "a\n  "},
		{"a <x> b\n<x>c</x>\nd", "a <x> b\n \nd"},
		{"a <x> b <x>c</x> d", "a <x> b   d"},
		{"a\n<x>b <x> c</x> d", "a\n  d"},
		{"a <x> and </x> b", "a   b"},
		{"a </x> b <x>", "a </x> b <x>"},
		{"a <xy> b <x>c</x>", "a <xy> b  "},
		{"a <xy> b <x>c <xy> d</x>", "a <xy> b  "},
		{"<x y='1'>b</x>", " "},
		{"<x", ""},
	} {
		assert.Equal(t, withoutTag(c.text, "<x", "</x>"), c.want, c.text)
	}
}
