package stop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/session"
)

// configName stands for the configuration among the names of hooks whose failure was told; no hook has it.
const configName = ""

// stopRun is one stop: the hooks of a configuration, run and judged for one session.
type stopRun struct {
	config *hooksedn.Config
	runner *Runner
	store  *store
	limits limits
	agent  string                           // the sub-agent's id; "" for the main agent
	note   func(format string, args ...any) // for the debug log
}

// run executes the hooks in order, until one of them ends the run, and counts their failures.
// ctx is our own deadline.
func (r *stopRun) run(ctx context.Context) []Step {
	remembered := r.store.load()
	var steps []Step
	passed := map[string]string{} // fingerprints of :when-changed hooks that passed
	for _, h := range r.config.Hooks {
		began := time.Now()
		step := r.step(ctx, h, remembered, passed)
		r.note("hook %q: %s, so %s; attempt %d, %v; %s", h.Name, step.Kind, step.Action, step.Attempt, time.Since(began).Round(100*time.Microsecond), cmp.Or(step.Why, step.Ran))
		steps = append(steps, step)
		if step.Action.Ends() {
			break
		}
	}
	r.settle(ctx, steps, remembered, passed)
	return steps
}

// step runs one hook and judges it.
func (r *stopRun) step(ctx context.Context, h *hooksedn.Hook, remembered *memory, passed map[string]string) Step {
	if err := ctx.Err(); err != nil {
		why := r.limits.noTime()
		if errors.Is(err, context.Canceled) {
			why = interrupted
		}
		return decide(Outcome{Hook: h, Kind: NotRun, Why: why}, 0)
	}
	seen := ""
	if len(h.WhenChanged) > 0 {
		if files := snapshot(ctx, r.config.Dir, r.runner.Env, h.WhenChanged); files != "" {
			seen = files + definition(h)
		}
		if seen != "" && remembered.passed[h.Name] == seen {
			return decide(Outcome{Hook: h, Kind: Unchanged}, 0)
		}
	}
	before := ""
	if h.Retry && remembered.failed[h.Name].runs > 0 {
		before = snapshot(ctx, r.config.Dir, r.runner.Env, nil)
	}
	o := r.runner.Run(ctx, h)
	switch {
	case o.Kind == Passed || o.Kind == Empty || ctx.Err() == nil:
	case errors.Is(ctx.Err(), context.Canceled): // somebody ended us: that says nothing about the hook
		o.Kind, o.Why = NotRun, interrupted
	default:
		o.Kind, o.Why = Failed, r.limits.cutOff()
	}
	if len(o.log) > 0 {
		o.Log = r.store.keep("hook-"+session.SafeName(h.Name)+".log", o.log)
	}
	if o.Kind == Passed && seen != "" {
		passed[h.Name] = seen
	}
	if o.Kind == Failed && h.Retry {
		return r.countFailure(ctx, o, before)
	}
	return decide(o, 0)
}

// toldKey is under what it is noted that the agent was told of a hook: each sub-agent reads for itself.
func (r *stopRun) toldKey(name string) string {
	if r.agent == "" {
		return name
	}
	return r.agent + "/" + name
}

// emptyKey is under what it is noted that the agent was told that a hook ran no test: a failure of it is news all the same.
func (r *stopRun) emptyKey(name string) string { return r.toldKey(name) + " ran no test" }

// wasInterrupted reports whether somebody ended this stop. Then nobody reads the answer.
func wasInterrupted(steps []Step) bool {
	return len(steps) > 0 && steps[len(steps)-1].Why == interrupted
}

const interrupted = "it was interrupted"

// definition tells two versions of a hook apart: a changed one must run again.
func definition(h *hooksedn.Hook) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(h.Source)) // a hash takes everything
	return fmt.Sprintf("-%016x", sum.Sum64())
}

// countFailure judges a failed retrying hook by the count in the state file, which it raises at once:
// other stops of this session may run at the same moment.
func (r *stopRun) countFailure(ctx context.Context, o Outcome, before string) Step {
	after := snapshot(context.WithoutCancel(ctx), r.config.Dir, r.runner.Env, nil)
	var step Step
	err := r.store.update(ctx, func(m *memory) {
		step = decide(o, m.counts[o.Hook.Name])
		if step.Action == Retry {
			m.counts[o.Hook.Name] = step.Attempt
		}
		step.Stuck = m.fail(o.Hook.Name, fingerprint(o.Why+"\n"+o.Output), before, after)
	})
	if err == nil {
		return step
	}
	r.note("the failure of %q cannot be counted: %v", o.Hook.Name, err)
	step = decide(o, 0)
	if o.Hook.MaxRetries > 0 {
		// A block that cannot be counted would have no end.
		step.Action, step.Uncounted = Report, err
	}
	return step
}

