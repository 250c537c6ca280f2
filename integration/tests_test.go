//go:build unix

package integration

import (
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// allTests is the shortest hook that runs tests; more are further fields.
func allTests(more ...string) string {
	return strings.Join(append([]string{`{:type :tests :name "tests"`}, more...), " ") + "}"
}

// shopTest is a test namespace.
const shopTest = "(ns shop.cart-test (:require [clojure.test :refer [deftest is]]))\n(deftest total\n  (is (= 1 2)))\n"

// runnerSays scripts the runner's events.
func runnerSays(server *fakes.NREPL, events ...string) {
	e := server.OnContains("clojure.test/report")
	for _, event := range events {
		e.Out("brepl-tests " + event + "\n")
	}
	e.Value("nil")
}

// Issue 14: green means that tests ran and passed.
func TestTestsVerdicts(t *testing.T) {
	t.Parallel()
	const plan, end = `{:event :plan :namespaces ["shop.cart-test"] :missing []}`, `{:event :end :ms 3}`
	t.Run("passed", func(t *testing.T) {
		w := newWorld(t, hooksEDN(allTests()))
		w.project.Write("test/shop/cart_test.clj", shopTest)
		runnerSays(w.withREPL(), plan, `{:event :ns :ns "shop.cart-test" :test 2 :pass 3 :ms 1}`, end)
		w.stop().is(0, approve, "")
	})
	t.Run("failed", func(t *testing.T) {
		w := newWorld(t, hooksEDN(allTests()))
		w.project.Write("test/shop/cart_test.clj", shopTest)
		runnerSays(w.withREPL(), plan,
			`{:event :test :ns "shop.cart-test" :test "total" :line 2 :failures [{:type :fail :file "cart_test.clj" :line 3 :expected "(= 1 2)" :actual "(not (= 1 2))"}]}`,
			`{:event :ns :ns "shop.cart-test" :test 2 :pass 3 :fail 1 :ms 1}`, end)
		w.failed(w.stop(), "tests", "1 failure in 2 tests",
			"FAIL shop.cart-test/total (test/shop/cart_test.clj:3)", "  expected: (= 1 2)", "    actual: (not (= 1 2))")
	})
	for _, c := range []struct {
		title, file, text, why string
		events                 []string
	}{
		{
			title: "no test", why: "no test ran: the project has no test namespaces: none on its source or test paths has a name that ends with -test, " +
				"or requires clojure.test and defines tests",
		},
		{
			title: "only ClojureScript", file: "test/shop/cart_test.cljs", text: "(ns shop.cart-test)",
			why: "no test ran: there are only ClojureScript tests (1 namespace), and those do not run here; run them by a :bash hook",
		},
		{
			title: "not on the class path", file: "test/shop/cart_test.clj", text: shopTest,
			events: []string{`{:event :plan :namespaces [] :missing ["shop.cart-test"]}`, end},
			why: "no test ran: the folder test is not on the class path of the REPL (shop.cart-test). " +
				"Start the REPL with the alias that adds it: `clojure -M:test:…`",
		},
		{
			title: "empty namespaces", file: "test/shop/cart_test.clj", text: shopTest,
			events: []string{plan, `{:event :ns :ns "shop.cart-test" :ms 1}`, end}, why: "no test ran: there is none in shop.cart-test",
		},
	} {
		t.Run(c.title, func(t *testing.T) {
			w := newWorld(t, hooksEDN(allTests(":retry-on-failure? true")))
			w.project.Write("deps.edn", `{:paths ["src"] :aliases {:test {:extra-paths ["test"]}}}`)
			if c.file != "" {
				w.project.Write(c.file, c.text)
			}
			if c.events != nil {
				runnerSays(w.withREPL(), c.events...)
			}
			stderr, agent := reported("Hook 'tests' is not green: " + c.why)
			w.stop().is(1, tellBoth("brepl: 'tests' is not green: "+c.why, agent), stderr)
			assert.Equal(t, w.counts(), "absent") // no retry is counted
		})
	}
	t.Run("no server", func(t *testing.T) {
		w := newWorld(t, hooksEDN(allTests(":required? true")))
		w.project.Write("test/shop/cart_test.clj", shopTest)
		r := w.stop()
		assert.Equal(t, r.exit, 1)
		assert.Assert(t, cmp.Contains(r.stderr, "Hook 'tests' requires nREPL but none available. Please start REPL and retry.\n"))
	})
}

// Issue 14: on a REPL that was just started, with nothing loaded, a failing project blocks at once and a passing one passes.
func TestTestsFreshJVM(t *testing.T) {
	t.Parallel()
	needJVM(t)
	w := newWorld(t, hooksEDN(allTests(":retry-on-failure? true")), fakes.WithFile("deps.edn", `{:paths ["src"] :aliases {:test {:extra-paths ["test"]}}}`, 0o644))
	w.mayChange = true
	w.project.Write("src/shop/stock.clj", "(ns shop.stock)\n\n(defn remove-stock [n sold]\n  (- n sold))\n")
	w.project.Write("test/shop/stock_test.clj", "(ns shop.stock-test\n  (:require [clojure.test :refer [deftest is testing]]\n            [shop.stock :as stock]))\n\n"+
		"(deftest never-below-zero\n  (testing \"more sold than there is\"\n    (is (= {:left 0} {:left (stock/remove-stock 2 5)}))))\n")
	server, err := startJVMWith(w.project.Path("src"), w.project.Path("test"))
	assert.NilError(t, err)
	t.Cleanup(server.Kill)
	w.project.Write(".nrepl-port", strconv.Itoa(server.Port))

	first := w.stop()
	first.is(2, tellUser("brepl: 'tests' failed, attempt 1/10"), blocked(
		"Hook 'tests' failed: 1 failure in 1 test",
		"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
		outputOf("tests"),
		"| FAIL shop.stock-test/never-below-zero (test/shop/stock_test.clj:7)",
		"|   testing more sold than there is",
		"|   expected: (= {:left 0} {:left (stock/remove-stock 2 5)})",
		"|     actual: (not (= {:left 0} {:left -3}))",
		"|   differs (first argument of = | second):",
		"|     [:left]  0 | -3"))

	w.project.Write("test/shop/stock_test.clj", "(ns shop.stock-test)\n")
	fresh, err := startJVMWith(w.project.Path("src"), w.project.Path("test"))
	assert.NilError(t, err)
	t.Cleanup(fresh.Kill)
	w.project.Write(".nrepl-port", strconv.Itoa(fresh.Port))
	assert.Assert(t, cmp.Contains(w.stop().stderr, "Hook 'tests' is not green: no test ran: there is none in shop.stock-test\n"))

	w.project.Write("src/shop/stock.clj", "(ns shop.stock)\n\n(defn remove-stock [n sold]\n  (max 0 (- n sold)))\n")
	w.project.Write("test/shop/more_test.clj", "(ns shop.more-test\n  (:require [clojure.test :refer [deftest is]]\n            [shop.stock :as stock]))\n\n"+
		"(deftest never-below-zero\n  (is (= 0 (stock/remove-stock 2 5))))\n")
	w.stop().is(0, approve, "")
	r := w.hook("run")
	assert.Equal(t, r.exit, 0)
	assert.Assert(t, cmp.Contains(r.stdout, "passed tests: 1 test, 1 assertion in 1 namespace ("))
}
