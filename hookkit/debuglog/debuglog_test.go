package debuglog

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
)

func program(t *testing.T, env ...string) (p *cli.Program, stderr *bytes.Buffer, state string) {
	t.Helper()
	state, stderr = t.TempDir(), &bytes.Buffer{}
	return &cli.Program{Dir: t.TempDir(), Env: append(env, "BREPL_STATE_DIR="+state), Stderr: stderr}, stderr, state
}

func run(t *testing.T, p *cli.Program, log *Log, event string) {
	t.Helper()
	streams := hookkit.IO{In: strings.NewReader(event), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Dir: p.Dir}
	handlers := hookkit.Handlers{Stop: func(context.Context, *hookkit.Stop) (hookkit.StopDecision, error) {
		log.Note("hook %q: %s", "tests", "failed")
		return hookkit.BlockStop("line 1\nline 2"), nil
	}}
	assert.Equal(t, hookkit.Run(t.Context(), streams, handlers, log.Option(), hookkit.Expect(hookkit.EventStop)), 2)
}

// durations and the like differ from run to run.
func masked(text string) string {
	text = regexp.MustCompile(`\d+(\.\d+)?(ns|µs|ms|s)\b`).ReplaceAllString(text, "TIME")
	return regexp.MustCompile(`(?m)^\S+ brepl hook (\S+) pid=\d+$`).ReplaceAllString(text, "WHEN brepl hook $1 PID")
}

func TestLog(t *testing.T) {
	p, stderr, state := program(t)
	const event = `{"session_id":"s/1","hook_event_name":"Stop"}`
	for range 2 {
		run(t, p, New(p, "stop", true), event)
	}
	files, err := filepath.Glob(filepath.Join(state, "*", "s%2F1", "debug.log"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), 1)
	info, err := os.Stat(files[0])
	assert.NilError(t, err)
	assert.Equal(t, info.Mode().Perm(), os.FileMode(0o600))
	data, err := os.ReadFile(files[0])
	assert.NilError(t, err)
	const once = `WHEN brepl hook stop PID
  read    45 bytes in TIME: {"session_id":"s/1","hook_event_name":"Stop"}
  note    hook "tests": failed
  decided in TIME
  exit    2
  stdout  {}
  stderr  line 1
          line 2
`
	assert.Equal(t, masked(string(data)), once+once, "a log goes on")
	line := `brepl debug: stop session="s/1" read=45 bytes in TIME, handled in TIME, exit 2 ` + files[0] + "\n"
	assert.Equal(t, masked(stderr.String()), line+line)
}

func TestDiscreetLog(t *testing.T) {
	p, stderr, state := program(t)
	log := New(p, "stop", true)
	log.Event = func(event []byte) string { return strings.ToUpper(string(event[:2])) }
	log.Clean = func(text string) string { return strings.NewReplacer("tests", "…", "line 2", "…").Replace(text) }
	log.QuietBlocks = true
	run(t, p, log, `{"session_id":"s"}`)
	assert.Equal(t, stderr.String(), "")
	files, err := filepath.Glob(filepath.Join(state, "*", "s", "debug.log"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), 1)
	data, err := os.ReadFile(files[0])
	assert.NilError(t, err)
	assert.Equal(t, masked(string(data)), `WHEN brepl hook stop PID
  read    18 bytes in TIME: {"
  note    hook "…": failed
  decided in TIME
  exit    2
  stdout  {}
  stderr  line 1
          …
`)
}

// TestLogMasks pins that what hooks write with --debug holds no secret: not of the event, of a note, of what was sent, nor half of one
// where a long event is cut.
func TestLogMasks(t *testing.T) {
	p, _, state := program(t)
	const key = "AKIA" + "IOSFODNN7EXAMPLE"
	log := New(p, "stop", true)
	event := `{"session_id":"s","last_assistant_message":"export TOKEN=swordfish","x":"`
	event += strings.Repeat("y ", (maxEvent-len(event)-8)/2) + " " + key + `"}`
	streams := hookkit.IO{In: strings.NewReader(event), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Dir: p.Dir}
	handlers := hookkit.Handlers{Stop: func(context.Context, *hookkit.Stop) (hookkit.StopDecision, error) {
		log.Note("the password is %s", "hunter2x")
		return hookkit.BlockStop("see postgres://bob:marlin@db/x"), nil
	}}
	hookkit.Run(t.Context(), streams, handlers, log.Option(), hookkit.Expect(hookkit.EventStop))
	files, err := filepath.Glob(filepath.Join(state, "*", "s", "debug.log"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), 1)
	data, err := os.ReadFile(files[0])
	assert.NilError(t, err)
	for _, part := range []string{"swordfish", "AKIA", "hunter2x", "marlin"} {
		assert.Check(t, !strings.Contains(string(data), part), "%s in the log", part)
	}
	assert.Assert(t, strings.Contains(string(data), `"session_id":"s"`))
}

func TestLogWithoutAFile(t *testing.T) {
	p, stderr, state := program(t)
	run(t, p, New(p, "session-end", false), `{"session_id":"s"}`)
	assert.Equal(t, masked(stderr.String()), "brepl debug: session-end session=\"s\" read=18 bytes in TIME, handled in TIME, exit 2\n")
	left, err := os.ReadDir(state)
	assert.NilError(t, err)
	assert.Equal(t, len(left), 0)
}

func TestLogKeepsABound(t *testing.T) {
	p, _, state := program(t)
	run(t, p, New(p, "stop", true), `{"session_id":"s"}`)
	files, err := filepath.Glob(filepath.Join(state, "*", "s", "debug.log"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), 1)
	assert.NilError(t, os.Truncate(files[0], maxFile+1))
	run(t, p, New(p, "stop", true), `{"session_id":"s","x":"`+strings.Repeat("y", 2*maxEvent)+`"}`)
	info, err := os.Stat(files[0])
	assert.NilError(t, err)
	assert.Assert(t, info.Size() > maxEvent && info.Size() < maxEvent+2000, "%d", info.Size())
}

func TestWanted(t *testing.T) {
	for _, row := range []struct {
		env  string
		args []string
		want bool
	}{
		{"", nil, false},
		{"BREPL_HOOK_DEBUG=1", nil, true},
		{"BREPL_HOOK_DEBUG=0", nil, false},
		{"BREPL_HOOK_DEBUG=", nil, false},
		{"", []string{"--debug"}, true},
	} {
		p, _, _ := program(t, row.env)
		var on bool
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		Flag(flags, &on)
		assert.NilError(t, flags.Parse(row.args))
		assert.Equal(t, Wanted(p, on), row.want, "%v", row)
	}
}
