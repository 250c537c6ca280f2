package lab

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

const oneLine = "as Claude Code sends it"

// asTheClientDoes asks the plain questions and reports whether others make sense.
func (e *eventCheck) asTheClientDoes() bool {
	for i, c := range e.cases {
		name := oneLine
		if c.label != "" {
			name += ", " + c.label
		}
		a := e.ask(question{sample: i})
		e.step(name, a, true)
		e.protocol(name, c.value, a)
		if i == 0 {
			e.base = a
			e.StartMS = append(e.StartMS, milliseconds(a.Elapsed))
		}
		if a.TimedOut || a.notStarted {
			return false
		}
	}
	return true
}

// repeated asks again in the same session: for the time it takes, and for files that become more with every run.
func (e *eventCheck) repeated() {
	const name = "again in the same session"
	session, _ := e.newRun()
	var after []listing
	var last answer
	for range 4 {
		last = e.ask(question{session: session})
		e.StartMS = append(e.StartMS, milliseconds(last.Elapsed))
		l := listTree(e.place.home)
		maps.Copy(l, listTree(e.place.temp))
		after = append(after, l)
	}
	e.step(name, last, false)
	if n := len(after); len(after[n-1]) > len(after[n-2]) && len(after[n-2]) > len(after[n-3]) {
		e.find(faultLeavesFiles, name, "more with every run: %s", someOf(after[n-2].changes(e.place.root, after[n-1])))
	}
	if least := slices.Min(e.StartMS); e.place.own && least > milliseconds(e.StartLimit) {
		e.find(faultSlowStart, name, "%s at the least, the limit is %v", msText(least), e.StartLimit)
	}
}

