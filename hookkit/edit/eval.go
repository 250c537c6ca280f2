package edit

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/session"
)

const (
	evalTimeout    = 30 // seconds
	maxEvalTimeout = 86400
)

// evaluator is one run of `brepl hook eval`: it keeps a running REPL in step with the files that the agent's tools change.
//
// An event flows straight down: changed (which files), syntax (are they whole), load (into the server), report (what is news).
type evaluator struct {
	program *cli.Program
	note    noteFunc      // for the debug log
	strict  bool          // a file that fails blocks
	skip    bool          // nothing is done at all
	timeout time.Duration // for all files of one event
	byHand  bool          // the form with a file: nothing is remembered between two calls
	agent   string        // of a sub-agent, its id: what one has read the others have not
	lookup  nrepl.Lookup
	paths   nrepl.PathMap
	memory  *memories
	rules   func() rules // of hooks.edn, read when they are first asked for
	folders folders
	unseen  *trouble // why the files were not looked at
}

// evalFlags are the flags as they are given.
type evalFlags struct {
	strict, skip bool
	timeout      int
	port         string
	pathMap      []string
}

func evalCommand() cli.Command {
	var f evalFlags
	c := cli.Command{
		Name:  "eval",
		Usage: "[FLAGS] [FILE]",
		Short: "After an edit: load the changed Clojure files into the running REPL",
		Long: "Reads a PostToolUse or PostToolUseFailure event from stdin and loads what the tool has changed; the agent is told what fails.\n" +
			"With FILE it loads that file and prints JSON. Only files on the project's source paths are loaded. It always exits with 0.",
		Mixed: true,
		Options: func(flags *flag.FlagSet) {
			f = evalFlags{timeout: evalTimeout}
			flags.BoolVar(&f.strict, "strict-eval", false, "a file that fails blocks instead of warning")
			flags.BoolVar(&f.skip, "skip-eval", false, "do nothing")
			flags.Func("timeout", fmt.Sprintf("`SECONDS` for the evaluation (default %d); then it is interrupted", evalTimeout), f.setTimeout)
			flags.StringVar(&f.port, "port", "", "the server's `PORT`, instead of looking for one")
			flags.Func("path-map", "`LOCAL=REMOTE`: what the server calls a folder (also BREPL_PATH_MAP); may be given again", f.addPathMap)
		},
	}
	return command(c, hookkit.EventPostToolUse, f.file, func(p *cli.Program, note noteFunc) hookkit.Handlers {
		answer := func(ctx context.Context, call toolCall) (hookkit.PostToolUseDecision, error) {
			v, err := f.evaluator(p, note, session.IDOf(call.Common))
			if err != nil || v.skip {
				return hookkit.AcceptResult(), err
			}
			v.agent = call.AgentID
			return v.answer(ctx, call)
		}
		return hookkit.Handlers{
			PostToolUse: func(ctx context.Context, e *hookkit.PostToolUse) (hookkit.PostToolUseDecision, error) {
				return answer(ctx, toolCall{Common: e.Base(), tool: e.ToolName, file: e.FilePath()})
			},
			PostToolUseFailure: func(ctx context.Context, e *hookkit.PostToolUseFailure) (hookkit.PostToolUseDecision, error) {
				return answer(ctx, toolCall{Common: e.Base(), tool: e.ToolName, file: e.FilePath(), failed: true})
			},
		}
	})
}

func (f *evalFlags) setTimeout(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxEvalTimeout {
		return fmt.Errorf("give whole seconds from 1 to %d", maxEvalTimeout)
	}
	f.timeout = n
	return nil
}

func (f *evalFlags) addPathMap(text string) error {
	_, err := nrepl.ParsePathMap([]string{text})
	f.pathMap = append(f.pathMap, text)
	return err
}

// evaluator makes the run for a session.
func (f *evalFlags) evaluator(p *cli.Program, note noteFunc, sessionID string) (*evaluator, error) {
	v := &evaluator{program: p, note: note, strict: f.strict, skip: f.skip, timeout: time.Duration(f.timeout) * time.Second}
	v.lookup = nrepl.Lookup{Dir: p.Dir, Getenv: p.Getenv}
	if f.port != "" {
		if err := v.lookup.SetPort(f.port); err != nil {
			return nil, fmt.Errorf("--port: %w", err)
		}
	}
	paths, err := nrepl.ParsePathMap(slices.Concat(f.pathMap, filepath.SplitList(p.Getenv("BREPL_PATH_MAP"))))
	if err != nil {
		return nil, err
	}
	v.paths = paths.In(p.Dir)
	v.lookup.PathMap = v.paths
	v.rules = sync.OnceValue(func() rules { return readRules(p, note) })
	s, err := session.Open(p.Getenv, sessionID)
	v.memory = &memories{session: s, note: note}
	return v, err
}

