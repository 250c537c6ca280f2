//go:build unix

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// noHooks expects a configuration that no command takes: exit 1 for each, the same first line from each, and no hook is run.
func (w *world) noHooks(first string) {
	w.t.Helper()
	for _, args := range [][]string{{"check"}, {"run"}, {"stop", "--dry-run"}} {
		r := w.hook(args...)
		got, _, _ := strings.Cut(r.stderr, "\n")
		assert.Check(w.t, r.exit == 1 && r.stdout == "" && got == first, "%q: exit %d, %q\nwant %q", args, r.exit, got, first)
	}
	r := w.hook("check", "--json")
	assert.Check(w.t, r.exit == 1 && strings.Contains(r.stdout, `"ok": false`) && r.stderr == "", "exit %d\n%s%s", r.exit, r.stdout, r.stderr)
	r = w.stop()
	assert.Check(w.t, r.exit == 1 && strings.HasPrefix(r.stderr, "The stop hooks cannot be run: "+first+"\n"), "exit %d\n%s", r.exit, r.stderr)
	assert.Check(w.t, strings.HasSuffix(r.stderr, noHookRun+"\n"), "%s", r.stderr)
	assert.Check(w.t, units(r.raw.Stderr) <= 9501, "%d", units(r.raw.Stderr))
	for _, c := range w.readers()[1:] {
		w.run(fakes.OneLine(c.event), "hook", c.name).is(0, "", "")
	}
	// The hooks that nobody could read are no reason not to install.
	r = w.hook("install", "--dry-run")
	assert.Check(w.t, r.exit == 0 && strings.Contains(r.stdout, "warning: the time that the stop hooks need is not known: "), "exit %d\n%s%s", r.exit, r.stdout, r.stderr)
	assert.Equal(w.t, w.wrote("trace"), "absent")
}

const noTrace = `touch "$WORLD/trace"`

