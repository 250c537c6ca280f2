package tests

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/failure"
)

// maxCases bounds the failing tests that are kept; maxLine is how long an event may be.
const (
	maxCases = 200
	maxLine  = 4 << 20
)

// reader makes a result of what the runner prints.
type reader struct {
	run      *Run
	line     []byte // of the output, not yet complete
	result   *Result
	planned  int
	finished int
	before   int // failing tests before the running namespace
	ended    bool
	sources  *failure.Source
}

// out takes the next piece of the output.
func (r *reader) out(piece string) {
	for {
		head, rest, whole := strings.Cut(piece, "\n")
		if len(r.line)+len(head) <= maxLine {
			r.line = append(r.line, head...)
		}
		if !whole {
			return
		}
		if at := strings.LastIndex(string(r.line), mark); at >= 0 {
			nodes, errs := clj.ReadAll("", r.line[at+len(mark):], clj.Options{Dialect: clj.Clojure})
			if len(errs) == 0 && len(nodes) == 1 {
				r.event(nodes[0])
			}
		}
		r.line, piece = r.line[:0], rest
	}
}

func (r *reader) event(e *clj.Node) {
	res := r.result
	switch name := e.Get("event"); keyword(name) {
	case "plan":
		r.planned = len(strs(e.Get("namespaces")))
		missing := strs(e.Get("missing"))
		for _, n := range r.run.Chosen {
			if slices.Contains(missing, n.Name) {
				res.Missing = append(res.Missing, n)
			}
		}
	case "begin":
		res.Running, r.before = str(e, "ns"), len(res.Failing)
	case "test":
		r.failing(e)
	case "running":
		res.Running = str(e, "ns") + "/" + str(e, "test")
	case "late":
		res.Errors++
		name := str(e, "ns")
		res.Late = append(res.Late, name)
		c := Case{Namespace: name, Test: str(e, "test"), File: r.file(name)}
		p := Problem{Error: true, Message: "the namespace ran longer than " + seconds(r.run.Options.NamespaceTimeout) + " and was interrupted"}
		r.stack(&p, &c, failure.Calls(e.Get("frames"), *r.source()))
		c.Problems = []Problem{p}
		r.keep(c)
	case "stuck":
		res.Running += " (it cannot be interrupted)"
	case "ns":
		if isTrue(e, "halt") {
			return
		}
		r.finished++
		tests := count(e, "test")
		res.Tests += tests
		res.Passed += count(e, "pass")
		res.Failures += count(e, "fail")
		res.Errors += count(e, "error")
		took := time.Duration(count(e, "ms")) * time.Millisecond
		res.Ran = append(res.Ran, Ran{str(e, "ns"), strs(e.Get("ran")), took})
		if tests > 0 {
			res.Namespaces++
		}
		if r.run.Progress != nil {
			failing := res.Failing[min(r.before, len(res.Failing)):]
			r.run.Progress(Progress{
				Namespace: str(e, "ns"), Tests: tests, Failed: count(e, "fail") + count(e, "error"),
				Took: took, Failing: failing,
			})
		}
	case "end":
		r.ended = true
	}
}

func (r *reader) keep(c Case) {
	if len(r.result.Failing) < maxCases {
		r.result.Failing = append(r.result.Failing, c)
	}
}

func (r *reader) failing(e *clj.Node) {
	ns := str(e, "ns")
	c := Case{Namespace: ns, Test: str(e, "test"), File: r.file(ns), Line: count(e, "line"), More: count(e, "more"), Output: str(e, "out")}
	for _, p := range list(e.Get("failures")) {
		c.Problems = append(c.Problems, r.problem(p, &c))
	}
	if c.Test == "" && len(c.Problems) > 0 && c.Problems[0].Message == "cannot be loaded" {
		r.result.Broken = append(r.result.Broken, ns)
	}
	r.keep(c)
}

func (r *reader) problem(n *clj.Node, c *Case) Problem {
	p := Problem{
		Error: keyword(n.Get("type")) == "error", Line: count(n, "line"), Contexts: strs(n.Get("contexts")), Message: str(n, "message"),
		Expected: str(n, "expected"), Actual: str(n, "actual"),
	}
	for _, d := range list(n.Get("diff")) {
		p.Diff = append(p.Diff, Difference{Path: str(d, "path"), First: str(d, "a"), Second: str(d, "b"), At: count(d, "at"), Line: count(d, "line")})
	}
	p.File = r.place(str(n, "file"), c.File)
	if thrown := failure.Of(n.Get("exception"), *r.source()); thrown != nil {
		// The reporter names the line of the exception; the test's own line is on the stack.
		p.Line = 0
		r.stack(&p, c, thrown.Trace)
		thrown.Trace = nil
		p.Thrown = thrown
	}
	if p.Line == 0 {
		p.File, p.Line = c.File, c.Line
	}
	if p.Thrown != nil && p.Expected == "nil" {
		p.Expected = "" // of what was thrown outside of an assertion
	}
	return p
}

// maxFrames bounds the calls that are told.
const maxFrames = 8

// stack takes the project's calls, innermost first, up to the test's own, which says where it is.
func (r *reader) stack(p *Problem, c *Case, trace []failure.Frame) {
	found := false
	for _, f := range trace {
		if !f.Project || len(p.Frames) > 0 && p.Frames[len(p.Frames)-1] == f {
			continue
		}
		if len(p.Frames) < maxFrames {
			p.Frames = append(p.Frames, f)
		}
		test := f.Symbol == c.Namespace+"/fn" // what deftest makes
		if f.File == c.File && (!found || test) {
			p.File, p.Line, found = f.File, f.Line, true
		}
		if test {
			return
		}
	}
}

func (r *reader) source() *failure.Source {
	if r.sources == nil {
		source := r.run.source()
		r.sources = &source
	}
	return r.sources
}

// file is that of a test namespace.
func (r *reader) file(ns string) string {
	for _, n := range r.run.Suite.Namespaces {
		if n.Name == ns && path.Ext(n.File) != ".cljs" {
			return n.File
		}
	}
	return ""
}

// place is the project's file for the base name that clojure.test reports: the test's own, or the only one of that name.
func (r *reader) place(name, own string) string {
	base := path.Base(name)
	if name == "" || base == path.Base(own) {
		return own
	}
	found := ""
	for _, n := range r.run.Suite.Namespaces {
		if path.Base(n.File) == base {
			if found != "" {
				return base
			}
			found = n.File
		}
	}
	if found == "" {
		return base
	}
	return found
}

func keyword(n *clj.Node) string {
	if n == nil || n.Kind != clj.Keyword {
		return ""
	}
	return n.Text
}

func str(n *clj.Node, key string) string {
	s, _ := n.Get(key).Str()
	return s
}

func count(n *clj.Node, key string) int {
	i, _ := n.Get(key).Int()
	return int(i)
}

func isTrue(n *clj.Node, key string) bool {
	b, _ := n.Get(key).Bool()
	return b
}

func list(n *clj.Node) []*clj.Node {
	if n == nil {
		return nil
	}
	return n.Children
}

func strs(n *clj.Node) (all []string) {
	for _, child := range list(n) {
		if s, ok := child.Str(); ok {
			all = append(all, s)
		}
	}
	return all
}
