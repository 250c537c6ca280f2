//go:build unix

package integration

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// Issue 5: what the tests above expect of the fake, from real servers.
func TestNREPLClientReal(t *testing.T) {
	brepl(t)
	t.Parallel()
	for _, kind := range append([]replKind{{name: "jvm", fresh: freshJVM}}, dockerKinds...) {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			server := kind.fresh(t) // its sessions are counted
			const file = "(ns shop.cart)\n\n(defn total [items]\n  (reduce + (map :qty itmes)))\n"
			w := newWorld(t, "", fakes.WithFile("deps.edn", "{}\n", 0o644), fakes.WithFile("src/shop/cart.clj", file, 0o644))
			at := []string{"-h", server.Host, "-p", strconv.Itoa(server.Port)}
			asks := func(args ...string) result { return w.asks(append(slices.Clone(at), args...)...) }
			watch := connect(t.Context(), t, server)
			before, err := watch.LsSessions(t.Context())
			assert.NilError(t, err)

			asks("(+ 1 2)").is(0, "3\n", "")
			asks(`(print "λ 😀") (binding [*out* *err*] (println "warn")) [:v]`).is(0, "λ 😀\nnil\nnil\n[:v]\n", "warn\n")
			asks("(read-line)").is(0, "nil\n", "")
			asks("--ns", "clojure.string", "(upper-case \"a\")").is(0, "\"A\"\n", "")

			r := asks("-f", "src/shop/cart.clj")
			assert.Equal(t, r.exit, 1)
			assert.Equal(t, r.stdout, "")
			assert.Assert(t, strings.HasPrefix(r.stderr, "src/shop/cart.clj:4:23: Syntax error compiling: Unable to resolve symbol: itmes in this context\n"+
				"4 |   (reduce + (map :qty itmes)))\n  |                       ^\n"), r.stderr)

			r = asks("(println \"before\") (/ 1 0)")
			assert.Equal(t, r.exit, 1)
			assert.Equal(t, r.stdout, "before\nnil\n")
			assert.Equal(t, strings.Count(r.stderr, "Divide by zero"), 1, r.stderr)

			asks("--timeout", "0.5", "(loop [] (recur))").is(1, "", "brepl: the evaluation timed out after $TOOK and was interrupted\n")
			asks("-m", `{:op nonsense}`)
			assert.Assert(t, cmp.Contains(asks("-m", "{:op describe}").stdout, `"nrepl"`))
			r = asks("(range)", "--json")
			assert.Assert(t, r.exit == 0 && strings.Contains(r.stdout, `"valuesDropped":1`) && len(r.stdout) > valueQuota, "exit %d, %d bytes", r.exit, len(r.stdout))

			s := w.starts(append(slices.Clone(at), `(do (println "begun") (loop [] (recur)))`)...)
			s.reads("begun\n")
			assert.NilError(t, s.Process.Signal(syscall.SIGINT))
			assert.Equal(t, s.ends(), 130)
			assert.Equal(t, s.err.String(), "brepl: interrupted\n")

			noneLeft(t, watch, before)
		})
	}
}

// valueQuota is how many characters of a value brepl asks for.
const valueQuota = 5_000_000

// noneLeft waits until the server has no session that it did not have before.
func noneLeft(t *testing.T, watch *nrepl.Conn, before []string) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); ; time.Sleep(20 * time.Millisecond) {
		after, err := watch.LsSessions(t.Context())
		assert.NilError(t, err)
		if len(after) <= len(before) {
			return
		}
		assert.Assert(t, time.Now().Before(deadline), "%d sessions before, %d after", len(before), len(after))
	}
}
