//go:build unix

package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/hookkit/cli"
)

// tape writes a recording in the making.
type tape struct {
	lines []string
	files map[string]string
}

func (tp *tape) call(session, event, command, more string, exit int, stdout, stderr string) {
	line, err := json.Marshal(map[string]any{
		"seq": len(tp.lines) + 1, "event": event, "command": command, "cwd": "/project", "stdin_eof": true, "stdin_ends_with_newline": true,
		"stdin": json.RawMessage(`{"session_id":"` + session + `","cwd":"/project","transcript_path":"/home/dev/t/` + session +
			`.jsonl","hook_event_name":"` + event + `"` + more + `}`),
		"transcript_at_start": map[string]any{"exists": true, "lines": len(tp.lines)},
		"env":                 map[string]string{"CLAUDE_PROJECT_DIR": "/project"},
		"hook":                Answer{Stdout: stdout, Stderr: stderr, Exit: &exit},
	})
	if err != nil {
		panic(err) // only values that encode
	}
	tp.lines = append(tp.lines, string(line)+"\n")
}

// save writes r.jsonl with a transcript of ten lines for each of two sessions.
func (tp *tape) save(t *testing.T) string {
	t.Helper()
	files := map[string]string{"r.jsonl": strings.Join(tp.lines, ""), "r.transcript.jsonl": strings.Repeat(`{"cwd":"/project"}`+"\n", 10)}
	files["r.2.transcript.jsonl"] = files["r.transcript.jsonl"]
	maps.Copy(files, tp.files)
	return writeFiles(t, files)
}

// replay runs the command.
func replay(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := cli.Program{
		Args: append([]string{"replay"}, args...), Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Stdin: strings.NewReader(""),
		Stdout: &out, Stderr: &errs, Name: "hookkit",
	}
	code = p.Main(t.Context(), cli.Command{Sub: Commands(nil)})
	return code, out.String(), errs.String()
}

func TestReplaySame(t *testing.T) {
	// Pins what a hook finds: event, working directory, variables, home, the transcript cut where it was, files as the tools left them.
	const look = `cat; pwd; echo "$CLAUDE_PROJECT_DIR $HOME"; wc -l <"$HOME/t/s1.jsonl"; head -n1 "$HOME/t/s1.jsonl"; cat a.clj b/c.clj 2>/dev/null; exit 2`
	event := func(name, more string) string {
		return `{"session_id":"s1","cwd":"/project","transcript_path":"/home/dev/t/s1.jsonl","hook_event_name":"` + name + `"` + more + "}\n"
	}
	at := func(event string, lines int, files string) string {
		head := ""
		if lines > 0 {
			head = `{"cwd":"/project"}` + "\n"
		}
		return event + "/project\n/project /home/dev\n" + fmt.Sprint(lines) + "\n" + head + files
	}
	edit := `,"tool_name":"Edit","tool_response":{"filePath":"/project/a.clj","oldString":"1","newString":"2","originalFile":"(1 1)\n","replaceAll":true}`
	write := `,"tool_name":"Write","tool_response":{"type":"create","filePath":"/project/b/c.clj","content":"new\n","originalFile":null}`
	var tp tape
	tp.call("s1", "PreToolUse", look, "", 2, at(event("PreToolUse", ""), 0, "(1 1)\n"), "")
	tp.call("s1", "PostToolUse", look, edit, 2, at(event("PostToolUse", edit), 1, "(2 2)\n"), "")
	tp.call("s1", "PostToolUse", look, write, 2, at(event("PostToolUse", write), 2, "(2 2)\nnew\n"), "")
	tp.call("s1", "Notification", "recorder Notification", "", 0, "", "")
	code, stdout, stderr := replay(t, tp.save(t), "r.jsonl")
	assert.Equal(t, stderr, "")
	assert.Equal(t, stdout, "r: 3 same, 1 not played\n")
	assert.Equal(t, code, 0)
}

// blocks is a recording of a session whose stop is blocked, and of another one.
func blocks() *tape {
	var tp tape
	tp.call("s1", "Stop", "echo why >&2; exit 2", "", 2, "", "why\n")
	tp.call("s1", "Stop", "true", "", 0, "", "")
	tp.call("s2", "Stop", "true", "", 0, "", "")
	return &tp
}

