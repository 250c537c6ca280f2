package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hookkit/brepl/hookkit/gauntlet/condense"
	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/text"
)

// keptOutput is how much of the end of a check's output is looked at for the report; all of it is in the log.
const keptOutput = 256 << 10

// runCheck runs a check's command. Its whole output goes to the log as it comes. ctx is the run's own deadline.
func (r *runner) runCheck(ctx context.Context, job *Job, runDir string) Result {
	result := Result{Job: job, Outcome: CannotRun}
	if info, err := os.Stat(job.Dir); err != nil || !info.IsDir() {
		if job.Gate.WorkingDirectory == "" {
			// Everything in it was deleted, and the check has nothing to look at.
			result.Outcome = Passed
			result.Notes = []string{fmt.Sprintf("%s: the folder %s is gone, so there was nothing to check", job.Title(), text.Name(job.Entry))}
			return result
		}
		result.Why = fmt.Sprintf("working_directory %s is not a folder", job.Gate.WorkingDirectory)
		return result
	}
	output := newOutputLog(logFile(runDir, job))
	ended, cannot := proc.RunShell(ctx, job.Gate.Command, proc.Command{
		Dir: job.Dir, Env: r.gateEnv, Output: output, Timeout: job.Gate.Timeout, Grace: r.grace,
		// The host that ends us with TERM sends KILL 1.5 s later.
		CancelGrace: 700 * time.Millisecond,
	})
	result.Log = output.close()
	if output.err != nil {
		result.Notes = append(result.Notes, fmt.Sprintf("%s: the log is not complete: %v", job.Title(), output.err))
	}
	switch {
	case cannot != "":
		result.Why = text.Brief(cannot)
	case ended.Canceled:
		result.Outcome, result.Why = r.cutOff(ctx)
	case ended.TimedOut:
		result.Outcome, result.Why = Failed, fmt.Sprintf("timed out after %g s", job.Gate.Timeout.Seconds())
	case ended.OK():
		result.Outcome = Passed
	default:
		result.Outcome, result.Why = Failed, ended.String()
	}
	if result.Outcome == Failed || result.Outcome == CannotRun {
		result.Report = condense.Output(output.tail.String(), condense.Limits{})
	}
	return result
}

// cutOff says what became of a job that the end of ctx ended.
func (r *runner) cutOff(ctx context.Context) (Outcome, string) {
	if isDeadline(ctx) {
		return Failed, "timed out: " + r.deadlineText
	}
	return NotRun, interrupted
}

const interrupted = "it was interrupted"

func isDeadline(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), context.DeadlineExceeded)
}

// outputLog is a command's output: all of it in a file, the end in memory. Writing never fails, so that a full disk does not fail a check.
type outputLog struct {
	file *os.File
	tail *proc.Tail
	path string
	err  error // why the file is not complete
}

func newOutputLog(path string) *outputLog {
	l := &outputLog{tail: proc.NewTail(keptOutput), path: path}
	if l.err = os.MkdirAll(filepath.Dir(path), 0o700); l.err == nil {
		l.file, l.err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	}
	return l
}

// Write takes p.
func (l *outputLog) Write(p []byte) (int, error) {
	if l.err == nil {
		_, l.err = l.file.Write(p)
	}
	return l.tail.Write(p)
}

// close returns the log's path, "" if there is none.
func (l *outputLog) close() string {
	if l.file == nil {
		return ""
	}
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	return l.path
}

var _ io.Writer = (*outputLog)(nil)
