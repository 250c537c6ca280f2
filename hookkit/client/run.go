package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

const (
	// forever is the time of an evaluation without --timeout: a person has Ctrl-C, and a server may run for days.
	forever = 10_000 * time.Hour
	// connectLimit is how long a server may take to accept and to clone a session without --timeout. nbb and babashka answer nobody while
	// they are busy.
	connectLimit = 30 * time.Second
	// leaveLimit is how long the end of an evaluation may take after Ctrl-C or the timeout. nrepl waits 1 s for the interrupt to have an
	// effect; the rest is for a stdout that nobody reads.
	leaveLimit = 2500 * time.Millisecond
	// valueLimit is how many characters of a value the server prints. It spares the server's memory an endless one, and keeps the
	// message below the 16 MB that we take.
	valueLimit = 5_000_000
)

// outputError ends the evaluation when stdout takes nothing more.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// run is one call of `brepl EXPR`.
type run struct {
	*options

	program *cli.Program
	args    []string
	lookup  nrepl.Lookup
	paths   nrepl.PathMap

	code   code
	show   *printer
	conn   *nrepl.Conn
	opened atomic.Pointer[nrepl.Conn] // conn, for leave
	start  time.Time
	cancel context.CancelCauseFunc
}

// main does everything and returns the exit code.
func (r *run) main(ctx context.Context) int {
	r.start = time.Now()
	// Catching signals takes a thread, which is made while we connect. Before that Ctrl-C ends us, which is right.
	ctx, ready, stop := cli.InterruptibleSoon(ctx)
	defer stop()
	limit := forever
	if r.timeout > 0 {
		limit = time.Duration(r.timeout)
	}
	ctx, cancelTime := context.WithTimeout(ctx, limit)
	defer cancelTime()
	ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	r.show = newPrinter(r.program, func(err error) { r.cancel(outputError{err}) })
	r.show.quiet = r.json || r.hook || r.verbose

	// On a goroutine of its own, because a write to a stdout that nobody reads cannot be ended.
	done := make(chan int, 1)
	go func() { done <- hookkit.Protect(r.program.Stderr, func() int { return r.work(ctx, ready) }) }()
	select {
	case exit := <-done:
		return exit
	case <-ctx.Done():
	}
	select {
	case exit := <-done:
		return exit
	case <-time.After(leaveLimit):
		return r.leave(ctx)
	}
}

// leave ends a call that is stuck in a write: it says so, if stderr is not stuck too, and ends the session on the server.
func (r *run) leave(ctx context.Context) int {
	told := make(chan struct{})
	go func() {
		defer close(told)
		_, _ = fmt.Fprintf(r.program.Stderr, "%s: nobody reads stdout; left without showing all\n", r.program.Path())
	}()
	if conn := r.opened.Load(); conn != nil {
		_ = conn.Close() // takes Limits.Grace at most, and there is nobody to tell
	}
	select {
	case <-told:
	case <-time.After(heldTime):
	}
	return r.exit(ctx)
}

// work reads the code, connects and evaluates.
func (r *run) work(ctx context.Context, ready <-chan struct{}) int {
	message, err := r.message()
	if err != nil {
		return r.program.UsageError(err)
	}
	if message == nil {
		if r.code, err = r.read(ctx); err != nil {
			if errors.Is(err, errNoCode) {
				return r.program.UsageError(err)
			}
			return r.broken(ctx, err)
		}
	}
	if err = r.connect(ctx); err != nil {
		return r.broken(ctx, err)
	}
	defer func() { _ = r.conn.Close() }() // everything has been shown
	<-ready
	if message != nil {
		return r.raw(ctx, message)
	}
	return r.evaluate(ctx)
}

func (r *run) connect(ctx context.Context) error {
	if r.verbose {
		r.lookup.Trace = r.show.trace
	}
	limited, cancel := ctx, func() {}
	if r.timeout == 0 {
		limited, cancel = context.WithTimeout(ctx, connectLimit)
	}
	defer cancel()
	conn, err := nrepl.Connect(limited, r.lookup)
	if err != nil {
		return err
	}
	for _, line := range conn.PassedOver() {
		r.show.note(fmt.Sprintf("passed over %s; using %s", line, conn.Target()))
	}
	conn.Limits.Linger = nrepl.FarewellTime
	if r.json || r.hook {
		conn.Limits.Output = 1 << 20
		conn.Limits.Values = 3 * valueLimit // characters outside of ASCII have up to three bytes for each UTF-16 unit
	}
	r.conn = conn
	r.opened.Store(conn)
	return nil
}

