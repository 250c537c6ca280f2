//go:build unix

package integration

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/hookkit/brepl/fakes"
	evalfailure "github.com/hookkit/brepl/hookkit/failure" // realstop_test.go has a function failure
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// What a person and an agent are told about an error, for errors of a real JVM. Each case is evaluated there; what it
// answers is kept in testdata/failure/answers.json, from which the fake plays it where there is no JVM.

// The project as the server sees it: nothing is there, so the paths must be mapped.
const failureRemote = "/srv/app"

// failureUpdate is the command that writes texts and answers anew.
const failureUpdate = "go test ./integration -run TestFailure/jvm -update"

// failureCase is code that fails.
type failureCase struct {
	name string
	code string // evaluated in ns, or loaded as file
	ns   string // default failures.shop
	file string // relative to the project; its content is code, or what stands there
}

var failureCases = []failureCase{
	// The compiler does not know a name.
	{name: "unresolved symbol of the namespace", code: "(totl [{:price 1}])"},
	{name: "unresolved local", code: "(defn f [customer-name]\n  (let [greeting \"hi\"]\n    (str greting customer-name)))"},
	{name: "unresolved local of a destructuring", file: "src/failures/a.clj", code: "(ns failures.a)\n\n(defn f [{:keys [first-name last-name]}]\n  (str frist-name \" \" last-name))\n"},
	{name: "unresolved local of one arity", code: "(defn f\n  ([price] (f price 1))\n  ([price amount] (* price amuont)))"},
	{name: "unresolved core function", code: "(defn f [xs]\n  (fliter even? xs))"},
	{name: "unresolved name of a required namespace", code: "(upper-case \"x\")"},
	{name: "unresolved name of a namespace that is loaded", code: "(deftest t)", ns: "failures.shop"},
	{name: "defined later", file: "src/failures/later.clj", code: "(ns failures.later)\n\n(defn a []\n  (b))\n\n(defn b [] 1)\n"},
	{name: "no such var", code: "(str/joinn \",\" [1 2])"},
	{name: "no such alias", code: "(set/union #{1} #{2})"},
	{name: "misspelled alias", code: "(strr/join [1])"},
	{name: "a name like no other", code: "(zzqqxxyy 1)"},
	{name: "Java class without import", code: "(UUID/randomUUID)"},
	{name: "missing Java class", code: "(import 'java.util.Missing)"},
	{name: "misspelled class in ns", file: "src/failures/a.clj", code: "(ns failures.a\n  (:import (java.util Datee)))\n"},
	{name: "constructor of a class without import", code: "(Date. 0)"},

	// Namespaces.
	{name: "missing namespace", file: "src/failures/a.clj", code: "(ns failures.a\n  (:require [failures.missing-one :as m]))\n"},
	{name: "misspelled namespace", file: "src/failures/a.clj", code: "(ns failures.a\n  (:require [clojure.sting :as str]))\n"},
	{name: "file name with a dash", file: "src/failures/a.clj", code: "(ns failures.a\n  (:require [failures.dashed-name :as d]))\n"},
	{name: "file that is not on the classpath", file: "test/failures/b_test.clj", code: "(ns failures.b-test\n  (:require [failures.shop-test]))\n"},

	// Calls.
	{name: "arity", code: "(check-age 1 2)"},
	{name: "arity of a core function", code: "(assoc-in {} [:a])"},
	{name: "arity of an anonymous function", code: "(call-all [(fn [x] x)])"},
	{name: "arity of an inlined function", code: "(defn f [x]\n  (inc x 1))"},
	{name: "arity of a macro", code: "(twice 1 2)"},
	{name: "calling a number", code: "(call-all [1])"},
	{name: "calling nil", code: "(call-all [nil])"},
	{name: "a string as number", code: "(mean [{:price \"1\"}])"},
	{name: "nil as number", code: "(total [{:price nil} {:price 1}])"},
	{name: "nil in a function called from a test", file: "test/failures/shop_test.clj", code: ""},
	{name: "method on nil", code: "(.length nil)"},
	{name: "a number as collection", code: "(total 1)"},
	{name: "an atom as number", code: "(let [a (atom 0)] (+ a 1))"},
	{name: "in a record's method", code: "(price (->Cart [1]) {:rate 0})"},
	{name: "in a reify", code: "(price (reify Priced (price [_ _] (mean []))) 1)"},
	{name: "arity of several", code: "(add 1 2 3)"},
	{name: "private var", code: "(failures.shop/hidden)", ns: "user"},
	{name: "protocol not implemented", code: "(price 1 :eur)"},
	{name: "divide by zero", code: "(mean [])"},
	{name: "divide by zero in the expression", code: "(/ 1 0)", ns: "user"},
	{name: "divide by zero in line 3", code: "(def x 0)\n\n(/ 1 x)", ns: "failures.shop"},
	{name: "no matching clause", code: "(pick :c)"},

	// Thrown.
	{name: "ex-info with data", code: "(check-age 3)"},
	{name: "ex-info around another", code: "(register {:age 3})"},
	{name: "exception without message", code: "(throw (Exception.))"},
	{name: "in a delay", code: "@(delay (mean []))"},
	{name: "assertion", code: "(positive -1)"},
	{name: "stack overflow", code: "(endless 1)"},
	{name: "printing a lazy value", code: "(map mean [[{:price 1}] []])"},
	{name: "in a future", code: "@(future (mean []))"},
	{name: "at the top level of a file", file: "src/failures/rt.clj", code: "(ns failures.rt)\n\n(def a 1)\n\n(throw (ex-info \"boom\" {:x a}))\n"},
	{name: "many lines and control characters", code: "(throw (Exception. (apply str \"first \\u001b[31mred\\u001b[0m \\u0007\" (map #(str \"\\nline \" %) (range 40)))))"},

	// Macros.
	{name: "let with an odd binding", code: "(let [x] x)"},
	{name: "defn without parameters", code: "(defn f\n  (inc 1))"},
	{name: "ns with a bad clause", file: "src/failures/a.clj", code: "(ns failures.a\n  (:requires [clojure.string :as str]))\n"},
	{name: "cond with an odd form", code: "(defn f [x]\n  (cond (pos? x) 1\n        :else))"},
	{name: "if with too many forms", code: "(if 1 2 3 4)"},
	{name: "recur not in tail position", code: "(loop [x 1]\n  (recur x)\n  x)"},
	{name: "duplicate case", code: "(defn f [x]\n  (case x\n    1 2\n    1 3))"},
	{name: "recur with too few arguments", code: "(loop [a 1 b 2]\n  (recur a))"},
	{name: "macro that throws", code: "(do\n  (cond-> 1 true))"},
	{name: "value of a macro", code: "(map when [1])"},

	// The reader.
	{name: "missing closer", file: "src/failures/a.clj", code: "(ns failures.a)\n\n(defn f [x]\n  (inc x)\n\n(defn g [x]\n  (dec x))\n"},
	{name: "missing closer in an expression", code: "(+ 1 (* 2 3)"},
	{name: "unmatched delimiter", file: "src/failures/a.clj", code: "(ns failures.a)\n\n(defn f [x]\n  (inc x)))\n\n(defn g [x] x)\n"},
	{name: "mismatched delimiter", code: "(let [x 1)\n  x)"},
	{name: "duplicate key", file: "src/failures/a.clj", code: "(ns failures.a)\n\n(def m\n  {:a 1\n   :b 2\n   :a 3})\n"},
	{name: "map with an odd form", code: "{:a 1 :b}"},
	{name: "bad keyword", code: "(def x :a:)"},
	{name: "bad number", code: "[1 2x]"},
	{name: "unknown alias of a keyword", code: "::nope/x"},
	{name: "unknown tag", code: "#money 12"},
	{name: "bad character", code: "[\\newlin]"},
	{name: "bad escape", code: "(str \"a\\qb\")"},
}

