//go:build unix

package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// The contract between our client and an nREPL server. Every case runs against the scripted fake and against real
// servers with the same expectations, so the fake cannot drift from what it stands for, and the client cannot come to
// depend on the fake.

// replKind is one kind of server that keeps the contract.
type replKind struct {
	name   string
	shared func(*testing.T) *replServer
	fresh  func(*testing.T) *replServer // for a case that kills it
}

// contractCase is one thing that client and server agree on.
type contractCase struct {
	name string
	// script tells the fake what a real server does by itself.
	script func(*fakes.NREPL)
	// kills says that the case ends the server.
	kills bool
	check func(ctx context.Context, t *testing.T, server *replServer)
}

// contractLimit is for one case on a busy machine.
const contractLimit = 5 * time.Minute

func TestContract(t *testing.T) {
	kinds := append([]replKind{{name: "jvm", shared: jvmREPL, fresh: freshJVM}}, dockerKinds...)
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			kind.shared(t) // missing: skipped or failed once, not once a case
			for _, c := range contract {
				t.Run(c.name, func(t *testing.T) {
					get := kind.shared
					if c.kills {
						get = kind.fresh
					}
					runContractCase(t, c, get(t))
				})
			}
		})
	}
}

// The fakes mostly wait, so they do it together.
func TestContractOfFakes(t *testing.T) {
	t.Parallel()
	t.Run("fake", func(t *testing.T) {
		t.Parallel()
		runFakeContract(t, contract)
	})
	for _, preset := range fakes.Presets() {
		t.Run("fake-"+string(preset), func(t *testing.T) {
			t.Parallel()
			runFakeContract(t, contractOf(t, preset), fakes.NREPLPreset(preset))
		})
	}
}

func runFakeContract(t *testing.T, cases []contractCase, opts ...fakes.NREPLOption) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fake := fakes.NewNREPL(t, opts...)
			if c.script != nil {
				c.script(fake)
			}
			runContractCase(t, c, &replServer{Host: fake.Host(), Port: fake.Port(), Kill: fake.Close})
		})
	}
}

func runContractCase(t *testing.T, c contractCase, server *replServer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), contractLimit)
	defer cancel()
	c.check(ctx, t, server)
}

