//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/lab"
)

// blockWith returns the block of a page that holds a text.
func blockWith(t *testing.T, name, text string) docBlock {
	t.Helper()
	for _, b := range docBlocks(page(t, name)) {
		if strings.Contains(b.text, text) {
			return b
		}
	}
	t.Fatalf("%s has no block with %q", name, text)
	return docBlock{}
}

// Pins the first screen of the README: with its hooks.edn the agent reads what the README says, and then may stop.
func TestDocsReadmeStory(t *testing.T) {
	t.Parallel()
	story := blockWith(t, "README.md", "$ cat .brepl/hooks.edn").text
	_, rest, _ := strings.Cut(story, "\n")
	edn, rest, _ := strings.Cut(rest, "\n\n")
	w := newWorld(t, edn)
	w.project.Write("test/shop/stock_test.clj", "(ns shop.stock-test)\n")
	runnerSays(w.withREPL(), `{:event :plan :namespaces ["shop.stock-test"] :missing []}`,
		`{:event :test :ns "shop.stock-test" :test "never-below-zero" :line 6 :failures [{:type :fail :file "stock_test.clj" :line 7 `+
			`:expected "(= {:left 0} {:left (stock/remove-stock 2 5)})" :actual "(not (= {:left 0} {:left -3}))" :diff [{:path "[:left]" :a "0" :b "-3"}]}]}`,
		`{:event :ns :ns "shop.stock-test" :test 1 :fail 1 :ms 1}`, `{:event :end :ms 1}`)
	blocked := w.stop()
	assert.Equal(t, blocked.exit, 2)
	var shown string
	for line := range strings.Lines(rest) {
		if text, ok := strings.CutPrefix(line, "  "); ok {
			shown += text
		}
	}
	log := w.private()
	start := strings.Index(blocked.raw.Stderr, log)
	assert.Assert(t, start > 0, blocked.raw.Stderr)
	end := start + strings.IndexByte(blocked.raw.Stderr[start:], ')')
	read := blocked.raw.Stderr[:start] + "/tmp/…" + blocked.raw.Stderr[end:]
	assert.Assert(t, sameDoc(read, shown), "the agent reads:\n%s\nthe README says:\n%s", read, shown)
}

// Pins the manual's examples: its hooks.edn can be used, and the error that it shows is the one that is printed.
func TestDocsManual(t *testing.T) {
	t.Parallel()
	good := newWorld(t, blockWith(t, "docs/brepl.md", `:command "clj-kondo --lint src"`).text).hook("check")
	assert.Equal(t, good.exit, 0, good.stderr)
	shown := blockWith(t, "docs/brepl.md", `found the string "sixty"`).text
	bad := newWorld(t, "{:stop\n [{:type :bash\n   :name \"run-tests\"\n   :command \"true\"\n   :timeout \"sixty\"\n   :required? true}]}\n").hook("check")
	assert.Equal(t, bad.exit, 1)
	assert.Assert(t, strings.Contains(bad.stdout+bad.stderr, shown), "it prints:\n%s%s\nthe manual says:\n%s", bad.stdout, bad.stderr, shown)
}

// Pins the examples of docs/hookkit.md: the check, the script of simulate.
func TestDocsHookkit(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	put := func(name, content string) {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, fakes.WriteProgram(path, content))
	}
	put("hooks/stop.sh", "#!/bin/sh\necho 'The tests fail.' >&2\nexit 1\n")
	command := docCommands(blockWith(t, "docs/hookkit.md", "$ hookkit check"))[0]
	args := strings.Fields(strings.TrimPrefix(command.command, "hookkit "))
	exit, stdout, stderr := runHookkit(t, dir, args...)
	assert.Equal(t, exit, 1)
	assert.Equal(t, stderr, "")
	assert.Assert(t, sameDoc(stdout, command.out), "it prints:\n%s\nthe page says:\n%s", stdout, command.out)

	env := []string{"PATH=" + filepath.Dir(brepl(t)) + ":" + os.Getenv("PATH")}
	story, err := lab.Simulate(t.Context(), "story", blockWith(t, "docs/hookkit.md", "prompt Please write the greeting.").text, lab.SimulateOptions{Env: env})
	assert.NilError(t, err)
	assert.DeepEqual(t, story.Failures, []string{})
	assert.Equal(t, len(story.Turns), 6, story.Story) // the start, prompt, write, stop, edit, stop
}