// answer says what the agent is told after a tool.
func (v *evaluator) answer(ctx context.Context, c toolCall) (hookkit.PostToolUseDecision, error) {
	if c.edits() && kindOf(c.file) == foreign {
		return hookkit.AcceptResult(), nil
	}
	ctx, ready, stop := cli.InterruptibleSoon(ctx) // the host's TERM must reach what the server evaluates
	defer stop()
	// The limits of each step are shorter: this one is for a file system that hangs. It does not end with ctx, so that the evaluation
	// is interrupted and its session closed before the process ends.
	r, err := within(context.WithoutCancel(ctx), v.timeout+validateLimit, func() (report, error) {
		<-ready
		return v.run(ctx, c, v.changed(ctx, c)), nil
	})
	if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return hookkit.AcceptResult(), nil
	}
	if err != nil {
		return hookkit.AcceptResult(), err
	}
	return v.decide(r), nil
}

// report is what there is to say after the changed files were dealt with.
type report struct {
	repaired []string
	troubles []trouble
	again    []trouble // the agent was told of them before
	more     int       // troubles for which there is no room
	noServer bool
	fine     []string // paths of files without an error
	owed     []owed   // files that are still to be loaded
}

// run deals with the changed files.
func (v *evaluator) run(ctx context.Context, c toolCall, paths []string) (r report) {
	if !c.edits() {
		paths = slices.DeleteFunc(paths, func(path string) bool { return !v.onSourcePath(path) || v.leavesAlone(path) })
	}
	if len(paths) > maxLoads {
		r.troubles = []trouble{{summary: "Not evaluated", warning: true, text: fmt.Sprintf(
			"%d Clojure files have changed at once: they were not loaded into the REPL. Reload what you need, or restart it.", len(paths))}}
		return r // each time it is another event, also where the number is the same
	}
	if v.unseen != nil {
		r.troubles = append(r.troubles, *v.unseen)
	}
	paths = append(paths, v.due(paths)...)
	sources := v.check(ctx, c, paths, &r)
	if len(sources) > 0 {
		limited, cancel := context.WithTimeout(ctx, v.timeout)
		l := v.load(limited, sources)
		cancel()
		r.troubles = append(r.troubles, l.troubles...)
		r.fine, r.owed = append(r.fine, l.fine...), l.owed
		if len(l.fine) > 0 {
			r.fine = append(r.fine, "") // the server is well
		}
		if r.noServer = l.noServer != nil; r.noServer {
			v.note("%v", l.noServer)
		}
	}
	v.keepNews(ctx, &r, paths)
	return r
}

// due are the files besides these that earlier events have left for this one.
func (v *evaluator) due(paths []string) (list []string) {
	if v.byHand {
		return nil
	}
	m := v.memory.read()
	for _, one := range m.owed {
		waits := one.blame != "" && !slices.Contains(paths, one.blame) && m.fails(project.Physical(one.blame))
		if !waits && !slices.Contains(paths, one.path) {
			list = append(list, one.path)
		}
	}
	return list
}

// check looks at the files as they are on disk, and returns what can be loaded.
func (v *evaluator) check(ctx context.Context, c toolCall, paths []string, r *report) (sources []source) {
	seen := project.Look{}
	for _, path := range paths {
		if v.leavesAlone(path) {
			r.fine = append(r.fine, path)
			v.passedOver(source{path: path, name: shown(v.program.Dir, path)}, "is excluded by :eval in "+hooksedn.Path)
			continue
		}
		// Before the file is read: if it changes right after, the next look finds it changed.
		name, stamp, regular := project.StampOf(path)
		src, repaired, wrong, ok := v.syntax(c, path)
		if repaired != "" {
			r.repaired = append(r.repaired, repaired)
			name, stamp, regular = project.StampOf(path)
		}
		if regular {
			seen[name] = stamp
		}
		if wrong != nil {
			r.troubles = append(r.troubles, *wrong)
		}
		switch {
		case !ok:
		case v.onSourcePath(path):
			sources = append(sources, src)
		default:
			r.fine = append(r.fine, path)
			v.passedOver(src, "is not on the source paths of the project")
		}
	}
	v.keepSeen(ctx, c, seen)
	return sources
}

