//go:build unix

package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hookkit/brepl/fakes/claudecode"
	hk "github.com/hookkit/brepl/hookkit"
)

// clientRows are the facts that can be shown on any client, section by section.
func clientRows() []clientRow {
	var rows []clientRow
	for _, section := range [][]clientRow{
		clientInputRows(), clientOutputRows(), clientLongRows(), clientStopRows(), clientPreToolRows(), clientPostToolRows(), clientSettingsRows(),
	} {
		rows = append(rows, section...)
	}
	return rows
}

const (
	noTasks     = "the model's script has no background tasks and no sub-agents, whose requests come in no fixed order"
	noUser      = "a client with -p has no user who clears, compacts or interrupts"
	noTiming    = "it says when something happens, not what; a busy machine would fail it"
	rulesOnly   = "it is about the simulator or about our own programs, not about the client"
	slowRow     = "it would wait for minutes"
	unsureLines = "the transcript's format is internal and changes with the version"
)

// notOnClients are the facts that are held against fakes.Claude only, each with the reason.
var notOnClients = map[string]string{
	"inside of a sub-agent there are agent_id and agent_type":   noTasks,
	"the fields of SubagentStop":                                noTasks,
	"a sub-agent's JSON block is told twice under its own name": noTasks,
	"Stop while a task runs, and again after its report":        noTasks,
	"compact fires SubagentStop once with an empty agent_type":  noUser,
	"no Stop on an interrupt or an API error":                   noUser,
	"the time limits":                               slowRow,
	"KILL 1.5 s after TERM":                         noTiming,
	"changes are picked up within a session":        noTiming,
	"the transcript need not exist yet":             noTiming,
	"the transcript's lines":                        unsureLines,
	"the simulator adds less than the client":       rulesOnly,
	"our rewrite forwards fields byte for byte":     rulesOnly,
	"we send a report for an invalid configuration": rulesOnly,
	"our session-end is in time and silent":         rulesOnly,
}

// onStop is one Stop hook with these answers.
func onStop(answers ...hookAnswer) []clientHook {
	return []clientHook{{id: "stop", event: "Stop", answers: answers}}
}

// once is a hook's answer at the first call; after it the hook is silent.
func once(exit int, stdout, stderr string) []hookAnswer {
	return []hookAnswer{{Exit: exit, Stdout: stdout, Stderr: stderr}, {}}
}

// encoded is what we send for a decision.
func encoded(event hk.EventName, h hk.Host, d hk.Decision) hookAnswer {
	out := hk.Encode(h, event, d)
	return hookAnswer{Exit: out.Exit, Stdout: string(out.Stdout), Stderr: string(out.Stderr)}
}

// tool is the model calling a tool.
func tool(name string, input map[string]any) modelReply {
	data, _ := json.Marshal(input) // plain values
	return modelReply{Tool: name, Input: data}
}

func toWrite(path, content string) modelReply {
	return tool("Write", map[string]any{"file_path": "{project}/" + path, "content": content})
}

func toEdit(path, old, replacement string) modelReply {
	return tool("Edit", map[string]any{"file_path": "{project}/" + path, "old_string": old, "new_string": replacement})
}

func toRead(path string) modelReply {
	return tool("Read", map[string]any{"file_path": "{project}/" + path})
}

func toBash(command string) modelReply {
	return tool("Bash", map[string]any{"command": command, "description": "Run a command"})
}

// nothing is told by so many requests.
func nothing(requests int) [][]claudecode.Text { return make([][]claudecode.Text, requests) }

// byUser is a request that tells these texts as the user's.
func byUser(texts ...string) [][]claudecode.Text {
	var all []claudecode.Text
	for _, text := range texts {
		all = append(all, told(claudecode.AsUser, text))
	}
	return [][]claudecode.Text{all}
}

func besides(text string) [][]claudecode.Text {
	return [][]claudecode.Text{{told(claudecode.AsSystem, text)}}
}

func asResult(text string) [][]claudecode.Text {
	return [][]claudecode.Text{{told(claudecode.AsResult, text)}}
}