// settle writes what the steps changed beside failures: counts of hooks that passed,
// fingerprints for :when-changed. A stop that changes nothing writes nothing.
func (r *stopRun) settle(ctx context.Context, steps []Step, remembered *memory, passed map[string]string) {
	clean := allPassed(steps)
	dirty := len(passed) > 0 || clean && r.store.counted()
	for _, s := range steps {
		name := s.Hook.Name
		if s.Kind == Passed && (remembered.knows(name) || remembered.told[r.toldKey(name)] || remembered.told[r.emptyKey(name)]) {
			dirty = true
		}
	}
	if !dirty {
		return
	}
	err := r.store.update(ctx, func(m *memory) {
		for _, s := range steps {
			if s.Kind == Passed {
				m.pass(s.Hook.Name)
				delete(m.told, r.toldKey(s.Hook.Name))
				delete(m.told, r.emptyKey(s.Hook.Name))
			}
		}
		maps.Copy(m.passed, passed)
		if clean {
			clear(m.counts)
		}
		// The configuration was readable, so a later fault in it is news.
		delete(m.told, configName)
	})
	if err != nil {
		r.store.warn("the counts of the hooks that passed could not be reset: " + err.Error())
	}
}

// verdict turns the steps into what the host is sent.
func (r *stopRun) verdict(ctx context.Context, steps []Step) hookkit.StopDecision {
	r.tellSkips(ctx, steps)
	line := userLine(steps)
	switch Exit(steps) {
	case 0:
		return hookkit.AllowStop().TellUser(line)
	case 2:
		r.tellOnce(ctx, steps) // all of it stands in the text that blocks
		return hookkit.BlockStop(agentText(steps, pauseHint)).TellUser(line)
	}
	decision := hookkit.ReportStop(agentText(steps, "")).TellUser(line)
	if r.config.InformUser {
		return decision
	}
	news := r.tellOnce(ctx, steps)
	if len(news) == 0 {
		return decision
	}
	closing := reportHint
	if news[len(news)-1].Action == Pause {
		closing = "" // it was just asked to pause
	}
	return decision.TellAgent(unnamed + agentText(news, closing))
}

// tellSkips lets the user know, once a session, of each hook that is skipped because there is no server: a gate that is not there looks like
// one that is open. The agent hears nothing of it.
func (r *stopRun) tellSkips(ctx context.Context, steps []Step) {
	key := func(s Step) string { return s.Hook.Name + " was skipped" }
	untold := func(m *memory) bool {
		return slices.ContainsFunc(steps, func(s Step) bool { return s.skipped() && !m.told[key(s)] })
	}
	if !untold(r.store.load()) {
		return
	}
	err := r.store.update(ctx, func(m *memory) {
		for i := range steps {
			if s := &steps[i]; s.skipped() && !m.told[key(*s)] {
				m.told[key(*s)] = true
				s.Action = TellUser
			}
		}
	})
	if err != nil {
		r.store.warn("that hooks are skipped cannot be noted, so nobody is told: " + err.Error())
	}
}

// tellOnce returns the failures among the steps that the agent has not read of since those hooks last passed, and notes
// that it has now. Each telling costs the agent a turn, so what cannot be noted is not told. A hook that was not run
// says nothing about itself: it must not use up the telling of its next failure.
func (r *stopRun) tellOnce(ctx context.Context, steps []Step) []Step {
	reported := slices.Clone(steps)
	reported = slices.DeleteFunc(reported, func(s Step) bool { return s.Action != Report && s.Action != Pause || s.Kind == NotRun })
	if len(reported) == 0 || wasInterrupted(steps) {
		return nil
	}
	var news []Step
	err := r.store.update(ctx, func(m *memory) {
		for _, s := range reported {
			key := r.toldKey(s.Hook.Name)
			if s.Kind == Empty {
				key = r.emptyKey(s.Hook.Name)
			}
			if !m.told[key] {
				m.told[key] = true
				news = append(news, s)
			}
		}
	})
	if err != nil {
		r.store.warn("what the agent was told cannot be noted, so only the user is told: " + err.Error())
		return nil
	}
	return news
}
