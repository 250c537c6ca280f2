package stop

import (
	"fmt"

	"github.com/hookkit/brepl/hookkit/hooksedn"
)

// Kind is what happened to one hook in one stop.
type Kind uint8

// The kinds of outcome. Only Failed can ask the agent to go on.
const (
	Passed    Kind = iota
	Failed         // it ran and is not content
	CannotRun      // no server, no shell, no such command or directory, or exit 75
	Unchanged      // :when-changed found nothing new since it last passed
	NotRun         // our own deadline came first, or somebody ended us
	Empty          // it passed, but no test ran, or not all: neither pass nor failure
)

// String is for the debug log.
func (k Kind) String() string {
	return [...]string{"passed", "failed", "cannot run", "unchanged", "not run", "ran no test"}[k]
}

// Outcome is the result of one hook.
type Outcome struct {
	Hook    *hooksedn.Hook
	Kind    Kind
	Why     string // for all but Passed and Unchanged, one line: "exit code 3", "3 failures in 42 tests"
	Ran     string // what ran, as far as a summary says so: "42 tests, 180 assertions in 12 namespaces"
	Output  string // what it printed, cleaned; the end of it
	Log     string // path of the log file, "" when nothing was printed
	Omitted int    // lines printed before Output begins

	log []byte // the end of what it printed, as it was, for the log file
}

// Step is an outcome and what follows from it.
type Step struct {
	Outcome
	Action    Action
	Attempt   int   // for Retry: which failure in a row this is, from 1
	Stuck     bool  // the third equal failure or more without a change in the project
	Uncounted error // why the attempt could not be counted
}

// Action is what one outcome means for the stop.
type Action uint8

// The actions of the table "Verdict" in the specification of the stop hook.
const (
	Continue Action = iota // nothing to say
	TellUser               // one line for the user; next hook
	Report                 // said at the end, exit 1; next hook
	Pause                  // a required hook cannot run: said, exit 1, the run ends here
	Retry                  // exit 2, the run ends here
)

// String is for the debug log.
func (a Action) String() string {
	return [...]string{"nothing follows", "the user is told", "it is reported", "the run ends, with a pause", "the stop is blocked"}[a]
}

// reaches reports whether the text of the stop speaks of this action.
func (a Action) reaches() bool { return a == Report || a == Pause || a == Retry }

// skipped reports whether a hook did not run because there was no server, and nothing follows from that.
func (s *Step) skipped() bool { return s.Kind == CannotRun && s.Action == Continue }

// Ends reports whether no further hook runs after this action.
func (a Action) Ends() bool { return a == Pause || a == Retry }

// decide applies the verdict table to one outcome. count is how often the hook had failed
// before in this session. It does no input or output, so that every row can be tested.
func decide(o Outcome, count int) Step {
	step := Step{Outcome: o}
	switch o.Kind {
	case Passed, Unchanged:
		step.Action = Continue
	case NotRun, Empty:
		step.Action = Report
	case CannotRun:
		switch {
		case o.Hook.Required:
			step.Action = Pause
		case o.Hook.Type == hooksedn.Bash:
			step.Action = TellUser
		default:
			step.Action = Continue
		}
	case Failed:
		step.Action = Report
		if o.Hook.Retry && (o.Hook.MaxRetries == 0 || count < o.Hook.MaxRetries) {
			step.Action, step.Attempt = Retry, count+1
		}
	}
	return step
}

// Exit is the exit code of the whole stop: 2 if a hook demands a retry, else 1 if anything
// is reported, else 0.
func Exit(steps []Step) int {
	exit := 0
	for _, s := range steps {
		switch s.Action {
		case Retry:
			return 2
		case Report, Pause:
			exit = 1
		case Continue, TellUser:
		}
	}
	return exit
}

// allPassed reports whether every hook ran and passed, which is what ends all counting.
func allPassed(steps []Step) bool {
	for _, s := range steps {
		if s.Kind != Passed {
			return false
		}
	}
	return true
}

// headline is the first line about a step, complete in itself: some hosts show nothing else.
func (s *Step) headline() string {
	name := s.Hook.Name
	switch {
	case s.Kind == NotRun:
		return fmt.Sprintf("Hook '%s' was not run: %s", name, s.Why)
	case s.Kind == Empty:
		if s.Hook.Type == hooksedn.Tests {
			return fmt.Sprintf("Hook '%s' is not green: %s", name, s.Why)
		}
		return fmt.Sprintf("Hook '%s' ran no test, which is no pass.", name)
	case s.Action == Pause && s.Hook.Type != hooksedn.Bash:
		return fmt.Sprintf("Hook '%s' requires nREPL but none available. Please start REPL and retry.", name)
	case s.Kind == CannotRun:
		return fmt.Sprintf("Hook '%s' cannot run: %s", name, s.Why)
	case s.Action == Report && s.Hook.Retry && s.Uncounted == nil:
		return fmt.Sprintf("Hook '%s' failed after %s. Giving up.", name, retries(s.Hook.MaxRetries))
	default:
		return fmt.Sprintf("Hook '%s' failed: %s", name, s.Why)
	}
}

func retries(n int) string {
	if n == 1 {
		return "1 retry"
	}
	return fmt.Sprintf("%d retries", n)
}
