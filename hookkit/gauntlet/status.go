package gauntlet

import "github.com/hookkit/brepl/hookkit/proc"

// Status is the verdict of a run or of a stop.
type Status string

// The statuses. Only StatusFailed blocks a stop.
const (
	StatusPassed             Status = "passed"
	StatusPassedWithWarnings Status = "passed_with_warnings" // violations were skipped
	StatusNoApplicableGates  Status = "no_applicable_gates"  // something changed, and no gate is for it
	StatusNoChanges          Status = "no_changes"
	StatusFailed             Status = "failed"
	StatusRetryLimitExceeded Status = "retry_limit_exceeded"
	StatusLockConflict       Status = "lock_conflict"
	StatusCannotRun          Status = "cannot_run"

	// Of a stop only.
	StatusIntervalNotElapsed Status = "interval_not_elapsed"
	StatusNoConfig           Status = "no_config"
	StatusDisabled           Status = "disabled"
	StatusStopHookActive     Status = "stop_hook_active"
	StatusNested             Status = "nested"
	StatusInvalidInput       Status = "invalid_input"

	// StatusError: the configuration cannot be used, or something of ours failed. Summary.Why says which.
	StatusError Status = "error"
)

// Exit codes of the commands for people and scripts; stop-hook always ends with 0.
const (
	exitOK = 0
	// exitFailed also stands for a configuration that cannot be used: it must not pass for a success in a script.
	exitFailed = 1
	// exitTempFail is what a hook of brepl takes for "cannot run now", which is no failure of the code.
	exitTempFail = proc.ExitTempFail
)

// Exit is the exit code of `run`, `check` and `review`.
func (s Status) Exit() int {
	switch s {
	case StatusPassed, StatusPassedWithWarnings, StatusNoApplicableGates, StatusNoChanges:
		return exitOK
	case StatusLockConflict, StatusCannotRun, StatusNested:
		return exitTempFail
	default:
		return exitFailed
	}
}

// Blocks reports whether a stop with this status is blocked.
func (s Status) Blocks() bool { return s == StatusFailed }

// Title is the status for people.
func (s Status) Title() string {
	switch s {
	case StatusPassed:
		return "Passed"
	case StatusPassedWithWarnings:
		return "Passed with warnings"
	case StatusNoApplicableGates:
		return "No applicable gates"
	case StatusNoChanges:
		return "No changes"
	case StatusFailed:
		return "Failed"
	case StatusRetryLimitExceeded:
		return "Retry limit exceeded"
	case StatusLockConflict:
		return "A gauntlet run is already in progress"
	case StatusCannotRun:
		return "Cannot run"
	default:
		return string(s)
	}
}

// verdict is the status of a run from the results of its jobs. Attempts counts this run if it failed.
func verdict(results []Result) Status {
	status := StatusPassed
	for _, r := range results {
		switch {
		case r.Outcome == Failed, r.Outcome == CannotRun && r.Job.Gate.CannotRun == CannotRunBlocks:
			return StatusFailed
		case r.Outcome == CannotRun:
			status = StatusCannotRun
		case r.Outcome == NotRun && status != StatusCannotRun:
			// Nothing failed, but not everything ran: the deadline, or an interruption.
			status = StatusCannotRun
		case hasSkips(r) && status == StatusPassed:
			status = StatusPassedWithWarnings
		}
	}
	return status
}

func hasSkips(r Result) bool {
	for _, v := range r.Violations {
		if v.Status == ViolationSkipped {
			return true
		}
	}
	return false
}
