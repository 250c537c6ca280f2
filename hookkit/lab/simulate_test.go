package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"a  b\tc", []string{"a", "b", "c"}},
		{`'a b' "c d" ""`, []string{"a b", "c d", ""}},
		{`"line\n\ttab \"q\" \\"`, []string{"line\n\ttab \"q\" \\"}},
		{`'no \n escape'`, []string{`no \n escape`}},
		{`it's`, []string{"it's"}},
	} {
		words, err := splitWords(c.line)
		assert.NilError(t, err)
		assert.DeepEqual(t, words, c.want)
	}
}

func TestParseScript(t *testing.T) {
	s, err := parseScript("s", "# a comment\nprompt It's \"quoted\".\n\n  write a <<b\n-- b --\none\n-- not a name\ntwo\n-- c --\r\nlast")
	assert.NilError(t, err)
	assert.Equal(t, len(s.commands), 2)
	assert.Equal(t, s.commands[0].text, `It's "quoted".`)
	assert.Equal(t, s.commands[0].number, 2)
	assert.Equal(t, s.commands[1].number, 4)
	assert.DeepEqual(t, s.commands[1].words, []string{"a", "<<b"})
	assert.Equal(t, len(s.files), 2)
	assert.Equal(t, s.files[0].content, "one\n-- not a name\ntwo\n")
	assert.Equal(t, s.files[1].name, "c")
	assert.Equal(t, s.files[1].content, "last\n")
	content, err := s.resolve("<<b")
	assert.NilError(t, err)
	assert.Equal(t, content, s.files[0].content)
	assert.Assert(t, s.files[0].taken && !s.files[1].taken)
}

// Every error names the script, whatever the text is.
func FuzzParseScript(f *testing.F) {
	for _, seed := range []string{"stop\n", "write a \"b\n", "prompt x\n-- a --\nb", "-- a --\n-- a --\n", "write a '", "\"\\", "expect told \"\\q\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseScript("s.txtar", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "s.txtar:") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if len(s.commands) == 0 {
			t.Errorf("%q: no command and no error", text)
		}
		if _, err := parseREPL("s.repl", text); err != nil && !strings.HasPrefix(err.Error(), "s.repl:") {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// TestSimulateRefusesBeforeItPlays pins that a mistake anywhere in a script is told before the agent has done anything.
func TestSimulateRefusesBeforeItPlays(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"edit a b c d", "write it as: edit PATH OLD|<<FILE NEW|<<FILE [all]"},
		{"prompt", "write it as: prompt TEXT"},
		{"headless x", "write it as: headless"},
		{"start now", `start is one of startup, resume, fork, not "now"`},
		{"expect bloked", "write it as: expect " + expectUsage},
		{"expect not", "write it as: expect " + expectUsage},
		{"expect exit two", `"two" is no number`},
		{"agent edit a b", "write it as: agent write PATH TEXT, agent edit PATH OLD NEW, agent read PATH, agent bash 'COMMAND', agent stop ['MESSAGE']"},
		{"halt", "there is no command \"halt\"; there are "},
	} {
		dir := t.TempDir()
		_, err := Simulate(t.Context(), "s", "write done.txt x\n"+c.line+"\n", SimulateOptions{Dir: dir})
		assert.ErrorContains(t, err, "s:2: "+c.want)
		_, err = os.Stat(filepath.Join(dir, "done.txt"))
		assert.Assert(t, os.IsNotExist(err), c.line)
	}
}

// TestSimulateScriptSpaces pins a tab after the command, and white space after the name of a file.
func TestSimulateScriptSpaces(t *testing.T) {
	s, err := parseScript("s", "write\ta <<b\n-- b -- \t\none\n")
	assert.NilError(t, err)
	assert.Equal(t, s.commands[0].verb, "write")
	assert.DeepEqual(t, s.commands[0].words, []string{"a", "<<b"})
	assert.Equal(t, s.files[0].name, "b")
}

// TestSimulateKeepsOutOfTheUsersFolders pins that XDG_* of the caller does not lead hooks to the user's own files.
func TestSimulateKeepsOutOfTheUsersFolders(t *testing.T) {
	sim, err := Simulate(t.Context(), "s", `stop
expect shown "<>"
-- .claude/settings.json --
{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"printf '{\"systemMessage\":\"<%s>\"}' \"$XDG_STATE_HOME$XDG_CACHE_HOME\""}]}]}}
`, SimulateOptions{Env: []string{"PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=/mine", "XDG_CACHE_HOME=/mine"}})
	assert.NilError(t, err)
	assert.DeepEqual(t, sim.Failures, []string{})
}
