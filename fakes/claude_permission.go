package fakes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// permission is the permission flow for the input as the hooks left it
// (host-protocol, PreToolUse): a hook's allow skips the user, its ask asks
// one in every mode; else the mode judges. It returns what the agent reads
// where the call is refused.
//
// bypassPermissions asks nobody; acceptEdits asks for what is no file of the
// project; default asks for every change; plan refuses changes. Reading needs
// no permission, nor do the tools of [ClaudeAllow].
func (c *Claude) permission(t *Turn, a *actor, tool string, input json.RawMessage, decision string) (refused string) {
	if decision == "allow" {
		return ""
	}
	changes := tool == "Write" || tool == "Edit"
	if decision != "ask" {
		switch {
		case c.opts.mode == "bypassPermissions", tool == "Read", c.opts.allow[tool]:
			return ""
		case c.opts.mode == "plan" && changes:
			return "Claude is in plan mode: nothing may be changed yet."
		case c.opts.mode == "acceptEdits" && changes && c.inProject(input):
			return ""
		}
	}
	t.Asked = true
	c.fire(t, a, c.event(a, "PermissionRequest", fieldsOfWork, object{
		{"tool_name", tool}, {"tool_input", input}, {"permission_suggestions", []object{}},
	}), tool, input, nil)
	switch {
	case c.opts.approve != nil && !c.opts.approve(tool, input):
		return "The user doesn't want to proceed with this tool use. The tool use was rejected."
	case c.opts.approve == nil && c.opts.headless:
		return fmt.Sprintf("Claude requested permissions to use %s, but you haven't granted it yet.", tool)
	}
	return ""
}

func (c *Claude) inProject(input json.RawMessage) bool {
	var in struct {
		FilePath string `json:"file_path"`
	}
	if json.Unmarshal(input, &in) != nil {
		return true
	}
	rel := c.relative(in.FilePath)
	return !strings.HasPrefix(rel, "/")
}

func compactJSON(data json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return data
	}
	return b.Bytes()
}

// orderedFields returns the fields of a JSON object in their order, none if it
// is no object.
func orderedFields(data []byte) object {
	fields := object{}
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return fields
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fields
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return fields
		}
		name, _ := key.(string) // keys of an object are strings
		fields = append(fields, field{name, value})
	}
	return fields
}
