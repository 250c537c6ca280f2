package stop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/reload"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/text"
)

// stopHook is `brepl hook stop`: the handler of the Stop event.
type stopHook struct {
	program *cli.Program
	repl    replFlags
	began   time.Time
	note    func(format string, args ...any) // for the debug log
	warned  map[string]bool
	live    liveREPL
}

// occasion is what the two stop events have in common.
type occasion struct {
	event      hookkit.EventName
	base       *hookkit.Common
	background []hookkit.BackgroundTask
}

func (k *stopHook) stop(ctx context.Context, e *hookkit.Stop) (hookkit.StopDecision, error) {
	return k.answer(ctx, occasion{e.Name(), &e.Common, e.BackgroundTasks})
}

func (k *stopHook) subagentStop(ctx context.Context, e *hookkit.SubagentStop) (hookkit.StopDecision, error) {
	return k.answer(ctx, occasion{e.Name(), &e.Common, e.BackgroundTasks})
}

func (k *stopHook) answer(ctx context.Context, o occasion) (hookkit.StopDecision, error) {
	allow := hookkit.AllowStop()
	dir, ok := hooksedn.Locate(k.program.Dir, k.program.Getenv("CLAUDE_PROJECT_DIR"))
	if !ok {
		return allow, nil
	}
	config, faulty := hooksedn.Load(dir)
	subagent := o.base.AgentID != "" || o.event == hookkit.EventSubagentStop
	if subagent && (config == nil || !config.Subagents) {
		return allow, nil
	}
	if faulty == nil && len(config.Hooks) == 0 {
		return allow, nil
	}
	state, err := k.open(o.base)
	if err != nil {
		return allow, err
	}
	if pause, paused := stopHooks().Paused(k.program.Getenv, state.id, dir, k.began); paused {
		return allow.TellUser(stopHooks().Line(pause, k.began)), nil
	}
	if faulty != nil {
		return k.badConfig(ctx, state, faulty), nil
	}
	if n := running(o.background); n > 0 && config.SkipWhileBackground {
		return allow.TellUser(fmt.Sprintf("brepl: %s running, so the stop hooks wait for the stop after that", text.Count(n, "background task"))), nil
	}
	return k.run(ctx, o, config, state), nil
}

// running counts the background tasks that will make the agent stop once more.
func running(tasks []hookkit.BackgroundTask) int {
	n := 0
	for _, t := range tasks {
		if t.Status == "running" {
			n++
		}
	}
	return n
}

// open finds the state of the session. Somebody at a terminal has none.
func (k *stopHook) open(event *hookkit.Common) (*store, error) {
	k.warned = map[string]bool{}
	s := &store{env: k.program.Getenv, now: k.began, warn: k.warn, id: session.IDOf(event)}
	if event.Bytes() == nil && event.SessionID == hookkit.SessionManual {
		return s, nil
	}
	opened, err := session.Open(k.program.Getenv, s.id)
	s.session = opened
	return s, err
}

// warn writes a line to stderr, once.
func (k *stopHook) warn(line string) {
	if !k.warned[line] {
		k.warned[line] = true
		_, _ = fmt.Fprintln(k.program.Stderr, "brepl: "+line)
	}
}

// badConfig reports a configuration that cannot be used: exit 1, told to the agent once.
func (k *stopHook) badConfig(ctx context.Context, s *store, err error) hookkit.StopDecision {
	first, _, _ := strings.Cut(err.Error(), "\n")
	said := text.Defuse(text.CutUTF16(fmt.Sprintf("The stop hooks cannot be run: %v\nNo hook was run. Mend the file; `brepl hook check` shows what is left.", err), AgentLimit))
	decision := hookkit.ReportStop(said).TellUser("brepl: the stop hooks cannot be run: " + text.Defuse(first))
	told := true
	updateErr := s.update(ctx, func(m *memory) {
		told = m.told[configName]
		m.told[configName] = true
	})
	if updateErr == nil && !told {
		return decision.TellAgent(unnamed + said)
	}
	return decision
}

// run runs the hooks within the time that the host gives us.
func (k *stopHook) run(ctx context.Context, o occasion, config *hooksedn.Config, s *store) hookkit.StopDecision {
	allowed := hostLimits(o.event, k.program, config.Dir)
	ctx, ready, stop := cli.InterruptibleSoon(ctx) // the host's TERM must reach what we started
	defer stop()
	ctx, cancel := context.WithDeadline(ctx, k.began.Add(allowed.own))
	defer cancel()
	s.end = k.began.Add(allowed.host)
	eventFile := k.eventFile(config, s, o.base.Bytes())
	if eventFile != "" {
		defer func() { _ = os.Remove(eventFile) }() // swept with the session if it stays
	}
	lookup := k.repl.lookup(k.program, config.Dir)
	k.live = liveREPL{lookup: lookup, warn: k.warn, grace: allowed.grace(), files: reload.In(config, k.program.Env, k.program.Getenv)}
	r := &stopRun{
		config: config,
		runner: &Runner{
			Dir: config.Dir, Env: hookEnv(k.program.Env, s.id, eventFile),
			Evaluator: &k.live, Session: k.live.session, Grace: allowed.grace(),
		},
		store:  s,
		limits: allowed,
		agent:  o.base.AgentID,
		note:   k.note,
	}
	<-ready
	steps := r.run(ctx)
	return r.verdict(ctx, steps)
}

// hookEnv is the host's environment with what brepl tells a command. What an outer brepl said to us is not passed on.
func hookEnv(env []string, id, eventFile string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		return strings.HasPrefix(entry, "BREPL_SESSION_ID=") || strings.HasPrefix(entry, "BREPL_EVENT_FILE=")
	})
	env = append(env, "BREPL_SESSION_ID="+strings.ReplaceAll(id, "\x00", ""))
	if eventFile != "" {
		env = append(env, "BREPL_EVENT_FILE="+eventFile)
	}
	return env
}

// eventFile writes the event where commands can read it. Its name is this process's own:
// several stops of one session may run at the same moment.
func (k *stopHook) eventFile(config *hooksedn.Config, s *store, event []byte) string {
	if len(event) == 0 {
		return ""
	}
	for _, h := range config.Hooks {
		if h.Type == hooksedn.Bash {
			return s.scratch("event-"+strconv.Itoa(os.Getpid())+".json", event)
		}
	}
	return ""
}

// end is the handler of SessionEnd: it removes what the session with that id of [session.IDOf] left. The host gives it little time.
func end(p *cli.Program, id string, now time.Time) error {
	s, err := session.Open(p.Getenv, id)
	if err != nil {
		return err
	}
	if _, findErr := s.Find(); findErr == nil {
		// A stop of this session may still be counting. The host gives us little time, so the wait is short.
		if unlock, lockErr := s.Lock(context.Background(), 50*time.Millisecond); lockErr == nil {
			defer unlock()
		}
	}
	err = errors.Join(s.Remove(), session.RemoveBackups(p.Getenv, id))
	dir, _ := hooksedn.Locate(p.Dir, p.Getenv("CLAUDE_PROJECT_DIR"))
	stopHooks().EndWithSession(p.Getenv, dir, now)
	session.Sweep(p.Getenv, now, session.SweepAge)
	return err
}
