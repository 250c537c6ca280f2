// Package hookkit is the hook protocol of coding agents, for people who write hooks.
//
// A hook is a program that the agent's host starts when something happens. The host writes one JSON event to the hook's
// stdin and judges its exit code, its stderr and one JSON object on its stdout. This package reads the event ([ReadEvent],
// [ParseEvent]), gives it a type ([Stop], [PreToolUse] and so on), and writes a decision in the way the host understands
// ([Encode]). [Main] is the whole program:
//
//	func main() {
//		hookkit.Main(hookkit.Handlers{Stop: func(ctx context.Context, e *hookkit.Stop) (hookkit.StopDecision, error) {
//			if e.StopHookActive {
//				return hookkit.AllowStop(), nil // asked once is enough
//			}
//			return hookkit.BlockStop("Say which tests you have run."), nil
//		}})
//	}
//
// The host learns of it from its settings; for Claude Code, .claude/settings.json:
//
//	{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/absolute/path/to/hook"}]}]}}
//
// # Not for ever
//
// A Stop hook that blocks is asked again at the next stop. One that blocks whatever the agent does must look at
// [Stop.StopHookActive], which is true when a hook has blocked since the last prompt; one whose condition the agent can meet, such
// as tests that pass, need not, but should give up some time by a count of its own. Claude Code overrides the ninth block in a row,
// and any use of a tool starts that count anew (CLAUDE_CODE_STOP_HOOK_BLOCK_CAP changes it, 0 is no cap).
//
// AllowStop().TellAgent makes the agent go on for a turn too, and the stop after that turn asks the hook again: told each time, the
// agent never ends. Tell it once, and keep where you did.
//
// A hook has 600 s, or what "timeout" beside "command" says in seconds (30 s for UserPromptSubmit, 1.5 s for SessionEnd). What is
// not done by then is ended, everything it printed is ignored, and nothing is blocked.
//
// # Exit codes
//
// Exit code 2 means "block" to a host, and it is also the code with which a Go program dies of a panic or a bad flag.
// Run and Main therefore map every failure of their own to 0 or 1: only a decision that blocks ends with 2.
//
// # Other events
//
// [Handlers.Other] gets the events that have no type here, such as PermissionRequest, PreCompact, Notification and SubagentStart, and
// those that a new version of a host adds. A host takes few answers to them; what it does not take is not written, and said on stderr.
//
// # Hosts
//
// The rules of the hosts are those of Claude Code 2.1.329, observed on the real client; other hosts are mapped to them as far as
// they have the same events. [Host] says which of them have been observed.
package hookkit