var contract = []contractCase{
	{
		name: "clone gives sessions of their own",
		check: func(ctx context.Context, t *testing.T, server *replServer) {
			conn := connect(ctx, t, server)
			first, err := conn.Clone(ctx)
			assert.NilError(t, err)
			second, err := conn.Clone(ctx)
			assert.NilError(t, err)
			assert.Assert(t, first.ID() != "" && first.ID() != second.ID(), "%q, %q", first.ID(), second.ID())
		},
	},
	{
		name: "describe names versions and ops",
		check: func(ctx context.Context, t *testing.T, server *replServer) {
			about, err := connect(ctx, t, server).Describe(ctx)
			assert.NilError(t, err)
			for _, name := range []string{"clojure", "nrepl"} {
				assert.Assert(t, strings.HasPrefix(about.Versions[name], "1."), "%s: %v", name, about.Versions)
			}
			for _, op := range []string{"clone", "close", "describe", "eval", "interrupt", "load-file", "ls-sessions", "stdin"} {
				assert.Assert(t, about.Has(op), "no op %s in %v", op, about.Ops)
			}
			assert.Assert(t, !about.Has("no-such-op"))
		},
	},
	{
		name:   "a value",
		script: func(f *fakes.NREPL) { f.On("(+ 1 2)").Value("3") },
		check: evaluates(nrepl.Request{Code: "(+ 1 2)"}, nrepl.Result{
			Values: []string{"3"}, Ns: "user", Status: status("done"),
		}),
	},
	{
		name:   "a value for each form",
		script: func(f *fakes.NREPL) { f.On(`1 :two "three"`).Value("1", ":two", `"three"`) },
		check: evaluates(nrepl.Request{Code: `1 :two "three"`}, nrepl.Result{
			Values: []string{"1", ":two", `"three"`}, Ns: "user", Status: status("done"),
		}),
	},
	{
		name:   "no form, no value",
		script: func(f *fakes.NREPL) { f.On("; nothing") },
		check:  evaluates(nrepl.Request{Code: "; nothing"}, nrepl.Result{Status: status("done")}),
	},
	{
		name:   "evaluates in the namespace asked for",
		script: func(f *fakes.NREPL) { f.On("(str *ns*)").Value(`"clojure.string"`) },
		check: evaluates(nrepl.Request{Code: "(str *ns*)", Ns: "clojure.string"}, nrepl.Result{
			Values: []string{`"clojure.string"`}, Ns: "clojure.string", Status: status("done"),
		}),
	},
	{
		name: "output arrives while the code runs, in its order",
		script: func(f *fakes.NREPL) {
			f.On(streaming).AnyTimes().Out("a\n").Delay(300 * time.Millisecond).Err("b\n").Delay(300 * time.Millisecond).Out("c\n").Value(":ok")
		},
		check: checkStreaming,
	},
	{
		name: "an exception in form 2 of 3",
		script: func(f *fakes.NREPL) {
			f.On("1 (/ 1 0) 3").Value("1").Exception("java.lang.ArithmeticException", "Divide by zero").Value("3")
		},
		check: checkMiddleException,
	},
	{
		name: "an error has the position that was asked for",
		script: func(f *fakes.NREPL) {
			f.On("(inc no-such-symbol)").Thrown(
				"Syntax error compiling at (/project/src/a.clj:42:7).\nUnable to resolve symbol: no-such-symbol in this context\n",
				compilerException, compilerException)
		},
		check: evaluates(nrepl.Request{Code: "(inc no-such-symbol)", File: "/project/src/a.clj", Line: 42, Column: 7}, nrepl.Result{
			Err: nrepl.Output{Text: "Syntax error compiling at (/project/src/a.clj:42:7).\nUnable to resolve symbol: no-such-symbol in this context\n"},
			Ex:  compilerException, RootEx: compilerException, Status: status("done", "eval-error"), Failed: true,
		}),
	},
	{
		name:   "load-file gives the last value",
		script: func(f *fakes.NREPL) { f.OnLoadFile("/project/src/ok.clj").Out("loading\n").Value(":last") },
		check: loads("/project/src/ok.clj", "(ns contract.ok)\n(println \"loading\")\n:last\n", nrepl.Result{
			Values: []string{":last"}, Out: nrepl.Output{Text: "loading\n"}, Status: status("done"),
		}),
	},
	{
		name: "load-file tells where a file does not end",
		script: func(f *fakes.NREPL) {
			f.OnLoadFile("/project/src/bad.clj").ReadError(
				"Syntax error reading source at (/project/src/bad.clj:5:1).\nEOF while reading, starting at line 3\n",
				compilerException, compilerException)
		},
		check: loads("/project/src/bad.clj", "(ns contract.bad)\n(defn ok [] 1)\n(defn f [x]\n  (inc x)\n", nrepl.Result{
			Err: nrepl.Output{Text: "Syntax error reading source at (/project/src/bad.clj:5:1).\nEOF while reading, starting at line 3\n"},
			Ex:  compilerException, RootEx: compilerException, Status: status("done", "eval-error"), Failed: true,
		}),
	},
	{
		name:   "an unknown namespace",
		script: func(f *fakes.NREPL) { f.On("1").NoSuchNs().Value("1") },
		check: evaluates(nrepl.Request{Code: "1", Ns: "no.such.namespace"}, nrepl.Result{
			Ns: "no.such.namespace", Status: status("done", "error", "namespace-not-found"), Failed: true,
		}),
	},
	{
		name:  "an unknown op",
		check: checkUnknownOp,
	},
	{
		name:   "code that reads input finds its end",
		script: func(f *fakes.NREPL) { f.On("(read-line)").NeedInput().Value("nil") },
		check: evaluates(nrepl.Request{Code: "(read-line)"}, nrepl.Result{
			Values: []string{"nil"}, Ns: "user", Status: status("done", "need-input"),
		}),
	},
	{
		name:   "code that reads input is given it",
		script: func(f *fakes.NREPL) { f.On("(read-line)").NeedInput().Value(`"λ, Ada"`) },
		check: evaluates(nrepl.Request{Code: "(read-line)", Input: adaThenEnd}, nrepl.Result{
			Values: []string{`"λ, Ada"`}, Ns: "user", Status: status("done", "need-input"),
		}),
	},
	{
		name: "a file that reads input is given it",
		script: func(f *fakes.NREPL) {
			f.OnLoadFile("/project/src/ask.clj").NeedInput().Value(`"λ, Ada"`)
		},
		check: func(ctx context.Context, t *testing.T, server *replServer) {
			got, err := session(ctx, t, server).LoadFile(ctx, nrepl.LoadRequest{
				Path: "/project/src/ask.clj", Name: "ask.clj", Content: "(read-line)", Input: adaThenEnd,
			}, nil)
			assert.NilError(t, err)
			assert.DeepEqual(t, got, nrepl.Result{Values: []string{`"λ, Ada"`}, Status: status("done", "need-input")})
		},
	},
	{
		name: "a value is cut at its quota",
		script: func(f *fakes.NREPL) {
			f.On("(range 1000)").Message(fakes.Message{
				"value": "(0 1 2 3 4 5", "ns": "user", "status": []string{"nrepl.middleware.print/truncated"},
				"nrepl.middleware.print/truncated-keys": []string{"value"},
			})
		},
		check: evaluates(nrepl.Request{Code: "(range 1000)", PrintQuota: len("(0 1 2 3 4 5")}, nrepl.Result{
			Values: []string{"(0 1 2 3 4 5"}, Ns: "user", Status: status("done", "nrepl.middleware.print/truncated"),
		}),
	},
	{
		name:   "a message as it is, and all of its answer",
		script: func(f *fakes.NREPL) { f.On("(+ 1 2)").Value("3") },
		check:  checkRaw,
	},
	{
		name: "an interrupted loop leaves the session usable",
		script: func(f *fakes.NREPL) {
			f.On(endless).Out("started\n").Hang()
			f.On("(+ 1 1)").Value("2")
		},
		check: checkInterrupt,
	},
	{
		name: "a loop ends with its context, and the server stays",
		script: func(f *fakes.NREPL) {
			f.On(endless).Out("started\n").Hang()
			f.On("(+ 1 1)").Value("2")
		},
		check: checkTimeout,
	},
	{
		name:   "a print of 1 MB",
		script: func(f *fakes.NREPL) { f.On(printMegabyte).Out(strings.Repeat("x", megabyte)).Value("nil") },
		check:  checkMegabytePrinted,
	},
	{
		name:   "a value of 1 MB",
		script: func(f *fakes.NREPL) { f.On(valueMegabyte).Value(`"` + strings.Repeat("y", megabyte) + `"`) },
		check: func(ctx context.Context, t *testing.T, server *replServer) {
			result, err := session(ctx, t, server).Eval(ctx, nrepl.Request{Code: valueMegabyte}, nil)
			assert.NilError(t, err)
			assert.Equal(t, len(result.Values), 1)
			// The quote at its end is over the limit.
			assert.Assert(t, result.Values[0] == `"`+strings.Repeat("y", megabyte-1), "%d bytes", len(result.Values[0]))
			assert.Equal(t, result.ValuesDropped, 1)
		},
	},
	{
		name:   "code of 300 KB",
		script: func(f *fakes.NREPL) { f.OnContains("(count ").Value("300000") },
		check: evaluates(nrepl.Request{Code: `(count (str ` + strings.Repeat(`"`+strings.Repeat("z", 30_000)+`" `, 10) + `))`}, nrepl.Result{
			Values: []string{"300000"}, Ns: "user", Status: status("done"),
		}),
	},
	{
		name:   "text of all planes, both ways",
		script: func(f *fakes.NREPL) { f.On(unicode).Out("λ → 日本 😀\n").Value("[\"λ → 日本 😀\" 9]") },
		check: evaluates(nrepl.Request{Code: unicode}, nrepl.Result{
			Values: []string{"[\"λ → 日本 😀\" 9]"}, Out: nrepl.Output{Text: "λ → 日本 😀\n"}, Ns: "user", Status: status("done"),
		}),
	},
	{
		name:   "no session is left behind",
		script: func(f *fakes.NREPL) { f.On(":work").Value(":work") },
		check:  checkSessions,
	},
	{
		name:   "the server is killed during an evaluation",
		script: func(f *fakes.NREPL) { f.On(sleeping).Out("started\n").Delay(time.Minute) },
		kills:  true,
		check:  checkKilled,
	},
	{
		name: "output after the end is not the next evaluation's",
		script: func(f *fakes.NREPL) {
			f.On(asynchronous).Value(":ret").Async(200*time.Millisecond, "late\n")
			f.On("(Thread/sleep 600)").Delay(600 * time.Millisecond).Value("nil")
		},
		check: checkAsync,
	},
}

