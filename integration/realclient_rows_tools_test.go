//go:build unix

package integration

import (
	"encoding/json"

	"github.com/hookkit/brepl/fakes/claudecode"
	hk "github.com/hookkit/brepl/hookkit"
)

// rewritten is a PreToolUse hook's answer that changes the written content; more are fields after it.
func rewritten(content, more string) string {
	return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"file_path":"{project}/a","content":"` + content + `"}` + more + `}}`
}

// beforeWrite is a row in which a Write of "(old" into the file a meets this answer.
func beforeWrite(fact, variant string, answer hookAnswer) clientRow {
	return clientRow{
		fact: fact, variant: variant, hooks: []clientHook{{id: "pre", event: "PreToolUse", answers: []hookAnswer{answer}}},
		replies: []modelReply{toWrite("a", "(old")}, told: nothing(1), calls: map[string]int{"pre": 1}, disk: map[string]string{"a": "(old"},
	}
}

// with changes a row.
func (r clientRow) with(change func(r *clientRow)) clientRow {
	change(&r)
	return r
}

func lands(content string) func(*clientRow) {
	return func(r *clientRow) { r.disk = map[string]string{"a": content} }
}

// refused is a tool that did not run, with this as its result.
func refused(result string) func(*clientRow) {
	return func(r *clientRow) {
		r.told, r.disk = asResult(result), map[string]string{"a": ""}
		r.more = toolsFail(true)
	}
}

func clientPreToolRows() []clientRow {
	preContext := "PreToolUse:Write hook additional context: because-hk )"
	object := func(decision string) string {
		return `{"continue":true,"decision":"` + decision + `","stopReason":"s","reason":"because-hk","suppressOutput":true,"warnings":[]}`
	}
	edit := func(old string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"file_path":"{project}/a","old_string":"` + old + `","new_string":"A B C","replace_all":false}}}`
	}
	editRow := func(fact, old, left string, fails bool) clientRow {
		return clientRow{
			fact: fact, hooks: []clientHook{{id: "pre", event: "PreToolUse", answers: []hookAnswer{{Stdout: edit(old)}}}}, files: map[string]string{"a": "a b c"},
			replies: []modelReply{toEdit("a", "b", "x")}, told: nothing(1), disk: map[string]string{"a": left},
			more: toolsFail(fails),
		}
	}
	byDefault := func(allow string) func(*clientRow) {
		return func(r *clientRow) { r.mode, r.allow = "default", allow }
	}
	noContent := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"content":"x"}}}`
	repaired, _ := json.Marshal(map[string]string{"file_path": "{project}/a", "content": "(f)"}) // plain strings
	later := "timeouts, exit 1 and a missing command let the tool run"
	return []clientRow{
		beforeWrite("a rewrite without a decision lands on disk", "", hookAnswer{Stdout: rewritten("(new)", "")}).with(lands("(new)")),
		beforeWrite("a missing field fails the call", "", hookAnswer{Stdout: noContent}).with(refused("")),
		beforeWrite("the permission flow judges the rewritten input", "", hookAnswer{Stdout: rewritten("(new)", "")}).with(byDefault("Bash")).with(refused("")),
		beforeWrite("allow skips the user", "", hookAnswer{Stdout: rewritten("(new)", `,"permissionDecision":"allow"`)}).with(byDefault("Bash")).with(lands("(new)")),
		beforeWrite("deny at any exit code and under bypassPermissions", "0", hookAnswer{Stdout: denyObject}).with(refused("PreToolUse:Write hook error: because-hk")),
		beforeWrite("deny at any exit code and under bypassPermissions", "1", hookAnswer{Exit: 1, Stdout: denyObject}).with(refused("PreToolUse:Write hook error: because-hk")),
		beforeWrite("deny at any exit code and under bypassPermissions", "mode", hookAnswer{Exit: 2, Stdout: denyObject}).with(refused("PreToolUse:Write hook error: because-hk")).
			with(func(r *clientRow) { r.mode, r.env = "bypassPermissions", []string{"IS_SANDBOX=1"} }), // root must say so
		beforeWrite("a rewrite tells the agent nothing, its additionalContext does", "rewrite", hookAnswer{Stdout: rewritten("(because-hk)", "")}).with(lands("(because-hk)")),
		beforeWrite("a rewrite tells the agent nothing, its additionalContext does", "context", hookAnswer{Stdout: rewritten("(new)", `,"additionalContext":"because-hk )"`)}).
			with(lands("(new)")).with(func(r *clientRow) { r.told = besides(preContext) }),
		editRow("an Edit rewritten to a larger region", "a b c", "A B C", false),
		editRow("an Edit rewritten to what is not in the file fails", "absent", "a b c", true),
		beforeWrite("continue:false lets the tool run, then ends the run", "", hookAnswer{Stdout: `{"continue":false}`}).with(func(r *clientRow) { r.told = nil }),
		beforeWrite(later, "exit 1", hookAnswer{Exit: 1, Stderr: "because-hk"}),
		beforeWrite(later, "time", hookAnswer{Stdout: denyObject, Hang: true}).with(func(r *clientRow) { r.hooks[0].more = `"timeout":1` }),
		{
			fact: later, variant: "command", replies: []modelReply{toWrite("a", "b")}, told: nothing(1), disk: map[string]string{"a": "b"},
			files: map[string]string{".claude/settings.json": `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/does/not/exist"}]}]}}`},
		},
		beforeWrite("the seed's literal object: allow is refused, block is a deny", "allow", hookAnswer{Stdout: object("allow")}),
		beforeWrite("the seed's literal object: allow is refused, block is a deny", "block", hookAnswer{Stdout: object("block")}).with(refused("because-hk")),
		beforeWrite("we send nothing for a valid file", "", encoded("PreToolUse", hk.Claude, hk.AllowTool())),
		beforeWrite("we send a repair: on disk, and told", "", encoded("PreToolUse", hk.Claude, hk.RewriteTool(repaired, "because-hk )"))).
			with(lands("(f)")).with(func(r *clientRow) { r.told = besides(preContext) }),
		beforeWrite("we send a deny", "", encoded("PreToolUse", hk.Claude, hk.DenyTool("Syntax error", "because-hk"))).with(refused("PreToolUse:Write hook error: because-hk")),
		beforeWrite("we send a warning to the user", "", encoded("PreToolUse", hk.Claude, hk.AllowTool().TellUser("took too long, because-hk"))).
			with(func(r *clientRow) { r.shown = []string{"took too long, because-hk"} }),
	}
}

