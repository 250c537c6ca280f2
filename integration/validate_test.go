//go:build unix

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/clj"
)

const (
	stockFile = "src/stock.clj"
	stock     = "(ns stock)\n\n(defn total [items]\n  (reduce + (map :qty items)))\n\n(defn low? [n]\n  (< n 10))\n"
)

// onDisk compares a file of the project, byte for byte.
func (a *agent) onDisk(name, want string) {
	a.t.Helper()
	assert.Equal(a.t, readOr(a.t, a.project.Path(name), "absent"), want, a.Story())
}

// repaired is what the agent is told of a repair.
func repaired(name, what string) []string {
	return []string{"reminder: brepl repaired the brackets of this edit before it was written to " + name + ": " + what}
}

// toldOf is what the hooks made the agent read in a turn, text by text. How sure a repair is belongs to clj.
func toldOf(turn *fakes.Turn) []string {
	var list []string
	for _, text := range turn.Told {
		_, rest, _ := strings.Cut(text.Text, "brepl repaired")
		if rest != "" {
			text.Text = "brepl repaired" + rest
		}
		list = append(list, "reminder: "+strings.TrimSuffix(strings.TrimSpace(text.Text), " Look whether that is what you meant."))
	}
	return list
}

// The whole story of issue 4: pre-edit → edit → post-edit through the agent, with the file on disk compared.
func TestEditStory(t *testing.T) {
	brepl(t)
	t.Parallel()
	a := newAgent(t, "{}\n")
	a.withREPL(fakes.NREPLRelaxed())

	// A new file that lacks a bracket is written with it.
	turn := a.Write(stockFile, strings.Replace(stock, "items)))", "items))", 1))
	a.onDisk(stockFile, stock)
	assert.Assert(t, turn.ToolRan && !turn.Blocked && !turn.Asked, a.Story())
	assert.DeepEqual(t, toldOf(turn), repaired(stockFile, "added `)` at the end of line 4."))
	assert.Equal(t, turn.ShownText(), "")

	// A healthy edit is not spoken of.
	turn = a.Edit(stockFile, "(< n 10)", "(<= n 10)")
	want := strings.Replace(stock, "(< n 10)", "(<= n 10)", 1)
	a.onDisk(stockFile, want)
	assert.Equal(t, len(turn.Told), 0, a.Story())

	// An edit that lacks a bracket.
	turn = a.Edit(stockFile, "(reduce + (map :qty items)))", "(let [qtys (map :qty items)]\n    (reduce + qtys))")
	want = strings.Replace(want, "(reduce + (map :qty items)))", "(let [qtys (map :qty items)]\n    (reduce + qtys)))", 1)
	a.onDisk(stockFile, want)
	assert.Assert(t, strings.Contains(turn.ToldText(), "brepl repaired the brackets"), a.Story())

	// One with a bracket too many.
	turn = a.Edit(stockFile, "(<= n 10))", "(<= n 12)))")
	want = strings.Replace(want, "(<= n 10)", "(<= n 12)", 1)
	a.onDisk(stockFile, want)
	assert.Assert(t, strings.Contains(turn.ToldText(), "brepl repaired the brackets"), a.Story())

	// What cannot be repaired is refused, the file stays.
	turn = a.Edit(stockFile, "(<= n 12)", "(<= n \"12)")
	assert.Assert(t, turn.Blocked && !turn.ToolRan, a.Story())
	a.onDisk(stockFile, want)
	assert.Assert(t, strings.Contains(turn.ToolResult, "Found unclosed string at line 8. Please add missing closing quote.\nsrc/stock.clj was not written, and not repaired: "), turn.ToolResult)
	assert.Assert(t, strings.Contains(turn.ToolResult, "`:validate {:exclude [\"src/stock.clj\"]}` in .brepl/hooks.edn"), turn.ToolResult)

	// Another tool breaks the file: the next edit is not held up, and the agent is told.
	a.Bash("printf '(def x \"a)\\n' > " + stockFile)
	turn = a.Edit(stockFile, "x", "y")
	a.onDisk(stockFile, "(def y \"a)\n")
	assert.Assert(t, strings.Contains(turn.ToldText(), "src/stock.clj was not balanced before this edit (2 unmatched) and is not after it (2 unmatched)."), a.Story())
	turn = a.Bash("brepl backup restore --id 3 " + stockFile)
	assert.Assert(t, strings.HasPrefix(normalize(turn.ToolResult, measured()), "src/stock.clj is restored from backup 3, as it was on $WHEN; what was there is backup 5"), turn.ToolResult)
	a.onDisk(stockFile, strings.Replace(want, "(<= n 12)", "(<= n 10)", 1))

	// Backups are gone with the session.
	backups := filepath.Join(a.private(), "backups")
	assert.Assert(t, cmp.Contains(strings.Join(a.stateFiles(), "\n"), "$PRIVATE/backups/manifest.edn"))
	a.Exit("other")
	assert.Equal(t, content(t, backups), "absent")
}

