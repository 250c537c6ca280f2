package install

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"time"

	"github.com/hookkit/brepl/hookkit/settings"
)

// breplName is the file of the program whose hooks and skill are installed here.
const breplName = "brepl"

// StopBudget tells how long the stop hooks of the project at root may take together; 0 when there are none. This package does not read
// hooks.edn itself.
type StopBudget func(root string) (time.Duration, error)

// Brepl is brepl's hooks, with the project's first .brepl/hooks.edn and the agent's skill. A nil budget counts as 0.
func Brepl(budget StopBudget) Program {
	b := &brepl{budget: budget}
	return Program{
		Hooks: settings.Hooks{
			Program: breplName,
			Events:  []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"},
			Own:     settings.OwnCommand(breplName, "hook", "hooks"), Mentions: settings.Mentions(breplName, "hook", "hooks"),
			Flags: b.declare, Entries: b.entries,
		},
		installs: `Puts the hooks into .claude/settings.local.json at the root of the git work tree
(or here, outside of git), creates .brepl/hooks.edn when there is none, and writes
a skill for the agent, .claude/skills/brepl/SKILL.md.
Everything else in the settings stays byte for byte. Run it again at any time.`,
		uninstalls: `Takes the hooks out of .claude/settings.local.json. Everything else stays byte for
byte; a file or key that install made goes with them, and so does the agent's
skill unless you have changed it. .brepl/hooks.edn stays.`,
		flags: func(set *flag.FlagSet) {
			set.BoolVar(&b.noSkill, "no-skill", false, "leave the agent's skill, .claude/skills/brepl, alone")
		},
		check: b.check, before: b.before, after: b.after,
	}
}

// brepl is what a person can choose, and what became of the project's stop hooks.
type brepl struct {
	strictEval  bool // an evaluation error blocks instead of warning
	skipEval    bool // no evaluation after an edit
	evalTimeout int  // seconds for an evaluation; 0: not given, eval's own default
	allTools    bool // evaluate what any tool has changed, also one that failed
	noSkill     bool // leave the agent's skill alone
	debug       bool // every command gets --debug

	budget  StopBudget
	warning string // why the budget is not known
}

func (b *brepl) declare(set *flag.FlagSet) {
	set.BoolVar(&b.strictEval, "strict-eval", false, "evaluation errors block instead of warning")
	set.BoolVar(&b.skipEval, "skip-eval", false, "do not evaluate files after edits")
	set.BoolVar(&b.allTools, "all-tools", false, "evaluate the files that any tool has changed, not only Edit and Write")
	b.evalTimeout = 0
	set.Func("timeout", "`seconds` for an evaluation (30 when not given)", b.setTimeout)
	set.BoolVar(&b.debug, "debug", false, "run all hooks with --debug")
}

// maxEvalTimeout is a day, in seconds.
const maxEvalTimeout = 86400

func (b *brepl) setTimeout(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxEvalTimeout {
		return fmt.Errorf("give whole seconds from 1 to %d", maxEvalTimeout)
	}
	b.evalTimeout = n
	return nil
}

func (b *brepl) check() error {
	switch {
	case b.strictEval && b.skipEval:
		return errors.New("--strict-eval and --skip-eval exclude each other")
	case b.allTools && b.skipEval:
		return errors.New("--all-tools and --skip-eval exclude each other")
	}
	return nil
}

func (b *brepl) entries(s *settings.Site) ([]settings.Entry, error) {
	command := func(args string) string {
		if b.debug {
			args += " --debug"
		}
		return s.Word + " hook " + args
	}
	eval := "eval"
	if b.strictEval {
		eval += " --strict-eval"
	}
	if b.evalTimeout > 0 {
		eval += " --timeout " + strconv.Itoa(b.evalTimeout)
	}
	list := []settings.Entry{{Event: "PreToolUse", Matcher: "Edit|Write", Command: command("validate")}}
	after := settings.Entry{
		Event: "PostToolUse", Matcher: "Edit|Write", Command: command(eval),
		Timeout: hostTimeout(time.Duration(b.evalTimeout) * time.Second),
	}
	if b.allTools {
		after.Matcher = "*"
	}
	if !b.skipEval {
		list = append(list, after)
	}
	if !b.skipEval && b.allTools {
		after.Event = "PostToolUseFailure" // a command that exits non-zero may have changed files too
		list = append(list, after)
	}
	return append(list,
		settings.Entry{Event: "Stop", Matcher: "", Command: command("stop"), Timeout: hostTimeout(b.stopBudget(s.Root))},
		settings.Entry{Event: "SessionEnd", Matcher: "*", Command: command("session-end")},
	), nil
}

func (b *brepl) stopBudget(root string) time.Duration {
	if b.budget == nil {
		return 0
	}
	budget, err := b.budget(root)
	if err != nil {
		b.warning = fmt.Sprintf("the time that the stop hooks need is not known: %v", err)
	}
	return budget
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

// before deletes the skill before the settings are changed, so that a folder which install has made for both is empty when they are gone.
func (b *brepl) before(r *Report, home bool) error {
	if b.noSkill || home {
		return nil
	}
	return r.uninstallSkill(r.DryRun)
}

// after writes the first hooks.edn, which uninstall leaves where it is, and the skill.
func (b *brepl) after(r *Report, home bool, err error) error {
	switch {
	case err != nil:
	case r.Action == uninstallAction:
		r.findTemplate()
	default:
		err = b.install(r, home)
	}
	if b.warning != "" {
		r.Warnings = append(r.Warnings, b.warning)
	}
	return err
}

func (b *brepl) install(r *Report, home bool) error {
	if err := r.writeTemplate(r.DryRun); err != nil || b.noSkill {
		return err
	}
	if home {
		r.Notes = append(r.Notes, "the agent's skill is not written here, where it would count for every project; `brepl skill install` does it")
		return nil
	}
	return r.installSkill(r.DryRun, false)
}