// devStdin tells whether the hook opens its stdin by path: through pipes, which can be opened, it then does something else.
func (e *eventCheck) devStdin() {
	const name = "through pipes, not sockets"
	a := e.ask(question{pipes: true})
	e.step(name, a, false)
	named := func(a answer) bool {
		return slices.ContainsFunc([]string{"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, func(p string) bool { return strings.Contains(a.Stderr, p) })
	}
	other := !a.TimedOut && (a.verdict() != e.base.verdict() || e.texts && !e.sameTexts(a))
	if named(e.base) && !named(a) || other && e.confirmed() {
		e.find(faultReadsDevStdin, e.Steps[0].Name, "with sockets: %s%s; with pipes: %s", follows(e.Event, e.base), onStderr(e.base.Stderr), follows(e.Event, a))
	}
}

func (e *eventCheck) heldOpen() {
	const name = "stdin held open"
	a := e.ask(question{shape: fakes.HeldOpen})
	e.open = !a.TimedOut
	e.compare(faultWaitsForEOF, name, a)
}

// sendingTime is what sending in pieces, or much, may take by itself on a busy machine. It is no part of the hook's time.
const sendingTime = 5 * time.Second

// slowSending is the time after which a run that ended before its event was complete says nothing about the hook.
const slowSending = 2 * time.Second

// notSent reports whether a run ended before its event was complete because the machine is too busy.
func notSent(a answer) bool { return a.AfterBrace == 0 && a.Elapsed > slowSending }

const tooBusy = "this machine is too busy: the event was not sent in time"

const notOpen = "it waits for the end of stdin"

// slowly sends an event byte by byte over 0.8 s: on a busy machine a hook that is slow to start would find a quicker one whole.
func slowly(event string) fakes.Stdin {
	return fakes.Slow(event+"\n", 800*time.Millisecond/time.Duration(len(event)+1))
}

// shapes asks in the ways in which an event can arrive while stdin stays open.
func (e *eventCheck) shapes() {
	for _, s := range []struct {
		id, name string
		shape    func(string) fakes.Stdin
	}{
		{faultMisreadsChunks, "in pieces", func(event string) fakes.Stdin { return fakes.Chunked(event+"\n", 101) }},
		{faultMisreadsChunks, "slowly, in small pieces", slowly},
		{warnMisreadsBOM, "with a byte order mark", fakes.BOM},
		{warnMisreadsPretty, "over several lines", fakes.Pretty},
	} {
		if !e.open {
			e.skip(s.name, notOpen)
			continue
		}
		a := e.ask(question{shape: s.shape, limit: e.limit() + sendingTime})
		if notSent(a) {
			e.skip(s.name, tooBusy)
			continue
		}
		e.compare(s.id, s.name, a)
	}
}

// fields asks with fields that are new or name what is not there.
func (e *eventCheck) fields() {
	unknown := []fakes.EventOption{
		fakes.Set("hookkit_unknown", map[string]any{"nested": []int{1, 2}}), fakes.Set("permission_mode", unknownValue), fakes.Unset("effort"),
	}
	e.compare(faultUnknownFields, "with unknown fields", e.ask(question{options: unknown}))
	missing := fakes.Set("transcript_path", filepath.Join(e.place.root, "not-there-yet.jsonl"))
	e.compare(warnNeedsTranscript, "without a transcript's file", e.ask(question{options: []fakes.EventOption{missing}}))
}

// largeText is the length of the text in a large event.
const largeText = 10 << 20

// large asks with 10 MB. The hook may decide otherwise about so much text, but must not fail.
func (e *eventCheck) large() {
	const name = "10 MB"
	text := e.cases[0].text + strings.Repeat(";; a comment of some length, and a line of its own\n", largeText/50)
	a := e.ask(question{text: text, limit: e.limit() + sendingTime})
	if notSent(a) {
		e.skip(name, tooBusy)
		return
	}
	e.step(name, a, false)
	failed := func(a answer) bool { return a.Signal != "" || a.Exit != 0 && a.Exit != 2 }
	if (a.TimedOut || failed(a) && !failed(e.base)) && e.confirmed() {
		e.find(faultLargeInput, name, "%s%s", follows(e.Event, a), onStderr(a.Stderr))
	}
}

// endOfInput asks nothing, or half, and closes stdin.
func (e *eventCheck) endOfInput() {
	half := e.ask(question{shape: fakes.HalfEOF, limit: e.Timeout})
	e.noEvent("half an event, then the end", half, faultHangsWithoutInput)
	if half.TimedOut {
		e.skip("nothing, then the end", "it hangs at the end of stdin")
		return
	}
	e.noEvent("nothing, then the end", e.ask(question{shape: func(string) fakes.Stdin { return fakes.EOF() }, limit: e.Timeout}), faultHangsWithoutInput)
	e.noEvent("/dev/null", e.ask(question{shape: func(string) fakes.Stdin { return fakes.DevNull() }, limit: e.Timeout}), faultHangsWithoutInput)
}

// noEvent notes a step at which the hook has no event to judge.
func (e *eventCheck) noEvent(name string, a answer, hangs string) {
	e.step(name, a, false)
	switch {
	case a.TimedOut:
		if e.confirmed() {
			e.find(hangs, name, "no end within %v", e.Timeout)
		}
	case (a.Blocked || a.Ended) && !e.base.Blocked && !e.base.Ended && e.confirmed():
		e.find(warnFailsClosed, name, "%s", follows(e.Event, a))
	}
}

// waiting asks what a hook may wait for until the timeout, all at once.
func (e *eventCheck) waiting() {
	names := []string{"without a newline", "nothing, held open", "half an event, held open"}
	shapes := []func(string) fakes.Stdin{fakes.HeldOpenNoNewline, func(string) fakes.Stdin { return fakes.EmptyOpen() }, fakes.Half}
	if !e.open {
		for _, name := range names {
			e.skip(name, notOpen)
		}
		return
	}
	answers := make([]answer, len(shapes))
	var asking sync.WaitGroup
	for i, shape := range shapes {
		asking.Go(func() { answers[i] = e.ask(question{shape: shape, limit: e.Timeout}) })
	}
	asking.Wait()
	e.compare(warnNeedsNewline, names[0], answers[0])
	e.noEvent(names[1], answers[1], warnWaitsForEver)
	e.noEvent(names[2], answers[2], warnWaitsForEver)
}

const parallelRuns = 8

func (e *eventCheck) parallel() {
	name := fmt.Sprintf("%d at once", parallelRuns)
	a, late := e.atOnce()
	if late { // on a busy machine so many may be too much once
		a, _ = e.atOnce()
	}
	e.compare(faultParallelDiffers, name, a)
}

// atOnce asks the plain question many times at once and returns an answer, one that differs where there is one. late says that it took so
// long that the hook may have given up waiting for its event.
func (e *eventCheck) atOnce() (a answer, late bool) {
	answers := make([]answer, parallelRuns)
	var running sync.WaitGroup
	for i := range answers {
		running.Go(func() { answers[i] = e.ask(question{}) })
	}
	running.Wait()
	different := slices.IndexFunc(answers, func(a answer) bool { return a.TimedOut || a.verdict() != e.base.verdict() })
	if different < 0 {
		return answers[0], false
	}
	took := answers[different].Elapsed
	return answers[different], took > time.Second && took > 3*e.base.Elapsed
}

// leftBehind looks for processes after a run.
func (e *eventCheck) leftBehind() {
	const name = "processes afterwards"
	session, marker := e.newRun()
	p, err := startProbe(e.spec(session, marker, 0), e.eventJSON(question{}, session)+"\n")
	if err != nil {
		e.skip(name, err.Error())
		return
	}
	defer p.end()
	defer killMarked(marker)
	if !e.open {
		_ = p.stdin.Close() // the end that it waits for; the probe closes it again, which is harmless
	}
	if !p.wait(e.limit()) {
		e.skip(name, "it did not end")
		return
	}
	left := p.leftovers(marker)
	s := CheckStep{Name: name, Follows: "none left"}
	if len(left) > 0 {
		s.Follows = "left: " + someOf(left)
		e.find(faultLeftoverProcess, name, "%s", someOf(left))
	}
	e.Steps = append(e.Steps, s)
}

// ended sends TERM to a run that waits for its event, kills another, and asks again.
func (e *eventCheck) ended() {
	begun := min(2*time.Duration(slices.Max(e.StartMS)*float64(time.Millisecond))+200*time.Millisecond, e.limit())
	const term = "TERM while it waits"
	s := CheckStep{Name: term, Follows: "it ends"}
	took, sent, err := e.interrupt(begun, true)
	switch {
	case err != nil:
		s.Skipped = err.Error()
	case !sent:
		s.Skipped = "it does not wait for its event"
	case took > claudecode.KillAfter:
		s.Follows = "it goes on"
		e.find(faultIgnoresTerm, term, "still running %v after TERM", claudecode.KillAfter)
	default:
		s.MS = milliseconds(took)
	}
	e.Steps = append(e.Steps, s)
	const kill = "after a run that was killed"
	if _, sent, err = e.interrupt(begun, false); err != nil || !sent {
		// It was too quick to be killed while it waits for input: kill it at work.
		_, _, err = e.interrupt(begun/8, false)
	}
	if err != nil {
		e.skip(kill, err.Error())
		return
	}
	e.compare(faultStuckAfterKill, kill, e.ask(question{}))
}

// interrupt starts a run that gets no event and ends it after a while; sent is false when it had ended by itself.
func (e *eventCheck) interrupt(after time.Duration, gently bool) (took time.Duration, sent bool, err error) {
	session, marker := e.newRun()
	p, err := startProbe(e.spec(session, marker, 0), "")
	if err != nil {
		return 0, false, err
	}
	defer p.end()
	if p.wait(after) {
		return 0, false, nil
	}
	if !gently {
		p.kill()
		return 0, true, nil
	}
	began := time.Now()
	if !p.terminate() {
		return 0, false, errors.New("there is no TERM on this system")
	}
	if !p.wait(claudecode.KillAfter) {
		return claudecode.KillAfter + 1, true, nil
	}
	return time.Since(began), true, nil
}

// projectChanges compares the scratch project with what it was. A hook of a tool's event may change the file that it is about.
func (e *eventCheck) projectChanges(before listing) {
	const name = "the project afterwards"
	after := listTree(e.place.project)
	if e.Event == "PreToolUse" || e.Event == "PostToolUse" {
		after[e.place.file] = before[e.place.file]
	}
	changes := before.changes(e.place.project, after)
	s := CheckStep{Name: name, Follows: "unchanged"}
	if len(changes) > 0 {
		s.Follows = "changed: " + someOf(changes)
		e.find(faultLeavesFiles, name, "in the project: %s", someOf(changes))
	}
	e.Steps = append(e.Steps, s)
}
