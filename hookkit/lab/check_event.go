package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

// checkRuns counts all runs of all checks of this process: each has a session of its own.
var checkRuns atomic.Int64

// eventCheck puts the hook through the contract for one event.
type eventCheck struct {
	*checker
	CheckedEvent
	cases []checkCase
	base  answer // to the event as Claude Code sends it
	texts bool   // the texts were the same twice
	open  bool   // it answers while stdin stays open
}

// answer is what the hook did in one run, and what the client makes of it.
type answer struct {
	fakes.Outcome
	claudecode.Reaction
	notStarted bool
}

// verdict is the part of an answer that must not depend on how the event arrives.
type verdict struct {
	exit                   int
	signal                 string
	blocked, goesOn, ended bool
	permission, fault      string
	rewrites               bool
}

func (a answer) verdict() verdict {
	return verdict{a.Exit, a.Signal, a.Blocked, a.GoesOn, a.Ended, a.Permission, a.Fault, a.UpdatedInput != nil}
}

// newRun returns a session and a marker that no other run has.
func (c *checker) newRun() (session, marker string) {
	n := checkRuns.Add(1)
	return fmt.Sprintf("%08x-c4ec-4000-8000-%012x", os.Getpid(), n), c.prefix + strconv.FormatInt(n, 10) + "."
}

func (c *checker) spec(session, marker string, limit time.Duration) fakes.Spec {
	s := fakes.Spec{Path: c.argv[0], Args: c.argv[1:], Dir: c.place.project, Env: c.place.env(c.Env, session, marker), Limit: limit}
	if c.shell {
		s.Path, s.Args = "/bin/sh", []string{"-c", c.argv[0]}
	}
	return s
}

// limit is how long an answer to an event may take.
func (e *eventCheck) limit() time.Duration {
	switch e.Event {
	case "SessionEnd":
		return min(e.Timeout, claudecode.SessionEndTimeout)
	case "UserPromptSubmit":
		return min(e.Timeout, claudecode.PromptTimeout)
	}
	return e.Timeout
}

// question is one way to call the hook. Its zero value is how Claude Code does it.
type question struct {
	sample  int // of the event's cases
	text    string
	options []fakes.EventOption
	shape   func(event string) fakes.Stdin
	session string
	limit   time.Duration
	pipes   bool
}

func (e *eventCheck) eventJSON(q question, session string) string {
	c := e.cases[q.sample]
	text := q.text
	if text == "" {
		text = c.text
	}
	options := append([]fakes.EventOption{
		fakes.InProject(e.place.project), fakes.InSession(session), fakes.Set("transcript_path", e.place.transcript),
	}, q.options...)
	return c.event(text, options...).JSON()
}

func (e *eventCheck) ask(q question) answer {
	session, marker := e.newRun()
	if q.session != "" {
		session = q.session
	}
	if q.limit == 0 {
		q.limit = e.limit()
	}
	if q.shape == nil {
		q.shape = fakes.OneLine
	}
	spec := e.spec(session, marker, q.limit)
	spec.Pipes = q.pipes
	out, err := spec.Run(q.shape(e.eventJSON(q, session)))
	a := answer{Outcome: out}
	if err != nil {
		a.notStarted = true
		a.Stderr = err.Error()
	}
	if !a.TimedOut && out.Stdout == "" && e.shell && (out.Exit == 126 || out.Exit == 127) {
		a.notStarted = true
	}
	a.Reaction = claudecode.Judge(claudecode.Run{
		Event: e.Event, Value: e.cases[q.sample].value, Command: strings.Join(e.Command, " "), Exit: out.Exit, Signal: out.Signal,
		Stdout: []byte(out.Stdout), Stderr: []byte(a.Stderr), TimedOut: out.TimedOut, StreamsHeld: out.StreamsHeld,
		NotStarted: a.notStarted, SaveDir: e.place.root,
	})
	return a
}

// step notes an answer.
func (e *eventCheck) step(name string, a answer, full bool) {
	s := CheckStep{Name: name, Exit: a.Exit, Signal: a.Signal, MS: milliseconds(a.Elapsed), Follows: follows(e.Event, a)}
	if full {
		s.Told, s.Shown = textsOf(a.Told), textsOf(a.Shown)
	}
	e.Steps = append(e.Steps, s)
}

func (e *eventCheck) skip(name, why string) {
	e.Steps = append(e.Steps, CheckStep{Name: name, Skipped: why})
}

// find notes a fault, once an event.
func (e *eventCheck) find(id, step, format string, args ...any) {
	if slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Fault == id }) {
		return
	}
	row := faultByID(id)
	e.Findings = append(e.Findings, Finding{
		Fault: id, Warning: row.Warning, Step: step, Detail: fmt.Sprintf(format, args...), Meaning: row.Meaning, Mend: row.Mend,
	})
}

// check asks everything. What depends on a part that was found broken is skipped aloud. What may leave a lock behind comes last.
func (e *eventCheck) check(ctx context.Context) {
	before := listTree(e.place.project)
	if e.asTheClientDoes() {
		e.twice()
		for _, part := range []func(){
			e.repeated, e.devStdin, e.heldOpen, e.shapes, e.fields, e.large, e.endOfInput, e.parallel, e.leftBehind, e.ended, e.waiting,
		} {
			if ctx.Err() != nil {
				break
			}
			part()
		}
	}
	if e.place.own {
		e.projectChanges(before)
	}
	e.conclude()
}

