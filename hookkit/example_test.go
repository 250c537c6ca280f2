package hookkit_test

import (
	"context"
	"os"
	"strings"

	"github.com/hookkit/brepl/hookkit"
)

// A complete Stop hook: the agent may not stop while a file named FAILED stands in the project. It does not look at StopHookActive,
// because the agent can mend this, and the host ends a row of blocks in which it does nothing.
func ExampleMain() {
	hook := func(_ context.Context, e *hookkit.Stop) (hookkit.StopDecision, error) {
		report, err := os.ReadFile(e.ProjectDir() + "/FAILED")
		switch {
		case os.IsNotExist(err):
			return hookkit.AllowStop(), nil
		case err != nil:
			return hookkit.StopDecision{}, err // exit 1: said, but never a block
		}
		return hookkit.BlockStop("The tests fail:\n" + string(report)), nil
	}
	hookkit.Main(hookkit.Handlers{Stop: hook})
}

// A hook is tested without a process.
func ExampleRun() {
	event := `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push --force"}}`
	hookkit.Run(context.Background(), hookkit.IO{In: strings.NewReader(event), Out: os.Stdout}, hookkit.Handlers{
		PreToolUse: func(_ context.Context, e *hookkit.PreToolUse) (hookkit.PreToolUseDecision, error) {
			if command, _ := e.InputString("command"); strings.Contains(command, "--force") {
				return hookkit.AllowTool().TellUser("The agent pushes with force."), nil
			}
			return hookkit.AllowTool(), nil
		},
	})
	// Output: {"systemMessage":"The agent pushes with force."}
}

// The events that have no type here come to one handler: this hook answers the user's question for one command, and refuses another.
func ExampleHandlers_other() {
	answer := func(_ context.Context, e *hookkit.Other) (hookkit.OtherDecision, error) {
		command, _ := e.InputString("command")
		switch {
		case e.Name() != hookkit.EventPermissionRequest:
			return hookkit.PassEvent(), nil
		case command == "go test ./...":
			return hookkit.GrantPermission(), nil
		case strings.HasPrefix(command, "git push"):
			return hookkit.BlockEvent("Pushing is the user's part: ask for it."), nil
		}
		return hookkit.PassEvent(), nil // the user is asked
	}
	event := `{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"go test ./..."}}`
	hookkit.Run(context.Background(), hookkit.IO{In: strings.NewReader(event), Out: os.Stdout}, hookkit.Handlers{Other: answer})
	// Output: {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}
}
