package claudecode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// answer is a hook's JSON object as the client understood it.
type answer struct {
	Continue       *bool
	SuppressOutput *bool
	Decision       string
	Reason         string
	StopReason     string
	SystemMessage  string

	Permission       string
	PermissionReason string
	UpdatedInput     json.RawMessage
	Behavior         string // PermissionRequest: allow or deny
	Message          string // of a deny there
	Context          string

	unknown []string // keys that the client drops
}

// reading is what the client makes of a hook's standard output.
type reading struct {
	answer *answer // nil: no object
	plain  string  // the text, where it is no object
	fault  string
	note   string
	bad    bool   // an object that is refused as a whole
	refuse string // before a tool: why the client refuses the tool for it
}

// readOutput tells an object from plain text: what starts with { and ends with
// } must be one object, anything else is text (host-protocol, Output: "JSON on
// stdout"). A byte order mark and white space around it do not count.
func readOutput(event string, stdout []byte) reading {
	text := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(stdout), []byte("\ufeff")))
	if len(text) == 0 {
		return reading{}
	}
	if text[0] != '{' || text[len(text)-1] != '}' {
		return plainText(text, string(stdout))
	}
	members, err := orderedObject(text)
	if err == nil {
		var whole json.RawMessage
		err = json.Unmarshal(text, &whole)
	}
	if err != nil {
		if startsWithObject(text) {
			return reading{bad: true, fault: FaultTwoDocuments, note: "stdout holds more than one JSON value; the client refuses all of it"}
		}
		return reading{bad: true, fault: FaultBadJSON, note: "stdout looks like JSON and is none: " + jsonWhere(text, err)}
	}
	a, fault, note := checkAnswer(event, members)
	if a == nil {
		return reading{bad: true, fault: fault, note: note}
	}
	r := reading{answer: a, fault: fault, note: note}
	if len(a.unknown) > 0 && note == "" {
		r.note = "keys the client does not know are dropped: " + strings.Join(a.unknown, ", ")
	}
	return r
}

// held is what the client still takes of it where a child held the hook's
// streams 0.5 s after its exit, so that something that counts may be missing: at
// exit 2 stderr, else what ends the agent's work, tells the user or refuses, and
// nothing that grants, rewrites or injects. Before a tool such an answer, and
// half of one, refuses the tool (observed on 2.1.330).
func (read reading) held(r Run) reading {
	kept := reading{fault: FaultStreamHeld, note: "a child held the hook's streams 0.5 s after its exit; the client refuses the JSON"}
	switch {
	case r.Exit == 2:
	case read.answer != nil && !read.answer.injects(r.Event):
		kept.answer = read.answer
	case r.Event != "PreToolUse":
	case read.answer != nil:
		kept.refuse = heldAnswer
	case read.fault == FaultForeignEventName:
		return read
	case read.bad || read.fault == FaultBadJSON:
		kept.refuse = heldHalf
	}
	return kept
}

// injects reports whether an answer does more than to end the agent's work, to
// tell the user, and to refuse what has not happened yet.
func (a *answer) injects(event string) bool {
	afterwards := IsStop(event) || tellsBlock(event)
	return a.Context != "" || a.UpdatedInput != nil || a.Permission == "allow" || a.Behavior == "allow" ||
		a.Decision == "approve" || a.Decision == "block" && afterwards
}

func plainText(text []byte, stdout string) reading {
	r := reading{plain: stdout}
	at := bytes.IndexByte(text, '{')
	switch {
	case at < 0:
	case startsWithObject(text[at:]):
		r.fault = FaultTextAroundJSON
		r.note = "there is text before or after the JSON object, so the client takes all of it for plain text"
	case at == 0:
		r.fault = FaultBadJSON
		r.note = "stdout starts with { and does not end with }, so the client takes it for plain text"
	}
	return r
}

func startsWithObject(text []byte) bool {
	var v map[string]json.RawMessage
	return json.NewDecoder(bytes.NewReader(text)).Decode(&v) == nil
}