// failureAnswers are a server's messages to one case, one list for each evaluation.
type failureAnswers map[string][][]nrepl.Message

func TestFailure(t *testing.T) {
	const texts, answersFile = "failure/texts.golden", "testdata/failure/answers.json"
	for _, kind := range append([]replKind{{name: "jvm", shared: jvmREPL}}, dockerKinds...) {
		t.Run(kind.name, func(t *testing.T) {
			server := kind.shared(t)
			answers := failureAnswers{}
			told := tellFailures(t, func(t *testing.T, _ failureCase) *nrepl.Conn {
				t.Helper()
				conn := connect(t.Context(), t, server)
				prepareFailure(t, conn)
				return conn
			}, answers)
			if golden.FlagUpdate() && kind.name == "jvm" {
				data, err := json.MarshalIndent(answers, "", " ")
				assert.NilError(t, err)
				assert.NilError(t, os.WriteFile(answersFile, append(data, '\n'), 0o600))
			}
			golden.Assert(t, told, texts)
		})
	}
	t.Run("fake", func(t *testing.T) {
		data, err := os.ReadFile(answersFile)
		assert.NilError(t, err)
		var answers failureAnswers
		assert.NilError(t, json.Unmarshal(data, &answers))
		told := tellFailures(t, func(t *testing.T, c failureCase) *nrepl.Conn {
			t.Helper()
			assert.Assert(t, answers[c.name] != nil, "no answers to %q: run %s", c.name, failureUpdate)
			return connect(t.Context(), t, playFailure(t, answers[c.name]))
		}, failureAnswers{})
		golden.Assert(t, told, texts)
	})
}

