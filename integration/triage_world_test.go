//go:build unix

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// triageWorld is what surrounds memory-triage at one stop: a project, a home, a place for state, and a transcript.
type triageWorld struct {
	t                                *testing.T
	project, home, state, transcript string
	session                          string
	env                              []string
	lines                            []string
}

func newTriageWorld(t *testing.T) *triageWorld {
	t.Helper()
	w := &triageWorld{t: t, project: realTempDir(t), home: realTempDir(t), state: realTempDir(t)}
	w.session = fmt.Sprintf("triage-%d-%d", os.Getpid(), sessions.Add(1))
	w.transcript = filepath.Join(w.home, ".claude", "projects", "-project", w.session+".jsonl")
	assert.NilError(t, os.MkdirAll(filepath.Dir(w.transcript), 0o700))
	assert.NilError(t, os.Mkdir(filepath.Join(w.project, ".claude"), 0o700))
	return w
}

// says adds a line of the user or the agent to the transcript, in the host's shape.
func (w *triageWorld) user(text string) *triageWorld {
	return w.line(map[string]any{"parentUuid": nil, "isSidechain": false, "type": "user", "message": map[string]any{"role": "user", "content": text}})
}

func (w *triageWorld) agent(text string) *triageWorld {
	return w.blocks(map[string]any{"type": "text", "text": text})
}

func (w *triageWorld) tool(name string, input map[string]any) *triageWorld {
	return w.blocks(map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", len(w.lines)), "name": name, "input": input})
}

func (w *triageWorld) blocks(blocks ...any) *triageWorld {
	return w.line(map[string]any{"isSidechain": false, "message": map[string]any{
		"id": fmt.Sprintf("msg_%d", len(w.lines)), "role": "assistant", "model": "m", "content": blocks,
	}, "type": "assistant"})
}

func (w *triageWorld) line(value any) *triageWorld {
	w.t.Helper()
	data, err := json.Marshal(value)
	assert.NilError(w.t, err)
	return w.raw(string(data) + "\n")
}

func (w *triageWorld) raw(text string) *triageWorld {
	w.t.Helper()
	w.lines = append(w.lines, text)
	assert.NilError(w.t, os.WriteFile(w.transcript, []byte(strings.Join(w.lines, "")), 0o600))
	return w
}

// config writes memory-config.json of the project.
func (w *triageWorld) config(text string) *triageWorld {
	w.t.Helper()
	w.file(filepath.Join(w.project, ".claude", "memory-config.json"), text)
	return w
}

func (w *triageWorld) userConfig(text string) {
	w.t.Helper()
	w.file(filepath.Join(w.home, ".config", "memory-triage", "memory-config.json"), text)
}

func (w *triageWorld) file(path, text string) {
	w.t.Helper()
	assert.NilError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(w.t, os.WriteFile(path, []byte(text), 0o600))
}

func (w *triageWorld) flag() string { return filepath.Join(w.project, ".claude", ".stop_hook_active") }

func (w *triageWorld) event(more ...string) string {
	fields := map[string]any{
		"session_id": w.session, "transcript_path": w.transcript, "cwd": w.project, "hook_event_name": "Stop", "stop_hook_active": false,
		"background_tasks": []any{}, "session_crons": []any{},
	}
	for i := 0; i+1 < len(more); i += 2 {
		var value any
		assert.NilError(w.t, json.Unmarshal([]byte(more[i+1]), &value))
		fields[more[i]] = value
	}
	data, err := json.Marshal(fields)
	assert.NilError(w.t, err)
	return string(data)
}

func (w *triageWorld) run(in fakes.Stdin, args ...string) result {
	w.t.Helper()
	path := built(w.t, "memory-triage")
	env := append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "LC_ALL=C", "TZ=UTC", "BREPL_STATE_DIR=" + w.state, "CLAUDE_PROJECT_DIR=" + w.project,
	}, w.env...)
	o := fakes.Run(w.t, fakes.Spec{Path: path, Args: args, Dir: w.project, Env: env}, in)
	if o.TimedOut || o.Signal != "" || o.StreamsHeld {
		w.t.Errorf("timed out: %v, signal: %q, streams held: %v\nstderr: %s", o.TimedOut, o.Signal, o.StreamsHeld, o.Stderr)
	}
	names := []rule{
		literal(w.state, "$$STATE"), literal(w.project, "$$PROJECT"), literal(w.home, "$$HOME"), literal(w.session, "$$SESSION"),
	}
	return result{w.t, o.Exit, normalize(o.Stdout, names), normalize(o.Stderr, names), o}
}

// stop is one stop of the agent; more are fields of the event, name and JSON value.
func (w *triageWorld) stop(more ...string) result {
	w.t.Helper()
	return w.run(fakes.OneLine(w.event(more...)))
}

const triageEnd = "\nUse the memory-management skill to save each item, or write each to a file under `.claude/memory/`.\nAfter saving, you may stop.\n"

// asksFor expects a block for these lines, "DECISION the quote".
func (r result) asksFor(items ...string) {
	r.t.Helper()
	text, names := "Save the following memories before stopping:\n", []string{}
	for _, item := range items {
		name, quote, _ := strings.Cut(item, " ")
		text += "- [" + name + "] " + quote + "\n"
		names = append(names, name)
	}
	r.is(2, tellUser("memory-triage: worth saving: "+strings.Join(names, ", ")), text+triageEnd)
}

// allows expects silence.
func (r result) allows() {
	r.t.Helper()
	r.is(0, "", "")
}

const (
	saysDecision = "We decided to use Postgres instead of MySQL for the order store."
	saysDebt     = "The retry loop is hardcoded for now, that is technical debt."
)

// decided is a session that holds one decision.
func decided(t *testing.T) *triageWorld {
	t.Helper()
	return newTriageWorld(t).user(saysDecision).agent("Noted.")
}

// age makes a file look this old.
func age(t *testing.T, path string, d time.Duration) {
	t.Helper()
	then := time.Now().Add(-d)
	assert.NilError(t, os.Chtimes(path, then, then))
}
