package edit

import (
	"encoding/json"
	"strings"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/clj"
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
}

// readCall takes an edit out of the event. It is false for other tools and for an input that the tool itself will refuse.
func readCall(e *hookkit.PreToolUse) (c call, ok bool) {
	c.file = e.FilePath()
	switch e.ToolName {
	case "Write":
		c.write = true
		c.content, ok = e.InputString("content")
	case "Edit":
		var one change
		var oldOK, newOK bool
		one.old, oldOK = e.InputString("old_string")
		one.new, newOK = e.InputString("new_string")
		all, _ := e.Input("replace_all")
		one.all = string(all) == "true"
		c.changes, ok = []change{one}, oldOK && newOK
	case "MultiEdit":
		c.multi = true
		c.changes, ok = readChanges(e)
	}
	return c, ok && c.file != ""
}

func readChanges(e *hookkit.PreToolUse) ([]change, bool) {
	raw, _ := e.Input("edits")
	var edits []struct {
		Old *string `json:"old_string"`
		New *string `json:"new_string"`
		All bool    `json:"replace_all"`
	}
	if json.Unmarshal(raw, &edits) != nil {
		return nil, false
	}
	var changes []change
	for _, one := range edits {
		if one.Old == nil || one.New == nil {
			return nil, false
		}
		changes = append(changes, change{*one.Old, *one.New, one.All})
	}
	return changes, len(changes) > 0
}

// simulation is what an edit would leave on disk.
type simulation struct {
	base  string // the file before; with LF for CRLF where only that lets the edit match, as the host does it
	after string
	// at has the places of the new fragments of an Edit in after, in order.
	at []int
}

// simulate makes the edit on the text of the file. It is false where the host will refuse the call itself: an old text that is absent or
// ambiguous, or nothing to change.
func (c call) simulate(before string) (simulation, bool) {
	if c.write {
		return simulation{base: before, after: c.content}, true
	}
	if s, ok := c.simulateOn(before); ok {
		return s, true
	}
	if !strings.Contains(before, "\r\n") {
		return simulation{}, false
	}
	return c.simulateOn(strings.ReplaceAll(before, "\r\n", "\n"))
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
	var b strings.Builder
	b.Grow(len(text) + n*(len(c.new)-len(c.old)))
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

// focus is where the edit put something new, as a range of the text after it, and what was there before. Of several fragments it is all
// from the first to the last.
func (c call) focus(s simulation) (span clj.Span, old string) {
	if c.write {
		return clj.Span{}, ""
	}
	if len(s.at) == 1 && !c.multi {
		return clj.Span{Start: s.at[0], End: s.at[0] + len(c.changes[0].new)}, c.changes[0].old
	}
	start, n := 0, min(len(s.base), len(s.after))
	for start < n && s.base[start] == s.after[start] {
		start++
	}
	tail := 0
	for tail < n-start && s.base[len(s.base)-1-tail] == s.after[len(s.after)-1-tail] {
		tail++
	}
	return clj.Span{Start: start, End: len(s.after) - tail}, s.base[start : len(s.base)-tail]
}
