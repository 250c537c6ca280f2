package tests

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/project"
	"github.com/hookkit/brepl/hookkit/reload"
	"github.com/hookkit/brepl/hookkit/text"
)

// Exit codes of `brepl test`.
const (
	exitFailed   = 1  // or no test ran
	exitUsage    = 2  // a wrong call
	exitNoServer = 75 // EX_TEMPFAIL: it could not run
)

// commandName is under what `brepl test` remembers.
const commandName = "brepl test"

// Command is `brepl test`.
func Command() cli.Command {
	var c command
	return cli.Command{
		Name:  "test",
		Usage: "[--changed | --failed] [--watch] [--json] [--junit FILE] [NS | NS/TEST | FILE…]",
		Short: "Run the project's tests in the REPL",
		Long: `Runs clojure.test in the project's REPL: all test namespaces, or those that are named. A FILE stands for the test namespaces in it, or for
those that need it. A test namespace is one on the source and test paths whose name ends with -test, or that requires clojure.test and
defines tests; :paths, :exclude, :namespaces, :focus and :skip of the first hook of :type :tests in .brepl/hooks.edn hold here too.
What failed last time runs first, then what was changed last.

Exit code 0: all passed; 1: something failed, or no test ran; 2: a wrong call; 75: no server; 130 after Ctrl-C.`,
		BadUsage: exitUsage,
		Mixed:    true,
		Options:  c.declare,
		Run:      c.run,
	}
}

// command is one call of `brepl test`.
type command struct {
	port, host, junit            string
	changed, failed, watch, json bool
	timeout                      time.Duration

	program *cli.Program
	root    string
}

func (c *command) declare(flags *flag.FlagSet) {
	*c = command{}
	flags.StringVar(&c.port, "p", "", "the server's `PORT`, or nrepl+unix:PATH")
	flags.StringVar(&c.port, "port", "", "")
	flags.StringVar(&c.host, "host", "", "the server's `HOST` (default: BREPL_HOST, or localhost)")
	flags.BoolVar(&c.changed, "changed", false, "only what the changes since the tests last passed can reach")
	flags.BoolVar(&c.failed, "failed", false, "only the tests that failed last time")
	flags.BoolVar(&c.watch, "watch", false, "run again what each change of a file reaches, until Ctrl-C")
	flags.BoolVar(&c.json, "json", false, "print one JSON object a run")
	flags.StringVar(&c.junit, "junit", "", "write a report in the form of JUnit to `FILE`")
	flags.DurationVar(&c.timeout, "timeout", 10*time.Minute, "interrupt the tests after `TIME`, such as 90s; a namespace may take half of it")
}

func (c *command) run(ctx context.Context, p *cli.Program, args []string) int {
	c.program = p
	switch {
	case c.changed && c.failed, (c.changed || c.failed) && len(args) > 0:
		return p.UsageError(errors.New("--changed, --failed and names exclude each other"))
	case c.timeout <= 0:
		return p.UsageError(errors.New("--timeout must be more than 0"))
	case p.Dir == "":
		return p.UsageError(project.ErrNoDirectory)
	}
	var ok bool
	if c.root, ok = project.Root(p.Dir); !ok {
		c.root = p.Dir
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	exit, suite := c.once(ctx, args, nil)
	for c.watch && suite != nil && ctx.Err() == nil {
		changed := c.await(ctx, suite)
		if ctx.Err() != nil {
			break
		}
		_, _ = fmt.Fprintf(p.Stderr, "\n%s changed\n", text.Name(strings.Join(changed, ", ")))
		var next *Suite
		if exit, next = c.once(ctx, args, changed); next != nil {
			suite = next
		}
	}
	if code, ended := cli.SignalExit(ctx); ended {
		return code
	}
	return exit
}

// await returns the files that differ from those of the suite, as soon as there are any.
func (c *command) await(ctx context.Context, before *Suite) []string {
	known := &Memory{files: map[string]string{}}
	for _, n := range before.Namespaces {
		known.files[n.File] = n.stamp
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(500 * time.Millisecond):
		}
		now, err := Find(ctx, c.root, c.program.Env)
		if err != nil {
			continue
		}
		files, all := known.Changed(now)
		if len(files) > 0 || !all {
			return files
		}
	}
}

