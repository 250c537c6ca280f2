//go:build unix

package integration

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// seedObject is the JSON object below a heading of testdata/seeds/002-eval.md.
func seedObject(t *testing.T, heading string) map[string]any {
	t.Helper()
	text, err := os.ReadFile("testdata/seeds/002-eval.md")
	assert.NilError(t, err)
	_, rest, found := strings.Cut(string(text), "### "+heading+"\n```json\n")
	assert.Assert(t, found, heading)
	block, _, _ := strings.Cut(rest, "```")
	var object map[string]any
	assert.NilError(t, json.Unmarshal([]byte(block), &object))
	return object
}

// line15 is a file whose fifteenth line names something unknown.
const line15 = "(ns a)\n\n\n\n\n\n\n\n\n\n\n\n\n\n  (foo)\n"

// evalParts are the headings of seed 002 about evaluation, in the form with a file, and what shows that each holds.
var evalParts = []scenario{
	{title: "5. File Evaluation", run: func(t *testing.T) {
		w := newWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n", 0o644))
		server := w.evalServer()
		server.OnLoadFile(w.project.Path("src/a.clj")).Out("printed\n").Err("a warning\n").Value("nil")
		w.hook("eval", "src/a.clj").is(0, accepted, "")
		allClosed(t, server)
		// "Leverage project-aware port resolution": from the file's folder up, wherever the command was called.
		w = newWorld(t, "", fakes.WithFile("sub/deps.edn", "{}", 0o644), fakes.WithFile("sub/src/a.clj", "(ns a)\n", 0o644))
		server = fakes.NewNREPL(t)
		knowsNothing(server)
		server.WritePortFile(w.project.Path("sub"))
		server.OnLoadFile(w.project.Path("sub/src/a.clj")).Value("nil")
		w.hook("eval", "sub/src/a.clj").is(0, accepted, "")
	}},
	{title: "Post-Edit Flow (Evaluation with Warnings)", run: func(t *testing.T) {
		w := newWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n(f x\n", 0o644))
		w.mayChange = true
		server := w.evalServer()
		// 3. the syntax, before anything is sent
		server.OnLoadFileContains("(f x)\n").Value("nil")
		object := evalObject(t, w.hook("eval", "src/a.clj"))
		assert.DeepEqual(t, object["warnings"], []any{"src/a.clj was not balanced on disk, and brepl repaired it there: added `)` at the end of line 2. What was there is backup 1."})
		assert.Equal(t, w.project.Read("src/a.clj"), "(ns a)\n(f x)\n")
		// 5. errors: a warning, or a block
		for _, args := range [][]string{{"src/a.clj"}, {"--strict-eval", "src/a.clj"}, {"src/a.clj", "--strict-eval"}} {
			server.OnLoadFile(w.project.Path("src/a.clj")).Exception("java.lang.ArithmeticException", "Divide by zero")
			object = evalObject(t, w.hook(append([]string{"eval"}, args...)...))
			assert.Equal(t, object["decision"], map[bool]string{false: "allow", true: "block"}[len(args) > 1])
		}
		// 4b. no server
		server.Close()
		assert.DeepEqual(t, evalObject(t, w.hook("eval", "src/a.clj"))["warnings"], []any{noServer})
	}},
	{title: "Hook Flags", run: func(t *testing.T) {
		w := newWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n", 0o644))
		server := w.evalServer()
		server.OnLoadFile(w.project.Path("src/a.clj")).Hang()
		object := evalObject(t, w.hook("eval", "--timeout", "1", "--strict-eval", "src/a.clj"))
		assert.Equal(t, object["decision"], "allow") // "Fail safe: allow edit if timeout exceeded (with warning)"
		assert.DeepEqual(t, object["warnings"], []any{"src/a.clj: the evaluation timed out after $TOOK and was interrupted. If it needs longer: `brepl hook install --timeout SECONDS`."})
		allClosed(t, server)
		w.hook("eval", "--skip-eval", "src/a.clj").is(0, accepted, "")
	}},
	{title: "Evaluation Errors (Warnings - Default)", run: func(t *testing.T) {
		w := newWorld(t, "", fakes.WithFile("src/a.clj", line15, 0o644))
		server := w.evalServer()
		compileError(server.OnLoadFile(w.project.Path("src/a.clj")), w.project.Path("src/a.clj"), 15)
		got, want := evalObject(t, w.hook("eval", "src/a.clj")), seedObject(t, "Evaluation Errors (Warnings - Default)")
		// The error itself says more than the seed's: place, source line, hint. What stands around it is the seed's.
		text := got["warnings"].([]any)[0].(string)
		around := strings.Split(want["warnings"].([]any)[0].(string), "CompilerException: Unable to resolve symbol: foo at line 15")
		after, _, _ := strings.Cut(around[1], "\nOtherwise")
		assert.Equal(t, text, around[0]+fooFails("src/a.clj", 15, "  (foo)")+after)
		got["warnings"], want["warnings"] = nil, nil
		assert.DeepEqual(t, got, want)
	}},
	{title: "Evaluation Errors (Blocks - Strict Mode)", run: func(t *testing.T) {
		w := newWorld(t, "", fakes.WithFile("src/a.clj", line15, 0o644))
		server := w.evalServer()
		compileError(server.OnLoadFile(w.project.Path("src/a.clj")), w.project.Path("src/a.clj"), 15)
		got, want := evalObject(t, w.hook("eval", "--strict-eval", "src/a.clj")), seedObject(t, "Evaluation Errors (Blocks - Strict Mode)")
		assert.Equal(t, got["reason"], fooFails("src/a.clj", 15, "  (foo)"))
		got["reason"], want["reason"] = nil, nil
		assert.DeepEqual(t, got, want)
	}},
	{title: "Connection Errors", run: func(t *testing.T) {
		w := newWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n", 0o644))
		assert.DeepEqual(t, evalObject(t, w.hook("eval", "src/a.clj")), seedObject(t, "Connection Errors"))
		w.project.Write(".nrepl-port", "")
		assert.DeepEqual(t, evalObject(t, w.hook("eval", "--strict-eval", "src/a.clj")), seedObject(t, "Connection Errors"))
	}},
}

func TestSeed002Eval(t *testing.T) {
	brepl(t)
	t.Parallel()
	text, err := os.ReadFile("testdata/seeds/002-eval.md")
	assert.NilError(t, err)
	var titles, have []string
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "### "); ok {
			titles = append(titles, strings.TrimSpace(title))
		}
	}
	for _, part := range evalParts {
		have = append(have, part.title)
		t.Run(strings.NewReplacer("(", "", ")", "").Replace(part.title), func(t *testing.T) {
			t.Parallel()
			part.run(t)
		})
	}
	assert.DeepEqual(t, have, titles)
}