// leavesAlone reports whether `:eval {:exclude [globs]}` names a file.
func (v *evaluator) leavesAlone(path string) bool {
	r := v.rules()
	return r.names(r.Eval.Exclude, path)
}

// passedOver notes why a file is not loaded; only a person who named it is told.
func (v *evaluator) passedOver(src source, why string) {
	v.note("%s %s", src.path, why)
	if v.byHand {
		_, _ = fmt.Fprintf(v.program.Stderr, "%s: %s %s: not loaded\n", v.program.Path(), src.name, why)
	}
}

// keepNews leaves in a report what the agent does not know yet and can read at once, and remembers that it will. paths are the files that
// were dealt with.
func (v *evaluator) keepNews(ctx context.Context, r *report, paths []string) {
	if v.byHand || ctx.Err() != nil {
		return // nobody will read the report of a hook that the host has ended
	}
	all, noServer := r.troubles, r.noServer
	kept := v.memory.change(ctx, func(m *evalMemory) {
		r.troubles, r.again, r.more, r.noServer = nil, nil, 0, noServer && !m.noServer
		m.noServer = m.noServer || noServer
		m.owe(paths, r.owed)
		for _, path := range r.fine {
			m.mended(project.Physical(path))
		}
		room := maxAgentText - len(strings.Join(r.repaired, "\n\n"))
		for _, t := range all {
			room -= len(t.told())
			switch path := project.Physical(t.path); {
			case t.once:
				r.troubles = append(r.troubles, t)
			case m.knows(v.agent, path, t.text):
				r.again = append(r.again, t)
				room += len(t.told())
			case room < 0 && len(r.troubles) > 0:
				r.more++ // it is told when the file is loaded again
			default:
				m.tell(v.agent, path, t.text)
				r.troubles = append(r.troubles, t)
			}
		}
	})
	if !kept {
		r.noServer = false // it would be said after every edit
	}
}

// file is the form with a file, for people and scripts.
func (f *evalFlags) file(ctx context.Context, p *cli.Program, args []string) int {
	if len(args) > 1 {
		return p.UsageError(fmt.Errorf("unexpected argument %q", args[1]))
	}
	v, err := f.evaluator(p, func(string, ...any) {}, ownSession(p))
	if err != nil {
		_, _ = fmt.Fprintf(p.Stderr, "%s: %v; nothing was evaluated and nothing is blocked\n", p.Path(), err)
		v = &evaluator{skip: true}
	}
	a := answer{Continue: true, Decision: "allow", SuppressOutput: new(true)}
	if !v.skip && kindOf(args[0]) != foreign {
		v.byHand = true
		a = v.seedAnswer(ctx, absolute(p.Dir, args[0]))
	}
	encoder := json.NewEncoder(p.Stdout)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(a) // a closed stdout: there is nobody to tell
	return 0
}

// seedAnswer deals with one file and says it in the object of the form with arguments.
func (v *evaluator) seedAnswer(ctx context.Context, path string) answer {
	if disk, err := load(path); err != nil || !disk.exists {
		if err == nil {
			err = errors.New("there is no such file")
		}
		why := fmt.Sprintf("%s was not evaluated: %v", shown(v.program.Dir, path), err)
		return answer{Continue: true, Decision: "allow", SuppressOutput: new(false), Warnings: []string{why}}
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	c := toolCall{Common: &hookkit.Common{CWD: v.program.Dir}, tool: "Edit", file: path}
	r, err := within(context.WithoutCancel(ctx), v.timeout+validateLimit, func() (report, error) { return v.run(ctx, c, []string{path}), nil })
	a := answer{Continue: true, Decision: "allow", SuppressOutput: new(true), Warnings: r.repaired}
	if err != nil {
		a.Warnings = []string{fmt.Sprintf("Not evaluated: %v", err)}
	}
	for _, t := range r.troubles {
		if v.strict && !t.warning {
			return answer{Continue: true, Decision: "block", StopReason: t.summary, Reason: harmless(t.text + t.printed), Warnings: r.repaired}
		}
		a.Warnings = append(a.Warnings, harmless(t.told()))
	}
	*a.SuppressOutput = len(a.Warnings) == 0
	if r.noServer {
		a.Warnings = append(a.Warnings, noServerText)
	}
	return a
}
