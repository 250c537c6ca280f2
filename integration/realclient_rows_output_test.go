//go:build unix

package integration

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// blockedStop is a row whose Stop hook once answers like this and blocks: the agent is told these texts and then can stop.
func blockedStop(fact, variant string, exit int, stdout, stderr string, texts ...claudecode.Text) clientRow {
	return clientRow{
		fact: fact, variant: variant, hooks: onStop(once(exit, stdout, stderr)...),
		told: [][]claudecode.Text{texts}, calls: map[string]int{"stop": 2},
	}
}

// letStop is a row whose Stop hook answers like this and blocks nothing.
func letStop(fact, variant string, exit int, stdout, stderr string) clientRow {
	return clientRow{
		fact: fact, variant: variant, calls: map[string]int{"stop": 1},
		hooks: onStop(hookAnswer{Exit: exit, Stdout: stdout, Stderr: stderr}),
	}
}

const (
	missing    = "because-hk: x.edn (No such file or directory)"
	exit2Text  = feedback + "[{stop}]: "
	denyObject = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"because-hk"}}`
)

// foreignPart is an object with a part for an event that is another one's.
func foreignPart(object, event string) string {
	return strings.TrimSuffix(object, "}") + `,"hookSpecificOutput":{"hookEventName":"` + event + `","additionalContext":"because-hk"}}`
}

func clientOutputRows() []clientRow {
	twice := toldTwice("because-hk")
	around := "text around JSON makes it plain text"
	wrong := "a wrong value refuses the object"
	stderr := "a refused object at exit 2 blocks with stderr"
	foreign := "a foreign hookEventName drops all but a block beside it"
	foreignDeny := `{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny","permissionDecisionReason":"because-hk"}}`
	rows := []clientRow{
		blockedStop("pretty-printed and with a byte order mark", "pretty", 0, "{\n  \"decision\": \"block\",\n  \"reason\": \"because-hk\"\n}\n", "", twice...),
		blockedStop("pretty-printed and with a byte order mark", "mark", 0, "\ufeff"+blockObject, "", twice...),
		letStop(around, "before", 0, "log\n"+blockObject, ""),
		letStop(around, "after", 0, blockObject+"\nlog", ""),
		letStop(around, "no object", 0, `{"decision":"block","reason":"because-hk"`, ""),
		blockedStop(around, "exit 2", 2, "log\n"+blockObject, "because-hk err", told(claudecode.AsUser, exit2Text+"because-hk err")),
		letStop("two documents are an error", "", 0, blockObject+blockObject, ""),
		blockedStop("unknown keys are dropped", "", 0, `{"warnings":["w"],"decision":"block","reason":"because-hk","x":{"y":1}}`, "", twice...),
		letStop(wrong, "reason", 0, `{"decision":"block","reason":5,"systemMessage":"because-hk"}`, ""),
		letStop(wrong, "continue", 0, `{"decision":"block","reason":"because-hk","continue":"yes"}`, ""),
		letStop(wrong, "decision", 0, `{"decision":"allow","reason":"because-hk"}`, ""),
		letStop("a missing hookEventName refuses the object", "", 0, `{"decision":"block","reason":"because-hk","hookSpecificOutput":{}}`, ""),
		blockedStop(stderr, "value", 2, `{"decision":"allow","reason":"because-hk"}`, missing, told(claudecode.AsUser, exit2Text+missing)),
		blockedStop(stderr, "name", 2, `{"decision":"block","reason":"because-hk","hookSpecificOutput":{}}`, "because-hk err", told(claudecode.AsUser, exit2Text+"because-hk err")),
		blockedStop(stderr, "two documents", 2, blockObject+blockObject, "because-hk err", told(claudecode.AsUser, exit2Text+"because-hk err")),
		blockedStop(foreign, "block", 0, foreignPart(blockObject, "PreToolUse"), "", twice...),
		letStop(foreign, "exit 2", 2, foreignPart(`{"systemMessage":"because-hk"}`, "PreToolUse"), "because-hk err").with(func(r *clientRow) { r.unseen = []string{"says: because-hk"} }),
		beforeWrite("a foreign deny lets the tool run, and the user reads that nothing was checked", "", hookAnswer{Stdout: foreignDeny}).
			with(func(r *clientRow) { r.shown = []string{claudecode.NoUsableAnswer} }),
		beforeWrite("before a tool exit 1 shows nothing, a timeout and a missing command do", "exit 1", hookAnswer{Exit: 1, Stderr: "because-hk"}).
			with(func(r *clientRow) { r.unseen = []string{claudecode.NoUsableAnswer, "because-hk"} }),
		beforeWrite("before a tool exit 1 shows nothing, a timeout and a missing command do", "timeout", hookAnswer{Hang: true}).
			with(func(r *clientRow) { r.hooks[0].more, r.shown = `"timeout":1`, []string{claudecode.NoAnswerInTime} }),
		{
			fact: "before a tool exit 1 shows nothing, a timeout and a missing command do", variant: "command",
			files:   map[string]string{".claude/settings.json": `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/no/such/program"}]}]}}`},
			replies: []modelReply{toWrite("a", "b")}, told: nothing(1), disk: map[string]string{"a": "b"}, shown: []string{claudecode.NoUsableAnswer},
		},
		{
			fact: "before a tool the user reads that nothing was checked", hooks: []clientHook{{id: "pre", event: "PreToolUse", answers: []hookAnswer{{Stdout: `{"decision":"allow"}`}}}},
			replies: []modelReply{toWrite("a", "b")}, told: nothing(1), disk: map[string]string{"a": "b"}, shown: []string{claudecode.NoUsableAnswer},
		},
		blockedStop("exit 2 tells stderr verbatim with the command in front", "", 2, "", "because-hk \x1b[31mred\x1b[0m\n\n",
			told(claudecode.AsUser, exit2Text+"because-hk \x1b[31mred\x1b[0m\n\n")),
		blockedStop("exit 2 with a blocking object tells the object's reason", "", 2, blockObject, "because-hk other", twice...),
		{
			fact: "exit 2 before a tool refuses it", hooks: []clientHook{{id: "pre", event: "PreToolUse", answers: []hookAnswer{{Exit: 2, Stderr: "because-hk\n"}}}},
			replies: []modelReply{toWrite("a", "b")}, told: asResult("PreToolUse:Write hook error: [{pre}]: because-hk\n"), disk: map[string]string{"a": ""},
			more: toolsFail(true),
		},
		{
			fact: "exit 2 keeps a prompt from the agent", hooks: []clientHook{{id: "prompt", event: "UserPromptSubmit", answers: []hookAnswer{{Exit: 2, Stderr: "no"}}}},
			mute: true, calls: map[string]int{"prompt": 1},
		},
		letStop("other codes tell the agent nothing, and the screen everything", "", 1, "", "because-hk one\ntwo\n"),
		letStop("exit 0 tells stderr to nobody", "", 0, "", "because-hk quiet"),
		letStop("the downgrade", "blank", 2, " \n", missing),
		letStop("the downgrade", "can't open", 2, "", "because-hk sh: can't open 'x'"),
		blockedStop("the downgrade", "object", 2, "{}", missing, told(claudecode.AsUser, exit2Text+missing)),
		blockedStop("the downgrade", "text", 2, "text", missing, told(claudecode.AsUser, exit2Text+missing)),
		{
			fact: "the downgrade at SubagentStop, and not before a tool", variant: "tool",
			hooks:   []clientHook{{id: "pre", event: "PreToolUse", answers: []hookAnswer{{Exit: 2, Stderr: missing}}}},
			replies: []modelReply{toBash("touch ran")}, told: asResult(missing), disk: map[string]string{"ran": ""},
		},
		blockedStop("a JSON block is told twice", "", 0, blockObject, "", twice...),
		blockedStop("a block without a reason", "", 2, `{"decision":"block"}`, "because-hk lost", toldTwice("Blocked by hook")...),
		letStop("continue:false beats a block and tells the agent nothing", "", 2, `{"continue":false,"stopReason":"enough","decision":"block","reason":"because-hk"}`, "because-hk"),
		{
			fact: "continue:false of one hook beats the block of another", hooks: []clientHook{
				{id: "block", event: "Stop", file: ".claude/settings.json", answers: []hookAnswer{{Exit: 2, Stderr: "because-hk"}}},
				{id: "end", event: "Stop", answers: []hookAnswer{{Stdout: `{"continue":false}`}}},
			}, calls: map[string]int{"block": 1, "end": 1},
		},
	}
	for _, exit := range []int{0, 1, 3, 75} {
		rows = append(rows, blockedStop("JSON at any exit code", fmt.Sprint(exit), exit, blockObject, "", twice...))
	}
	for i, object := range []string{"{}", `{"systemMessage":"hello"}`, `{"decision":"approve"}`} {
		rows = append(rows, blockedStop("stderr with an object that does not block is told once", fmt.Sprint(i), 2, object, "because-hk details\n",
			told(claudecode.AsUser, exit2Text+"because-hk details\n")))
	}
	return rows
}

