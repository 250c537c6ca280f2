package gauntlet

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

func jobNamed(name string) *Job { return &Job{Gate: &Gate{Kind: Check, Name: name}, Entry: "."} }

func TestDue(t *testing.T) {
	t.Parallel()
	list := []*Job{jobNamed("failed"), jobNamed("same"), jobNamed("changed"), jobNamed("new"), jobNamed("could not")}
	inputs := func(j *Job) string { return "now " + j.Gate.Name }
	names := func(jobs []*Job) string {
		var list []string
		for _, j := range jobs {
			list = append(list, j.Gate.Name)
		}
		return strings.Join(list, ",")
	}
	state := &RunState{Jobs: map[string]JobState{
		"check same .": {Outcome: Passed, Inputs: "now same"}, "check changed .": {Outcome: Passed, Inputs: "before"},
		"check could not .": {Outcome: CannotRun},
	}}
	r := due(list, state, inputs)
	assert.Equal(t, names(r.first)+"|"+names(r.later)+"|"+names(r.still), "failed,same,changed,new,could not||", "nothing has failed: everything runs")
	state.Jobs["check failed ."] = JobState{Outcome: Failed}
	r = due(list, state, inputs)
	assert.Equal(t, names(r.first)+"|"+names(r.later)+"|"+names(r.still), "failed,could not|changed,new|same")
}

func TestInputs(t *testing.T) {
	t.Parallel()
	base := func() *Job {
		return &Job{Gate: &Gate{definition: "d"}, Entry: "e", Files: []Change{{Path: "a", mode: "1", object: "o"}}}
	}
	same := inputsOf("from")(base())
	assert.Equal(t, inputsOf("from")(base()), same)
	for title, change := range map[string]func(*Job){
		"the gate": func(j *Job) { j.Gate.definition = "x" }, "a name": func(j *Job) { j.Files[0].Path = "b" }, "a mode": func(j *Job) { j.Files[0].mode = "2" },
		"content": func(j *Job) { j.Files[0].object = "p" }, "a file more": func(j *Job) { j.Files = append(j.Files, Change{Path: "b"}) },
		"no file": func(j *Job) { j.Files = nil },
	} {
		j := base()
		change(j)
		assert.Assert(t, inputsOf("from")(j) != same, title)
	}
	assert.Assert(t, inputsOf("elsewhere")(base()) != same)
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	result := func(o Outcome, policy Policy) Result {
		return Result{Job: &Job{Gate: &Gate{CannotRun: policy}}, Outcome: o}
	}
	skipped := result(Passed, CannotRunAllows)
	skipped.Violations = []Violation{{Status: ViolationSkipped}}
	for _, row := range []struct {
		want    Status
		results []Result
	}{
		{StatusPassed, []Result{result(Passed, CannotRunAllows), result(StillPassed, CannotRunAllows)}},
		{StatusPassedWithWarnings, []Result{skipped, result(Passed, CannotRunAllows)}},
		{StatusFailed, []Result{skipped, result(CannotRun, CannotRunAllows), result(Failed, CannotRunAllows)}},
		{StatusFailed, []Result{result(CannotRun, CannotRunBlocks)}},
		{StatusCannotRun, []Result{result(Passed, CannotRunAllows), result(CannotRun, CannotRunAllows), skipped}},
		{StatusCannotRun, []Result{skipped, result(NotRun, CannotRunAllows)}},
	} {
		assert.Equal(t, verdict(row.results), row.want)
	}
}

func TestStatusesBlockOnlyWhenFailed(t *testing.T) {
	t.Parallel()
	exits := map[Status]int{
		StatusPassed: 0, StatusPassedWithWarnings: 0, StatusNoApplicableGates: 0, StatusNoChanges: 0, StatusFailed: 1, StatusRetryLimitExceeded: 1,
		StatusLockConflict: 75, StatusCannotRun: 75, StatusError: 1, StatusNoConfig: 1,
	}
	for status, exit := range exits {
		assert.Equal(t, status.Exit(), exit, "%s", status)
		assert.Equal(t, status.Blocks(), status == StatusFailed, "%s", status)
	}
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		run := func(d time.Duration) func(*Job) Result {
			return func(j *Job) Result {
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(d)
				running.Add(-1)
				return Result{Job: j, Outcome: Passed}
			}
		}
		var list []*Job
		for range 8 {
			j := jobNamed("p")
			j.Gate.Parallel = true
			list = append(list, j)
		}
		list = append(list, jobNamed("a"), jobNamed("b"))
		began, ended := time.Now(), 0
		schedule(t.Context(), list, true, run(time.Second), func(Result) { ended++ })
		assert.Equal(t, time.Since(began), 2*time.Second, "the two that go in order take longest")
		assert.Equal(t, ended, 10)
		assert.Equal(t, most.Load(), int64(9))

		most.Store(0)
		began = time.Now()
		schedule(t.Context(), list, false, run(time.Second), func(Result) {})
		assert.Equal(t, time.Since(began), 10*time.Second)
		assert.Equal(t, most.Load(), int64(1))
	})
}

func TestScheduleAtTheDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	never := func(*Job) Result { panic("it must not start") }
	schedule(ctx, []*Job{jobNamed("a")}, true, never, func(r Result) {
		assert.Equal(t, r.Outcome, Failed)
		assert.Equal(t, r.Why, "there was no time left to start it")
	})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	schedule(ended, []*Job{jobNamed("a")}, true, never, func(r Result) {
		assert.Equal(t, r.Outcome, NotRun)
		assert.Equal(t, r.Why, interrupted)
	})
}
