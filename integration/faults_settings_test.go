//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// refusedSettings are texts that cannot be edited, with what is said of each after the file's name.
var refusedSettings = []struct{ name, text, said string }{
	{"malformed", "{", "1:2: not valid JSON: parsing value: unexpected EOF"},
	{"a word", "{\n  \"a\": tru\n}", "2:8: not valid JSON: invalid literal: tru"},
	{"a number with a zero in front", `{"é😀": 01}`, "1:9: not valid JSON: invalid literal: 01"},
	{"something behind it", `{"hooks":{"Stop":[]},"x":1} x`, "1:29: not valid JSON: invalid character 'x' after top-level value"},
	{"null", "null", "1:1: settings must be an object, found null"},
	{"array", "[]", "1:1: settings must be an object, found an array"},
	{"array behind a BOM", "\ufeff[]", "1:1: settings must be an object, found an array"},
	{"string", `"x"`, "1:1: settings must be an object, found a string"},
	{"hooks null", `{"hooks": null}`, `1:11: "hooks" must be an object, found null`},
	{"hooks array", "{\n \"hooks\": []}", `2:11: "hooks" must be an object, found an array`},
	{"hooks string", `{"hooks": "x"}`, `1:11: "hooks" must be an object, found a string`},
	{"hooks twice", `{"hooks":{},"hooks":{}}`, `1:13: "hooks" is given twice; the host reads only the last one`},
	{"event no array", `{"hooks": {"Stop": {}}}`, `1:20: "Stop" must be an array, found an object`},
	{"event null", `{"hooks": {"PreToolUse": null}}`, `1:26: "PreToolUse" must be an array, found null`},
	{"event twice", `{"hooks": {"Stop": [], "Stop": []}}`, `1:24: "Stop" is given twice; the host reads only the last one`},
	{"entry null", `{"hooks":{"Stop":[null]}}`, `1:19: an entry of "Stop" must be an object, found null`},
	{"handlers no array", `{"hooks":{"Stop":[{"hooks":{}}]}}`, `1:28: "hooks" in an entry of "Stop" must be an array, found an object`},
	{"handler string", `{"hooks":{"Stop":[{"hooks":["x"]}]}}`, `1:29: a handler of "Stop" must be an object, found a string`},
	{"UTF-16", "\xff\xfe{\x00}\x00", "1:1: the file is UTF-16; the host reads UTF-8"},
	{"a million [", strings.Repeat("[", 1_000_000), "1:513: nested deeper than 512"},
	{"NUL", "{\x00}", "1:2: not valid JSON: invalid character '\\u0000' at start of value"},
}

