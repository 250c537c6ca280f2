package tests

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/failure"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/project/namespaces"
	"github.com/hookkit/brepl/hookkit/text"
)

// mark begins each event of the runner. What tests print is kept from the output that we read.
const mark = "brepl-tests "

//go:embed runner.clj
var runner string

// Run is a run of tests.
type Run struct {
	Suite   *Suite
	Options hooksedn.TestOptions
	// Chosen are the namespaces to run; see [Suite.Tests].
	Chosen []Namespace
	// Only names the tests of a namespace, where not all of them are to run.
	Only map[string][]string
	// Failed are the tests that failed last time, as in [Memory]: their namespaces run first.
	Failed []string
	// Prepare brings the server in step with the files; nil: what is not loaded is required, nothing else.
	Prepare func(ctx context.Context, s *nrepl.Session) error
	// Progress is called for each namespace when it is done; nil: nobody looks.
	Progress func(Progress)
	// PathMap gives the local path for one on the server; nil: they are the same.
	PathMap func(remote string) string
}

// Progress is what came of one namespace.
type Progress struct {
	Namespace     string
	Tests, Failed int
	Took          time.Duration
	Failing       []Case
}

// In runs the tests in a session, which is left in another namespace than before. The error is that of the evaluation, or of Prepare; the
// result holds what was known by then, and is nil only with an error of Prepare.
func (r *Run) In(ctx context.Context, s *nrepl.Session) (*Result, error) {
	if len(r.Chosen) == 0 {
		return &Result{Empty: r.Suite.none()}, nil
	}
	if r.Prepare != nil {
		if err := r.Prepare(ctx, s); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	chosen := slices.Clone(r.Chosen)
	r.Suite.sort(chosen, r.Failed)
	read := &reader{run: r, result: &Result{}, planned: len(chosen)}
	code := "(require 'clojure.test 'clojure.java.io)\n(" + runner + r.request(chosen) + "\n" + failure.DataFunction(200) + ")"
	res, err := s.Eval(ctx, nrepl.Request{Code: code, Ns: "clojure.core"}, func(m nrepl.Message) { read.out(m.Text("out")) })
	result := read.result
	result.Took = time.Since(began)
	if read.ended {
		result.Running = ""
		if result.Tests == 0 && !result.Failed() {
			result.Empty = r.empty(result)
		} else if len(result.Missing) > 0 {
			result.Partial = "not all tests ran: " + r.Suite.missing(result.Missing) + ", or leave it out by :exclude"
		}
		return result, nil
	}
	result.Left = max(0, read.planned-read.finished)
	if err == nil {
		err = unfinished(ctx, s, res)
	}
	return result, err
}

// unfinished says why the runner gave no end.
func unfinished(ctx context.Context, s *nrepl.Session, res nrepl.Result) error {
	if f := failure.Explain(ctx, s, res, failure.Source{}); f != nil {
		return errors.New("the runner failed: " + text.Line(f.Message))
	}
	return errors.New("the runner gave no result")
}

// request is the runner's first argument.
func (r *Run) request(chosen []Namespace) string {
	var b strings.Builder
	b.WriteString("(quote {:mark " + clj.QuoteString(mark))
	if r.Options.Namespaces != "" {
		b.WriteString(" :pattern " + clj.QuoteString(r.Options.Namespaces))
	}
	if r.Options.NamespaceTimeout > 0 {
		b.WriteString(" :limit " + strconv.FormatInt(r.Options.NamespaceTimeout.Milliseconds(), 10))
	}
	for _, list := range []struct {
		key   string
		words []string
	}{{"focus", r.Options.Focus}, {"skip", r.Options.Skip}} {
		b.WriteString(" :" + list.key + " [")
		for _, word := range list.words {
			b.WriteString(":" + word + " ")
		}
		b.WriteString("]")
	}
	b.WriteString(" :only {")
	for name, tests := range r.Only {
		b.WriteString(clj.QuoteString(name) + " [")
		for _, test := range tests {
			b.WriteString(clj.QuoteString(test) + " ")
		}
		b.WriteString("] ")
	}
	b.WriteString("} :namespaces [")
	for i := range chosen {
		fmt.Fprintf(&b, "{:name %s :files [%s]}\n", clj.QuoteString(chosen[i].Name), clj.QuoteString(chosen[i].resource()))
	}
	b.WriteString("]})")
	return b.String()
}

// source is for the texts of exceptions.
func (r *Run) source() failure.Source {
	paths := namespaces.SourcePaths(r.Suite.Root)
	for i, path := range paths {
		if rel, err := filepath.Rel(r.Suite.Root, path); err == nil {
			paths[i] = rel
		}
	}
	return failure.Source{Dir: r.Suite.Root, ReadFile: os.ReadFile, SourcePaths: paths, PathMap: r.PathMap, Trace: true}
}
