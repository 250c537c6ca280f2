package hookkit

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

type encodeCase struct {
	row    string // the row of the host protocol that the case pins
	host   Host
	event  EventName
	d      Decision
	exit   int
	stdout string // without the newline at its end
	stderr string
}

func stopCases() []encodeCase {
	const block = "tests failed:\nsh: can't open x: No such file or directory"
	return []encodeCase{
		{
			row: "all passed / no configuration → exit 0, {\"decision\":\"approve\"}: exactly that", event: EventStop,
			d: AllowStop(), stdout: `{"decision":"approve"}`,
		},
		{row: "the zero decision allows", event: EventStop, d: StopDecision{}, stdout: `{"decision":"approve"}`},
		{
			row: "with something to tell the user, the same object with a systemMessage", event: EventStop,
			d: AllowStop().TellUser("paused"), stdout: `{"decision":"approve","systemMessage":"paused"}`,
		},
		{row: "a silent allow", event: EventStop, d: AllowStop().Silently()},
		{row: "a silent allow with a message", event: EventStop, d: AllowStop().Silently().TellUser("hm"), stdout: `{"systemMessage":"hm"}`},
		{
			row: "additionalContext on Stop makes the agent go on for a turn, at any exit code", event: EventStop,
			d:      AllowStop().TellAgent("by the way"),
			stdout: `{"decision":"approve","hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"by the way"}}`,
		},
		{
			row: "exit 2, details on stderr, and on stdout {\"systemMessage\":…}", event: EventStop,
			d:    BlockStop(block).TellUser("brepl: 'tests' failed, attempt 2/10"),
			exit: 2, stdout: `{"systemMessage":"brepl: 'tests' failed, attempt 2/10"}`, stderr: block,
		},
		{
			row: "Downgrade: any non-blank stdout prevents it", event: EventStop,
			d: BlockStop(block), exit: 2, stdout: `{}`, stderr: block,
		},
		{
			row: "SubagentStop blocks as Stop does", event: EventSubagentStop,
			d: BlockStop("no"), exit: 2, stdout: `{}`, stderr: "no",
		},
		{
			row: "a block without reason: the agent reads nothing, so a sentence is sent", event: EventStop,
			d: BlockStop(" \n"), exit: 2, stdout: `{}`, stderr: "A stop hook blocked and gave no reason.",
		},
		{
			row: "a text for the agent follows the reason of a block", event: EventStop,
			d: BlockStop("no").TellAgent("and see the log"), exit: 2, stdout: `{}`, stderr: "no\nand see the log",
		},
		{
			row: "--host portable: {\"decision\":\"block\",\"reason\":…full text…} beside exit 2 + stderr", host: Portable, event: EventStop,
			d:    BlockStop("no\n" + strings.Repeat("x", 20_000)).TellUser("u"),
			exit: 2, stdout: `{"decision":"block","reason":"no\n` + strings.Repeat("x", 20_000) + `","systemMessage":"u"}`, stderr: "no\n" + strings.Repeat("x", 20_000),
		},
		{
			row: "003 block: exit 0 and {\"decision\":\"block\",\"reason\":R,\"stopReason\":S}", event: EventStop,
			d: BlockStop("R").InJSON("S"), stdout: `{"decision":"block","reason":"R","stopReason":"S"}`,
		},
		{
			row: "003 block with a line for the user", event: EventStop,
			d: BlockStop("R").InJSON("S").TellUser("u"), stdout: `{"decision":"block","reason":"R","stopReason":"S","systemMessage":"u"}`,
		},
		{row: "003 block, Codex: no extra keys", host: Codex, event: EventStop, d: BlockStop("R").InJSON("S"), stdout: `{"decision":"block","reason":"R"}`},
		{row: "003 block, ECA: followUp", host: ECA, event: EventStop, d: BlockStop("R").InJSON("S"), stdout: `{"followUp":"R"}`},
		{row: "003 block, Cursor: followup_message", host: Cursor, event: EventStop, d: BlockStop("R").InJSON("S"), stdout: `{"followup_message":"R"}`},
		{row: "003 block, Gemini", host: Gemini, event: EventStop, d: BlockStop("R").InJSON("S"), stdout: `{"decision":"block","reason":"R","stopReason":"S"}`},
		{
			row: "003 literal: continue:false ends the agent's work, its reason goes to the user only", event: EventStop,
			d: EndWork("S"), stdout: `{"continue":false,"stopReason":"S"}`,
		},
		{row: "portable allows as Claude Code", host: Portable, event: EventStop, d: AllowStop(), stdout: `{"decision":"approve"}`},
		{
			row: "exit 1, stderr with a self-sufficient first line, and the first time systemMessage + additionalContext", event: EventStop,
			d:      ReportStop("Hook 'lint' failed: 2 warnings").TellUser("lint failed").TellAgent("lint says …"),
			exit:   1,
			stdout: `{"systemMessage":"lint failed","hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"lint says …"}}`,
			stderr: "Hook 'lint' failed: 2 warnings",
		},
		{
			row: "then, until that hook has passed again, only systemMessage", event: EventStop,
			d: ReportStop("Hook 'lint' failed").TellUser("lint failed"), exit: 1, stdout: `{"systemMessage":"lint failed"}`, stderr: "Hook 'lint' failed",
		},
		{
			row: "a missing or foreign hookEventName → the whole object is refused", event: EventSubagentStop,
			d: ReportStop("r").TellAgent("a"), exit: 1, stdout: `{"hookSpecificOutput":{"hookEventName":"SubagentStop","additionalContext":"a"}}`, stderr: "r",
		},
		{row: "a report alone", event: EventStop, d: ReportStop("r\n\n"), exit: 1, stderr: "r"},
		{row: "a report without text", event: EventStop, d: ReportStop(""), exit: 1, stderr: "A stop hook reported a trouble and did not say which."},
	}
}

