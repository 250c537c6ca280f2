package edit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/clj"
)

// testbed is a project and a state folder for one test.
type testbed struct {
	t     *testing.T
	dir   string
	state string
	env   []string
}

func newTestbed(t *testing.T, files map[string]string) *testbed {
	t.Helper()
	b := &testbed{t: t, dir: t.TempDir(), state: t.TempDir()}
	b.env = []string{"BREPL_STATE_DIR=" + b.state}
	for name, text := range files {
		b.write(name, text)
	}
	return b
}

func (b *testbed) path(name string) string { return filepath.Join(b.dir, name) }

func (b *testbed) write(name, text string) {
	b.t.Helper()
	assert.NilError(b.t, os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	assert.NilError(b.t, os.WriteFile(b.path(name), []byte(text), 0o644))
}

func (b *testbed) read(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	assert.NilError(b.t, err)
	return string(data)
}

// run runs a command of this package. The project's folder reads $DIR in what comes back.
func (b *testbed) run(stdin string, args ...string) (stdout, stderr string, exit int) {
	b.t.Helper()
	var out, errOut bytes.Buffer
	p := cli.Program{Args: args, Dir: b.dir, Env: b.env, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errOut, Name: "brepl"}
	_, stop := signal.NotifyContext(b.t.Context(), os.Interrupt) // the first one starts what must not begin in a bubble
	stop()
	synctest.Test(b.t, func(t *testing.T) { // no limit of ours is over while a file is read, however busy the machine is
		exit = p.Main(t.Context(), cli.Command{Sub: append(Commands(), ToolCommands()...)})
	})
	return strings.ReplaceAll(out.String(), b.dir, "$DIR"), strings.ReplaceAll(errOut.String(), b.dir, "$DIR"), exit
}

// event runs validate with an event about src/a.clj; tool_input is given without its path.
func (b *testbed) event(tool, input string) string {
	b.t.Helper()
	return b.eventFor("src/a.clj", tool, input)
}

func (b *testbed) eventFor(name, tool, input string) string {
	b.t.Helper()
	out, errOut, exit := b.run(`{"session_id":"s1","cwd":"`+b.dir+`","hook_event_name":"PreToolUse","tool_name":"`+tool+
		`","tool_input":{"file_path":"`+b.path(name)+`",`+input+`}}`, "validate")
	assert.Equal(b.t, exit, 0)
	assert.Equal(b.t, errOut, "")
	return out
}

const healthy = "(ns a)\n\n(defn f [x]\n  (inc x))\n\n(defn g [y]\n  (dec y))\n"

// spec/host-protocol.md, PreToolUse: the rows of the event form, to the byte.
func TestValidateEvent(t *testing.T) {
	const (
		rewritten = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"file_path":"$DIR/src/a.clj",`
		repaired  = `},"additionalContext":"brepl repaired the brackets of this edit before it was written to src/a.clj: `
	)
	tests := []struct {
		name         string
		before       string // "-": there is no file
		tool, input  string
		want         string
		wantContains []string // instead of want
	}{
		{name: "valid Write", before: "-", tool: "Write", input: `"content":"(ns a)"`},
		{name: "valid Edit", before: healthy, tool: "Edit", input: `"old_string":"inc","new_string":"dec"`},
		{name: "an Edit that the host refuses itself", before: healthy, tool: "Edit", input: `"old_string":"nowhere","new_string":"((("`},
		{name: "an ambiguous Edit", before: healthy, tool: "Edit", input: `"old_string":"defn","new_string":"((("`},
		{name: "an Edit of a file that is not there", before: "-", tool: "Edit", input: `"old_string":"x","new_string":"((("`},
		{
			name: "Write, repaired", before: "-", tool: "Write", input: `"content":"(defn f [x]\n  (inc x)\n"`,
			want: rewritten + `"content":"(defn f [x]\n  (inc x))\n"` + repaired + "added `)` at the end of line 2.\"}}\n",
		},
		{
			name: "Edit, repaired within new_string", before: healthy, tool: "Edit", input: `"old_string":"(inc x))","new_string":"(inc (inc x))","replace_all":false`,
			want: rewritten + `"old_string":"(inc x))","new_string":"(inc (inc x)))","replace_all":false` + repaired + "added `)` at the end of line 4.\"}}\n",
		},
		{
			name:   "broken before, worse, repaired outside of new_string too",
			before: "(defn a [x]\n  (inc x)\n\n(defn b [y]\n  (dec y))\n", tool: "Edit", input: `"old_string":"(dec y))","new_string":"(dec (dec y))","replace_all":false`,
			want: rewritten + `"old_string":"\n\n(defn b [y]\n  (dec y))","new_string":")\n\n(defn b [y]\n  (dec (dec y)))","replace_all":false` + repaired +
				"added `)` at the end of line 2, added `)` at the end of line 5. The replaced part of the file was enlarged for it.\"}}\n",
		},
		{
			name: "unfixable", before: "-", tool: "Write", input: `"content":"(def s \"abc)\n"`,
			wantContains: []string{
				`{"continue":true,"decision":"block","reason":"Found unclosed string at line 1. Please add missing closing quote.\nsrc/a.clj was not written, and not repaired: `,
				"`:validate {:exclude [\\\"src/a.clj\\\"]}` in .brepl/hooks.edn.\",", `"stopReason":"Syntax error: unclosed string","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Found unclosed string`,
				`\n  1:8 `,
			},
		},
		{
			name: "a lone surrogate is never rewritten, unbalanced: denied", before: "-", tool: "Write", input: `"content":"(def c \"\ud800\""`,
			wantContains: []string{`"permissionDecision":"deny"`, `not repaired: field \"content\" holds lone surrogates or bytes that are no UTF-8`},
		},
		{name: "a lone surrogate, balanced", before: "-", tool: "Write", input: `"content":"(def c \"\ud800\")"`},
		{
			name: "invalid UTF-8 is never rewritten, unbalanced: denied", before: "-", tool: "Write", input: "\"content\":\"(def c \\\"\xff\\\"\"",
			wantContains: []string{`"permissionDecision":"deny"`, `not repaired: field \"content\" holds lone surrogates or bytes that are no UTF-8`},
		},
		{
			name: "broken before, no better and no worse", before: "(def s \"abc)\n(f", tool: "Edit", input: `"old_string":"(f","new_string":"(g"`,
			want: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"src/a.clj was not balanced before this edit (2 unmatched) and is not after it (2 unmatched). ` +
				`First: 2:3 EOF while reading string, starting at line 1: expected \" to match \" at line 1, column 8"}}` + "\n",
		},
		{name: "broken before, healed", before: "(f", tool: "Edit", input: `"old_string":"(f","new_string":"(f)"`},
		{
			name: "broken before, worse, no repair", before: "(f)\n(g", tool: "Edit", input: `"old_string":"(f)","new_string":"(f \"x"`,
			wantContains: []string{`"permissionDecision":"deny"`},
		},
		{
			name: "broken before, a Write that is no worse and cannot be repaired", before: "(f \"x", tool: "Write", input: `"content":"(g \"x"`,
			wantContains: []string{`{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"src/a.clj was not balanced before`},
		},
		{
			name: "broken before, a Write that can be repaired", before: "(f \"x", tool: "Write", input: `"content":"(g x"`,
			want: rewritten + `"content":"(g x)"` + repaired + "added `)` at the end of line 1.\"}}\n",
		},
		{
			name: "the repair would undo the edit", before: healthy, tool: "Edit", input: `"old_string":"(inc x))","new_string":"(inc x)"`,
			wantContains: []string{`"permissionDecision":"deny"`, "the repair would undo the edit (it is: added `)` at the end of line 4)."},
		},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			b := newTestbed(t, nil)
			if c.before != "-" {
				b.write("src/a.clj", c.before)
			}
			// How sure a repair is belongs to clj; TestRewritten has the sentence.
			got := strings.ReplaceAll(b.event(c.tool, c.input), " "+lookAgain, "")
			for _, part := range c.wantContains {
				assert.Assert(t, strings.Contains(got, part), "%s\nis not in\n%s", part, got)
			}
			if c.wantContains == nil {
				assert.Equal(t, got, c.want)
			}
			assert.Assert(t, !strings.Contains(got, `"allow"`), got)
			assert.Assert(t, got == "" || json.Valid([]byte(strings.ReplaceAll(got, "\xff", ""))), got)
			if c.before != "-" {
				assert.Equal(t, b.read("src/a.clj"), c.before)
			}
		})
	}
}