func (r *run) evaluate(ctx context.Context) int {
	session, err := r.conn.Clone(ctx)
	if err != nil {
		return r.broken(ctx, err)
	}
	var input nrepl.Input
	if r.program.Terminal(r.program.Stdin) {
		input = (&keyboard{in: r.program.Stdin}).line
	}
	var result nrepl.Result
	if r.code.file == "" {
		result, err = session.Eval(ctx, nrepl.Request{Code: r.code.text, Ns: r.ns, PrintQuota: valueLimit, Input: input}, r.show.message)
	} else {
		path := r.paths.Remote(r.code.file)
		name := path[strings.LastIndexAny(path, `/\`)+1:]
		result, err = session.LoadFile(ctx, nrepl.LoadRequest{
			Content: r.code.text, Path: path, Name: name, PrintQuota: valueLimit, Input: input,
		}, r.show.message)
	}
	return r.finish(ctx, session, result, err)
}

// finish tells what is left to tell of an evaluation and returns the exit code.
func (r *run) finish(ctx context.Context, session *nrepl.Session, result nrepl.Result, err error) int {
	var told *report
	if err == nil && result.Failed {
		told = r.explain(ctx, session, result)
	}
	switch {
	case r.json:
		r.printJSON(ctx, result, told, err)
	case r.hook:
		r.printHook(ctx, result, err)
	default:
		r.show.finish(told, result.Interrupted)
	}
	if err != nil {
		r.tell(ctx, err)
		return r.exit(ctx)
	}
	if result.Status["nrepl.middleware.print/truncated"] {
		r.show.note(fmt.Sprintf("a value was cut after %d characters", valueLimit))
	}
	if r.show.failed() != nil {
		r.tell(ctx, r.show.failed())
		return r.exit(ctx)
	}
	if result.Failed {
		r.suggest()
		return exitFailed
	}
	if len(r.args) == 1 && (r.args[0] == "eval" || strings.HasSuffix(suggestion(r.program, r.args), " "+r.args[0])) {
		r.suggest() // it is a name in Clojure too, as list; its value says nothing
	}
	return 0
}

// broken reports that nothing was evaluated.
func (r *run) broken(ctx context.Context, err error) int {
	switch {
	case r.json:
		r.printJSON(ctx, nrepl.Result{}, nil, err)
	case r.hook:
		r.printHook(ctx, nrepl.Result{}, err)
	}
	r.tell(ctx, err)
	r.suggest()
	return r.exit(ctx)
}

// tell says why the evaluation has no result.
func (r *run) tell(ctx context.Context, err error) {
	if text := r.ended(ctx, err); text != "" {
		r.show.note(text)
	}
}

// ended says in words why an evaluation has no result; "" where nobody wants to know.
func (r *run) ended(ctx context.Context, err error) string {
	timeout, _ := errors.AsType[*nrepl.TimeoutError](err)
	_, signal := cli.SignalExit(ctx)
	broken, output := errors.AsType[outputError](context.Cause(ctx))
	switch {
	case hung(ctx):
		return ""
	case output:
		return "stdout: " + pathless(broken.error).Error() + "; the evaluation was interrupted"
	case timeout != nil && timeout.Op != "connect" && errors.Is(err, nrepl.ErrTimeout) && r.timeout > 0 && ctx.Err() != nil:
		told := *timeout
		told.After = time.Duration(r.timeout) // the whole call's, as it was asked for
		return told.Error()
	case !signal:
		return err.Error()
	case timeout != nil && strings.HasPrefix(timeout.Op, "raw "):
		return "left before the answer was complete; nothing was interrupted"
	case timeout == nil || !timeout.Evaluating() || timeout.Stopped:
		return "interrupted"
	}
	return "interrupted, but the server did not confirm it: the code may still be running"
}

// hung says that whoever read our stdout had enough.
func hung(ctx context.Context) bool {
	broken, ok := errors.AsType[outputError](context.Cause(ctx))
	return ok && errors.Is(broken, syscall.EPIPE)
}

// exit is the exit code of a call that has no result.
func (r *run) exit(ctx context.Context) int {
	if hung(ctx) {
		return exitClosed
	}
	if code, ok := cli.SignalExit(ctx); ok {
		return code
	}
	return exitFailed
}

// suggest says that the expression may have been meant as a file or a command.
func (r *run) suggest() {
	if len(r.args) != 1 || strings.ContainsAny(r.args[0], " \n()[]{}\"'") {
		return
	}
	word := r.args[0]
	meant := suggestion(r.program, r.args)
	if info, err := os.Stat(absolute(r.program.Dir, word)); err == nil && info.Mode().IsRegular() {
		meant = r.program.Path() + " -f " + word
	}
	if meant != "" {
		r.show.note(fmt.Sprintf("%q was taken as an expression; you may have meant: %s", word, meant))
	}
}
