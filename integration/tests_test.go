//go:build unix

package integration

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

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
	runs(server.OnContains("clojure.test/report"), events...)
}

func runs(e *fakes.Expect, events ...string) {
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
		t.Parallel()
		w := newWorld(t, hooksEDN(allTests()))
		w.project.Write("test/shop/cart_test.clj", shopTest)
		runnerSays(w.withREPL(), plan, `{:event :ns :ns "shop.cart-test" :test 2 :pass 3 :ms 1}`, end)
		w.stop().is(0, approve, "")
	})
	t.Run("failed", func(t *testing.T) {
		t.Parallel()
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
			t.Parallel()
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
		t.Parallel()
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
	for line := range strings.Lines(blockWith(t, "docs/brepl.md", "more sold than there is").text) {
		assert.Assert(t, strings.Contains(line, "log: /tmp/…") || strings.Contains(first.stderr, line), "the manual says %q", line)
	}

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

// test is `brepl test`, as a person or an agent calls it.
func (w *world) test(args ...string) result {
	w.t.Helper()
	w.mayChange = true
	return w.run(fakes.DevNull(), append([]string{"test"}, args...)...)
}

// Issue 14: `brepl test` says by its exit code what came of it: 0 passed, 1 failed or no test ran, 2 a wrong call, 75 no server.
func TestTestsCommand(t *testing.T) {
	t.Parallel()
	const plan, end = `{:event :plan :namespaces ["shop.cart-test"] :missing []}`, `{:event :end :ms 3}`
	t.Run("passed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.project.Write("test/shop/cart_test.clj", shopTest)
		runnerSays(w.withREPL(), plan, `{:event :ns :ns "shop.cart-test" :test 1 :pass 1 :ms 1 :ran ["total"]}`, end)
		r := w.test()
		assert.Assert(t, r.exit == 0 && strings.HasPrefix(r.stdout, "passed: 1 test, 1 assertion in 1 namespace (") && r.stderr == "", "%+v", r.raw)
	})
	t.Run("failed, and remembered", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.project.Write("test/shop/cart_test.clj", shopTest)
		failing := []string{
			plan,
			`{:event :test :ns "shop.cart-test" :test "total" :line 2 :failures [{:type :fail :file "cart_test.clj" :line 3 :expected "(= 1 2)" :actual "(not (= 1 2))"}]}`,
			`{:event :ns :ns "shop.cart-test" :test 1 :fail 1 :ms 1 :ran ["total" "other"]}`, end,
		}
		server := w.withREPL()
		runnerSays(server, failing...)
		r := w.test("--junit", "report.xml")
		assert.Equal(t, r.exit, 1)
		assert.Assert(t, strings.HasPrefix(r.stdout, "FAIL shop.cart-test/total (test/shop/cart_test.clj:3)\n  expected: (= 1 2)\n    actual: (not (= 1 2))\n\n"+
			"failed: 1 failure in 1 test ("), r.stdout)
		report := w.project.Read("report.xml")
		assert.Assert(t, cmp.Contains(report, `<testcase classname="shop.cart-test" name="other"/>`))
		assert.Assert(t, cmp.Contains(report, `<failure message="FAIL shop.cart-test/total (test/shop/cart_test.clj:3)">`))

		server.OnContains(`:only {"shop.cart-test" ["total" ]`).Out("brepl-tests " + plan + "\n").Out("brepl-tests " + end + "\n").Value("nil")
		r = w.test("--failed", "--json")
		assert.Equal(t, r.exit, 1)
		assert.Assert(t, cmp.Contains(r.stdout, `"empty":"no test ran: there is none in shop.cart-test"`))
		assert.Assert(t, strings.HasPrefix(r.stdout, `{"ok":false,`), r.stdout)
	})
	t.Run("only what changed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.project.Write("src/shop/cart.clj", "(ns shop.cart)\n")
		w.project.Write("test/shop/cart_test.clj", "(ns shop.cart-test (:require [shop.cart] [clojure.test :refer [deftest]]))\n(deftest total)\n")
		w.project.Write("test/shop/other_test.clj", "(ns shop.other-test (:require [clojure.test :refer [deftest]]))\n(deftest total)\n")
		server := w.withREPL()
		runnerSays(server, plan, `{:event :ns :ns "shop.cart-test" :test 1 :pass 1 :ms 1}`, `{:event :ns :ns "shop.other-test" :test 1 :pass 1 :ms 1}`, end)
		assert.Equal(t, w.test("--changed").exit, 0) // nothing is known, so all
		w.test("--changed").is(0, "nothing that changed since the tests passed is reached by a test\n", "")
		w.project.Write("src/shop/cart.clj", "(ns shop.cart)\n(def x 1)\n")
		server.OnContains("{:name \"shop.cart-test\" :files [\"shop/cart_test.clj\"]}\n]}").Out("brepl-tests " + plan + "\n").
			Out("brepl-tests {:event :ns :ns \"shop.cart-test\" :test 1 :pass 1 :ms 1}\nbrepl-tests " + end + "\n").Value("nil")
		r := w.test("--changed")
		assert.Assert(t, r.exit == 0 && strings.HasPrefix(r.stdout, "passed: 1 test, 1 assertion in 1 namespace ("), "%+v", r.raw)
	})
	t.Run("wrong calls, no server", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.project.Write("test/shop/cart_test.clj", shopTest)
		for _, c := range []struct {
			args []string
			exit int
			says string
		}{
			{[]string{"shop.cart-tset"}, 2, "there is no namespace shop.cart-tset on the source or test paths; did you mean shop.cart-test?"},
			{[]string{"test/shop/none.clj"}, 2, "test/shop/none.clj is no Clojure file on the source or test paths of "},
			{[]string{"--changed", "--failed"}, 2, "--changed, --failed and names exclude each other"},
			{[]string{"--failed"}, 1, ""},
			{[]string{"-p", strconv.Itoa(w.stalePort())}, 75, "no nREPL server: "},
		} {
			r := w.test(c.args...)
			assert.Equal(t, r.exit, c.exit, "%v: %s", c.args, r.stderr)
			assert.Assert(t, cmp.Contains(r.stderr, c.says), "%v", c.args)
		}
	})
}