// "permissions left to the user": a rewritten edit is asked for like any other, and with the repaired text.
func TestEditStoryPermissions(t *testing.T) {
	brepl(t)
	t.Parallel()
	w := newAgent(t, "{}\n").world
	for _, yes := range []bool{true, false} {
		asked := ""
		a := w.agent(fakes.ClaudeMode("default"), fakes.ClaudeApprove(func(_ string, input json.RawMessage) bool {
			asked = string(input)
			return yes
		}))
		turn := a.Write("src/a.clj", "(f")
		assert.Assert(t, strings.Contains(asked, `"content":"(f)"`), asked)
		assert.Equal(t, turn.ToolRan, yes)
	}
	// A refusal holds where no permission is asked for at all.
	a := w.agent(fakes.ClaudeMode("bypassPermissions"))
	turn := a.Write("src/b.clj", "(f \"")
	assert.Assert(t, turn.Blocked && !turn.ToolRan, a.Story())
	a.onDisk("src/b.clj", "absent")
}

// `:validate {:exclude […]}`, and files that are not Clojure.
func TestEditStoryLeftAlone(t *testing.T) {
	brepl(t)
	t.Parallel()
	a := newAgent(t, "{:validate {:exclude [\"test/broken/**\"]}}\n")
	for _, name := range []string{"test/broken/a.clj", "README.md", "doc/x.clj.txt"} {
		turn := a.Write(name, "(f \"x")
		assert.Equal(t, turn.ToldText(), "", a.Story())
		a.onDisk(name, "(f \"x")
	}
	assert.Assert(t, a.Write("test/a.clj", "(f \"x").Blocked, a.Story())
}

