package failure_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/failure"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// thrown is the result of an evaluation that ended with an exception on the JVM.
func thrown(class, err string) nrepl.Result {
	return nrepl.Result{
		Ex: "class " + class, RootEx: "class " + class, Err: nrepl.Output{Text: err}, Failed: true,
		Status: nrepl.Status{"done": true, "eval-error": true},
	}
}

func explain(t *testing.T, res nrepl.Result, src failure.Source) *failure.Failure {
	t.Helper()
	f := failure.Explain(t.Context(), nil, res, src)
	assert.Assert(t, f != nil)
	return f
}

func TestNoFailure(t *testing.T) {
	t.Parallel()
	// clojure.test's failures are printed; the evaluation is well.
	res := nrepl.Result{Values: []string{"{:fail 1}"}, Out: nrepl.Output{Text: "FAIL in (t) (a.clj:3)\n"}, Err: nrepl.Output{Text: "WARNING\n"}}
	assert.Assert(t, failure.Explain(t.Context(), nil, res, failure.Source{}) == nil)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"interrupted":         "The evaluation was interrupted.\n",
		"namespace-not-found": "The server has no namespace of this name.\nHint: Load the file with its ns form first, or name another one with --ns.\n",
		"unknown-session":     "The server does not know the session any more.\nHint: Was it started again? Evaluate once more.\n",
		"no-code":             "The server could not evaluate it (status no-code).\n",
	} {
		res := nrepl.Result{Failed: true, Status: nrepl.Status{word: true}, Interrupted: word == "interrupted"}
		assert.Equal(t, explain(t, res, failure.Source{}).Text(nil), want)
	}
}

// Where a file is for the server is not where it is here.
func TestPathMap(t *testing.T) {
	t.Parallel()
	src := failure.Source{
		Dir: "/home/ann/shop", Text: "(require 'shop.core :reload)",
		PathMap: func(remote string) string { return strings.Replace(remote, "/app/", "/home/ann/shop/", 1) },
		ReadFile: func(path string) ([]byte, error) {
			if path == "/home/ann/shop/src/shop/core.clj" {
				return []byte("(ns shop.core)\n\n(defn f [price] (inc prise))\n"), nil
			}
			return nil, os.ErrNotExist
		},
	}
	for _, file := range []string{"/app/src/shop/core.clj", "shop/core.clj", "src/shop/core.clj"} {
		res := thrown("clojure.lang.Compiler$CompilerException",
			"Syntax error compiling at ("+file+":3:17).\nUnable to resolve symbol: prise in this context\n")
		assert.Equal(t, explain(t, res, src).Text(nil), `src/shop/core.clj:3:22: Syntax error compiling: Unable to resolve symbol: prise in this context
3 | (defn f [price] (inc prise))
  |                      ^
Hint: did you mean price?
`)
	}
}

// Where the server cannot be asked, the printed call is all there is.
func TestPrintedCall(t *testing.T) {
	t.Parallel()
	src := failure.Source{
		Dir: "/p", Text: "(mean [])", ReadFile: func(path string) ([]byte, error) {
			if path == "/p/src/shop/my_core.clj" {
				return []byte("(ns shop.my-core)\n(defn mean [xs]\n  (/ 1 (count xs)))\n"), nil
			}
			return nil, os.ErrNotExist
		},
	}
	res := thrown("java.lang.ArithmeticException", "Execution error (ArithmeticException) at shop.my-core/mean (my_core.clj:3).\nDivide by zero\n")
	assert.Equal(t, explain(t, res, src).Text(nil), `src/shop/my_core.clj:3: Execution error (ArithmeticException): Divide by zero
3 |   (/ 1 (count xs)))
in shop.my-core/mean
`)
}