func TestRewritten(t *testing.T) {
	repair := clj.RepairResult{Confidence: clj.Sure, Edits: []clj.Edit{
		{Pos: clj.Pos{Offset: 2, Line: 1, Column: 3}, Inserted: ")"}, {Pos: clj.Pos{Offset: 4, Line: 1, Column: 5}, Removed: "]", Inserted: ")"},
	}}
	const said = "brepl repaired the brackets of this edit before it was written to a.clj: added `)` at 1:3, put `)` for `]` at the end of line 1."
	s := simulation{after: "(a b]\n"}
	assert.Equal(t, rewritten("a.clj", call{}, s, repair, false), said)
	assert.Equal(t, rewritten("a.clj", call{}, s, repair, true), said+" The replaced part of the file was enlarged for it.")
	repair.Confidence = clj.Likely
	assert.Equal(t, rewritten("a.clj", call{multi: true}, s, repair, true), said+" An edit was added at the end for it. Look whether that is what you meant.")
	repair.Edits = slices.Repeat(repair.Edits[1:], 10)
	assert.Assert(t, strings.Contains(rewritten("a.clj", call{}, s, repair, false), ", 2 more. Look"))
}

// A host that takes no rewritten input would run the tool unchanged: the edit is refused, and the agent reads the repair.
func TestValidateHostWithoutRewrites(t *testing.T) {
	b := newTestbed(t, nil)
	stdout, _, exit := b.run(`{"conversation_id":"c","cursor_version":"1","hook_event_name":"preToolUse","tool_name":"Write","tool_input":{"file_path":"`+b.path("a.clj")+`","content":"(f"}}`, "validate")
	assert.Equal(t, exit, 0)
	assert.Assert(t, strings.HasPrefix(stdout, `{"permission":"deny"`), stdout)
	assert.Assert(t, strings.Contains(stdout, "this host takes no other input for a tool (it is: added `)` at the end of line 1)"), stdout)
}