// once is one run; changed are files that were changed since the run before, nil for the first one. The suite is nil after a wrong call.
func (c *command) once(ctx context.Context, args, changed []string) (int, *Suite) {
	p := c.program
	suite, err := Find(ctx, c.root, p.Env)
	if err != nil {
		return c.broken(ctx, err), nil
	}
	options := hooksedn.TestOptions{}
	files := &hooksedn.Config{Dir: c.root}
	if config, wrong := hooksedn.Load(c.root); wrong == nil {
		files = config
		if i := slices.IndexFunc(config.Hooks, func(h *hooksedn.Hook) bool { return h.Type == hooksedn.Tests }); i >= 0 {
			options = config.Hooks[i].Tests
		}
	}
	options.NamespaceTimeout = c.timeout / 2
	memory := Recall(p.Getenv, suite.Root, commandName)
	run := &Run{Suite: suite, Options: options, Chosen: suite.Tests(options), Failed: memory.Failed}
	run.Prepare = func(ctx context.Context, s *nrepl.Session) error {
		report, broken := reload.Step(ctx, s, c.root, reload.In(files, p.Env, p.Getenv))
		return cmp.Or(broken, report.Err())
	}
	all := len(args) == 0 && !c.failed
	switch files, known := memory.Changed(suite); {
	case len(args) > 0:
		if err = run.pick(args, p.Dir); err != nil {
			return p.UsageError(err), nil
		}
	case c.failed:
		if err = run.pick(suite.existing(memory.Failed), p.Dir); err != nil || len(memory.Failed) == 0 {
			return c.say(exitFailed, "no test ran: none failed last time"), suite
		}
	case c.changed && known:
		if run.Chosen = suite.Reached(run.Chosen, files); len(run.Chosen) == 0 {
			return c.say(0, "nothing that changed since the tests passed is reached by a test"), suite
		}
	}
	if changed != nil {
		reached := suite.Reached(run.Chosen, changed)
		run.Chosen, all = slices.Concat(reached, suite.failedAmong(run.Chosen, reached, memory.Failed)), false
		if len(run.Chosen) == 0 {
			return c.say(0, "no test reaches what changed"), suite
		}
	}
	result, err := c.runIn(ctx, run)
	if result == nil {
		return c.broken(ctx, err), suite
	}
	if err == nil {
		if unkept := memory.Keep(suite, run.Chosen, run.Only, result, all); unkept != nil {
			_, _ = fmt.Fprintf(p.Stderr, "%s: what failed cannot be remembered: %v\n", p.Path(), unkept)
		}
	}
	return c.tell(ctx, result, err), suite
}

// existing drops names of namespaces that are gone.
func (s *Suite) existing(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		ns, _, _ := strings.Cut(name, "/")
		return !slices.ContainsFunc(s.Namespaces, func(n Namespace) bool { return n.Name == ns })
	})
}

// failedAmong are those of the namespaces that failed last time and are not in others.
func (s *Suite) failedAmong(list, others []Namespace, failed []string) []Namespace {
	return slices.DeleteFunc(slices.Clone(list), func(n Namespace) bool {
		return !hasFailed(n.Name, failed) || slices.ContainsFunc(others, func(o Namespace) bool { return o.Name == n.Name })
	})
}

// pick leaves what the names stand for: NS, NS/TEST or a file, relative to dir.
func (r *Run) pick(names []string, dir string) error {
	all := r.Suite.Namespaces
	var chosen []Namespace
	only := map[string][]string{}
	whole := map[string]bool{}
	add := func(list ...Namespace) {
		for _, n := range list {
			if !slices.ContainsFunc(chosen, func(c Namespace) bool { return c.Name == n.Name }) {
				chosen = append(chosen, n)
			}
		}
	}
	for _, name := range names {
		if file := name; strings.Contains(filepath.Ext(file), ".clj") || filepath.Ext(file) == ".bb" {
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			rel, err := filepath.Rel(r.Suite.Root, project.Physical(file))
			at := slices.IndexFunc(all, func(n Namespace) bool { return n.File == filepath.ToSlash(rel) })
			if err != nil || at < 0 {
				return fmt.Errorf("%s is no Clojure file on the source or test paths of %s", text.Name(name), r.Suite.Root)
			}
			found := []Namespace{all[at]}
			if !all[at].Test {
				found = r.Suite.Reached(r.Chosen, []string{all[at].File})
			}
			for _, n := range found {
				whole[n.Name] = true
			}
			add(found...)
			continue
		}
		ns, test, _ := strings.Cut(name, "/")
		at := slices.IndexFunc(all, func(n Namespace) bool { return n.Name == ns })
		if at < 0 {
			return fmt.Errorf("there is no namespace %s on the source or test paths%s", text.Name(ns), r.didYouMean(ns))
		}
		add(all[at])
		if test == "" {
			whole[ns] = true
		} else {
			only[ns] = append(only[ns], test)
		}
	}
	maps.DeleteFunc(only, func(ns string, _ []string) bool { return whole[ns] })
	r.Chosen, r.Only = chosen, only
	r.Options.Namespaces = ""
	return nil
}

