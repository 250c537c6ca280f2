//go:build unix

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

// agentScenarios are what a title means for an agent over several stops: what it is told and shown, and what it does next. What one stop
// answers stands in scenarios, and world.stop looks at what the client makes of it.
var agentScenarios = slices.Concat(agentStopScenarios, agentRetryScenarios, agentInstallScenarios)

func TestAgentScenarios(t *testing.T) {
	brepl(t)
	t.Parallel()
	for _, s := range agentScenarios {
		t.Run(s.seed+"/"+s.requirement+"/"+s.title, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
}

// TestAgentScenariosAreTitles fails on a part without a title, and on one that stands twice.
func TestAgentScenariosAreTitles(t *testing.T) {
	var got, all []string
	for _, s := range scenarios {
		all = append(all, scenarioKey(s.seed, s.requirement, s.title))
	}
	for _, s := range agentScenarios {
		got = append(got, scenarioKey(s.seed, s.requirement, s.title))
	}
	for _, key := range got {
		if count(all, key) != 1 || count(got, key) != 1 {
			t.Errorf("the agent part %s stands %d times and has %d scenarios, want 1 of each", key, count(got, key), count(all, key))
		}
	}
}

// agent is the simulated agent in a world.
type agent struct {
	*world
	*fakes.Claude
}

// newAgent makes a project with these stop hooks and the settings that `brepl hook install` writes, and an agent in it
// that finds brepl on its PATH. With "" there is no hooks.edn.
func newAgent(t *testing.T, hooksEDN string) *agent {
	t.Helper()
	w := newProgramWorld(t)
	w.install()
	if hooksEDN == "" {
		w.project.Remove(".brepl")
	} else {
		w.project.Write(hooksFile, hooksEDN)
	}
	return w.agent()
}

func (w *world) install() {
	w.t.Helper()
	r := w.byHand("install")
	assert.Equal(w.t, r.exit, 0, r.stderr)
}

// agent starts a session of this world. It sees the environment and the session id as the world has them now.
func (w *world) agent(options ...fakes.ClaudeOption) *agent {
	w.t.Helper()
	own := *w // keeps its session when the world goes on to another
	options = append([]fakes.ClaudeOption{fakes.ClaudeEnv(w.environment()), fakes.ClaudeSession(w.session)}, options...)
	return &agent{&own, fakes.NewClaude(w.t, w.dir, options...)}
}

// stopCommand is our handler at Stop as the settings hold it with brepl on the PATH.
const stopCommand = "brepl hook stop"

// reaction is what came of a stop.
type reaction struct {
	Active  bool // stop_hook_active, as the hook read it
	Exit    int
	Blocked bool
	GoesOn  bool     // the agent gets another turn
	Told    []string // what the agent read, text by text: "as: text"
	Shown   []string // what the user saw, in the same way
}

// lets is a stop that passes without a word.
func lets() reaction { return reaction{} }

// letsTelling is a stop that passes, and the user is shown a line.
func letsTelling(user string) reaction { return reaction{Shown: shownLine(user)} }

// refuses is a stop that is blocked: the agent reads the text once, the user is shown a line.
func refuses(user, text string) reaction {
	return reaction{
		Exit: 2, Blocked: true, GoesOn: true,
		Told:  []string{"user: Stop hook feedback:\n[" + stopCommand + "]: " + text},
		Shown: shownLine(user),
	}
}

// refusesAt is refuses of a retrying hook with the usual limit that exits with 1 and prints nothing.
func refusesAt(name string, attempt int, more ...string) reaction {
	return refuses(fmt.Sprintf("brepl: '%s' failed, attempt %d/10", name, attempt), blocked(append([]string{
		"Hook '" + name + "' failed: exit 1",
		fmt.Sprintf("This stop is blocked: attempt %d of 10. Fix the cause, then stop again.", attempt),
	}, more...)...))
}

// informs is a stop that is not blocked: the agent gets one turn to read the text, the user is shown a line.
func informs(user, text string) reaction {
	return reaction{Exit: 1, GoesOn: true, Told: []string{"reminder: Stop hook additional context: brepl: " + text}, Shown: shownLine(user)}
}

// informsUser is a stop that passes although something failed: the agent knows already, the user is shown a line.
func informsUser(user string) reaction { return reaction{Exit: 1, Shown: shownLine(user)} }

func shownLine(user string) []string { return []string{"message: Stop says: " + user} }

// again is the same reaction at a stop after one that made the agent go on.
func (r reaction) again() reaction {
	r.Active = true
	return r
}

// overridden is the same reaction after the client's cap: the agent is told nothing, and stops.
func (r reaction) overridden(blocks int) reaction {
	r.Blocked, r.GoesOn, r.Told = false, false, nil
	r.Shown = append(slices.Clone(r.Shown), fmt.Sprintf("notice: A hook blocked the turn from ending %d consecutive times—overriding and ending turn. "+
		"For Stop/SubagentStop hooks, check stop_hook_active in the input and return success while it's true. "+
		"Set CLAUDE_CODE_STOP_HOOK_BLOCK_CAP to raise this limit.", blocks))
	return r
}

// stops is the agent stopping: exactly one hook runs, ours, and what comes of it is compared as a whole.
func (a *agent) stops(want reaction) *fakes.Turn {
	a.t.Helper()
	turn := a.Stop("Done.")
	event := turn.Event("Stop")
	assert.Equal(a.t, len(event.Hooks), 1, a.Story())
	hook := event.Hooks[0]
	// What we send is never a fault of the protocol.
	assert.Equal(a.t, hook.Reaction.Fault, "", "%s", a.Story())
	assert.Assert(a.t, !turn.Ended, a.Story())
	got := reaction{
		Active: strings.Contains(event.Input, `"stop_hook_active":true`), Exit: hook.Exit, Blocked: turn.Blocked, GoesOn: turn.GoesOn,
		Told: a.texts(turn.Told), Shown: a.texts(turn.Shown),
	}
	assert.DeepEqual(a.t, got, want)
	return turn
}

func (a *agent) texts(list []claudecode.Text) []string {
	var texts []string
	for _, text := range list {
		texts = append(texts, text.As+": "+normalize(text.Text, a.names(), measured()))
	}
	return texts
}

// commands lists the commands of the hooks that ran in a turn at an event, sorted: they run at the same time.
func commands(turn *fakes.Turn, event string) []string {
	var list []string
	for _, h := range turn.Hooks {
		if h.Event == event {
			list = append(list, h.Command)
		}
	}
	slices.Sort(list)
	return list
}

// handlers lists every handler that the client reads from the local settings, and demands that it reads all of them.
func (w *world) handlers() []string {
	w.t.Helper()
	hooks, dropped := claudecode.LoadHooks([]claudecode.Source{{Scope: "local", Path: localSettings, Data: []byte(w.project.Read(localSettings))}})
	assert.Check(w.t, cmp.Len(dropped, 0))
	var list []string
	for _, h := range hooks.All() {
		list = append(list, h.Event+": "+h.Command)
	}
	slices.Sort(list)
	return list
}
