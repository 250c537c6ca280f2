package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/clj"
)

// rewrite makes the tool's input write the repaired text instead. Every byte that need not change is as received. larger says that
// old_string had to grow, because the repair touches what the edit leaves alone. The error says why it cannot be done.
func (c call) rewrite(e *hookkit.PreToolUse, s simulation, repair clj.RepairResult) (input json.RawMessage, larger bool, err error) {
	repaired := string(repair.Text)
	switch {
	case c.write:
		input, err = e.WithInput("content", repaired)
		return input, false, err
	case c.multi:
		return c.rewriteMulti(e, s, repair)
	}
	was := c.changes[0]
	one, ok := was.repaired(s, repaired, repair.Edits)
	larger = one.old != was.old
	switch {
	case !ok && one.old == one.new:
		return nil, false, errors.New("the repair would undo the edit")
	case !ok:
		return nil, false, errors.New("the repair cannot be told as one replacement")
	case larger && s.crlf && strings.Contains(one.old, "\n"):
		return nil, false, errCRLF
	}
	copied := *e
	if larger {
		if copied.ToolInput, err = copied.WithInput("old_string", one.old); err != nil {
			return nil, false, err
		}
	}
	input, err = copied.WithInput("new_string", one.new)
	return input, larger, err
}

var errCRLF = errors.New("the repair is on another line than the edit, and the file has CRLF line ends, which the host may not match")

// bounds is the part of a text that the edits of a repair touch.
func bounds(edits []clj.Edit) (start, end int) {
	start = edits[0].Pos.Offset
	for _, one := range edits {
		end = max(end, one.Pos.Offset+len(one.Removed))
	}
	return start, end
}

// repaired gives the smallest replacement that leads to the repaired text. It contains the one that the agent made, so that it is as
// unique in the file.
func (c change) repaired(s simulation, repaired string, edits []clj.Edit) (change, bool) {
	if len(s.at) > 1 {
		if one, ok := c.everywhere(s, repaired, edits); ok {
			return one, true
		}
	}
	start, end := bounds(edits)
	start = min(start, s.at[0])
	end = max(end, s.at[len(s.at)-1]+len(c.new))
	rest := len(s.after) - end
	c.old, c.new = s.base[start:len(s.base)-rest], repaired[start:len(repaired)-rest]
	return c, c.leadsTo(s.base, repaired)
}

// everywhere is for a text that is replaced in several places, and repaired in the same way in each of them.
func (c change) everywhere(s simulation, repaired string, edits []clj.Edit) (change, bool) {
	first := s.at[0]
	shift := 0
	for _, one := range edits {
		if one.Pos.Offset >= first && one.Pos.Offset+len(one.Removed) <= first+len(c.new) {
			shift += len(one.Inserted) - len(one.Removed)
		}
	}
	if end := first + len(c.new) + shift; end >= first && end <= len(repaired) {
		c.new = repaired[first:end]
		return c, c.leadsTo(s.base, repaired)
	}
	return c, false
}

func (c change) leadsTo(base, want string) bool {
	got, _, ok := c.apply(base)
	return ok && got == want
}

// rewriteMulti puts the repair into the one replacement of a MultiEdit that wrote all of the damage. Where there is none, another
// replacement is added at the end of the list.
func (c call) rewriteMulti(e *hookkit.PreToolUse, s simulation, repair clj.RepairResult) (input json.RawMessage, larger bool, err error) {
	if len(c.raw) == 0 {
		return nil, false, errors.New("the list of edits stands in the input twice")
	}
	repaired := string(repair.Text)
	start, end := bounds(repair.Edits)
	for i, one := range c.changes {
		at := strings.Index(s.after, one.new)
		if one.new == "" || at < 0 || start < at || end > at+len(one.new) {
			continue
		}
		rest := len(s.after) - at - len(one.new)
		one.new = repaired[at : len(repaired)-rest]
		with := c
		with.changes = slices.Clone(c.changes)
		with.changes[i] = one
		if got, ok := with.simulateOn(s.base); !ok || got.after != repaired {
			continue
		}
		raw := c.raw[i]
		part, err := (&hookkit.PreToolUse{ToolInput: e.ToolInput[raw.start:raw.end]}).WithInput("new_string", one.new)
		return slices.Concat(e.ToolInput[:raw.start], part, e.ToolInput[raw.end:]), false, err
	}
	one, ok := c.oneMore(s.after, repaired, repair.Edits)
	if !ok {
		return nil, false, errors.New("there is no place in the file that another edit could name")
	}
	if s.crlf && strings.Contains(one.old, "\n") {
		return nil, false, errCRLF
	}
	// A text that was decoded to U+FFFD would not be found.
	if both := one.old + one.new; !utf8.ValidString(both) || strings.ContainsRune(both, utf8.RuneError) {
		return nil, false, errors.New("the edits or the file hold lone surrogates or bytes that are no UTF-8, which a new text would lose")
	}
	last := c.raw[len(c.raw)-1].end
	more := ",{\"old_string\":" + quoted(one.old) + ",\"new_string\":" + quoted(one.new) + "}"
	return slices.Concat(e.ToolInput[:last], []byte(more), e.ToolInput[last:]), true, nil
}

// written reports whether a text is part of what a MultiEdit wrote: the host refuses to replace that by a later one of its replacements.
func (c call) written(text string) bool {
	text = strings.TrimRight(text, "\n")
	return slices.ContainsFunc(c.changes, func(one change) bool { return strings.Contains(one.new, text) })
}

// oneMore gives an edit that repairs a text: the lines around the damage, as many as make it unique.
func (c call) oneMore(text, repaired string, edits []clj.Edit) (change, bool) {
	start, end := bounds(edits)
	for {
		one := change{old: text[start:end], new: repaired[start : len(repaired)-(len(text)-end)]}
		if one.old != "" && !c.written(one.old) && one.leadsTo(text, repaired) {
			return one, true
		}
		if start == 0 && end == len(text) {
			return change{}, false
		}
		start = strings.LastIndexByte(text[:max(start-1, 0)], '\n') + 1
		if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
			end += i + 1
		} else {
			end = len(text)
		}
	}
}

// quoted gives a text in valid UTF-8 as a JSON string.
func quoted(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