func toolCases() []encodeCase {
	const input = `{ "file_path":"/a.clj","content":"(\ud800 <é>)", "n":1.50 }`
	return []encodeCase{
		{row: "PreToolUse, event form, valid: exit 0, nothing", event: EventPreToolUse, d: AllowTool()},
		{
			row: "PreToolUse, repaired: updatedInput {…all fields…} byte for byte + additionalContext, no permissionDecision", event: EventPreToolUse,
			d:      RewriteTool(json.RawMessage(input), "added ) at 3:7"),
			stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":` + input + `,"additionalContext":"added ) at 3:7"}}`,
		},
		{
			row: "PreToolUse, unfixable: the seed's valid keys plus permissionDecision deny", event: EventPreToolUse,
			d:      DenyTool("Syntax error: unclosed delimiter", "Found unclosed '(' at line 42."),
			stdout: `{"continue":true,"decision":"block","reason":"Found unclosed '(' at line 42.","stopReason":"Syntax error: unclosed delimiter","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Found unclosed '(' at line 42."}}`,
		},
		{
			row: "PreToolUse, a denial without reason", event: EventPreToolUse, d: DenyTool("No.", ""),
			stdout: `{"continue":true,"decision":"block","reason":"No.","stopReason":"No.","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"No."}}`,
		},
		{
			row: "PreToolUse, a denial without summary", event: EventPreToolUse, d: DenyTool("", "No.\nReally."),
			stdout: `{"continue":true,"decision":"block","reason":"No.\nReally.","stopReason":"No.","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"No.\nReally."}}`,
		},
		{
			row: "PreToolUse, timeout exceeded → allow with warning: {\"systemMessage\":…}", event: EventPreToolUse,
			d: AllowTool().TellUser("not checked: too slow"), stdout: `{"systemMessage":"not checked: too slow"}`,
		},
		{
			row: "PreToolUse, context", event: EventPreToolUse, d: AllowTool().TellAgent("c"),
			stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}`,
		},
		{
			row: "a rewrite that is no JSON object would spoil the whole output: not sent", event: EventPreToolUse,
			d:      RewriteTool(json.RawMessage(`{"a":1} {"b":2}`), "changed"),
			stdout: `{"systemMessage":"A hook wanted to change the tool's input, but what it made is not a JSON object: the tool runs unchanged."}`,
		},
		{
			row: "content holding invalid UTF-8 is never rewritten", event: EventPreToolUse,
			d:      RewriteTool(json.RawMessage("{\"a\":\"\xff\"}"), "changed"),
			stdout: `{"systemMessage":"A hook wanted to change the tool's input, but what it made is not a JSON object: the tool runs unchanged."}`,
		},
		{row: "PostToolUse, fine: exit 0, nothing", event: EventPostToolUse, d: AcceptResult()},
		{
			row: "PostToolUse, warning: hookSpecificOutput {hookEventName, additionalContext}", event: EventPostToolUse,
			d: AcceptResult().TellAgent("w"), stdout: `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"w"}}`,
		},
		{
			row: "PostToolUse, strict: decision block, reason, continue true, stopReason", event: EventPostToolUse,
			d:      RejectResult("Evaluation failed", "already written; CompilerException"),
			stdout: `{"continue":true,"decision":"block","reason":"already written; CompilerException","stopReason":"Evaluation failed"}`,
		},
		{
			row: "PostToolUseFailure, context", event: EventPostToolUseFailure,
			d: AcceptResult().TellAgent("w").TellUser("u"), stdout: `{"systemMessage":"u","hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"w"}}`,
		},
		{
			row: "SessionStart, context", event: EventSessionStart, d: AddContext("c"),
			stdout: `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}`,
		},
		{
			row: "UserPromptSubmit, context and message", event: EventUserPromptSubmit, d: AllowPrompt().TellAgent("c").TellUser("u"),
			stdout: `{"systemMessage":"u","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c"}}`,
		},
		{
			row: "UserPromptSubmit, block: decision block and reason with exit 0", event: EventUserPromptSubmit,
			d: BlockPrompt("a key is in it").TellAgent("c").TellUser("u"), stdout: `{"decision":"block","reason":"a key is in it","systemMessage":"u"}`,
		},
		{
			row: "UserPromptSubmit, block without reason", event: EventUserPromptSubmit,
			d: BlockPrompt(" "), stdout: `{"decision":"block","reason":"A hook blocked this prompt and gave no reason."}`,
		},
		{row: "UserPromptSubmit, allow: nothing", event: EventUserPromptSubmit, d: AllowPrompt()},
		{row: "nothing to add", event: EventSessionStart, d: AddContext("")},
		{row: "SessionEnd cleans up: nothing", event: EventSessionEnd, d: nil},
	}
}

