//go:build unix

package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/stop"
)

// leaveTrace is a hook that notes its session.
const leaveTrace = `echo "$BREPL_SESSION_ID" >> "$WORLD/trace"`

var inputRules = []ruleTest{
	{title: "what is no JSON object is exit 1 with the reason, never 2", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", leaveTrace+"; exit 1", retry)))
		for _, c := range []struct {
			in     fakes.Stdin
			stderr string
		}{
			{fakes.OneLine("hello"), "the event is not a JSON object: unexpected 'h' at byte 1, where an object should start with {\n"},
			{fakes.OneLine("[1]"), "the event is not a JSON object: an array where an object should start with {\n"},
			{fakes.OneLine("null"), "the event is not a JSON object: unexpected 'n' at byte 1, where an object should start with {\n"},
			{fakes.OneLine(`"Stop"`), "the event is not a JSON object: a string where an object should start with {\n"},
			{fakes.OneLine(`{"session_id":x}`), "the event is not a JSON object: unexpected 'x' at byte 15, where a value should start\n"},
			{fakes.UTF16(`{}`), "the event is not a JSON object: it looks like UTF-16 text; an event is UTF-8\n"},
		} {
			r := w.run(c.in, "hook", "stop")
			assert.Check(t, r.exit == 1 && r.stdout == "" && r.stderr == c.stderr, "%v: exit %d\nstdout: %s\nstderr: %s\nwant:   %s", c.in, r.exit, r.stdout, r.stderr, c.stderr)
		}
		assert.Equal(t, w.wrote("trace"), "absent")
	}},
	{title: "an event of 32 MiB is an event", run: func(t *testing.T) {
		fullRun(t)
		w := newWorld(t, hooksEDN(bash("tests", leaveTrace)))
		event := w.stopEvent(fakes.Set("last_assistant_message", strings.Repeat("x", 32<<20)))
		w.run(fakes.HeldOpen(event), "hook", "stop").is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "$SESSION\n")
	}},
	{title: "nothing on stdin runs the hooks in session unknown, which includes a hash of the project's path", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", leaveTrace+"; exit 1", retry, ":max-retries 0")))
		other := newWorld(t, hooksEDN(bash("tests", leaveTrace+"; exit 1", retry, ":max-retries 0")))
		other.state, other.env = w.state, append(other.env, "BREPL_STATE_DIR="+w.state)
		shapes := append(fakes.NoEventShapes(), fakes.BlankLine())
		for i, in := range shapes {
			r := w.run(in, "hook", "stop")
			assert.Equal(t, r.exit, 2, "%v: %s", in, r.stderr)
			assert.Equal(t, r.stdout, tellUser(fmt.Sprintf("brepl: 'tests' failed, attempt %d", i+1)), "%v", in)
		}
		matches(t, w.wrote("trace"), fmt.Sprintf(`^(unknown-[0-9a-f]{16}\n){%d}$`, len(shapes)))
		assert.Equal(t, other.run(fakes.EOF(), "hook", "stop").exit, 2)
		files, err := filepath.Glob(filepath.Join(w.state, "*"))
		assert.NilError(t, err)
		counted := map[string]string{}
		for _, file := range files {
			if strings.HasSuffix(file, ".edn") {
				matches(t, filepath.Base(file), `^brepl-stop-hook-unknown-[0-9a-f]{16}\.edn$`)
				counted[content(t, file)] = "once"
			}
		}
		assert.DeepEqual(t, counted, map[string]string{fmt.Sprintf("{\"tests\" %d}\n", len(shapes)): "once", "{\"tests\" 1}\n": "once"})
	}},
	{title: "an event that drips in byte by byte is an event", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", leaveTrace)))
		w.run(fakes.Slow(w.stopEvent(), 100*time.Microsecond), "hook", "stop").is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "$SESSION\n")
	}, alone: true},
	{title: "names of fields match exactly", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", leaveTrace)))
		event := w.stopEvent(fakes.Unset("session_id"), fakes.Set("Session_Id", "x"), fakes.Set("SESSION_ID", "y"), fakes.Set("AGENT_ID", "z"))
		w.run(fakes.OneLine(event), "hook", "stop").is(0, approve, "")
		matches(t, w.wrote("trace"), `^unknown-[0-9a-f]{16}\n$`)
	}},
	{title: "BREPL_EVENT_FILE holds the event byte for byte, is 0600, and is removed", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("look",
			`cat "$BREPL_EVENT_FILE" > "$WORLD/event"; ls -l "$BREPL_EVENT_FILE" | cut -c1-10 > "$WORLD/mode"; echo "$BREPL_EVENT_FILE" > "$WORLD/path"`)))
		event := w.stopEvent(fakes.Set("odd", json.RawMessage(`["\ud800 <&> \u00e9é", 1e400, 1.50, {"a":1,"a":2},  "`+"\xff"+`"]`)))
		w.run(fakes.HeldOpen(event), "hook", "stop").is(0, approve, "")
		assert.Equal(t, content(t, filepath.Join(w.scratch, "event")), event)
		assert.Equal(t, w.wrote("mode"), "-rw-------\n")
		path := strings.TrimSpace(content(t, filepath.Join(w.scratch, "path")))
		matches(t, normalize(path, w.names()), `^\$PRIVATE/event-\d+\.json$`)
		assert.Equal(t, content(t, path), "absent")
	}},
	{title: "commands get the session and the hook's name, and :env after that", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(
			bash("a b", `echo "$BREPL_SESSION_ID|$BREPL_HOOK_NAME|$CLAUDE_PROJECT_DIR" >> "$WORLD/trace"`),
			bash("override", `echo "$BREPL_SESSION_ID|$BREPL_HOOK_NAME" >> "$WORLD/trace"`, `:env {"BREPL_HOOK_NAME" "mine"}`),
		))
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "$SESSION|a b|$PROJECT\n$SESSION|mine\n")
	}},
	{title: "a sub-agent's event runs no hooks", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", leaveTrace+"; exit 1", retry)))
		for _, event := range w.subagentEvents() {
			w.run(fakes.OneLine(event), "hook", "stop").is(0, approve, "")
		}
		assert.Equal(t, w.wrote("trace"), "absent")
	}},
	{title: "a sub-agent's event runs the hooks with :subagents? true", run: func(t *testing.T) {
		w := newWorld(t, "{:subagents? true :stop ["+bash("tests", leaveTrace+"; exit 1", retry)+bash("lint", "exit 1")+"]}")
		for i, event := range w.subagentEvents() {
			w.run(fakes.OneLine(event), "hook", "stop").blocks("tests", i+1)
		}
		assert.Equal(t, w.wrote("trace"), "$SESSION\n$SESSION\n")
		// The agent of a SubagentStop is told under that name; another one and the client drops the whole object.
		w.project.Write(".brepl/hooks.edn", "{:subagents? true :stop ["+bash("lint", "exit 1")+"]}")
		stderr, agent := reported("Hook 'lint' failed: exit 1")
		w.run(fakes.OneLine(w.subagentEvents()[1]), "hook", "stop").is(1,
			strings.Replace(tellBoth("brepl: 'lint' failed: exit 1", agent), `"Stop"`, `"SubagentStop"`, 1), stderr)
	}},
	{title: "a sub-agent is told nothing of a broken configuration", run: func(t *testing.T) {
		w := newWorld(t, "{")
		w.run(fakes.OneLine(w.subagentEvents()[0]), "hook", "stop").is(0, approve, "")
	}},
	{title: "hooks run while background tasks run", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", leaveTrace)))
		w.run(fakes.OneLine(w.stopEvent(twoTasks())), "hook", "stop").is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "$SESSION\n")
	}},
	{title: ":skip-while-background? true postpones the hooks and tells the user", run: func(t *testing.T) {
		w := newWorld(t, "{:skip-while-background? true :stop ["+bash("tests", leaveTrace)+"]}")
		w.run(fakes.OneLine(w.stopEvent(twoTasks())), "hook", "stop").is(0,
			approveTelling("brepl: 1 background task running, so the stop hooks wait for the stop after that"), "")
		assert.Equal(t, w.wrote("trace"), "absent")
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "$SESSION\n")
	}},
	{title: "the verdict is given and the process ended soon after the closing brace, with stdin held open", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry, ":max-retries 0")))
		run := func(in fakes.Stdin) fakes.Outcome {
			r := w.run(in, "hook", "stop")
			assert.Equal(t, r.exit, 2, r.stderr)
			return r.raw
		}
		costs(t, 2, func() time.Duration { return run(fakes.OneLine(w.stopEvent())).Elapsed },
			func() time.Duration { return run(fakes.HeldOpenNoNewline(w.stopEvent())).AfterBrace })
	}, alone: true},
	{title: "nothing ends with 2 by accident", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		for _, args := range [][]string{
			{},
			{"hook"},
			{"hook", "stopp"},
			{"hook", "stop", "--no-such-flag"},
			{"hook", "stop", "extra"},
			{"hook", "stop", "--port", "x"},
			{"hook", "run", "no-such-hook"},
			{"hook", "check", "extra"},
			{"hook", "pause", "soon"},
			{"hook", "resume", "x"},
			{"no-such-command"},
		} {
			r := w.run(fakes.OneLine(w.stopEvent()), args...)
			assert.Check(t, r.exit == 1 && r.stdout == "" && r.stderr != "", "%q: exit %d, stdout %q, stderr %q", args, r.exit, r.stdout, r.stderr)
		}
		w.env = append(w.env, "BREPL_STATE_DIR=relative")
		w.stop().is(1, "", "BREPL_STATE_DIR=\"relative\": give an absolute path, or unset it\n")
	}},
	{title: "on a terminal nothing is read, the session is manual, and nothing is counted", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(bash("tests", leaveTrace+"; exit 1", retry, ":max-retries 1")))
		// A process of a test has no terminal, so the program is run as a value that is told it has one.
		for range 2 {
			var out, errs strings.Builder
			program := cli.Program{
				Args: []string{"stop"}, Dir: w.dir, Env: w.environment(), Stdin: failingReader{t}, Stdout: &out, Stderr: &errs,
				IsTerminal: func(any) bool { return true }, Name: "brepl hook",
			}
			exit := program.Main(t.Context(), cli.Command{Sub: stop.Commands()})
			assert.Equal(t, exit, 2)
			assert.Equal(t, out.String(), tellUser("brepl: 'tests' failed, attempt 1/1"))
			assert.Equal(t, errs.String(), blocked(
				"Hook 'tests' failed: exit 1",
				"This stop is blocked: attempt 1 of 1. Fix the cause, then stop again.",
			))
		}
		matches(t, w.wrote("trace"), `^(manual-[0-9a-f]{16}\n){2}$`)
		assert.DeepEqual(t, w.stateFiles(), []string(nil))
	}},
}

// subagentEvents are the two events that end a sub-agent's turn: its own, and a Stop inside of it.
func (w *world) subagentEvents() []string {
	return []string{
		w.stopEvent(fakes.InSubagent("a1", "reviewer")),
		fakes.SubagentStopEvent(fakes.InProject(w.dir), fakes.InSession(w.session)).JSON(),
	}
}

// twoTasks are a background task that runs and one that has ended.
func twoTasks() fakes.EventOption {
	return fakes.Set("background_tasks", json.RawMessage(
		`[{"id":"b1","type":"local_bash","status":"running","description":"server","command":"serve"},`+
			`{"id":"b2","type":"local_bash","status":"completed","description":"build","command":"make"}]`))
}

// failingReader is a stdin that must not be read.
type failingReader struct{ t *testing.T }

func (r failingReader) Read([]byte) (int, error) {
	r.t.Error("a terminal was read")
	return 0, io.EOF
}
