//go:build unix

package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// difference is one way in which a server does not keep a case of the contract as nREPL 1.0.0 does. The table below is
// also the one in docs/nrepl-servers.md, and a test holds the two together.
type difference struct {
	contract string        // the name of the case
	server   fakes.Preset  // nREPL 1.0.0 has none
	how      string        // for the page
	script   fakeScript    // nil: the one of the case
	check    contractCheck // nil: the case does not apply to this server
}

type (
	fakeScript    = func(*fakes.NREPL)
	contractCheck = func(context.Context, *testing.T, *replServer)
)

const (
	letGoError      = "let-go.lang.Error"
	nbbUnresolved   = `#error {:message "Unable to resolve symbol: %[1]s", :data {:type :sci/error, :line 1, :column 1}}`
	babashkaReading = "java.lang.ClassCastException: class sci.impl.vars.SciUnbound cannot be cast to class java.io.BufferedReader user REPL:1:1\n"
	castException   = "class java.lang.ClassCastException"
	exceptionInfo   = "class clojure.lang.ExceptionInfo"
)

var differences = []difference{
	{
		contract: "describe names versions and ops", server: fakes.JVM1_7, how: "does not know its own version when built from source",
		check: describes([]string{"clojure", "java", "nrepl"}, "interrupt", "stdin", "ls-sessions"),
	},
	{
		contract: "describe names versions and ops", server: fakes.Babashka, how: "names only its own version; no interrupt, no stdin",
		check: describes([]string{"babashka.nrepl"}, "ls-sessions"),
	},
	{
		contract: "describe names versions and ops", server: fakes.NBB, how: "names its own version and Node's; no interrupt, no stdin, no ls-sessions",
		check: describes([]string{"nbb-nrepl", "node"}),
	},
	{
		contract: "describe names versions and ops", server: fakes.LetGo, how: "names its own version; no interrupt, no stdin",
		check: describes([]string{"let-go", "nrepl"}, "ls-sessions"),
	},

	{
		contract: "a value for each form", server: fakes.LetGo, how: "only the last value",
		check: evaluates(nrepl.Request{Code: `1 :two "three"`}, nrepl.Result{Values: []string{`"three"`}, Ns: "user", Status: status("done")}),
	},

	{
		contract: "no form, no value", server: fakes.NBB, how: "the answer names the ns all the same",
		check: evaluates(nrepl.Request{Code: "; nothing"}, nrepl.Result{Ns: "user", Status: status("done")}),
	},
	{
		contract: "no form, no value", server: fakes.LetGo, how: "an empty value",
		script: func(f *fakes.NREPL) { f.On("; nothing").Value("") },
		check:  evaluates(nrepl.Request{Code: "; nothing"}, nrepl.Result{Values: []string{""}, Ns: "user", Status: status("done")}),
	},

	{
		contract: "evaluates in the namespace asked for", server: fakes.NBB, how: "ignores ns",
		script: func(f *fakes.NREPL) { f.On("(str *ns*)").Value(`"user"`) },
		check: evaluates(nrepl.Request{Code: "(str *ns*)", Ns: "clojure.string"},
			nrepl.Result{Values: []string{`"user"`}, Ns: "user", Status: status("done")}),
	},
	{
		contract: "evaluates in the namespace asked for", server: fakes.LetGo, how: "ignores ns",
		script: func(f *fakes.NREPL) { f.On("(str *ns*)").Value(`"user"`) },
		check: evaluates(nrepl.Request{Code: "(str *ns*)", Ns: "clojure.string"},
			nrepl.Result{Values: []string{`"user"`}, Ns: "user", Status: status("done")}),
	},

	{
		contract: "output arrives while the code runs, in its order", server: fakes.NBB, how: "stderr comes as out, the end of a line alone",
		check: printsAsOut([]string{"out a", "out \n", "out b", "out \n", "out c", "out \n", "value :ok"}),
	},
	{
		contract: "output arrives while the code runs, in its order", server: fakes.LetGo, how: "stderr comes as out, and all of it at the end",
		check: printsAsOut([]string{"out a\nb\nc\n", "value :ok"}),
	},

	{
		contract: "an exception in form 2 of 3", server: fakes.Babashka, how: "form 3 is not evaluated",
		check: evaluates(nrepl.Request{Code: "1 (/ 1 0) 3"}, nrepl.Result{
			Values: []string{"1"}, Err: nrepl.Output{Text: "java.lang.ArithmeticException: Divide by zero user REPL:1:1\n"},
			Ex: "class java.lang.ArithmeticException", RootEx: "class java.lang.ArithmeticException",
			Ns: "user", Status: status("done", "eval-error"), Failed: true,
		}),
	},
	{
		contract: "an exception in form 2 of 3", server: fakes.NBB, how: "form 3 is not evaluated, no status eval-error, ex is a printed #error",
		script: func(f *fakes.NREPL) { f.On("1 (/ 1 0) 3").Value("1").Exception("Error", "boom").Value("3") },
		check: evaluates(nrepl.Request{Code: "1 (/ 1 0) 3"}, nrepl.Result{
			Values: []string{"1"}, Err: nrepl.Output{Text: "boom\n"},
			Ex: `#error {:message "boom", :data {:type :sci/error, :line 1, :column 1, :message "boom"}}`,
			Ns: "user", Status: status("done"), Failed: true,
		}),
	},
	{
		contract: "an exception in form 2 of 3", server: fakes.LetGo, how: "no value at all, no status eval-error, err has colours",
		check: evaluates(nrepl.Request{Code: "1 (/ 1 0) 3"}, nrepl.Result{
			Err: nrepl.Output{Text: "\x1b[1;31merror:\x1b[0m Divide by zero\n\n"},
			Ex:  letGoError, RootEx: letGoError, Status: status("done"), Failed: true,
		}),
	},

	{
		contract: "an error has the position that was asked for", server: fakes.Babashka, how: "takes file, ignores line and column",
		script: func(f *fakes.NREPL) {
			f.On("(inc no-such-symbol)").Thrown(
				"clojure.lang.ExceptionInfo: Unable to resolve symbol: no-such-symbol user /project/src/a.clj:1:1\n", exceptionInfo, exceptionInfo)
		},
		check: evaluates(nrepl.Request{Code: "(inc no-such-symbol)", File: "/project/src/a.clj", Line: 42, Column: 7}, nrepl.Result{
			Err: nrepl.Output{Text: "clojure.lang.ExceptionInfo: Unable to resolve symbol: no-such-symbol user /project/src/a.clj:1:1\n"},
			Ex:  exceptionInfo, RootEx: exceptionInfo, Status: status("done", "eval-error"), Failed: true,
		}),
	},
	{
		contract: "an error has the position that was asked for", server: fakes.NBB, how: "err has no position; the one in ex is 1:1",
		script: thrownByNBB("(inc no-such-symbol)", "no-such-symbol"),
		check: evaluates(nrepl.Request{Code: "(inc no-such-symbol)", File: "/project/src/a.clj", Line: 42, Column: 7}, nrepl.Result{
			Err: nrepl.Output{Text: "Unable to resolve symbol: no-such-symbol\n"},
			Ex:  fmt.Sprintf(nbbUnresolved, "no-such-symbol"), Ns: "user", Status: status("done"), Failed: true,
		}),
	},
	{
		contract: "an error has the position that was asked for", server: fakes.LetGo, how: "always `<default>:1:1`",
		script: func(f *fakes.NREPL) {
			f.On("(inc no-such-symbol)").Exception(letGoError, "Can't resolve no-such-symbol in this context\n  \x1b[1;34m-->\x1b[0m <default>:1:1")
		},
		check: evaluates(nrepl.Request{Code: "(inc no-such-symbol)", File: "/project/src/a.clj", Line: 42, Column: 7}, nrepl.Result{
			Err: nrepl.Output{Text: "\x1b[1;31merror:\x1b[0m Can't resolve no-such-symbol in this context\n  \x1b[1;34m-->\x1b[0m <default>:1:1\n\n"},
			Ex:  letGoError, RootEx: letGoError, Status: status("done"), Failed: true,
		}),
	},

	{
		contract: "load-file gives the last value", server: fakes.NBB, how: "a value for each form, with ns; the ns stays that of the file",
		script: func(f *fakes.NREPL) {
			f.OnLoadFile("/project/src/ok.clj").Ns("contract.ok").Value("#object[Ls contract.ok]").Out("loading\n").Value("nil", ":last")
		},
		check: loads("/project/src/ok.clj", loadedFile, nrepl.Result{
			Values: []string{"#object[Ls contract.ok]", "nil", ":last"}, Out: nrepl.Output{Text: "loading\n"},
			Ns: "contract.ok", Status: status("done"),
		}),
	},
	{
		contract: "load-file gives the last value", server: fakes.LetGo, how: "with ns; the ns stays that of the file",
		script: func(f *fakes.NREPL) {
			f.OnLoadFile("/project/src/ok.clj").Ns("contract.ok").Value("nil").Out("loading\n").Value("nil", ":last")
		},
		check: loads("/project/src/ok.clj", loadedFile, nrepl.Result{
			Values: []string{":last"}, Out: nrepl.Output{Text: "loading\n"}, Ns: "contract.ok", Status: status("done"),
		}),
	},

	{
		contract: "load-file tells where a file does not end", server: fakes.JVM1_7, how: "(REPL:5:1) instead of the path, ex ExceptionInfo",
		script: func(f *fakes.NREPL) {
			f.OnLoadFile("/project/src/bad.clj").ReadError("Syntax error reading source at (REPL:5:1).\nEOF while reading, starting at line 3\n",
				exceptionInfo, "class java.lang.RuntimeException")
		},
		check: loads("/project/src/bad.clj", unendedFile, nrepl.Result{
			Err: nrepl.Output{Text: "Syntax error reading source at (REPL:5:1).\nEOF while reading, starting at line 3\n"},
			Ex:  exceptionInfo, RootEx: "class java.lang.RuntimeException", Status: status("done", "eval-error"), Failed: true,
		}),
	},
	{
		contract: "load-file tells where a file does not end", server: fakes.Babashka, how: "tells the opener as well",
		script: func(f *fakes.NREPL) {
			f.OnLoadFile("/project/src/bad.clj").ReadError(babashkaUnended, exceptionInfo, exceptionInfo)
		},
		check: loads("/project/src/bad.clj", unendedFile, nrepl.Result{
			Err: nrepl.Output{Text: babashkaUnended},
			Ex:  exceptionInfo, RootEx: exceptionInfo, Status: status("done", "eval-error"), Failed: true,
		}),
	},
	{
		contract: "load-file tells where a file does not end", server: fakes.NBB, how: "the opener, without the path; the forms before it are evaluated",
		script: func(f *fakes.NREPL) {
			f.OnLoadFile("/project/src/bad.clj").Ns("contract.bad").Value("#object[Ls contract.bad]", "#'contract.bad/ok").
				ReadError("EOF while reading, expected ) to match ( at [3,1]\n", `#error {:message "EOF while reading"}`, "")
		},
		check: loads("/project/src/bad.clj", unendedFile, nrepl.Result{
			Values: []string{"#object[Ls contract.bad]", "#'contract.bad/ok"},
			Err:    nrepl.Output{Text: "EOF while reading, expected ) to match ( at [3,1]\n"},
			Ex:     `#error {:message "EOF while reading"}`, Ns: "contract.bad", Status: status("done"), Failed: true,
		}),
	},
	{
		contract: "load-file tells where a file does not end", server: fakes.LetGo, how: "no error at all: the value of the last whole form",
		script: func(f *fakes.NREPL) {
			f.OnLoadFile("/project/src/bad.clj").Ns("contract.bad").Value("nil", "#'contract.bad/ok")
		},
		check: loads("/project/src/bad.clj", unendedFile, nrepl.Result{
			Values: []string{"#'contract.bad/ok"}, Ns: "contract.bad", Status: status("done"),
		}),
	},

	{
		contract: "an unknown namespace", server: fakes.Babashka, how: `an exception, ex is "class "`,
		check: evaluates(nrepl.Request{Code: "1", Ns: "no.such.namespace"}, nrepl.Result{
			Err: nrepl.Output{Text: ": No namespace: no.such.namespace found user \n"},
			Ex:  "class ", RootEx: "class ", Status: status("done", "eval-error"), Failed: true,
		}),
	},
	{
		contract: "an unknown namespace", server: fakes.NBB, how: "ignored",
		check: evaluates(nrepl.Request{Code: "1", Ns: "no.such.namespace"}, nrepl.Result{Values: []string{"1"}, Ns: "user", Status: status("done")}),
	},
	{
		contract: "an unknown namespace", server: fakes.LetGo, how: "ignored",
		check: evaluates(nrepl.Request{Code: "1", Ns: "no.such.namespace"}, nrepl.Result{Values: []string{"1"}, Ns: "user", Status: status("done")}),
	},

	{
		contract: "an unknown op", server: fakes.Babashka, how: "[error unknown-op done], the op is not named, session none",
		check: refusesOp("d2:id1:77:session4:none6:statusl5:error10:unknown-op4:doneee"),
	},
	{
		contract: "an unknown op", server: fakes.NBB, how: "[error unknown-op done], the op is not named, no session",
		check: refusesOp("d2:id1:76:statusl5:error10:unknown-op4:doneee"),
	},
	{
		contract: "an unknown op", server: fakes.LetGo, how: "[done error unknown-op], the op is not named, session is empty",
		check: refusesOp("d2:id1:77:session0:6:statusl4:done5:error10:unknown-opee"),
	},

	{
		contract: "code that reads input finds its end", server: fakes.JVM1_7, how: "read-line throws at the end of its input",
		script: func(f *fakes.NREPL) {
			f.On("(read-line)").NeedInput().Thrown("Execution error (ClassCastException) at nrepl.in.QueuePollingReader/read (QueuePollingReader.java:35).\n",
				castException, castException)
		},
		check: evaluates(nrepl.Request{Code: "(read-line)"}, nrepl.Result{
			Err: nrepl.Output{Text: "Execution error (ClassCastException) at nrepl.in.QueuePollingReader/read (QueuePollingReader.java:35).\n"},
			Ex:  castException, RootEx: castException, Status: status("done", "eval-error", "need-input"), Failed: true,
		}),
	},
	{
		contract: "code that reads input finds its end", server: fakes.Babashka, how: "throws, never asks",
		script: func(f *fakes.NREPL) { f.On("(read-line)").Thrown(babashkaReading, castException, castException) },
		check: evaluates(nrepl.Request{Code: "(read-line)"}, nrepl.Result{
			Err: nrepl.Output{Text: babashkaReading}, Ex: castException, RootEx: castException,
			Status: status("done", "eval-error"), Failed: true,
		}),
	},
	{
		contract: "code that reads input finds its end", server: fakes.NBB, how: "there is no read-line",
		script: thrownByNBB("(read-line)", "read-line"),
		check: evaluates(nrepl.Request{Code: "(read-line)"}, nrepl.Result{
			Err: nrepl.Output{Text: "Unable to resolve symbol: read-line\n"}, Ex: fmt.Sprintf(nbbUnresolved, "read-line"),
			Ns: "user", Status: status("done"), Failed: true,
		}),
	},
	{
		contract: "code that reads input finds its end", server: fakes.LetGo, how: "read-line wants an argument; never asks",
		script: func(f *fakes.NREPL) { f.On("(read-line)").Exception(letGoError, "read-line expects 1 arg") },
		check: evaluates(nrepl.Request{Code: "(read-line)"}, nrepl.Result{
			Err: nrepl.Output{Text: "\x1b[1;31merror:\x1b[0m read-line expects 1 arg\n\n"}, Ex: letGoError, RootEx: letGoError,
			Status: status("done"), Failed: true,
		}),
	},

	{contract: "code that reads input is given it", server: fakes.Babashka, how: "throws, never asks"},
	{contract: "code that reads input is given it", server: fakes.NBB, how: "there is no read-line"},
	{contract: "code that reads input is given it", server: fakes.LetGo, how: "never asks"},
	{contract: "a file that reads input is given it", server: fakes.Babashka, how: "throws, never asks"},
	{contract: "a file that reads input is given it", server: fakes.NBB, how: "there is no read-line"},
	{contract: "a file that reads input is given it", server: fakes.LetGo, how: "never asks"},

	{contract: "a value is cut at its quota", server: fakes.Babashka, how: "no quota", script: printsAll, check: ignoresQuota},
	{contract: "a value is cut at its quota", server: fakes.NBB, how: "no quota", script: printsAll, check: ignoresQuota},
	{contract: "a value is cut at its quota", server: fakes.LetGo, how: "no quota", script: printsAll, check: ignoresQuota},

	{contract: "an interrupted loop leaves the session usable", server: fakes.Babashka, how: "no interrupt"},
	{contract: "an interrupted loop leaves the session usable", server: fakes.NBB, how: "no interrupt"},
	{contract: "an interrupted loop leaves the session usable", server: fakes.LetGo, how: "no interrupt"},

	{
		contract: "a loop ends with its context, and the server stays", server: fakes.Babashka, how: "goes on; other connections are served",
		script: func(f *fakes.NREPL) {
			f.On(endless).Out("started\n").Hang()
			f.On("(+ 1 1)").Value("2")
		},
		check: outlives("started\n", true),
	},
	{
		contract: "a loop ends with its context, and the server stays", server: fakes.NBB, how: "goes on and blocks the whole server for good",
		script: func(f *fakes.NREPL) { f.On(endless).Out("started\n").Hang() },
		check:  outlives("started\n", false),
	},
	{
		contract: "a loop ends with its context, and the server stays", server: fakes.LetGo, how: "goes on, its output never comes; other connections are served",
		check: outlives("", true),
	},

	{contract: "no session is left behind", server: fakes.NBB, how: "no ls-sessions"},

	{
		contract: "the server is killed during an evaluation", server: fakes.LetGo, how: "what was printed is lost with it",
		check: checkKilledSilently,
	},

	{
		contract: "output after the end is not the next evaluation's", server: fakes.Babashka, how: "there is no future",
	},
	{
		contract: "output after the end is not the next evaluation's", server: fakes.NBB, how: "there is no future",
	},
	{
		contract: "output after the end is not the next evaluation's", server: fakes.LetGo, how: "not recorded: there is no Thread/sleep",
	},
}

