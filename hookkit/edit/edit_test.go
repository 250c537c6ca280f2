package edit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/cli"
)

func TestCommandsLetPassWhatTheyCannotJudge(t *testing.T) {
	const seed = `{"continue":true,"decision":"allow","suppressOutput":true}` + "\n"
	tests := []struct {
		name   string
		args   []string
		stdin  string
		stdout string
		stderr string
	}{
		{"event", []string{"validate"}, `{"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"/a.clj"}}`, "", ""},
		{"event with flags", []string{"eval", "--strict-eval", "--timeout", "10"}, `{"hook_event_name":"PostToolUse"}`, "", ""},
		{"empty arguments: the host sets no FILE_PATH", []string{"validate", "", ""}, `{"hook_event_name":"PreToolUse"}`, "", ""},
		{"another event", []string{"validate"}, `{"hook_event_name":"Stop"}`, "", ""},
		{"nothing on stdin", []string{"eval"}, "", "", ""},
		{"no JSON", []string{"eval"}, "x", "", "the event is not a JSON object: unexpected 'x' at byte 1, where an object should start with {\n"},
		{"002: hook validate FILE CONTENT", []string{"validate", "src/a.clj", "(defn f [] 1)"}, "", seed, ""},
		{"002: hook eval FILE", []string{"eval", "README.md"}, "", seed, ""},
		{"002: hook eval FILE, with --skip-eval", []string{"eval", "--skip-eval", "src/a.clj"}, "", seed, ""},
		{"hook eval of a file that is not there", []string{"eval", "src/a.clj"}, "", `{"continue":true,"decision":"allow","suppressOutput":false,"warnings":["src/a.clj was not evaluated: there is no such file"]}` + "\n", ""},
		{"hook eval with two files", []string{"eval", "a.clj", "b.clj"}, "", "", "brepl eval: unexpected argument \"b.clj\"; nothing was checked and nothing is blocked\nRun 'brepl eval --help' for usage.\n"},
		{"hook eval with a bad timeout", []string{"eval", "--timeout", "0"}, "", "", "brepl eval: invalid value \"0\" for flag -timeout: give whole seconds from 1 to 86400; nothing was checked and nothing is blocked\nRun 'brepl eval --help' for usage.\n"},
		{"hook eval with a bad path map", []string{"eval", "--path-map", "x", "README.md"}, "", "", "brepl eval: invalid value \"x\" for flag -path-map: \"x\" is no path map: write LOCAL=REMOTE, for example /home/me/app=/app; nothing was checked and nothing is blocked\nRun 'brepl eval --help' for usage.\n"},
		{"hook eval with a bad port", []string{"eval", "--port", "x", "README.md"}, "", seed, "brepl eval: --port: \"x\" is not a port number; nothing was evaluated and nothing is blocked\n"},
		{"a flag of a later version", []string{"validate", "--fancy"}, "", "", "brepl validate: flag provided but not defined: -fancy; nothing was checked and nothing is blocked\nRun 'brepl validate --help' for usage.\n"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			p := cli.Program{Args: c.args, Stdin: strings.NewReader(c.stdin), Stdout: &out, Stderr: &errOut, Name: "brepl"}
			assert.Equal(t, p.Main(t.Context(), cli.Command{Sub: Commands()}), 0)
			assert.Equal(t, out.String(), c.stdout)
			assert.Equal(t, errOut.String(), c.stderr)
		})
	}
}

// spec/stop-semantics.md "Debugging": --debug and BREPL_HOOK_DEBUG=1 on any hook command.
func TestDebug(t *testing.T) {
	const event = `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Edit"}`
	for _, c := range []struct {
		args, env []string
		logged    bool
	}{
		{[]string{"validate", "--debug"}, nil, true},
		{[]string{"eval"}, []string{"BREPL_HOOK_DEBUG=1"}, true},
		{[]string{"validate"}, nil, false},
	} {
		state := t.TempDir()
		var out, errOut bytes.Buffer
		p := cli.Program{
			Args: c.args, Env: append(c.env, "BREPL_STATE_DIR="+state), Stdin: strings.NewReader(event), Stdout: &out, Stderr: &errOut, Name: "brepl",
		}
		assert.Equal(t, p.Main(t.Context(), cli.Command{Sub: Commands()}), 0)
		assert.Equal(t, out.String(), "")
		logs, err := filepath.Glob(filepath.Join(state, "*", "s", "debug.log"))
		assert.NilError(t, err)
		if !c.logged {
			assert.Equal(t, len(logs), 0)
			assert.Equal(t, errOut.String(), "")
			continue
		}
		assert.Equal(t, len(logs), 1)
		log, err := os.ReadFile(logs[0])
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(log), " brepl hook "+c.args[0]+" ") && strings.Contains(string(log), event), "%s", log)
		assert.Assert(t, strings.HasPrefix(errOut.String(), "brepl debug: "+c.args[0]+` session="s" `), "%s", errOut.String())
	}
}
