package triage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

// lineOf is a line as the host writes it, with a message's content.
func lineOf(role, content, rest string) string {
	head := `{"parentUuid":"x","isSidechain":false,"type":"` + role + `","message":{"role":"` + role + `","content":`
	if role == "assistant" {
		head = `{"parentUuid":"x","isSidechain":false,"type":"assistant","message":{"id":"m","type":"message","role":"assistant","content":`
	}
	return head + content + `},"uuid":"u"` + rest + `}`
}

// TestGlance: what is recognised without reading a line, and what is not.
func TestGlance(t *testing.T) {
	t.Parallel()
	code := strings.Repeat(`if a_b == \"x\" { return }\n`, 60) // over shortResult
	long := strings.Repeat(`some \"output\" of a program\n`, 400)
	const read, bash = `{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/a.go"}}`, `{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}`
	const words, thinking = `{"type":"text","text":"we decided"}`, `{"type":"thinking","thinking":"we decided","signature":"s"}`
	result := func(text string) string { return `{"tool_use_id":"t","type":"tool_result","content":"` + text + `"}` }
	failed := func(text string) string {
		return `{"type":"tool_result","content":"` + text + `","is_error":true,"tool_use_id":"t"}`
	}
	list := func(text string) string {
		return `{"tool_use_id":"t","type":"tool_result","content":[{"type":"text","text":"` + text + `"}]}`
	}
	for _, c := range []struct {
		name, role, content, rest string
		want                      glance
	}{
		{"a result", "user", result("ok"), "", idle},
		{"an empty one", "user", result(""), "", idle},
		{"not failed", "user", `{"tool_use_id":"t","type":"tool_result","content":"a\"b","is_error":false}`, "", idle},
		{"of some length", "user", result(code), "", idle},
		{"long", "user", result(long), "", idle},
		{"that says so", "user", result(`\"is_error\":true,{\"type\":\"text\"}` + code), "", idle},
		{"ends with a backslash", "user", result(`a\\`), "", idle},
		{"with its data", "user", result(long), `,"toolUseResult":{"type":"text","file":{"content":"` + long + `"}}`, idle},
		{"a list", "user", list(code), "", idle},
		{"a short list", "user", list("a"), "", idle},
		{"failed", "user", failed("no"), `,"toolUseResult":"Error"`, unclear},
		{"failed, of some length", "user", failed(code), "", unclear},
		{"failed, plain", "user", failed(strings.Repeat("no ", 300)), "", unclear},
		{"failed, said first", "user", `{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"` + code + `"}`, "", unclear},
		{"failed, the type last", "user", `{"content":"` + code + `","is_error":true,"tool_use_id":"t","type":"tool_result"}`, "", unclear},
		{"failed, an odd type", "user", `{"tool_use_id":"t","type":"tool_result","content":"a","is_error":"true"}`, "", unclear},
		{"failed, a list", "user", `{"type":"tool_result","content":[{"type":"text","text":"` + code + `"}],"is_error":true,"tool_use_id":"t"}`, "", unclear},
		{"two results", "user", result("a") + "," + result("b"), "", idle},
		{"the second failed", "user", result("a") + "," + failed("b"), "", unclear},
		{"the second failed, of some length", "user", result(code) + "," + failed("b"), "", unclear},
		{"words behind", "user", result("a") + "," + words, "", unclear},
		{"words behind some length", "user", result(code) + "," + words, "", unclear},
		{"words behind much", "user", result(long) + "," + words, "", unclear},
		{"words behind a list", "user", list(code) + "," + words, "", unclear},
		{"words behind, and data", "user", result(long) + "," + words, `,"toolUseResult":{"type":"text"}`, unclear},
		{"words before", "user", words + "," + result("a"), "", unclear},
		{"words with a rare letter everywhere", "user", result(strings.Repeat(`x`, 3000)+`\"`) + "," + words, "", unclear},
		{"the agent's", "assistant", result(code), "", unclear},
		{"an escaped type", "user", `{"tool_use_id":"t","type":"tool\u005fresult","content":"a"}`, "", unclear},
		{"white space", "user", `{ "tool_use_id":"t","type":"tool_result","content":"a"}`, "", unclear},
		{"no object", "user", `7`, "", unclear},
		{"a call", "assistant", read, "", idle},
		{"two calls", "assistant", read + "," + read, "", idle},
		{"thinking and a call", "assistant", thinking + "," + read, "", idle},
		{"a call and words", "assistant", read + "," + words, "", unclear},
		{"a call and an edit", "assistant", read + `,{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"/a"}}`, "", unclear},
		{"a call of nothing", "assistant", `{"type":"tool_use","id":"t"}`, "", unclear},
		{"an escaped name", "assistant", `{"type":"tool_use","id":"t","name":"Ed\u0069t","input":{}}`, "", unclear},
		{"a name in the input", "assistant", `{"type":"tool_use","id":"t","name":"Edit","input":{"name":"Read","type":"thinking"}}`, "", unclear},
		{"a command", "assistant", bash, "", shell},
		{"two commands", "assistant", bash + "," + bash, "", unclear},
		{"a command and words", "assistant", bash + "," + words, "", unclear},
	} {
		line := []byte(lineOf(c.role, "["+c.content+"]", c.rest))
		assert.Equal(t, glanceAt(line), c.want, c.name)
		if len(line) <= shortResult {
			for end := range bytes.LastIndex(line, []byte("]}")) { // as of a line that is still being written
				assert.Equal(t, glanceAt(line[:end]), unclear, "%s cut at %d", c.name, end)
			}
		}
	}
	for line, want := range map[string]glance{
		``: unclear, `{`: unclear, `{"type":"`: unclear, `{"type":"pro`: idle, `{"type":"attachment"}`: idle, `{"type":"atta`: unclear, `null`: unclear,
		`{"type":"user","message":{"content":"a"}}`: unclear, `{"type":"assistant"}`: unclear, `{"type":"\u0075ser","message":{"content":"a"}}`: unclear,
		`{"type":"u\u0073er","message":{"content":"a"}}`: unclear, `{"type":"users"}`: idle,
		// A list that is not the message's.
		`{"a":1,"message":{"role":"user","content":"words"},"content":[` + result("a") + `]}`:                       unclear,
		`{"a":{"message":{"role":"user","content":[` + result("a") + `]}},"message":{"content":"words"}}`:           unclear,
		`{"a":1,"message":{"role":"user","content":"see ,\"content\":[{\"type\":\"tool_result\",\"content\":\"\"}]`: unclear,
	} {
		assert.Equal(t, glanceAt([]byte(line)), want, line)
	}
}