const (
	compilerException = "class clojure.lang.Compiler$CompilerException"
	megabyte          = 1 << 20

	streaming = `(do (println "a") (Thread/sleep 300) (binding [*out* *err*] (println "b")) (Thread/sleep 300) (println "c") :ok)`
	endless   = `(do (println "started") (loop [i 0] (recur (inc i))))`
	sleeping  = `(do (println "started") (Thread/sleep 60000))`
	// A future keeps the *out* of the evaluation that made it.
	asynchronous  = `(do (future (Thread/sleep 200) (println "late")) :ret)`
	printMegabyte = `(print (apply str (repeat 1048576 \x)))`
	valueMegabyte = `(apply str (repeat 1048576 \y))`
	// The last character takes two UTF-16 units: 9 in all.
	unicode = `(do (println "λ → 日本 😀") ["λ → 日本 😀" (count "λ → 日本 😀")])`
)

func connect(ctx context.Context, t *testing.T, server *replServer) *nrepl.Conn {
	t.Helper()
	conn, err := nrepl.Connect(ctx, nrepl.Lookup{Host: server.Host, Port: server.Port})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = conn.Close() }) // the case may have lost the connection on purpose
	return conn
}

func session(ctx context.Context, t *testing.T, server *replServer) *nrepl.Session {
	t.Helper()
	s, err := connect(ctx, t, server).Clone(ctx)
	assert.NilError(t, err)
	return s
}

