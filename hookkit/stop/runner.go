package stop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/failure"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/project/namespaces"
	"github.com/hookkit/brepl/hookkit/text"
)

// Evaluator evaluates a hook's code in a running REPL.
type Evaluator interface {
	// Eval returns an error for which errors.Is(err, nrepl.ErrNoServer) holds when there is no server to ask.
	// Everything printed also goes to out as it arrives. When ctx ends the code is interrupted.
	Eval(ctx context.Context, code string, out io.Writer) (nrepl.Result, error)
}

// Runner runs hooks, one at a time.
type Runner struct {
	Dir       string   // the project
	Env       []string // the environment of commands, complete
	Evaluator Evaluator
	// Session opens a session for a hook of :type :tests, with the errors of Evaluator.
	Session func(ctx context.Context, out io.Writer) (*nrepl.Session, error)

	// Live, if set, gets a hook's output as it comes.
	Live io.Writer

	// Grace is how long a command may take to end after TERM; 0: 2 s.
	Grace time.Duration
}

// Run runs one hook and tells how it went. ctx is the whole stop's deadline.
func (r *Runner) Run(ctx context.Context, h *hooksedn.Hook) Outcome {
	tail := proc.NewTail(proc.LogLimit)
	var out io.Writer = tail
	if r.Live != nil {
		out = io.MultiWriter(tail, r.Live)
	}
	o := Outcome{Hook: h}
	var said valueCounts
	exit := 0
	switch h.Type {
	case hooksedn.REPL:
		o.Kind, o.Why, said = r.evaluate(ctx, h, out)
	case hooksedn.Bash:
		o.Kind, o.Why, exit = r.command(ctx, h, out)
	case hooksedn.Tests:
		o.Kind, o.Why, o.Ran = r.test(ctx, h, out)
	}
	kept := tail.Kept()
	o.Output, o.Omitted = cleanOutput(kept.Text), int(kept.DroppedLines)
	o.log = tail.Log() // the whole of it
	if h.Type == hooksedn.REPL {
		o.Output = failure.Fold(o.Output, func() []string { return namespaces.SourcePaths(r.Dir) })
	}
	if h.Type != hooksedn.Tests { // these counted themselves
		o.count(said, exit)
	}
	return o
}

func (r *Runner) command(ctx context.Context, h *hooksedn.Hook, out io.Writer) (kind Kind, why string, exit int) {
	dir := workDir(r.Dir, h.Cwd)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return CannotRun, fmt.Sprintf(":cwd %s is not a directory", h.Cwd), 0
	}
	env, err := proc.MergeEnv(r.Env, append([]proc.Var{{Name: "BREPL_HOOK_NAME", Value: h.Name}}, h.Env...)...)
	if err != nil {
		return CannotRun, err.Error(), 0
	}
	result, cannot := proc.RunShell(ctx, h.Command, proc.Command{
		Dir:     dir,
		Env:     env,
		Output:  out,
		Timeout: h.Timeout,
		Grace:   r.Grace,
		// The host that ends us with TERM sends KILL 1.5 s later.
		CancelGrace: 700 * time.Millisecond,
	})
	switch {
	case cannot != "":
		return CannotRun, text.Brief(cannot), 0
	case result.TimedOut:
		return Failed, timedOut(h.Timeout), 0
	case result.OK():
		return Passed, "", 0
	}
	return Failed, result.String(), result.Exit
}

func workDir(project, cwd string) string {
	if filepath.IsAbs(cwd) {
		return cwd
	}
	return filepath.Join(project, cwd)
}

func (r *Runner) evaluate(ctx context.Context, h *hooksedn.Hook, out io.Writer) (kind Kind, why string, said valueCounts) {
	limited, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	result, err := r.Evaluator.Eval(limited, h.Code, out)
	if err != nil {
		kind, why = broken(err, h)
		return kind, why, said
	}
	if why = exception(result); why != "" {
		return Failed, why, said
	}
	if len(result.Values) > 0 {
		said = readTestCounts(result.Values[len(result.Values)-1])
	}
	if said.failed() {
		return Failed, said.String(), said
	}
	return Passed, "", said
}

// broken says what an evaluation without a result means.
func broken(err error, h *hooksedn.Hook) (Kind, string) {
	switch late, isLate := errors.AsType[*nrepl.TimeoutError](err); {
	case errors.Is(err, nrepl.ErrNoServer), isAmbiguous(err):
		const longest = 1000 // it is in our words, and names each place that was tried
		return CannotRun, text.CutUTF16(text.Line(err.Error()), longest)
	case isLate && late.Op == "eval" && late.Stopped:
		return Failed, timedOut(h.Timeout) + " and was interrupted"
	case isLate && late.Op == "eval":
		return Failed, timedOut(h.Timeout) + "; the server did not confirm the interrupt, so the code may still be running"
	}
	return Failed, text.Brief(err.Error())
}

// isAmbiguous reports that several servers would do: brepl does not choose, and nothing was evaluated.
func isAmbiguous(err error) bool {
	_, ok := errors.AsType[*nrepl.AmbiguousError](err)
	return ok
}

// exception says in one line what a failed evaluation threw, "" when it did not fail.
func exception(result nrepl.Result) string {
	if !result.Failed {
		return ""
	}
	printed := result.Err.Text
	if printed == "" { // nbb and let-go print their errors to stdout
		printed = result.Out.Text
	}
	if line := errorLine(cleanOutput([]byte(printed))); line != "" {
		return text.Brief(line)
	}
	if result.Ex != "" {
		return text.Brief(result.Ex)
	}
	return "the evaluation ended with status " + result.Status.String()
}

// errorLine finds the first error that a REPL printed, which is often the cause of the others, with the line after its place, which holds the
// message: "Execution error (ArithmeticException) at user/eval1 (REPL:1). Divide by zero".
func errorLine(printed string) string {
	lines := strings.Split(printed, "\n")
	for i, line := range lines {
		before, _, ok := strings.Cut(line, " error")
		ok = ok && slices.Contains([]string{"Execution", "Syntax", "Unexpected"}, before)
		if !ok && !strings.HasPrefix(line, "Error printing return value") {
			continue
		}
		if i+1 < len(lines) {
			return line + " " + lines[i+1]
		}
		return line
	}
	return ""
}

func timedOut(limit time.Duration) string {
	return fmt.Sprintf("timed out after %g s", limit.Seconds())
}
