//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/text"
)

// nasty is what programs print to steer whoever reads it, line by line, and what is left of it on every way to the agent or the user.
var nasty = []struct{ printed, read string }{
	{"\x1b[31mred\x1b[0m", "red"},
	{"\u009b31mred\u009b0m, the same in one character", "red, the same in one character"},
	{"\x1b]0;title\atitle", "title"},
	{"\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\", "link"},
	{"DCS \x1bPq#0;2~~\x1b\\and \u0090q\u009cafter", "DCS and qafter"},
	{"SOS \x1bXone\x1b\\PM \x1b^two\x1b\\APC \x1b_three\x1b\\after", "SOS PM APC after"},
	{"\x1b]0;never closed", ""},
	{"override \u202e, \u202a\u202b\u202c\u202d, isolate \u2066\u2067\u2068\u2069, marks \u200e\u200f\u061c", "override , , isolate , marks "},
	{"\ufeffmark of the byte order", "mark of the byte order"},
	{"10%\r50%\r100%", "100%"},
	{"bell \a, backspace \b, vertical \v, form \f, delete \x7f, C1 \u0085", "bell , backspace , vertical , form , delete , C1 "},
	{"no UTF-8: \xff", "no UTF-8: \ufffd"},
	{"half an escape \x1b[3", "half an escape "},
	{"\tλ 日本 😀 👨\u200d👩", "\tλ 日本 😀 👨\u200d👩"},
}

// nastyOutput gives what is printed, and the bars that are read.
func nastyOutput() (printed, read string) {
	for _, line := range nasty {
		printed += line.printed + "\n"
		read += "| " + line.read + "\n"
	}
	return printed, read
}

// A failing check that printed U+202E and a DCS sequence reached the agent with both through agent-gauntlet, and not through brepl.
func TestNastyOutputOfACheck(t *testing.T) {
	t.Parallel()
	printed, read := nastyOutput()
	w := newGauntlet(t, map[string]string{"config.yml": oneCheck, "checks/tests.yml": "command: 'cat nasty; exit 1'\n"})
	w.project.Write("nasty", printed)
	w.stop().is(0, blockedBy(1, 4, brokenTests[0], brokenTests[1], brokenTests[2], strings.TrimSuffix(read, "\n")), saysFailed)
}

// An error in hooks.edn echoed the control characters of what it found.
func TestNastyHooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ hooks, first string }{
		{"{:stop [1\x1b[31m]}", "1:9: Invalid number: 1\\x1b"},
		{"{:stop [{:type :\u202ebash :name \"x\" :command \"true\"}]}", "1:16: hook 'x': :type must be :tests, :repl or :bash, found the keyword :\\u202ebash"},
		{"{:stop [#\u202efoo 1]}", "1:9: hook 1 must be a map, found a tagged literal #\\u202efoo"},
	} {
		w := newWorld(t, c.hooks)
		for _, r := range []result{w.hook("check"), w.hook("check", "--json"), w.stop()} {
			assert.Equal(t, r.exit, 1)
			out := r.stdout + r.stderr
			assert.Assert(t, strings.Contains(out, hooksFile+":"+c.first+"\n") || strings.Contains(out, `"message": `), "%s", out)
			assert.Assert(t, !strings.ContainsFunc(out, text.Steers), "%q", out)
		}
	}
	w := newWorld(t, "{:stop [{:type :bash :name \"x\u202e\" :command \"exit 1\" :retr\u202ey 1}]}")
	out := w.hook("check").stdout
	assert.Assert(t, strings.HasPrefix(out, hooksFile+":1:51: hook 'x\\u202e': unknown key :retr\\u202ey\n"), "%q", out)
	assert.Assert(t, strings.HasSuffix(out, hooksFile+" can be used: 1 hook (x)\n") && !strings.ContainsFunc(out, text.Steers), "%q", out)
	assert.Assert(t, strings.Contains(w.stop().stdout, "Hook 'x' failed: exit 1"))
}

func TestNastyOutputOfAHook(t *testing.T) {
	t.Parallel()
	printed, read := nastyOutput()
	w := newWorld(t, `{:stop [{:type :bash :name "tests" :command "cat nasty; exit 1" :retry-on-failure? true :max-retries 2}]}`)
	w.project.Write("nasty", printed)
	r := w.stop()
	assert.Equal(t, r.exit, 2)
	assert.Assert(t, strings.Contains(r.stderr, "\n"+read), "%q\nwant %q", r.stderr, read)
}

// Who looks into a hook sees what it prints: nothing is taken out, and nothing steers the terminal.
func TestNastyOutputOfACheckedHook(t *testing.T) {
	t.Parallel()
	printed, _ := nastyOutput()
	dir := realTempDir(t)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "nasty"), []byte(printed), 0o600))
	assert.NilError(t, fakes.WriteProgram(filepath.Join(dir, "hook"), "#!/bin/sh\nhead -3 '"+dir+"/nasty' >&2\nexit 2\n"))
	exit, stdout, stderr := runHookkit(t, dir, "check", "--", "./hook")
	assert.Equal(t, exit, 0, stdout)
	assert.Assert(t, strings.Contains(stdout, `the agent reads: Stop hook feedback: [./hook]: \x1b[31mred\x1b[0m \u009b31mred\u009b0m, the same in one character \x1b]0;title\atitle`), stdout)
	assert.Assert(t, !strings.ContainsFunc(stdout+stderr, text.Steers), "%q", stdout+stderr)
}

// A settings file that is no JSON is told without what stands in it steering anything.
func TestNastySettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "{:stop []}")
	w.project.Write(".claude/settings.local.json", "{\u202e\x1b[31m}")
	r := w.hook("install")
	assert.Assert(t, r.exit != 0 && strings.Contains(r.stderr, `\u202e`), "%d %q", r.exit, r.stderr)
	assert.Assert(t, !strings.ContainsFunc(r.stdout+r.stderr, text.Steers), "%q", r.stdout+r.stderr)
}

func TestNastyGates(t *testing.T) {
	t.Parallel()
	w := newGauntlet(t, map[string]string{"config.yml": "max_retries: \u202ethree\n" + oneCheck, "checks/tests.yml": "command: 'true'\n"})
	r := w.gauntlet("validate")
	assert.Assert(t, r.exit != 0 && strings.Contains(r.stderr, `found "\u202ethree"`), "%d %q", r.exit, r.stderr)
	assert.Assert(t, !strings.ContainsFunc(r.stdout+r.stderr, text.Steers), "%q", r.stdout+r.stderr)
}
