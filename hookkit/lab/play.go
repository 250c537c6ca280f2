package lab

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
	"github.com/hookkit/brepl/hookkit/proc"
	"github.com/hookkit/brepl/hookkit/settings"
)

// A Play is how a recording is played.
type Play struct {
	Recording *Recording
	Expect    *Expect // nil: what was recorded is expected
	// Settings are the settings whose hooks are played; nil: those that were recorded, and without any the recorded commands.
	Settings []byte
	// Command, when not empty, is run in place of every hook.
	Command string
	// Only says which recorded calls are played; nil: all that were not only logged.
	Only func(Call) bool
	// Env is the environment that hooks get beside the recorded CLAUDE* variables, less what would lead them to the user's own files:
	// HOME, TMPDIR and BREPL_STATE_DIR are in the scratch folder, XDG_* is left out.
	Env []string
	// Vars are set too. The paths /project, /home/dev and /scratch in them are mapped into the scratch folder.
	Vars []proc.Var
	// Rewrite holds pairs of texts: what varies in streams, and what stands for it.
	Rewrite []string
	// Limit bounds each hook beside the client's timeout; 0: only the client's.
	Limit time.Duration
	// TempDir is where the scratch folder is made; "" is the system's.
	TempDir string
}

// Variables by which a hook in a replay can tell what is played.
const (
	FileVariable = "HOOKKIT_REPLAY_FILE"
	SeqVariable  = "HOOKKIT_REPLAY_SEQ"
)

// Status is the outcome of one step of a replay.
type Status string

// The outcomes of a step.
const (
	Same          Status = "same"
	Different     Status = "different"      // from what is expected
	NotComparable Status = "not comparable" // an answer before it was not the recorded one, and the agent would have gone another way
	NotPlayed     Status = "not played"
	NotStarted    Status = "not started" // the command of the hook cannot be run here
	New           Status = "new"         // played, and nothing is known of what it must answer
)

// A Step is one call of one hook in a replay.
type Step struct {
	Seq     int    `json:"seq"`
	Event   string `json:"event"`
	Command string `json:"command"`
	Status  Status `json:"status"`
	Reason  string `json:"reason,omitempty"` // of a status that needs one
	Diff    string `json:"diff,omitempty"`   // what is expected against what came; for people

	Got   *ExpectedAnswer `json:"got,omitempty"`
	Judge *Reaction       `json:"reaction,omitempty"` // of the client, to Got
}

// A Replayed is the outcome of a replay.
type Replayed struct {
	Name  string `json:"recording"`
	Steps []Step `json:"steps"`
	// Updated is the file that --update has written, "" when nothing was to be changed.
	Updated string `json:"updated,omitempty"`
}

// Count is how many steps have a status.
func (r Replayed) Count(status Status) int {
	n := 0
	for _, s := range r.Steps {
		if s.Status == status {
			n++
		}
	}
	return n
}

// Run plays the recording. The error is what keeps it from being played at all.
func (p Play) Run(ctx context.Context) (out Replayed, err error) {
	out.Name = p.Recording.Name
	s, err := newScratch(p.TempDir, p.Rewrite)
	if err != nil {
		return out, err
	}
	defer func() {
		if removeErr := s.remove(); err == nil {
			err = removeErr
		}
	}()
	if err = s.prepare(p.Recording, p.Expect); err != nil {
		return out, err
	}
	marker := newMarker()
	p.Vars = append(slices.Clone(p.Vars), proc.Var{Name: checkMarker, Value: marker})
	defer endWith(ctx, marker)()
	hooks, err := p.hooks()
	if err != nil {
		return out, err
	}
	lost := map[string]lostSession{} // by session id
	var last *Call
	for i := range p.Recording.Calls {
		c := &p.Recording.Calls[i]
		if err := s.advance(*c); err != nil {
			return out, err
		}
		again := last != nil && last.Event == c.Event && bytes.Equal(last.Stdin, c.Stdin) && !last.Hook.TimedOut
		last = c
		for _, h := range p.handlers(hooks, c, again) {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			step, err := p.step(s, c, h, lost)
			if ctx.Err() != nil { // what is ended with us proves nothing
				return out, fmt.Errorf("interrupted: %w", ctx.Err())
			}
			if err != nil {
				return out, fmt.Errorf("%s: call %d: %w", p.Recording.Path, c.Seq, err)
			}
			out.Steps = append(out.Steps, step)
		}
	}
	return out, nil
}