func clientInputRows() []clientRow {
	allTools := []modelReply{toWrite("new", "b\n"), toEdit("old", "b\n", "x\n"), toRead("old"), toBash("true")}
	return []clientRow{
		{fact: "one line, one newline, EOF", hooks: onStop(), calls: map[string]int{"stop": 1}, more: func(o *clientOutcome) error {
			stdin := o.calls["stop"][0].Stdin
			if !strings.HasPrefix(stdin, "{") || !strings.HasSuffix(stdin, "}\n") || strings.Count(stdin, "\n") != 1 {
				return fmt.Errorf("%q", stdin)
			}
			return nil
		}},
		{fact: "the streams are sockets that cannot be opened by path", hooks: onStop(), calls: map[string]int{"stop": 1}, more: func(o *clientOutcome) error {
			// What a socket does when it is opened by path was observed on Linux.
			if call := o.calls["stop"][0]; !call.Sockets || call.ByPath && runtime.GOOS == "linux" {
				return fmt.Errorf("sockets: %t, opened by path: %t", call.Sockets, call.ByPath)
			}
			return nil
		}},
		{
			fact: "not reading the event is harmless", hooks: onStop(hookAnswer{Exit: 2, Stderr: "because-hk unread", Unread: true}, hookAnswer{}),
			replies: []modelReply{{Text: strings.Repeat("x", 1<<20)}}, told: byUser("because-hk unread"),
		},
		{
			fact: "cwd follows cd", hooks: onStop(), files: map[string]string{"sub/file": "x"}, replies: []modelReply{toBash("cd sub && true")},
			told: nothing(1), more: func(o *clientOutcome) error {
				event, err := o.stopEvent(0)
				if err != nil {
					return err
				}
				path, _ := event["transcript_path"].(string)
				if sub := filepath.Join(o.project, "sub"); event["cwd"] != sub || o.calls["stop"][0].CWD != sub || !filepath.IsAbs(path) {
					return fmt.Errorf("cwd %s, the hook runs in %s, transcript_path %s", event["cwd"], o.calls["stop"][0].CWD, path)
				}
				return nil
			},
		},
		{fact: "the fields of Stop", hooks: onStop(), fields: true, calls: map[string]int{"stop": 1}},
		{
			fact: "the fields of PreToolUse", hooks: []clientHook{{id: "pre", event: "PreToolUse"}}, fields: true,
			files: map[string]string{"old": "a\nb\nc\n"}, replies: allTools, told: nothing(4), calls: map[string]int{"pre": 4},
		},
		{
			fact: "file_path is absolute and replace_all always there", hooks: []clientHook{{id: "pre", event: "PreToolUse"}},
			files: map[string]string{"a": "b"}, replies: []modelReply{toEdit("a", "b", "c")}, told: nothing(1),
			more: has("pre", 0, `"tool_input":{"file_path":"{project}/a","old_string":"b","new_string":"c","replace_all":false}`),
		},
		{
			fact: "the fields of PostToolUse", hooks: []clientHook{{id: "post", event: "PostToolUse"}}, fields: true,
			files: map[string]string{"old": "a\nb\nc\n"}, replies: allTools, told: nothing(4), calls: map[string]int{"post": 4},
		},
		{
			fact: "a Write says create or update", hooks: []clientHook{{id: "post", event: "PostToolUse"}},
			replies: []modelReply{toWrite("a", "1\n"), toWrite("a", "2\n")}, told: nothing(2), more: func(o *clientOutcome) error {
				return errors.Join(
					has("post", 0, `"structuredPatch":[],"originalFile":null`)(o), has("post", 1, `"tool_response":{"type":"update"`)(o),
				)
			},
		},
		{
			fact: "a Bash has its standard error merged in", hooks: []clientHook{{id: "post", event: "PostToolUse"}},
			replies: []modelReply{toBash("echo one; echo two >&2; echo three")}, told: asResult("one\ntwo\nthree"),
			more: has("post", 0, `"stdout":"one\ntwo\nthree","stderr":""`),
		},
		{
			fact:    "a Bash that fails goes to PostToolUseFailure",
			hooks:   []clientHook{{id: "post", event: "PostToolUse"}, {id: "fail", event: "PostToolUseFailure"}},
			replies: []modelReply{toBash("echo out; exit 3")}, told: nothing(1), calls: map[string]int{"post": 0, "fail": 1}, fields: true,
			more: has("fail", 0, `"error":"Exit code 3\nout","is_interrupt":false`),
		},
		{
			fact: "SessionStart and its sources", hooks: []clientHook{{id: "start", event: "SessionStart"}}, fields: true,
			more: has("start", 0, `"source":"startup"`),
		},
		{
			fact: "SessionEnd and its reasons", hooks: []clientHook{{id: "end", event: "SessionEnd"}}, fields: true,
			more: has("end", 0, `"reason":"other"`),
		},
		{
			fact: "UserPromptSubmit, for notifications too", hooks: []clientHook{{id: "prompt", event: "UserPromptSubmit"}}, fields: true,
			more: has("prompt", 0, `"prompt":"Please play the scripted row."`),
		},
		{
			fact: "an Edit that does not match fires nothing", hooks: []clientHook{{id: "pre", event: "PreToolUse"}}, files: map[string]string{"a": "text"},
			replies: []modelReply{toEdit("a", "absent", "x")}, told: nothing(1), calls: map[string]int{"pre": 0}, disk: map[string]string{"a": "text"},
			more: toolsFail(true),
		},
		{
			fact: "Edit and Write need no Read before", files: map[string]string{"a": "text"}, replies: []modelReply{toEdit("a", "text", "more"), toWrite("a", "other")},
			told: nothing(2), disk: map[string]string{"a": "other"}, more: toolsFail(false),
		},
		{
			fact: "CLAUDE_PROJECT_DIR is the start folder", hooks: onStop(), files: map[string]string{"sub/.git/HEAD": "ref: refs/heads/main\n"},
			replies: []modelReply{toBash("cd sub")}, told: nothing(1), more: func(o *clientOutcome) error {
				event, err := o.stopEvent(0)
				env := o.calls["stop"][0].Env
				if err != nil || env["CLAUDE_PROJECT_DIR"] != o.project || env["CLAUDECODE"] != "1" || env["CLAUDE_CODE_SESSION_ID"] != event["session_id"] {
					return fmt.Errorf("%v, session %v (%w)", env, event["session_id"], err)
				}
				return nil
			},
		},
		{
			fact: "there is no FILE_PATH, NEW_STRING, SESSION_ID", hooks: []clientHook{{id: "pre", event: "PreToolUse"}}, replies: []modelReply{toWrite("a", "b")},
			told: nothing(1), calls: map[string]int{"pre": 1}, more: func(o *clientOutcome) error {
				for _, name := range claimedVariables {
					if value, ok := o.calls["pre"][0].Env[name]; ok {
						return fmt.Errorf("%s=%s", name, value)
					}
				}
				return nil
			},
		},
		{
			fact:  "CLAUDE_ENV_FILE at SessionStart only",
			hooks: []clientHook{{id: "start", event: "SessionStart"}, {id: "stop", event: "Stop"}}, calls: map[string]int{"start": 1, "stop": 1},
			more: func(o *clientOutcome) error {
				start, stop := o.calls["start"][0].Env["CLAUDE_ENV_FILE"], o.calls["stop"][0].Env["CLAUDE_ENV_FILE"]
				if !strings.HasSuffix(start, "sessionstart-hook-0.sh") || stop != "" {
					return fmt.Errorf("%q at the start, %q at the stop", start, stop)
				}
				return nil
			},
		},
		{
			fact: "a hook has its own process group and no terminal", hooks: onStop(), calls: map[string]int{"stop": 1}, more: func(o *clientOutcome) error {
				if call := o.calls["stop"][0]; !call.Group || call.Terminal {
					return fmt.Errorf("own group: %t, terminal: %t", call.Group, call.Terminal)
				}
				return nil
			},
		},
		{
			fact:  "the args form has no shell and CLAUDE_PROJECT_DIR replaced",
			hooks: []clientHook{{id: "stop", event: "Stop", args: []string{"${CLAUDE_PROJECT_DIR}/x y", "$HOME; true"}}}, calls: map[string]int{"stop": 1},
			more: func(o *clientOutcome) error {
				if args := strings.Join(o.calls["stop"][0].Args, "\n"); args != o.project+"/x y\n$HOME; true" {
					return fmt.Errorf("%q", args)
				}
				return nil
			},
		},
	}
}

// toolsFail says whether the tools' results are not errors, or errors, as they should be.
func toolsFail(want bool) func(*clientOutcome) error {
	return func(o *clientOutcome) error {
		for i, failed := range o.failed[1:] {
			if failed != want {
				return fmt.Errorf("request %d: the tool failed: %t: %v", i+2, failed, o.tails[i+1])
			}
		}
		return nil
	}
}