// A namespace that its own file does not define, or did not when it failed.
func TestUnloadedNamespace(t *testing.T) {
	t.Parallel()
	src := failure.Source{
		Dir: "/p", Text: "(require 'shop.a 'shop.b)", ReadFile: func(path string) ([]byte, error) {
			switch path {
			case "/p/src/shop/a.clj":
				return []byte("(ns shop.a)\n(boom)\n"), nil
			case "/p/src/shop/b_c.cljc":
				return []byte("(ns shop.b)\n"), nil
			}
			return nil, os.ErrNotExist
		},
	}
	for message, hint := range map[string]string{
		"namespace 'shop.a' not found":                               "Hint: loading src/shop/a.clj has failed before: `brepl -f src/shop/a.clj` says why.\n",
		"namespace 'shop.b-c' not found after loading '/shop/b_c'":   "Hint: the ns form of src/shop/b_c.cljc says shop.b.\n",
		"namespace 'shop.none' not found after loading '/shop/none'": "",
	} {
		res := thrown("java.lang.Exception", "Syntax error compiling at (REPL:1:1).\n"+message+"\n")
		assert.Equal(t, explain(t, res, src).Text(nil), "REPL:1:1: Syntax error compiling: "+message+"\n1 | (require 'shop.a 'shop.b)\n  | ^\n"+hint)
	}
}

// A file that cannot be read has no excerpt, and one outside of the project keeps its whole path.
func TestFileElsewhere(t *testing.T) {
	t.Parallel()
	res := thrown("clojure.lang.Compiler$CompilerException", "Syntax error compiling at (/elsewhere/a.clj:3:4).\nToo many arguments to if\n")
	src := failure.Source{Dir: "/home/ann", ReadFile: func(string) ([]byte, error) { return nil, errors.New("no") }}
	assert.Equal(t, explain(t, res, src).Text(nil), "/elsewhere/a.clj:3:4: Syntax error compiling: Too many arguments to if\n")
}

// A form of a file that was sent alone: the JVM counts lines from Source.Line, babashka from the form.
func TestFragmentOfAFile(t *testing.T) {
	t.Parallel()
	src := failure.Source{Dir: "/p", File: "src/a.clj", Text: "(defn f [x]\n  (inc y))", Line: 10, Column: 3}
	want := "src/a.clj:11:8: Syntax error compiling: Unable to resolve symbol: y"
	jvm := thrown("clojure.lang.Compiler$CompilerException", "Syntax error compiling at (/p/src/a.clj:11:3).\nUnable to resolve symbol: y in this context\n")
	assert.Equal(t, explain(t, jvm, src).Text(nil), want+" in this context\n11 |   (inc y))\n   |        ^\n")
	babashka := thrown("clojure.lang.ExceptionInfo", "clojure.lang.ExceptionInfo: Unable to resolve symbol: y user /p/src/a.clj:2:3\n")
	assert.Equal(t, explain(t, babashka, src).Text(nil), want+"\n11 |   (inc y))\n   |        ^\n")
}

func TestColours(t *testing.T) {
	t.Parallel()
	res := thrown("clojure.lang.Compiler$CompilerException", "Syntax error compiling at (REPL:1:1).\nUnable to resolve symbol: fo in this context\n")
	text := explain(t, res, failure.Source{Text: "(fo)\n(def foo 1)"}).Text(marks{})
	assert.Equal(t, text, `<b>REPL:1:2: Syntax error compiling: </b><r>Unable to resolve symbol: fo in this context</r>
1 | (fo)
  |  ^
<b>Hint: </b>did you mean foo (line 2)?
`)
}

// A message is a value, not a screen: what stands before a lone carriage return is told too.
func TestCarriageReturn(t *testing.T) {
	t.Parallel()
	res := thrown("java.lang.NumberFormatException", "Execution error (NumberFormatException) at user/eval1 (REPL:1).\nFor input string: \"12\r\"\n")
	text := explain(t, res, failure.Source{Text: "(Integer/parseInt s)"}).Text(marks{})
	assert.Assert(t, strings.Contains(text, `For input string: "12"`), text)
}

type marks struct{}