// hooks are the handlers that the settings have; none when there are no settings.
func (p Play) hooks() (claudecode.Hooks, error) {
	data := p.Settings
	if data == nil {
		data = p.Recording.Settings
	}
	if data == nil {
		return claudecode.Hooks{}, nil
	}
	hooks, dropped := claudecode.LoadHooks([]claudecode.Source{{Scope: "local", Path: "settings.local.json", Data: data}})
	if p.Settings != nil && len(hooks.All()) == 0 {
		why := "it holds none"
		if len(dropped) > 0 {
			why = dropped[0].Why
		}
		return hooks, fmt.Errorf("the settings given have no hook that the client would run: %s", why)
	}
	return hooks, nil
}

// planned is a hook to be played for a call.
type planned struct {
	handler claudecode.Handler
	compare bool   // with the recorded answer: it is the recorded hook, or stands in its place
	skip    string // why it is not played
}

// handlers finds the hooks for a call. again: the call before was another hook of the same event.
func (p Play) handlers(hooks claudecode.Hooks, c *Call, again bool) []planned {
	f := c.fields()
	recorded := planned{handler: claudecode.Handler{Event: c.Event, Command: c.Command, Timeout: defaultTimeout(c.Event)}, compare: true}
	found := hooks.For(c.Event, f.value(), f.ToolInput)
	if i := slices.IndexFunc(found, func(h claudecode.Handler) bool { return h.Command == c.Command }); i >= 0 {
		recorded.handler = found[i]
	} else if i = slices.IndexFunc(found, func(h claudecode.Handler) bool { return c.wrappedBy(h) }); i >= 0 {
		recorded.handler.Timeout = found[i].Timeout
	}
	only := p.Only
	if only == nil {
		only = func(c Call) bool { return p.Settings != nil || !c.Silent() }
	}
	if c.Dropped != "" {
		recorded.skip = "it was not recorded: " + c.Dropped
		return []planned{recorded}
	}
	if !only(*c) {
		recorded.skip = "it was only logged"
		if !c.Silent() {
			recorded.skip = "left out"
		}
		return []planned{recorded}
	}
	if p.Settings == nil {
		return []planned{recorded}
	}
	var list []planned
	for _, h := range found {
		same := h.Command == c.Command
		if again && !same {
			continue // played with the call before
		}
		list = append(list, planned{handler: h, compare: same})
	}
	if len(list) == 0 {
		recorded.skip = "the settings have no such hook for this event"
		return []planned{recorded}
	}
	// One hook in place of one: what it answers is compared, whatever it is called now.
	if len(list) == 1 && !c.Silent() {
		list[0].compare = true
	}
	return list
}

// wrappedBy reports whether a handler of the settings is the recorder in front of the recorded command.
func (c *Call) wrappedBy(h claudecode.Handler) bool {
	handler := settings.Handler{Command: h.Command, Args: h.Args}
	if !settings.OwnCommand(program, "record")(handler) {
		return false
	}
	words, _ := handler.Words()
	project := cmp.Or(c.Env["CLAUDE_PROJECT_DIR"], ProjectDir)
	for i := range words {
		words[i] = strings.NewReplacer("${CLAUDE_PROJECT_DIR}", project, "$CLAUDE_PROJECT_DIR", project).Replace(words[i])
	}
	_, argv, err := recordArgs(words[2:])
	return err == nil && commandLine(argv) == c.Command
}

func defaultTimeout(event string) time.Duration {
	hooks, _ := claudecode.LoadHooks([]claudecode.Source{{
		Scope: "local", Data: fmt.Appendf(nil, `{"hooks":{%q:[{"hooks":[{"type":"command","command":"x"}]}]}}`, event),
	}})
	for _, h := range hooks.All() {
		return h.Timeout
	}
	return 0
}