func status(words ...string) nrepl.Status {
	set := nrepl.Status{}
	for _, word := range words {
		set[word] = true
	}
	return set
}

func evaluates(request nrepl.Request, want nrepl.Result) func(context.Context, *testing.T, *replServer) {
	return func(ctx context.Context, t *testing.T, server *replServer) {
		got, err := session(ctx, t, server).Eval(ctx, request, nil)
		assert.NilError(t, err)
		assert.DeepEqual(t, got, want)
	}
}

func loads(path, content string, want nrepl.Result) func(context.Context, *testing.T, *replServer) {
	return func(ctx context.Context, t *testing.T, server *replServer) {
		got, err := session(ctx, t, server).LoadFile(ctx, nrepl.LoadRequest{
			Path: path, Name: path[strings.LastIndexByte(path, '/')+1:], Content: content,
		}, nil)
		assert.NilError(t, err)
		assert.DeepEqual(t, got, want)
	}
}

// adaThenEnd is an nrepl.Input.
func adaThenEnd(context.Context) (string, error) { return "λ, Ada\n", nil }

func checkRaw(ctx context.Context, t *testing.T, server *replServer) {
	conn := connect(ctx, t, server)
	answer := func(m nrepl.Message) (values []string, status string) {
		set := nrepl.Status{}
		assert.NilError(t, conn.Raw(ctx, m, func(m nrepl.Message) {
			assert.Equal(t, fmt.Sprint(m["id"]), "mine")
			if value := m.Text("value"); value != "" {
				values = append(values, value)
			}
			for word := range m.Status() {
				set[word] = true
			}
		}))
		return values, set.String()
	}
	values, status := answer(nrepl.Message{"op": "eval", "code": "(+ 1 2)", "id": "mine"})
	assert.DeepEqual(t, values, []string{"3"})
	assert.Equal(t, status, "done")
	_, status = answer(nrepl.Message{"op": "no-such-op", "id": "mine"})
	assert.Equal(t, status, "done error unknown-op")
}