func otherHostCases() []encodeCase {
	rewrite := RewriteTool(json.RawMessage(`{"path":"a"}`), "changed a")
	const noRewrite = "A hook wanted to change the tool's input, which this host cannot take: the tool runs unchanged."
	prompt := BlockPrompt("no").TellUser("u")
	return []encodeCase{
		{row: "Codex CLI: no approve: silence", host: Codex, event: EventStop, d: AllowStop()},
		{row: "Codex CLI: a message goes to stderr", host: Codex, event: EventStop, d: AllowStop().TellUser("u"), stderr: "u"},
		{row: "Codex CLI: exit 2 + stderr (stdout ignored)", host: Codex, event: EventStop, d: BlockStop("no").TellUser("u"), exit: 2, stderr: "no"},
		{row: "Codex CLI: no hookSpecificOutput on Stop", host: Codex, event: EventStop, d: ReportStop("r").TellAgent("a").TellUser("u"), exit: 1, stderr: "r"},
		{row: "Codex CLI: deny", host: Codex, event: EventPreToolUse, d: DenyTool("s", "r"), exit: 2, stderr: "r"},
		{row: "Codex CLI: no rewrite", host: Codex, event: EventPreToolUse, d: rewrite, stderr: noRewrite},
		{row: "Codex CLI: prompt", host: Codex, event: EventUserPromptSubmit, d: prompt, exit: 2, stderr: "no\nu"},
		{row: "Codex CLI: result", host: Codex, event: EventPostToolUse, d: RejectResult("s", "r").TellUser("u"), stdout: `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"r"}}`, stderr: "u"},
		{row: "Codex CLI: context", host: Codex, event: EventSessionStart, d: AddContext("c"), stdout: `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}`},

		{row: "ECA: allow", host: ECA, event: EventStop, d: AllowStop()},
		{row: "ECA: exit 2 + stderr", host: ECA, event: EventStop, d: BlockStop("no").TellUser("u"), exit: 2, stderr: "no"},
		{row: "ECA: exit 0 JSON {followUp}", host: ECA, event: EventStop, d: ReportStop("r").TellAgent("a").TellUser("u"), stdout: `{"systemMessage":"u","followUp":"a"}`, stderr: "r"},
		{row: "ECA: a report alone", host: ECA, event: EventStop, d: ReportStop("r"), exit: 1, stderr: "r"},
		{row: "ECA: updatedInput (merged)", host: ECA, event: EventPreToolUse, d: rewrite, stdout: `{"updatedInput":{"path":"a"},"additionalContext":"changed a"}`},
		{row: "ECA: deny", host: ECA, event: EventPreToolUse, d: DenyTool("s", "r"), exit: 2, stderr: "r"},
		{row: "ECA: additionalContext", host: ECA, event: EventPostToolUse, d: RejectResult("s", "r").TellAgent("c"), stdout: `{"additionalContext":"r\nc"}`},
		{row: "ECA: context", host: ECA, event: EventUserPromptSubmit, d: AllowPrompt().TellAgent("c").TellUser("u"), stdout: `{"additionalContext":"c","systemMessage":"u"}`},
		{row: "ECA: prompt", host: ECA, event: EventUserPromptSubmit, d: prompt, exit: 2, stderr: "no\nu"},

		{row: "Gemini CLI: allow", host: Gemini, event: EventStop, d: AllowStop().TellUser("u"), stdout: `{"systemMessage":"u"}`},
		{row: "Gemini CLI: exit 2 + stderr", host: Gemini, event: EventStop, d: BlockStop("no"), exit: 2, stderr: "no"},
		{row: "Gemini CLI: report", host: Gemini, event: EventStop, d: ReportStop("r"), exit: 1, stderr: "r"},
		{row: "Gemini CLI: rewrite", host: Gemini, event: EventPreToolUse, d: rewrite, stdout: `{"systemMessage":"changed a","hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"path":"a"}}}`},
		{row: "Gemini CLI: deny", host: Gemini, event: EventPreToolUse, d: DenyTool("s", "r"), exit: 2, stderr: "r"},
		{row: "Gemini CLI: result", host: Gemini, event: EventPostToolUse, d: AcceptResult().TellAgent("c"), stdout: `{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"c"}}`},
		{row: "Gemini CLI: context", host: Gemini, event: EventUserPromptSubmit, d: AllowPrompt().TellAgent("c"), stdout: `{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"c"}}`},
		{row: "Gemini CLI: prompt", host: Gemini, event: EventUserPromptSubmit, d: prompt, exit: 2, stderr: "no\nu"},

		{row: "Copilot CLI: allow", host: Copilot, event: EventStop, d: AllowStop()},
		{row: "Copilot CLI: JSON block + reason; exit 2 only a warning on stop", host: Copilot, event: EventStop, d: BlockStop("no"), stdout: `{"decision":"block","reason":"no"}`},
		{row: "Copilot CLI: report", host: Copilot, event: EventStop, d: ReportStop("r"), exit: 1, stderr: "r"},
		{row: "Copilot CLI: deny", host: Copilot, event: EventPreToolUse, d: DenyTool("s", "r"), stdout: `{"permissionDecision":"deny","permissionDecisionReason":"r"}`},
		{row: "Copilot CLI: rewrite", host: Copilot, event: EventPreToolUse, d: rewrite.TellUser("u"), stdout: `{"modifiedArgs":{"path":"a"}}`, stderr: "u"},
		{row: "Copilot CLI: advice after a failure", host: Copilot, event: EventPostToolUseFailure, d: AcceptResult().TellAgent("a"), exit: 2, stderr: "a"},
		{row: "Copilot CLI: result", host: Copilot, event: EventPostToolUse, d: RejectResult("s", "r").TellUser("u"), stderr: "u\nr"},
		{row: "Copilot CLI: context", host: Copilot, event: EventSessionStart, d: AddContext("c").TellUser("u"), stderr: "u"},

		{row: "Copilot CLI: prompt", host: Copilot, event: EventUserPromptSubmit, d: prompt, stderr: "no\nu"},

		{row: "Cursor: prompt", host: Cursor, event: EventUserPromptSubmit, d: prompt, stdout: `{"continue":false,"user_message":"no\nu"}`},
		{row: "Cursor: allow", host: Cursor, event: EventStop, d: AllowStop()},
		{row: "Cursor: own format (followup_message)", host: Cursor, event: EventStop, d: BlockStop("no").TellUser("u"), stdout: `{"followup_message":"no"}`, stderr: "u"},
		{row: "Cursor: report", host: Cursor, event: EventStop, d: ReportStop("r"), exit: 1, stderr: "r"},
		{row: "Cursor: report with a turn", host: Cursor, event: EventStop, d: ReportStop("r").TellAgent("a"), stdout: `{"followup_message":"a"}`, stderr: "r"},
		{row: "Cursor: deny", host: Cursor, event: EventPreToolUse, d: DenyTool("s", "r"), stdout: `{"permission":"deny","user_message":"s","agent_message":"r"}`},
		{row: "Cursor: no rewrite", host: Cursor, event: EventPreToolUse, d: rewrite.TellUser("u"), stderr: "u\n" + noRewrite},
		{row: "Cursor: result", host: Cursor, event: EventPostToolUse, d: AcceptResult().TellAgent("c"), stderr: "c"},
	}
}

