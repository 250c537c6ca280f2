package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"

	"github.com/hookkit/brepl/hookkit/cli"
)

// runCommand runs "brepl hook ARGS" in the world. The test's own binary is not
// called brepl, so install --scope project is what works everywhere.
func (w world) runCommand(t *testing.T, budget StopBudget, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := cli.Program{
		Name: "brepl", Args: append([]string{"hook"}, args...), Dir: w.env.Dir,
		Env:    []string{"HOME=" + w.env.Home, "XDG_STATE_HOME=" + w.Join("state"), "PATH=" + w.env.Path},
		Stdout: &out, Stderr: &errs,
	}
	code = p.Main(t.Context(), cli.Command{Sub: []cli.Command{{Name: "hook", Sub: Commands(Brepl(budget))}}})
	return code, strings.ReplaceAll(out.String(), w.env.Dir, "PROJECT"), strings.ReplaceAll(errs.String(), w.env.Dir, "PROJECT")
}

func TestCommandText(t *testing.T) {
	w := newWorld(t)
	code, stdout, stderr := w.runCommand(t, nil, "install", "--scope", "project", "--strict-eval")
	assert.Equal(t, stderr, "")
	assert.Equal(t, stdout, `.claude/settings.json: created
  + PreToolUse: brepl hook validate
  + PostToolUse: brepl hook eval --strict-eval
  + Stop: brepl hook stop
  + SessionEnd: brepl hook session-end
.brepl/hooks.edn: created; put your stop hooks there
.claude/skills/brepl/SKILL.md: created
`)
	assert.Equal(t, code, 0)

	code, stdout, stderr = w.runCommand(t, nil, "install", "--scope", "project", "--skip-eval")
	assert.Equal(t, stderr, "")
	assert.Equal(t, stdout, `.claude/settings.json: updated
  - PostToolUse: brepl hook eval --strict-eval
  = PreToolUse: brepl hook validate
  = Stop: brepl hook stop
  = SessionEnd: brepl hook session-end
.brepl/hooks.edn: already there, not touched
.claude/skills/brepl/SKILL.md: already as wanted
`)
	assert.Equal(t, code, 0)

	code, stdout, stderr = w.runCommand(t, nil, "uninstall", "--scope", "project")
	assert.Equal(t, stderr, "")
	assert.Equal(t, stdout, `.claude/settings.json: deleted, because nothing else was in it
  - PreToolUse: brepl hook validate
  - Stop: brepl hook stop
  - SessionEnd: brepl hook session-end
.brepl/hooks.edn: stays; delete it if you no longer need it
.claude/skills/brepl/SKILL.md: deleted
`)
	assert.Equal(t, code, 0)

	code, stdout, stderr = w.runCommand(t, nil, "uninstall")
	assert.Equal(t, stderr, "")
	assert.Equal(t, stdout, `.claude/settings.local.json: there is none, so nothing is installed
.brepl/hooks.edn: stays; delete it if you no longer need it
`)
	assert.Equal(t, code, 0)
}

func TestCommandJSON(t *testing.T) {
	w := newWorld(t)
	code, stdout, stderr := w.runCommand(t, nil, "install", "--scope", "project", "--json")
	assert.Equal(t, code, 0)
	assert.Equal(t, stderr, "")
	var r Report
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	assert.NilError(t, dec.Decode(&r))
	assert.Equal(t, r.Action, "install")
	assert.Equal(t, r.Files[0].Status, Created)
	assert.Equal(t, len(r.Files[0].Added), 4)
	assert.Equal(t, r.Template.Status, Created)
	assert.Equal(t, strings.Contains(stdout, "\n}\n{"), false)
}

