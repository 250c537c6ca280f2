package claudecode_test

import (
	"fmt"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// A JSON block at Stop reaches the agent twice, the same block by exit 2 once.
func ExampleJudge() {
	byJSON := claudecode.Judge(claudecode.Run{Event: "Stop", Command: "tests", Stdout: []byte(`{"decision":"block","reason":"2 failures"}`)})
	byExit := claudecode.Judge(claudecode.Run{Event: "Stop", Command: "tests", Exit: 2, Stderr: []byte("2 failures")})
	for _, t := range append(byJSON.Told, byExit.Told...) {
		fmt.Printf("%s: %q\n", t.As, t.Text)
	}
	// Output:
	// user: "Stop hook feedback:\n2 failures"
	// system: "Stop hook blocking error from command: \"tests\": 2 failures"
	// user: "Stop hook feedback:\n[tests]: 2 failures"
}

// A log line before the object, and the block is lost.
func ExampleJudge_fault() {
	r := claudecode.Judge(claudecode.Run{Event: "Stop", Stdout: []byte("running tests…\n{\"decision\":\"block\",\"reason\":\"2 failures\"}")})
	fmt.Println(r.Blocked, r.Fault)
	fmt.Println(r.Note)
	// Output:
	// false text-around-json
	// there is text before or after the JSON object, so the client takes all of it for plain text
}

func ExampleLoadHooks() {
	hooks, dropped := claudecode.LoadHooks([]claudecode.Source{{Scope: "local", Path: "settings.local.json", Data: []byte(`{"hooks":{
		"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"brepl hook validate"}]}],
		"Stop":[{"hooks":[{"type":"command","command":"brepl hook stop","timeout":"60"}]}]}}`)}})
	for _, h := range hooks.For("PreToolUse", "Write", nil) {
		fmt.Println(h.Command, h.Timeout)
	}
	for _, d := range dropped {
		fmt.Println(d.What, d.Why)
	}
	// Output:
	// brepl hook validate 10m0s
	// hooks.Stop[0].hooks[0] its timeout is "60"; it must be a number above 0
}