// afterWrite is a row in which a Write of "b" into the file a is followed by this answer. The agent is told these texts beside the result.
func afterWrite(fact, variant string, answer hookAnswer, texts ...claudecode.Text) clientRow {
	return clientRow{
		fact: fact, variant: variant, hooks: []clientHook{{id: "post", event: "PostToolUse", answers: []hookAnswer{answer}}},
		replies: []modelReply{toWrite("a", "b")}, told: [][]claudecode.Text{texts}, calls: map[string]int{"post": 1}, disk: map[string]string{"a": "b"},
		more: toolsFail(false),
	}
}

func clientPostToolRows() []clientRow {
	note := told(claudecode.AsSystem, "PostToolUse:Write hook additional context: because-hk")
	blocking := told(claudecode.AsSystem, `PostToolUse:Write hook blocking error from command: "{post}": because-hk`)
	both := `"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"deny","additionalContext":"because-hk"}`
	vanish := "permissionDecision keys and warnings vanish, allow discards everything"
	gauntlet := "003's block is told twice, its allow is silent, its literal form ends the agent"
	return []clientRow{
		afterWrite("a block after a tool is told and undoes nothing", "", hookAnswer{Stdout: blockObject}, blocking),
		afterWrite("exit 2 after a tool is told", "", hookAnswer{Exit: 2, Stderr: "because-hk\n"},
			told(claudecode.AsSystem, `PostToolUse:Write hook blocking error from command: "{post}": [{post}]: because-hk`)),
		{
			fact: "PostToolUseFailure tells as PostToolUse does", hooks: []clientHook{{id: "fail", event: "PostToolUseFailure", answers: []hookAnswer{{Stdout: blockObject}}}},
			replies: []modelReply{toBash("false")}, told: besides(`PostToolUseFailure:Bash hook blocking error from command: "{fail}": because-hk`),
		},
		afterWrite(vanish, "keys", hookAnswer{Stdout: `{"warnings":["w"],` + both + `}`}, note),
		afterWrite(vanish, "allow", hookAnswer{Stdout: `{"decision":"allow",` + both + `}`}),
		afterWrite("the client tells that a hook changed the file", "", hookAnswer{Write: []string{"{project}/a", "formatted"}},
			told(claudecode.AsSystem, "PostToolUse:Write hook additional context: PostToolUse hook modified {project}/a after your edit (likely a formatter). ")).
			with(lands("formatted")).with(func(r *clientRow) { r.marker = "hook modified" }),
		afterWrite("the seed's literal object after a tool: discarded", "", hookAnswer{Stdout: `{"continue":true,"decision":"allow","suppressOutput":false,"reason":"because-hk"}`}),
		afterWrite("we send nothing for a fine file", "", encoded("PostToolUse", hk.Claude, hk.AcceptResult())),
		afterWrite("we send a warning as additionalContext", "", encoded("PostToolUse", hk.Claude, hk.AcceptResult().TellAgent("because-hk")), note),
		afterWrite("we send a strict failure as a block", "", encoded("PostToolUse", hk.Claude, hk.RejectResult("Evaluation failed", "because-hk")), blocking),
		afterWrite("we send that there is no server as additionalContext", "", encoded("PostToolUse", hk.Claude, hk.AcceptResult().TellAgent("because-hk")), note),
		blockedStop(gauntlet, "block", 0, `{"decision":"block","reason":"because-hk","stopReason":"S"}`, "[gauntlet] log\n", toldTwice("because-hk")...),
		letStop(gauntlet, "allow", 0, "", "[gauntlet] because-hk passed\n"),
		letStop(gauntlet, "literal", 0, `{"continue":false,"stopReason":"because-hk"}`, ""),
		blockedStop("004's block is told once and shown", "", 2, `{"systemMessage":"4 memories to save"}`, "because-hk of memories:\n",
			told(claudecode.AsUser, exit2Text+"because-hk of memories:\n")).with(func(r *clientRow) { r.shown = []string{"4 memories to save"} }),
	}
}