// Every error ends with 1 and one line, never with 2.
func TestCommandErrors(t *testing.T) {
	tests := map[string]struct {
		args           []string
		stdout, stderr string
	}{
		"argument":      {[]string{"install", "x"}, "", "brepl hook install: unexpected argument \"x\"\nRun 'brepl hook install --help' for usage.\n"},
		"exclusive":     {[]string{"install", "--skip-eval", "--strict-eval"}, "", "brepl hook install: --strict-eval and --skip-eval exclude each other\nRun 'brepl hook install --help' for usage.\n"},
		"all tools":     {[]string{"install", "--skip-eval", "--all-tools"}, "", "brepl hook install: --all-tools and --skip-eval exclude each other\nRun 'brepl hook install --help' for usage.\n"},
		"timeout":       {[]string{"install", "--timeout", "0"}, "", "brepl hook install: invalid value \"0\" for flag -timeout: give whole seconds from 1 to 86400\nRun 'brepl hook install --help' for usage.\n"},
		"unknown flag":  {[]string{"uninstall", "--strict-eval"}, "", "brepl hook uninstall: flag provided but not defined: -strict-eval\nRun 'brepl hook uninstall --help' for usage.\n"},
		"malformed":     {[]string{"install", "--scope", "project"}, ".claude/settings.json: left as it is\n", "brepl hook install: PROJECT/.claude/settings.json:1:1: settings must be an object, found null\n"},
		"no uninstall":  {[]string{"uninstall", "--scope", "project"}, ".claude/settings.json: left as it is\n", "brepl hook uninstall: PROJECT/.claude/settings.json:1:1: settings must be an object, found null\n"},
		"malformed dry": {[]string{"install", "--scope", "project", "--dry-run"}, ".claude/settings.json: left as it is\n", "brepl hook install: PROJECT/.claude/settings.json:1:1: settings must be an object, found null\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			assert.NilError(t, os.Mkdir(w.path(".claude"), 0o700))
			assert.NilError(t, os.WriteFile(w.path(".claude", "settings.json"), []byte("null"), 0o600))
			code, stdout, stderr := w.runCommand(t, nil, tt.args...)
			assert.Equal(t, stderr, tt.stderr)
			assert.Equal(t, stdout, tt.stdout)
			assert.Equal(t, code, 1)
		})
	}
}

func TestCommandStopBudget(t *testing.T) {
	w := newWorld(t)
	var asked string
	code, stdout, _ := w.runCommand(t, func(root string) (time.Duration, error) {
		asked = root
		return 20 * time.Minute, nil
	}, "install", "--scope", "project")
	assert.Equal(t, code, 0)
	assert.Equal(t, asked, w.env.Dir)
	assert.Assert(t, strings.Contains(stdout, "  + Stop: brepl hook stop (timeout 1260 s)\n"), stdout)

	code, stdout, _ = w.runCommand(t, func(string) (time.Duration, error) { return 0, errors.New("hooks.edn:1:1: x") }, "install", "--scope", "project")
	assert.Equal(t, code, 0)
	assert.Assert(t, strings.HasSuffix(stdout, "warning: the time that the stop hooks need is not known: hooks.edn:1:1: x\n"), stdout)
	// what is in the file is longer than wanted, and stays
	assert.Assert(t, strings.Contains(stdout, "  = Stop: brepl hook stop (timeout 1260 s)\n"), stdout)
}

// Faults: the name of a folder is text of somebody's, and a settings file in the project too.
func TestReportSteersNoTerminal(t *testing.T) {
	const odd = "o\x1b[31md\nd\x07\u202e"
	w := newWorld(t, fs.WithDir(odd, withLocal("{\"x\":\"\u202e\"}"), fs.WithDir(".claude", fs.WithFile("settings.json", "{"))))
	w.env.Dir = w.path(odd)
	for args, want := range map[string]string{
		"install --scope project":   `o\x1b[31md\nd\a\u202e/.claude/settings.json:1:2: not valid JSON`,
		"install --dry-run":         `\u202e`,
		"uninstall --scope project": `o\x1b[31md\nd\a\u202e/.claude/settings.json:1:2: not valid JSON`,
	} {
		action, flags, _ := strings.Cut(args, " ")
		r, err := w.do(t, action, strings.Fields(flags)...)
		out, errs := new(bytes.Buffer), new(bytes.Buffer)
		(&output{}).print(&cli.Program{Stdout: out, Stderr: errs}, r, err)
		text := out.String() + errs.String()
		assert.Assert(t, strings.Contains(text, want), "%s: %q", args, text)
		assert.Assert(t, !strings.ContainsAny(text, "\x1b\x07\u202e"), "%s: %q", args, text)
	}
}
