//go:build unix

package integration

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

// The rows of the page on any client: fakes.Claude in this process, a stand-in for the client's command line, and a real client where there
// is one. The model is a script behind an API on loopback, and the client has no other way out.

// clientVariable names the real client to run the rows against.
const clientVariable = "HOOKKIT_CLAUDE"

// clientBase is a folder for the rows' files with a short path.
func clientBase(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hk") //nolint:usetesting // its path must be short: clients make sockets in it
	assert.NilError(t, err)
	t.Cleanup(func() { assert.NilError(t, os.RemoveAll(dir)) })
	dir, err = filepath.EvalSymlinks(dir)
	assert.NilError(t, err)
	return dir
}

// Each row must say what fakes.Claude does, before a client is held to it.
func TestClientRows(t *testing.T) {
	fullRun(t)
	t.Parallel()
	base := clientBase(t)
	for _, row := range clientRows() {
		t.Run(row.name(), func(t *testing.T) {
			t.Parallel()
			job, o := row.prepare(t, base)
			assert.NilError(t, o.read(playFake(t.Context(), job)))
			row.hold(t, o)
		})
	}
}

// playFake plays a job with fakes.Claude in this process, the model without an API.
func playFake(ctx context.Context, job clientJob) clientResult {
	var out strings.Builder
	model := &scriptedModel{prompt: job.Prompt, replies: job.Replies}
	s := &standIn{dir: job.Dir, env: job.Env, out: &out, ask: func(_ context.Context, body []byte) (apiContent, error) {
		reply, _, err := model.ask(body)
		return reply.message("", len(model.requests)).Content, err
	}}
	result := clientResult{Name: job.Name}
	if err := errors.Join(s.parse(job.Args), s.run(ctx)); err != nil {
		result.Fault = err.Error()
	}
	result.Requests, result.Stdout = model.requests, out.String()
	return result
}

// hold fails where the outcome is not as the row says.
func (r *clientRow) hold(t *testing.T, o *clientOutcome) {
	t.Helper()
	for _, fault := range r.faults(o) {
		t.Error(fault)
	}
	if !r.fields {
		return
	}
	for _, h := range r.hooks {
		for _, call := range o.calls[h.id] {
			sameKeysAsRecorded(t, h.event, call.Stdin)
		}
	}
}

// A fact of the page that no row shows on a client has a reason and a check of its own, and no row shows what the page does not say.
func TestClientRowsAreComplete(t *testing.T) {
	facts, names := map[string]bool{}, map[string]bool{}
	shown := map[string]bool{}
	for _, row := range clientRows() {
		assert.Assert(t, !names[row.name()], "two rows %q", row.name())
		shown[row.fact], names[row.name()] = true, true
	}
	for _, row := range hostRows() {
		for _, fact := range row.facts {
			facts[fact.name] = true
			assert.Assert(t, shown[fact.name] != (notOnClients[fact.name] != ""), "%q needs a row for clients or a reason, and not both", fact.name)
			assert.Assert(t, shown[fact.name] || fact.check != nil, "%q is shown nowhere", fact.name)
		}
	}
	for fact := range shown {
		assert.Assert(t, facts[fact], "no fact %q", fact)
	}
	for fact := range notOnClients {
		assert.Assert(t, facts[fact], "a reason for what is no fact: %q", fact)
	}
}

func TestRealClient(t *testing.T) {
	client := os.Getenv(clientVariable)
	if client == "" {
		t.Skipf("SKIPPED: no real client was held to the rows, fakes.Claude only. Optional, in CI too: %s=PATH names a Claude Code, best %s",
			clientVariable, claudecode.Version)
	}
	client, err := filepath.Abs(client)
	assert.NilError(t, err)
	rows := clientRows()
	outcomes, version, err := playRows(t, client, rows)
	if errors.Is(err, errNoNamespace) {
		t.Fatalf("%s is set, and no client is run without a network namespace that has no way out: %v", clientVariable, err)
	}
	assert.NilError(t, err)
	t.Logf("the client says %q; the rules in fakes/claudecode are those of %s", version, claudecode.Version)
	if !strings.HasPrefix(version, claudecode.Version) {
		t.Logf("NOTE: another version: a row that fails may be a change of the client")
	}
	for i := range rows {
		t.Run(rows[i].name(), func(t *testing.T) {
			assert.Assert(t, outcomes[i] != nil, "the client gave no result")
			rows[i].hold(t, outcomes[i])
			if others := outcomes[i].Others; len(others) > 0 {
				t.Logf("the client also asked for: %s", strings.Join(others, ", "))
			}
		})
	}
	for _, fact := range slices.Sorted(maps.Keys(notOnClients)) {
		t.Logf("not on a client: %s: %s", fact, notOnClients[fact])
	}
}