// lostSession is a session that cannot be compared any more.
type lostSession struct {
	seq int
	all bool // an answer was not as expected; else only recorded answers mean nothing any more
}

// step plays one hook and compares.
func (p Play) step(s *scratch, c *Call, plan planned, lost map[string]lostSession) (Step, error) {
	step := Step{Seq: c.Seq, Event: c.Event, Command: plan.handler.Command, Status: NotPlayed, Reason: plan.skip}
	if plan.skip != "" {
		return step, nil
	}
	if err := s.transcript(p.Recording, *c); err != nil {
		return step, err
	}
	got, why, err := p.run(s, c, plan.handler)
	if err != nil {
		return step, err
	}
	id := c.fields().SessionID
	expected := p.Expect.find(c.Seq, plan.handler.Command)
	if why != "" && (expected == nil || !expected.answer().unstarted()) && !c.Hook.unstarted() {
		step.Status, step.Reason = NotStarted, why
		if _, isLost := lost[id]; !isLost {
			lost[id] = lostSession{c.Seq, true}
		}
		return step, nil
	}
	reaction := claudecode.Judge(judged(c, plan.handler.Command, got.answer()))
	judge := reactionOf(reaction)
	step.Got, step.Judge = &got, &judge

	before, isLost := lost[id]
	want, wantFiles := c.Hook, got.Files // the recording tells nothing of what hooks did to files
	if expected != nil {
		want, wantFiles = expected.answer(), expected.Files
	}
	switch {
	case expected == nil && (!plan.compare || c.Silent() && !p.playsSilent(*c)):
		step.Status, step.Reason = New, "nothing is known of what it must answer; --update keeps this answer"
		return step, nil
	case expected == nil && p.Recording.missingLines(*c) != "":
		step.Status, step.Reason = NotComparable, p.Recording.missingLines(*c)
		return step, nil
	case isLost && (before.all || expected == nil):
		step.Status = NotComparable
		step.Reason = fmt.Sprintf("the agent would have gone another way since call %d", before.seq)
		return step, nil
	}
	step.Status = Same
	if step.Diff = compare(c, plan.handler.Command, want, got.answer(), wantFiles, got.Files); step.Diff != "" {
		step.Status = Different
		lost[id] = lostSession{c.Seq, true}
		return step, nil
	}
	if plan.compare && !isLost && differs(claudecode.Judge(judged(c, plan.handler.Command, c.Hook)), reaction) {
		lost[id] = lostSession{c.Seq, false}
	}
	return step, nil
}

// playsSilent: a caller who asks for logged calls means them to be compared.
func (p Play) playsSilent(c Call) bool { return p.Only != nil && p.Only(c) && p.Settings == nil }

// unstarted reports whether a shell could not start the hook.
func (a Answer) unstarted() bool {
	return a.Exit != nil && (*a.Exit == exitNotFound || *a.Exit == exitNotExecutable) && a.Stdout == "" &&
		slices.ContainsFunc([]string{"not found", "ermission denied", "No such file"}, func(text string) bool { return strings.Contains(a.Stderr, text) })
}