// "Files: .clj … and a bb/clojure shebang"; others are not even opened.
func TestValidateOnlyClojure(t *testing.T) {
	b := newTestbed(t, map[string]string{"run": "#!/usr/bin/env bb\n(f)\n", "plain": "(f)\n"})
	assert.NilError(t, os.Mkdir(b.path("folder.clj"), 0o755))
	for _, c := range []struct {
		name, tool, input string
		judged            bool
	}{
		{"a.clj", "Write", `"content":"(f"`, true},
		{"a.edn", "Write", `"content":"{:a [1"`, true},
		{"a.md", "Write", `"content":"(f"`, false},
		{"run", "Edit", `"old_string":"(f)","new_string":"(f"`, true},
		{"plain", "Edit", `"old_string":"(f)","new_string":"(f"`, false},
		{"script", "Write", `"content":"#!/usr/bin/env bb\n(f"`, true},
		{"script", "Write", `"content":"#!/bin/sh\n(f"`, false},
		{"folder.clj", "Edit", `"old_string":"(f)","new_string":"(f"`, false},
		{"folder.clj", "Write", `"content":"(f"`, true},
		{"a.clj", "Read", `"content":"(f"`, false},
	} {
		assert.Equal(t, b.eventFor(c.name, c.tool, c.input) != "", c.judged, "%+v", c)
	}
}

// The host cuts what is longer than 10,000 characters: thousands of brackets are not told one by one.
func TestChangeOfManyBrackets(t *testing.T) {
	got := changesOf("((", []clj.Edit{{Pos: clj.Pos{Offset: 2, Line: 1, Column: 3}, Inserted: strings.Repeat(")", 5000)}})
	assert.Equal(t, got, "added `"+strings.Repeat(")", 40)+"…` (5000 brackets) at the end of line 1")
}

