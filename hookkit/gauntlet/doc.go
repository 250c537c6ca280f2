// Package gauntlet is agent-gauntlet: quality gates over what an agent has changed, run by hand, in CI, or when the agent stops.
//
// One run flows straight down. The rooms, in the order in which a run goes through them:
//
//	config.go, gatefile.go   .gauntlet/: Config and its Gates; every fault with file:line
//	git.go, snapshot.go      the git calls; the work tree as a tree of git's
//	changes.go, since.go     from which tree to which one, and the files that differ: Changes
//	entry.go                 entry points make Jobs of Gates and Changes
//	state.go, lock.go        RunState in log_dir, and the lock around a run
//	due.go                   which Jobs run now, and which later: the rules of a rerun
//	run.go, schedule.go      Jobs in parallel or in order, within the deadline; each gives a Result
//	check.go                 a check: a command, its log, its Result
//	review*.go, adapter*.go, violation*.go   a review: a Reviewer, the tools behind it, the life of a Violation
//	status.go                Results become a Status, and a Status an exit code: the only place that decides either
//	report.go, display.go, json.go, html.go  a Summary for the agent, a person, a program, a page
//	hooks.go                 what install puts into the agent's settings
//	stophook.go              an event becomes a run, and a Summary a hookkit.StopDecision
//	command*.go, init.go, ci.go   the rows of the program
//
// What the rooms hand to each other are the types in gate.go (Gate, Job), result.go (Result, Violation, Summary) and state.go
// (RunState).
//
// It serves the programs of this repository and carries no promise of stability.
package gauntlet