func TestEncode(t *testing.T) {
	for _, c := range append(append(stopCases(), toolCases()...), otherHostCases()...) {
		t.Run(c.row, func(t *testing.T) {
			out := Encode(c.host, c.event, c.d)
			assert.Equal(t, out.Exit, c.exit)
			assert.Equal(t, string(out.Stdout), line(c.stdout))
			assert.Equal(t, string(out.Stderr), line(c.stderr))
			if len(out.Stdout) > 0 {
				assert.Assert(t, json.Valid(out.Stdout))
			}
		})
	}
}

func line(s string) string {
	if s == "" {
		return ""
	}
	return s + "\n"
}

func TestEncodeCuts(t *testing.T) {
	// Pins: additionalContext and systemMessage above 10,000 characters are replaced by a file reference; reasons and stderr are not cut.
	tests := []struct{ name, text, want string }{
		{"at the limit", strings.Repeat("x", 10_000), strings.Repeat("x", 10_000)},
		{"at the limit in UTF-16 units", strings.Repeat("😀", 5_000), strings.Repeat("😀", 5_000)},
		{"many bytes, few characters", strings.Repeat("é", 9_999), strings.Repeat("é", 9_999)},
		{"one line", strings.Repeat("x", 10_001), strings.Repeat("x", 10_000-len(cutMarker)) + cutMarker},
		{"between two characters", strings.Repeat("😀", 5_001), strings.Repeat("😀", (10_000-len(cutMarker))/2) + cutMarker},
		{"at a line's end", strings.Repeat("x", 8_500) + "\n" + strings.Repeat("y", 5_000), strings.Repeat("x", 8_500) + cutMarker},
		{"a line that ends too early does not count", strings.Repeat("x", 10) + "\n" + strings.Repeat("y", 12_000), strings.Repeat("x", 10) + "\n" + strings.Repeat("y", 10_000-len(cutMarker)-11) + cutMarker},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			out := Encode(Claude, EventStop, ReportStop(c.text).TellUser(c.text).TellAgent(c.text))
			assert.Equal(t, string(out.Stderr), c.text+"\n")
			var got struct {
				SystemMessage      string
				HookSpecificOutput struct{ AdditionalContext string }
			}
			assert.NilError(t, json.Unmarshal(out.Stdout, &got))
			assert.Equal(t, got.SystemMessage, c.want)
			assert.Equal(t, got.HookSpecificOutput.AdditionalContext, c.want)
		})
	}
}

