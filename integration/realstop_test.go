//go:build unix

package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// What a stop does with a REPL, end to end: the built program against servers that speak for themselves. The scenarios
// have the same stops against the scripted fake.

// realStop is one stop, or a few, with a real server.
type realStop struct {
	name string
	// alone keeps the other cases of the server away: it looks at the whole server, or takes a processor for itself.
	alone bool
	// kills says that the case ends the server.
	kills bool
	// local says that the server must see the project's files, which one in a container does not.
	local bool
	run   func(*realWorld)
}

var realStops = slices.Concat(realVerdicts, realTestRuns, realOutputs, realTimeouts, realEnds)

func TestRealStop(t *testing.T) {
	brepl(t) // built before anything runs in parallel
	kinds := append([]replKind{{name: localKind, shared: jvmREPL, fresh: freshJVM}}, dockerKinds...)
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			server := kind.shared(t) // missing: skipped or failed once, not once a case
			leavesNoSession(t, server, func() {
				t.Run("case", func(t *testing.T) {
					for _, c := range realStops {
						if c.local && kind.name != localKind {
							continue
						}
						t.Run(c.name, func(t *testing.T) {
							if !c.alone {
								t.Parallel()
							}
							get := kind.shared
							if c.kills {
								get = kind.fresh
							}
							c.run(newRealWorld(t, get(t)))
						})
					}
				})
			})
		})
	}
}

// localKind is the server on this machine, which sees the project's files.
const localKind = "jvm"

// realLimit bounds what a case asks of the server itself.
const realLimit = 60 * time.Second

// realWorld is a project whose port file names a real server.
type realWorld struct {
	*world
	server *replServer
	ctx    context.Context // ends with the case
	ns     string          // a namespace of this case's own, "$NS" in streams; not made yet
}

var namespaces atomic.Int64

func newRealWorld(t *testing.T, server *replServer) *realWorld {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), realLimit)
	t.Cleanup(cancel)
	w := &realWorld{
		world:  newWorld(t, "", fakes.WithPort(server.Port)),
		server: server,
		ctx:    ctx,
		ns:     fmt.Sprintf("real.n%d", namespaces.Add(1)),
	}
	w.rules = append(w.rules,
		port(server.Port, "$$PORT"), rule{regexp.MustCompile(regexp.QuoteMeta(w.ns) + `\b`), "$$NS"},
		// The compiler numbers the classes that it makes.
		rule{regexp.MustCompile(`\b(eval|fn__)\d+`), "${1}$$N"})
	return w
}

// hooks writes the configuration.
func (w *realWorld) hooks(list ...string) { w.project.Write(".brepl/hooks.edn", hooksEDN(list...)) }

// runTests is the one hook of most cases.
func runTests(code string, more ...string) string { return eval("run-tests", code, more...) }

// code puts the case's namespace into Clojure code where it says NS.
func (w *realWorld) code(text string) string { return strings.ReplaceAll(text, "NS", w.ns) }

// repl evaluates in the server as the agent does beside the hooks, and returns the last value.
func (w *realWorld) repl(code string) string {
	w.t.Helper()
	conn, err := nrepl.Connect(w.ctx, nrepl.Lookup{Host: w.server.Host, Port: w.server.Port})
	assert.NilError(w.t, err)
	defer func() { _ = conn.Close() }() // the session goes with it
	s, err := conn.Clone(w.ctx)
	assert.NilError(w.t, err)
	got, err := s.Eval(w.ctx, nrepl.Request{Code: w.code(code)}, nil)
	assert.NilError(w.t, err)
	assert.Assert(w.t, !got.Failed && len(got.Values) > 0, "%s: %+v", code, got)
	return got.Values[len(got.Values)-1]
}

// failure is the block about the hook run-tests: the middle stands between its headline and its output.
func failure(why string, middle, output []string) []string {
	text := append([]string{"Hook 'run-tests' failed: " + why}, middle...)
	if len(output) > 0 {
		text = append(text, outputOf("run-tests"))
	}
	for _, line := range output {
		text = append(text, "| "+line)
	}
	return text
}