const (
	loadedFile      = "(ns contract.ok)\n(println \"loading\")\n:last\n"
	unendedFile     = "(ns contract.bad)\n(defn ok [] 1)\n(defn f [x]\n  (inc x)\n"
	babashkaUnended = "clojure.lang.ExceptionInfo: EOF while reading, expected ) to match ( at [3,1] user /project/src/bad.clj:5:1\n"
)

// contractOf returns the cases as this server keeps them, without those that do not apply to it.
func contractOf(t *testing.T, server fakes.Preset) []contractCase {
	t.Helper()
	var cases []contractCase
	for _, c := range contract {
		i := slices.IndexFunc(differences, func(d difference) bool { return d.contract == c.name && d.server == server })
		if i >= 0 {
			d := differences[i]
			if d.check == nil {
				continue
			}
			c.check = d.check
			if d.script != nil {
				c.script = d.script
			}
		}
		cases = append(cases, c)
	}
	return cases
}

func printsAll(f *fakes.NREPL) { f.On("(range 1000)").Value("(0 1 2 3 4 5 6 7)") }

func ignoresQuota(ctx context.Context, t *testing.T, server *replServer) {
	got, err := session(ctx, t, server).Eval(ctx, nrepl.Request{Code: "(range 1000)", PrintQuota: 12}, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, nrepl.Result{Values: []string{"(0 1 2 3 4 5 6 7)"}, Ns: "user", Status: status("done")})
}