func checkStreaming(ctx context.Context, t *testing.T, server *replServer) {
	// Two sleeps of 300 ms lie between the first message and the end; a busy machine may see the first one late.
	var before time.Duration
	for try := 0; try < 5 && before <= 400*time.Millisecond; try++ {
		before = streamsFor(ctx, t, server)
	}
	assert.Assert(t, before > 400*time.Millisecond, "the output came all at once, %v before the end", before)
}

// streamsFor is the time from the first message to the end.
func streamsFor(ctx context.Context, t *testing.T, server *replServer) time.Duration {
	t.Helper()
	var events []string
	var first time.Time
	got, err := session(ctx, t, server).Eval(ctx, nrepl.Request{Code: streaming}, func(m nrepl.Message) {
		for _, key := range []string{"out", "err", "value"} {
			if text := m.Text(key); text != "" {
				events = append(events, key+" "+text)
			}
		}
		if first.IsZero() {
			first = time.Now()
		}
	})
	took := time.Since(first)
	assert.NilError(t, err)
	assert.DeepEqual(t, events, []string{"out a\n", "err b\n", "out c\n", "value :ok"})
	assert.DeepEqual(t, got, nrepl.Result{
		Values: []string{":ok"}, Out: nrepl.Output{Text: "a\nc\n"}, Err: nrepl.Output{Text: "b\n"}, Ns: "user", Status: status("done"),
	})
	return took
}

// The JVM goes on with form 3 after form 2 has failed, and the whole counts as failed.
func checkMiddleException(ctx context.Context, t *testing.T, server *replServer) {
	got, err := session(ctx, t, server).Eval(ctx, nrepl.Request{Code: "1 (/ 1 0) 3"}, nil)
	assert.NilError(t, err)
	// The number of the generated class differs: "… at user/eval2374 (REPL:1).".
	assert.Assert(t, strings.HasPrefix(got.Err.Text, "Execution error (ArithmeticException) at user/eval"), got.Err.Text)
	assert.Assert(t, strings.HasSuffix(got.Err.Text, " (REPL:1).\nDivide by zero\n"), got.Err.Text)
	got.Err = nrepl.Output{}
	assert.DeepEqual(t, got, nrepl.Result{
		Values: []string{"1", "3"}, Ex: "class java.lang.ArithmeticException", RootEx: "class java.lang.ArithmeticException",
		Ns: "user", Status: status("done", "eval-error"), Failed: true,
	})
}

func checkUnknownOp(ctx context.Context, t *testing.T, server *replServer) {
	const head, tail = "d2:id1:72:op10:no-such-op7:session36:", "6:statusl4:done10:unknown-op5:erroree"
	answer := askUnknownOp(ctx, t, server, len(head)+36+len(tail))
	assert.Assert(t, strings.HasPrefix(answer, head) && strings.HasSuffix(answer, tail), "%q", answer)
}

// askUnknownOp writes the message itself: the client has no way to ask for an op that does not exist. It returns the
// first size bytes of the answer.
func askUnknownOp(ctx context.Context, t *testing.T, server *replServer, size int) string {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(server.Host, strconv.Itoa(server.Port)))
	assert.NilError(t, err)
	defer func() { _ = conn.Close() }()
	deadline, _ := ctx.Deadline()
	assert.NilError(t, conn.SetDeadline(deadline))
	_, err = conn.Write([]byte("d2:id1:72:op10:no-such-ope"))
	assert.NilError(t, err)
	answer := make([]byte, size)
	n, err := io.ReadFull(conn, answer)
	assert.NilError(t, err, "after %q", answer[:n])
	return string(answer)
}

func checkInterrupt(ctx context.Context, t *testing.T, server *replServer) {
	s := session(ctx, t, server)
	got, err := s.Eval(ctx, nrepl.Request{Code: endless}, func(m nrepl.Message) {
		if m.Text("out") != "" {
			assert.Check(t, s.Interrupt())
		}
	})
	assert.NilError(t, err)
	assert.DeepEqual(t, got, nrepl.Result{
		Out: nrepl.Output{Text: "started\n"}, Status: status("done", "interrupted"), Failed: true, Interrupted: true,
	})

	got, err = s.Eval(ctx, nrepl.Request{Code: "(+ 1 1)"}, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, nrepl.Result{Values: []string{"2"}, Ns: "user", Status: status("done")})
}