// reports is a stop at which run-tests fails for the first time and does not block.
func (w *realWorld) reports(why string, output ...string) result {
	w.t.Helper()
	stderr, agent := reported(failure(why, nil, output)...)
	r := w.stop()
	r.is(1, tellBoth("brepl: 'run-tests' failed: "+why, agent), stderr)
	assert.Equal(w.t, w.counts(), "absent")
	return r
}

// blocks is a stop at which run-tests fails for the first time and blocks.
func (w *realWorld) blocks(why string, output ...string) result {
	w.t.Helper()
	middle := []string{"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again."}
	r := w.stop()
	r.is(2, tellUser("brepl: 'run-tests' failed, attempt 1/10"), blocked(failure(why, middle, output)...))
	assert.Equal(w.t, w.counts(), "{\"run-tests\" 1}\n")
	return r
}

// passes is a stop with nothing to say, after which no count is left.
func (w *realWorld) passes() {
	w.t.Helper()
	w.stop().is(0, approve, "")
	assert.Equal(w.t, w.counts(), "absent")
}

// log is what a hook's log file has, "absent" where there is none. The label above an output says where it is.
func (w *realWorld) log(name string) string {
	w.t.Helper()
	_, path, found := strings.Cut(strings.TrimSuffix(outputOf(name), "):"), "; log: $PRIVATE/")
	assert.Assert(w.t, found)
	return content(w.t, filepath.Join(w.private(), path))
}

// leavesNoSession fails when the server has sessions afterwards that it did not have before.
func leavesNoSession(t *testing.T, server *replServer, run func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*realLimit)
	defer cancel()
	watch := connect(ctx, t, server)
	before, err := watch.LsSessions(ctx)
	assert.NilError(t, err)
	run()
	// The farewell is not awaited, and nREPL 1.0 takes 100 ms for it.
	var more []string
	gone := eventually(func() bool {
		more, err = watch.LsSessions(ctx)
		more = slices.DeleteFunc(more, func(id string) bool { return slices.Contains(before, id) })
		return err != nil || len(more) == 0
	})
	assert.NilError(t, err)
	assert.Assert(t, gone, "%d sessions were there before, and now also %v", len(before), more)
}

const (
	divideByZero = "Execution error (ArithmeticException) at user/eval$N (REPL:1). Divide by zero"
	// failing ends code with a failed test run, so that its output is shown.
	failing      = "\n{:test 1, :fail 1}"
	failingWhy   = "1 failure in 1 test"
	failingValue = "=> {:test 1, :fail 1}"
)

