package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/session"
	"github.com/hookkit/brepl/hookkit/text"
)

// Request is what a run is asked for.
type Request struct {
	Command string // for the record: run, check, review, stop-hook
	Scope   Scope
	Want    func(*Gate) bool // nil: every gate that runs here
	Partial bool             // Want leaves gates out: such a run says nothing about the whole
	// Wait: while another run is in progress, wait for it and take its verdict. Otherwise the status is StatusLockConflict.
	Wait bool
}

// waitLimit bounds waiting for another run.
const waitLimit = 10 * time.Minute

// complete reports whether the run decides for the whole project: only such a run can pass it, and only such a run is an attempt.
func (q *Request) complete() bool { return !q.Partial && q.remembers() }

// remembers reports whether what the run learns holds for later runs: what counts from elsewhere does not.
func (q *Request) remembers() bool { return q.Scope.Mode == Local && !q.Scope.FromBase }

// runner runs the gates of a configuration.
type runner struct {
	config   *Config
	env      []string // ours
	reviewer Reviewer
	watch    func(Progress) // of a display; nil: none. Several goroutines call it at once

	grace        time.Duration // from TERM to KILL; 0: 2 s
	deadlineText string        // who gives us how long: "the host gives the stop hook 300 s in all"

	gateEnv []string // of the gates; set when a run begins
}

// Progress is something that happened to a job: it has begun, or it has ended with a result.
type Progress struct {
	Job    *Job
	Result *Result // nil: it begins
}

// activity is one run on its way.
type activity struct {
	*runner
	request *Request
	dir     stateDir
	state   *RunState
	record  *RunRecord
	snaps   *snapshotter
	ends    ends
	summary *Summary
	runDir  string // of the logs
	rerun   bool   // something has failed since the last pass
	looking bool   // nothing will run: the work tree's tree is not needed
}

// run runs gates and gives the verdict. It never panics on what it finds: what goes wrong is in the Summary.
func (r *runner) run(ctx context.Context, request *Request) *Summary {
	began := time.Now()
	s := &Summary{Began: began, MaxRetries: r.config.MaxRetries, LogDir: r.config.LogDir}
	defer func() { s.Took = time.Since(began) }()
	a := &activity{runner: r, request: request, dir: stateDir(r.config.LogDir), summary: s}
	s.RunID = fmt.Sprintf("%s-%d", began.UTC().Format(runIDTime), os.Getpid())
	unlock, joined := a.begin(ctx)
	if unlock == nil {
		return s
	}
	defer unlock()
	if err := a.prepare(ctx, joined); err != nil {
		a.cannot(ctx, err)
		return s
	}
	if s.Status == "" {
		a.gates(ctx)
	}
	return s
}

// cannot is the end of a run that something of ours kept from giving a verdict.
func (a *activity) cannot(ctx context.Context, err error) {
	a.summary.Status, a.summary.Why = StatusCannotRun, text.Brief(err.Error())
	if ctx.Err() != nil {
		a.summary.Why = interrupted
		if isDeadline(ctx) {
			a.summary.Why = a.deadlineText
		}
	}
}

// begin takes the lock. unlock is nil when the run is over before it began; joined is the run that was waited for.
func (a *activity) begin(ctx context.Context) (unlock func(), joined string) {
	if err := a.dir.make(); err != nil {
		a.cannot(ctx, err)
		return nil, ""
	}
	lock, holder, err := tryLock(a.dir, a.summary.RunID, a.summary.Began)
	if lock == nil && err == nil {
		if !a.request.Wait {
			a.summary.Status, a.summary.Why, a.summary.RunID = StatusLockConflict, holder, ""
			return nil, ""
		}
		joined = runOfHolder(holder)
		waiting, cancel := context.WithTimeout(ctx, waitLimit)
		defer cancel()
		if lock, err = waitUnlocked(waiting, a.dir, a.summary.RunID); errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			a.summary.Status, a.summary.Why, a.summary.RunID = StatusLockConflict, holder, ""
			return nil, ""
		}
	}
	if err != nil {
		a.cannot(ctx, err)
		return nil, ""
	}
	return lock.release, joined
}