func (marks) Bold(s string) string { return "<b>" + s + "</b>" }
func (marks) Dim(s string) string  { return "<d>" + s + "</d>" }
func (marks) Red(s string) string  { return "<r>" + s + "</r>" }

// A server that does not answer the question in time: what it said by itself is told, soon.
func TestServerHangs(t *testing.T) {
	t.Parallel()
	fake := fakes.NewNREPL(t)
	fake.On("(/ 1 0)").Exception("java.lang.ArithmeticException", "Divide by zero")
	fake.OnContains(".getCause").Hang()
	session := dial(t, fake)
	res, err := session.Eval(t.Context(), nrepl.Request{Code: "(/ 1 0)"}, nil)
	assert.NilError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	f := failure.Explain(ctx, session, res, failure.Source{Text: "(/ 1 0)"})
	assert.Equal(t, f.Text(nil), "REPL:1: Execution error (ArithmeticException): Divide by zero\n")
}

// Answers that are none are passed over.
func TestServerAnswersSomethingElse(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"", "nil", "{", "{:via []}", "{:via [nil]}", "{:via [{:class 1 :message 2 :line \"x\"}]}", "[1 2]",
		`{:via [{:class "class java.lang.Other" :message "of another evaluation"}]}`,
	} {
		fake := fakes.NewNREPL(t)
		fake.On("(/ 1 0)").Exception("java.lang.ArithmeticException", "Divide by zero")
		fake.OnContains(".getCause").Out(answer).Value("nil")
		session := dial(t, fake)
		res, err := session.Eval(t.Context(), nrepl.Request{Code: "(/ 1 0)"}, nil)
		assert.NilError(t, err)
		f := failure.Explain(t.Context(), session, res, failure.Source{Text: "(/ 1 0)"})
		assert.Equal(t, f.Text(nil), "REPL:1: Execution error (ArithmeticException): Divide by zero\n", "%s", answer)
	}
}

// Whatever a server says: no panic, no order to a terminal, a short text for an agent.
func TestAnyAnswerProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"Execution error (E) at a/b (c.clj:1).\n", "Syntax error compiling at (REPL:9999999999:1).\n", "Unable to resolve symbol: ",
			"#error {:message \"", "\", :data {:type :sci/error, :line 1, :column 900}}", "Syntax error reading source at ", "(", ":", "\n", " at ",
			"\x1b[31", "\x1b[1;31merror:\x1b[0m ", "\n  --> <default>:1:1\n", "Wrong number of args (1) passed to: ", "/", "--", "No such namespace: ",
			"Could not locate ", "__init.class", "class java.lang.Long cannot be cast to class ", "Cannot invoke \"", "\u202e", "Invalid token: ::",
		}))
		text := rapid.Map(rapid.SliceOfN(piece, 0, 8), func(pieces []string) string { return strings.Join(pieces, "") })
		res := nrepl.Result{Failed: true, Err: nrepl.Output{Text: text.Draw(t, "err")}}
		res.Ex = rapid.SampledFrom([]string{"class java.lang.NullPointerException", "class clojure.lang.Compiler$CompilerException", "#error ", "let-go.lang.Error", "class "}).Draw(t, "ex")
		if strings.HasPrefix(res.Ex, "#error") {
			res.Ex += text.Draw(t, "rest of ex")
		}
		res.RootEx = res.Ex
		src := failure.Source{Text: text.Draw(t, "text"), File: rapid.SampledFrom([]string{"", "src/a.clj"}).Draw(t, "file"), Line: rapid.IntRange(0, 3).Draw(t, "line")}
		f := failure.Explain(context.Background(), nil, res, src)
		short := f.Short()
		if n := strings.Count(short, "\n"); n > 12 || len(short) > 5000 {
			t.Fatalf("%d lines, %d bytes:\n%s", n, len(short), short)
		}
		for _, told := range []string{short, f.Text(nil)} {
			for _, r := range told {
				if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u202e' {
					t.Fatalf("%q in %q", r, told)
				}
			}
		}
	})
}
