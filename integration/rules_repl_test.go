//go:build unix

package integration

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// oneEval is a world whose only hook evaluates 1 and must find a server.
func oneEval(t *testing.T) *world {
	t.Helper()
	return newWorld(t, hooksEDN(eval("repl", "1", ":required? true")))
}

// answering is a server that answers 1; it stands nowhere yet.
func (w *world) answering(name string, options ...fakes.NREPLOption) *fakes.NREPL {
	w.t.Helper()
	server := fakes.NewNREPL(w.t, options...)
	server.On("1").Value("1")
	w.rules = append(w.rules, port(server.Port(), name))
	return server
}

// noServer expects the required hook of oneEval to find no server.
func (w *world) noServer(tried string, args ...string) {
	w.t.Helper()
	stderr, agent := pausing(
		"Hook 'repl' requires nREPL but none available. Please start REPL and retry.",
		"What was tried: "+tried,
		"Pause and tell the user.",
	)
	w.stop(args...).is(1, tellBoth("brepl: 'repl' requires nREPL but none is available", agent), stderr)
}

// evalFails expects one hook, evaluating code, to fail.
func (w *world) evalFails(why string, output ...string) {
	w.t.Helper()
	text := []string{"Hook 'run-tests' failed: " + why}
	if len(output) > 0 {
		text = append(text, outputOf("run-tests"))
	}
	for _, line := range output {
		text = append(text, "| "+line)
	}
	stderr, agent := reported(text...)
	w.stop().is(1, tellBoth("brepl: 'run-tests' failed: "+why, agent), stderr)
}

