package fakes

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// call is one call of a tool.
type call struct {
	name  string
	input object
	// refuse is what the client finds wrong with the input before any hook.
	refuse func() string
	// run does the work with the input as the hooks left it.
	run func(t *Turn, input json.RawMessage) outcome
}

// outcome is what a tool did.
type outcome struct {
	result   string // what the agent reads
	response any    // tool_response
	failure  string // the error of PostToolUseFailure; "" went well
	file     string // the file it wrote
}

// Write is the agent writing a file. A relative path counts from the start
// folder; the hooks see it absolute, as the client makes it.
func (c *Claude) Write(path, content string) *Turn {
	c.ensurePrompted()
	return c.write(c.main, path, content)
}

// Edit is the agent replacing text in a file: the one place where old stands,
// or with ReplaceAll every one. An old text that is not in the file, or is
// there more than once, is refused before any hook fires.
func (c *Claude) Edit(path, old, replacement string, opts ...EditOption) *Turn {
	c.ensurePrompted()
	return c.edit(c.main, path, old, replacement, opts)
}

// EditOption changes an Edit.
type EditOption func(*editOptions)

type editOptions struct{ all bool }

// ReplaceAll makes an Edit replace every occurrence.
func ReplaceAll() EditOption { return func(o *editOptions) { o.all = true } }

// Read is the agent reading a file.
func (c *Claude) Read(path string) *Turn {
	c.ensurePrompted()
	return c.read(c.main, path)
}

// Bash is the agent running a command, with bash or else sh. A cd lasts; an
// exit other than 0 goes to PostToolUseFailure instead of PostToolUse. The
// description is what the agent says of it, "Run a command" if there is none.
func (c *Claude) Bash(command string, description ...string) *Turn {
	c.ensurePrompted()
	return c.bash(c.main, command, description)
}

// Tool is the agent using any other tool, such as one of an MCP server:
// input is its JSON object, response what the tool answers. Nothing is done.
// An input that is no object fails the test.
func (c *Claude) Tool(name, input, response string) *Turn {
	fields, err := orderedFields([]byte(input))
	if err != nil {
		return c.misuse("the input of %s is no JSON object: %v", name, err)
	}
	c.ensurePrompted()
	return c.use(c.main, name, call{name: name, input: fields, run: func(*Turn, json.RawMessage) outcome {
		return outcome{result: response, response: response}
	}})
}

func (c *Claude) absolute(path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.dir, path)
}

func (c *Claude) write(a *actor, path, content string) *Turn {
	file := c.absolute(path)
	return c.use(a, "Write "+c.relative(file), call{
		name: "Write", input: writeInput(file, content), run: c.runWrite,
	})
}

func (c *Claude) runWrite(t *Turn, input json.RawMessage) outcome {
	var in struct {
		FilePath *string `json:"file_path"`
		Content  *string `json:"content"`
	}
	if err := claudecode.ReadFields(input, &in); err != nil || in.FilePath == nil || in.Content == nil {
		return invalidInput("Write")
	}
	*in.FilePath = c.absolute(*in.FilePath) // a rewrite may have made it relative
	before := stateOf(*in.FilePath)
	if err := writeFile(*in.FilePath, *in.Content); err != nil {
		return outcome{failure: err.Error()}
	}
	after := stateOf(*in.FilePath)
	t.changed(c.relative(*in.FilePath), before, after, false)
	c.known[*in.FilePath] = true
	if !before.exists {
		return outcome{
			file: *in.FilePath, result: "File created successfully at: " + *in.FilePath + stateIsCurrent,
			response: object{
				{"type", "create"},
				{"filePath", *in.FilePath},
				{"content", *in.Content},
				{"structuredPatch", []object{}},
				{"originalFile", nil},
				{"userModified", false},
			},
		}
	}
	return outcome{
		file: *in.FilePath, result: "The file " + *in.FilePath + " has been updated successfully." + stateIsCurrent,
		response: object{
			{"type", "update"},
			{"filePath", *in.FilePath},
			{"content", *in.Content},
			{"structuredPatch", structuredPatch(before.content, *in.Content)},
			{"originalFile", before.content},
			{"userModified", false},
		},
	}
}

// stateIsCurrent ends the result for a file whose content the agent has seen
// (recordings edit-multistep against write-unfixable-deny).
const stateIsCurrent = " (file state is current in your context — no need to Read it back)"