func TestEncodeAlwaysReadable(t *testing.T) {
	// For any texts: stdout is blank or one line with one JSON object in valid UTF-8, texts arrive as they were, exit 2 comes from
	// blocks only, and never "allow".
	hosts := []Host{Claude, Portable, Codex, ECA, Gemini, Copilot, Cursor}
	text := rapid.OneOf(rapid.String(), rapid.Just(""), rapid.SampledFrom([]string{"\xff\xfe", "a\x00b", "\u2028<&>\x7f", "\\\"\n", "\xed\xa0\x80"}))
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "c")
		host := rapid.SampledFrom(hosts).Draw(t, "host")
		blocks := false
		var d Decision
		var event EventName
		switch rapid.IntRange(0, 11).Draw(t, "kind") {
		case 0:
			event, d = EventStop, AllowStop().TellUser(a).TellAgent(b)
		case 1:
			event, d, blocks = EventStop, BlockStop(c).TellUser(a).TellAgent(b), true
		case 2:
			event, d = EventSubagentStop, ReportStop(c).TellUser(a).TellAgent(b)
		case 3:
			event, d, blocks = EventPreToolUse, DenyTool(a, b).TellUser(c), true
		case 4:
			event, d = EventPreToolUse, RewriteTool(json.RawMessage(a), b).TellUser(c)
		case 5:
			event, d = EventPostToolUse, RejectResult(a, b).TellAgent(c)
		case 6:
			event, d = EventUserPromptSubmit, AllowPrompt().TellAgent(a).TellUser(b)
		case 7:
			event, d, blocks = EventUserPromptSubmit, BlockPrompt(a).TellUser(b), true
		case 8:
			event, d = EventSessionStart, AddContext(a).TellUser(b)
		case 9:
			event, d = EventPermissionRequest, BlockEvent(a).TellAgent(b).TellUser(c)
		case 10:
			event, d = EventPermissionRequest, GrantRewritten(json.RawMessage(a)).TellAgent(b).TellUser(c)
		case 11:
			event, d = EventSubagentStart, PassEvent().TellAgent(b).TellUser(c)
		}
		out := Encode(host, event, d)
		if out.Exit == 2 && !blocks {
			t.Fatalf("exit 2 without a block")
		}
		if host == Claude && event == EventStop && blocks && (out.Exit != 2 || strings.TrimSpace(string(out.Stdout)) == "" || strings.TrimSpace(string(out.Stderr)) == "") {
			t.Fatalf("not a block: %+v", out)
		}
		if len(out.Stdout) == 0 {
			return
		}
		var object map[string]any
		if err := json.Unmarshal(out.Stdout, &object); err != nil || !utf8.Valid(out.Stdout) || strings.Count(string(out.Stdout), "\n") != 1 {
			t.Fatalf("unreadable: %q %v", out.Stdout, err)
		}
		if strings.Contains(string(out.Stdout), `"permissionDecision":"allow"`) {
			t.Fatal("allow was sent")
		}
		if message, ok := object["systemMessage"].(string); ok && len(utf16.Encode([]rune(message))) > textLimit {
			t.Fatal("message too long")
		}
	})
}