func TestReplayDifferent(t *testing.T) {
	// Pins "after the first answer that differs the rest of that session is not comparable", the diff, and the exit code.
	dir := blocks().save(t)
	code, stdout, _ := replay(t, dir, "--command", "echo because", "r.jsonl")
	assert.Equal(t, code, 1)
	assert.Equal(t, stdout, `r: 2 different, 1 not comparable
call 1, Stop, echo why >&2; exit 2:
  decision: blocks the stop, tells the agent -> lets it go on
  exit: 2 -> 0
  --- expected stdout
  +++ got stdout
  @@ -0,0 +1,1 @@
  +because
  --- expected stderr
  +++ got stderr
  @@ -1,1 +0,0 @@
  -why
call 3, Stop, true:
  --- expected stdout
  +++ got stdout
  @@ -0,0 +1,1 @@
  +because
`)
	code, stdout, _ = replay(t, dir, "r.jsonl", "--command", "echo because", "--json")
	assert.Equal(t, code, 1)
	var out Replayed
	assert.NilError(t, json.Unmarshal([]byte(stdout), &out))
	assert.Equal(t, out.Steps[1].Status, NotComparable)
	assert.Equal(t, out.Steps[1].Reason, "the agent would have gone another way since call 1")
	assert.Equal(t, out.Steps[0].Got.Stdout, "because\n")
	assert.Equal(t, out.Steps[0].Judge.Blocked, false)
}

func TestReplayExpectedAnswerOfAnotherDecision(t *testing.T) {
	// Pins when recorded answers mean nothing any more: when ours, though it is as expected, makes the agent go another way. One that
	// differs only in what the client ignores does not.
	for _, c := range []struct{ name, stdout, want string }{
		{"ignored", "{\"decision\": \"approve\"}\n", "r: 2 same\n"},
		{"a block", "{\"decision\": \"block\", \"reason\": \"x\"}\n", "r: 1 same, 1 not comparable\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tp tape
			tp.call("s1", "Stop", "true", "", 0, c.stdout, "")
			tp.call("s1", "Stop", "true", "", 0, "", "")
			tp.files = map[string]string{
				"r.expect.json": `{"hookkit_expect":1,"answers":[{"seq":1,"event":"Stop","command":"true","exit":0,"stdout":"","stderr":""}]}`,
			}
			_, stdout, _ := replay(t, tp.save(t), "r.jsonl")
			assert.Equal(t, stdout, c.want)
		})
	}
}

func TestReplayUpdate(t *testing.T) {
	// Pins --update, and that what is expected goes before what was recorded: also after an answer that is not the recorded one.
	dir := blocks().save(t)
	command := []string{"--command", "echo x >>made; exit 1"}
	code, _, stderr := replay(t, dir, append(command, "--update", "r.jsonl")...)
	assert.Equal(t, code, 0, stderr)
	data, err := os.ReadFile(filepath.Join(dir, "r.expect.json"))
	assert.NilError(t, err)
	assert.Assert(t, cmp.Contains(string(data), `"added made"`))
	code, stdout, _ := replay(t, dir, append(command, "r.jsonl")...)
	assert.Equal(t, stdout, "r: 3 same\n")
	assert.Equal(t, code, 0)
	// A hook that leaves the project alone is different now.
	_, stdout, _ = replay(t, dir, "--command", "exit 1", "r.jsonl")
	assert.Equal(t, stdout, "r: 2 different, 1 not comparable\ncall 1, Stop, echo why >&2; exit 2:\n  files: added made -> unchanged\n"+
		"call 3, Stop, true:\n  files: content of made -> unchanged\n")

	// Without a new answer the file stays as it is, with what somebody has written into it by hand.
	byHand := strings.Replace(string(data), `"hookkit_expect": 1,`, `"hookkit_expect": 1,`+"\n\n", 1)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "r.expect.json"), []byte(byHand), 0o600))
	_, _, stderr = replay(t, dir, append(command, "--update", "r.jsonl")...)
	assert.Equal(t, stderr, "")
	data, err = os.ReadFile(filepath.Join(dir, "r.expect.json"))
	assert.NilError(t, err)
	assert.Equal(t, string(data), byHand)
}

func TestReplaySettings(t *testing.T) {
	// Pins --settings: matcher and timeout are the client's; an event that was only logged gets a new answer, which is no fault.
	var tp tape
	tp.call("s1", "PreToolUse", "recorder PreToolUse", `,"tool_name":"Bash","tool_input":{}`, 0, "", "")
	tp.call("s1", "PreToolUse", "true", `,"tool_name":"Edit","tool_input":{}`, 0, "", "")
	tp.call("s1", "Stop", "true", "", 0, "", "")
	dir := tp.save(t)
	settings := `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"exit 2"}]}],
		"Stop":[{"hooks":[{"type":"command","command":"echo early; exec sleep 20","timeout":1}]}]}}`
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "s.json"), []byte(settings), 0o600))
	code, stdout, stderr := replay(t, dir, "--settings", "s.json", "r.jsonl")
	assert.Equal(t, stderr, "")
	assert.Equal(t, stdout, `r: 1 different, 1 new, 1 not played
call 1, PreToolUse, exit 2: new, exit 2
call 3, Stop, echo early; exec sleep 20:
  decision: lets it go on -> lets it go on, fault timed-out
  exit: 0 -> cut off by the timeout
`)
	assert.Equal(t, code, 1)
}

