package triage

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// message is what the user or the main agent said at one point, in any number of lines.
type message struct {
	id    string
	agent bool
	text  string
	at    int // place in the transcript; larger is later
	// pasted says that an error of a program was pasted into it.
	pasted bool
}

// conversation is the end of a session: the last messages, and what the agent did as far as the file was read.
type conversation struct {
	messages []message // oldest first
	tools    []toolUse // calls that did not fail, oldest first
	asks     []int     // the places where the agent was given a list of ours
	// partial says that more came before: the window was full, or enough was read.
	partial bool
}

// defaultMessages is how many messages are looked at when the configuration does not say.
const defaultMessages = 50

// readConversation reads the last most messages from the end of a transcript. Lines of one message count once; tool results and
// messages without words do not count. The project's folder tells which files keep memories.
func readConversation(r io.ReaderAt, size int64, most int, project string) (conversation, error) {
	b := builder{most: most, project: project, failed: map[string]bool{}}
	err := readTail(r, size, b.line)
	c := conversation{tools: b.tools, asks: b.asks, partial: b.full || size > maxRead}
	for i := range slices.Backward(b.messages) {
		c.messages = append(c.messages, b.messages[i].whole())
	}
	slices.Reverse(c.tools)
	c.tools = slices.DeleteFunc(c.tools, func(t toolUse) bool { return b.failed[t.id] })
	return c, err
}

// builder collects messages from the last line to the first.
type builder struct {
	most     int
	project  string      // its folder, "" where it is not known
	messages []collected // latest first
	tools    []toolUse   // latest first
	asks     []int
	failed   map[string]bool
	commands int // between the last message seen and the next
	seen     int
	full     bool
}

// collected is a message whose lines are not all read yet.
type collected struct {
	message

	parts []string // latest first
	size  int      // of the parts, in bytes
}

// maxCollected is how many bytes of a message are collected before its middle goes, which nobody looks at.
const maxCollected = 4 * maxMessage

// add puts a part in front of the message.
func (c *collected) add(text string) {
	c.parts = append(c.parts, text)
	if c.size += len(text); c.size > maxCollected {
		text = shortened(c.whole().text)
		c.parts, c.size = append(c.parts[:0], text), len(text)
	}
}

// whole is the message of the parts that were collected.
func (c *collected) whole() message {
	m := c.message
	parts := slices.Clone(c.parts)
	slices.Reverse(parts)
	m.text = strings.Join(parts, "\n\n")
	return m
}

// maxCommands is how many commands are kept between two messages, the last ones. They only tell whether something was done there, and how
// it ended.
const maxCommands = 200

func (b *builder) line(data []byte, cut bool) bool {
	b.seen++
	if look := glanceAt(data); look == idle || look == shell && b.commands >= maxCommands {
		return !b.full
	}
	if b.full && !bytes.Contains(data, []byte(`"tool_use"`)) {
		return false // only what was done counts beyond the window
	}
	r, ok := readRecord(data, cut)
	if !ok {
		return true
	}
	if r.asks {
		b.asks = append(b.asks, -b.seen)
	}
	for _, result := range r.results {
		if result.failed && result.id != "" {
			b.failed[result.id] = true
		}
	}
	text := r.words()
	if text != "" && (b.full || !b.join(r, text)) {
		if b.full = b.full || len(b.messages) >= b.most; !b.full {
			b.messages = append(b.messages, collected{message: message{id: r.id, agent: r.agent, at: -b.seen}})
			b.messages[len(b.messages)-1].add(text)
			b.commands = 0
		}
	}
	for _, tool := range slices.Backward(r.tools) {
		tool.at = -b.seen
		tool.memory = tool.edits() && keepsMemories(tool.path, b.project)
		if shellTool(tool.name) && !b.failed[tool.id] {
			b.commands++
		}
		b.tools = append(b.tools, tool)
	}
	return !b.full
}

// join puts text in front of the message that it belongs to: the lines of one reply share an id.
func (b *builder) join(r record, text string) bool {
	if r.id == "" || !r.agent {
		return false
	}
	for i := range b.messages {
		if m := &b.messages[len(b.messages)-1-i]; m.id == r.id && m.agent {
			m.add(text)
			return true
		}
	}
	return false
}