func TestEncodeImpossiblePairs(t *testing.T) {
	// A decision that does not answer the event says nothing: a block of another event must not come out as one of this.
	decisions := map[EventName]Decision{
		EventStop: BlockStop("x"), EventPreToolUse: DenyTool("s", "x"), EventPostToolUse: RejectResult("s", "x"),
		EventSessionStart: AddContext("x"), EventUserPromptSubmit: BlockPrompt("x"), "PreCompact": BlockEvent("x"),
	}
	alike := map[EventName]EventName{EventSubagentStop: EventStop, EventPostToolUseFailure: EventPostToolUse, "": "PreCompact"}
	events := []EventName{
		EventStop, EventSubagentStop, EventPreToolUse, EventPostToolUse, EventPostToolUseFailure, EventSessionStart, EventSessionEnd,
		EventUserPromptSubmit, "PreCompact", "",
	}
	for _, host := range []Host{Claude, Portable, Codex, ECA, Gemini, Copilot, Cursor} {
		for _, event := range events {
			for answered, d := range decisions {
				said := !reflect.DeepEqual(Encode(host, event, d), Output{})
				if event == answered || alike[event] == answered {
					if host == Claude {
						assert.Assert(t, said, "%s %T", event, d)
					}
					continue
				}
				assert.Assert(t, !said, "%s %s %T", host, event, d)
			}
		}
	}
}

func TestDecisionsTell(t *testing.T) {
	assert.Assert(t, BlockPrompt("").Blocks() && !AllowPrompt().Blocks())
	assert.Assert(t, BlockStop("x").Blocks() && !ReportStop("x").Blocks() && !AllowStop().Blocks())
	assert.Assert(t, DenyTool("", "").Denies() && !AllowTool().Denies())
	assert.Assert(t, BlockEvent("").Blocks() && !GrantPermission().Blocks() && !PassEvent().Blocks())
}
