package gauntlet

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"

	"github.com/hookkit/brepl/hookkit/settings"
)

func TestOwnEntry(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		handler    settings.Handler
		own, calls bool
	}{
		{settings.Handler{Command: "agent-gauntlet stop-hook"}, true, true},
		{settings.Handler{Command: "'/opt/my tools/agent-gauntlet' stop-hook --host codex"}, true, true},
		{settings.Handler{Command: "/bin/agent-gauntlet", Args: []string{"stop-hook"}}, true, true},
		{settings.Handler{Command: "go run ./cmd/agent-gauntlet stop-hook"}, true, true},
		{settings.Handler{Command: "go run -trimpath /src/cmd/agent-gauntlet/ stop-hook"}, true, true},
		{settings.Handler{Command: "go", Args: []string{"run", "./cmd/agent-gauntlet", "stop-hook"}}, true, true},
		{settings.Handler{Command: "go run ./cmd/agent-gauntlet run"}, false, false},
		{settings.Handler{Command: "go run ./cmd/other stop-hook"}, false, false},
		{settings.Handler{Command: "agent-gauntlet run"}, false, false},
		{settings.Handler{Command: "cd x && agent-gauntlet stop-hook || true"}, false, true},
		{settings.Handler{Command: "brepl hook stop"}, false, false},
	} {
		assert.Equal(t, ownEntry(row.handler), row.own, "%+v", row.handler)
		assert.Equal(t, callsUs(row.handler), row.calls, "%+v", row.handler)
	}
}

// run_interval_minutes counts from a run that spoke for the whole project.
func TestIntervalCountsWholeRuns(t *testing.T) {
	t.Parallel()
	dir := stateDir(fs.NewDir(t, "log").Path())
	h := &stopHook{began: time.Now()}
	c := &Config{LogDir: string(dir), StopHook: StopHookConfig{Interval: time.Hour}}
	state := &RunState{Runs: []RunRecord{{ID: "1", Began: h.began.Add(-2 * time.Hour), Status: StatusPassed}}}
	assert.NilError(t, dir.save(state))
	assert.Assert(t, !h.tooSoon(c))
	state.Runs = append(state.Runs, RunRecord{ID: "2", Began: h.began.Add(-time.Minute), Status: StatusFailed, Mode: Uncommitted, Partial: true})
	assert.NilError(t, dir.save(state))
	assert.Assert(t, !h.tooSoon(c), "it was about a part")
	state.Runs = append(state.Runs, RunRecord{ID: "3", Began: h.began.Add(-time.Minute), Status: StatusPassed})
	assert.NilError(t, dir.save(state))
	assert.Assert(t, h.tooSoon(c))
}