// playRows runs the rows with a client in a namespace. A row without an outcome has failed already.
func playRows(t *testing.T, client string, rows []clientRow) (outcomes []*clientOutcome, version string, err error) {
	t.Helper()
	base := clientBase(t)
	outcomes = make([]*clientOutcome, len(rows))
	jobs := make([]clientJob, len(rows))
	for i := range rows {
		jobs[i], outcomes[i] = rows[i].prepare(t, base)
	}
	run, err := playInNamespace(t.Context(), client, jobs)
	if err != nil {
		return nil, "", err
	}
	assert.Equal(t, len(run.Results), len(rows))
	for i := range outcomes {
		if err := outcomes[i].read(run.Results[i]); err != nil {
			t.Errorf("%s: %v", rows[i].name(), err)
			outcomes[i] = nil
		}
	}
	return outcomes, run.Version, nil
}

// standInClient writes a program that is the stand-in with a fault, and calls it as a client is called.
func standInClient(t *testing.T, fault standInFault) string {
	t.Helper()
	program, err := os.Executable()
	assert.NilError(t, err)
	path := filepath.Join(t.TempDir(), "claude")
	script := "#!/bin/sh\nexec " + shellQuote(program) + " " + standInCommand + " " + string(fault) + ` "$@"` + "\n"
	assert.NilError(t, fakes.WriteProgram(path, script))
	return path
}

func skipWithoutNamespace(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, errNoNamespace) {
		t.Skipf("SKIPPED: the runner for a real client was not tried: %v", err)
	}
	assert.NilError(t, err)
}

// The runner itself, with a client that is known to be right: every row, through its command line, its API and the namespace.
func TestRealClientRunner(t *testing.T) {
	fullRun(t)
	t.Parallel()
	rows := clientRows()
	outcomes, version, err := playRows(t, standInClient(t, "-"), rows)
	skipWithoutNamespace(t, err)
	assert.Equal(t, version, claudecode.Version+" (a stand-in on fakes.Claude)")
	for i := range rows {
		t.Run(rows[i].name(), func(t *testing.T) {
			t.Parallel()
			assert.Assert(t, outcomes[i] != nil)
			rows[i].hold(t, outcomes[i])
		})
	}
}

// A client that gets one rule wrong fails the rows of that rule, and no other.
func TestRealClientRunnerFindsFaults(t *testing.T) {
	fullRun(t)
	t.Parallel()
	for fault, failing := range map[standInFault][]string{
		ignoresExit2:      {"exit 2 tells stderr verbatim with the command in front", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP/2"},
		ignoresOtherCodes: {"JSON at any exit code/1", "additionalContext makes the agent go on, as a reminder/1"},
		tellsOnce:         {"a JSON block is told twice", "JSON at any exit code/1"},
		ignoresRewrites:   {"a rewrite without a decision lands on disk", "we send a repair: on disk, and told"},
		losesContext:      {"we send a warning as additionalContext", "additionalContext makes the agent go on, as a reminder/1", "we send a repair: on disk, and told"},
		hasNoCap:          {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP/2"},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			rows := clientRows()
			rows = slices.DeleteFunc(rows, func(r clientRow) bool { return !slices.Contains(faultRows, r.name()) })
			assert.Equal(t, len(rows), len(faultRows))
			outcomes, _, err := playRows(t, standInClient(t, fault), rows)
			skipWithoutNamespace(t, err)
			var found []string
			for i := range rows {
				if outcomes[i] == nil || len(rows[i].faults(outcomes[i])) > 0 {
					found = append(found, rows[i].name())
				}
			}
			slices.Sort(found)
			slices.Sort(failing)
			assert.DeepEqual(t, found, failing)
		})
	}
}

// faultRows are the rows that the faulty stand-ins are put through.
var faultRows = []string{
	"exit 2 tells stderr verbatim with the command in front", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP/2", "JSON at any exit code/1", "a JSON block is told twice", "additionalContext makes the agent go on, as a reminder/1",
	"a rewrite without a decision lands on disk", "we send a repair: on disk, and told", "we send a warning as additionalContext", "we send a deny",
	"we send approve: no effect",
}
