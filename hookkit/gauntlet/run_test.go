package gauntlet

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// scripted is a Reviewer that answers as the test says, and keeps what it was given.
type scripted struct {
	answer func(ctx context.Context, task ReviewTask) Result
	tasks  []ReviewTask
	diffs  []string
}

func (s *scripted) Review(ctx context.Context, task ReviewTask) Result {
	diff, err := task.Diff(ctx)
	if err != nil {
		return Result{Job: task.Job, Outcome: CannotRun, Why: err.Error()}
	}
	s.tasks, s.diffs = append(s.tasks, task), append(s.diffs, string(diff))
	return s.answer(ctx, task)
}

func (s *scripted) Health(context.Context) []ToolHealth { return nil }

// says makes an answer.
func says(outcome Outcome, why string) func(context.Context, ReviewTask) Result {
	return func(_ context.Context, task ReviewTask) Result {
		return Result{Job: task.Job, Outcome: outcome, Why: why}
	}
}

// reviewedProject is a project with one review over everything.
func reviewedProject(t *testing.T) (*fakes.Project, *runner, *scripted) {
	t.Helper()
	p := fakes.NewProject(t, map[string]string{
		".gauntlet/config.yml":    "base_branch: main\ncli: {default_preference: [claude]}\nentry_points: [{path: ., exclude: [.gauntlet], reviews: [r]}]\n",
		".gauntlet/reviews/r.md":  "Look.\n",
		"a.txt":                   "one\n",
		"\u00e4 b/c\td.txt":       "two\n",
		"never/touched/again.txt": "three\n",
	}, fakes.WithGit())
	c, err := loadConfig(p.Dir(), source{env: func(string) (string, bool) { return "", false }})
	assert.NilError(t, err)
	s := &scripted{answer: says(Passed, "")}
	return p, &runner{config: c, env: p.GitEnv(), reviewer: s, deadlineText: "there are 5 s in all"}, s
}

func (r *runner) again(t *testing.T) *Summary {
	t.Helper()
	return r.run(t.Context(), &Request{Command: "run", Scope: Scope{Mode: Local, Base: r.config.BaseBranch}})
}

func TestReviewSeesEverythingSinceThePass(t *testing.T) {
	t.Parallel()
	p, r, s := reviewedProject(t)
	p.Write("a.txt", "one\nmore\n")
	assert.Equal(t, r.again(t).Status, StatusPassed)
	assert.Assert(t, strings.Contains(s.diffs[0], "+more\n"), s.diffs[0])
	assert.Assert(t, !s.tasks[0].Rerun)

	// What has passed is not shown again; what is committed, staged and untracked is.
	p.Write("new.txt", "untracked\n")
	p.Write("\u00e4 b/c\td.txt", "two\nchanged\n")
	p.Git("add", "\u00e4 b/c\td.txt")
	p.Git("commit", "-qm", "one of them")
	s.answer = says(Failed, "1 violation")
	first := r.again(t)
	assert.Equal(t, first.Status, StatusFailed)
	assert.Assert(t, strings.Contains(s.diffs[1], "+untracked\n") && strings.Contains(s.diffs[1], "+changed\n"), s.diffs[1])
	assert.Assert(t, !strings.Contains(s.diffs[1], "more"), s.diffs[1])
	assert.NilError(t, os.MkdirAll(s.tasks[1].Dir, 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(s.tasks[1].Dir, "v1.json"), []byte("{}"), 0o600))

	// After a failure the whole of it is shown again, not only what was done since.
	p.Write("new.txt", "mended\n")
	p.Git("add", "-A")
	p.Git("commit", "-qm", "all")
	second := r.again(t)
	assert.Equal(t, second.Attempt, 2)
	assert.Assert(t, s.tasks[2].Rerun && s.tasks[2].Dir == s.tasks[1].Dir)
	assert.Assert(t, strings.Contains(s.diffs[2], "+mended\n") && strings.Contains(s.diffs[2], "+changed\n"), s.diffs[2])
	_, err := os.Stat(filepath.Join(s.tasks[1].Dir, "v1.json"))
	assert.NilError(t, err, "violations last until a pass")

	s.answer = says(Passed, "")
	assert.Equal(t, r.again(t).Status, StatusPassed)
	_, err = os.Stat(s.tasks[1].Dir)
	assert.Assert(t, os.IsNotExist(err), "%v", err)
	assert.Equal(t, r.again(t).Status, StatusNoChanges)
	assert.Equal(t, len(s.tasks), 4)
}

