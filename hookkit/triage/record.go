package triage

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookkit/brepl/hookkit/rawjson"
)

// errEnough is a callback's way to leave a line that is walked over.
var errEnough = errors.New("enough was read")

// record is what one line of a transcript says, as far as it matters here. The format is the host's own and changes: what is
// unknown is skipped, and a field of another type than expected counts as absent.
type record struct {
	agent   bool // the agent's line; else a user's
	id      string
	texts   []string
	tools   []toolUse
	results []toolResult
	asks    bool // the host hands the agent a list of ours
}

// toolUse is a call of a tool that changes files, or of a shell.
type toolUse struct {
	id, name string
	path     string // the file that it changes
	command  string // the head of a shell's command
	memory   bool   // the file is one in which memories are kept
	at       int    // place in the transcript; larger is later
}

type toolResult struct {
	id     string
	failed bool
}

// Up to shortResult a tool result's line is walked over, whatever it holds; up to wholeResult it is looked at whether the call failed.
const (
	shortResult = 512
	wholeResult = 4 << 10
)

// readRecord reads one line; ok is false for a line that is no conversation. Cut says that the line is only the head of a
// longer one: its text is not used then, its tool calls are.
func readRecord(line []byte, cut bool) (r record, ok bool) {
	p := recordParser{Cursor: rawjson.Cursor{Data: line}, cut: cut}
	err := p.Object(p.field)
	if err != nil && err != errEnough && (!cut || !p.sawMessage) { //nolint:errorlint // two sentinels of this file
		return record{}, false
	}
	if p.drop {
		return record{asks: true}, p.meta && slices.ContainsFunc(p.texts, holdsList)
	}
	if p.role == "" && p.kind == "" {
		return record{}, false
	}
	kind := p.kind
	if kind == "" && cut {
		kind = p.role
	}
	if kind != "user" && kind != "assistant" {
		return record{}, false
	}
	p.agent = kind == "assistant"
	if cut || p.isResult {
		p.texts = nil
	}
	return p.record, len(p.texts) > 0 || len(p.tools) > 0 || len(p.results) > 0
}

// glance is what can be said of a line without reading it.
type glance int

const (
	unclear glance = iota
	idle           // holds no words, no failure, and nothing that was done
	shell          // only the call of a shell
)

// glanceHead is where a line's message must begin for a glance at it.
const glanceHead = 1024

// glanceAt recognises what most of a long transcript is made of: results of tools that did not fail, calls of tools that change nothing,
// thinking, and lines that are no conversation. It knows how the host writes these, and whatever it does not know for sure is unclear.
func glanceAt(line []byte) glance {
	const first = `{"type":"`
	if len(line) > len(first) && string(line[:len(first)]) == first {
		return glanceAtType(line[len(first):])
	}
	at := bytes.IndexByte(line[:min(glanceHead, len(line))], '[')
	if at < 0 || !bytes.HasSuffix(line[:at], []byte(`,"content":`)) {
		return unclear
	}
	// The first brace inside the line must be the message's, and the message still be open where its content begins.
	open := bytes.IndexByte(line[1:at], '{') + 1
	if !bytes.HasSuffix(line[:open], []byte(`,"message":`)) || bytes.IndexByte(line[open:at], '}') >= 0 {
		return unclear
	}
	users := bytes.HasSuffix(line[open:at], []byte(`"role":"user","content":`)) // no call of a tool is behind a result
	for blocks := 1; ; blocks++ {
		b, end := glanceAtBlock(line, at+1)
		switch {
		case end < 0 || end == len(line) || b.failed:
			return unclear
		case b.unwalked && users && isIdleRest(line[end:], len(line) <= wholeResult):
			return idle
		case b.unwalked:
			return unclear
		case b.isShell() && blocks == 1 && line[end] == ']':
			return shell
		case !b.isIdle():
			return unclear
		case line[end] == ']':
			return idle
		case line[end] != ',':
			return unclear
		}
		at = end
	}
}

// glanceAtType is a glance at the type with which a line begins.
func glanceAtType(rest []byte) glance {
	if len(rest) == 0 || rest[0] == '\\' {
		return unclear
	}
	if rest[0] != 'u' && rest[0] != 'a' {
		return idle
	}
	word, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || bytes.IndexByte(word, '\\') >= 0 || string(word) == "user" || string(word) == "assistant" {
		return unclear
	}
	return idle
}

// contentBlock is what matters of a block in a message's content.
type contentBlock struct {
	kind, tool []byte // as written
	failed     bool
	unwalked   bool // a result of some length: its content and what follows is not walked over
}

func (b *contentBlock) isIdle() bool {
	switch string(b.kind) {
	case "tool_result", "thinking":
		return true
	case "tool_use":
		return len(b.tool) > 0 && bytes.IndexByte(b.tool, '\\') < 0 && !changingTool(string(b.tool))
	}
	return false
}