var replRules = []ruleTest{
	{title: "--port wins over .nrepl-port and BREPL_PORT", run: func(t *testing.T) {
		w := oneEval(t)
		server := w.answering("$$FLAG")
		w.project.Write(".nrepl-port", strconv.Itoa(w.stalePort()))
		w.env = append(w.env, "BREPL_PORT="+strconv.Itoa(w.stalePort()))
		w.stop("--port", strconv.Itoa(server.Port())).is(0, approve, "")
	}},
	{title: "--port never falls through", run: func(t *testing.T) {
		w := oneEval(t)
		server := fakes.NewNREPL(t)
		server.WritePortFile(w.project.Dir())
		w.env = append(w.env, "BREPL_PORT="+strconv.Itoa(server.Port()))
		w.noServer("no nREPL server: 127.0.0.1:$STALE from --port: connection refused; [::1]:$STALE from --port: connection refused",
			"--port", strconv.Itoa(w.stalePort()))
		assert.Equal(t, server.Connections(), 0)
	}},
	{title: "a --port that is none is never taken for no --port", run: func(t *testing.T) {
		for _, given := range []string{"0", "-1", "70000"} {
			w := oneEval(t)
			server := fakes.NewNREPL(t)
			server.WritePortFile(w.project.Dir())
			r := w.stop("--port", given)
			assert.Equal(t, r.exit, 1, "%s: %s", given, r.stdout)
			assert.Equal(t, server.Connections(), 0, given)
		}
	}},
	{title: ".nrepl-port wins over BREPL_PORT", run: func(t *testing.T) {
		w := oneEval(t)
		w.answering("$$FILE").WritePortFile(w.project.Dir())
		other := fakes.NewNREPL(t)
		w.env = append(w.env, "BREPL_PORT="+strconv.Itoa(other.Port()))
		w.stop().is(0, approve, "")
		assert.Equal(t, other.Connections(), 0)
	}},
	{title: "a missing, malformed or refused .nrepl-port leads on to BREPL_PORT", run: func(t *testing.T) {
		for _, c := range []struct{ content, problem string }{
			{"", ""}, // missing
			{"-", `$PROJECT/.nrepl-port: "-" is not a port number`},
			{"\n", "$PROJECT/.nrepl-port: is empty, expected a port number"},
			{"no port", `$PROJECT/.nrepl-port: "no port" is not a port number`},
			{"-7888", `$PROJECT/.nrepl-port: "-7888" is not a port number`},
			{"70000", "$PROJECT/.nrepl-port: 70000 is not a port, expected 1 to 65535"},
			{"7888 7889", `$PROJECT/.nrepl-port: "7888 7889" is not a port number`},
			{strings.Repeat("1", 500), "$PROJECT/.nrepl-port: is larger than 128 bytes, so it is no port file"},
			{"stale", staleFile},
		} {
			w := oneEval(t)
			switch c.content {
			case "":
			case "stale":
				w.project.Write(".nrepl-port", strconv.Itoa(w.stalePort()))
			default:
				w.project.Write(".nrepl-port", c.content)
			}
			w.env = append(w.env, "BREPL_PORT="+strconv.Itoa(w.answering("$$ENV").Port()))
			said := ""
			if c.problem != "" {
				said = "brepl: passed over " + c.problem + "\n"
			}
			w.stop().is(0, approve, said)
		}
	}},
	{title: "a port file with white space around the port is fine", run: func(t *testing.T) {
		w := oneEval(t)
		w.project.Write(".nrepl-port", " "+strconv.Itoa(w.answering("$$FILE").Port())+" \r\n")
		w.stop().is(0, approve, "")
	}},
	{title: "all places that were tried are named", run: func(t *testing.T) {
		w := oneEval(t)
		w.project.Write(".nrepl-port", "70000\n")
		w.env = append(w.env, "BREPL_PORT="+strconv.Itoa(w.stalePort()))
		w.noServer("no nREPL server: $PROJECT/.nrepl-port: 70000 is not a port, expected 1 to 65535; " +
			"127.0.0.1:$STALE from BREPL_PORT: connection refused; [::1]:$STALE from BREPL_PORT: connection refused" + nowhere)
	}},
	{title: "a server on IPv6 alone is found as localhost", run: func(t *testing.T) {
		w := oneEval(t)
		w.answering("$$FILE", fakes.NREPLOnIPv6()).WritePortFile(w.project.Dir())
		w.stop().is(0, approve, "")
	}},
	{title: "--host wins over BREPL_HOST", run: func(t *testing.T) {
		w := oneEval(t)
		server := w.answering("$$FILE", fakes.NREPLOnIPv6())
		server.On("1").Value("1")
		server.WritePortFile(w.project.Dir())
		w.env = append(w.env, "BREPL_HOST=127.0.0.1")
		w.noServer("no nREPL server: 127.0.0.1:$FILE from .nrepl-port: nothing listens there, the file is stale" + nowhere)
		w.session += "-2"
		w.stop("--host", "::1").is(0, approve, "")
		w.env = append(w.env, "BREPL_HOST=::1")
		w.stop().is(0, approve, "")
	}},
	{title: "an answer that is not bencode is no server", run: func(t *testing.T) {
		for _, c := range []struct {
			fault fakes.Fault
			said  string
		}{
			{fakes.HTTPAnswer(), "the port speaks HTTP, not nREPL (it sent \"HTTP/1.1 400 Bad Request\\r\\nContent-Type: text/pla\")"},
			{fakes.SSHBanner(), "the port speaks SSH, not nREPL (it sent \"SSH-2.0-OpenSSH_9.2p1 Debian-2\\r\\n\")"},
			{fakes.RedisAnswer(), "the port speaks Redis, not nREPL (it sent \"-ERR unknown command 'd2:id1:1', with args begin\")"},
		} {
			w := oneEval(t)
			w.withREPL(fakes.NREPLFault(c.fault))
			w.noServer("no nREPL server: 127.0.0.1:$PORT from .nrepl-port: " + c.said + "; [::1]:$PORT from .nrepl-port: connection refused" + nowhere)
		}
	}},
	{title: "a server that accepts and is silent until the timeout is a failure", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("run-tests", "(run-tests)", ":timeout 1", ":required? true")))
		w.withREPL(fakes.NREPLFault(fakes.Silent()))
		w.evalFails("127.0.0.1:$PORT accepted the connection but did not answer \"clone\" within $TOOK; the server may be busy")
	}},
	{title: "a server that goes away during the evaluation is a failure", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("run-tests", "(run-tests)")))
		w.withREPL().On("(run-tests)").Out("Testing my.app\n").Drop()
		w.evalFails("127.0.0.1:$PORT: the nREPL server closed the connection during eval, after $TOOK: it ended in the middle of a message", "Testing my.app")
	}},
	{title: "an evaluation over its timeout is interrupted and its session closed", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("run-tests", "(loop [] (recur))", ":timeout 1", retry)))
		server := w.withREPL()
		server.On("(loop [] (recur))").Out("round\n").Hang()
		w.stop().is(2, tellUser("brepl: 'run-tests' failed, attempt 1/10"), blocked(
			"Hook 'run-tests' failed: timed out after 1 s and was interrupted",
			"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
			outputOf("run-tests"),
			"| round",
		))
		assert.Assert(t, server.AwaitOp("close", 1, waitLimit))
		var ops []string
		for _, m := range server.Received() {
			ops = append(ops, m.Op())
		}
		assert.DeepEqual(t, ops, []string{"clone", "eval", "interrupt", "close"})
	}},
	{title: "an evaluation that no interrupt ends cannot hold the hook", run: func(t *testing.T) {
		fullRun(t)
		w := newWorld(t, hooksEDN(eval("run-tests", "(stuck)", ":timeout 1")))
		w.withREPL().On("(stuck)").HangUninterruptible()
		r := w.stop()
		const why = "timed out after 1 s; the server did not confirm the interrupt, so the code may still be running"
		stderr, agent := reported("Hook 'run-tests' failed: " + why)
		r.is(1, tellBoth("brepl: 'run-tests' failed: "+why, agent), stderr)
	}},
	{title: "an exception fails the hook even if later forms run", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("run-tests", "(/ 1 0) :later")))
		w.withREPL().On("(/ 1 0) :later").Exception("java.lang.ArithmeticException", "Divide by zero").Value(":later")
		w.evalFails("Execution error (ArithmeticException) at user/eval2366 (REPL:1). Divide by zero",
			"Execution error (ArithmeticException) at user/eval2366 (REPL:1).", "Divide by zero", "=> :later")
	}},
	{title: "exceptions of all servers' kinds fail the hook", run: func(t *testing.T) {
		for _, c := range []struct {
			script func(*fakes.Expect)
			why    string
			output []string
		}{
			{func(e *fakes.Expect) { e.Status("namespace-not-found", "done", "error") }, "the evaluation ended with status done error namespace-not-found", nil},
			{func(e *fakes.Expect) {
				e.Message(fakes.Message{"ex": "boom", "status": []string{"eval-error", "done"}})
			}, "boom", nil},
			{func(e *fakes.Expect) { e.Message(fakes.Message{"ex": "boom"}) }, "boom", nil},
			{func(e *fakes.Expect) { e.Status("eval-error") }, "the evaluation ended with status done eval-error", nil},
		} {
			w := newWorld(t, hooksEDN(eval("run-tests", "(run-tests)")))
			c.script(w.withREPL().On("(run-tests)"))
			w.evalFails(c.why, c.output...)
		}
	}},
	{title: "a test run that fails without throwing is a failure", run: func(t *testing.T) {
		for value, why := range map[string]string{
			"{:test 42 :fail 3 :error 1}":                           "3 failures, 1 error in 42 tests",
			"{:test 1, :pass 0, :fail 1, :error 0, :type :summary}": "1 failure in 1 test",
			"{:error 2}": "2 errors",
			"#:kaocha.result{:count 42, :pass 10, :error 1, :fail 3, :pending 0}":                      "3 failures, 1 error in 42 tests",
			"{:kaocha.result/count 2 :kaocha.result/fail 0 :kaocha.result/error 1}":                    "1 error in 2 tests",
			"{:test 42 :fail 3 :error 1 :at #inst \"2024-01-01\" :f #object[user$f 0x1 \"user$f@1\"]}": "3 failures, 1 error in 42 tests",
		} {
			w := newWorld(t, hooksEDN(eval("run-tests", "(run-tests)")))
			w.withREPL().On("(run-tests)").Out("FAIL in (t) (a.clj:3)\n").Value(value)
			w.evalFails(why, "FAIL in (t) (a.clj:3)", "=> "+value)
		}
	}},
	{title: "a value that says nothing about failures is a pass", run: func(t *testing.T) {
		for _, value := range []string{
			"nil", "{:test 42 :fail 0 :error 0}", "false", "{:fail \"3\"}", "[{:fail 3}]", "{:fail 3", "{:fail 3 :x #<unreadable>}", "{:failed 3}", "{\"fail\" 3}",
		} {
			w := newWorld(t, hooksEDN(eval("run-tests", "(run-tests)")))
			w.withREPL().On("(run-tests)").Value(value)
			w.stop().is(0, approve, "")
		}
	}},
	{title: "only the last value counts", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("run-tests", "(a) (b)")))
		w.withREPL().On("(a) (b)").Value("{:test 1 :fail 1 :error 0}", "{:test 1 :fail 0 :error 0}")
		w.stop().is(0, approve, "")
	}},
	{title: "each hook evaluates in a session of its own", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("a", "1"), eval("b", "2")))
		server := w.withREPL()
		server.On("1").Value("1")
		server.On("2").Value("2")
		w.stop().is(0, approve, "")
		assert.Assert(t, server.AwaitOp("close", 2, waitLimit))
		sessions := server.Sessions()
		assert.Equal(t, len(sessions), 2)
		for _, s := range sessions {
			assert.Assert(t, s.Evals == 1 && s.Closed, "%+v", s)
		}
	}},
	{title: "the verdict does not wait for the closing of sessions, the process does", run: func(t *testing.T) {
		// nREPL 1.0 prints a stack trace on the user's console when we are gone before it has closed a session.
		w := newWorld(t, hooksEDN(eval("a", "1"), eval("b", "2")))
		for _, args := range [][]string{{"hook", "stop"}, {"hook", "run"}} {
			server := w.withREPL(fakes.NREPLSlowClose(100 * time.Millisecond))
			server.On("1").Value("1")
			server.On("2").Value("2")
			r := w.run(fakes.OneLine(w.stopEvent()), args...)
			assert.Equal(t, r.exit, 0, r.stderr)
			sessions := server.Sessions()
			assert.Equal(t, len(sessions), 2, args)
			for _, s := range sessions {
				assert.Check(t, s.Closed && !s.Left, "%v: %+v", args, s)
			}
		}
	}},
	{title: "code that reads input finds its end", run: func(t *testing.T) {
		w := newWorld(t, hooksEDN(eval("reads", "(read-line)", ":timeout 5")))
		w.withREPL().On("(read-line)").NeedInput().Value("nil")
		w.stop().is(0, approve, "")
	}},
}