func (c *Claude) edit(a *actor, path, old, replacement string, opts []EditOption) *Turn {
	file := c.absolute(path)
	var options editOptions
	for _, o := range opts {
		o(&options)
	}
	all := options.all
	input := object{{"file_path", file}, {"old_string", old}, {"new_string", replacement}, {"replace_all", all}}
	return c.use(a, "Edit "+c.relative(file), call{
		name: "Edit", input: input, run: c.runEdit,
		refuse: func() string {
			_, _, refused := applyEdit(file, old, replacement, all)
			return refused
		},
	})
}

// applyEdit returns the file's content before and after, or why the client
// refuses the call.
func applyEdit(file, old, replacement string, all bool) (before, after, refused string) {
	state := stateOf(file)
	if !state.exists {
		if old == "" {
			return "", replacement, ""
		}
		return "", "", "File does not exist."
	}
	before = state.content
	n := strings.Count(before, old)
	switch {
	case old == replacement:
		return "", "", "No changes to make: old_string and new_string are exactly the same."
	case old == "" || n == 0:
		return "", "", "String to replace not found in file.\nString: " + old
	case n > 1 && !all:
		return "", "", fmt.Sprintf("Found %d matches of the string to replace, but replace_all is false.\nString: %s", n, old)
	}
	// What is deleted at the end of a line goes with the line end.
	if replacement == "" && !strings.HasSuffix(old, "\n") && strings.Contains(before, old+"\n") {
		old += "\n"
	}
	if all {
		return before, strings.ReplaceAll(before, old, replacement), ""
	}
	return before, strings.Replace(before, old, replacement, 1), ""
}

func (c *Claude) runEdit(t *Turn, input json.RawMessage) outcome {
	var in struct {
		FilePath   *string `json:"file_path"`
		OldString  *string `json:"old_string"`
		NewString  *string `json:"new_string"`
		ReplaceAll bool    `json:"replace_all"`
	}
	if err := claudecode.ReadFields(input, &in); err != nil || in.FilePath == nil || in.OldString == nil || in.NewString == nil {
		return invalidInput("Edit")
	}
	*in.FilePath = c.absolute(*in.FilePath)
	before, after, refused := applyEdit(*in.FilePath, *in.OldString, *in.NewString, in.ReplaceAll)
	if refused != "" {
		return outcome{failure: refused}
	}
	was := stateOf(*in.FilePath)
	if err := writeFile(*in.FilePath, after); err != nil {
		return outcome{failure: err.Error()}
	}
	t.changed(c.relative(*in.FilePath), was, stateOf(*in.FilePath), false)
	response := object{
		{"filePath", *in.FilePath},
		{"oldString", *in.OldString},
		{"newString", *in.NewString},
		{"originalFile", before},
		{"structuredPatch", structuredPatch(before, after)},
		{"userModified", false},
		{"replaceAll", in.ReplaceAll},
	}
	result := "The file " + *in.FilePath + " has been updated successfully."
	if c.known[*in.FilePath] {
		result += stateIsCurrent
	} else {
		response = append(response, field{"contentNotInModelContext", true})
	}
	return outcome{file: *in.FilePath, result: result, response: response}
}

func (c *Claude) read(a *actor, path string) *Turn {
	file := c.absolute(path)
	return c.use(a, "Read "+c.relative(file), call{
		name: "Read", input: object{{"file_path", file}},
		refuse: func() string {
			if !stateOf(file).exists {
				return "File does not exist."
			}
			return ""
		},
		run: func(_ *Turn, input json.RawMessage) outcome {
			var in struct {
				FilePath *string `json:"file_path"`
			}
			if claudecode.ReadFields(input, &in) != nil || in.FilePath == nil {
				return invalidInput("Read")
			}
			*in.FilePath = c.absolute(*in.FilePath)
			state := stateOf(*in.FilePath)
			if !state.exists {
				return outcome{failure: "File does not exist."}
			}
			c.known[*in.FilePath] = true
			var numbered strings.Builder
			lines := strings.Split(state.content, "\n")
			for i, l := range lines {
				fmt.Fprintf(&numbered, "%d\t%s\n", i+1, l)
			}
			return outcome{
				result: strings.TrimSuffix(numbered.String(), "\n"),
				response: object{{"type", "text"}, {"file", object{
					{"filePath", *in.FilePath},
					{"content", state.content},
					{"numLines", len(lines)},
					{"startLine", 1},
					{"totalLines", len(lines)},
				}}},
			}
		},
	})
}