func (b *contentBlock) isShell() bool {
	return string(b.kind) == "tool_use" && shellTool(string(b.tool))
}

// glanceAtBlock walks over an object without white space; end is behind it, -1 for what it does not know.
func glanceAtBlock(line []byte, at int) (b contentBlock, end int) {
	if at >= len(line) || line[at] != '{' {
		return b, -1
	}
	// How the host begins most blocks, at one stroke.
	const result, kind, call = `{"tool_use_id":`, `,"type":"tool_result",`, `{"type":"tool_use",`
	if startsWith(line[at:], call) {
		b.kind, at = line[at+9:at+17], at+len(call)-1
	} else if startsWith(line[at:], result) {
		if end = rawjson.StringEnd(line, at+len(result)); end > 0 && startsWith(line[end:], kind) {
			b.kind, at = line[end+9:end+20], end+len(kind)-1
		}
	}
	for {
		at++
		colon := rawjson.StringEnd(line, at)
		if colon < 0 || colon+1 >= len(line) || line[colon] != ':' {
			return b, -1
		}
		value, key := colon+1, line[at+1:colon-1]
		if len(line) > shortResult && string(key) == "content" && string(b.kind) == "tool_result" {
			if end = plainEnd(line, value); end < 0 {
				b.unwalked = true
				return b, value
			}
		} else {
			end = rawjson.ValueEnd(line, value)
		}
		if end <= value || end == len(line) {
			return b, -1
		}
		switch string(key) {
		case "type":
			b.kind = unquoted(line[value:end])
		case "name":
			b.tool = unquoted(line[value:end])
		case "is_error":
			b.failed = line[value] != 'f' && line[value] != 'n'
		}
		switch at = end; line[at] {
		case ',':
		case '}':
			return b, at + 1
		default:
			return b, -1
		}
	}
}

// startsWith is bytes.HasPrefix, which would make a slice of the text.
func startsWith(line []byte, text string) bool {
	return len(line) >= len(text) && string(line[:len(text)]) == text
}

// isIdleRest says of a line from a result's content on, which is not walked over, that it holds no failure and no words.
func isIdleRest(rest []byte, failures bool) bool {
	// The one text of a result that is written as a list.
	rest = bytes.TrimPrefix(rest, []byte(`[{"type":"text","text":`))
	if at := mayHold(rest, `"text"`, 3); at >= 0 {
		// What a tool returned is kept a second time, for the host's own use, and is nobody's words.
		if !bytes.HasSuffix(rest[:at], []byte(`"toolUseResult":{"type":`)) {
			return false
		}
	}
	return !failures || mayHold(rest, `"is_error":true`, 3) < 0
}

// plainEnd is where a string ends in which nothing is escaped that looks like its end, -1 for any other value.
func plainEnd(line []byte, at int) int {
	if line[at] != '"' {
		return -1
	}
	i := bytes.IndexByte(line[at+1:], '"')
	if i < 0 || line[at+i] == '\\' {
		return -1
	}
	return at + i + 2
}

// mayHold is where a word stands, quotation marks and all, which would be escaped inside a text; -1 for nowhere. It looks for the word's
// byte at rare, which is rare in what tools print. Where it is not, walking over the line is quicker, and the answer is 0.
func mayHold(data []byte, word string, rare int) int {
	at := rare
	for tries := len(data)/16 + 1; tries > 0; tries-- {
		if at >= len(data) {
			return -1
		}
		i := bytes.IndexByte(data[at:], word[rare])
		if i < 0 {
			return -1
		}
		at += i
		if start := at - rare; len(data)-start >= len(word) && string(data[start:start+len(word)]) == word {
			return start
		}
		at++
	}
	return 0
}