var configFaults = []fault{
	{21, "malformed, with position", func(t *testing.T) {
		for _, c := range []struct{ text, first string }{
			{"", "1:1: the file is empty; expected a map such as {:stop []}"},
			{" ; nothing\n", "1:1: the file is empty; expected a map such as {:stop []}"},
			{"\x00", ""},
			{"[]", "1:1: expected a map such as {:stop []}, found a vector"},
			{"nil", "1:1: expected a map such as {:stop []}, found nil"},
			{"{:stop {}}", "1:8: :stop must be a vector of hooks, found a map"},
			{"{:stop []} {:stop []}", "1:12: expected one map, found something after it"},
			{"\xff\xfe{\x00}\x00", "1:1: the file is not UTF-8"},
			{"{:stop [\"\xff\"]}", "1:1: the file is not UTF-8"},
			{"{:stop [\n  {:name \"é😀\" :x", ""},
			{"{:stop [}", ""},
			{"{:stop [\"unterminated]}", ""},
			{"{:stop}", ""},
			{"{:stop [{:type :bash :name \"t\" :command \"" + noTraceEDN + "\"}]} )", ""},
		} {
			w := newFaultWorld(t, c.text+"")
			w.project.Write(hooksFile, c.text)
			if c.first != "" {
				w.noHooks(hooksFile + ":" + c.first)
				continue
			}
			first, _, _ := strings.Cut(w.hook("check").stderr, "\n")
			matches(t, first, `^\.brepl/hooks\.edn:\d+:\d+: \S`)
			w.noHooks(first)
		}
	}},
	{21, "a BOM, CRLF and commas are no fault", func(t *testing.T) {
		w := newFaultWorld(t, "{}")
		for _, text := range []string{"\ufeff{:stop []}", "{\r\n:stop,,[\r\n]\r\n}\r\n", "{:stop [] ,}\n\f"} {
			w.project.Write(hooksFile, text)
			w.hook("check").is(0, hooksFile+" can be used: 0 hooks\n", "")
			w.stop().is(0, approve, "")
		}
	}},
	{22, "#=(…) and tagged literals are data or errors, never run", func(t *testing.T) {
		for _, form := range []string{
			`#=(spit "ran" 1)`, `#=(java.lang.Runtime/getRuntime)`, `#user/evil {:a 1}`, `#inst "2024-01-01"`, `#js {}`, `#(spit "ran" 1)`, "@x", "'x", "#'x", "`x", `#"re"`, `#?(:clj 1)`,
		} {
			for _, text := range []string{
				"{:stop [" + form + "]}",
				"{:stop " + form + "}",
				hooksEDN(`{:type :bash :name "t" :command ` + form + "}"),
				hooksEDN(`{:type :bash :name ` + form + ` :command "touch ran"}`),
				hooksEDN(`{:type :bash :name "t" :command "touch ran" :env {"A" ` + form + "}}"),
				hooksEDN(`{:type :bash :name "t" :command "touch ran" :timeout ` + form + "}"),
			} {
				w := newFaultWorld(t, text)
				r := w.stop()
				assert.Check(t, r.exit == 1 && strings.HasPrefix(r.stderr, "The stop hooks cannot be run: .brepl/hooks.edn:"), "%s: exit %d\n%s", text, r.exit, r.stderr)
			}
		}
	}},
	{22, "in an unknown place they are data", func(t *testing.T) {
		w := newFaultWorld(t, `{:mine #=(spit "ran" 1) :stop [{:type :bash :name "t" :command "true" :x #my/tag [#=(spit "ran" 2)]}]}`)
		w.stop().is(0, approve, "")
		r := w.hook("check")
		assert.Equal(t, r.exit, 0, r.stderr)
		assert.Equal(t, r.stderr, "")
	}},
	{23, "100,000 nested vectors", func(t *testing.T) {
		fullRun(t)
		for _, text := range []string{
			"{:stop " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}",
			"{:stop [] :x " + strings.Repeat("[", 100_000),
			strings.Repeat("{:stop ", 100_000),
			"{:stop [] :x " + strings.Repeat("#a ", 100_000) + "1}",
			"{:stop [] :x " + strings.Repeat("'", 100_000) + "1}",
			"{:stop [] :x " + strings.Repeat("#_", 100_000) + "1}",
		} {
			w := newFaultWorld(t, "{}")
			w.project.Write(hooksFile, text)
			first, _, _ := strings.Cut(w.hook("check").stderr, "\n")
			matches(t, first, `^\.brepl/hooks\.edn:1:\d+: \S`)
			assert.Assert(t, len(first) < 300, first)
			w.noHooks(first)
		}
	}},
	{23, "a file of 1 GB", func(t *testing.T) {
		w := newFaultWorld(t, "{:stop []}")
		// The project is not compared: nobody wants to read a gigabyte twice for each run.
		other := filepath.Join(w.scratch, "sparse")
		assert.NilError(t, os.MkdirAll(filepath.Join(other, ".brepl"), 0o755))
		file := filepath.Join(other, hooksFile)
		assert.NilError(t, os.WriteFile(file, []byte(`{:stop [] :x "`), 0o644))
		assert.NilError(t, os.Truncate(file, 1<<30))
		w.dir = other
		w.env = append(w.env, "CLAUDE_PROJECT_DIR="+other)
		first := fmt.Sprintf("$WORLD/sparse/.brepl/hooks.edn has %d bytes, more than the 1048576 that a configuration may have", 1<<30)
		w.noHooks(first)
		peak := 0
		for run := 0; run < 100 && (run < 10 || peak == 0); run++ { // a run of 3 ms may end between two looks at its memory
			e := w.native(native{stdin: strings.NewReader(w.stopEvent())}, brepl(t), "hook", "stop")
			assert.Equal(t, e.exit, 1)
			peak = max(peak, e.peak)
		}
		lessThan(t, peak, 60)
	}},
	{23, "a string of nearly 1 MiB", func(t *testing.T) {
		w := newFaultWorld(t, "{:stop [{:type :bash :name \"t\" :command \": "+strings.Repeat("x", 1<<20-60)+"\"}]}")
		w.hook("check").is(0, hooksFile+" can be used: 1 hook (t)\n", "")
		// One argument of a program holds 128 KiB on Linux: the hook cannot run, and the agent may stop.
		r := w.stop()
		assert.Check(t, r.exit == 0 && r.stderr == "" && units(r.stdout) < 1000, "exit %d\n%.2000s%.2000s", r.exit, r.stdout, r.stderr)
	}},
	{23, "##Inf, ratios, huge integers, where a number belongs", func(t *testing.T) {
		for _, number := range []string{"##Inf", "##-Inf", "##NaN", "1/2", "10/1", "99999999999999999999999999", "-99999999999999999999999999", "1e400", "1.0", "10M", "-1", "\"5\"", "nil", strings.Repeat("9", 100_000)} {
			for _, field := range []string{":timeout", ":max-retries"} {
				w := newFaultWorld(t, hooksEDN(bash("tests", noTrace, field+" "+number)))
				first, _, _ := strings.Cut(w.hook("check").stderr, "\n")
				matches(t, first, `^\.brepl/hooks\.edn:2:\d+: hook 'tests': `+field+` must be (a positive integer \(seconds\)|an integer of 0 or more \(0: no limit\)), found \S`)
				assert.Assert(t, len(first) < 400, "%.500s", first)
				r := w.stop()
				assert.Check(t, r.exit == 1 && strings.HasPrefix(r.stderr, "The stop hooks cannot be run: "+first+"\n"), "exit %d\n%.2000s", r.exit, r.stderr)
			}
		}
	}},
	{23, "numbers that are integers for Clojure are taken", func(t *testing.T) {
		for _, number := range []string{"10", "+10", "10N", "0xA", "012", "2r1010", "9223372036854775807"} {
			w := newFaultWorld(t, hooksEDN(bash("tests", "true", ":timeout "+number)))
			w.stop().is(0, approve, "")
		}
	}},
	{24, "duplicate keys, names and typos", func(t *testing.T) {
		for _, c := range []struct{ hook, said string }{
			{`{:type :bash :name "t" :command "touch ran" :name "u"}`, `2:45: `},
			{`{:type :bash :name "t" :command "touch ran"} {:type :bash :name "t" :command "touch ran"}`, `2:65: hook 2: the :name "t" is taken by the hook at line 2; names tell counts apart`},
			{`{:typ :bash :name "t" :command "touch ran"}`, "2:1: hook 't': :type is missing; expected :tests, :repl or :bash (there is `:typ`; did you mean `:type`?)"},
			{`{:type :bash :name "t" :comand "touch ran"}`, "2:1: hook 't': :command is missing; expected a string with a shell command (there is `:comand`; did you mean `:command`?)"},
			{`{:type :bsh :name "t" :command "touch ran"}`, "2:8: hook 't': :type must be :tests, :repl or :bash, found the keyword :bsh"},
			{`{"type" :bash :name "t" :command "touch ran"}`, "2:1: hook 't': :type is missing; expected :tests, :repl or :bash"},
			{`{:type :bash :name "t" :command "touch ran" :env {"A" "1" "A" "2"}}`, "2:59: "},
		} {
			w := newFaultWorld(t, hooksEDN(c.hook))
			first, _, _ := strings.Cut(w.hook("check").stderr, "\n")
			want := hooksFile + ":" + c.said
			if strings.HasSuffix(c.said, " ") {
				assert.Check(t, strings.HasPrefix(first, want) && strings.Contains(strings.ToLower(first), "duplicate"), "%s", first)
				want = first
			}
			w.noHooks(want)
		}
		w := newFaultWorld(t, "{:stop [] :stop []}")
		first, _, _ := strings.Cut(w.hook("check").stderr, "\n")
		assert.Check(t, strings.HasPrefix(first, hooksFile+":1:11: ") && strings.Contains(strings.ToLower(first), "duplicate"), "%s", first)
		w.noHooks(first)
	}},
	{26, "a symlink to outside is followed, since what it names is checked", func(t *testing.T) {
		w := newFaultWorld(t, "{}")
		w.write("hooks.edn", hooksEDN(bash("tests", `echo ran >> "$WORLD/trace"`)))
		w.project.Remove(hooksFile)
		assert.NilError(t, os.Symlink(filepath.Join(w.scratch, "hooks.edn"), w.project.Path(hooksFile)))
		w.stop().is(0, approve, "")
		assert.Equal(t, w.wrote("trace"), "ran\n")
		assert.NilError(t, os.Remove(filepath.Join(w.scratch, "trace")))
		assert.NilError(t, os.Chmod(filepath.Join(w.scratch, "hooks.edn"), 0o666))
		w.noHooks("$PROJECT/.brepl/hooks.edn can be written by every user of this machine, so its hooks are not run; `chmod o-w $PROJECT/.brepl/hooks.edn`")
	}},
	{26, "a symlink to nowhere, in a circle, to a device; a FIFO; a folder", func(t *testing.T) {
		for target, first := range map[string]string{
			"hooks.edn": "cannot read the hooks: stat $PROJECT/.brepl/hooks.edn: too many levels of symbolic links",
			"/dev/zero": "$PROJECT/.brepl/hooks.edn is not a regular file",
			"..":        "$PROJECT/.brepl/hooks.edn is not a regular file",
		} {
			newFaultWorld(t, "", fakes.WithSymlink(hooksFile, target)).noHooks(first)
		}
		w := newFaultWorld(t, "", fakes.WithDir(".brepl", 0o755))
		assert.NilError(t, fifo(w.project.Path(hooksFile)))
		w.noHooks("$PROJECT/.brepl/hooks.edn is not a regular file")
		// Somebody wants hooks here: a link that leads nowhere is a missing gate, and that is said.
		w = newFaultWorld(t, "", fakes.WithSymlink(hooksFile, "nowhere"))
		w.noHooks("cannot read the hooks: stat $PROJECT/.brepl/hooks.edn: no such file or directory")
	}},
	{26, "world-writable", func(t *testing.T) {
		w := newFaultWorld(t, "", fakes.WithFile(hooksFile, hooksEDN(bash("tests", noTrace)), 0o646))
		w.noHooks("$PROJECT/.brepl/hooks.edn can be written by every user of this machine, so its hooks are not run; `chmod o-w $PROJECT/.brepl/hooks.edn`")
	}},
	{26, "another owner", func(t *testing.T) {
		needRoot(t, "make files of other users")
		w, program := openWorld(t, hooksEDN(bash("tests", noTrace)))
		file := filepath.Join(w.dir, hooksFile)
		assert.NilError(t, os.Chown(file, 12345, 12345))
		const said = "$DIR/.brepl/hooks.edn belongs to another user, so its hooks are not run; copy it or change its owner\n"
		e := w.native(native{stdin: strings.NewReader(w.stopEvent()), unprivileged: true}, program, "hook", "stop")
		assert.Check(t, e.exit == 1 && strings.HasPrefix(e.stderr, "The stop hooks cannot be run: "+said), "exit %d\n%s", e.exit, e.stderr)
		for _, args := range [][]string{{"check"}, {"run"}, {"stop", "--dry-run"}} {
			w.native(native{unprivileged: true}, program, append([]string{"hook"}, args...)...).is(t, 1, "", said)
		}
		assert.Equal(t, w.wrote("trace"), "absent")
		// Root's file is believed: root could change everything anyway.
		assert.NilError(t, os.Chown(file, 0, 0))
		w.native(native{stdin: strings.NewReader(w.stopEvent()), unprivileged: true}, program, "hook", "stop").is(t, 0, approve, "")
		assert.Equal(t, w.wrote("trace"), "")
		// One that cannot be read is an error too, not a project without hooks.
		assert.NilError(t, os.Chmod(file, 0o600))
		e = w.native(native{stdin: strings.NewReader(w.stopEvent()), unprivileged: true}, program, "hook", "stop")
		assert.Check(t, e.exit == 1 && strings.HasPrefix(e.stderr, "The stop hooks cannot be run: cannot read the hooks: open $DIR/.brepl/hooks.edn: permission denied\n"), "exit %d\n%s", e.exit, e.stderr)
	}},
}

// noTraceEDN is noTrace inside of a string.
const noTraceEDN = `touch \"$WORLD/trace\"`
