// Package claudecode holds the rules of Claude Code 2.1.329 for hooks as pure
// functions: which handlers of the settings run for an event, what the client
// makes of a hook's output, and what the agent and the user read of it. It
// starts no process, reads no file and knows no clock.
//
// The rules come from two places, and each function names its own: recordings
// of real sessions (integration/testdata/replay), and facts observed on the
// same client that no recording shows. Where both are silent the doc comment
// says what was chosen.
//
//	hooks, dropped := claudecode.LoadHooks(sources)
//	for _, h := range hooks.For("Stop", "", nil) { … run it … }
//	r := claudecode.Judge(claudecode.Run{Event: "Stop", Command: h.Command, Exit: 2, Stderr: stderr})
//	r.Blocked, r.Told, r.Shown
//
// fakes.Claude plays whole sessions by these rules; "hookkit check" and
// "hookkit replay" judge single answers by them.
package claudecode

// Version is the version of the client whose rules these are.
const Version = "2.1.329"
