package gauntlet

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/settings"
	"github.com/hookkit/brepl/hookkit/text"
)

// stopHookCommand answers the Stop event. It always ends with exit code 0: whether the stop is blocked stands on stdout.
func stopHookCommand() cli.Command {
	var host string
	return cli.Command{
		Name:  "stop-hook",
		Usage: "[--host HOST]",
		Short: "When the agent stops: run the gates, and block the stop if one fails",
		Long: `Reads a Stop event from stdin and runs the gates of what has changed. It always ends with 0.
Stdout is empty when the agent can stop; otherwise it holds one JSON object that says why it must go on.`,
		FailOpen: true,
		Options: func(flags *flag.FlagSet) {
			flags.StringVar(&host, "host", "", "the agent's `HOST`: claude, portable, codex, eca, gemini, copilot, cursor")
		},
		Run: func(ctx context.Context, p *cli.Program, args []string) int {
			if code, ok := noArguments(p, args); !ok {
				return code
			}
			options := []hookkit.Option{hookkit.Expect(hookkit.EventStop), hookkit.FailOpen()}
			if host != "" {
				named, err := hookkit.ParseHost(host)
				if err != nil {
					return p.UsageError(err)
				}
				options = append(options, hookkit.ForHost(named))
			}
			h := &stopHook{program: p, began: time.Now()}
			h.say("Starting gauntlet validation...")
			if p.Getenv("GAUNTLET_ACTIVE") != "" {
				h.status(StatusNested, "A gate's own agent, allowing stop")
				return exitOK
			}
			options = append(options, hookkit.Observe(h.observe))
			// Only the exit code is ours: whatever happened, it is 0.
			_ = hookkit.Run(ctx, p.HookIO(), hookkit.Handlers{Stop: h.stop}, options...)
			return exitOK
		},
	}
}

// stopHook is one stop.
type stopHook struct {
	program *cli.Program
	began   time.Time
	config  *Config // nil until it is read
}

// say writes a line to stderr, where the host's verbose mode shows it.
func (h *stopHook) say(format string, args ...any) {
	_, _ = fmt.Fprintf(h.program.Stderr, "[gauntlet] "+format+"\n", args...)
}

// status says the line that belongs to a status, and notes it in the debug log.
func (h *stopHook) status(status Status, format string, args ...any) {
	h.say(format, args...)
	if h.config != nil {
		debugNote(h.config, "stop-hook: "+string(status)+": "+fmt.Sprintf(format, args...))
	}
}

// observe says why an event was not answered: it could not be read.
func (h *stopHook) observe(o hookkit.Observation) {
	if o.Err != nil && o.Event == nil {
		h.status(StatusInvalidInput, "The event cannot be used, allowing stop")
	}
}

// stop decides one stop. The order of the questions is that of the specification.
func (h *stopHook) stop(ctx context.Context, e *hookkit.Stop) (hookkit.StopDecision, error) {
	allow := hookkit.AllowStop().Silently()
	p := h.program
	root, ok := h.find(e)
	if !ok {
		h.status(StatusNoConfig, "No gauntlet config found, allowing stop")
		return allow, nil
	}
	c, err := loadConfig(root, source{env: p.LookupEnv, home: settings.Home(p.Getenv)})
	if err != nil {
		h.status(StatusError, "Stop hook error: %s, allowing stop", strings.ReplaceAll(err.Error(), "\n", "; "))
		return allow.TellUser("agent-gauntlet: the gates did not run, the configuration cannot be used:\n" + err.Error()), nil
	}
	h.config = c
	switch pause, paused := gates().Paused(p.Getenv, session.IDOf(e.Base()), root, h.began); {
	case e.AgentID != "":
		h.status(StatusDisabled, "A sub-agent's stop, allowing stop")
		return allow, nil
	case !c.StopHook.Enabled:
		h.status(StatusDisabled, "Stop hook disabled, allowing stop")
		return allow, nil
	case e.StopHookActive && c.StopHook.OnActive == "allow":
		h.status(StatusStopHookActive, "Stop hook already active, allowing stop")
		return allow, nil
	case paused:
		h.status(StatusDisabled, "Stop hook paused, allowing stop")
		return allow.TellUser(gates().Line(pause, h.began)), nil
	case h.tooSoon(c):
		h.status(StatusIntervalNotElapsed, "Run interval not elapsed, allowing stop")
		return allow, nil
	}
	return h.decide(h.gates(ctx, c)), nil
}

