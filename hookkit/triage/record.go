package triage

import (
	"bytes"
	"slices"
	"strings"
)

// record is what one line of a transcript says, as far as it matters here. The format is the host's own and changes: what is
// unknown is skipped, and a field of another type than expected counts as absent.
type record struct {
	agent   bool // the agent's line; else a user's
	id      string
	texts   []string
	tools   []toolUse
	results []toolResult
}

// toolUse is a call of a tool that changes files, or of a shell.
type toolUse struct {
	id, name string
	path     string // the file that it changes
	command  string // the head of a shell's command
	at       int    // place in the transcript; larger is later
}

type toolResult struct {
	id     string
	failed bool
}

// wholeResult is the size up to which a tool result's line is read to its end, to see whether the call failed.
const wholeResult = 4 << 10

// readRecord reads one line; ok is false for a line that is no conversation. Cut says that the line is only the head of a
// longer one: its text is not used then, its tool calls are.
func readRecord(line []byte, cut bool) (r record, ok bool) {
	if isPlainResult(line) || isOtherTool(line) {
		return record{}, false
	}
	p := recordParser{cursor: cursor{data: line}, cut: cut}
	err := p.object(p.field)
	if err != nil && err != errEnough && (!cut || !p.sawMessage) { //nolint:errorlint // two sentinels of this file
		return record{}, false
	}
	if p.drop || p.role == "" && p.kind == "" {
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

// isPlainResult recognises the result of a tool that did not fail without reading the line, which holds the tool's output, maybe twice.
// In a text the quotation marks would be escaped.
func isPlainResult(line []byte) bool {
	const head = 600
	start := line[:min(head, len(line))]
	return bytes.Contains(start, []byte(`"type":"tool_result"`)) && bytes.Contains(start, []byte(`"role":"user"`)) &&
		(len(line) > wholeResult || !bytes.Contains(line, []byte(`"is_error":true`)))
}

// isOtherTool recognises the call of one tool that changes nothing, without reading the line.
func isOtherTool(line []byte) bool {
	start := []byte(`"content":[{"type":"tool_use"`)
	at := bytes.Index(line[:min(1024, len(line))], start)
	if at < 0 {
		return false
	}
	rest := line[at+len(start):]
	name := []byte(`"name":"`)
	i := bytes.Index(rest[:min(200, len(rest))], name)
	if i < 0 {
		return false
	}
	word, _, ok := bytes.Cut(rest[i+len(name):min(i+len(name)+64, len(rest))], []byte(`"`))
	return ok && !changingTool(string(word)) && !bytes.Contains(rest, []byte(`{"type":"`))
}

// changingTool says whether a tool can change files.
func changingTool(name string) bool {
	switch name {
	case "Edit", "Write", "MultiEdit", "NotebookEdit", "Bash", "write_file", "replace", "apply_patch", "run_shell_command", "shell", "bash":
		return true
	}
	return false
}

type recordParser struct {
	cursor
	record
	cut, sawMessage bool
	drop            bool // nobody's words
	isResult        bool
	kind, role      string
}

func (p *recordParser) field(key []byte) error {
	switch string(key) {
	case "type":
		kind, err := p.str()
		p.kind = kind
		if err == nil && kind != "user" && kind != "assistant" {
			p.drop = true
			return errEnough
		}
		return err
	case "isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage":
		yes, err := p.isTrue()
		if yes {
			p.drop = true
			return errEnough
		}
		return err
	case "attachment", "snapshot", "params", "shape":
		p.drop = true
		return errEnough
	case "toolUseResult":
		// null stands where there is none
		if p.peek() == 'n' {
			return p.skip()
		}
		p.isResult = true
		if p.sawMessage && p.kind != "" {
			return errEnough
		}
		return p.skip()
	case "message":
		if p.peek() != '{' {
			return p.skip()
		}
		p.sawMessage = true
		return p.object(p.messageField)
	default:
		return p.skip()
	}
}

func (p *recordParser) messageField(key []byte) (err error) {
	switch string(key) {
	case "id":
		p.id, err = p.str()
	case "role":
		p.role, err = p.str()
	case "model":
		var model string
		if model, err = p.str(); model == "<synthetic>" {
			p.record, p.drop = record{}, true
			return errEnough
		}
	case "content":
		switch p.peek() {
		case '"':
			var text string
			text, err = p.str()
			p.texts = append(p.texts, text)
		case '[':
			err = p.array(p.block)
		default:
			err = p.skip()
		}
	default:
		err = p.skip()
	}
	return err
}

// block reads one block of a message's content.
func (p *recordParser) block() error {
	if p.peek() != '{' {
		return p.skip()
	}
	var b struct {
		kind, text string
		tool       toolUse
		resultOf   string
		failed     bool
	}
	err := p.object(func(key []byte) (err error) {
		switch string(key) {
		case "type":
			if b.kind, err = p.str(); b.kind == "tool_result" && len(p.data) > wholeResult {
				p.drop = true
				return errEnough
			}
		case "text":
			b.text, err = p.str()
		case "name":
			b.tool.name, err = p.str()
		case "id":
			b.tool.id, err = p.str()
		case "input":
			if p.peek() == '{' {
				err = p.object(func(key []byte) error { return p.input(key, &b.tool) })
			} else {
				err = p.skip()
			}
		case "tool_use_id":
			b.resultOf, err = p.str()
		case "is_error":
			b.failed, err = p.isTrue()
		default:
			err = p.skip()
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
		tool.path, err = p.str()
	case "command":
		if p.peek() != '"' {
			return p.skip()
		}
		var raw []byte
		if raw, err = p.text(); err == nil && len(raw) <= 4096 {
			tool.command = decode(raw)
		}
	default:
		err = p.skip()
	}
	return err
}

// edits says whether the tool changes the file at its path.
func (t toolUse) edits() bool {
	return t.path != "" && slices.Contains([]string{"Edit", "Write", "MultiEdit", "NotebookEdit", "write_file", "replace", "apply_patch"}, t.name)
}

// savesMemory says whether the tool writes a file below a folder for memories.
func (t toolUse) savesMemory() bool {
	if !t.edits() {
		return false
	}
	parts := strings.FieldsFunc(strings.ToLower(t.path), func(r rune) bool { return r == '/' || r == '\\' })
	return len(parts) > 1 && slices.ContainsFunc(parts[:len(parts)-1], func(s string) bool { return s == "memory" || s == "memories" })
}

var newline = []byte("\n")

// trimmed is a line without white space around it and a byte order mark.
func trimmed(line []byte) []byte { return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))) }
