package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// Faults of a hook that show in how it runs. Those of its output have their names in claudecode.
const (
	faultIncompleteInput   = "incomplete-input"
	faultInconsistent      = "inconsistent"
	faultNonBlockingExit   = "nonblocking-exit"
	faultWaitsForEOF       = "waits-for-eof"
	faultReadsDevStdin     = "reads-dev-stdin"
	faultMisreadsChunks    = "misreads-chunks"
	faultUnknownFields     = "fails-on-unknown-fields"
	faultLargeInput        = "fails-on-large-input"
	faultHangsWithoutInput = "hangs-without-input"
	faultSlowStart         = "slow-start"
	faultLeftoverProcess   = "leftover-process"
	faultLeavesFiles       = "leaves-files"
	faultParallelDiffers   = "parallel-differs"
	faultIgnoresTerm       = "ignores-term"
	faultStuckAfterKill    = "stuck-after-kill"

	warnNeedsNewline    = "needs-newline"
	warnMisreadsBOM     = "misreads-bom"
	warnMisreadsPretty  = "misreads-pretty"
	warnWaitsForEver    = "waits-for-ever"
	warnFailsClosed     = "fails-closed"
	warnNeedsTranscript = "needs-transcript"
	warnToldTwice       = "told-twice"
	warnTextTooLong     = "text-too-long"
	warnUnknownKeys     = "unknown-keys"
)

// A Fault is one thing that can be wrong with a hook.
type Fault struct {
	ID string
	// Warning marks what works with Claude Code as it is, and not with every host, or costs something. It does not change the exit code.
	Warning bool
	Meaning string
	Mend    string
}

// Faults is the table of all faults that a check can name, in the order in which `hookkit check --list` shows them.
func Faults() []Fault {
	return []Fault{
		// What the hook prints and how it exits.
		{claudecode.FaultNotStarted, false, "The command cannot be started; the host goes on as if there were no hook.", "Give an absolute path, quote it, and make the file executable."},
		{claudecode.FaultTimedOut, false, "No answer in time: the host kills the hook, ignores what it printed, and blocks nothing.", "Answer sooner, or set a longer timeout in the settings and with --timeout."},
		{claudecode.FaultTextAroundJSON, false, "There is text before or after the JSON on stdout, so all of it is plain text and decides nothing.", "Print logs to stderr; stdout holds the one object and nothing else."},
		{claudecode.FaultTwoDocuments, false, "Stdout holds more than one JSON value; the host refuses all of them.", "Print one object, once; look for a second hook or helper that writes to the same stdout."},
		{claudecode.FaultBadJSON, false, "Stdout looks like JSON and is none; it decides nothing.", "Make the object with a JSON library (jq -n, json.dumps), not by pasting strings together."},
		{claudecode.FaultWrongValue, false, "A known key has a value that the host does not know; it refuses the whole object.", `Use the values of the protocol: decision is "block" (or "approve"), never "allow" or "deny".`},
		{claudecode.FaultMissingEventName, false, "hookSpecificOutput has no hookEventName; the host refuses the whole object.", "Add hookEventName with the name of the event."},
		{claudecode.FaultForeignEventName, false, "hookEventName names another event; the host refuses the whole object.", "Copy hook_event_name from the event into hookEventName."},
		{claudecode.FaultContinueFalse, false, "continue:false ends the agent's work. It is the opposite of blocking, and beats every block.", `To keep the agent at work print {"decision":"block","reason":"…"} or exit 2 with the reason on stderr.`},
		{claudecode.FaultBlockWithoutReason, false, `A block without a reason: the agent reads "Blocked by hook" and cannot know what to do.`, "Add a reason that says what to mend."},
		{claudecode.FaultBlockWithoutText, false, "Exit 2 with nothing on stderr: the agent is blocked and not told why.", "Print the reason to stderr before exit 2."},
		{claudecode.FaultDowngrade, false, `Exit 2, a blank stdout, and "No such file or directory" or "can't open" on stderr: the host takes it for a missing command and blocks nothing.`, "Print {} to stdout beside exit 2."},
		{faultNonBlockingExit, false, "An exit code other than 0 and 2 without a JSON answer: nothing is blocked, and the agent is told nothing.", "Exit 2 with the reason on stderr to block, 0 to let pass."},
		{claudecode.FaultStreamHeld, false, "A child process held stdout or stderr 0.5 s after the hook's exit: the host refuses the JSON.", "Start it with </dev/null >/dev/null 2>&1, or wait for it."},

		{faultIncompleteInput, false, "updatedInput is not a whole input: a required field is missing, or old_string is not in the file. The tool fails, and the agent does not know why.", "Copy tool_input, and change the fields that you mean to change."},
		{faultInconsistent, false, "It gives different answers to the same event, so the answers to other questions prove nothing.", "Answer by the event and the project alone; take no decision by chance, by the clock or by an earlier run of another session."},

		// How it reads its input.
		{faultReadsDevStdin, false, "It opens /dev/stdin by its path. The host's streams are sockets, which cannot be opened: the event is lost.", "Read file descriptor 0: cat, jq ., sys.stdin, process.stdin."},
		{faultWaitsForEOF, false, "It answers only after the end of stdin. Hosts that leave stdin open wait until the timeout.", "Stop reading at the end of the line, or at the object's last brace."},
		{faultMisreadsChunks, false, "An event that arrives in pieces gets another answer than one that arrives at once.", "Read until the event is complete; one read may return a part of it."},
		{faultUnknownFields, false, "A field that it does not know changes the answer; new versions of the host add fields.", "Ignore unknown fields."},
		{faultLargeInput, false, "An event of 10 MB makes it fail.", "Do not pass the event as an argument or in a variable of the environment; read it from stdin."},
		{faultHangsWithoutInput, false, "It never ends when stdin is empty and closed.", "Treat the end of stdin as no event, and end."},

		// What it does to its surroundings.
		{faultSlowStart, false, "It is slow to answer when there is nothing to do; every call of the event waits for that.", "Load less at the start; --start-limit sets what is slow."},
		{faultLeftoverProcess, false, "A process that it started still runs after its exit.", "Wait for what you start, or end it."},
		{faultLeavesFiles, false, "It changes the project, or leaves one more file in HOME or TMPDIR with every run.", "Remove what you make (trap 'rm -f …' EXIT), and keep state in one place for each session."},
		{faultParallelDiffers, false, "Several runs at once do not all get the answer that a single one gets.", "Use file names of your own for each run (mktemp), and a lock that is waited for."},
		{faultIgnoresTerm, false, "It goes on after TERM, with which the host ends a hook; after 1.5 s it is killed and cannot tidy up.", "End on TERM; do not ignore it with trap ''."},
		{faultStuckAfterKill, false, "After a run was killed, the next one gets another answer, or none.", "Use locks that the system releases (flock), not files or folders that stay."},

		// What is good to know.
		{warnNeedsNewline, true, "It answers only after a newline. Claude Code sends one, other hosts may not.", "Stop reading at the object's last brace."},
		{warnMisreadsBOM, true, "A byte order mark before the event changes the answer; some hosts send one.", "Skip the bytes EF BB BF at the start."},
		{warnMisreadsPretty, true, "An event over several lines changes the answer; Claude Code sends one line, other hosts may not.", "Read a JSON value, not a line."},
		{warnWaitsForEver, true, "It waits without limit for an event that does not come, or only in half.", "Give up after some seconds without input."},
		{warnFailsClosed, true, "It blocks when it cannot read its event. With a broken host the agent cannot go on.", "Let pass what you cannot judge, and say so on stderr."},
		{warnNeedsTranscript, true, "The answer is another one when the transcript's file does not exist yet, as often at the first stop.", "Use last_assistant_message, and treat a missing transcript as an empty one."},
		{warnToldTwice, true, "A JSON block at Stop reaches the agent twice.", "Exit 2 with the reason on stderr and {} on stdout reaches it once."},
		{warnTextTooLong, true, "A text over 10,000 characters reaches its reader as a preview of 2 KB and a reference to a file.", "Cut it, and name a log file."},
		{warnUnknownKeys, true, "The output has keys that the host drops.", "Leave them out, or put them where the protocol has them."},
	}
}

