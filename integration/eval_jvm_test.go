//go:build unix

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// jvmConn is a connection of our own to a real server.
func jvmConn(t *testing.T, server *replServer) *nrepl.Conn {
	t.Helper()
	conn, err := nrepl.Connect(t.Context(), nrepl.Lookup{Host: server.Host, Port: server.Port})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestEvalJVM is the story of an agent's edits with a real server: what is on disk is what the REPL has, errors are told with their
// places, a loop is stopped, and no session stays.
func TestEvalJVM(t *testing.T) {
	server := freshJVM(t)
	conn := jvmConn(t, server)
	session, err := conn.Clone(t.Context())
	assert.NilError(t, err)
	value := func(code string) string {
		t.Helper()
		r, evalErr := session.Eval(t.Context(), nrepl.Request{Code: code}, nil)
		assert.NilError(t, evalErr)
		assert.Assert(t, !r.Failed && len(r.Values) > 0, "%s: %+v", code, r)
		return r.Values[len(r.Values)-1]
	}
	before, err := conn.LsSessions(t.Context())
	assert.NilError(t, err)

	w := newProgramWorld(t, fakes.WithFile("deps.edn", `{:paths ["src"]}`, 0o644), fakes.WithPort(server.Port))
	assert.Equal(t, w.byHand("install", "--all-tools", "--timeout", "2").exit, 0)
	a := w.agent()
	told := func(turn *fakes.Turn) string {
		var list []string
		for _, text := range turn.Told {
			_, rest, _ := strings.Cut(text.Text, " hook additional context: ")
			list = append(list, rest)
		}
		return strings.Join(list, "\n---\n")
	}

	assert.Equal(t, told(a.Bash("mkdir -p src/shop")), "")
	assert.Equal(t, told(a.Write("src/shop/util.clj", "(ns shop.util)\n\n(println \"loading\")\n\n(defn sum [xs]\n  (reduce + xs))\n")), "")
	assert.Equal(t, value("(shop.util/sum [1 2])"), "3")
	assert.Equal(t, told(a.Edit("src/shop/util.clj", "(reduce + xs)", "(reduce + 100 xs)")), "")
	assert.Equal(t, value("(shop.util/sum [1 2])"), "103")

	// The error is at its place in the file as it is on disk.
	got := told(a.Write("src/shop/core.clj", "(ns shop.core\n  (:require [shop.util :as u]))\n\n(defn total [items]\n  (u/sum (map :qty itemz)))\n"))
	assert.Assert(t, cmp.Contains(got, evalFailed+"src/shop/core.clj:5:20: Syntax error compiling: Unable to resolve symbol: itemz in this context\n"+
		"5 |   (u/sum (map :qty itemz)))\n  |                    ^\n"))
	assert.Equal(t, told(a.Bash("touch -d '2020-01-01' src/shop/core.clj")), "still fails as before: src/shop/core.clj:5") // looked at again
	assert.Equal(t, told(a.Edit("src/shop/core.clj", "itemz", "items")), "")
	assert.Equal(t, value("(shop.core/total [{:qty 1}])"), "101")

	// Two files that a command changes, in the order in which they need each other; brackets are put back first.
	assert.Assert(t, cmp.Contains(told(a.Bash(`printf '(ns shop.a (:require [shop.z :as z]))\n(def y (inc z/x))\n' > src/shop/a.clj
		printf '(ns shop.z)\n\n(def x\n  (inc 41)\n' > src/shop/z.clj`)),
		"src/shop/z.clj was not balanced on disk, and brepl repaired it there: added `)` at the end of line 4."))
	assert.Equal(t, value("shop.a/y"), "43")

	// Code that throws, prints, loops, reads.
	got = told(a.Write("src/shop/bad.clj", "(ns shop.bad)\n(println \"before\")\n(defn f [x] (/ 1 x))\n(f 0)\n"))
	for _, part := range []string{"src/shop/bad.clj:", "Divide by zero", "| before"} {
		assert.Assert(t, cmp.Contains(got, part))
	}
	got = told(a.Write("src/shop/loop.clj", "(ns shop.loop)\n(while true)\n"))
	assert.Equal(t, got, "src/shop/loop.clj: the evaluation timed out after 2s and was interrupted. If it needs longer: `brepl hook install --timeout SECONDS`.")
	assert.Equal(t, told(a.Write("src/shop/reads.clj", "(ns shop.reads)\n(def line (read-line))\n")), "")
	assert.Equal(t, value("shop.reads/line"), "nil")

	// `ls-sessions` before is after.
	deadline := time.Now().Add(waitLimit)
	for {
		after, err := conn.LsSessions(t.Context())
		assert.NilError(t, err)
		slices.Sort(before)
		slices.Sort(after)
		if slices.Equal(before, after) {
			break
		}
		assert.Assert(t, time.Now().Before(deadline), "%d sessions before, %d after", len(before), len(after))
		time.Sleep(50 * time.Millisecond)
	}

	// The server goes away in the middle of a load: once, in one line.
	assert.Equal(t, told(a.Write("src/shop/exit.clj", "(ns shop.exit)\n(System/exit 1)\n")), "src/shop/exit.clj: the nREPL server went away while it was being loaded.")
	assert.Equal(t, told(a.Write("src/shop/more.clj", "(ns shop.more)\n")), noServer)
}

// TestEvalJVMEdits is a session of many edits with a real server: no session stays, and an edit costs little.
func TestEvalJVMEdits(t *testing.T) {
	server := jvmREPL(t)
	conn := jvmConn(t, server)
	before, err := conn.LsSessions(t.Context())
	assert.NilError(t, err)
	w := newWorld(t, "", fakes.WithPort(server.Port))
	w.mayChange = true
	var took []time.Duration
	const edits = 60
	for i := range edits {
		name := fmt.Sprintf("src/evaljvm/n%d.clj", i%7)
		w.project.Write(name, fmt.Sprintf("(ns evaljvm.n%d)\n(def x %d)\n", i%7, i))
		o, runErr := w.spec("hook", "eval").Run(w.posted("Edit", name))
		assert.Assert(t, runErr == nil && o.Exit == 0 && o.Stdout == "" && o.Stderr == "", "%v %+v", runErr, o)
		took = append(took, o.Elapsed)
	}
	slices.Sort(took)
	t.Logf("%d edits on a JVM: median %v, slowest %v", edits, took[edits/2], took[edits-1])
	time.Sleep(200 * time.Millisecond)
	after, err := conn.LsSessions(t.Context())
	assert.NilError(t, err)
	for _, id := range before {
		after = slices.DeleteFunc(after, func(other string) bool { return other == id })
	}
	assert.Assert(t, len(after) < 5, "%d sessions more than before %d edits", len(after), edits) // other tests use this server too
}