func TestReplayErrors(t *testing.T) {
	var outside tape
	outside.call("s1", "PostToolUse", "true", `,"tool_name":"Write","tool_response":{"filePath":"/etc/x","content":"y"}`, 0, "", "")
	tests := []struct {
		name string
		dir  string
		args []string
		want string
	}{
		{"no file", "", nil, "hookkit replay: give at least one recording\nRun 'hookkit replay --help' for usage.\n"},
		{"a file that is not there", t.TempDir(), []string{"x.jsonl"}, "cannot read the recording"},
		{"an unknown flag", "", []string{"x.jsonl", "--nope"}, "flag provided but not defined: -nope"},
		{"settings without hooks", writeFiles(t, map[string]string{"r.jsonl": callLine, "s.json": "{} // x"}), []string{"r.jsonl", "--settings", "s.json"}, "the settings given have no hook that the client would run"},
		{"a path out of the project", outside.save(t), []string{"r.jsonl"}, "the recorded path /etc/x is outside of /project and /home/dev"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := replay(t, c.dir, c.args...)
			assert.Equal(t, code, 1)
			assert.Equal(t, stdout, "")
			assert.Assert(t, cmp.Contains(stderr, c.want))
		})
	}
}

// TestReplayRunsFilesOfTheProject pins that a recorded command that names a file of the project finds it in the scratch copy, where it
// can be run, and that one that is not there is said to be missing.
func TestReplayRunsFilesOfTheProject(t *testing.T) {
	var tp tape
	tp.call("s1", "Stop", `/project/hooks/my hook.sh`, "", 2, "", "why\n")
	tp.lines[0] = strings.Replace(tp.lines[0], `"/project/hooks/my hook.sh"`, `"'/project/hooks/my hook.sh' x"`, 1)
	tp.files = map[string]string{"r.expect.json": `{"hookkit_expect":1,"project":{"hooks/my hook.sh":"#!/bin/sh\necho why >&2; exit 2\n"},"answers":[]}`}
	code, stdout, stderr := replay(t, tp.save(t), "r.jsonl")
	assert.Equal(t, stdout+stderr, "r: 1 same\n")
	assert.Equal(t, code, 0)

	tp.files = nil
	tp.call("s1", "Stop", "true", "", 0, "", "")
	code, stdout, stderr = replay(t, tp.save(t), "r.jsonl", "--update")
	assert.Equal(t, stderr, "")
	assert.Assert(t, strings.HasPrefix(stdout, "r: 1 not started, 1 not comparable\ncall 1, Stop, '/project/hooks/my hook.sh' x: it cannot be started: "), stdout)
	assert.Equal(t, code, 1)
}

// TestReplayGoesOn pins that a file that cannot be played does not keep the others from being played, and that --update says what it wrote.
func TestReplayGoesOn(t *testing.T) {
	dir := blocks().save(t)
	code, stdout, stderr := replay(t, dir, "none.jsonl", "r.jsonl", "--update", "--command", "echo because")
	assert.Equal(t, code, 1)
	assert.Assert(t, strings.Contains(stderr, "cannot read the recording"), stderr)
	assert.Assert(t, strings.HasSuffix(stdout, "updated "+filepath.Join(dir, "r.expect.json")+"\n"), stdout)
}

// TestReplayTimeoutOfAWrappedHook pins that a hook that was recorded with `hookkit record` in front of it has the timeout of that handler.
func TestReplayTimeoutOfAWrappedHook(t *testing.T) {
	data := []byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","timeout":7,"command":"'/opt/my bin/hookkit' record --dir r -- \"$CLAUDE_PROJECT_DIR\"/stop.sh x"}]}]}}`)
	p := Play{Recording: &Recording{Settings: data}}
	hooks, err := p.hooks()
	assert.NilError(t, err)
	for command, want := range map[string]time.Duration{"/project/stop.sh x": 7 * time.Second, "/project/other.sh": 600 * time.Second} {
		list := p.handlers(hooks, &Call{Event: "Stop", Command: command, Stdin: []byte(`{"hook_event_name":"Stop"}`)}, false)
		assert.Equal(t, len(list), 1)
		assert.Equal(t, list[0].handler.Command, command)
		assert.Equal(t, list[0].handler.Timeout, want, command)
	}
}

// TestReplayIncompleteTranscript pins that an answer is not compared when the hook then had more of the transcript than was copied.
func TestReplayIncompleteTranscript(t *testing.T) {
	tp := blocks()
	tp.lines[1] = strings.Replace(tp.lines[1], `"lines":1`, `"lines":12`, 1)
	code, stdout, stderr := replay(t, tp.save(t), "r.jsonl", "--json")
	assert.Equal(t, stderr, "")
	assert.Equal(t, code, 0)
	var out Replayed
	assert.NilError(t, json.Unmarshal([]byte(stdout), &out))
	assert.Equal(t, out.Steps[1].Status, NotComparable)
	assert.Equal(t, out.Steps[1].Reason, "transcript incomplete: 10 of 12 lines")
	assert.Equal(t, out.Count(Same), 2)
}