// faultByID returns a row of the table. It panics on an id that is not in it, which is a mistake in this package.
func faultByID(id string) Fault {
	table := Faults()
	i := slices.IndexFunc(table, func(f Fault) bool { return f.ID == id })
	if i < 0 {
		panic(fmt.Sprintf("lab: fault %q is not in the table", id))
	}
	return table[i]
}

// impliedBy says which faults are only another view of one that was found.
func impliedBy(found string) []string {
	switch found {
	case claudecode.FaultStreamHeld:
		return []string{faultLeftoverProcess}
	case faultReadsDevStdin:
		return []string{faultNonBlockingExit, claudecode.FaultTimedOut, claudecode.FaultDowngrade}
	case faultParallelDiffers:
		return []string{warnNeedsNewline, warnFailsClosed} // their questions are asked several at once
	case faultInconsistent:
		return []string{
			faultReadsDevStdin, faultWaitsForEOF, faultMisreadsChunks, faultUnknownFields, faultLargeInput, faultParallelDiffers, faultStuckAfterKill,
			warnNeedsNewline, warnMisreadsBOM, warnMisreadsPretty, warnNeedsTranscript, warnFailsClosed,
		}
	case claudecode.FaultTimedOut, claudecode.FaultNotStarted:
		return []string{faultSlowStart}
	}
	return nil
}

// faultList is the table for people.
func faultList() string {
	var b strings.Builder
	for _, f := range Faults() {
		level := "fault"
		if f.Warning {
			level = "warning"
		}
		_, _ = fmt.Fprintf(&b, "%s (%s)\n  %s\n  Mend: %s\n", f.ID, level, f.Meaning, f.Mend)
	}
	return b.String()
}