// What could not run takes nothing back: neither the failure nor the point from which runs count.
func TestCannotRunKeepsTheFailure(t *testing.T) {
	t.Parallel()
	p, r, s := reviewedProject(t)
	p.Write("a.txt", "wrong\n")
	s.answer = says(Failed, "1 violation")
	assert.Equal(t, r.again(t).Status, StatusFailed)
	p.Git("commit", "-qam", "wrong")
	s.answer = says(CannotRun, "no tool")
	for range 3 {
		s := r.again(t)
		assert.Equal(t, s.Status, StatusCannotRun)
		assert.Equal(t, s.Why, "review r: no tool")
	}
	s.answer = says(Failed, "1 violation")
	assert.Equal(t, r.again(t).Attempt, 2)
}

// lateContext has its deadline when done is closed, however fast the machine is.
type lateContext struct {
	context.Context
	done chan struct{}
}

func (c *lateContext) Done() <-chan struct{} { return c.done }

func (c *lateContext) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestReviewAtTheDeadline(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	t.Parallel()
	p, r, s := reviewedProject(t)
	p.Write("a.txt", "x\n")
	late := &lateContext{Context: t.Context(), done: make(chan struct{})}
	s.answer = func(ctx context.Context, task ReviewTask) Result {
		close(late.done)
		<-ctx.Done()
		return Result{Job: task.Job, Outcome: NotRun, Why: "ended"}
	}
	got := r.run(late, &Request{Scope: Scope{Mode: Local, Base: "main"}})
	assert.Equal(t, got.Status, StatusFailed)
	assert.Equal(t, got.Results[0].Why, "timed out: there are 5 s in all")

	ended, cancel := context.WithTimeout(t.Context(), time.Hour)
	s.answer = func(ctx context.Context, task ReviewTask) Result {
		cancel()
		<-ctx.Done()
		return Result{Job: task.Job, Outcome: NotRun, Why: "ended"}
	}
	got = r.run(ended, &Request{Scope: Scope{Mode: Local, Base: "main"}})
	assert.Equal(t, got.Status, StatusCannotRun)
	assert.Equal(t, got.Why, "review r: it was interrupted")
	assert.Equal(t, stateDir(r.config.LogDir).peek().Attempts, 1)
}

// What passed last may have been removed by git after some weeks: then everything since the base counts.
func TestWhatPassedIsGone(t *testing.T) {
	t.Parallel()
	p, r, _ := reviewedProject(t)
	p.Git("switch", "-qc", "work")
	p.Write("a.txt", "more\n")
	assert.Equal(t, r.again(t).Status, StatusPassed)
	assert.NilError(t, os.RemoveAll(filepath.Join(r.config.LogDir, snapshotsDir)))
	p.Write("new.txt", "x\n")
	s := r.again(t)
	assert.Equal(t, s.Status, StatusPassed)
	assert.Equal(t, len(s.Changes.Files), 2)
	assert.DeepEqual(t, s.Notes, []string{"what passed last is no longer in the repository; everything since the base counts"})
}

// On another branch that does not go on from where runs failed, the work there counts from the base.
func TestAnotherBranch(t *testing.T) {
	t.Parallel()
	p, r, s := reviewedProject(t)
	p.Git("switch", "-qc", "one")
	p.Write("a.txt", "one\n")
	p.Write("b.txt", "wrong\n")
	p.Git("add", "-A")
	p.Git("commit", "-qm", "one")
	s.answer = says(Failed, "1 violation")
	assert.Equal(t, r.again(t).Status, StatusFailed)
	p.Write("c.txt", "still wrong\n")
	p.Git("add", "-A")
	p.Git("commit", "-qm", "two")
	assert.Equal(t, r.again(t).Attempt, 2)

	p.Git("switch", "-qc", "two", "main")
	p.Write("d.txt", "else\n")
	s.answer = says(Passed, "")
	got := r.again(t)
	assert.Equal(t, got.Status, StatusPassed)
	assert.Equal(t, len(got.Changes.Files), 1)

	// Back again: the base still shows it all.
	p.Git("switch", "-q", "one")
	s.answer = says(Failed, "1 violation")
	got = r.again(t)
	assert.Equal(t, got.Status, StatusFailed)
	assert.Equal(t, got.Attempt, 1)
}
