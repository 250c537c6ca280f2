package stop

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/session"
)

// hook is `brepl hook stop`: the handler of the Stop event.
type hook struct {
	program *cli.Program
	repl    nrepl.Lookup // as the flags say; the directory follows the project
	began   time.Time
	warned  map[string]bool
}

// occasion is what the two stop events have in common.
type occasion struct {
	event      hookkit.EventName
	base       *hookkit.Common
	background []hookkit.BackgroundTask
}

func (k *hook) stop(ctx context.Context, e *hookkit.Stop) (hookkit.StopDecision, error) {
	return k.answer(ctx, occasion{e.Name(), &e.Common, e.BackgroundTasks})
}

func (k *hook) subagentStop(ctx context.Context, e *hookkit.SubagentStop) (hookkit.StopDecision, error) {
	return k.answer(ctx, occasion{e.Name(), &e.Common, e.BackgroundTasks})
}

func (k *hook) answer(ctx context.Context, o occasion) (hookkit.StopDecision, error) {
	allow := hookkit.AllowStop()
	dir, ok := Locate(k.program.Dir, k.program.Getenv("CLAUDE_PROJECT_DIR"))
	if !ok {
		return allow, nil
	}
	config, faulty := Load(dir)
	subagent := o.base.AgentID != "" || o.event == hookkit.EventSubagentStop
	if subagent && (config == nil || !config.Subagents) {
		return allow, nil
	}
	memory, err := k.open(o.base.SessionID, dir)
	if err != nil {
		return allow, err
	}
	if faulty != nil {
		return k.badConfig(ctx, memory, faulty), nil
	}
	if len(config.Hooks) == 0 {
		return allow, nil
	}
	if until, paused := k.paused(memory, dir); paused {
		return allow.TellUser(pauseLine(until)), nil
	}
	if n := running(o.background); n > 0 && config.SkipWhileBackground {
		return allow.TellUser(fmt.Sprintf("brepl: %s running, so the stop hooks wait for the stop after that", count(n, "background task"))), nil
	}
	return k.run(ctx, o, config, memory), nil
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

// open finds the state of the session. Somebody at a terminal has none; an event without
// a session id shares one state with others like it in the same project.
func (k *hook) open(id, dir string) (*store, error) {
	k.warned = map[string]bool{}
	s := &store{env: k.program.Getenv, now: k.began, warn: k.warn}
	switch id {
	case hookkit.SessionManual:
		return s, nil
	case "", hookkit.SessionUnknown:
		id = session.ProjectID(hookkit.SessionUnknown, dir)
	}
	opened, err := session.Open(k.program.Getenv, id)
	s.session = opened
	return s, err
}

// warn writes a line to stderr, once.
func (k *hook) warn(line string) {
	if !k.warned[line] {
		k.warned[line] = true
		_, _ = fmt.Fprintln(k.program.Stderr, "brepl: "+line)
	}
}

func (k *hook) paused(s *store, dir string) (until time.Time, paused bool) {
	if s.session != nil {
		if until, paused = pauseOf(s.session, s.now); paused {
			return until, true
		}
	}
	project, err := projectPause(k.program.Getenv, dir)
	if err != nil {
		return until, false
	}
	return pauseOf(project, s.now)
}

// badConfig reports a configuration that cannot be used: exit 1, told to the agent once.
func (k *hook) badConfig(ctx context.Context, s *store, err error) hookkit.StopDecision {
	first, _, _ := strings.Cut(err.Error(), "\n")
	text := cutAtEnd(fmt.Sprintf("The stop hooks cannot be run: %v\nNo hook was run. `brepl hook check` shows this again once it is mended.", err), AgentLimit)
	decision := hookkit.ReportStop(text).TellUser("brepl: the stop hooks cannot be run: " + first)
	told := true
	updateErr := s.update(ctx, func(m *memory) {
		told = m.told[configName]
		m.told[configName] = true
	})
	if updateErr == nil && !told {
		return decision.TellAgent(text)
	}
	return decision
}

// run runs the hooks within the time that the host gives us.
func (k *hook) run(ctx context.Context, o occasion, config *Config, s *store) hookkit.StopDecision {
	allowed := hostLimits(o.event, k.hostDir(config.Dir), k.program.Getenv("HOME"))
	ctx, stop := cli.Interruptible(ctx) // the host's TERM must reach what we started
	defer stop()
	ctx, cancel := context.WithDeadline(ctx, k.began.Add(allowed.own))
	defer cancel()
	lookup := k.repl
	lookup.Dir = config.Dir
	env := append(slices.Clip(k.program.Env), "BREPL_SESSION_ID="+o.base.SessionID)
	if path := k.eventFile(config, s, o.base.Bytes()); path != "" {
		env = append(env, "BREPL_EVENT_FILE="+path)
		defer func() { _ = os.Remove(path) }() // swept with the session if it stays
	}
	r := &stopRun{
		config: config,
		runner: &Runner{Dir: config.Dir, Env: env, Evaluator: liveREPL{lookup}, Grace: allowed.grace()},
		store:  s,
		limits: allowed,
	}
	steps := r.run(ctx)
	return r.verdict(ctx, steps)
}

func (k *hook) hostDir(project string) string {
	if dir := k.program.Getenv("CLAUDE_PROJECT_DIR"); dir != "" {
		return dir
	}
	return project
}

// eventFile writes the event where commands can read it. Its name is this process's own:
// several stops of one session may run at the same moment.
func (k *hook) eventFile(config *Config, s *store, event []byte) string {
	if len(event) == 0 {
		return ""
	}
	for _, h := range config.Hooks {
		if h.Type == Bash {
			return s.keep("event-"+strconv.Itoa(os.Getpid())+".json", event)
		}
	}
	return ""
}

// end is the handler of SessionEnd: it removes what the session left. The host gives it little time.
func end(p *cli.Program, id string, now time.Time) error {
	dir, _ := Locate(p.Dir, p.Getenv("CLAUDE_PROJECT_DIR"))
	if id == "" || id == hookkit.SessionUnknown {
		id = session.ProjectID(hookkit.SessionUnknown, dir)
	}
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
	err = s.Remove()
	if project, openErr := projectPause(p.Getenv, dir); openErr == nil {
		if until, paused := pauseOf(project, now); paused && until.IsZero() {
			_, _ = endPause(project) // a pause that stays is said at the next stop
		}
	}
	session.Sweep(p.Getenv, now, session.SweepAge)
	return err
}