// testProject is a world with a project of a txtar file, and a REPL on a JVM that has its folders on the class path.
func testProject(t *testing.T, name string) *world {
	t.Helper()
	needJVM(t)
	w := newWorld(t, "")
	w.mayChange = true
	archive, err := txtar.ParseFile(filepath.Join("testdata", name))
	assert.NilError(t, err)
	for _, f := range archive.Files {
		w.project.Write(f.Name, string(f.Data))
	}
	server, err := startJVMWith(w.project.Path("src"), w.project.Path("test"))
	assert.NilError(t, err)
	t.Cleanup(server.Kill)
	w.project.Write(".nrepl-port", strconv.Itoa(server.Port))
	return w
}

// Issue 14: 30 real failures as they are told: each with name, place, expected and actual, no call that is not the project's, none longer
// than 2,500 characters.
func TestTestsFailuresJVM(t *testing.T) {
	t.Parallel()
	w := testProject(t, "failing.txtar")
	var names []string
	for _, name := range []string{"assertions", "errors", "fixture", "each", "hook", "uncompiled", "unfound", "unread", "library"} {
		names = append(names, "shop."+name+"-test")
	}
	var told strings.Builder
	for _, name := range names {
		r := w.test(name)
		assert.Equal(t, r.exit, 1, "%s: %s", name, r.stderr)
		told.WriteString(regexp.MustCompile(`\([0-9.]+ s\)`).ReplaceAllString(r.stdout, "($$TOOK)") + "\n")
	}
	golden.Assert(t, told.String(), "failing.golden")
	failures := regexp.MustCompile(`(?m)^(FAIL|ERROR) `).Split(told.String(), -1)
	assert.Assert(t, len(failures) > 30, len(failures))
	for _, failure := range failures {
		assert.Assert(t, len(failure) < 2500, "%d characters: %s", len(failure), failure)
		for _, foreign := range []string{"clojure.lang", "clojure.test/", "java.base", "nrepl."} {
			for line := range strings.Lines(failure) {
				at := strings.HasPrefix(line, "  at ") || strings.HasPrefix(line, "  in ")
				assert.Assert(t, !at || !strings.Contains(line, foreign), failure)
			}
		}
	}
}