func thrownByNBB(code, symbol string) fakeScript {
	return func(f *fakes.NREPL) {
		f.On(code).Thrown("Unable to resolve symbol: "+symbol+"\n", fmt.Sprintf(nbbUnresolved, symbol), "")
	}
}

func describes(versions []string, more ...string) contractCheck {
	return func(ctx context.Context, t *testing.T, server *replServer) {
		about, err := connect(ctx, t, server).Describe(ctx)
		assert.NilError(t, err)
		for _, name := range versions {
			_, named := about.Versions[name]
			assert.Assert(t, named, "%s: %v", name, about.Versions)
		}
		assert.Equal(t, len(about.Versions), len(versions))
		for _, op := range []string{"clone", "close", "describe", "eval", "load-file", "interrupt", "stdin", "ls-sessions"} {
			common := !slices.Contains([]string{"interrupt", "stdin", "ls-sessions"}, op)
			assert.Equal(t, about.Has(op), common || slices.Contains(more, op), op)
		}
	}
}

func printsAsOut(want []string) contractCheck {
	return func(ctx context.Context, t *testing.T, server *replServer) {
		var events []string
		got, err := session(ctx, t, server).Eval(ctx, nrepl.Request{Code: streaming}, func(m nrepl.Message) {
			for _, key := range []string{"out", "err", "value"} {
				if text := m.Text(key); text != "" {
					events = append(events, key+" "+text)
				}
			}
		})
		assert.NilError(t, err)
		assert.DeepEqual(t, events, want)
		assert.DeepEqual(t, got, nrepl.Result{
			Values: []string{":ok"}, Out: nrepl.Output{Text: "a\nb\nc\n"}, Ns: "user", Status: status("done"),
		})
	}
}