func clientLongRows() []clientRow {
	rows := []clientRow{
		{fact: "a held stream loses a block", hooks: onStop(hookAnswer{Stdout: blockObject, Child: "holds"}), calls: map[string]int{"stop": 1}},
		beforeWrite("a held stream keeps a deny", "", hookAnswer{Stdout: denyObject, Child: "holds"}).with(refused("PreToolUse:Write hook error: because-hk")),
		beforeWrite("a held stream refuses the tool for a rewrite", "", hookAnswer{Stdout: rewritten("(new)", ""), Child: "holds"}).
			with(refused("PreToolUse:Write hook error: [{pre}]: hook output parsed as a document that grants, rewrites or injects, but its stdio went quiet before end-of-stream")),
		{
			fact: "exit 2 and stderr still count", hooks: onStop(hookAnswer{Exit: 2, Stdout: "{}", Stderr: "because-hk", Child: "holds"}, hookAnswer{}),
			told: byUser(exit2Text + "because-hk"),
		},
		{
			fact: "a child with streams of its own is harmless", hooks: onStop(hookAnswer{Stdout: blockObject, Child: "free"}, hookAnswer{}),
			told: [][]claudecode.Text{toldTwice("because-hk")},
		},
		blockedStop("a megabyte of stderr arrives whole", "", 2, "", "because-hk "+strings.Repeat("x", 1<<20), told(claudecode.AsUser, exit2Text+"because-hk "+strings.Repeat("x", 1<<20))),
		blockedStop("a long reason arrives whole", "", 0, `{"decision":"block","reason":"because-hk `+strings.Repeat("r", 50_000)+`"}`, "",
			toldTwice("because-hk "+strings.Repeat("r", 50_000))...),
		{
			fact:  "TERM to the group, and what was printed is ignored",
			hooks: []clientHook{{id: "stop", event: "Stop", more: `"timeout":1`, answers: []hookAnswer{{Stdout: blockObject, Hang: true}}}}, calls: map[string]int{"stop": 1},
		},
		{
			fact: "SessionEnd has 1.5 s and says when it was too short", hooks: []clientHook{{id: "end", event: "SessionEnd", answers: []hookAnswer{{Hang: true}}}},
			calls: map[string]int{"end": 1}, shown: []string{"SessionEnd hook [{end}] failed: Hook cancelled"},
		},
		{
			fact: "SessionEnd ignores JSON", hooks: []clientHook{{id: "end", event: "SessionEnd", answers: []hookAnswer{{Stdout: `{"systemMessage":"because-hk of me"}`}}}},
			calls: map[string]int{"end": 1}, unseen: []string{"because-hk of me"},
		},
		{
			fact: "feedback in order of completion", hooks: []clientHook{
				{id: "late", event: "Stop", answers: []hookAnswer{{Exit: 2, Stderr: "because-hk late", Wait: "{project}/go"}, {}}},
				{id: "early", event: "Stop", answers: []hookAnswer{{Exit: 2, Stderr: "because-hk early", Write: []string{"{project}/go", ""}}, {}}},
			}, told: byUser("because-hk early", "because-hk late"),
		},
		{
			fact: "the same command text runs once, a plugin's copy again", hooks: []clientHook{
				{id: "stop", event: "Stop"}, {id: "stop", event: "Stop", file: ".claude/settings.json"}, {id: "stop", event: "Stop", file: "../home/.claude/settings.json"},
			}, calls: map[string]int{"stop": 1},
		},
		{
			fact: "if is judged on tool events, and never lets a handler run on others", files: map[string]string{"a.clj": "1", "a.txt": "1"},
			hooks: []clientHook{
				{id: "pre", event: "PreToolUse", more: `"if":"Edit(**/*.clj)"`}, {id: "stop", event: "Stop", more: `"if":"Edit(**/*.clj)"`},
			},
			replies: []modelReply{toEdit("a.clj", "1", "2"), toEdit("a.txt", "1", "2"), toWrite("a.clj", "3")}, told: nothing(3),
			calls: map[string]int{"pre": 1, "stop": 0}, disk: map[string]string{"a.clj": "3", "a.txt": "2"},
		},
	}
	for i, timeout := range []string{"0", "-1", `"30"`} {
		rows = append(rows, clientRow{
			fact: "a timeout of 0, below 0, or a string drops the handler", variant: fmt.Sprint(i), calls: map[string]int{"stop": 0, "good": 1},
			hooks: []clientHook{{id: "stop", event: "Stop", more: `"timeout":` + timeout}, {id: "good", event: "Stop"}},
		})
	}
	for n, whole := range map[int]bool{10_000: true, 10_001: false} {
		long := strings.Repeat("x", n)
		rows = append(rows, clientRow{
			fact: "additionalContext, systemMessage and plain stdout above 10,000 characters become a preview", variant: fmt.Sprint(n),
			hooks: onStop(hookAnswer{Stdout: `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"` + long + `"}}`}, hookAnswer{}),
			told:  nothing(1), more: func(o *clientOutcome) error {
				var b strings.Builder
				for _, text := range o.tails[1] {
					b.WriteString(text.Text)
				}
				if strings.Contains(b.String(), long) != whole || !strings.Contains(b.String(), long[:2000]) {
					return errors.New("the agent was told " + b.String())
				}
				return nil
			},
		})
	}
	return rows
}
