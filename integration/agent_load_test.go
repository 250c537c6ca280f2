//go:build unix

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// TestAgentFourHundredCallsAlone pins "a session of 400 tool calls with our hooks on is simulated in under 15 s", as what so many processes
// take by themselves: 15 s are twice as much where a process that does nothing takes 4 ms.
func TestAgentFourHundredCallsAlone(t *testing.T) {
	fullRun(t)
	a := newAgent(t, hooksEDN(bash("tests", `test -e src/n99.clj`, retry)))
	a.withREPL(fakes.NREPLRelaxed())
	a.Start("startup")
	ran := map[string]int{}
	failed := 0
	play := func(turn *fakes.Turn) {
		for _, h := range turn.Hooks {
			ran[h.Event+": "+h.Command]++
			if h.Exit != 0 || h.Stdout+h.Stderr != "" {
				failed++
			}
		}
		if !turn.ToolRan || turn.ToolFailed || turn.Blocked {
			failed++
		}
	}
	var took, nothing time.Duration
	for i := range 100 {
		nothing += a.nothing() + a.nothing()
		began := time.Now()
		file := fmt.Sprintf("src/n%d.clj", i)
		play(a.Write(file, fmt.Sprintf("(ns n%d)\n(def x 1)\n", i)))
		play(a.Bash("true"))
		play(a.Edit(file, "(def x 1)", "(def x 2)"))
		play(a.Bash("true"))
		took += time.Since(began)
	}
	t.Logf("400 tool calls (100 writes, 100 edits, 200 commands): %v, 200 processes that do nothing: %v", took, nothing)
	assert.Equal(t, failed, 0, "hooks or tools")
	assert.DeepEqual(t, ran, map[string]int{"PreToolUse: brepl hook validate": 200, "PostToolUse: brepl hook eval": 200})
	a.stops(lets())
	assert.Assert(t, took < 15*nothing, "400 tool calls took %v, 200 processes %v", took, nothing)
}

// TestAgentsSideBySide pins "20 simulators in parallel tests do not disturb each other": they share a home, a folder for
// state and a machine, and in pairs a project.
func TestAgentsSideBySide(t *testing.T) {
	fullRun(t)
	shared := newProgramWorld(t)
	worlds := make([]*world, 20)
	for i := range worlds {
		if i%2 == 1 {
			own := *worlds[i-1]
			worlds[i] = &own
		} else {
			// Each says who it is, and passes when its own session has written its third file.
			worlds[i] = newProgramWorld(t, fakes.WithHooks(hooksEDN(bash("tests",
				`echo "in $(pwd) for $BREPL_SESSION_ID"; test -e "src/$BREPL_SESSION_ID-3.clj"`, retry))))
			worlds[i].install()
		}
		worlds[i].home, worlds[i].state = shared.home, shared.state
		worlds[i].env = append(slices.Clip(worlds[i].env), "BREPL_STATE_DIR="+shared.state)
		worlds[i].session = fmt.Sprintf("%s-side-%d", shared.session, i)
	}
	t.Run("all", func(t *testing.T) {
		for i, w := range worlds {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				own := *w
				own.t = t
				a := own.agent()
				said := fmt.Sprintf("| in %s for %s", "$PROJECT", "$SESSION")
				for n := 1; n <= 3; n++ {
					want := refusesAt("tests", n, outputOf("tests"), said)
					want.Active = n > 1
					a.stops(want)
					assert.Equal(t, a.counts(), fmt.Sprintf("{\"tests\" %d}\n", n))
					a.Write(fmt.Sprintf("src/%s-%d.clj", a.session, n), "(ns a)\n")
				}
				a.stops(lets().again())
				end := a.Exit("other")
				assert.Equal(t, len(end.Hooks), 1)
				assert.Equal(t, end.ShownText(), "", a.Story())
				assert.Equal(t, strings.Count(a.Story(), "=> blocked"), 3, a.Story())
				assert.Equal(t, a.counts(), "absent")
				assert.Equal(t, content(t, a.private()), "absent")
			})
		}
	})
}