var realVerdicts = []realStop{
	{name: "(+ 1 2) passes", run: func(w *realWorld) {
		w.hooks(runTests("(+ 1 2)", retry))
		w.passes()
		assert.Equal(w.t, w.log("run-tests"), "=> 3\n")
	}},
	{name: "(/ 1 0) blocks where it is retried, until the limit, and its pass ends the count", run: func(w *realWorld) {
		w.repl("(create-ns 'NS) (intern 'NS 'by (atom 0))")
		w.hooks(runTests(w.code("(/ 1 @NS/by)"), retry, ":max-retries 1"))
		middle := []string{"This stop is blocked: attempt 1 of 1. Fix the cause, then stop again."}
		output := []string{"Execution error (ArithmeticException) at user/eval$N (REPL:1).", "Divide by zero"}
		w.stop().is(2, tellUser("brepl: 'run-tests' failed, attempt 1/1"), blocked(failure(divideByZero, middle, output)...))
		assert.Equal(w.t, w.counts(), "{\"run-tests\" 1}\n")

		stderr, agent := reported(append([]string{"Hook 'run-tests' failed after 1 retry. Giving up.", "Last failure: " + divideByZero},
			failure("", nil, output)[1:]...)...)
		w.stop().is(1, tellBoth("brepl: 'run-tests' failed after 1 retry, giving up", agent), stderr)
		assert.Equal(w.t, w.counts(), "{\"run-tests\" 1}\n")

		w.repl("(reset! NS/by 1)")
		w.passes()
	}},
	{name: "(/ 1 0) is reported where it is not retried", run: func(w *realWorld) {
		w.hooks(runTests("(/ 1 0)"))
		w.reports(divideByZero, "Execution error (ArithmeticException) at user/eval$N (REPL:1).", "Divide by zero")
	}},
	{name: "an exception in form 2 of 3 fails the hook although form 3 runs", run: func(w *realWorld) {
		w.hooks(runTests(`1 (/ 1 0) (println "third")`, retry))
		w.blocks(divideByZero, "=> 1", "Execution error (ArithmeticException) at user/eval$N (REPL:1).", "Divide by zero", "third")
	}},
	{name: "code that does not compile", run: func(w *realWorld) {
		w.hooks(runTests("(inc no-such-symbol)", retry))
		w.blocks("Syntax error compiling at (REPL:1:1). Unable to resolve symbol: no-such-symbol in this context",
			"Syntax error compiling at (REPL:1:1).", "Unable to resolve symbol: no-such-symbol in this context")
	}},
	{name: "code that only Clojure's reader refuses", run: func(w *realWorld) {
		w.hooks(runTests("::no-such-alias/name", retry))
		w.blocks("Syntax error reading source at (REPL:2:1). Invalid token: ::no-such-alias/name",
			"Syntax error reading source at (REPL:2:1).", "Invalid token: ::no-such-alias/name")
	}},
	{name: "a value that cannot be printed", run: func(w *realWorld) {
		w.hooks(runTests("(map / [1] [0])"))
		const place = "Error printing return value (ArithmeticException) at clojure.lang.Numbers/divide (Numbers.java:190)."
		w.reports(place+" Divide by zero", place, "Divide by zero")
	}},
	{name: "code as a form is evaluated as it is written", run: func(w *realWorld) {
		w.hooks(`{:type :repl :name "run-tests" :code (let [{:keys [a]} @(atom {:a #(re-find #"\d+" %)})] #_ignored {:test (Long/parseLong (a "x42")), :fail 3})}`)
		w.reports("3 failures in 42 tests", "=> {:test 42, :fail 3}")
	}},
	{name: "two hooks share nothing", run: func(w *realWorld) {
		w.hooks(
			eval("first", w.code("(do (in-ns 'NS) nil) 41 (set! clojure.core/*print-length* 1)")),
			runTests("(assert (= ['user nil nil] [(ns-name *ns*) *1 *print-length*]) (pr-str *ns* *1 *print-length*))"))
		w.passes()
		assert.Equal(w.t, w.log("first"), "=> 41\n=> 1\n")
	}},
	{name: "(read-line) finds the end of the input", run: func(w *realWorld) {
		w.hooks(runTests("(prn [(read-line) (read-line)])"+failing, ":timeout 20"))
		w.reports(failingWhy, "[nil nil]", failingValue)
	}},
	{name: "20 stops at the same moment", alone: true, run: checkTogether},
}

