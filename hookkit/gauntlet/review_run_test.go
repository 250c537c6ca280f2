package gauntlet

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// reviewWorld is a review job with fake tools: claude and codex are in the table, both are on PATH.
type reviewWorld struct {
	t             *testing.T
	config        *Config
	task          ReviewTask
	claude, codex *fakes.Tool
}

const (
	passes   = "Looks fine.\n```json\n{\"status\":\"pass\",\"violations\":[]}\n```\n"
	finds    = `{"status":"fail","violations":[{"file":"a.go","line":3,"issue":"the error is not checked","fix":"check it","priority":"high"}]}`
	findsToo = `{"status":"fail","violations":[{"file":"b.go","line":2,"issue":"a race between two goroutines","priority":"critical"}]}`
)

func newReviewWorld(t *testing.T) *reviewWorld {
	t.Helper()
	dir := t.TempDir()
	w := &reviewWorld{t: t, claude: fakes.NewTool(t, "claude"), codex: fakes.NewTool(t, "codex")}
	w.config = &Config{Root: dir, AllowParallel: true, RerunThreshold: "high", CLIPreference: []string{"claude", "codex"}}
	gate := &Gate{Kind: Review, Name: "quality", Parallel: true, Timeout: time.Minute, ReviewSpec: ReviewSpec{Instructions: "Look for bugs.", NumReviews: 1}}
	w.task = ReviewTask{
		Job:    &Job{Gate: gate, Entry: ".", Dir: dir, Files: []Change{{Path: "a.go", object: "1"}, {Path: "b.go", object: "1"}}},
		Config: w.config,
		Diff:   func(context.Context) ([]byte, error) { return []byte(lifeDiff), nil },
		Dir:    filepath.Join(dir, "violations"), Log: filepath.Join(dir, "quality.log"),
		Env: w.codex.Env(w.claude.Env([]string{"PATH=/usr/bin:/bin", "HOME=" + dir})), Grace: 100 * time.Millisecond,
	}
	return w
}

func (w *reviewWorld) review() Result {
	w.t.Helper()
	return newReviewer(w.config, w.task.Env).Review(w.t.Context(), w.task)
}

func (w *reviewWorld) expectClaude() *fakes.ToolExpect {
	return w.claude.Expect("-p", "--output-format", "text", "--allowedTools", "Read,Glob,Grep", "--max-turns", "20")
}

func (w *reviewWorld) expectCodex() *fakes.ToolExpect {
	return w.codex.Expect("exec", "--sandbox", "read-only", "--color", "never", "-")
}

func TestReviewPasses(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.expectClaude().Stdin("Look for bugs.", "+++ b/a.go", "# How to answer").Answer(passes, "thinking\n", 0)
	r := w.review()
	assert.Equal(t, r.Outcome, Passed, r.Why)
	assert.DeepEqual(t, r.Reviewers, []string{"claude"})
	assert.Equal(t, len(r.Violations), 0)
	log, err := os.ReadFile(r.Log)
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(log), "Looks fine."), "%s", log)
}

func TestReviewFindsViolations(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.expectClaude().Answer(finds, "", 0)
	r := w.review()
	assert.Equal(t, r.Outcome, Failed)
	assert.Equal(t, r.Why, "1 violation")
	v := r.Violations[0]
	assert.Equal(t, v.File, "a.go")
	assert.Assert(t, strings.Contains(v.Diff, "+3\n"), v.Diff)
	var kept Violation
	data, err := os.ReadFile(v.Path)
	assert.NilError(t, err)
	assert.NilError(t, json.Unmarshal(data, &kept))
	assert.Equal(t, kept.Issue, "the error is not checked")
	assert.Equal(t, kept.Status, ViolationNew)
}

// Fault 2 of the gauntlet page: a review that failed does not pass at the next stop if nothing was done.
func TestReviewDoesNotPassByAskingAgain(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.expectClaude().Answer(finds, "", 0)
	assert.Equal(t, w.review().Outcome, Failed)
	w.task.Rerun = true
	w.expectClaude().Stdin("# Earlier findings", "a.go:3: the error is not checked (not said to be fixed)").Answer(passes, "", 0)
	r := w.review()
	assert.Equal(t, r.Outcome, Failed)
	w.task.Job.Files[0].object = "2"
	w.expectClaude().Answer(passes, "", 0)
	assert.Equal(t, w.review().Outcome, Passed)
}