func refusesOp(want string) contractCheck {
	return func(ctx context.Context, t *testing.T, server *replServer) {
		assert.Equal(t, askUnknownOp(ctx, t, server, len(want)), want)
	}
}

// outlives is a loop that nothing stops: the client gives up, and says that the code may still run.
func outlives(printed string, othersServed bool) contractCheck {
	return func(ctx context.Context, t *testing.T, server *replServer) {
		short, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		got, err := session(ctx, t, server).Eval(short, nrepl.Request{Code: endless}, nil)
		timeout, ok := errors.AsType[*nrepl.TimeoutError](err)
		assert.Assert(t, ok && !timeout.Stopped, "%v", err)
		assert.DeepEqual(t, got, nrepl.Result{Out: nrepl.Output{Text: printed}, Status: status()})

		soon, cancelSoon := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancelSoon()
		if !othersServed {
			_, err = nrepl.Connect(soon, nrepl.Lookup{Host: server.Host, Port: server.Port})
			assert.ErrorContains(t, err, "accepted the connection but did not answer")
			return
		}
		got, err = session(ctx, t, server).Eval(ctx, nrepl.Request{Code: "(+ 1 1)"}, nil)
		assert.NilError(t, err)
		assert.DeepEqual(t, got.Values, []string{"2"})
	}
}