// checkTogether runs 10 stops of one session and 10 of others. A latch in the server holds every evaluation until all
// 20 have come.
func checkTogether(w *realWorld) {
	const stops = 20
	w.repl("(create-ns 'NS) (intern 'NS 'latch (java.util.concurrent.CountDownLatch. 20))")
	meet := func(number int) string {
		return w.code(fmt.Sprintf(`(println "stop" %d)
(.countDown NS/latch)
(when-not (.await NS/latch 20 java.util.concurrent.TimeUnit/SECONDS) (throw (Exception. "not together")))
{:test %d, :fail %d}`, number, number, number))
	}
	w.hooks(runTests(meet(1), retry, ":max-retries 0"))
	worlds := make([]*world, stops)
	for i := range worlds {
		worlds[i] = w.world
		if i >= stops/2 {
			other := newWorld(w.t, hooksEDN(runTests(meet(i), retry)), fakes.WithPort(w.server.Port))
			other.rules = w.rules
			worlds[i] = other
		}
	}
	outcomes := make([]fakes.Outcome, stops)
	errs := make([]error, stops)
	var all sync.WaitGroup
	for i, each := range worlds {
		spec := each.spec("hook", "stop")
		spec.Limit = realLimit
		all.Go(func() { outcomes[i], errs[i] = spec.Run(fakes.OneLine(each.stopEvent())) })
	}
	all.Wait()

	var attempts []string
	for i, o := range outcomes {
		assert.NilError(w.t, errs[i])
		r := worlds[i].result(o)
		number, attempt := i, "attempt 1 of 10"
		if i < stops/2 {
			number = 1
			_, rest, _ := strings.Cut(r.stderr, "This stop is blocked: ")
			attempt, _, _ = strings.Cut(rest, ". Fix")
			attempts = append(attempts, attempt)
		}
		what := "failures"
		if number == 1 {
			what = "failure"
		}
		tests := strings.Replace(what, "failure", "test", 1)
		assert.Equal(w.t, r.exit, 2)
		assert.Equal(w.t, r.stderr, blocked(failure(fmt.Sprintf("%d %s in %d %s", number, what, number, tests),
			[]string{"This stop is blocked: " + attempt + ". Fix the cause, then stop again."},
			[]string{fmt.Sprintf("stop %d", number), fmt.Sprintf("=> {:test %d, :fail %d}", number, number)})...))
	}
	slices.Sort(attempts)
	var want []string
	for i := range stops / 2 {
		want = append(want, fmt.Sprintf("attempt %d, without a limit", i+1))
	}
	slices.Sort(want)
	assert.DeepEqual(w.t, attempts, want)
	assert.Equal(w.t, w.counts(), "{\"run-tests\" 10}\n")
}

// sums is a namespace of tests; each body fails, passes or throws.
func sums(bodies ...string) string {
	text := "(ns NS (:require [clojure.test :refer [deftest is]]))\n"
	for i, body := range bodies {
		text += fmt.Sprintf("(deftest sum-%d %s)\n", i+1, body)
	}
	return text
}

const (
	testFails  = `(is (= 3 (+ 1 1)) "one and one")`
	testPasses = `(is (= 2 (+ 1 1)) "one and one")`
	testThrows = `(is (= 2 (/ 1 0)) "one by none")`
)