func (r *Run) didYouMean(name string) string {
	var known []string
	for _, n := range r.Chosen {
		known = append(known, n.Name)
	}
	if near := text.Near(name, known); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// runIn runs in the server that is found; the result is nil where there is none.
func (c *command) runIn(ctx context.Context, run *Run) (*Result, error) {
	if len(run.Chosen) == 0 {
		return run.In(ctx, nil)
	}
	lookup := nrepl.Lookup{Host: c.host, Dir: c.root, Getenv: c.program.Getenv, Discover: true}
	if c.port != "" {
		if err := lookup.SetPort(c.port); err != nil {
			return nil, fmt.Errorf("--port: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	conn, err := nrepl.Connect(ctx, lookup)
	if err != nil {
		return nil, err
	}
	conn.Limits.Linger = nrepl.FarewellTime
	defer func() { _ = conn.Close() }() // all there is to tell is told
	session, err := conn.Clone(ctx)
	if err != nil {
		return nil, err
	}
	if !c.json && c.program.Terminal(c.program.Stdout) {
		style := c.program.Color(c.program.Stdout)
		run.Progress = func(p Progress) {
			mark := style.Green("✓")
			if p.Failed > 0 {
				mark = style.Red("✗")
			}
			_, _ = fmt.Fprintf(c.program.Stdout, "%s %s\n", mark, text.Line(p.String()))
		}
	}
	return run.In(ctx, session)
}

// answer is the object of --json.
type answer struct {
	OK     bool   `json:"ok"`
	Error  string `json:"error,omitempty"` // why the run did not come to its end
	Millis int64  `json:"ms"`
	*Result
}

// textLimit bounds what is shown of failing tests, in UTF-16 units; the JSON has all.
const textLimit = 60_000

// tell shows a result and returns the exit code.
func (c *command) tell(ctx context.Context, r *Result, err error) int {
	passed := err == nil && !r.Failed() && r.Empty == "" && r.Partial == ""
	exit := exitFailed
	if passed {
		exit = 0
	}
	if c.junit != "" {
		path := c.junit
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.program.Dir, path)
		}
		if failed := os.WriteFile(path, []byte(r.JUnit()), 0o644); failed != nil { //nolint:gosec // a report for others to read
			_, _ = fmt.Fprintf(c.program.Stderr, "%s: the report cannot be written: %v\n", c.program.Path(), failed)
			exit = exitFailed
		}
	}
	if c.json {
		a := answer{OK: passed, Millis: r.Took.Milliseconds(), Result: r}
		if err != nil {
			a.Error = err.Error()
		}
		r.Failing = append([]Case{}, r.Failing...) // a list, not null
		encoder := json.NewEncoder(c.program.Stdout)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(a) // the type always encodes; a closed stdout has no reader
		return exit
	}
	if failing := r.Text(textLimit); failing != "" {
		_, _ = io.WriteString(c.program.Stdout, failing+"\n\n")
	}
	style := c.program.Color(c.program.Stdout)
	took := text.Seconds(r.Took)
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(c.program.Stdout, "%s: %s (%s)\n", style.Red("failed"), r.Counts(), took)
		if ctx.Err() == nil {
			_, _ = fmt.Fprintf(c.program.Stderr, "%s: %v\n", c.program.Path(), err)
		}
	case r.Failed():
		_, _ = fmt.Fprintf(c.program.Stdout, "%s: %s (%s)\n", style.Red("failed"), r.Counts(), took)
	case r.Empty != "":
		_, _ = fmt.Fprintf(c.program.Stdout, "%s: %s\n", style.Red("not green"), r.Empty)
	case r.Partial != "":
		_, _ = fmt.Fprintf(c.program.Stdout, "%s: %s; of the others %s passed (%s)\n", style.Red("not green"), r.Partial, r.Counts(), took)
	default:
		_, _ = fmt.Fprintf(c.program.Stdout, "%s: %s (%s)\n", style.Green("passed"), r.Counts(), took)
	}
	return exit
}

// say tells why there is nothing to run.
func (c *command) say(exit int, what string) int {
	if c.json {
		_ = json.NewEncoder(c.program.Stdout).Encode(answer{OK: exit == 0, Result: &Result{Failing: []Case{}, Empty: what}})
		return exit
	}
	_, _ = fmt.Fprintln(c.program.Stdout, what)
	return exit
}

// broken reports that nothing ran.
func (c *command) broken(ctx context.Context, err error) int {
	if code, ended := cli.SignalExit(ctx); ended {
		return code
	}
	_, _ = fmt.Fprintf(c.program.Stderr, "%s: %v\n", c.program.Path(), err)
	if broken, ok := errors.AsType[*reload.Error](err); ok {
		_, _ = fmt.Fprintln(c.program.Stderr, broken.Text())
	}
	if errors.Is(err, nrepl.ErrNoServer) {
		return exitNoServer
	}
	return exitFailed
}