// playFailure is a fake server that answers as the JVM did.
func playFailure(t *testing.T, answers [][]nrepl.Message) *replServer {
	t.Helper()
	fake := fakes.NewNREPL(t)
	for _, messages := range answers {
		expect := fake.OnMatch("the next evaluation", func(m fakes.Message) bool { return m.Op() == "eval" || m.Op() == "load-file" })
		for _, m := range messages {
			fields := fakes.Message{}
			for key, value := range m {
				if words, ok := value.([]any); ok {
					var status []string
					for _, word := range words {
						status = append(status, word.(string))
					}
					value = status
				}
				fields[key] = value
			}
			expect.Message(fields)
		}
	}
	return &replServer{Host: fake.Host(), Port: fake.Port()}
}

// prepareFailure loads the project's namespace into a JVM, and takes away what other cases left.
func prepareFailure(t *testing.T, conn *nrepl.Conn) {
	t.Helper()
	ctx := t.Context()
	session, err := conn.Clone(ctx)
	assert.NilError(t, err)
	shop := readFailureFile(t, "src/failures/shop.clj")
	res, err := session.LoadFile(ctx, nrepl.LoadRequest{Content: shop, Path: failureRemote + "/src/failures/shop.clj", Name: "shop.clj"}, nil)
	assert.NilError(t, err)
	assert.Assert(t, !res.Failed, "%s", res.Err.Text)
	const state = "(require 'clojure.test) (remove-ns 'failures.a) (dosync (alter @#'clojure.core/*loaded-libs* conj 'failures.shop))"
	_, err = session.Eval(ctx, nrepl.Request{Code: state}, nil)
	assert.NilError(t, err)
	for _, name := range []string{"f", "x"} {
		_, err = session.Eval(ctx, nrepl.Request{Ns: "failures.shop", Code: "(ns-unmap *ns* '" + name + ")"}, nil)
		assert.NilError(t, err)
	}
	assert.NilError(t, session.Close())
}

func readFailureFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/failure/project", name))
	assert.NilError(t, err)
	return string(data)
}

// tellFailures evaluates all cases and gives what a person and an agent are told. It fails where *1 or *e are not what
// they were, and collects the server's messages.
func tellFailures(t *testing.T, dial func(*testing.T, failureCase) *nrepl.Conn, answers failureAnswers) string {
	t.Helper()
	var all strings.Builder
	for _, c := range failureCases {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, c)
			conn.Trace = func(sent bool, m nrepl.Message) {
				collectAnswer(answers, c.name, sent, m)
			}
			f := tellFailure(t, conn, c)
			all.WriteString("=== " + c.name + "\n" + f.Text(nil) + "--- " + f.Phase + "\n")
			if short := f.Short(); short != f.Text(nil) {
				all.WriteString("--- short\n" + short)
			}
			assert.Assert(t, strings.Count(f.Short(), "\n") <= 12, "too long for an agent:\n%s", f.Short())
		})
	}
	return all.String()
}

func collectAnswer(answers failureAnswers, name string, sent bool, m nrepl.Message) {
	switch op := m.Text("op"); {
	case sent && (op == "eval" || op == "load-file"):
		answers[name] = append(answers[name], nil)
	case !sent && len(answers[name]) > 0 && m.Text("new-session") == "":
		kept := nrepl.Message{}
		for key, value := range m {
			if key != "id" && key != "session" {
				kept[key] = value
			}
		}
		last := len(answers[name]) - 1
		answers[name][last] = append(answers[name][last], kept)
	}
}

