//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// manualBlocks are the blocks of docs/brepl.md that another test holds true: they show a file, or a part of a text.
var manualBlocks = []string{
	`:command "clj-kondo --lint src"`, // TestDocsManual
	`found the string "sixty"`,        // TestDocsManual
	"$ brepl ls\n",                    // TestLsTable
	"git checkout-index",              // TestPreCommit
	"more sold than there is",         // TestTestsFreshJVM
}

// manualREPL is the server that the manual's examples talk to.
func manualREPL(w *world) {
	server := explained(w.withREPL())
	server.On("(+ 1 2)").AnyTimes().Value("3")
	server.On(`(println "hi") (inc 41)`).AnyTimes().Out("hi\n").Value("nil", "42")
	server.On("(println \"it's a \\\"quoted\\\" text\")\n").Out("it's a \"quoted\" text\n").Value("nil")
	server.On("(/ 1 0)").AnyTimes().Exception("java.lang.ArithmeticException", "Divide by zero")
	server.On("(Thread/sleep 60000)").Delay(time.Minute)
	cart := w.project.Path("src/shop/cart.clj")
	server.OnLoadFile(cart).AnyTimes().Thrown(
		"Syntax error compiling at ("+cart+":4:23).\nUnable to resolve symbol: itmes in this context\n", compilerException, compilerException)
}

// Issue 5: "every example of the manual page is executed by a test". Blocks with commands are played from top to bottom against a
// scripted server; each other block is a file, or has a test of its own.
func TestDocsManualExamples(t *testing.T) {
	brepl(t)
	t.Parallel()
	const name = "docs/brepl.md"
	w := newWorld(t, "")
	w.mayChange = true
	var play []docBlock
	for _, b := range docBlocks(page(t, name)) {
		known := false
		for _, text := range manualBlocks {
			known = known || strings.Contains(b.text, text)
		}
		switch {
		case known:
		case b.language == "console", b.file != "":
			play = append(play, b)
		default:
			t.Errorf("%s:%d: nothing runs this block: make it `console`, name its file, or list it in manualBlocks", name, b.line)
		}
	}
	manualREPL(w)
	env := append(w.environment(), "PATH="+filepath.Dir(brepl(t))+":"+os.Getenv("PATH"))
	for _, c := range playBlocks(t, name, play, w.dir, env) {
		assert.Check(t, c.exit <= 1, "%s:%d: $ %s\nexit %d", name, c.line, c.command, c.exit)
	}
}