// run runs one hook as the client does. why is not "" when it could not be started. The paths of the recording in a recorded command are
// mapped into the scratch folder.
func (p Play) run(s *scratch, c *Call, h claudecode.Handler) (got ExpectedAnswer, why string, err error) {
	got = ExpectedAnswer{Seq: c.Seq, Event: c.Event, Command: h.Command}
	if p.Command != "" {
		h.Command, h.Args = p.Command, nil
	} else {
		h.Command, h.Args = s.in(h.Command), slices.Clone(h.Args)
		for i := range h.Args {
			h.Args[i] = s.in(h.Args[i])
		}
	}
	env, err := p.environment(s, c)
	if err != nil {
		return got, "", err
	}
	dir, err := s.inside(cmp.Or(c.Cwd, ProjectDir))
	if err != nil {
		return got, "", err
	}
	if err = os.MkdirAll(dir, ourDirMode); err != nil {
		return got, "", err
	}
	argv := claudecode.ShellCommand(h, proc.Getenv(env, "CLAUDE_PROJECT_DIR"))
	path, err := proc.LookPath(argv[0], env)
	if err != nil {
		return got, s.out(fmt.Sprintf("%s: %v", argv[0], err)), nil
	}
	limit := h.Timeout
	if p.Limit > 0 && (limit == 0 || p.Limit < limit) {
		limit = p.Limit
	}
	before, err := fakes.TakeSnapshot(s.project)
	if err != nil {
		return got, "", err
	}
	o, err := fakes.Spec{Path: path, Args: argv[1:], Dir: dir, Env: env, Limit: limit}.Run(c.shape(s))
	if err != nil {
		return got, s.out(err.Error()), nil
	}
	after, err := fakes.TakeSnapshot(s.project)
	if err != nil {
		return got, "", err
	}
	got.Files = before.Changes(after)
	got.Stdout, got.Stderr = s.out(o.Stdout), s.out(o.Stderr)
	switch {
	case o.TimedOut: // the client ignores what it printed
		got.TimedOut, got.Stdout, got.Stderr = true, "", ""
	case o.Signal != "":
		got.Signal = o.Signal
	default:
		got.Exit = &o.Exit
	}
	if answer := got.answer(); answer.unstarted() {
		why = "it cannot be started: " + brief(got.Stderr)
	}
	return got, why, nil
}

// shape is how the hook got its input.
func (c *Call) shape(s *scratch) fakes.Stdin {
	event := c.StdinText
	if c.Stdin != nil {
		event = s.in(string(c.Stdin))
	}
	switch {
	case event == "":
		return fakes.EOF()
	case c.StdinEOF && c.StdinEndsWithNewline:
		return fakes.OneLine(strings.TrimSuffix(event, "\n"))
	case c.StdinEOF:
		return fakes.NoNewline(event)
	case c.StdinEndsWithNewline:
		return fakes.HeldOpen(strings.TrimSuffix(event, "\n"))
	default:
		return fakes.HeldOpenNoNewline(event)
	}
}

// environment is the caller's without its own host's variables, and the recorded ones.
func (p Play) environment(s *scratch, c *Call) ([]string, error) {
	base := slices.DeleteFunc(fakes.WithoutHostEnv(p.Env), func(entry string) bool { return strings.HasPrefix(entry, "XDG_") })
	vars := []proc.Var{
		{Name: "HOME", Value: s.home},
		{Name: "TMPDIR", Value: s.in(scratchName + "/tmp")},
		{Name: "BREPL_STATE_DIR", Value: s.in(scratchName + "/state")}, // ids of sessions are the same in many recordings
		{Name: FileVariable, Value: p.Recording.Path},
		{Name: SeqVariable, Value: strconv.Itoa(c.Seq)},
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		vars = append(vars, proc.Var{Name: name, Value: s.in(c.Env[name])})
	}
	for _, v := range p.Vars {
		vars = append(vars, proc.Var{Name: v.Name, Value: s.in(v.Value)})
	}
	return proc.MergeEnv(base, vars...)
}

// judged is an answer as the client's rules take it.
func judged(c *Call, command string, a Answer) claudecode.Run {
	run := claudecode.Run{
		Event: c.Event, Value: c.fields().value(), Command: command, Signal: a.Signal, TimedOut: a.TimedOut, StreamsHeld: a.StreamsHeld,
		Stdout: []byte(a.Stdout), Stderr: []byte(a.Stderr), Exit: -1,
	}
	if a.Exit != nil {
		run.Exit = *a.Exit
	}
	return run
}

// differs says whether the agent would have gone another way.
func differs(a, b claudecode.Reaction) bool {
	texts := func(x, y claudecode.Text) bool { return x == y }
	return a.Blocked != b.Blocked || a.GoesOn != b.GoesOn || a.Ended != b.Ended || a.Permission != b.Permission ||
		!sameJSON(a.UpdatedInput, b.UpdatedInput) || !slices.EqualFunc(a.Told, b.Told, texts)
}

func sameJSON(a, b json.RawMessage) bool {
	var left, right bytes.Buffer
	if json.Compact(&left, a) != nil || json.Compact(&right, b) != nil {
		return bytes.Equal(a, b)
	}
	return bytes.Equal(left.Bytes(), right.Bytes())
}
