// Package client is brepl as an nREPL client for people and for scripts: it evaluates an expression, a file, stdin or a raw message in
// a running REPL and shows what comes back while it comes.
//
// It serves the programs of this repository and carries no promise of stability.
package client

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// Exit codes of `brepl EXPR`. One that a signal ended has 128 and the signal's number: 130 after Ctrl-C.
const (
	exitFailed = 1 // an exception, a timeout, no server
	exitUsage  = 2
	// exitClosed is what a shell shows of a program that SIGPIPE ended: whoever read stdout had enough.
	exitClosed = 128 + 13
)

// otherCommand is one that brepl 2.x has and we have not: it installs `brepl eca validate` as a hook of the agent ECA, where 2 denies
// the tool call too.
const otherCommand = "eca"

// Command is `brepl [FLAGS] [EXPR]`, the program's root, with `brepl ls` and the other commands below it.
func Command(others ...cli.Command) cli.Command {
	var o options
	return cli.Command{
		Usage:    "[FLAGS] [EXPR]",
		Short:    "brepl evaluates Clojure in a running REPL, and gives coding agents hooks for Clojure projects.",
		Long:     long,
		BadUsage: exitUsage,
		Mixed:    true,
		Options:  o.declare,
		Run:      o.run,
		Sub:      append(others, lsCommand()),
	}
}

const long = `brepl evaluates Clojure in a running REPL, and gives coding agents hooks for Clojure projects.

  brepl '(+ 1 2)'            an expression
  brepl -f src/shop/cart.clj a file, with its path and line numbers
  brepl <<'EOF'              code from stdin, without quoting
  (println "it's")
  EOF

What the code prints appears while it runs; each value gets a line of its own. The exit code is 0, 1 after an exception, 2 for a wrong
call, 130 after Ctrl-C, which interrupts the evaluation. The server is that of --port, .nrepl-port, .shadow-cljs/nrepl.port or BREPL_PORT,
or else the one that runs in this project.`

// options are the flags of one call.
type options struct {
	exprs, files, messages, pathMaps list

	host, port, ns             string
	timeout                    seconds
	verbose, hook, json, trace bool
}

func (o *options) declare(flags *flag.FlagSet) {
	*o = options{}
	flags.Var(&o.exprs, "e", "evaluate `EXPR`; several are evaluated one after the other")
	flags.Var(&o.files, "f", "load `FILE`; - is stdin")
	flags.Var(&o.messages, "m", "send `EDN`, an nREPL message such as '{:op :describe}', and print all answers")
	flags.Var(&o.messages, "message", "")
	flags.StringVar(&o.host, "h", "", "the server's `HOST` (default: BREPL_HOST, or localhost)")
	flags.StringVar(&o.host, "host", "", "")
	flags.StringVar(&o.port, "p", "", "the server's `PORT`, or nrepl+unix:PATH")
	flags.StringVar(&o.port, "port", "", "")
	flags.StringVar(&o.ns, "ns", "", "evaluate in `NAMESPACE`, which must be loaded (default: user)")
	flags.Var(&o.timeout, "timeout", "interrupt the evaluation after `TIME`: seconds, or 1m30s (default: no limit)")
	flags.BoolVar(&o.trace, "trace", false, "show the whole stack trace of an exception")
	flags.BoolVar(&o.json, "json", false, "print one JSON object when all is done; with -m one for each message")
	flags.BoolVar(&o.hook, "hook", false, "print what an agent's host reads as the answer of a hook")
	flags.BoolVar(&o.verbose, "verbose", false, "print every message, sent (->) and received (<-), instead of what they say")
	o.declarePathMap(flags)
}

func (o *options) declarePathMap(flags *flag.FlagSet) {
	flags.Var(&o.pathMaps, "path-map", "where the server has the files: `LOCAL=REMOTE`, may be given again (default: BREPL_PATH_MAP)")
}