func TestReviewSkippedViolationDoesNotFail(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.expectClaude().Answer(finds, "", 0)
	v := w.review().Violations[0]
	assert.NilError(t, os.WriteFile(v.Path, []byte(`{"status":"skipped","reason":"it cannot fail here"}`), 0o600))
	w.expectClaude().Answer(finds, "", 0)
	r := w.review()
	assert.Equal(t, r.Outcome, Passed, r.Why)
	assert.Equal(t, r.Violations[0].Status, ViolationSkipped)
	assert.Equal(t, r.Violations[0].Reason, "it cannot fail here")
}

// A skip is not lost when a review is on its way.
func TestReviewTakesASkipThatCameMeanwhile(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.expectClaude().Answer(finds, "", 0)
	r := w.review()
	assert.Equal(t, r.Outcome, Failed)
	id, diff := r.Violations[0].ID, w.task.Diff
	w.task.Diff = func(ctx context.Context) ([]byte, error) { // the records have been read
		kept, err := loadViolations(w.task.Dir)
		assert.NilError(t, err)
		assert.NilError(t, kept.skip(id, "on purpose"))
		return diff(ctx)
	}
	w.expectClaude().Answer(finds, "", 0)
	r = w.review()
	assert.Equal(t, r.Outcome, Passed, r.Why)
	assert.Equal(t, r.Violations[0].Reason, "on purpose")
}

// Fault 54: prose, half an answer, 50 MB, a login. Each is replaced by the next tool of the preference.
func TestReviewToolThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		expect func(w *reviewWorld)
		note   string
	}{
		"prose, twice": {func(w *reviewWorld) {
			w.expectClaude().Answer("Looks good to me.", "", 0)
			w.expectClaude().Stdin("Your last answer could not be read").Answer("Still good.", "", 0)
		}, "quality: passed over claude: unreadable answer, twice: no JSON object with a status or violations in it"},
		"truncated, twice": {func(w *reviewWorld) {
			w.expectClaude().Times(2).Truncated(finds)
		}, "quality: passed over claude: unreadable answer, twice: no JSON object with a status or violations in it"},
		"login":       {func(w *reviewWorld) { w.expectClaude().AskLogin() }, "quality: passed over claude: not logged in"},
		"usage limit": {func(w *reviewWorld) { w.expectClaude().Answer("Claude usage limit reached.\n", "", 1) }, "quality: passed over claude: usage limit reached"},
		"exit code":   {func(w *reviewWorld) { w.expectClaude().Answer("", "boom\n", 3) }, "quality: passed over claude: exit 3: boom"},
		"crash":       {func(w *reviewWorld) { w.expectClaude().Crash() }, "quality: passed over claude: "},
		"50 MB": {func(w *reviewWorld) {
			w.expectClaude().Times(2).Flood(50<<20).Answer("", "", 0)
		}, "quality: passed over claude: unreadable answer, twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newReviewWorld(t)
			tt.expect(w)
			w.expectCodex().Answer(passes, "", 0)
			r := w.review()
			assert.Equal(t, r.Outcome, Passed, r.Why)
			assert.DeepEqual(t, r.Reviewers, []string{"codex"})
			assert.Equal(t, len(r.Notes), 1)
			assert.Assert(t, strings.HasPrefix(r.Notes[0], tt.note), r.Notes[0])
			log, err := os.Stat(r.Log)
			assert.NilError(t, err)
			assert.Assert(t, log.Size() < 3*maxAnswer, "%d", log.Size())
		})
	}
}

func TestReviewAnswersAtTheSecondAsking(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.expectClaude().Answer("Looks good to me.", "", 0)
	w.expectClaude().Answer(finds, "", 0)
	assert.Equal(t, w.review().Outcome, Failed)
}

// An answer counts whatever the exit code is, and may speak of logins and limits.
func TestReviewAnswerWithAnExitCode(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.expectClaude().Answer(strings.Replace(finds, "the error", "not logged in: rate limit", 1), "", 1)
	assert.Equal(t, w.review().Outcome, Failed)
}

func TestReviewWithoutATool(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.config.CLIPreference = []string{"gemini", "nosuchtool"}
	r := w.review()
	assert.Equal(t, r.Outcome, CannotRun)
	assert.Equal(t, r.Why, "gemini: not installed; nosuchtool: unknown tool; give it a command under cli.adapters.nosuchtool")
	w.config.CLIPreference = nil
	assert.Equal(t, w.review().Why, "no review tool is configured: name some in cli.default_preference")
}

func TestReviewByTwo(t *testing.T) {
	t.Parallel()
	for _, parallel := range []bool{true, false} {
		w := newReviewWorld(t)
		w.task.Job.Gate.NumReviews = 2
		w.task.Job.Gate.Parallel = parallel
		w.expectClaude().Answer(finds, "", 0)
		w.expectCodex().Answer(findsToo, "", 0)
		r := w.review()
		assert.Equal(t, r.Why, "2 violations")
		assert.Equal(t, len(r.Reviewers), 2)
	}
}