// conclude takes out what is only another view of a fault that was found.
func (e *eventCheck) conclude() {
	var implied []string
	for _, f := range e.Findings {
		implied = append(implied, impliedBy(f.Fault)...)
	}
	e.Findings = slices.DeleteFunc(e.Findings, func(f Finding) bool { return slices.Contains(implied, f.Fault) })
	slices.Sort(e.StartMS)
}

// protocol judges what a hook printed and how it exited.
func (e *eventCheck) protocol(step, tool string, a answer) {
	if a.Fault != "" {
		e.find(a.Fault, step, "%s", a.Note)
	} else if len(a.Unknown) > 0 {
		e.find(warnUnknownKeys, step, "%s", a.Note)
	}
	if (a.Exit != 0 && a.Exit != 2 || a.Signal != "") && !a.TimedOut && !a.notStarted && len(a.Told) == 0 && !spokeJSON(a) {
		e.find(faultNonBlockingExit, step, "%s%s", exitText(a), onStderr(a.Stderr))
	}
	if what := incompleteInput(tool, a.Reaction); what != "" {
		e.find(faultIncompleteInput, step, "%s", what)
	}
	for _, t := range slices.Concat(a.Told, a.Shown) {
		if t.Saved != "" {
			e.find(warnTextTooLong, step, "a text of %d bytes", len(t.Full))
		}
	}
	if claudecode.IsStop(e.Event) && a.Blocked && len(a.Told) > 1 && a.Fault == "" {
		e.find(warnToldTwice, step, "the reason is in %d texts to the agent", len(a.Told))
	}
}

// incompleteInput says what a tool cannot do with its new input, "" if it can.
func incompleteInput(tool string, r claudecode.Reaction) string {
	required := map[string][]string{"Write": {"file_path", "content"}, "Edit": {"file_path", "old_string", "new_string"}, "Bash": {"command"}}[tool]
	if r.UpdatedInput == nil || r.Blocked || r.Permission == "deny" {
		return ""
	}
	var input map[string]any
	if json.Unmarshal(r.UpdatedInput, &input) != nil {
		return "updatedInput is no object"
	}
	for _, field := range required {
		if _, ok := input[field].(string); !ok {
			return tool + " needs the text " + field + ", and updatedInput has none"
		}
	}
	if tool != "Edit" {
		return ""
	}
	path, _ := input["file_path"].(string)
	text, err := os.ReadFile(path)
	if old, _ := input["old_string"].(string); err == nil && !strings.Contains(string(text), old) {
		return "Edit cannot find the old_string of updatedInput in the file"
	}
	return ""
}

// spokeJSON reports whether the hook printed an object that the client takes: then its exit code is not all that it says.
func spokeJSON(a answer) bool {
	text := strings.TrimSpace(strings.TrimPrefix(a.Stdout, "\ufeff"))
	return a.Fault == "" && strings.HasPrefix(text, "{") && json.Valid([]byte(text))
}

// twice asks the plain question a second time.
func (e *eventCheck) twice() {
	const name = "a second time"
	a := e.ask(question{})
	e.step(name, a, false)
	if a.TimedOut {
		return // what is compared with it asks again
	}
	e.texts = e.sameTexts(a)
	if a.verdict() != e.base.verdict() {
		e.find(faultInconsistent, name, "%s; here: %s%s", follows(e.Event, e.base), follows(e.Event, a), onStderr(a.Stderr))
	}
}

// sameTexts reports whether the agent and the user get the texts of the first answer.
func (e *eventCheck) sameTexts(a answer) bool {
	return slices.Equal(a.Told, e.base.Told) && slices.Equal(a.Shown, e.base.Shown)
}

// inconsistent reports whether the hook is known to give different answers to the same event: nothing can be compared then.
func (e *eventCheck) inconsistent() bool {
	return slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Fault == faultInconsistent })
}

// confirmed asks the plain question once more, before something is found by the last step's answer. When that is slow or different too, the
// answer proves nothing, and the step is skipped aloud.
func (e *eventCheck) confirmed() bool {
	s := &e.Steps[len(e.Steps)-1]
	if e.inconsistent() {
		s.Skipped = "it answers the same event in different ways"
		return false
	}
	a := e.ask(question{})
	switch {
	case a.TimedOut, a.Elapsed > e.limit()/2 && a.Elapsed > 2*e.base.Elapsed:
		s.Skipped = "the plain event gets no quick answer now either: this machine is too busy, or the hook is stuck"
		return false
	case a.verdict() != e.base.verdict():
		e.find(faultInconsistent, s.Name, "%s; asked again: %s%s", follows(e.Event, e.base), follows(e.Event, a), onStderr(a.Stderr))
		s.Skipped = "it answers the same event in different ways"
		return false
	}
	return true
}

// compare notes a step whose answer must be the usual one.
func (e *eventCheck) compare(id, step string, a answer) {
	e.step(step, a, false)
	switch {
	case !a.TimedOut && a.verdict() == e.base.verdict():
	case id != faultStuckAfterKill && !e.confirmed(): // a lock that stays would spoil the plain question too
	case a.TimedOut:
		e.find(id, step, "no answer within %v", e.limit())
	default:
		e.find(id, step, "%s; here: %s%s", follows(e.Event, e.base), follows(e.Event, a), onStderr(a.Stderr))
	}
}

func exitText(a answer) string {
	switch {
	case a.TimedOut:
		return "no answer"
	case a.Signal != "":
		return "ended by " + a.Signal
	}
	return "exit " + strconv.Itoa(a.Exit)
}