// editedSettings are texts that can be edited; uninstall gives back the same text, or what stands in after.
var editedSettings = []struct{ name, text, after, warning string }{
	{name: "comments", text: "// mine\n{\n  /* keep */ \"model\": \"x\" // this too\n}\n", warning: commentsWarning},
	{name: "trailing commas", text: "{\"model\": \"x\", \"hooks\": {\"Stop\": [\n],},}\n", warning: commentsWarning},
	{
		name: "hooks disabled", text: `{"disableAllHooks":true}`,
		warning: `warning: $PROJECT/.claude/settings.local.json says "disableAllHooks": true: hooks in it do not run`,
	},
	{name: "BOM and CRLF", text: "\ufeff{\r\n\t\"model\": \"x\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": []\r\n\t}\r\n}\r\n"},
	{name: "empty", text: ""},
	{name: "blank", text: " \r\n\t\n"},
	{name: "empty object", text: "{}"},
	{name: "empty object with a newline inside", text: "{\n}"},
	{name: "numbers, escapes, duplicates elsewhere", text: `{"a":1E+02,"a":1e400,"b":"\u00e9\/\ud800","c":[0.10,-0],"ÿ":"` + "\xff" + `"}`},
	{name: "handlers without command", text: `{"hooks":{"Stop":[{"hooks":[{"type":"command"},{"type":"prompt","prompt":"x"},{}]}]}}`},
	{name: "entries without handlers", text: `{"hooks":{"Stop":[{"matcher":""},{},{"hooks":[]}]}}`},
	{name: "unknown events of any shape", text: `{"hooks":{"Dream":"x","Nightmare":[1,null],"PreCompact":[{"hooks":{}}],"Stop":[]}}`},
	{name: "wrong types in handlers", text: `{"hooks":{"Stop":[{"matcher":5,"hooks":[{"type":5,"command":{},"timeout":"x","args":3}]}]}}`},
	{
		name: "a wrapper", text: `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh -c \"brepl hook stop && x\""}]}]}}`,
		warning: `warning: $PROJECT/.claude/settings.local.json: "sh -c \"brepl hook stop && x\"" for Stop is a line of your own and stays as it is; it runs brepl too`,
	},
	{
		name:  "own and foreign handlers in one entry",
		text:  `{"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"command","command":"a"}, {"type":"command","command":"brepl hook stop --old"}, {"type":"command","command":"b" }]}]}}`,
		after: `{"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"command","command":"a"}, {"type":"command","command":"b" }]}]}}`,
	},
	{
		name: "doubled own entries",
		text: `{"model":"x","hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]},{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]}],` +
			`"SessionEnd":[{"hooks":[{"type":"command","command":"brepl hook session-end"},{"type":"command","command":"brepl hooks session-end"}]}]}}`,
		after: `{"model":"x"}`,
	},
	{name: "5 MB", text: "{\n  \"pad\": [\n" + strings.Repeat("    \"0123456789 0123456789 0123456789 0123456789\",\n", 100_000) + "    0\n  ],\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n"},
}

const commentsWarning = "warning: $PROJECT/.claude/settings.local.json has comments or trailing commas: the agent ignores such a file, and hooks in it do not run"

// installing are the commands that write settings; the last one only looks.
var installing = []string{"install", "uninstall", "install --dry-run"}

// neverInstalls expects each command to refuse and to leave everything as it was, and hooks to be none the worse.
func (w *world) neverInstalls(said string) {
	w.t.Helper()
	for _, command := range installing {
		args := strings.Fields(command)
		w.hook(args...).is(1, localSettings+": left as it is\n", "brepl hook "+args[0]+": "+said+"\n")
	}
}