// Issue 14: a namespace over its limit is interrupted and the others run; a run over its own is interrupted and says where it was; a server
// that a test ends is told. None of them passes, and none hangs.
func TestTestsLimitsJVM(t *testing.T) {
	t.Parallel()
	needJVM(t)
	w := newWorld(t, hooksEDN(allTests(":timeout 60", ":namespace-timeout 1")))
	w.mayChange = true
	w.project.Write("test/a/sleeps_test.clj", "(ns a.sleeps-test (:require [clojure.test :refer [deftest is]]))\n(defn wait []\n  (Thread/sleep 600000))\n(deftest sleeps\n  (wait))\n(deftest after\n  (is true))\n")
	w.project.Write("test/a/spins_test.clj", "(ns a.spins-test (:require [clojure.test :refer [deftest is]]))\n(deftest spins\n  (loop [i 0] (recur (unchecked-inc i))))\n")
	w.project.Write("test/a/fine_test.clj", "(ns a.fine-test (:require [clojure.test :refer [deftest is]]))\n(deftest fine\n  (is true))\n")
	server, err := startJVMWith(w.project.Path("test"))
	assert.NilError(t, err)
	t.Cleanup(server.Kill)
	w.project.Write(".nrepl-port", strconv.Itoa(server.Port))

	r := w.stop()
	assert.Equal(t, r.exit, 1)
	for _, line := range []string{
		"Hook 'tests' failed: 2 errors in 3 tests\n",
		"| ERROR a.sleeps-test/sleeps (test/a/sleeps_test.clj:5)\n|   the namespace ran longer than 1 s and was interrupted\n|   at a.sleeps-test/wait (test/a/sleeps_test.clj:3)\n|   at a.sleeps-test/fn (test/a/sleeps_test.clj:5)\n",
		"| ERROR a.spins-test/spins (test/a/spins_test.clj:3)\n|   the namespace ran longer than 1 s and was interrupted\n",
	} {
		assert.Assert(t, cmp.Contains(r.stderr, line))
	}

	r = w.test("a.sleeps-test", "--timeout", "2s", "--json")
	assert.Assert(t, r.exit == 1 && strings.Contains(r.stdout, `"late":["a.sleeps-test"]`), r.stdout)

	w.project.Write(".brepl/hooks.edn", hooksEDN(allTests(":timeout 2", ":namespace-timeout 60", `:paths ["test/a/sleeps_test.clj"]`, ":retry-on-failure? true")))
	r = w.stop()
	assert.Equal(t, r.exit, 2)
	assert.Assert(t, cmp.Contains(r.stderr, "Hook 'tests' failed: timed out after 2 s and was interrupted\n"))
	assert.Assert(t, cmp.Contains(r.stderr, "| Not run to the end: 1 namespace; it was in a.sleeps-test/sleeps\n"))

	w.project.Write("test/a/exits_test.clj", "(ns a.exits-test (:require [clojure.test :refer [deftest is]]))\n(deftest exits\n  (System/exit 3))\n")
	w.project.Write(".brepl/hooks.edn", hooksEDN(allTests(`:paths ["test/a/exits_test.clj"]`)))
	r = w.stop()
	assert.Equal(t, r.exit, 1)
	assert.Assert(t, cmp.Contains(r.stderr, "the nREPL server closed the connection"))
	assert.Assert(t, cmp.Contains(r.stderr, "it was in a.exits-test"))
}