var realTestRuns = []realStop{
	{name: "a namespace of tests fails, is mended in the REPL and passes", run: func(w *realWorld) {
		w.repl(sums(testFails))
		w.hooks(runTests(w.code("(clojure.test/run-tests 'NS)"), retry))
		w.blocks("1 failure in 1 test",
			"Testing $NS", "", "FAIL in (sum-1) (NO_SOURCE_FILE:2)", "one and one", "expected: (= 3 (+ 1 1))", "  actual: (not (= 3 2))", "",
			"Ran 1 tests containing 1 assertions.", "1 failures, 0 errors.", "=> {:test 1, :pass 0, :fail 1, :error 0, :type :summary}")
		w.repl(sums(testPasses))
		w.passes()
	}},
	{name: "a namespace of tests that the hook itself makes from a string", run: func(w *realWorld) {
		w.hooks(runTests(w.code("(load-string " + ednString(sums(testFails, testPasses)) + ") (clojure.test/run-tests 'NS)")))
		w.reports("1 failure in 2 tests",
			"=> #'$NS/sum-2", "", "Testing $NS", "", "FAIL in (sum-1) (:2)", "one and one", "expected: (= 3 (+ 1 1))", "  actual: (not (= 3 2))", "",
			"Ran 2 tests containing 2 assertions.", "1 failures, 0 errors.", "=> {:test 2, :pass 1, :fail 1, :error 0, :type :summary}")
	}},
	{name: "a file of tests that the hook loads fails, is edited and passes", local: true, run: func(w *realWorld) {
		file := w.project.Path("test/sums.clj")
		w.hooks(runTests(w.code("(load-file "+ednString(file)+") (clojure.test/run-tests 'NS)"), retry))
		w.project.Write("test/sums.clj", w.code(sums(testFails)))
		w.blocks("1 failure in 1 test",
			"=> #'$NS/sum-1", "", "Testing $NS", "", "FAIL in (sum-1) (sums.clj:2)", "one and one", "expected: (= 3 (+ 1 1))", "  actual: (not (= 3 2))", "",
			"Ran 1 tests containing 1 assertions.", "1 failures, 0 errors.", "=> {:test 1, :pass 0, :fail 1, :error 0, :type :summary}")
		w.project.Write("test/sums.clj", w.code(sums(testPasses)))
		w.passes()
	}},
	{name: "a file that does not end is named with its place", local: true, run: func(w *realWorld) {
		w.project.Write("test/open.clj", "(ns real.open)\n(defn f [x]\n  (inc x)\n")
		w.hooks(runTests("(load-file " + ednString(w.project.Path("test/open.clj")) + ")"))
		w.reports("Syntax error reading source at ($PROJECT/test/open.clj:4:1). EOF while reading, starting at line 2",
			"Syntax error reading source at ($PROJECT/test/open.clj:4:1).", "EOF while reading, starting at line 2")
	}},
	{name: "failures and errors are counted", run: func(w *realWorld) {
		w.repl(sums(testFails, testPasses, testThrows, testFails, testThrows, testFails))
		w.hooks(runTests(w.code("(clojure.test/run-tests 'NS)"), retry))
		r := w.stop()
		assert.Equal(w.t, r.exit, 2)
		assert.Equal(w.t, r.stdout, tellUser("brepl: 'run-tests' failed, attempt 1/10"))
		// The traces are the server's own business, and long: the text has the end of them.
		assert.Assert(w.t, strings.HasPrefix(r.stderr, "Hook 'run-tests' failed: 3 failures, 2 errors in 6 tests\n"+
			"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.\nOutput of hook 'run-tests' ("), r.stderr)
		assert.Assert(w.t, strings.HasSuffix(r.stderr, "\n| \n| Ran 6 tests containing 6 assertions.\n| 3 failures, 2 errors.\n"+
			"| => {:test 6, :pass 1, :fail 3, :error 2, :type :summary}\n\n"+pauseHint+"\n"), r.stderr)
		assert.Equal(w.t, strings.Count(w.log("run-tests"), "\nFAIL in (sum-"), 3)
		assert.Equal(w.t, strings.Count(w.log("run-tests"), "\nERROR in (sum-"), 2)
		assert.Equal(w.t, strings.Count(w.log("run-tests"), "  actual: java.lang.ArithmeticException: Divide by zero\n"), 2)
	}},
	{name: "a namespace that is not loaded", run: func(w *realWorld) {
		w.hooks(runTests(w.code("(clojure.test/run-tests 'NS)"), retry))
		w.blocks("Execution error at clojure.test/test-ns (test.clj:743). No namespace: $NS found",
			"Execution error at clojure.test/test-ns (test.clj:743).", "No namespace: $NS found")
	}},
	{name: "a namespace that no file has", run: func(w *realWorld) {
		w.hooks(runTests("(require 'real.no-such)", retry))
		const why = "Could not locate real/no_such__init.class, real/no_such.clj or real/no_such.cljc on classpath. " +
			"Please check that namespaces with dashes use underscores in the Clojure file name."
		w.blocks("Execution error (FileNotFoundException) at user/eval$N (REPL:1). "+why,
			"Execution error (FileNotFoundException) at user/eval$N (REPL:1).", why)
	}},
}