// find finds the project: from the event's directory upwards, else from where the host was started.
func (h *stopHook) find(e *hookkit.Stop) (root string, ok bool) {
	for _, dir := range []string{e.CWD, h.program.Getenv("CLAUDE_PROJECT_DIR"), h.program.Dir} {
		if !filepath.IsAbs(dir) {
			continue
		}
		if root, ok = findRoot(dir); ok {
			return root, true
		}
	}
	return "", false
}

// tooSoon reports whether run_interval_minutes have not passed since the last run. What failed or did not end is looked at again at once.
func (h *stopHook) tooSoon(c *Config) bool {
	if c.StopHook.Interval <= 0 {
		return false
	}
	state := stateDir(c.LogDir).peek()
	runs := slices.DeleteFunc(state.Runs, func(r RunRecord) bool { return r.Partial }) // such a run says nothing about the whole
	if len(runs) == 0 || state.Anchor != nil {
		return false
	}
	since := h.began.Sub(runs[len(runs)-1].Began)
	return since >= 0 && since < c.StopHook.Interval // a clock that was set back makes no interval
}

// gates runs the gates within the time that the host gives us.
func (h *stopHook) gates(ctx context.Context, c *Config) *Summary {
	h.say("Running gauntlet gates...")
	p := h.program
	dir := p.Getenv("CLAUDE_PROJECT_DIR")
	if dir == "" {
		dir = c.Root
	}
	host := settings.HostTimeout(settings.Files(dir, settings.Home(p.Getenv)), string(hookkit.EventStop), callsUs)
	own := settings.OwnTime(host)
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	ctx, cancel := context.WithDeadline(ctx, h.began.Add(own))
	defer cancel()
	r := &runner{
		config: c, env: p.Env, reviewer: reviewer(c, p.Env),
		grace:        min(proc.DefaultGrace, (host-own)/2),
		deadlineText: fmt.Sprintf("the host gives the stop hook %g s in all", host.Seconds()),
	}
	scope := Scope{Mode: Local, Base: c.BaseBranch, FromGitHub: c.baseFromGitHub}
	return r.run(ctx, &Request{Command: "stop-hook", Scope: scope})
}

// decide turns a run into what the host is told.
func (h *stopHook) decide(s *Summary) hookkit.StopDecision {
	allow := hookkit.AllowStop().Silently()
	for _, note := range s.Notes {
		h.say("%s", note)
	}
	tell := ""
	switch s.Status {
	case StatusFailed:
		h.status(s.Status, "Gauntlet failed, blocking stop")
		if h.config.StopHook.Output == "literal" {
			return hookkit.EndWork(stopReason)
		}
		return hookkit.BlockStop(blockReason(s, h.config.Root)).InJSON(stopReason)
	case StatusPassed:
		h.status(s.Status, "Gauntlet passed!")
	case StatusPassedWithWarnings:
		h.status(s.Status, "Gauntlet passed!")
		tell = skippedLines(s)
	case StatusRetryLimitExceeded:
		h.status(s.Status, "Termination condition met, allowing stop")
		tell = "agent-gauntlet: the gates still fail after " + text.Count(s.Attempt, "attempt") + ", and the stop is let through: " + failedNames(s, h.config) +
			". `agent-gauntlet status` says more, `agent-gauntlet clean` starts anew."
	case StatusNoChanges, StatusNoApplicableGates:
		h.status(s.Status, "%s, allowing stop", s.Status.Title())
	case StatusLockConflict:
		h.status(s.Status, "Infrastructure error detected, allowing stop")
	default:
		h.status(s.Status, "Infrastructure error detected, allowing stop")
		tell = "agent-gauntlet: the gates could not all run, and the stop is let through: " + s.Why
	}
	if tell == "" {
		return allow
	}
	return allow.TellUser(tell)
}

// skippedLines names each violation that was skipped, to the user.
func skippedLines(s *Summary) string {
	lines := []string{"agent-gauntlet: passed, with violations that were skipped:"}
	for _, v := range s.skipped() {
		lines = append(lines, text.Brief(fmt.Sprintf("%s: %s:%d [%s] %s — skipped: %s", v.Job.Title(), text.Name(v.File), v.Line, v.Priority, v.Issue, v.Reason)))
	}
	return strings.Join(lines, "\n")
}

// failedNames lists the gates that fail: of this run, or where it ran none, as the state remembers them.
func failedNames(s *Summary, c *Config) string {
	var names []string
	for _, r := range s.Results {
		if fails(r) {
			names = append(names, r.Job.name())
		}
	}
	if len(names) == 0 {
		state := stateDir(c.LogDir).peek()
		for _, id := range sortedJobs(state.Jobs) {
			if state.Jobs[id].Outcome == Failed {
				names = append(names, strings.TrimSuffix(id, " ."))
			}
		}
	}
	return strings.Join(names, ", ")
}
