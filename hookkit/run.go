package hookkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"
)

// IO is what a hook's run takes from its process.
type IO struct {
	In       io.Reader // nil: nothing arrives
	Out, Err io.Writer
	Env      []string // "NAME=value"; for [Common.Getenv], and for what it says about the host
	Dir      string   // the working directory; "" if it cannot be told
	Terminal bool     // In is a terminal: nothing is read from it
}

// Handlers holds the function for each event that a hook answers. A nil function lets its event pass.
type Handlers struct {
	Stop               func(ctx context.Context, e *Stop) (StopDecision, error)
	SubagentStop       func(ctx context.Context, e *SubagentStop) (StopDecision, error)
	PreToolUse         func(ctx context.Context, e *PreToolUse) (PreToolUseDecision, error)
	PostToolUse        func(ctx context.Context, e *PostToolUse) (PostToolUseDecision, error)
	PostToolUseFailure func(ctx context.Context, e *PostToolUseFailure) (PostToolUseDecision, error)
	SessionStart       func(ctx context.Context, e *SessionStart) (SessionStartDecision, error)
	SessionEnd         func(ctx context.Context, e *SessionEnd) error // the host reads no answer
	UserPromptSubmit   func(ctx context.Context, e *UserPromptSubmit) (UserPromptSubmitDecision, error)
	// Other gets every event that has no type of its own; e.Name() tells which.
	Other func(ctx context.Context, e *Other) (OtherDecision, error)
}

// ExitError is an error of a handler that chooses its exit code. A code other than 0 and 1 is taken for 1: only a decision blocks.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the text of the error inside.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the error inside.
func (e *ExitError) Unwrap() error { return e.Err }

// Option changes a [Run].
type Option func(*runner)

// Expect names the event that this hook serves. It is taken when nothing arrives on stdin, when stdin is a terminal, and when the
// object has no event name. Without it, handlers for exactly one event name that event; [Handlers.Other] names none.
func Expect(event EventName) Option { return func(r *runner) { r.expect = event } }

// ForHost overrides the host that is recognised from the event.
func ForHost(host Host) Option { return func(r *runner) { r.host, r.hostGiven = host, true } }

// Limit bounds what is read.
func Limit(limits ReadLimits) Option { return func(r *runner) { r.limits = limits } }

// FailOpen ends a run that could not decide with exit 0 instead of 1. The reason is on stderr all the same.
func FailOpen() Option { return func(r *runner) { r.failOpen = true } }

// Discreet quotes nothing of the event where stderr says why it could not be read: for a hook whose events hold what people said. Left out
// are the last 40 bytes of an event that was cut off ([ErrNotJSON], [ErrTimeout]) and the one byte at which it stops being JSON
// ([ErrNotJSON]); in their place stands "… (12 bytes of the event are not shown)". How many bytes arrived, and at which byte it went
// wrong, is said all the same. What a handler returns as its error, or panics with, is the handler's own text and shown as it is.
func Discreet() Option { return func(r *runner) { r.discreet = true } }

// Observe calls f once, after everything is written. A panic of f changes nothing: not the exit code, and nobody is told.
func Observe(f func(Observation)) Option { return func(r *runner) { r.observe = f } }

// Observation is what a run did, for a debug log.
type Observation struct {
	Event    Event // nil if none could be read
	Err      error // why no decision was made
	Output   Output
	Read     time.Duration // waiting for the event and reading it
	Handling time.Duration // parsing it and deciding
}

type runner struct {
	handlers  Handlers
	expect    EventName
	host      Host
	hostGiven bool
	limits    ReadLimits
	failOpen  bool
	discreet  bool
	observe   func(Observation)
}

// Run reads one event, calls its handler, writes the decision and returns the exit code. Stderr is written before stdout, and the code
// does not depend on whether writing succeeds, so that a closed stdout cannot lose a block.
//
// The code is 2 only if the encoded decision says so. An event that cannot be read, an error and a panic of a handler give 1, with the
// reason on stderr. An event that is unknown or has no handler gives 0 and no output; one without a name, where handlers serve several
// events, gives 0 and a line on stderr. Nothing at all on stdin calls the handler of
// the event that [Expect] names with session [SessionUnknown]; on a terminal nothing is read and the session is [SessionManual].
func Run(ctx context.Context, streams IO, handlers Handlers, options ...Option) int {
	if streams.Out == nil {
		streams.Out = io.Discard
	}
	if streams.Err == nil {
		streams.Err = io.Discard
	}
	return Protect(streams.Err, func() int {
		r := runner{handlers: handlers}
		for _, option := range options {
			option(&r)
		}
		if r.expect == "" {
			if names := handlers.names(); len(names) == 1 {
				r.expect = names[0]
			}
		}
		return r.run(ctx, streams)
	})
}

func (r *runner) run(ctx context.Context, streams IO) int {
	start := time.Now()
	event, err := r.event(ctx, streams)
	read := time.Now()
	var out Output
	if err == nil {
		out, err = r.decide(ctx, event)
	}
	if err != nil {
		out = r.failure(err)
	}
	decided := time.Now()
	// Errors of writing are left alone: there is nobody to tell, and the exit code still counts.
	if len(out.Stderr) > 0 {
		_, _ = streams.Err.Write(out.Stderr)
	}
	if len(out.Stdout) > 0 {
		_, _ = streams.Out.Write(out.Stdout)
	}
	if r.observe != nil {
		Protect(io.Discard, func() int {
			r.observe(Observation{Event: event, Err: err, Output: out, Read: read.Sub(start), Handling: decided.Sub(read)})
			return exitOK
		})
	}
	return out.Exit
}