// More reviews than tools: a tool is asked again.
func TestReviewByOneToolThreeTimes(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.config.CLIPreference = []string{"claude"}
	w.task.Job.Gate.NumReviews = 3
	w.expectClaude().Times(3).Answer(passes, "", 0)
	r := w.review()
	assert.Equal(t, r.Outcome, Passed, r.Why)
	assert.Equal(t, len(r.Reviewers), 3)
}

func TestReviewTimesOut(t *testing.T) {
	t.Parallel()
	// A machine that does not start the tool in time gets more of it.
	for limit := 300 * time.Millisecond; ; limit *= 2 {
		w := newReviewWorld(t)
		w.task.Job.Gate.Timeout = limit
		w.expectClaude().AnyTimes().Hang()
		r := w.review()
		assert.Equal(t, r.Outcome, Failed)
		assert.Equal(t, r.Why, "timed out after "+limit.String())
		if len(w.claude.Calls()) > 0 || limit > time.Minute {
			assert.Assert(t, w.claude.AwaitEnds(1, time.Minute), "the tool lives on")
			return
		}
	}
}

func TestReviewEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.expectClaude().AnyTimes().Hang()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil && len(w.claude.Calls()) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	r := newReviewer(w.config, w.task.Env).Review(ctx, w.task)
	assert.Equal(t, r.Outcome, NotRun)
}

func TestReviewModelAndOwnAdapters(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.task.Job.Gate.Model = "small"
	w.task.Job.Gate.CLIPreference = []string{"codex"}
	w.codex.Expect("exec", "--sandbox", "read-only", "--color", "never", "--model", "small", "-").Answer(passes, "", 0)
	assert.Equal(t, w.review().Outcome, Passed)

	w.config.Adapters = map[string]AdapterConfig{"mine": {Command: []string{"claude", "ask"}, Prompt: "argument", ModelFlag: "-m"}}
	w.task.Job.Gate.CLIPreference = []string{"mine"}
	w.claude.ExpectMatch("the prompt as an argument", func(args []string) bool {
		return len(args) == 4 && args[0] == "ask" && args[1] == "-m" && args[2] == "small" && strings.Contains(args[3], "Look for bugs.")
	}).IgnoreStdin().Answer(passes, "", 0)
	r := w.review()
	assert.Equal(t, r.Outcome, Passed, r.Why)
}

func TestReviewLooksForAUsageLimitFirst(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.config.CheckUsageLimit = true
	w.expectClaude().Stdin("Answer with the one word OK").Answer("You have hit your usage limit.", "", 0)
	w.expectCodex().Stdin("Answer with the one word OK").Answer("OK", "", 0)
	w.expectCodex().Stdin("Look for bugs.").Answer(passes, "", 0)
	r := w.review()
	assert.Equal(t, r.Outcome, Passed, r.Why)
	assert.DeepEqual(t, r.Notes, []string{"quality: passed over claude: usage limit reached"})
}

func TestReviewTellsOfAFlawedFileAndOfALongDiff(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.expectClaude().Answer(finds, "", 0)
	v := w.review().Violations[0]
	assert.NilError(t, os.Remove(v.Path))
	w.task.Diff = func(context.Context) ([]byte, error) {
		return []byte(lifeDiff + strings.Repeat("+long\n", maxDiff/6+10)), nil
	}
	w.expectClaude().Answer(passes, "", 0)
	r := w.review()
	assert.Equal(t, r.Outcome, Failed)
	assert.DeepEqual(t, r.Notes, []string{
		v.Path + " is gone; the violation counts as new", "quality: the diff is longer than 1024 KiB; only its beginning was reviewed",
	})
}

func TestReviewHealth(t *testing.T) {
	t.Parallel()
	w := newReviewWorld(t)
	w.config.CLIPreference = []string{"claude", "codex", "gemini"}
	w.claude.Expect("--version").Answer("2.1.329 (Claude Code)\n", "", 0)
	w.codex.Expect("--version").Answer("", "broken\n", 1)
	h := newReviewer(w.config, w.task.Env).Health(t.Context())
	assert.DeepEqual(t, h, []ToolHealth{
		{Name: "claude", Available: true, Detail: w.claude.Path() + " 2.1.329 (Claude Code)"},
		{Name: "codex", Detail: w.codex.Path() + " --version: exit 1: broken"},
		{Name: "gemini", Detail: "not installed"},
	})
}