// prepare finds out what has changed. It settles the status when no gate needs to run.
func (a *activity) prepare(ctx context.Context, joined string) error {
	var note string
	a.state, note = a.dir.load()
	a.note(note)
	repo, err := openRepository(ctx, a.config.Root, a.env)
	if err != nil {
		return err
	}
	a.snaps = &snapshotter{repo: repo, dir: a.dir.path(snapshotsDir)}
	defer a.snaps.close()
	if a.ends, err = locate(ctx, a.snaps, a.request.Scope); err != nil {
		return err
	}
	if joined != "" && a.request.complete() {
		tree, treeErr := a.snaps.tree(ctx)
		if treeErr != nil || a.join(joined, tree) {
			return treeErr
		}
	}
	a.summary.Changes, err = a.changes(ctx)
	if err != nil {
		return err
	}
	a.summary.Notes = append(a.summary.Notes, a.summary.Changes.Notes...)
	a.gateEnv, err = proc.MergeEnv(a.env,
		proc.Var{Name: "GAUNTLET_ACTIVE", Value: "1"}, proc.Var{Name: "BASE_BRANCH", Value: a.summary.Changes.Base})
	return err
}

func (a *activity) note(text string) {
	if text != "" {
		a.summary.Notes = append(a.summary.Notes, text)
	}
}

// gates runs the gates of what has changed, and keeps what comes out.
func (a *activity) gates(ctx context.Context) {
	s, c := a.summary, a.summary.Changes
	list := jobs(a.config, c.Files, a.wants)
	switch {
	case len(c.Files) == 0:
		s.Status = StatusNoChanges
		if a.request.complete() && (a.state.Anchor != nil || a.state.Passed == nil) {
			// Everything that failed was taken back; or there was nothing to look at so far, and later commits count from here.
			a.state.passed(&Mark{Tree: c.To, Head: c.Head, Branch: c.Branch, At: s.Began})
		}
	case len(list) == 0:
		s.Status = StatusNoApplicableGates
	case a.request.complete() && a.state.Attempts > a.config.MaxRetries && a.state.FailedTree == c.To && !c.unnamed && a.state.failing():
		s.Status, s.Attempt = StatusRetryLimitExceeded, a.state.Attempts
		s.Why = "nothing has changed since the last run failed; `agent-gauntlet clean` starts anew"
	}
	a.start()
	if s.Status == "" {
		a.execute(ctx, list)
		a.judge()
	}
	a.finish()
}

func (a *activity) wants(g *Gate) bool {
	here := g.RunLocally
	if a.request.Scope.Mode == CI {
		here = g.RunInCI
	}
	return here && (a.request.Want == nil || a.request.Want(g))
}

// start notes that the run has begun, and where it and the runs that follow a failure count from.
func (a *activity) start() {
	s, c := a.summary, a.summary.Changes
	if s.Status == "" && a.request.remembers() && a.state.Anchor == nil {
		a.state.Anchor = &Mark{Tree: c.From, Head: c.Head, Branch: c.Branch, At: s.Began}
	}
	a.state.Runs = append(a.state.Runs, RunRecord{
		ID: s.RunID, Command: a.request.Command, PID: os.Getpid(), Began: s.Began, Tree: c.To, Mode: c.Mode, Attempt: a.state.Attempts,
		Partial: !a.request.complete(),
	})
	a.record = &a.state.Runs[len(a.state.Runs)-1]
	a.runDir = a.dir.path(logsDir, s.RunID)
	a.save()
}

func (a *activity) save() {
	if err := a.dir.save(a.state); err != nil {
		a.note(err.Error())
		return
	}
	a.record = &a.state.Runs[len(a.state.Runs)-1] // saving may have cut the list
}

// execute runs the jobs: first those that failed, then the others.
func (a *activity) execute(ctx context.Context, list []*Job) {
	a.rerun = a.state.Attempts > 0 || a.state.failing()
	inputs := inputsOf(a.summary.Changes.From)
	order := rerun{first: list}
	if a.request.remembers() {
		order = due(list, a.state, inputs)
	}
	results := map[*Job]Result{}
	for _, job := range order.still {
		results[job] = Result{Job: job, Outcome: StillPassed}
	}
	round := func(jobs []*Job) (whole bool) {
		whole = true
		schedule(ctx, jobs, a.config.AllowParallel, func(job *Job) Result { return a.job(ctx, job) }, func(result Result) {
			results[result.Job] = result
			whole = whole && !fails(result)
			a.remember(result, inputs)
			a.show(Progress{result.Job, &result})
		})
		return whole
	}
	if round(order.first) {
		round(order.later)
	} else {
		for _, job := range order.later {
			results[job] = Result{Job: job, Outcome: NotRun, Why: "it runs when the gates that failed pass"}
		}
	}
	for _, job := range list {
		a.summary.Results = append(a.summary.Results, results[job])
		for _, note := range results[job].Notes {
			a.note(note)
		}
	}
}

