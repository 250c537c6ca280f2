package install

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
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
	b := &brepl{budget: budget, own: settings.OwnCommand(breplName, "hook", "hooks")}
	return Program{
		Hooks: settings.Hooks{
			Program: breplName,
			Events:  []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"},
			Own:     b.own, Mentions: settings.Mentions(breplName, "hook", "hooks"),
			Flags: b.declare, Entries: b.entries,
		},
		installs: `Puts the hooks into .claude/settings.local.json at the root of the git work tree
(or here, outside of git), creates .brepl/hooks.edn when there is none, and writes
a skill for the agent, .claude/skills/brepl/SKILL.md.
Everything else in the settings stays byte for byte. Run it again at any time: a
flag that is not given stays as the hooks that are there have it, and --debug=false
or --timeout=false takes it back.`,
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
	strictEval  choice // an evaluation error blocks instead of warning
	skipEval    choice // no evaluation after an edit
	allTools    choice // evaluate what any tool has changed, also one that failed
	debug       choice // every command gets --debug
	evalTimeout int    // seconds for an evaluation; 0: eval's own default
	timeoutSaid bool   // it was given, or taken back
	noSkill     bool   // leave the agent's skill alone

	own     func(settings.Handler) bool
	budget  StopBudget
	warning string // why the budget is not known
}

// choice is a flag that counts only when it is given: else what the entries that are there say.
type choice struct{ given, on bool }

func (c *choice) declare(set *flag.FlagSet, name, usage string) {
	*c = choice{}
	set.BoolFunc(name, usage, func(text string) (err error) {
		c.given = true
		c.on, err = strconv.ParseBool(text)
		return err
	})
}

// keep takes what the entries say where nothing was given, and reports whether that turned the flag on.
func (c *choice) keep(said bool) bool {
	if c.given || !said {
		return false
	}
	c.on = true
	return true
}

// chosen says that the flag was given, and not to take it back.
func (c *choice) chosen() bool { return c.given && c.on }

func (b *brepl) declare(set *flag.FlagSet) {
	b.strictEval.declare(set, "strict-eval", "evaluation errors block instead of warning")
	b.skipEval.declare(set, "skip-eval", "do not evaluate files after edits")
	b.allTools.declare(set, "all-tools", "evaluate the files that any tool has changed, not only Edit and Write")
	b.evalTimeout, b.timeoutSaid = 0, false
	set.Func("timeout", "`seconds` for an evaluation (30 when not given)", b.setTimeout)
	b.debug.declare(set, "debug", "run all hooks with --debug")
}

// maxEvalTimeout is a day, in seconds.
const maxEvalTimeout = 86400

func (b *brepl) setTimeout(text string) error {
	n, ok := seconds(text)
	if !ok && text != "false" {
		return fmt.Errorf("give whole seconds from 1 to %d", maxEvalTimeout)
	}
	b.evalTimeout, b.timeoutSaid = n, true
	return nil
}

func seconds(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxEvalTimeout {
		return 0, false
	}
	return n, true
}

func (b *brepl) check() error {
	switch {
	case b.strictEval.chosen() && b.skipEval.chosen():
		return errors.New("--strict-eval and --skip-eval exclude each other")
	case b.allTools.chosen() && b.skipEval.chosen():
		return errors.New("--all-tools and --skip-eval exclude each other")
	}
	return nil
}

// remember keeps what the entries that are there say to the flags that are not given. A file in which edits are checked and not evaluated
// says --skip-eval, unless a flag is given that is about the evaluation.
func (b *brepl) remember(s *settings.Site) {
	var strict, all, skip, debug, checks, evals bool
	var timeout int
	for _, h := range s.Present(b.own) {
		words, _ := h.Words()
		_, debugs := h.Flag("debug")
		debug = debug || debugs
		switch {
		case len(words) < 3:
		case h.Event == "PreToolUse" && words[2] == "validate":
			checks = true
		case h.Event == "PostToolUse" && words[2] == "eval":
			evals = true
			all = all || h.Matcher == "*" || h.Matcher == ""
			_, strict = h.Flag("strict-eval")
			_, skip = h.Flag("skip-eval")
			value, _ := h.Flag("timeout")
			timeout, _ = seconds(value)
		}
	}
	asks := b.strictEval.chosen() || b.allTools.chosen() || b.evalTimeout > 0
	var kept []string
	for _, row := range []struct {
		flag string
		kept bool
	}{
		{"--skip-eval", !asks && b.skipEval.keep(skip || checks && !evals)},
		{"--strict-eval", !b.skipEval.on && b.strictEval.keep(strict)},
		{"--all-tools", !b.skipEval.on && b.allTools.keep(all)},
		{"--debug", b.debug.keep(debug)},
	} {
		if row.kept {
			kept = append(kept, row.flag)
		}
	}
	if !b.timeoutSaid && timeout > 0 && !b.skipEval.on {
		b.evalTimeout = timeout
		kept = append(kept, "--timeout "+strconv.Itoa(timeout))
	}
	if len(kept) > 0 {
		first, _, _ := strings.Cut(kept[0], " ")
		s.Notes = append(s.Notes, fmt.Sprintf("kept from the hooks that are there: %s (%s=false takes it back)", strings.Join(kept, ", "), first))
	}
}

func (b *brepl) entries(s *settings.Site) ([]settings.Entry, error) {
	b.remember(s)
	command := func(args string) string {
		if b.debug.on {
			args += " --debug"
		}
		return s.Word + " hook " + args
	}
	eval := "eval"
	if b.strictEval.on {
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
	if b.allTools.on {
		after.Matcher = "*"
	}
	if !b.skipEval.on {
		list = append(list, after)
	}
	if !b.skipEval.on && b.allTools.on {
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
// It stays as long as another file of the project has hooks of ours: their agents read it.
func (b *brepl) before(r *Report, home bool, others []other) error {
	if b.noSkill || home {
		return nil
	}
	for _, f := range others {
		if len(f.handlers) > 0 && filepath.Dir(f.Path) == filepath.Dir(settings.Local.PathIn(r.Root)) {
			r.Notes = append(r.Notes, "the agent's skill stays for the hooks in "+f.Path)
			return nil
		}
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