// checkAnswer reads the keys that the client knows. A wrong value of one of
// them refuses the whole object (recording seed-allow-object), as does a
// missing hookEventName. A foreign one leaves what stands beside it, where that
// is a block (observed on 2.1.330).
func checkAnswer(event string, members []member) (a *answer, fault, note string) {
	a = &answer{}
	for _, m := range members {
		wrong := ""
		switch m.name {
		case "continue":
			wrong = decodeInto(m.value, &a.Continue, "true or false")
		case "suppressOutput":
			wrong = decodeInto(m.value, &a.SuppressOutput, "true or false")
		case "stopReason":
			wrong = decodeText(m.value, &a.StopReason)
		case "reason":
			wrong = decodeText(m.value, &a.Reason)
		case "systemMessage":
			wrong = decodeText(m.value, &a.SystemMessage)
		case "decision":
			wrong = decodeChoice(m.value, &a.Decision, "approve", "block")
		case "hookSpecificOutput":
			fault, note = a.specific(event, m.value)
			if fault != "" && fault != FaultForeignEventName {
				return nil, fault, note
			}
		default:
			a.unknown = append(a.unknown, m.name)
		}
		if wrong != "" {
			return nil, FaultWrongValue, fmt.Sprintf("%s is %s; the client expects %s and refuses the whole object", m.name, short(m.value), wrong)
		}
	}
	if fault != "" && a.Decision != "block" {
		return nil, fault, note
	}
	return a, fault, note
}

func (a *answer) specific(event string, data json.RawMessage) (fault, note string) {
	members, err := orderedObject(data)
	if err != nil {
		return FaultWrongValue, "hookSpecificOutput is no object; the client refuses the whole answer"
	}
	name := slices.IndexFunc(members, func(m member) bool { return m.name == "hookEventName" })
	if name < 0 {
		return FaultMissingEventName, "hookSpecificOutput has no hookEventName; the client refuses the whole answer"
	}
	var said string
	if decodeText(members[name].value, &said) != "" || said != event {
		return FaultForeignEventName, fmt.Sprintf("hookEventName is %s at %s; the client refuses the whole answer", short(members[name].value), event)
	}
	for _, m := range members {
		wrong := ""
		switch {
		case m.name == "hookEventName":
		case m.name == "additionalContext":
			wrong = decodeText(m.value, &a.Context)
		case event == "PreToolUse" && m.name == "permissionDecision":
			wrong = decodeChoice(m.value, &a.Permission, "allow", "deny", "ask")
		case event == "PreToolUse" && m.name == "permissionDecisionReason":
			wrong = decodeText(m.value, &a.PermissionReason)
		case event == "PreToolUse" && m.name == "updatedInput":
			if _, err := orderedObject(m.value); err != nil {
				wrong = "an object"
			}
			a.UpdatedInput = m.value
		case event == "PermissionRequest" && m.name == "decision":
			if bad := a.permissionRequest(m.value); bad != "" {
				return FaultWrongValue, "hookSpecificOutput.decision" + bad + "; the client refuses the whole object"
			}
		default:
			a.unknown = append(a.unknown, "hookSpecificOutput."+m.name)
		}
		if wrong != "" {
			return FaultWrongValue, fmt.Sprintf("hookSpecificOutput.%s is %s; the client expects %s and refuses the whole object", m.name, short(m.value), wrong)
		}
	}
	return "", ""
}

// permissionRequest reads the decision of a PermissionRequest hook, as the
// client's public reference has it; it is in no recording. It returns what is
// wrong with it.
func (a *answer) permissionRequest(data json.RawMessage) string {
	members, err := orderedObject(data)
	if err != nil {
		return " is no object"
	}
	for _, m := range members {
		wrong := ""
		switch m.name {
		case "behavior":
			wrong = decodeChoice(m.value, &a.Behavior, "allow", "deny")
		case "message":
			wrong = decodeText(m.value, &a.Message)
		case "updatedInput":
			if _, err := orderedObject(m.value); err != nil {
				wrong = "an object"
			}
			a.UpdatedInput = m.value
		default:
			a.unknown = append(a.unknown, "hookSpecificOutput.decision."+m.name)
		}
		if wrong != "" {
			return fmt.Sprintf(".%s is %s; the client expects %s", m.name, short(m.value), wrong)
		}
	}
	if a.Behavior == "" {
		return ` has no behavior; the client expects "allow"|"deny"`
	}
	return ""
}

// decodeInto returns what was expected when the value does not fit.
func decodeInto[T any](value json.RawMessage, into **T, expected string) string {
	if json.Unmarshal(value, into) != nil || *into == nil {
		return expected
	}
	return ""
}

func decodeText(value json.RawMessage, into *string) string {
	var s *string
	if wrong := decodeInto(value, &s, "a string"); wrong != "" {
		return wrong
	}
	*into = *s
	return ""
}

func decodeChoice(value json.RawMessage, into *string, choices ...string) string {
	if decodeText(value, into) != "" || !slices.Contains(choices, *into) {
		return `one of "` + strings.Join(choices, `"|"`) + `"`
	}
	return ""
}

func short(value []byte) string {
	if len(value) > 60 {
		return string(value[:60]) + "…"
	}
	return string(value)
}