func (a *activity) show(p Progress) {
	if a.watch != nil {
		a.watch(p)
	}
}

// job runs one job.
func (a *activity) job(ctx context.Context, job *Job) (result Result) {
	began := time.Now()
	a.show(Progress{Job: job})
	if job.Gate.Kind == Check {
		result = a.runCheck(ctx, job, a.runDir)
	} else {
		result = a.review(ctx, job)
	}
	result.Began, result.Took = began, time.Since(began)
	return result
}

func (a *activity) review(ctx context.Context, job *Job) Result {
	cannot := func(err error) Result { return Result{Job: job, Outcome: CannotRun, Why: err.Error()} }
	task := ReviewTask{
		Job: job, Config: a.config, Rerun: a.rerun, Env: a.gateEnv, Grace: a.grace,
		Dir: a.dir.path(violationsDir, job.fileName()), Log: logFile(a.runDir, job),
		Diff: func(ctx context.Context) ([]byte, error) {
			return a.snaps.diff(ctx, a.summary.Changes.From, a.summary.Changes.To, job.Files)
		},
	}
	for _, dir := range []string{filepath.Dir(task.Dir), filepath.Dir(task.Log)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return cannot(err)
		}
	}
	result := a.reviewer.Review(ctx, task)
	if result.Outcome == NotRun && ctx.Err() != nil {
		result.Outcome, result.Why = a.cutOff(ctx)
	}
	return result
}

// remember keeps a result as soon as it is there. A job that failed stays failed until it passes.
func (a *activity) remember(result Result, inputs func(*Job) string) {
	id := result.Job.ID()
	a.record.Jobs = append(a.record.Jobs, JobRecord{ID: id, Outcome: result.Outcome, Seconds: result.Took.Seconds(), Why: result.Why, Log: result.Log})
	if a.request.remembers() && result.Outcome != NotRun {
		if a.state.Jobs == nil {
			a.state.Jobs = map[string]JobState{}
		}
		outcome := result.Outcome
		if fails(result) {
			outcome = Failed
		}
		if outcome != CannotRun || a.state.Jobs[id].Outcome != Failed {
			a.state.Jobs[id] = JobState{Outcome: outcome, Inputs: inputs(result.Job), Why: result.Why, At: time.Now()}
		}
	}
	a.save()
}

// fails reports whether a result keeps the run from passing.
func fails(r Result) bool {
	return r.Outcome == Failed || r.Outcome == CannotRun && r.Job.Gate.CannotRun == CannotRunBlocks
}

// judge gives the run its status, and a complete run its consequences.
func (a *activity) judge() {
	s := a.summary
	s.Status = verdict(s.Results)
	if s.Status == StatusCannotRun {
		s.Why = whyCannot(s.Results)
	}
	if !a.request.complete() {
		return
	}
	switch s.Status {
	case StatusPassed, StatusPassedWithWarnings:
		c := s.Changes
		a.state.passed(&Mark{Tree: c.To, Head: c.Head, Branch: c.Branch, At: s.Began})
		a.dir.forget()
		a.snaps.prune(s.Began.Add(-time.Second)) // file systems keep coarser times than the clock
	case StatusFailed:
		a.state.Attempts++
		a.state.FailedTree = s.Changes.To
		s.Attempt = a.state.Attempts
		if a.state.Attempts > a.config.MaxRetries+1 {
			s.Status = StatusRetryLimitExceeded
		}
	default:
	}
}

func whyCannot(results []Result) string {
	var list []string
	for _, r := range results {
		if r.Outcome == CannotRun || r.Outcome == NotRun {
			list = append(list, fmt.Sprintf("%s %s: %s", r.Job.Gate.Kind, r.Job.Title(), r.Why))
		}
	}
	return strings.Join(list, "; ")
}

// finish completes the record, and keeps the report for whoever waits for this run.
func (a *activity) finish() {
	s := a.summary
	a.record.Status, a.record.Why, a.record.Seconds, a.record.Attempt = s.Status, s.Why, time.Since(s.Began).Seconds(), s.Attempt
	if len(s.Results) > 0 {
		if err := os.MkdirAll(a.runDir, 0o700); err == nil {
			err = session.WriteFile(filepath.Join(a.runDir, reportName), []byte(reportText(s, a.config.Root, reportLimit)), session.WriteOptions{})
			if err != nil {
				a.note(err.Error())
			}
		}
	}
	a.save()
	a.dir.sweep(s.RunID)
}

// reportName is the file in a run's folder of logs that says what came out.
const reportName = "report.txt"