func unquoted(value []byte) []byte {
	if value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// changingTool says whether a tool can change files.
func changingTool(name string) bool { return editTool(name) || shellTool(name) }

// editTool says whether a tool changes the file at its path.
func editTool(name string) bool {
	switch name {
	case "Edit", "Write", "MultiEdit", "NotebookEdit", "write_file", "replace", "apply_patch":
		return true
	}
	return false
}

// shellTool says whether a tool runs commands.
func shellTool(name string) bool {
	switch name {
	case "Bash", "bash", "shell", "run_shell_command":
		return true
	}
	return false
}

type recordParser struct {
	rawjson.Cursor
	record
	cut, sawMessage bool
	drop            bool // nobody's words
	meta            bool // and what the host tells the agent
	isResult        bool
	kind, role      string
}

func (p *recordParser) field(key []byte) error {
	switch string(key) {
	case "type":
		kind, err := p.Str()
		p.kind = kind
		if err == nil && kind != "user" && kind != "assistant" {
			p.drop = true
			return errEnough
		}
		return err
	case "isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage":
		yes, err := p.True()
		if yes {
			p.drop, p.meta = true, string(key) == "isMeta"
			return errEnough
		}
		return err
	case "attachment", "snapshot", "params", "shape":
		p.drop = true
		return errEnough
	case "toolUseResult":
		// null stands where there is none
		if p.Peek() == 'n' {
			return p.Skip()
		}
		p.isResult = true
		if p.sawMessage && p.kind != "" {
			return errEnough
		}
		return p.Skip()
	case "message":
		if p.Peek() != '{' {
			return p.Skip()
		}
		p.sawMessage = true
		return p.Object(p.messageField)
	default:
		return p.Skip()
	}
}

func (p *recordParser) messageField(key []byte) (err error) {
	switch string(key) {
	case "id":
		p.id, err = p.Str()
	case "role":
		p.role, err = p.Str()
	case "model":
		var model string
		if model, err = p.Str(); model == "<synthetic>" {
			p.record, p.drop = record{}, true
			return errEnough
		}
	case "content":
		switch p.Peek() {
		case '"':
			var text string
			text, err = p.Str()
			p.texts = append(p.texts, text)
		case '[':
			err = p.Array(p.block)
		default:
			err = p.Skip()
		}
	default:
		err = p.Skip()
	}
	return err
}

// block reads one block of a message's content.
func (p *recordParser) block() error {
	if p.Peek() != '{' {
		return p.Skip()
	}
	var b struct {
		kind, text string
		tool       toolUse
		resultOf   string
		failed     bool
	}
	err := p.Object(func(key []byte) (err error) {
		switch string(key) {
		case "type":
			b.kind, err = p.Str()
		case "text":
			b.text, err = p.Str()
		case "name":
			b.tool.name, err = p.Str()
		case "id":
			b.tool.id, err = p.Str()
		case "input":
			if p.Peek() == '{' {
				err = p.Object(func(key []byte) error { return p.input(key, &b.tool) })
			} else {
				err = p.Skip()
			}
		case "tool_use_id":
			b.resultOf, err = p.Str()
		case "is_error":
			b.failed, err = p.True()
		default:
			err = p.Skip()
		}
		return err
	})
	switch {
	case b.kind == "text" && err == nil:
		p.texts = append(p.texts, b.text)
	case b.kind == "tool_use" && b.tool.name != "":
		p.tools = append(p.tools, b.tool)
	case b.kind == "tool_result" && err == nil:
		p.results = append(p.results, toolResult{b.resultOf, b.failed})
	}
	return err
}

// input takes from a tool's input the file that it changes and the head of its command; texts are skipped undecoded.
func (p *recordParser) input(key []byte, tool *toolUse) (err error) {
	switch string(key) {
	case "file_path", "notebook_path", "path":
		tool.path, err = p.Str()
	case "command":
		if p.Peek() != '"' {
			return p.Skip()
		}
		var raw []byte
		if raw, err = p.Text(); err == nil && len(raw) <= 4096 {
			tool.command = rawjson.Decode(raw)
		}
	default:
		err = p.Skip()
	}
	return err
}

// edits says whether the call changes a file.
func (t toolUse) edits() bool { return t.path != "" && editTool(t.name) }

// works says whether the call changes a file of the work, and not a memory.
func (t toolUse) works() bool { return t.edits() && !t.memory }

// noteFormats are the endings of files in which notes are kept; a name without one may be such a file too.
var noteFormats = []string{"", ".md", ".mdx", ".markdown", ".txt", ".org", ".adoc", ".json", ".jsonl", ".yaml", ".yml", ".edn", ".toml"}

// keepsMemories says whether a file is one for memories: notes below a folder for them. That the project itself is below such a folder says
// nothing; "" is a project that is not known.
func keepsMemories(path, project string) bool {
	names := namesOf(path)
	if len(names) == 0 || !slices.Contains(noteFormats, filepath.Ext(names[len(names)-1])) {
		return false
	}
	folders := names[:len(names)-1]
	for _, name := range namesOf(project) {
		if len(folders) == 0 || folders[0] != name {
			break
		}
		folders = folders[1:]
	}
	return slices.Contains(folders, "memory") || slices.Contains(folders, "memories")
}

// namesOf lists the names in a path, in small letters.
func namesOf(path string) []string {
	return strings.FieldsFunc(strings.ToLower(path), func(r rune) bool { return r == '/' || r == '\\' })
}

var newline = []byte("\n")

// trimmed is a line without white space around it and a byte order mark.
func trimmed(line []byte) []byte {
	if len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}' {
		return line
	}
	return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
}
