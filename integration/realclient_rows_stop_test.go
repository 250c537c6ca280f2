//go:build unix

package integration

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/hookkit/brepl/fakes/claudecode"
	hk "github.com/hookkit/brepl/hookkit"
)

// capNotice begins what the user sees when a block is overridden.
const capNotice = "A hook blocked the turn from ending "

// activeAt holds stop_hook_active at the calls of the Stop hook.
func activeAt(want ...bool) func(*clientOutcome) error {
	return func(o *clientOutcome) error {
		for i, w := range want {
			event, err := o.stopEvent(i)
			if err != nil {
				return err
			}
			if event["stop_hook_active"] != w {
				return fmt.Errorf("stop %d: stop_hook_active is %v", i+1, event["stop_hook_active"])
			}
		}
		return nil
	}
}

func clientStopRows() []clientRow {
	block := hookAnswer{Exit: 2, Stderr: "no"}
	contextAgain := hookAnswer{Stdout: `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"by the way"}}`}
	inContext := func(exit int) clientRow {
		return clientRow{
			fact: "additionalContext makes the agent go on, as a reminder", variant: fmt.Sprint(exit), marker: "by the way",
			hooks: onStop(hookAnswer{Exit: exit, Stdout: contextAgain.Stdout}, hookAnswer{}), calls: map[string]int{"stop": 2},
			told: [][]claudecode.Text{{told(claudecode.AsReminder, "by the way")}}, more: activeAt(false, true),
		}
	}
	details := "because-hk of 'tests'\nslurp: x.edn (No such file or directory)"
	report := hk.ReportStop("because-hk of 'lint': unused alias").TellUser("lint failed")
	repl := "because-hk 'run-tests' requires nREPL. Pause and tell the user."
	return []clientRow{
		{
			fact: "stop_hook_active", hooks: onStop(block, block, hookAnswer{}), replies: []modelReply{{Text: "One."}, toWrite("a", "b")},
			told: nothing(3), calls: map[string]int{"stop": 3}, more: activeAt(false, true, true),
		},
		{
			fact: "8 blocks are honoured, the 9th is overridden", hooks: onStop(append(slices.Repeat([]hookAnswer{block}, 11), hookAnswer{})...),
			told: nothing(8), calls: map[string]int{"stop": 9}, shown: []string{capNotice},
		},
		{
			fact: "a tool use resets the count", env: []string{claudecode.CapVariable + "=2"}, hooks: onStop(append(slices.Repeat([]hookAnswer{block}, 9), hookAnswer{})...),
			replies: []modelReply{{Text: "One."}, {Text: "Two."}, toRead("absent")}, told: nothing(5), calls: map[string]int{"stop": 5}, shown: []string{capNotice},
		},
		{
			fact: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", variant: "2", env: []string{claudecode.CapVariable + "=2"}, hooks: onStop(block, block, block, block, hookAnswer{}),
			told: nothing(2), calls: map[string]int{"stop": 3},
		},
		{
			fact: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", variant: "0", env: []string{claudecode.CapVariable + "=0"},
			hooks: onStop(append(slices.Repeat([]hookAnswer{block}, 9), hookAnswer{})...), told: nothing(9), calls: map[string]int{"stop": 10},
		},
		inContext(0), inContext(1),
		{
			fact: "additionalContext counts toward the cap", env: []string{claudecode.CapVariable + "=2"},
			hooks: onStop(contextAgain, contextAgain, contextAgain, contextAgain, hookAnswer{}), told: nothing(2), calls: map[string]int{"stop": 3},
		},
		{
			fact: "the transcript lags", variant: "the message is in the event", hooks: onStop(), replies: []modelReply{{Text: "Last words"}},
			more: has("stop", 0, `"last_assistant_message":"Last words"`),
		},
		{fact: "we send approve: no effect", hooks: onStop(encoded("Stop", hk.Claude, hk.AllowStop())), calls: map[string]int{"stop": 1}},
		{
			fact:  "we send a block: told once, the user told, the downgrade disarmed",
			hooks: onStop(encoded("Stop", hk.Claude, hk.BlockStop(details).TellUser("'tests' failed, attempt 2/10")), hookAnswer{}),
			told:  byUser(exit2Text + details), shown: []string{"'tests' failed, attempt 2/10"},
		},
		{
			fact:  "we send a portable block: the object's reason, and stderr for who reads no JSON",
			hooks: onStop(encoded("Stop", hk.Portable, hk.BlockStop("because-hk")), hookAnswer{}), told: [][]claudecode.Text{toldTwice("because-hk")},
		},
		{
			fact:  "we send a report the first time: the agent gets a turn to read it, then can stop",
			hooks: onStop(encoded("Stop", hk.Claude, report.TellAgent("because-hk of 'lint'")), encoded("Stop", hk.Claude, report)),
			told:  [][]claudecode.Text{{told(claudecode.AsReminder, "because-hk of 'lint'")}}, calls: map[string]int{"stop": 2}, shown: []string{"lint failed"}, more: activeAt(false, true),
		},
		{
			fact:  "we send a report for a missing REPL",
			hooks: onStop(encoded("Stop", hk.Claude, hk.ReportStop(repl).TellUser("no REPL there").TellAgent(repl)), hookAnswer{}),
			told:  [][]claudecode.Text{{told(claudecode.AsReminder, repl)}}, shown: []string{"no REPL there"},
		},
	}
}