// seedParts are the headings of seed 002 about edits, and what shows that each holds. The titles stand in testdata/seeds/002-edits.md.
var seedParts = []scenario{
	{title: "2. Hook Validation Subcommands", run: func(t *testing.T) {
		w := newWorld(t, "")
		// continue, decision, suppressOutput: the keys of the seed, and no others where nothing is wrong.
		w.hook("validate", "src/a.clj", "(ns a)").is(0, `{"continue":true,"decision":"allow","suppressOutput":true}`+"\n", "")
		for _, c := range []struct {
			content string
			keys    []string
		}{
			{"(f", []string{"continue", "correction", "decision", "suppressOutput", "warnings"}},
			{"(f \"", []string{"continue", "decision", "reason", "stopReason"}},
		} {
			r := w.hook("validate", "src/a.clj", c.content)
			assert.Equal(t, r.exit, 0)
			assert.Equal(t, r.stderr, "")
			var object map[string]any
			assert.NilError(t, json.Unmarshal([]byte(r.stdout), &object))
			var keys []string
			for key := range object {
				keys = append(keys, key)
			}
			slices.Sort(keys)
			assert.DeepEqual(t, keys, c.keys)
		}
	}},
	{title: "3. Edamame Auto-Fix Module", run: func(t *testing.T) {
		var object struct{ Decision, Correction string }
		r := newWorld(t, "").hook("validate", "a.clj", "{:a (let [x 5")
		assert.NilError(t, json.Unmarshal([]byte(r.stdout), &object))
		assert.Equal(t, object.Decision, "allow")
		assert.Equal(t, object.Correction, "{:a (let [x 5])}")
	}},
	{title: "4. Delimiter Validation", run: func(t *testing.T) {
		assert.DeepEqual(t, clj.Validate([]byte("(ns a)")), clj.Report{Valid: true})
		got := clj.Validate([]byte("{:a\n (let [x 5"))
		assert.Assert(t, !got.Valid && got.Error != "" && got.Line == 2 && got.Column > 0, "%+v", got)
		assert.Equal(t, got.ExpectedDelimiter, "]")
	}},
	{title: "Pre-Edit Flow (Auto-Fix)", run: func(t *testing.T) {
		a := newAgent(t, "{}\n")
		a.Write("src/a.clj", "(defn f [x]\n  (inc x)\n")
		a.onDisk("src/a.clj", "(defn f [x]\n  (inc x))\n")
		turn := a.Edit("src/a.clj", "(inc x)", "(inc \"x)")
		assert.Assert(t, turn.Blocked, a.Story())
		a.onDisk("src/a.clj", "(defn f [x]\n  (inc x))\n")
		turn = a.Write("a.txt", "(((")
		assert.Assert(t, turn.ToolRan && turn.ToldText() == "", a.Story())
	}},
	{title: "Validation Errors (Blocks)", run: func(t *testing.T) {
		// The seed's object, key for key and, up to what follows, word for word.
		text, err := os.ReadFile("testdata/seeds/002-edits.md")
		assert.NilError(t, err)
		_, rest, _ := strings.Cut(string(text), "### Validation Errors (Blocks)\n```json\n")
		block, _, _ := strings.Cut(rest, "```")
		var want, got map[string]any
		assert.NilError(t, json.Unmarshal([]byte(block), &want))
		// A bracket that is missing between two conflicting sides: nothing is repaired there.
		code := strings.Repeat("\n", 41) + "(defn f\n<<<<<<< a\n  1\n=======\n  2\n>>>>>>> b\n"
		r := newWorld(t, "").hook("validate", "a.clj", code)
		assert.NilError(t, json.Unmarshal([]byte(r.stdout), &got))
		got["reason"], _, _ = strings.Cut(fmt.Sprint(got["reason"]), "\n")
		assert.DeepEqual(t, got, want)
	}},
}

func TestSeed002Edits(t *testing.T) {
	brepl(t)
	t.Parallel()
	text, err := os.ReadFile("testdata/seeds/002-edits.md")
	assert.NilError(t, err)
	var titles []string
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "### "); ok {
			titles = append(titles, strings.TrimSpace(title))
		}
	}
	var have []string
	for _, part := range seedParts {
		have = append(have, part.title)
		t.Run(part.title, func(t *testing.T) {
			t.Parallel()
			part.run(t)
		})
	}
	assert.DeepEqual(t, have, titles)
}

// preWrite is the event before src/a.clj is written.
func (w *world) preWrite(text string) fakes.Stdin {
	return fakes.OneLine(fakes.PreWriteEvent(w.project.Path("src/a.clj"), text, fakes.InProject(w.dir), fakes.InSession(w.session)).JSON())
}

// answerOf is what validate says to a Write: "" for nothing, "deny", or the content that is written instead.
func (w *world) answerOf(text string) string {
	w.t.Helper()
	r := w.run(w.preWrite(text), "hook", "validate")
	assert.Equal(w.t, r.exit, 0)
	assert.Equal(w.t, r.stderr, "")
	if r.stdout == "" {
		return ""
	}
	var object struct {
		HookSpecificOutput struct {
			PermissionDecision, AdditionalContext string
			UpdatedInput                          struct{ Content string }
		}
	}
	assert.NilError(w.t, json.Unmarshal([]byte(r.raw.Stdout), &object))
	if decision := object.HookSpecificOutput.PermissionDecision; decision != "" {
		return decision
	}
	assert.Assert(w.t, object.HookSpecificOutput.AdditionalContext != "")
	return object.HookSpecificOutput.UpdatedInput.Content
}

