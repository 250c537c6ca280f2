package gauntlet

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// schedule runs jobs: those whose gates may run in parallel beside each other, the others one after the other, in their order, beside
// them. It calls done for each job, one at a time, as they end. A check with fail_fast that fails keeps the jobs that have not started
// from starting.
func schedule(ctx context.Context, jobs []*Job, parallel bool, run func(*Job) Result, done func(Result)) {
	var (
		stopped atomic.Pointer[Job]
		mu      sync.Mutex
		wait    sync.WaitGroup
		room    = make(chan struct{}, max(8, 2*runtime.NumCPU()))
	)
	one := func(job *Job) {
		result := Result{Job: job, Outcome: NotRun}
		switch cause := stopped.Load(); {
		case cause != nil:
			result.Why = "check " + cause.Title() + " failed, and fail_fast is set"
		case ctx.Err() != nil && isDeadline(ctx):
			result.Outcome, result.Why = Failed, "there was no time left to start it"
		case ctx.Err() != nil:
			result.Why = interrupted
		default:
			result = run(job)
		}
		if result.Outcome == Failed && job.Gate.FailFast {
			stopped.CompareAndSwap(nil, job)
		}
		mu.Lock()
		defer mu.Unlock()
		done(result)
	}
	var inOrder []*Job
	for _, job := range jobs {
		if !parallel || !job.Gate.Parallel {
			inOrder = append(inOrder, job)
			continue
		}
		wait.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			one(job)
		})
	}
	for _, job := range inOrder {
		one(job)
	}
	wait.Wait()
}
