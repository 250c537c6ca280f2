//go:build unix

package fakes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// The whole test of a hook of one's own: the documentation of NewClaude shows it.
func TestMyHook(t *testing.T) {
	project := fakes.NewProject(t, map[string]string{
		".claude/settings.json": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh tests.sh"}]}]}}`,
		"tests.sh":              `grep -q '(ns a)' src/a.clj || { echo "src/a.clj has no namespace" >&2; exit 2; }`,
	})
	claude := fakes.NewClaude(t, project.Dir())
	claude.Write("src/a.clj", "(def x 1)\n")
	stop := claude.Stop()
	assert.Equal(t, stop.ToldText(), "Stop hook feedback:\n[sh tests.sh]: src/a.clj has no namespace\n")
	claude.Write("src/a.clj", "(ns a)\n(def x 1)\n")
	assert.Assert(t, !claude.Stop().Blocked, claude.Story())
}

// In a test the constructor is NewClaude(t, dir), which also closes it.
func ExampleStartClaude() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	settings := `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"test -e README || { echo 'no README' >&2; exit 2; }"}]}]}}`
	_ = os.Mkdir(filepath.Join(dir, ".claude"), 0o755)
	_ = os.WriteFile(filepath.Join(dir, ".claude", "settings.local.json"), []byte(settings), 0o644)

	claude, err := fakes.StartClaude(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer claude.Close()
	claude.Prompt("Write the README.")
	fmt.Println(claude.Stop("Done.").GoesOn)
	claude.Write("README", "# A project\n")
	fmt.Println(claude.Stop("Now it is there.").GoesOn)
	fmt.Print(claude.Story())
	// Output:
	// true
	// false
	// * start (startup)
	// * prompt: Write the README.
	// * stop: Done.
	//     Stop  test -e README || { echo 'no README' >&2; exit 2; }  exit 2
	//     => blocked: the agent goes on
	//     the agent reads (user): Stop hook feedback:
	//       [test -e README || { echo 'no README' >&2; exit 2; }]: no README
	// * Write README
	//     created README
	// * stop: Now it is there.
	//     Stop  test -e README || { echo 'no README' >&2; exit 2; }  exit 0
}