// words is what the user or the agent said in a record, "" for what the host wrote under their name.
func (r *record) words() string {
	var parts []string
	for _, text := range r.texts {
		if !r.agent {
			text = withoutHost(text)
		}
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}

// hostTexts begin texts that the host puts into the user's mouth.
var hostTexts = []string{
	"<command-name>", "<command-message>", "<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>",
	"<task-notification>", "[Request interrupted", "<bash-input>", "<bash-stdout>", "<bash-stderr>",
	"Caveat: The messages below were generated by the user", "This session is being continued from a previous conversation",
}

// hookTexts are what the host writes behind the name of an event, and " hook ", when it passes on what a hook said. Feedback has the line
// to itself.
var hookTexts = []string{"error: ", "blocking error from command: ", "additional context: ", "success: "}

// hookEvents are the events whose hooks are heard. Behind a colon stands the tool, or where the session comes from.
var hookEvents = []string{"PreToolUse:", "PostToolUse:", "PostToolUseFailure:", "SessionStart:", "UserPromptSubmit", "Stop", "SubagentStop"}

// passesOnHook says whether a text is what the host writes of a hook, and not what somebody says of hooks.
func passesOnHook(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	name, said, ok := strings.Cut(line, " hook ")
	event, more, of := strings.Cut(name, ":")
	if of {
		event += ":"
	}
	if !ok || strings.Contains(more, " ") || !slices.Contains(hookEvents, event) {
		return false
	}
	return strings.TrimRight(said, "\r") == "feedback:" || slices.ContainsFunc(hookTexts, func(s string) bool { return strings.HasPrefix(said, s) })
}

// hostTags enclose texts that the host adds to a prompt.
var hostTags = []string{
	"system-reminder", "local-command-stdout", "local-command-stderr", "local-command-caveat", "command-name", "command-message",
	"command-args", "task-notification", "user-prompt-submit-hook", "ide_selection", "ide_opened_file", "bash-input", "bash-stdout",
	"bash-stderr", "new-diagnostics", "post-tool-use-hook", "hook-feedback",
}

func withoutHost(text string) string {
	text = strings.TrimSpace(text)
	for _, head := range hostTexts {
		if strings.HasPrefix(text, head) {
			return ""
		}
	}
	if passesOnHook(text) {
		return ""
	}
	if !strings.Contains(text, "<") {
		return text
	}
	for _, tag := range hostTags {
		text = withoutTag(text, "<"+tag, "</"+tag+">")
	}
	return text
}

// withoutTag takes out what stands between a tag and its end. A tag that is not closed takes the rest where it begins a line, as the host
// writes its own; elsewhere somebody speaks of the tag, and so where another one opens before the end.
func withoutTag(text, open, end string) string {
	var kept strings.Builder
	rest, closing := 0, 0 // what is not kept yet, and the next end
	for at := 0; ; {
		i := nextTag(text, at, open)
		if i < 0 {
			break
		}
		at = i + len(open)
		if closing < at {
			if closing = strings.Index(text[at:], end) + at; closing < at {
				closing = len(text) // none; it is not looked for again
			}
		}
		if !beginsLine(text, i) && (closing == len(text) || nextTag(text[:closing], at, open) >= 0) {
			continue
		}
		kept.WriteString(text[rest:i])
		if closing == len(text) {
			return kept.String()
		}
		kept.WriteByte(' ')
		rest = closing + len(end)
		at = rest
	}
	kept.WriteString(text[rest:])
	return kept.String()
}

// nextTag is where a tag opens at or after a place, -1 for nowhere. A longer name that begins alike is another tag's.
func nextTag(text string, at int, open string) int {
	for {
		i := strings.Index(text[at:], open)
		if i < 0 {
			return -1
		}
		i, at = at+i, at+i+len(open)
		if at == len(text) || strings.ContainsRune("> \n", rune(text[at])) {
			return i
		}
	}
}

// beginsLine says whether nothing but blanks stands in front of a place in its line.
func beginsLine(text string, at int) bool {
	head := strings.TrimRight(text[:at], " \t")
	return head == "" || head[len(head)-1] == '\n'
}

// appendLast adds the event's last message when the transcript does not hold it yet. Of a long one the end tells: the transcript's
// may have lost its middle. It is one of the most messages of the window, which the first one leaves for it.
func (c *conversation) appendLast(text string, most int) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	const tells = maxMessage / 4
	want := strings.Join(strings.Fields(text), " ")
	want = want[max(0, len(want)-tells):]
	for i := len(c.messages) - 1; i >= max(0, len(c.messages)-4); i-- {
		if m := c.messages[i]; m.agent && strings.Contains(strings.Join(strings.Fields(m.text), " "), want) {
			return
		}
	}
	c.messages = append(c.messages, message{agent: true, text: text, at: 0})
	if over := len(c.messages) - most; over > 0 {
		c.messages, c.partial = c.messages[over:], true
	}
}