// TestGlanceAgreesWithTheParser: whatever the line, one that is called idle says nothing, and one that is called a shell's no more than that.
func TestGlanceAgreesWithTheParser(t *testing.T) {
	t.Parallel()
	texts := []string{"", "words", `a \"quote\"`, `\\`, `\\\"`, `"`, `{\"type\":\"text\"}`, "[{", `\u0022`, strings.Repeat(`x \"y\" `, 100), strings.Repeat("plain ", 150), strings.Repeat("x", 5000)}
	rapid.Check(t, func(t *rapid.T) {
		text := func() string { return `"` + rapid.SampledFrom(texts).Draw(t, "text") + `"` }
		object := func(fields ...string) string {
			fields = rapid.Permutation(fields).Draw(t, "fields")
			return "{" + strings.Join(fields[:rapid.IntRange(max(0, len(fields)-1), len(fields)).Draw(t, "n")], ",") + "}"
		}
		block := func() string {
			switch kind := rapid.SampledFrom([]string{"text", "tool_use", "tool_result", "thinking", "image", `tool_\u0075se`}).Draw(t, "kind"); kind {
			case "tool_result":
				content := text()
				if rapid.Bool().Draw(t, "list") {
					content = `[{"type":"text","text":` + content + `}]`
				}
				return object(`"type":"tool_result"`, `"tool_use_id":"t"`, `"content":`+content, `"is_error":`+rapid.SampledFrom([]string{"true", "false", "null", `"x"`, "trueish", "1"}).Draw(t, "error"))
			default:
				name := rapid.SampledFrom([]string{"Read", "Bash", "Edit", `Ed\u0069t`, ""}).Draw(t, "name")
				return object(`"type":"`+kind+`"`, `"id":"t"`, `"name":"`+name+`"`, `"text":`+text(), `"input":{"command":`+text()+`,"file_path":"/a"}`)
			}
		}
		blocks := make([]string, rapid.IntRange(0, 3).Draw(t, "blocks"))
		for i := range blocks {
			blocks[i] = block()
		}
		role := rapid.SampledFrom([]string{"user", "assistant", "system"}).Draw(t, "role")
		line := []byte(lineOf(role, "["+strings.Join(blocks, ",")+"]", rapid.SampledFrom([]string{"", `,"toolUseResult":{"type":"text","text":"a"}`, `,"isMeta":true`}).Draw(t, "rest")))
		line = line[:rapid.SampledFrom([]int{len(line), len(line), len(line) - 1, len(line) / 2}).Draw(t, "length")]
		look := glanceAt(line)
		if look == unclear {
			return
		}
		r, _ := readRecord(line, false)
		assert.Equal(t, r.words(), "", "%s", line)
		if look == shell {
			assert.Assert(t, len(r.tools) == 0 || len(r.tools) == 1 && shellTool(r.tools[0].name), "%s", line)
			return
		}
		if role != "user" { // the user calls no tools
			assert.Assert(t, !slices.ContainsFunc(r.tools, func(u toolUse) bool { return changingTool(u.name) }), "%s", line)
		}
		if len(line) <= wholeResult {
			assert.Assert(t, !slices.ContainsFunc(r.results, func(r toolResult) bool { return r.failed }), "%s", line)
		}
	})
}