// seed 002: the form with arguments, its JSON to the byte.
func TestValidateArguments(t *testing.T) {
	allow := `{"continue":true,"decision":"allow","suppressOutput":true}` + "\n"
	tests := []struct {
		name  string
		args  []string
		stdin string
		want  string
	}{
		{"valid", []string{"src/a.clj", "(defn f [] 1)"}, "", allow},
		{"not Clojure", []string{"a.txt", "((("}, "", allow},
		{
			"the seed's example",
			[]string{"a.clj", "{:a (let [x 5"},
			"",
			`{"continue":true,"decision":"allow","suppressOutput":false,"warnings":["Brackets were repaired: added ` + "`])}`" +
				` at the end of line 1"],"correction":"{:a (let [x 5])}"}` + "\n",
		},
		{"from stdin", []string{"a.clj", "-"}, "(f)", allow},
		{
			"invalid UTF-8",
			[]string{"a.clj", "(\"\xff\""},
			"",
			`{"continue":true,"decision":"block","stopReason":"Syntax error: unclosed delimiter","reason":"Found unclosed '(' at line 1. Please add missing closing parenthesis.\n` +
				`a.clj was not written, and not repaired: the content is not UTF-8.\nPlaces to look at, as line:column of the file after the edit:\n  1:6 EOF while reading, starting at line 1: expected ) to match ( at line 1, column 1\n` +
				"If this file is broken on purpose, leave it alone with `:validate {:exclude [\\\"a.clj\\\"]}` in .brepl/hooks.edn.\"}\n",
		},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, exit := newTestbed(t, nil).run(c.stdin, append([]string{"validate"}, c.args...)...)
			assert.Equal(t, exit, 0)
			assert.Equal(t, stderr, "")
			assert.Equal(t, stdout, c.want)
		})
	}
	t.Run("a stdin that does not end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			defer func() { _ = w.Close() }()
			var out bytes.Buffer
			p := cli.Program{Stdin: r, Stdout: &out}
			assert.Equal(t, validateText(t.Context(), &p, []string{"a.clj", "-"}), 0)
			assert.Equal(t, out.String(), `{"continue":true,"decision":"allow","suppressOutput":false,"warnings":["Not checked: it took more than 5s"]}`+"\n")
		})
	})
	t.Run("one argument", func(t *testing.T) {
		stdout, stderr, exit := newTestbed(t, nil).run("", "validate", "a.clj")
		assert.Equal(t, exit, 0)
		assert.Equal(t, stdout, "")
		assert.Equal(t, stderr, "brepl validate: expected FILE and CONTENT, found 1 arguments; nothing was checked and nothing is blocked\nRun 'brepl validate --help' for usage.\n")
	})
}

// "Its own 5 s deadline"; a fault of ours is an error, not a crash.
func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		release := make(chan struct{})
		_, err := within(t.Context(), validateLimit, func() (int, error) { <-release; return 1, nil })
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Since(began), 5*time.Second)
		close(release)
	})
	_, err := within(t.Context(), validateLimit, func() (int, error) { panic("x") })
	assert.Error(t, err, "a fault in brepl: x")
	got, err := within(t.Context(), validateLimit, func() (int, error) { return 7, nil })
	assert.NilError(t, err)
	assert.Equal(t, got, 7)
}

// spec/faults.md 48 and "when a file on disk is broken after an edit and cannot be repaired, the agent is told how to restore it".
func TestPosted(t *testing.T) {
	post := func(b *testbed) string {
		b.t.Helper()
		out, errOut, exit := b.run(`{"session_id":"s1","cwd":"`+b.dir+`","hook_event_name":"PostToolUse","tool_name":"Edit","tool_input":{"file_path":"`+b.path("src/a.clj")+`"}}`, "eval")
		assert.Equal(b.t, exit, 0)
		assert.Equal(b.t, errOut, "")
		return out
	}
	const said = `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"src/a.clj is on disk now and is not balanced. `
	// On no source path: the brackets are looked at, nothing is loaded.
	const elsewhere = `{:paths ["lib"]}`
	b := newTestbed(t, map[string]string{"src/a.clj": healthy, "deps.edn": elsewhere})
	assert.Equal(t, post(b), "")
	assert.Equal(t, b.event("Edit", `"old_string":"inc x","new_string":"dec x"`), "")
	assert.Equal(t, post(b), "")
	b.write("src/a.clj", "(f \"x")
	assert.Equal(t, post(b), said+"Found unclosed string at line 1. Please add missing closing quote. `brepl backup restore $DIR/src/a.clj` brings back what was there before the edit.\"}}\n")
	// Where it is sure, it is repaired on disk, after a backup.
	b.write("src/a.clj", "(f x")
	assert.Equal(t, post(b), `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"src/a.clj was not balanced on disk, and brepl repaired it there: `+
		"added `)` at the end of line 1. What was there is backup 2.\"}}\n")
	assert.Equal(t, b.read("src/a.clj"), "(f x)")
	b.write("src/a.clj", "(f \"x")
	b.write(".brepl/hooks.edn", `{:validate {:exclude ["src"]}}`)
	assert.Equal(t, post(b), "")

	// What was broken before was said before.
	b = newTestbed(t, map[string]string{"src/a.clj": "(f \"x", "deps.edn": elsewhere})
	assert.Assert(t, strings.Contains(b.event("Edit", `"old_string":"x","new_string":"y"`), "was not balanced before"))
	assert.Equal(t, post(b), "")
}
