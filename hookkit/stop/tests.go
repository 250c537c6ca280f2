package stop

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/hooksedn"
	"github.com/hookkit/brepl/hookkit/tests"
	"github.com/hookkit/brepl/hookkit/text"
)

// textLimit is how long the text of failing tests may be, in UTF-16 units: with what is said around it, it fits into AgentLimit whole.
const textLimit = AgentLimit - 1500

// test runs the project's tests. What failed is written to out; ran says what ran of tests that passed.
func (r *Runner) test(ctx context.Context, h *hooksedn.Hook, out io.Writer) (kind Kind, why, ran string) {
	limited, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	suite, err := tests.Find(limited, r.Dir, r.Env)
	if err != nil {
		return Failed, "the test namespaces cannot be found: " + text.Brief(err.Error()), ""
	}
	options := h.Tests
	if options.NamespaceTimeout == 0 {
		options.NamespaceTimeout = max(h.Timeout/2, time.Second)
	}
	memory := tests.Recall(r.getenv, suite.Root, h.Name)
	run := tests.Run{Suite: suite, Options: options, Chosen: suite.Tests(options), Failed: memory.Failed}
	if files, known := memory.Changed(suite); options.ChangedOnly && known && len(run.Chosen) > 0 {
		if run.Chosen = suite.Reached(run.Chosen, files); len(run.Chosen) == 0 {
			return Passed, "", "nothing that changed since the tests passed is reached by a test"
		}
	}
	if r.Live != nil {
		run.Progress = func(p tests.Progress) { _, _ = fmt.Fprintln(r.Live, p) }
	}
	if len(run.Chosen) == 0 {
		result, _ := run.In(limited, nil) // says why; no session is needed for that
		return Empty, result.Empty, ""
	}
	session, err := r.Session(limited, out)
	if err != nil {
		kind, why = broken(err, h)
		return kind, why, ""
	}
	defer func() { _ = session.Close() }()
	result, err := run.In(limited, session)
	if err == nil {
		_ = memory.Keep(suite, run.Chosen, nil, result, true) // the next run does without
	}
	if result != nil && (err != nil || result.Failed()) {
		_, _ = io.WriteString(out, result.Text(textLimit)) // keeps what it can; never fails
	}
	switch {
	case err != nil:
		kind, why = broken(err, h)
		if result != nil && result.Failed() {
			why += "; until then " + result.Counts()
		}
		return kind, why, ""
	case result.Failed():
		return Failed, result.Counts(), ""
	case result.Empty != "":
		return Empty, result.Empty, ""
	case result.Partial != "":
		return Empty, result.Partial, ""
	}
	return Passed, "", result.Counts()
}

// testPlan names what a hook would run.
func testPlan(ctx context.Context, dir string, env []string, h *hooksedn.Hook) string {
	suite, err := tests.Find(ctx, dir, env)
	if err != nil {
		return text.Brief(err.Error())
	}
	run := tests.Run{Suite: suite, Options: h.Tests, Chosen: suite.Tests(h.Tests)}
	return run.Plan()
}

func (r *Runner) getenv(name string) string {
	p := cli.Program{Env: r.Env}
	return p.Getenv(name)
}
