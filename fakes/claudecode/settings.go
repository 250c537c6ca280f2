package claudecode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How long the client lets a hook run when its handler says nothing
// (host-protocol, Output: "Timeout").
const (
	DefaultTimeout     = 600 * time.Second
	PromptTimeout      = 30 * time.Second        // UserPromptSubmit
	SessionEndTimeout  = 1500 * time.Millisecond // SessionEnd
	SessionEndLongest  = 60 * time.Second        // the most that a handler's timeout buys at SessionEnd
	KillAfter          = 1500 * time.Millisecond // from TERM to KILL
	StreamsHeldTimeout = 500 * time.Millisecond  // from a hook's exit to the end of its streams
)

// Source is one settings file.
type Source struct {
	Scope string // "user", "project", "local" or "plugin"
	Path  string
	Data  []byte
}

// Handler is one command that runs for an event.
type Handler struct {
	Event, Matcher, If, Command string
	Args                        []string      // not nil: the form without a shell
	Timeout                     time.Duration // what the client will really wait
	StatusMessage               string
	Source                      string // path of the settings file
	Scope                       string // of that file
}

// Dropped is an entry, a handler or a file that the client ignores without a
// word.
type Dropped struct {
	Path string // the settings file
	What string // such as "hooks.Stop[0].hooks[1]"; "" is the whole file
	Why  string
}

// Hooks are the handlers of all settings files, in the order of the files.
type Hooks struct{ handlers []Handler }

// All returns every handler.
func (h Hooks) All() []Handler { return slices.Clone(h.handlers) }

// events are the events of the client.
func events() []string {
	return []string{
		"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied", "UserPromptSubmit",
		"SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
		"PreCompact", "PostCompact", "Notification",
	}
}