func invalidInput(tool string) outcome {
	return outcome{failure: "InputValidationError: " + tool + " failed due to a missing or wrong field"}
}

// use plays one tool call: what the client refuses by itself, PreToolUse, the
// permission flow, the tool, PostToolUse or PostToolUseFailure.
func (c *Claude) use(a *actor, action string, k call) *Turn {
	if a.id != "" {
		action = "sub-agent: " + action
	}
	if t := c.idle(a, action); t != nil {
		return t
	}
	t := c.newTurn(action)
	a.cap.ToolUsed()
	c.toolUses++
	id := fmt.Sprintf("toolu_01Fake%018d", c.toolUses)
	input := json.RawMessage(Event{fields: k.input}.JSON())
	c.log.toolUse(a, id, k.name, input)
	if k.refuse != nil {
		if refused := k.refuse(); refused != "" {
			c.result(t, a, id, outcome{failure: "<tool_use_error>" + refused + "</tool_use_error>"})
			return t
		}
	}
	pre := c.fire(t, a, c.event(a, "PreToolUse", fieldsOfWork, object{
		{"tool_name", k.name}, {"tool_input", input}, {"tool_use_id", id},
	}), k.name, input)
	defer func() {
		if t.Ended {
			a.working = false
		}
	}()
	if pre.Blocked {
		t.Blocked = true
		c.result(t, a, id, outcome{failure: denyText(pre)})
		return t
	}
	if pre.UpdatedInput != nil {
		input = compactJSON(pre.UpdatedInput)
	}
	input, refused := c.permission(t, a, k.name, input, pre.Permission)
	t.ToolInput = input
	if refused != "" {
		t.Blocked = true
		c.result(t, a, id, outcome{failure: refused})
		return t
	}
	began := time.Now()
	t.ToolRan = true
	out := k.run(t, input)
	took := time.Since(began).Milliseconds()
	landed := stateOf(out.file)
	c.result(t, a, id, out)
	c.after(t, a, k.name, id, input, out, took)
	if now := stateOf(out.file); out.file != "" && now != landed {
		t.changed(c.relative(out.file), landed, now, true)
		t.Told = append(t.Told, claudecode.Text{As: claudecode.AsSystem, Text: fmt.Sprintf(hookModified, k.name, out.file)})
	}
	return t
}

// hookModified tells the agent that a hook changed the file (observed on
// 2.1.330).
const hookModified = "PostToolUse:%s hook additional context: PostToolUse hook modified %s after your edit (likely a formatter). " +
	"Your next Edit will not fail with a stale-file error, but if its old_string targets a region the hook reformatted, Read the file first."

func (c *Claude) after(t *Turn, a *actor, name, id string, input json.RawMessage, out outcome, took int64) {
	if out.failure != "" {
		c.fire(t, a, c.event(a, "PostToolUseFailure", fieldsOfWork, object{
			{"tool_name", name},
			{"tool_input", input},
			{"tool_use_id", id},
			{"error", out.failure},
			{"is_interrupt", false},
			{"duration_ms", took},
		}), name, input)
		return
	}
	c.fire(t, a, c.event(a, "PostToolUse", fieldsOfWork, object{
		{"tool_name", name},
		{"tool_input", input},
		{"tool_response", out.response},
		{"tool_use_id", id},
		{"duration_ms", took},
	}), name, input)
}

// result gives the agent the tool's result.
func (c *Claude) result(t *Turn, a *actor, id string, out outcome) {
	t.ToolResult = out.result
	if out.failure != "" {
		t.ToolResult, t.ToolFailed = out.failure, true
	}
	c.log.toolResult(a, id, t.ToolResult, t.ToolFailed, out.response)
}

func denyText(r claudecode.Reaction) string {
	for _, text := range r.Told {
		if text.As == claudecode.AsResult {
			return text.Text
		}
	}
	return claudecode.BlockedByHook
}

func writeFile(file, content string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // the folders of a project are readable
		return err
	}
	return writeUnforked(file, content, 0o644) // it may be a program
}