func checkKilledSilently(ctx context.Context, t *testing.T, server *replServer) {
	s := session(ctx, t, server)
	time.AfterFunc(200*time.Millisecond, server.Kill)
	got, err := s.Eval(ctx, nrepl.Request{Code: sleeping}, nil)
	assert.ErrorIs(t, err, nrepl.ErrClosed)
	assert.DeepEqual(t, got, nrepl.Result{Status: status()})
}

// TestDifferencesNameCases pins that the table is about cases that exist, once each.
func TestDifferencesNameCases(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range differences {
		key := d.contract + ", " + string(d.server)
		assert.Check(t, slices.ContainsFunc(contract, func(c contractCase) bool { return c.name == d.contract }), key)
		assert.Check(t, slices.Contains(fakes.Presets(), d.server) && d.server != fakes.JVM1_0, key)
		assert.Check(t, !seen[key] && d.how != "", key)
		seen[key] = true
	}
}

// TestServersPageHasTheDifferences pins that docs/nrepl-servers.md has the table above.
func TestServersPageHasTheDifferences(t *testing.T) {
	const page = "../docs/nrepl-servers.md"
	const begin, end = "<!-- differences: from integration/contract_presets_test.go -->\n", "<!-- end of differences -->\n"
	data, err := os.ReadFile(page)
	assert.NilError(t, err)
	before, rest, found := strings.Cut(string(data), begin)
	assert.Assert(t, found, "%s has no %q", page, begin)
	table, after, found := strings.Cut(rest, end)
	assert.Assert(t, found, "%s has no %q", page, end)
	want := differenceTable()
	if os.Getenv("UPDATE_DOCS") != "" && table != want {
		assert.NilError(t, os.WriteFile(page, []byte(before+begin+want+end+after), 0o600))
		return
	}
	assert.Equal(t, table, want, "write it again with UPDATE_DOCS=1 go test ./integration -run TestServersPage")
}

func differenceTable() string {
	var b strings.Builder
	b.WriteString("| where nREPL 1.0.0 has … | 1.7 | babashka | nbb | let-go |\n|---|---|---|---|---|\n")
	for _, c := range contract {
		row, differs := "| "+c.name+" |", false
		for _, server := range fakes.Presets()[1:] {
			i := slices.IndexFunc(differences, func(d difference) bool { return d.contract == c.name && d.server == server })
			if i < 0 {
				row += " the same |"
				continue
			}
			differs = true
			row += " " + strings.ReplaceAll(differences[i].how, "|", `\|`) + " |"
		}
		if differs {
			b.WriteString(row + "\n")
		}
	}
	return b.String()
}