var repairFaults = []fault{
	{42, "a balanced file stays byte-identical", func(t *testing.T) {
		a := newAgent(t, "{}\n")
		a.withREPL(fakes.NREPLRelaxed())
		for i, text := range []string{
			"(a\r\n b)\r\n", "\ufeff(a)\n", "(a\n\tb\n\t\tc)\n", "(a)\f(b)", "(a)", "", "\n\n", "(a\r b)\r", "( a  ,b ) ;c", "(a\n)\n\n\n", "(f\u00a0x)",
		} {
			name := fmt.Sprintf("src/f%d.clj", i)
			turn := a.Write(name, text)
			assert.Equal(t, turn.ToldText(), "", a.Story())
			a.onDisk(name, text)
			before, err := os.Stat(a.project.Path(name))
			assert.NilError(t, err)
			a.byHandBalance(name)
			after, err := os.Stat(a.project.Path(name))
			assert.NilError(t, err)
			assert.Assert(t, os.SameFile(before, after) && before.ModTime().Equal(after.ModTime()), "%q was written", text)
			a.run(fakes.Bytes([]byte(text)), "balance", "-").is(0, text, "")
		}
	}},
	{43, "characters, strings, regexes and reader macros that look like brackets", func(t *testing.T) {
		w := newFaultWorld(t, "")
		for _, text := range []string{
			`(f \( \) \" \[)`, `(f "a ) \" (" #"[(]\"")`, "(f #_(a) b)", "(f) ; ) ] }\n", "#!/usr/bin/env bb ((\n(f)", "(f #?@(:clj [a]) ~@b ^{:a 1} c)",
			"#:a{:b 1 ::k/v 2}", "(defn f \"doc (see [1])\n  and ) so\" [] 1)", "`(a ~b ~@c)", "#'f @g #\"\\(\"", "(f \\newline \\u0028)",
		} {
			assert.Equal(t, w.answerOf(text), "", text)
		}
	}},
	{44, "an unterminated string or regex: no guess, a clear message", func(t *testing.T) {
		w := newFaultWorld(t, "")
		for _, text := range []string{"(def s \"abc)\n(def t 1)\n", "(re-find #\"[a (f x)\n", "(f \"a\" \"b)", "(f \\"} {
			assert.Equal(t, w.answerOf(text), "deny", text)
			r := w.run(fakes.Bytes([]byte(text)), "balance", "-")
			assert.Equal(t, r.exit, 1)
			assert.Equal(t, r.stdout, "")
			matches(t, r.stderr, `^brepl balance: - was not repaired: .+\n  1:\d+ .+`)
		}
	}},
	{45, "1 MB on one line, 100,000 openers", func(t *testing.T) {
		fullRun(t)
		w := newFaultWorld(t, "")
		line := func(n int) string { return "[" + strings.Repeat("(f 1) ", n) + "]" }
		deep := func(n int) string { return strings.Repeat("(", n) + strings.Repeat(")", n) }
		for _, text := range []string{line(170_000), deep(100_000)} {
			assert.Equal(t, w.answerOf(text), "", "balanced")
		}
		for _, text := range []string{line(10_000), deep(5_000)} {
			got := w.answerOf(text[:len(text)-1])
			assert.Assert(t, got == "deny" || got != "" && len(clj.CheckDelimiters("", []byte(got))) == 0, "%.100q", got)
		}
		// On a slow machine the limit may cut this one short: then it is allowed with a warning.
		for _, text := range []string{line(170_000), deep(100_000)} {
			r := w.run(w.preWrite(text[:len(text)-1]), "hook", "validate")
			assert.Equal(t, r.exit, 0)
			matches(t, r.stdout, `^{"(hookSpecificOutput|continue|systemMessage)":`)
		}
	}},
	{46, "edits of a file that is already broken", func(t *testing.T) {
		a := newAgent(t, "{}\n")
		a.withREPL(fakes.NREPLRelaxed())
		const file = "src/a.clj"
		a.project.Write(file, "(def a \"x)\n\n(def b [1)\n")
		// No worse: it goes on, with a word.
		turn := a.Edit(file, "def b", "def c")
		assert.Assert(t, turn.ToolRan && strings.Contains(turn.ToldText(), "was not balanced before this edit"), a.Story())
		// A step of the agent's own repair.
		turn = a.Edit(file, "\"x)", "\"x\")")
		assert.Assert(t, turn.ToolRan, a.Story())
		turn = a.Edit(file, "[1)", "[1])")
		assert.Assert(t, turn.ToolRan && turn.ToldText() == "", a.Story())
		a.onDisk(file, "(def a \"x\")\n\n(def c [1])\n")
		// Worse: refused, where no repair is known.
		a.project.Write(file, "(def a \"x)\n")
		assert.Assert(t, a.Edit(file, "(def a", "(def a) ) (").Blocked, a.Story())
		a.onDisk(file, "(def a \"x)\n")
		// old_string absent or ambiguous: the host says it.
		w := a.world
		w.project.Write(file, "(b) (b)")
		for _, old := range []string{"absent", "(b)"} {
			w.run(fakes.OneLine(fakes.PreEditEvent(w.project.Path(file), old, "(((", fakes.InProject(w.dir), fakes.InSession(w.session)).JSON()), "hook", "validate").is(0, "", "")
		}
	}},
	{47, "merge-conflict markers", func(t *testing.T) {
		w := newFaultWorld(t, "")
		const conflict = "(defn f [x]\n<<<<<<< HEAD\n  (inc x))\n=======\n  (dec x))\n>>>>>>> other\n"
		assert.Equal(t, w.answerOf(conflict), "deny")
		r := w.run(fakes.Bytes([]byte(conflict)), "balance", "-")
		assert.Equal(t, r.exit, 1)
		assert.Equal(t, r.stdout, "")
		matches(t, r.stderr, "conflict")
	}},
	{48, "the file changes between Pre and Post", func(t *testing.T) {
		w := newWorld(t, "")
		w.mayChange = true
		w.project.Write("src/a.clj", "(a)\n")
		options := []fakes.EventOption{fakes.InProject(w.dir), fakes.InSession(w.session)}
		file := w.project.Path("src/a.clj")
		w.run(fakes.OneLine(fakes.PreEditEvent(file, "(a)", "(b)", options...).JSON()), "hook", "validate").is(0, "", "")
		// The edit lands, and at once somebody else writes half a file.
		w.project.Write("src/a.clj", "(b \"")
		r := w.run(fakes.OneLine(fakes.PostEditEvent(file, "(a)", "(b)", "(a)\n", options...).JSON()), "hook", "eval")
		assert.Equal(t, r.exit, 0)
		matches(t, r.stdout, "src/a.clj is on disk now and is not balanced. .* `brepl backup restore \\$PROJECT/src/a.clj` brings back what was there before the edit")
		w.run(fakes.DevNull(), "backup", "restore", "src/a.clj").is(0, "src/a.clj is restored from backup 1, as it was on $WHEN; what was there is backup 2\n", "")
		assert.Equal(t, w.project.Read("src/a.clj"), "(a)\n")
		// And a file that changes under a repair stays as somebody else has left it: see hookkit/session, ErrChanged.
	}},
}

// byHandBalance is `brepl balance FILE` of a file that is balanced.
func (w *world) byHandBalance(name string) {
	w.t.Helper()
	w.run(fakes.DevNull(), "balance", name).is(0, "", "")
}