var settingsFaults = []fault{
	{15, "what cannot be edited is refused with line and column, and nothing is changed", func(t *testing.T) {
		for _, c := range refusedSettings {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				w := newFaultProgram(t, fakes.WithFile(localSettings, c.text, 0o644), fakes.WithHooks(hooksEDN(bash("tests", "true"))))
				w.neverInstalls("$PROJECT/.claude/settings.local.json:" + c.said)
				// The same file stands in the way of no hook; its timeout is the host's default.
				w.stop().is(0, approve, "")
				r := w.hook("check")
				assert.Equal(t, r.exit, 0, r.stderr)
			})
		}
	}},
	{15, "what can be edited keeps every byte that is not ours", func(t *testing.T) {
		for _, c := range editedSettings {
			t.Run(c.name, func(t *testing.T) {
				if len(c.text) > 1<<20 {
					fullRun(t)
				}
				t.Parallel()
				w := newFaultProgram(t, fakes.WithFile(localSettings, c.text, 0o644), fakes.WithHooks(hooksEDN(bash("tests", "true"))))
				w.hook("install", "--dry-run")
				assert.Equal(t, w.project.Read(localSettings), c.text)
				w.mayChange = true
				r := w.hook("install")
				assert.Equal(t, r.exit, 0, r.stderr)
				assert.Equal(t, r.stderr, "")
				if c.warning != "" {
					assert.Assert(t, strings.Contains(r.stdout, c.warning+"\n"), r.stdout)
				} else {
					assert.Assert(t, !strings.Contains(r.stdout, "warning"), r.stdout)
				}
				installed := w.project.Read(localSettings)
				for _, command := range []string{"validate", "eval", "stop", "session-end"} {
					assert.Assert(t, strings.Count(installed, `"brepl hook `+command+`"`) == 1, "%s", command)
				}
				if c.after == "" {
					// Nothing was taken out, so the old text is left when what was put in is left out: its bytes are all there, in order.
					assert.Assert(t, subsequence(c.text, installed), "%.2000s", installed)
				}
				assert.Equal(t, w.hook("install").exit, 0)
				assert.Equal(t, w.project.Read(localSettings), installed)
				w.stop().is(0, approve, "")
				assert.Equal(t, w.hook("uninstall").exit, 0)
				want := c.text
				if c.after != "" {
					want = c.after
				}
				got := w.project.Read(localSettings)
				assert.Assert(t, got == want, "%.2000s\nwant\n%.2000s", got, want)
				assert.Equal(t, w.hook("uninstall").exit, 0)
				assert.Assert(t, w.project.Read(localSettings) == want)
			})
		}
	}},
	{16, "read-only: refused", func(t *testing.T) {
		w := newFaultProgram(t, fakes.WithFile(localSettings, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"brepl hook stop"}]}]}}`, 0o444))
		for _, command := range installing[:2] {
			w.hook(command).is(1, localSettings+": left as it is\n", "brepl hook "+command+
				": $PROJECT/.claude/settings.local.json is not used: it is read-only (mode 0444); make it writable first: chmod u+w $PROJECT/.claude/settings.local.json\n")
		}
		w.nothingLeft(w.project.Dir())
	}},
	{16, "a symlink stays, and its target is written", func(t *testing.T) {
		w := newFaultProgram(t, fakes.WithHooks("{}"), fakes.WithDir(".claude", 0o755))
		w.mayChange = true // the skill
		w.write("shared.json", "{}\n")
		target := filepath.Join(w.scratch, "shared.json")
		assert.NilError(t, os.Symlink(target, w.project.Path(localSettings)))
		assert.Equal(t, w.hook("install").exit, 0)
		link, err := os.Readlink(w.project.Path(localSettings))
		assert.NilError(t, err)
		assert.Equal(t, link, target)
		assert.Assert(t, strings.Contains(w.wrote("shared.json"), `"brepl hook stop"`))
		assert.Equal(t, w.hook("uninstall").exit, 0)
		assert.Equal(t, w.wrote("shared.json"), "{}\n")
	}},
	{16, "a symlink to nowhere, in a circle, to a folder, to a device", func(t *testing.T) {
		for target, said := range map[string]string{
			"settings.local.json": "cannot read settings: stat $PROJECT/.claude/settings.local.json: too many levels of symbolic links",
			"..":                  "$PROJECT/.claude/settings.local.json: it is not a regular file",
			"/dev/zero":           "$PROJECT/.claude/settings.local.json: it is not a regular file",
		} {
			w := newFaultProgram(t, fakes.WithSymlink(localSettings, target), fakes.WithHooks("{}"))
			w.neverInstalls(said)
			w.stop().is(0, approve, "")
		}
		w := newFaultProgram(t, fakes.WithSymlink(localSettings, "new.json"), fakes.WithHooks("{}"))
		w.mayChange = true
		assert.Equal(t, w.hook("install").exit, 0)
		assert.Assert(t, strings.Contains(w.project.Read(".claude/new.json"), `"brepl hook stop"`))
	}},
	{16, "a FIFO holds nobody", func(t *testing.T) {
		w := newFaultProgram(t, fakes.WithDir(".claude", 0o755), fakes.WithHooks(hooksEDN(bash("tests", "true"))))
		assert.NilError(t, fifo(w.project.Path(localSettings)))
		w.neverInstalls("$PROJECT/.claude/settings.local.json: it is not a regular file")
		w.stop().is(0, approve, "")
	}},
	{16, "hard-linked: said, and the other name keeps the old content", func(t *testing.T) {
		w := newFaultProgram(t, fakes.WithFile(localSettings, "{}\n", 0o644), fakes.WithHooks("{}"))
		assert.NilError(t, os.Link(w.project.Path(localSettings), w.project.Path("backup.json")))
		w.mayChange = true
		r := w.hook("install")
		assert.Equal(t, r.exit, 0, r.stderr)
		assert.Assert(t, strings.Contains(r.stdout, "warning: $PROJECT/.claude/settings.local.json had 2 hard links: the other names keep the old content\n"), r.stdout)
		assert.Equal(t, w.project.Read("backup.json"), "{}\n")
	}},
	{16, "the mode stays", func(t *testing.T) {
		for _, mode := range []os.FileMode{0o600, 0o640, 0o755, 0o666} {
			w := newFaultProgram(t, fakes.WithFile(localSettings, "{}\n", mode), fakes.WithHooks("{}"))
			w.mayChange = true
			for _, command := range []string{"install", "uninstall"} {
				assert.Equal(t, w.hook(command).exit, 0)
				info, err := os.Stat(w.project.Path(localSettings))
				assert.NilError(t, err)
				assert.Equal(t, info.Mode().Perm(), mode, command)
			}
		}
	}},
	{16, "another owner: root keeps the owner, others refuse", func(t *testing.T) {
		needRoot(t, "make files of other users")
		w, program := openWorld(t, "{}")
		w.env = append(w.env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		folder, file := filepath.Join(w.dir, ".claude"), filepath.Join(w.dir, localSettings)
		assert.NilError(t, os.Mkdir(folder, 0o755))
		assert.NilError(t, os.WriteFile(file, []byte("{}\n"), 0o644))
		w.giveAway(folder) // but not the file
		const refused = "$DIR/.claude/settings.local.json is not used: it belongs to another user (user id 0, group id 0 cannot be kept: " +
			"fchown: operation not permitted); write it as its owner\n"
		e := w.native(native{unprivileged: true}, program, "hook", "install")
		assert.Equal(t, e.exit, 1)
		assert.Assert(t, strings.Contains(e.stderr, "$DIR/.claude/settings.local.json is not used: it belongs to another user (user id 0, group id 0 cannot be kept: "), "%s\nwant %s", e.stderr, refused)
		assert.Equal(t, readOr(t, file, "absent"), "{}\n")
		w.nothingLeft(w.dir, w.state)
		w.giveAway(file)
		assert.NilError(t, os.Chmod(w.home, 0o755))
		e = w.native(native{}, program, "hook", "install") // as root
		assert.Equal(t, e.exit, 0, e.stderr)
		assert.Equal(t, uidOf(t, file), nobody)
		assert.Assert(t, strings.Contains(readOr(t, file, "absent"), "hook stop"))
	}},
	{17, "a read-only folder leaves everything as it was", func(t *testing.T) {
		w, program := openWorld(t, hooksEDN(bash("tests", "exit 1", retry)))
		folder, file := filepath.Join(w.dir, ".claude"), filepath.Join(w.dir, localSettings)
		assert.NilError(t, os.Mkdir(folder, 0o755))
		const old = `{"model":"x"}`
		assert.NilError(t, os.WriteFile(file, []byte(old), 0o644))
		w.giveAway(folder, file)
		t.Cleanup(func() { // so that the test's folder can be removed
			assert.Check(t, os.Chmod(folder, 0o755))
			assert.Check(t, os.Chmod(w.state, 0o755))
		})
		assert.NilError(t, os.Chmod(folder, 0o555))
		e := w.native(native{unprivileged: true}, program, "hook", "install")
		assert.Equal(t, e.exit, 1)
		matches(t, e.stderr, `^brepl hook install: cannot write \$DIR/\.claude/settings\.local\.json: open \$DIR/\.claude/\.settings\.local\.json\.\d+-\d+\.tmp: permission denied\n$`)
		assert.Equal(t, readOr(t, file, "absent"), old)
		w.nothingLeft(w.dir)

		// State that cannot be written: what cannot be counted does not block, since that would have no end.
		assert.NilError(t, os.Chmod(w.state, 0o555))
		for _, c := range w.readers() {
			e = w.native(native{stdin: strings.NewReader(c.event), unprivileged: true}, program, "hook", c.name)
			if c.name != "stop" {
				e.is(t, 0, "", "")
				continue
			}
			assert.Equal(t, e.exit, 1, e.stderr)
			matches(t, e.stderr, `(?m)^It asks for a retry, but the retries cannot be counted, so nothing blocks: .*\$STATE/brepl-\d+: permission denied$`)
		}
		e = w.native(native{unprivileged: true}, program, "hook", "pause")
		assert.Equal(t, e.exit, 1)
		matches(t, e.stderr, `^brepl: cannot pause: cannot make the folder for state: mkdir \$STATE/brepl-\d+: permission denied\n$`)
		w.native(native{unprivileged: true}, program, "hook", "resume").is(t, 0, "Stop hooks were not paused.\n", "")
	}},
	{17, "a full disk leaves everything as it was", func(t *testing.T) {
		w := newFaultProgram(t)
		disk := realTempDir(t)
		w.mountSmall(disk)
		w.dir = filepath.Join(disk, "project")
		w.state = filepath.Join(disk, "state")
		w.env = append(w.env, "BREPL_STATE_DIR="+w.state, "CLAUDE_PROJECT_DIR="+w.dir, "XDG_STATE_HOME="+filepath.Join(disk, "xdg"))
		file := filepath.Join(w.dir, localSettings)
		const old = "{\n  \"model\": \"x\"\n}\n"
		for path, text := range map[string]string{file: old, filepath.Join(w.dir, hooksFile): hooksEDN(bash("tests", "exit 1", retry))} {
			assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			assert.NilError(t, os.WriteFile(path, []byte(text), 0o644))
		}
		assert.Equal(t, w.stop().exit, 2)
		w.keep(filepath.Join(w.private(), "stop.edn"), readOr(t, filepath.Join(w.private(), "stop.edn"), ""))
		before := treeOf(t, disk)
		fillDisk(t, disk)

		r := w.hook("install")
		assert.Equal(t, r.exit, 1)
		assert.Assert(t, strings.Contains(r.stderr, "settings.local.json") && strings.Contains(r.stderr, "no space left on device"), r.stderr)
		assert.Equal(t, readOr(t, file, "absent"), old)
		r = w.stop()
		assert.Equal(t, r.exit, 1)
		matches(t, r.stderr, `(?m)^It asks for a retry, but the retries cannot be counted, so nothing blocks: .*no space left on device$`)
		assert.Equal(t, w.counts(), "{\"tests\" 1}\n")
		r = w.hook("pause")
		assert.Equal(t, r.exit, 1)
		assert.Assert(t, strings.HasPrefix(r.stderr, "brepl: cannot pause: ") && strings.HasSuffix(r.stderr, "no space left on device\n"), r.stderr)
		for _, c := range w.readers()[2:] {
			w.run(fakes.OneLine(c.event), "hook", c.name).is(0, "", "")
		}
		assert.NilError(t, os.Remove(filepath.Join(disk, "fill")))
		w.nothingLeft(disk)
		changes := before.Changes(treeOf(t, disk))
		for _, change := range changes {
			// A folder or an empty lock is no loss; a changed or missing file is.
			assert.Check(t, strings.HasPrefix(change, "added "), "%q", changes)
		}
		w.run(fakes.OneLine(w.endEvent()), "hook", "session-end").is(0, "", "")
		assert.Equal(t, w.counts(), "absent")
	}},
	{17, "a limit on the size of files leaves everything as it was", func(t *testing.T) {
		w := newFaultProgram(t, fakes.WithFile(localSettings, "{\"model\":\"x\"}", 0o644), fakes.WithHooks(hooksEDN(bash("tests", "exit 1", retry))))
		assert.Equal(t, w.stop().exit, 2)
		before := treeOf(t, w.state)
		const limited = `ulimit -f 0 && exec "$@"`
		run := func(args ...string) result {
			t.Helper()
			project := w.project.Snapshot()
			r := w.result(fakes.Run(t, w.through(limited, append([]string{"hook"}, args...)...), fakes.OneLine(w.stopEvent())))
			assert.DeepEqual(t, project.Changes(w.project.Snapshot()), []string(nil))
			return r
		}
		r := run("install")
		assert.Equal(t, r.exit, 1, r.stderr)
		assert.Assert(t, strings.Contains(r.stderr, "settings.local.json") && strings.Contains(r.stderr, "file too large"), r.stderr)
		r = run("stop")
		assert.Equal(t, r.exit, 1, r.stderr)
		matches(t, r.stderr, `(?m)^It asks for a retry, but the retries cannot be counted, so nothing blocks: .*file too large$`)
		r = run("pause")
		assert.Equal(t, r.exit, 1, r.stderr)
		assert.Assert(t, strings.HasPrefix(r.stderr, "brepl: cannot pause: ") && strings.HasSuffix(r.stderr, "file too large\n"), r.stderr)
		for _, change := range before.Changes(treeOf(t, w.state)) {
			assert.Check(t, strings.HasPrefix(change, "added "), change)
		}
		w.nothingLeft(w.state, w.project.Dir(), w.home)
	}},
	{18, "killed at any moment: old file or new file (every system call: belongs to another issue)", func(t *testing.T) {
		fullRun(t)
		const old = "{\n  \"model\": \"x\"\n}\n"
		w := newProgramWorld(t, fakes.WithFile(localSettings, old, 0o644), fakes.WithHooks("{}"))
		assert.Equal(t, w.hook("install").exit, 0)
		wanted := w.project.Read(localSettings)
		killed := 0
		for i := range 40 {
			w.project.Write(localSettings, old)
			spec := w.spec("hook", "install")
			spec.Limit = time.Duration(1+i%20) * 500 * time.Microsecond
			if o := fakes.Run(t, spec, fakes.DevNull()); o.TimedOut {
				killed++
			}
			got := w.project.Read(localSettings)
			assert.Assert(t, got == old || got == wanted, "%q", got)
		}
		assert.Assert(t, killed > 0, "no run was killed")
		// What killed runs left does not hold the next one, which removes it when it is old enough to belong to nobody.
		strays, err := filepath.Glob(w.project.Path(".claude/.*.tmp"))
		assert.NilError(t, err)
		for _, path := range strays {
			aged(t, time.Hour, path)
		}
		w.project.Write(localSettings, old)
		r := w.hook("install")
		assert.Equal(t, r.exit, 0, r.stderr)
		assert.Equal(t, w.project.Read(localSettings), wanted)
		w.nothingLeft(w.project.Dir())
	}},
	{18, "what a killed process left is removed by the next one", func(t *testing.T) {
		w := newProgramWorld(t, fakes.WithFile(localSettings, "{}", 0o644), fakes.WithHooks("{}"))
		long := time.Now().Add(-time.Hour)
		gone := w.project.Path(".claude/.settings.local.json.999999999-1.tmp")
		running := w.project.Path(".claude/.settings.local.json." + strconv.Itoa(os.Getpid()) + "-1.tmp")
		foreign := w.project.Path(".claude/.other.json.999999999-1.tmp")
		for _, path := range []string{gone, running, foreign} {
			assert.NilError(t, os.WriteFile(path, []byte("{"), 0o600))
		}
		for _, path := range []string{gone, foreign} {
			assert.NilError(t, os.Chtimes(path, long, long))
		}
		assert.Equal(t, w.hook("install").exit, 0)
		assert.Equal(t, readOr(t, gone, "absent"), "absent")
		assert.Equal(t, readOr(t, running, "absent"), "{")
		assert.Equal(t, readOr(t, foreign, "absent"), "{")
	}},
}

// subsequence reports whether all bytes of part stand in whole, in their order.
func subsequence(part, whole string) bool {
	i := 0
	for j := 0; j < len(whole) && i < len(part); j++ {
		if whole[j] == part[i] {
			i++
		}
	}
	return i == len(part)
}