func tellFailure(t *testing.T, conn *nrepl.Conn, c failureCase) *evalfailure.Failure {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), contractLimit)
	defer cancel()
	session, err := conn.Clone(ctx)
	assert.NilError(t, err)
	dir, err := filepath.Abs("testdata/failure/project")
	assert.NilError(t, err)
	src := evalfailure.Source{
		Dir: dir, Text: c.code, ReadFile: os.ReadFile,
		PathMap: func(remote string) string { return strings.Replace(remote, failureRemote, dir, 1) },
	}
	var res nrepl.Result
	switch {
	case c.file != "" && c.code == "":
		src.Text = "(failures.shop-test/greet-nobody)"
		load := nrepl.LoadRequest{Content: readFailureFile(t, c.file), Path: failureRemote + "/" + c.file, Name: filepath.Base(c.file)}
		_, err = session.LoadFile(ctx, load, nil)
		assert.NilError(t, err)
		res, err = session.Eval(ctx, nrepl.Request{Code: src.Text}, nil)
	case c.file != "":
		src.File = c.file
		load := nrepl.LoadRequest{Content: c.code, Path: failureRemote + "/" + c.file, Name: filepath.Base(c.file)}
		res, err = session.LoadFile(ctx, load, nil)
	default:
		ns := c.ns
		if ns == "" {
			ns = "failures.shop"
		}
		src.Ns = ns
		res, err = session.Eval(ctx, nrepl.Request{Code: c.code, Ns: ns}, nil)
	}
	assert.NilError(t, err)
	assert.Assert(t, res.Failed, "it did not fail: %v", res.Values)
	f := evalfailure.Explain(ctx, session, res, src)
	assert.Assert(t, f != nil)
	return f
}

// What was evaluated before stays in *1, *2 and *e, whatever the session's namespace calls its own functions.
func TestFailureLeavesTheSessionAsItWas(t *testing.T) {
	conn := connect(t.Context(), t, jvmREPL(t))
	session, err := conn.Clone(t.Context())
	assert.NilError(t, err)
	eval := func(code string) nrepl.Result {
		res, err := session.Eval(t.Context(), nrepl.Request{Code: code}, nil)
		assert.NilError(t, err)
		return res
	}
	eval("(ns failures.hostile (:refer-clojure :exclude [map let fn str print pr-str first take filter when resolve]))")
	eval("(declare map let fn str print pr-str first take filter when resolve) (set! *print-length* 1)")
	eval(":one")
	eval(":two")
	res := eval("(defn f [x] x)\n(ff 1)")
	assert.Assert(t, res.Failed)
	f := evalfailure.Explain(t.Context(), session, res, evalfailure.Source{Text: "(defn f [x] x)\n(ff 1)"})
	assert.Equal(t, f.Text(nil), `REPL:2:2: Syntax error compiling: Unable to resolve symbol: ff in this context
2 | (ff 1)
  |  ^
Hint: did you mean f (line 1) or fn?
`)
	res = eval("(clojure.core/binding [*print-length* nil] (clojure.core/pr-str [*1 *2 *3 (clojure.core/class *e) (clojure.core/ns-name *ns*)]))")
	assert.DeepEqual(t, res.Values, []string{`"[#'failures.hostile/f :two :one clojure.lang.Compiler$CompilerException failures.hostile]"`})
}

// The whole stack, from *e.
func TestFailureTrace(t *testing.T) {
	conn := connect(t.Context(), t, jvmREPL(t))
	const code = "(endless 1)"
	prepareFailure(t, conn)
	session, err := conn.Clone(t.Context())
	assert.NilError(t, err)
	res, err := session.Eval(t.Context(), nrepl.Request{Code: code, Ns: "failures.shop"}, nil)
	assert.NilError(t, err)
	dir, err := filepath.Abs("testdata/failure/project")
	assert.NilError(t, err)
	f := evalfailure.Explain(t.Context(), session, res, evalfailure.Source{Dir: dir, Text: code, ReadFile: os.ReadFile, Trace: true})
	assert.Assert(t, len(f.Trace) > 500, "%d calls", len(f.Trace))
	text := f.Text(nil)
	assert.Assert(t, strings.Contains(text, "  > at failures.shop/endless (src/failures/shop.clj:31)\n    … the last call again, "), "%s", text)
	assert.Assert(t, strings.Count(text, "\n") < 40, "%s", text)
}