// event reads and parses the event, or makes one when there is none.
func (r *runner) event(ctx context.Context, streams IO) (Event, error) {
	if streams.Terminal {
		if r.expect == "" {
			return nil, fmt.Errorf("%w: this is a hook, its event comes as JSON on stdin, and stdin is a terminal", ErrNoEvent)
		}
		return r.made(SessionManual, streams), nil
	}
	object, fields, err := readObject(ctx, streams.In, r.limits, r.discreet)
	if errors.Is(err, ErrNoEvent) && r.expect != "" {
		return r.made(SessionUnknown, streams), nil
	}
	if err != nil {
		return nil, err
	}
	event := typed(object, fields, r.expect, streams.Env)
	if event.Name() == "" && len(r.handlers.names()) > 1 {
		return event, &ExitError{Code: exitOK, Err: errors.New("the event has no hook_event_name, and this hook serves several events: nothing was done")}
	}
	base := event.Base()
	if base.SessionID == "" {
		base.SessionID = SessionUnknown
	}
	if base.CWD == "" {
		base.CWD = streams.Dir
	}
	if r.hostGiven {
		base.Host = r.host
	}
	return event, nil
}

// made is an event that did not come from a host.
func (r *runner) made(session string, streams IO) Event {
	event := build(&fieldReader{}, r.host, r.expect, Common{Host: r.host, env: streams.Env})
	event.Base().SessionID = session
	event.Base().CWD = streams.Dir
	return event
}

func (r *runner) decide(ctx context.Context, event Event) (Output, error) {
	decision, err := r.handlers.call(ctx, event)
	if err != nil {
		return Output{}, err
	}
	return Encode(event.Base().Host, event.Name(), decision), nil
}

// call runs the handler of the event. A nil decision says nothing.
func (h Handlers) call(ctx context.Context, event Event) (Decision, error) {
	switch e := event.(type) {
	case *Stop:
		return handled(ctx, h.Stop, e)
	case *SubagentStop:
		return handled(ctx, h.SubagentStop, e)
	case *PreToolUse:
		return handled(ctx, h.PreToolUse, e)
	case *PostToolUse:
		return handled(ctx, h.PostToolUse, e)
	case *PostToolUseFailure:
		return handled(ctx, h.PostToolUseFailure, e)
	case *SessionStart:
		return handled(ctx, h.SessionStart, e)
	case *UserPromptSubmit:
		return handled(ctx, h.UserPromptSubmit, e)
	case *Other:
		return handled(ctx, h.Other, e)
	case *SessionEnd:
		if h.SessionEnd != nil {
			return nil, h.SessionEnd(ctx, e)
		}
	}
	return nil, nil
}

func handled[E any, D Decision](ctx context.Context, f func(context.Context, E) (D, error), e E) (Decision, error) {
	if f == nil {
		return nil, nil
	}
	d, err := f(ctx, e)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// names are the events that the handlers serve; "" stands for all that have no type.
func (h Handlers) names() []EventName {
	var names []EventName
	for _, one := range [...]struct {
		name EventName
		set  bool
	}{
		{EventStop, h.Stop != nil},
		{EventSubagentStop, h.SubagentStop != nil},
		{EventPreToolUse, h.PreToolUse != nil},
		{EventPostToolUse, h.PostToolUse != nil},
		{EventPostToolUseFailure, h.PostToolUseFailure != nil},
		{EventSessionStart, h.SessionStart != nil},
		{EventSessionEnd, h.SessionEnd != nil},
		{EventUserPromptSubmit, h.UserPromptSubmit != nil},
		{"", h.Other != nil},
	} {
		if one.set {
			names = append(names, one.name)
		}
	}
	return names
}

// failure is the output of a run that made no decision.
func (r *runner) failure(err error) Output {
	out := Output{Exit: exitReport, Stderr: stderrText(err.Error())}
	var chosen *ExitError
	if errors.As(err, &chosen) && chosen.Code == exitOK {
		out.Exit = exitOK
	}
	if r.failOpen {
		out.Exit = exitOK
	}
	return out
}

// Protect runs f and returns its result; a panic of f becomes exit code 1, with one line and a short stack on stderr. It is the one
// place where a panic is caught. A panic in another goroutine cannot be caught: see [Guard].
func Protect(stderr io.Writer, f func() int) (code int) {
	defer func() {
		if p := recover(); p != nil {
			code = exitReport
			_, _ = fmt.Fprintf(stderr, "internal error, nothing was decided: panic: %v\n%s", p, shortStack(debug.Stack()))
		}
	}()
	return f()
}

// shortStack keeps the frames nearest to the panic.
func shortStack(stack []byte) []byte {
	const frames = 8
	lines := bytes.SplitAfter(stack, []byte("\n"))
	// The goroutine's header, then two lines a frame; the first ones are debug.Stack, this package's recover and panic itself.
	const skipped = 1 + 2*3
	if len(lines) > skipped {
		lines = lines[skipped:]
	}
	return bytes.Join(lines[:min(len(lines), 2*frames)], nil)
}
