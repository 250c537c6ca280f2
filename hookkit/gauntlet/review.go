package gauntlet

import (
	"context"
	"time"
)

// Reviewer runs reviews. It is an interface so that a run can be tested without tools.
type Reviewer interface {
	// Review runs one review job and returns its Result, Began and Took left out. It keeps the violations in their files. When
	// ctx ends it returns soon, with NotRun; the caller knows whether that was the deadline.
	Review(ctx context.Context, task ReviewTask) Result
	// Health says for each tool that the configuration names, in order of preference, whether it can be used.
	Health(ctx context.Context) []ToolHealth
}

// ReviewTask is what a Reviewer needs of a run.
type ReviewTask struct {
	Job    *Job
	Config *Config
	// Diff returns the unified diff of the job's files, from the tree the run counts from to the work tree. It is empty only if
	// no line of text differs (a mode, a binary file).
	Diff func(ctx context.Context) ([]byte, error)
	// Rerun says that a run has failed since the last one that passed: new violations below Config.RerunThreshold are dropped.
	Rerun bool
	// Dir is the job's folder of violations, below log_dir; it lasts from run to run and goes when a run has passed. Log is the
	// log of this run. The folders above both are there.
	Dir, Log string
	Env      []string      // of the tools, complete: GAUNTLET_ACTIVE and BASE_BRANCH are in it
	Grace    time.Duration // from TERM to KILL; 0: 2 s
}

// ToolHealth is what `agent-gauntlet health` shows of a tool.
type ToolHealth struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Detail    string `json:"detail"` // the path and version, or why it cannot be used
}
