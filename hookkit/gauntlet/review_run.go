package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/hookkit/brepl/hookkit/text"
)

// toolReviewer asks the AI command-line tools that the configuration names.
type toolReviewer struct {
	config *Config
	env    []string

	// limits remembers what a tool's probe said, so that it is asked once in a run. Only with cli.check_usage_limit.
	mu     sync.Mutex
	probed map[string]error
}

// newReviewer returns the reviewer of a configuration. env is where its tools are looked up.
func newReviewer(config *Config, env []string) Reviewer {
	return &toolReviewer{config: config, env: env, probed: map[string]error{}}
}

// Review asks as many tools as the gate wants reviews, at the same time if they may run in parallel. A tool that cannot answer is
// replaced by the next one of the preference.
func (r *toolReviewer) Review(ctx context.Context, task ReviewTask) Result {
	result := Result{Job: task.Job, Log: task.Log}
	log, err := os.OpenFile(task.Log, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		result.Notes = append(result.Notes, fmt.Sprintf("no log: %v", err))
		result.Log = ""
		log, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	defer func() { _ = log.Close() }()
	one := reviewRun{r: r, task: task, log: &lockedWriter{w: log}}
	if task.Job.Gate.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, task.Job.Gate.Timeout, errReviewTimeout)
		defer cancel()
	}
	one.review(ctx, &result)
	return result
}

var errReviewTimeout = errors.New("timed out")

// reviewRun is one run of one review job.
type reviewRun struct {
	r    *toolReviewer
	task ReviewTask
	log  *lockedWriter
}

func (run *reviewRun) review(ctx context.Context, result *Result) {
	cannot := func(why string) {
		result.Outcome, result.Why = CannotRun, why
	}
	kept, err := loadViolations(run.task.Dir)
	if err != nil {
		cannot(err.Error())
		return
	}
	result.Notes = append(result.Notes, kept.notes...)
	diff, err := run.task.Diff(ctx)
	if err != nil {
		cannot(fmt.Sprintf("the diff cannot be made: %v", err))
		return
	}
	question := promptFor(run.task, diff, verifiable(kept.records))
	if question.cut {
		result.Notes = append(result.Notes, fmt.Sprintf("%s: the diff is longer than %d KiB; only its beginning was reviewed", run.task.Job.Title(), maxDiff>>10))
	}
	answers, problems := run.ask(ctx, question)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errReviewTimeout):
		// A gate that does not end in time has failed, like a check.
		result.Outcome, result.Why = Failed, fmt.Sprintf("timed out after %v", run.task.Job.Gate.Timeout)
		result.Violations = listed(kept.records)
		return
	case cause != nil:
		result.Outcome, result.Why = NotRun, "ended before the answer"
		return
	}
	for _, a := range answers {
		result.Reviewers = append(result.Reviewers, a.tool)
	}
	if len(answers) < run.wanted() {
		cannot(strings.Join(problems, "; "))
		result.Violations = listed(kept.records)
		return
	}
	for _, problem := range problems {
		result.Notes = append(result.Notes, run.task.Job.Title()+": passed over "+problem)
	}
	run.judge(result, kept, answers, diff)
}

func (run *reviewRun) wanted() int { return max(1, run.task.Job.Gate.NumReviews) }

// judge compares the answers with what was known, and keeps what there is now.
func (run *reviewRun) judge(result *Result, kept *violations, answers []reviewed, diff []byte) {
	kept.takeSkips() // a review takes minutes, and somebody may have skipped one meanwhile
	now, dropped := verification{
		job: run.task.Job, root: run.task.Config.Root, diff: readDiff(diff), rerun: run.task.Rerun,
		threshold: run.task.Config.RerunThreshold, answers: answers,
	}.life(kept.records)
	kept.records = now
	if err := kept.save(); err != nil {
		result.Outcome, result.Why = CannotRun, fmt.Sprintf("the violations cannot be kept: %v", err)
		return
	}
	for i := range kept.records {
		kept.records[i].Path = kept.file(kept.records[i].ID)
	}
	result.Violations = listed(kept.records)
	standing := 0
	for _, v := range result.Violations {
		if v.Status != ViolationSkipped {
			standing++
		}
	}
	_, _ = fmt.Fprintf(run.log, "\n== %d violations, %d findings dropped (on lines that the diff did not add, or below the threshold)\n", standing, dropped)
	result.Outcome = Passed
	if standing > 0 {
		result.Outcome, result.Why = Failed, text.Count(standing, "violation")
	}
}

// verifiable are the violations that a reviewer looks at again.
func verifiable(records []record) []Violation {
	var list []Violation
	for _, r := range records {
		if r.Status != ViolationSkipped {
			list = append(list, r.Violation)
		}
	}
	return list
}

func listed(records []record) []Violation {
	var list []Violation
	for _, r := range records {
		list = append(list, r.Violation)
	}
	return list
}

// ask collects the answers. problems has a line for each tool that gave none.
func (run *reviewRun) ask(ctx context.Context, question prompt) (answers []reviewed, problems []string) {
	gate := run.task.Job.Gate
	names := gate.CLIPreference
	if len(names) == 0 {
		names = run.task.Config.CLIPreference
	}
	var mu sync.Mutex
	unable := map[string]bool{}
	next := 0
	// take gives the next tool that may still answer: each in its turn, again from the start when there are more reviews than tools.
	take := func() (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		for range names {
			name := names[next%len(names)]
			next++
			if !unable[name] {
				return name, true
			}
		}
		return "", false
	}
	one := func() {
		for ctx.Err() == nil {
			name, ok := take()
			if !ok {
				return
			}
			a, err := run.askTool(ctx, name, question)
			mu.Lock()
			if err == nil {
				answers = append(answers, reviewed{name, a})
			} else if !unable[name] {
				unable[name] = true
				problems = append(problems, fmt.Sprintf("%s: %v", name, err))
			}
			mu.Unlock()
			if err == nil {
				return
			}
		}
	}
	var group sync.WaitGroup
	for range run.wanted() {
		if gate.Parallel && run.task.Config.AllowParallel {
			group.Go(one)
		} else {
			one()
		}
	}
	group.Wait()
	if len(names) == 0 {
		problems = append(problems, "no review tool is configured: name some in cli.default_preference")
	}
	return answers, problems
}