func (o *options) run(ctx context.Context, p *cli.Program, args []string) int {
	if meant := suggestion(p, args); len(args) > 1 && (meant != "" || args[0] == otherCommand) {
		// Not a usage error of ours with its 2: somebody may have this in an agent's settings.
		hint := ""
		if meant != "" {
			hint = fmt.Sprintf("; did you mean %q?", meant)
		}
		_, _ = fmt.Fprintf(p.Stderr, "%s: unknown command %q%s\nRun '%s --help' for usage.\n", p.Path(), args[0], hint, p.Path())
		return exitFailed
	}
	if err := o.wrong(p, args); err != nil {
		return p.UsageError(err)
	}
	paths, err := o.paths(p)
	if err != nil {
		return p.UsageError(err)
	}
	lookup, err := o.lookup(p, paths)
	if err != nil {
		return p.UsageError(err)
	}
	r := &run{options: o, program: p, args: args, lookup: lookup, paths: paths}
	return r.main(ctx)
}

// suggestion is the call that was probably meant by one whose first word is no command, "" where none is near. Other clients have commands
// for what is a flag here, or nothing at all.
func suggestion(p *cli.Program, args []string) string {
	if len(args) == 0 {
		return ""
	}
	switch args[0] {
	case "eval", "evaluate", "exec":
		if len(args) == 1 {
			return p.Path() + " EXPR"
		}
		return p.Path() + " '" + strings.Join(args[1:], " ") + "'"
	case "load", "load-file":
		return strings.Join(append([]string{p.Path(), "-f"}, args[1:]...), " ")
	}
	return p.Suggest(args[0])
}

// wrong says what is wrong with the call.
func (o *options) wrong(p *cli.Program, args []string) error {
	modes := 0
	for _, given := range []int{len(args), len(o.exprs), len(o.files), len(o.messages)} {
		if given > 0 {
			modes++
		}
	}
	shapes := 0
	for _, given := range []bool{o.hook, o.json, o.verbose} {
		if given {
			shapes++
		}
	}
	switch {
	case len(args) > 1:
		return fmt.Errorf("expected one expression, found %d; put it in quotes: '%s'", len(args), strings.Join(args, " "))
	case modes > 1:
		return errors.New("EXPR, -e, -f and -m exclude each other")
	case len(o.files) > 1:
		return errors.New("-f takes one file")
	case len(o.messages) > 1:
		return errors.New("-m takes one message")
	case shapes > 1:
		return errors.New("--json, --hook and --verbose exclude each other")
	case o.hook && len(o.messages) > 0:
		return errors.New("--hook is for code, not for -m")
	case o.ns != "" && len(o.exprs)+len(args) == 0 && modes > 0:
		return errors.New("--ns is for an expression; a file has its own, and a message says it with \"ns\"")
	case modes == 0 && p.Terminal(p.Stdin):
		return errors.New("nothing to evaluate: give an expression, -e, -f, -m, or code on stdin")
	}
	return nil
}

func (o *options) lookup(p *cli.Program, paths nrepl.PathMap) (nrepl.Lookup, error) {
	l := nrepl.Lookup{Host: o.host, Dir: p.Dir, PathMap: paths, Getenv: p.Getenv, Discover: true}
	if len(o.files) > 0 && o.files[0] != "-" {
		l.File = absolute(p.Dir, o.files[0])
	}
	if o.port != "" {
		if err := l.SetPort(o.port); err != nil {
			return l, fmt.Errorf("--port: %w", err)
		}
	}
	return l, nil
}

func (o *options) paths(p *cli.Program) (nrepl.PathMap, error) {
	entries, from := []string(o.pathMaps), "--path-map"
	if len(entries) == 0 {
		entries, from = filepath.SplitList(p.Getenv("BREPL_PATH_MAP")), "BREPL_PATH_MAP"
	}
	m, err := nrepl.ParsePathMap(entries)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return m.In(p.Dir), nil
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// list is a flag that may be given again.
type list []string

func (l *list) String() string { return "" }

func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}

// seconds is a flag for a time: a number of seconds, or a duration.
type seconds time.Duration

func (s *seconds) String() string { return "" }

func (s *seconds) Set(text string) error {
	d, err := time.ParseDuration(text)
	if n, notNumber := strconv.ParseFloat(text, 64); notNumber == nil {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || d <= 0 || d > forever {
		return errors.New("expected seconds, or a time such as 1m30s")
	}
	*s = seconds(d)
	return nil
}
