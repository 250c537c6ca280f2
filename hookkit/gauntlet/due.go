package gauntlet

import (
	"fmt"
	"hash/fnv"
)

// A run that follows a failure does not begin with everything. First the gates that failed run, over everything since the anchor,
// committed or not. When they pass, every gate runs whose inputs are not those with which it passed last: a repair must not
// break what was whole. The others have passed over the very same files, and count as passed.

// rerun is the order of a run's jobs.
type rerun struct {
	first, later []*Job
	still        []*Job // have passed with the same inputs
}

// due orders the jobs of a run by what is remembered of them.
func due(jobs []*Job, state *RunState, inputs func(*Job) string) rerun {
	if !state.failing() {
		return rerun{first: jobs}
	}
	var r rerun
	for _, job := range jobs {
		switch known := state.Jobs[job.ID()]; {
		case known.Outcome == Failed || known.Outcome == CannotRun:
			r.first = append(r.first, job)
		case known.Outcome == Passed && known.Inputs == inputs(job):
			r.still = append(r.still, job)
		default:
			r.later = append(r.later, job)
		}
	}
	return r
}

// inputsOf is a hash of all that a job's verdict may depend on: what the gate does, where it counts from, and its files.
func inputsOf(from string) func(*Job) string {
	return func(job *Job) string {
		sum := fnv.New128a()
		_, _ = fmt.Fprintf(sum, "%s\x00%s\x00%s\x00", job.Gate.definition, from, job.Entry) // a hash takes everything
		for _, f := range job.Files {
			_, _ = fmt.Fprintf(sum, "%s\x00%s\x00%s\x00", f.Path, f.mode, f.object)
		}
		return fmt.Sprintf("%x", sum.Sum(nil))
	}
}