// FuzzGlance: no line makes it fail.
func FuzzGlance(f *testing.F) {
	for _, content := range []string{
		`[{"tool_use_id":"t","type":"tool_result","content":"a\\\"b"}]`, `[{"type":"tool_use","id":"t","name":"Read","input":{"a":[{"b":1}]}}]`, `[{"type":,"name":}]`,
		`[{"tool_use_id":"t","type":"tool_result","content":[{"type":"text","text":"` + strings.Repeat(`\"x\"`, 200) + `"}]}]`, `"words"`, `[{"type":"text","text":"words"}]`,
	} {
		f.Add([]byte(lineOf("user", content, "")))
		f.Add([]byte(lineOf("assistant", content, "")))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if r, _ := readRecord(line, false); glanceAt(line) == shell && len(r.tools) > 0 && !shellTool(r.tools[0].name) {
			t.Errorf("no shell: %s", line)
		}
	})
}

// TestGlanceAtRecordings: what a real client wrote is recognised, and no failed call is missed.
func TestGlanceAtRecordings(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../integration/testdata/replay/*.transcript.jsonl")
	assert.NilError(t, err)
	looks, failures := map[glance]int{}, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		assert.NilError(t, err)
		b := builder{most: 1000, failed: map[string]bool{}}
		want := map[string]bool{}
		for line := range bytes.SplitSeq(data, newline) {
			var l struct {
				Type        string
				IsSidechain bool
				Message     struct{ Content json.RawMessage }
			}
			b.line(line, false)
			if json.Unmarshal(line, &l) != nil || l.Type != "user" && l.Type != "assistant" {
				continue
			}
			var content []struct {
				ID      string `json:"tool_use_id"`
				Type    string
				IsError bool `json:"is_error"`
			}
			_ = json.Unmarshal(l.Message.Content, &content) // a text: no block
			if len(content) > 0 {
				looks[glanceAt(line)]++
			}
			for _, block := range content {
				if block.IsError && !l.IsSidechain {
					want[block.ID] = true
				}
				if block.Type == "text" {
					assert.Equal(t, glanceAt(line), unclear, "%s", line)
				}
			}
		}
		failures += len(want)
		assert.Assert(t, maps.Equal(b.failed, want), "%s: %v, want %v", file, b.failed, want)
	}
	assert.Assert(t, failures >= 3 && looks[idle] >= 20 && looks[shell] >= 5, "%v, %d failed", looks, failures)
}

// TestManyCommands: between two messages the last commands are kept, and each edit.
func TestManyCommands(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	call := func(name, input string, i int) {
		b.WriteString(lineOf("assistant", fmt.Sprintf(`[{"type":"tool_use","id":"t%d","name":%q,"input":{%s}}]`, i, name, input), "") + "\n")
	}
	commands := func(from, n int) {
		for i := from; i < from+n; i++ {
			call("Bash", fmt.Sprintf(`"command":"make %d"`, i), i)
		}
	}
	b.WriteString(lineOf("user", `"first"`, "") + "\n")
	call("Edit", `"file_path":"/a.go"`, 9000)
	commands(0, maxCommands+50)
	b.WriteString(lineOf("user", `"second"`, "") + "\n")
	commands(1000, 3)
	for i := range 10 { // what failed was not done
		call("Bash", `"command":"false"`, 5000+i)
		b.WriteString(lineOf("user", fmt.Sprintf(`[{"type":"tool_result","content":"no","is_error":true,"tool_use_id":"t%d"}]`, 5000+i), "") + "\n")
	}
	commands(2000, maxCommands-3)
	c, err := readConversation(strings.NewReader(b.String()), int64(b.Len()), 50, "")
	assert.NilError(t, err)
	assert.Equal(t, len(c.messages), 2)
	assert.Equal(t, len(c.tools), 1+2*maxCommands)
	assert.Equal(t, c.tools[0].name, "Edit")
	assert.Equal(t, c.tools[1].command, "make 50")
	assert.Equal(t, c.tools[1+maxCommands].command, "make 1000")
}

// readCounter counts what is read of a file.
type readCounter struct {
	io.ReaderAt
	bytes int
}

func (r *readCounter) ReadAt(p []byte, at int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, at)
	r.bytes += n
	return n, err
}

// TestReadTailEndsWithABlock: how far is read does not depend on how much is read at once.
func TestReadTailEndsWithABlock(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100, 5_000, readSize, 3 * readSize} {
		data := strings.Repeat(strings.Repeat("y", size-1)+"\n", 4*blockSize/size)
		r := readCounter{ReaderAt: strings.NewReader(data)}
		assert.NilError(t, readTail(&r, int64(len(data)), func([]byte, bool) bool { return false }))
		assert.Equal(t, r.bytes, blockSize, "lines of %d bytes", size)
	}
}
