package install

import (
	"strconv"
	"time"

	"github.com/hookkit/brepl/hookkit/settings"
)

// Program is the name of the program whose hooks are installed.
const Program = "brepl"

// Events are the events that install arranges, in the order in which they are written.
func Events() []string {
	return []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"}
}

// Own recognises the handlers of this package in a settings file. Its handlers
// are brepl hook … and brepl hooks …, whatever path stands before them; see
// [settings.OwnCommand] for what counts as foreign.
func Own(h settings.Handler) bool { return settings.OwnCommand(Program, "hook", "hooks")(h) }

// mentions recognises foreign shell lines that call brepl's hooks inside.
func mentions(h settings.Handler) bool { return settings.Mentions(Program, "hook", "hooks")(h) }

// Options are what a person can choose.
type Options struct {
	Scope       settings.Scope // Local ("" too) or Project
	StrictEval  bool           // an evaluation error blocks instead of warning
	SkipEval    bool           // no evaluation after an edit
	EvalTimeout int            // seconds for an evaluation; 0: not given, eval's own default
	AllTools    bool           // evaluate what any tool has changed, also one that failed
	NoSkill     bool           // leave the agent's skill alone
	Debug       bool           // every command gets --debug
	// StopBudget is how long the hooks in hooks.edn may take together, by their
	// timeouts. 0: not known.
	StopBudget time.Duration
	DryRun     bool // show what would change, write nothing
}

// entries are the handlers we want; program is the shell word that runs brepl.
func entries(program string, o Options) []settings.Entry {
	command := func(args string) string {
		if o.Debug {
			args += " --debug"
		}
		return program + " hook " + args
	}
	eval := "eval"
	if o.StrictEval {
		eval += " --strict-eval"
	}
	if o.EvalTimeout > 0 {
		eval += " --timeout " + strconv.Itoa(o.EvalTimeout)
	}
	list := []settings.Entry{{Event: "PreToolUse", Matcher: "Edit|Write", Command: command("validate")}}
	after := settings.Entry{
		Event: "PostToolUse", Matcher: "Edit|Write", Command: command(eval),
		Timeout: hostTimeout(time.Duration(o.EvalTimeout) * time.Second),
	}
	if o.AllTools {
		after.Matcher = "*"
	}
	if !o.SkipEval {
		list = append(list, after)
	}
	if !o.SkipEval && o.AllTools {
		after.Event = "PostToolUseFailure" // a command that exits non-zero may have changed files too
		list = append(list, after)
	}
	return append(list,
		settings.Entry{Event: "Stop", Matcher: "", Command: command("stop"), Timeout: hostTimeout(o.StopBudget)},
		settings.Entry{Event: "SessionEnd", Matcher: "*", Command: command("session-end")},
	)
}

// hostTimeout is the timeout to write into the settings for something that may
// take as long as budget: none while the host's default leaves a minute to
// spare, else a minute more than budget, in steps of 10 s, up to the longest that the host can wait.
func hostTimeout(budget time.Duration) time.Duration {
	const spare, step = time.Minute, 10 * time.Second
	if budget <= settings.DefaultTimeout-spare {
		return 0
	}
	if budget > settings.MaxTimeout-spare-step {
		return settings.MaxTimeout
	}
	return (budget + spare + step - 1).Truncate(step)
}
