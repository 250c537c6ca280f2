package edit

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hookkit/brepl/hookkit"
)

// change is one replacement of an edit.
type change struct {
	old, new string
	all      bool
}

// call is what a tool is about to do with a file.
type call struct {
	file    string // as the agent named it
	write   bool   // the whole content is given
	content string
	multi   bool
	changes []change // one for Edit
	raw     []span   // of a MultiEdit: where each change stands in the tool's input
}

// span is a range of bytes; end is exclusive.
type span struct{ start, end int }

// readCall takes an edit out of the event. It is false for other tools and for an input that the tool itself will refuse.
func readCall(e *hookkit.PreToolUse) (c call, ok bool) {
	c.file = e.FilePath()
	switch e.ToolName {
	case "Write":
		c.write = true
		c.content, ok = e.InputString("content")
	case "Edit":
		var one change
		one, ok = readChange(e)
		c.changes = []change{one}
	case "MultiEdit":
		c.multi = true
		ok = c.readChanges(e)
	}
	return c, ok && c.file != ""
}

// readChange takes a replacement out of an input that is, or looks like, that of Edit.
func readChange(e *hookkit.PreToolUse) (one change, ok bool) {
	var oldOK, newOK bool
	one.old, oldOK = e.InputString("old_string")
	one.new, newOK = e.InputString("new_string")
	all, _ := e.Input("replace_all")
	one.all = string(all) == "true"
	return one, oldOK && newOK
}

// readChanges takes the list out of a MultiEdit's input.
func (c *call) readChanges(e *hookkit.PreToolUse) bool {
	list, _ := e.Input("edits")
	at := bytes.Index(e.ToolInput, list)
	if bytes.Count(e.ToolInput, list) != 1 {
		at = -1 // the same list stands in another field too: nothing can be put into it
	}
	decoder := json.NewDecoder(bytes.NewReader(list))
	if open, err := decoder.Token(); err != nil || open != json.Delim('[') {
		return false
	}
	for decoder.More() {
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil {
			return false
		}
		one, ok := readChange(&hookkit.PreToolUse{ToolInput: raw})
		if !ok {
			return false
		}
		c.changes = append(c.changes, one)
		if end := at + int(decoder.InputOffset()); at >= 0 {
			c.raw = append(c.raw, span{end - len(raw), end})
		}
	}
	return len(c.changes) > 0
}

// simulation is what an edit would leave on disk.
type simulation struct {
	base  string // the file before, with LF for CRLF as the host reads it for an edit
	after string
	crlf  bool // base has another line end than the file
	// at has the places of the new fragments of an Edit in after, in order.
	at []int
}

// simulate makes the edit on the text of the file. It is false where the host will refuse the call itself: an old text that is absent or
// ambiguous, or nothing to change.
func (c call) simulate(before string) (simulation, bool) {
	if c.write {
		return simulation{base: before, after: c.content}, true
	}
	if strings.Contains(before, "\r\n") {
		if s, ok := c.simulateOn(strings.ReplaceAll(before, "\r\n", "\n")); ok {
			s.crlf = true
			return s, true
		}
	}
	return c.simulateOn(before) // an old text with CRLF is for a host that reads the file as it is
}

func (c call) simulateOn(before string) (simulation, bool) {
	s := simulation{base: before, after: before}
	for _, one := range c.changes {
		var ok bool
		if s.after, s.at, ok = one.apply(s.after); !ok {
			return simulation{}, false
		}
	}
	return s, true
}

// apply makes one replacement and says where the new fragments are.
func (c change) apply(text string) (after string, at []int, ok bool) {
	if c.old == c.new {
		return "", nil, false
	}
	if c.old == "" { // a new file
		return c.new, []int{0}, strings.TrimSpace(text) == ""
	}
	n := strings.Count(text, c.old)
	if n == 0 || n > 1 && !c.all {
		return "", nil, false
	}
	// What is deleted at the end of a line goes with the line end, as the host does it. After a comment that matters.
	if c.new == "" && !strings.HasSuffix(c.old, "\n") && strings.Contains(text, c.old+"\n") {
		c.old += "\n"
	}
	var b strings.Builder
	b.Grow(len(text) + max(0, n*(len(c.new)-len(c.old))))
	for {
		i := strings.Index(text, c.old)
		if i < 0 {
			b.WriteString(text)
			return b.String(), at, true
		}
		b.WriteString(text[:i])
		at = append(at, b.Len())
		b.WriteString(c.new)
		text = text[i+len(c.old):]
	}
}