func checkTimeout(ctx context.Context, t *testing.T, server *replServer) {
	var got nrepl.Result
	var err error
	for limit := time.Second; got.Out.Text == "" && limit < contractLimit/2; limit *= 2 { // more for a server that is too slow to begin
		short, cancel := context.WithTimeout(ctx, limit)
		got, err = session(ctx, t, server).Eval(short, nrepl.Request{Code: endless}, nil)
		cancel()
	}
	assert.ErrorIs(t, err, nrepl.ErrTimeout)
	timeout, ok := errors.AsType[*nrepl.TimeoutError](err)
	assert.Assert(t, ok && timeout.Stopped, "the server did not confirm: %v", err)
	assert.DeepEqual(t, got, nrepl.Result{
		Out: nrepl.Output{Text: "started\n"}, Status: status("done", "interrupted"), Failed: true, Interrupted: true,
	})

	got, err = session(ctx, t, server).Eval(ctx, nrepl.Request{Code: "(+ 1 1)"}, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, got.Values, []string{"2"})
}

func checkMegabytePrinted(ctx context.Context, t *testing.T, server *replServer) {
	streamed := 0
	got, err := session(ctx, t, server).Eval(ctx, nrepl.Request{Code: printMegabyte}, func(m nrepl.Message) {
		streamed += strings.Count(m.Text("out"), "x")
	})
	assert.NilError(t, err)
	assert.Equal(t, streamed, megabyte)
	const kept = 256 << 10
	assert.Assert(t, got.Out.Text == strings.Repeat("x", kept), "%d bytes", len(got.Out.Text))
	assert.Equal(t, got.Out.Dropped, int64(megabyte-kept))
	assert.DeepEqual(t, got.Values, []string{"nil"})
}

func checkSessions(ctx context.Context, t *testing.T, server *replServer) {
	watch := connect(ctx, t, server)
	before, err := watch.LsSessions(ctx)
	assert.NilError(t, err)

	worker, err := nrepl.Connect(ctx, nrepl.Lookup{Host: server.Host, Port: server.Port})
	assert.NilError(t, err)
	s, err := worker.Clone(ctx)
	assert.NilError(t, err)
	_, err = s.Eval(ctx, nrepl.Request{Code: ":work"}, nil)
	assert.NilError(t, err)
	during, err := watch.LsSessions(ctx)
	assert.NilError(t, err)
	assert.Assert(t, cmp.Contains(during, s.ID()))
	assert.NilError(t, worker.Close())

	// The farewell is not awaited, and nREPL 1.0 takes 100 ms for it. Sessions of earlier cases may go meanwhile.
	for {
		after, err := watch.LsSessions(ctx)
		assert.NilError(t, err) // the context's end too
		more := slices.DeleteFunc(after, func(id string) bool { return slices.Contains(before, id) })
		if len(more) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func checkKilled(ctx context.Context, t *testing.T, server *replServer) {
	s := session(ctx, t, server)
	out := ""
	got, err := s.Eval(ctx, nrepl.Request{Code: sleeping}, func(m nrepl.Message) {
		out += m.Text("out")
		if strings.HasSuffix(out, "\n") { // some servers send the end of a line by itself
			server.Kill()
		}
	})
	assert.ErrorIs(t, err, nrepl.ErrClosed)
	assert.DeepEqual(t, got, nrepl.Result{Out: nrepl.Output{Text: "started\n"}, Status: status()})

	_, err = nrepl.Connect(ctx, nrepl.Lookup{Host: server.Host, Port: server.Port})
	assert.ErrorIs(t, err, nrepl.ErrNoServer)
}

func checkAsync(ctx context.Context, t *testing.T, server *replServer) {
	s := session(ctx, t, server)
	got, err := s.Eval(ctx, nrepl.Request{Code: asynchronous}, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, nrepl.Result{Values: []string{":ret"}, Ns: "user", Status: status("done")})

	got, err = s.Eval(ctx, nrepl.Request{Code: "(Thread/sleep 600)"}, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, nrepl.Result{Values: []string{"nil"}, Ns: "user", Status: status("done")})
}