func clientSettingsRows() []clientRow {
	const good = `{"hooks":[{"type":"command","command":"{stop}"}]}`
	comment := "a comment or a trailing comma drops the file, a byte order mark does not"
	raw := func(fact, variant, text string, calls int) clientRow {
		return clientRow{
			fact: fact, variant: variant, files: map[string]string{".claude/settings.json": text},
			hooks: []clientHook{{id: "stop"}}, calls: map[string]int{"stop": calls},
		}
	}
	drops := "what drops an entry, a handler, a file"
	repository := map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": "", ".git/objects/.keep": "", ".git/refs/heads/.keep": ""}
	return []clientRow{
		{
			fact: "only the local file is found from a sub-folder, and all files merge", variant: "sub", dir: "sub", files: repository, hooks: []clientHook{
				{id: "local", event: "Stop"}, {id: "project", event: "Stop", file: ".claude/settings.json"}, {id: "sub", event: "Stop", file: "sub/.claude/settings.json"},
			}, calls: map[string]int{"local": 1, "project": 0, "sub": 1},
		},
		{
			fact: "only the local file is found from a sub-folder, and all files merge", variant: "root", files: repository, hooks: []clientHook{
				{id: "local", event: "Stop"}, {id: "project", event: "Stop", file: ".claude/settings.json"}, {id: "user", event: "Stop", file: "../home/.claude/settings.json"},
			}, calls: map[string]int{"local": 1, "project": 1, "user": 1},
		},
		raw(comment, "comment", "// note\n"+`{"hooks":{"Stop":[`+good+`]}}`, 0),
		raw(comment, "comma", `{"hooks":{"Stop":[`+good+`]},}`, 0),
		raw(comment, "mark", "\ufeff"+`{"hooks":{"Stop":[`+good+`]}}`, 1),
		{
			fact: "matchers", replies: []modelReply{toWrite("a", "b")}, told: nothing(1), hooks: []clientHook{
				{id: "m-all", event: "PreToolUse"},
				{id: "m-star", event: "PreToolUse", matcher: "*"},
				{id: "m-bar", event: "PreToolUse", matcher: "Edit|Write"},
				{id: "m-comma", event: "PreToolUse", matcher: "Edit, Write"},
				{id: "m-regex", event: "PreToolUse", matcher: "rit.$"},
				{id: "m-case", event: "PreToolUse", matcher: "write"},
				{id: "m-part", event: "PreToolUse", matcher: "Writ"},
				{id: "m-anchor", event: "PreToolUse", matcher: "^Wri.$"},
				{id: "m-broken", event: "PreToolUse", matcher: "("},
			}, calls: map[string]int{
				"m-all": 1, "m-star": 1, "m-bar": 1, "m-comma": 1, "m-regex": 1, "m-case": 0, "m-part": 0, "m-anchor": 0, "m-broken": 0,
			},
		},
		{
			fact: "a matcher is ignored on Stop, and held against SessionEnd's reason", hooks: []clientHook{
				{id: "stop", event: "Stop", matcher: "nothing"},
				{id: "clear", event: "SessionEnd", matcher: "clear"},
				{id: "other", event: "SessionEnd", matcher: "other"},
			}, calls: map[string]int{"stop": 1, "clear": 0, "other": 1},
		},
		raw(drops, "entry without hooks", `{"hooks":{"Stop":[{"matcher":""},`+good+`]}}`, 1),
		raw(drops, "unknown event", `{"hooks":{"Stopp":[`+good+`],"Stop":[`+good+`]}}`, 1),
		raw(drops, "unknown type", `{"hooks":{"Stop":[{"hooks":[{"type":"shell","command":"x"}]},`+good+`]}}`, 1),
		raw(drops, "no array", `{"hooks":{"Stop":[`+good+`],"PreToolUse":{}}}`, 0),
		{
			fact: "a hook is looked up on the client's PATH", env: []string{"PATH={project}/tools:/usr/local/bin:/usr/bin:/bin"},
			files: map[string]string{
				"tools/mine": "#!/bin/sh\nexec {stop}\n", ".claude/settings.json": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}`,
			},
			hooks: []clientHook{{id: "stop"}}, calls: map[string]int{"stop": 1},
		},
		{fact: "the transcript's path", hooks: onStop(), calls: map[string]int{"stop": 1}, more: transcriptPath},
	}
}

// transcriptPath holds where the client writes its transcript.
func transcriptPath(o *clientOutcome) error {
	event, err := o.stopEvent(0)
	if err != nil {
		return err
	}
	id, _ := event["session_id"].(string)
	key := regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(o.project, "-")
	if want := filepath.Join(o.home, ".claude", "projects", key, id+".jsonl"); event["transcript_path"] != want {
		return errors.New(fmt.Sprint("the transcript is ", event["transcript_path"], ", not ", want))
	}
	return nil
}
