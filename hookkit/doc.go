// Package hookkit is the hook protocol of coding agents, for people who write hooks.
//
// A hook is a program that the agent's host starts when something happens. The host writes one JSON event to the hook's
// stdin and judges its exit code, its stderr and one JSON object on its stdout. This package reads the event ([ReadEvent],
// [ParseEvent]), gives it a type ([Stop], [PreToolUse] and so on), and writes a decision in the way the host understands
// ([Encode]). [Main] is the whole program:
//
//	func main() {
//		hookkit.Main(hookkit.Handlers{Stop: func(ctx context.Context, e *hookkit.Stop) (hookkit.StopDecision, error) {
//			return hookkit.BlockStop("The tests have not run."), nil
//		}})
//	}
//
// Exit code 2 means "block" to a host, and it is also the code with which a Go program dies of a panic or a bad flag.
// Run and Main therefore map every failure of their own to 0 or 1: only a decision that blocks ends with 2.
//
// The rules of the hosts are those of Claude Code 2.1.329, observed on the real client; other hosts are mapped to them as far as
// they have the same events.
package hookkit
