package fakes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// permission is the permission flow for the input as the hooks left it
// (host-protocol, PreToolUse): a hook's allow skips the user, its ask asks
// one in every mode; else the mode judges. It returns the input with which the
// tool runs, or what the agent reads where the call is refused.
//
// bypassPermissions asks nobody; acceptEdits asks for what is no file of the
// project; default asks for every change; plan refuses changes. Reading needs
// no permission, nor do the tools of [ClaudeAllow]. Before the user is asked,
// PermissionRequest is fired: a hook's allow or deny there is the answer, and
// its rewrite the input from then on.
func (c *Claude) permission(t *Turn, a *actor, tool string, input json.RawMessage, decision string) (allowed json.RawMessage, refused string) {
	if decision == "allow" {
		return input, ""
	}
	changes := tool == "Write" || tool == "Edit"
	if decision != "ask" {
		switch {
		case c.opts.mode == "bypassPermissions", tool == "Read", c.opts.allow[tool]:
			return input, ""
		case c.opts.mode == "plan" && changes:
			return input, "Claude is in plan mode: nothing may be changed yet."
		case c.opts.mode == "acceptEdits" && changes && c.inProject(input):
			return input, ""
		}
	}
	r := c.fire(t, a, c.event(a, "PermissionRequest", fieldsOfWork, object{
		{"tool_name", tool}, {"tool_input", input}, {"permission_suggestions", []object{}},
	}), tool, input)
	switch r.Permission {
	case "deny":
		return input, denyText(r)
	case "allow":
		if r.UpdatedInput != nil {
			input = compactJSON(r.UpdatedInput)
		}
		return input, ""
	}
	t.Asked = true
	switch {
	case c.opts.approve != nil && !c.opts.approve(tool, input):
		return input, "The user doesn't want to proceed with this tool use. The tool use was rejected."
	case c.opts.approve == nil && c.opts.headless:
		return input, fmt.Sprintf("Claude requested permissions to use %s, but you haven't granted it yet.", tool)
	}
	return input, ""
}

func (c *Claude) inProject(input json.RawMessage) bool {
	var in struct {
		FilePath string `json:"file_path"`
	}
	if claudecode.ReadFields(input, &in) != nil {
		return true
	}
	rel := c.relative(c.absolute(in.FilePath))
	return !strings.HasPrefix(rel, "/")
}

func compactJSON(data json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return data
	}
	return b.Bytes()
}

// orderedFields returns the fields of a JSON object in their order.
func orderedFields(data []byte) (object, error) {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, err
	}
	if whole == nil {
		return nil, errors.New("it is null")
	}
	fields := object{}
	dec := json.NewDecoder(bytes.NewReader(data))
	_, err := dec.Token() // the brace
	for err == nil && dec.More() {
		var key json.Token
		var value json.RawMessage
		if key, err = dec.Token(); err == nil {
			err = dec.Decode(&value)
		}
		name, _ := key.(string) // keys of an object are strings
		fields = append(fields, field{name, value})
	}
	return fields, err
}