// IsToolEvent reports whether an event belongs to a tool call: only there is a
// handler's "if" judged.
func IsToolEvent(event string) bool {
	return slices.Contains([]string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"}, event)
}

// ignoresMatcher reports whether an event's matcher is not looked at
// (host-protocol, Settings: "ignored on Stop").
func ignoresMatcher(event string) bool {
	return event == "Stop" || event == "StopFailure" || event == "UserPromptSubmit"
}

// LoadHooks reads settings files as the client does: all merge; a file that is
// not strict JSON is ignored as a whole, a byte order mark is fine; an event's
// value that is no array drops every hook of its file; an entry without hooks,
// an unknown event, an unknown type and a timeout that is 0, negative or no
// number drop what they stand in. (host-protocol, Settings and Output:
// "Timeout". Observed for PreToolUse that a value which is no array drops the
// file; the same is taken to hold for the other events.)
func LoadHooks(sources []Source) (Hooks, []Dropped) {
	var all Hooks
	var dropped []Dropped
	for _, s := range sources {
		handlers, drops := loadFile(s)
		all.handlers = append(all.handlers, handlers...)
		dropped = append(dropped, drops...)
	}
	return all, dropped
}

func loadFile(s Source) ([]Handler, []Dropped) {
	data := bytes.TrimPrefix(s.Data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	var file struct {
		Hooks json.RawMessage `json:"hooks"`
	}
	if err := ReadFields(data, &file); err != nil {
		return nil, []Dropped{{Path: s.Path, Why: "the file is not strict JSON: " + jsonWhere(data, err)}}
	}
	if file.Hooks == nil || string(file.Hooks) == "null" {
		return nil, nil
	}
	groups, err := orderedObject(file.Hooks)
	if err != nil {
		return nil, []Dropped{{Path: s.Path, What: "hooks", Why: "it is not an object"}}
	}
	l := loader{source: s}
	for _, g := range groups {
		if !slices.Contains(events(), g.name) {
			l.drop("hooks."+g.name, "the client has no such event")
			continue
		}
		var entries []json.RawMessage
		if json.Unmarshal(g.value, &entries) != nil || entries == nil {
			return nil, []Dropped{{Path: s.Path, What: "hooks." + g.name, Why: "it is not an array, which drops every hook of the file"}}
		}
		for i, entry := range entries {
			l.entry(g.name, fmt.Sprintf("hooks.%s[%d]", g.name, i), entry)
		}
	}
	return l.handlers, l.dropped
}

type loader struct {
	source   Source
	handlers []Handler
	dropped  []Dropped
}

func (l *loader) drop(what, why string) {
	l.dropped = append(l.dropped, Dropped{Path: l.source.Path, What: what, Why: why})
}

func (l *loader) entry(event, what string, data json.RawMessage) {
	var entry struct {
		Matcher *string           `json:"matcher"`
		Hooks   []json.RawMessage `json:"hooks"`
	}
	if err := ReadFields(data, &entry); err != nil {
		l.drop(what, "it does not have the shape of an entry")
		return
	}
	if entry.Hooks == nil {
		l.drop(what, `it has no "hooks"`)
		return
	}
	matcher := ""
	if entry.Matcher != nil {
		matcher = *entry.Matcher
	}
	if err := matcherFault(matcher); err != nil && !ignoresMatcher(event) {
		l.drop(what, fmt.Sprintf("its matcher is no regular expression that can be read here, so it matches nothing: %v", err))
		return
	}
	for i, h := range entry.Hooks {
		l.handler(event, matcher, fmt.Sprintf("%s.hooks[%d]", what, i), h)
	}
}

func (l *loader) handler(event, matcher, what string, data json.RawMessage) {
	var h struct {
		Type          string          `json:"type"`
		Command       string          `json:"command"`
		Args          []string        `json:"args"`
		If            string          `json:"if"`
		Timeout       json.RawMessage `json:"timeout"`
		StatusMessage string          `json:"statusMessage"`
	}
	if ReadFields(data, &h) != nil {
		l.drop(what, "it does not have the shape of a handler")
		return
	}
	switch {
	case slices.Contains([]string{"prompt", "agent", "http"}, h.Type):
		l.drop(what, fmt.Sprintf("handlers of type %q are not simulated", h.Type))
		return
	case h.Type != "command":
		l.drop(what, fmt.Sprintf("the client has no handler of type %q", h.Type))
		return
	case h.Command == "":
		l.drop(what, "it has no command")
		return
	}
	timeout, ok := effectiveTimeout(event, h.Timeout)
	if !ok {
		l.drop(what, fmt.Sprintf("its timeout is %s; it must be a number above 0", h.Timeout))
		return
	}
	l.handlers = append(l.handlers, Handler{
		Event: event, Matcher: matcher, If: h.If, Command: h.Command, Args: h.Args,
		Timeout: timeout, StatusMessage: h.StatusMessage, Source: l.source.Path, Scope: l.source.Scope,
	})
}

// effectiveTimeout is how long the client waits (host-protocol, Output:
// "Timeout"; recordings stop-timeout and sessionend-too-slow). ok is false for
// a value that drops the handler.
func effectiveTimeout(event string, value json.RawMessage) (timeout time.Duration, ok bool) {
	timeout = DefaultTimeout
	switch event {
	case "UserPromptSubmit":
		timeout = PromptTimeout
	case "SessionEnd":
		timeout = SessionEndTimeout
	}
	if value == nil {
		return timeout, true
	}
	var seconds *float64
	if json.Unmarshal(value, &seconds) != nil || seconds == nil || *seconds <= 0 {
		return 0, false
	}
	timeout = time.Duration(min(*seconds, 1e9) * float64(time.Second))
	if event == "SessionEnd" {
		timeout = min(timeout, SessionEndLongest)
	}
	return timeout, true
}

// For returns the handlers that run for an event. value is what its matcher is
// held against: the tool's name, SessionStart's source, SessionEnd's reason,
// the agent's type. input is the tool's input, for "if". The same command text
// runs once however many files hold it, a plugin's copy again (host-protocol,
// Output: "Hooks of one event"); which of the copies lends its timeout is not
// known, here it is the first.
func (h Hooks) For(event, value string, input json.RawMessage) []Handler {
	var run []Handler
	seen := map[string]bool{}
	for _, c := range h.handlers {
		if c.Event != event || !ignoresMatcher(event) && !Match(c.Matcher, value) {
			continue
		}
		if c.If != "" && (!IsToolEvent(event) || !MatchIf(c.If, value, input)) {
			continue
		}
		key := strings.Join(append([]string{c.Command}, c.Args...), "\x00")
		if c.Scope == "plugin" {
			key += "\x00" + c.Source
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		run = append(run, c)
	}
	return run
}

// ShellCommand returns the program and arguments that the client starts:
// /bin/sh -c and the command, or the command with its args and no shell, where
// ${CLAUDE_PROJECT_DIR} is replaced (host-protocol, Input: last paragraph).
func ShellCommand(h Handler, projectDir string) []string {
	if h.Args == nil {
		return []string{"/bin/sh", "-c", h.Command}
	}
	argv := append([]string{h.Command}, h.Args...)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "${CLAUDE_PROJECT_DIR}", projectDir)
	}
	return argv
}

type member struct {
	name  string
	value json.RawMessage
}

// orderedObject returns the members of a JSON object in their order.
func orderedObject(data []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	open, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if open != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	var members []member
	for dec.More() {
		m, memberErr := nextMember(dec)
		if memberErr != nil {
			return nil, memberErr
		}
		members = append(members, m)
	}
	_, err = dec.Token()
	return members, err
}

func nextMember(dec *json.Decoder) (m member, err error) {
	key, err := dec.Token()
	if err != nil {
		return m, err
	}
	m.name, _ = key.(string) // keys of an object are strings
	return m, dec.Decode(&m.value)
}

// jsonWhere says where JSON is wrong, with the line.
func jsonWhere(data []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err.Error()
	}
	before := data[:min(int(syntax.Offset), len(data))]
	return fmt.Sprintf("line %d: %v", 1+bytes.Count(before, []byte("\n")), err)
}
