//go:build unix

package integration

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// noREPL expects that no server is found: an optional hook is skipped without a word, a required one ends the run, and by hand
// both are said.
func noREPL(t *testing.T, prepare func(w *world), tried string) {
	t.Helper()
	for _, required := range []bool{false, true} {
		w := newFaultWorld(t, hooksEDN(eval("repl", "1", fmt.Sprintf(":required? %v", required), retry), bash("after", leaveTrace)))
		prepare(w)
		stop, run := w.bothWays()
		said := "no nREPL server: " + tried + nowhere
		if !required {
			stop.is(0, approveTelling("brepl: 'repl' was skipped: "+said), "")
			run.is(75, "skipped repl: "+said+"\npassed after ($TOOK)\n1 passed, 0 failed, 1 skipped\n", "")
			assert.Equal(t, w.trace(), "$SESSION\nmanual-$HASH\n")
			continue
		}
		text := lines("Hook 'repl' requires nREPL but none available. Please start REPL and retry.", "What was tried: "+said, "Pause and tell the user.")
		stop.is(1, tellBoth("brepl: 'repl' requires nREPL but none is available", strings.TrimSuffix(text, "\n")), text)
		run.is(1, "failed repl: it is required and cannot run: "+said+"\npassed after ($TOOK)\n1 passed, 1 failed, 0 skipped\n", "")
		assert.Equal(t, w.trace(), "manual-$HASH\n")
		assert.Equal(t, w.counts(), "absent")
	}
}

// scripted gives the world a server whose script is used once for each of the two ways to run hooks.
func (w *world) scripted(script func(e *fakes.Expect), options ...fakes.NREPLOption) *fakes.NREPL {
	w.t.Helper()
	server := w.withREPL(options...)
	script(server.On("(run-tests)").Times(2))
	return server
}

// evalFault expects that a server was found and the hook failed, required or not, with this reason.
func evalFault(t *testing.T, script func(e *fakes.Expect), why string, options ...fakes.NREPLOption) {
	t.Helper()
	for _, required := range []bool{false, true} {
		w := newFaultWorld(t, hooksEDN(eval("run-tests", "(run-tests)", fmt.Sprintf(":required? %v", required), ":timeout 1")))
		if script != nil {
			w.scripted(script, options...)
		} else {
			w.withREPL(options...)
		}
		stop, run := w.bothAtOnce()
		first, _, _ := strings.Cut(stop.stderr, "\n")
		assert.Check(t, stop.exit == 1 && first == "Hook 'run-tests' failed: "+why, "exit %d\n%q\nwant %q", stop.exit, first, "Hook 'run-tests' failed: "+why)
		assert.Check(t, run.exit == 1 && strings.Contains(run.stdout, "failed run-tests: "+why+" ("), "exit %d\n%s", run.exit, run.stdout)
	}
}

// evalPasses expects that the hook passes in both ways. ran is what a run by hand says of its tests, "" for nothing.
func evalPasses(t *testing.T, ran string, script func(e *fakes.Expect), options ...fakes.NREPLOption) {
	t.Helper()
	if ran != "" {
		ran = ": " + ran
	}
	w := newFaultWorld(t, hooksEDN(eval("run-tests", "(run-tests)", ":timeout 10", ":required? true")))
	w.scripted(script, options...)
	stop, run := w.bothWays()
	stop.is(0, approve, "")
	run.is(0, "passed run-tests"+ran+" ($TOOK)\n1 passed, 0 failed, 0 skipped\n", "")
}

func faulty(f fakes.Fault) fakes.NREPLOption { return fakes.NREPLFault(f) }

var replFaults = []fault{
	{34, "port file empty, abc, 0, 70000", func(t *testing.T) {
		for _, c := range []struct{ content, said string }{
			{"", "is empty, expected a port number"},
			{" \n", "is empty, expected a port number"},
			{"abc", `"abc" is not a port number`},
			{"0", "0 is not a port, expected 1 to 65535"},
			{"70000", "70000 is not a port, expected 1 to 65535"},
			{"-1", `"-1" is not a port number`},
			{"99999999999999999999", "99999999999999999999 is not a port, expected 1 to 65535"},
			{"7888\n7889", `"7888\n7889" is not a port number`},
			{"\x1b[31m\x00", `"\x1b[31m\x00" is not a port number`},
			{"\xff\xfe7\x008\x00", `"\xff\xfe7\x008\x00" is not a port number`},
			{"127.0.0.1:7888", `"127.0.0.1:7888" is not a port number`},
			{strings.Repeat("1", 1e6), "is larger than 128 bytes, so it is no port file"},
		} {
			noREPL(t, func(w *world) { w.project.Write(".nrepl-port", c.content) }, "$PROJECT/.nrepl-port: "+c.said)
		}
	}},
	{34, "port file a FIFO, a folder, a device, unreadable links", func(t *testing.T) {
		noREPL(t, func(w *world) { assert.NilError(t, fifo(w.project.Path(".nrepl-port"))) }, "$PROJECT/.nrepl-port: is not a regular file")
		noREPL(t, func(w *world) { assert.NilError(t, os.Mkdir(w.project.Path(".nrepl-port"), 0o755)) }, "$PROJECT/.nrepl-port: is not a regular file")
		noREPL(t, func(w *world) { assert.NilError(t, os.Symlink("/dev/zero", w.project.Path(".nrepl-port"))) }, "$PROJECT/.nrepl-port: is not a regular file")
		noREPL(t, func(w *world) { assert.NilError(t, os.Symlink(".nrepl-port", w.project.Path(".nrepl-port"))) },
			"$PROJECT/.nrepl-port: too many levels of symbolic links")
	}},
	{34, "port file stale", func(t *testing.T) {
		noREPL(t, func(w *world) { w.project.Write(".nrepl-port", fmt.Sprint(w.stalePort())) },
			staleFile)
	}},
	{34, "--port and BREPL_PORT that are none", func(t *testing.T) {
		noREPL(t, func(w *world) { w.env = append(w.env, "BREPL_PORT=abc") }, `BREPL_PORT: "abc" is not a port number`)
		w := newFaultWorld(t, hooksEDN(eval("repl", "1", ":required? true")))
		for _, port := range []string{"70000", "-1", "0", "abc", "", "99999999999999999999", "1e3"} {
			for _, args := range [][]string{{"stop"}, {"run"}, {"stop", "--dry-run"}} {
				r := w.run(fakes.OneLine(w.stopEvent()), append(append([]string{"hook"}, args...), "--port", port)...)
				assert.Check(t, r.exit == 1 && r.stdout == "" && strings.HasPrefix(r.stderr, fmt.Sprintf("brepl hook %s: invalid value %q for flag -port: ", args[0], port)), "%q: exit %d\n%s%s", port, r.exit, r.stdout, r.stderr)
			}
		}
	}},
	{34, "another project's port file is not looked at", func(t *testing.T) {
		noREPL(t, func(w *world) {
			other := fakes.NewNREPL(t) // strict: fails when it is asked something
			for _, dir := range []string{w.scratch, w.home} {
				other.WritePortFile(dir)
			}
			w.project.Write("sub/.nrepl-port", fmt.Sprint(other.Port()))
		}, "no --port, no .nrepl-port, and BREPL_PORT is not set")
	}},
	{35, "the port speaks HTTP, Redis, SSH, or closes without a word", func(t *testing.T) {
		for _, c := range []struct {
			fault fakes.Fault
			said  string
		}{
			{fakes.HTTPAnswer(), `the port speaks HTTP, not nREPL (it sent "HTTP/1.1 400 Bad Request\r\nContent-Type: text/pla")`},
			{fakes.RedisAnswer(), `the port speaks Redis, not nREPL (it sent "-ERR unknown command 'd2:id1:1', with args begin")`},
			{fakes.SSHBanner(), `the port speaks SSH, not nREPL (it sent "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")`},
			{fakes.ResetConnection(), "the connection was closed without an answer"},
			{fakes.HalfClosed(), "the connection was closed without an answer"},
		} {
			noREPL(t, func(w *world) { w.withREPL(faulty(c.fault)) }, "127.0.0.1:$PORT from .nrepl-port: "+c.said+"; [::1]:$PORT from .nrepl-port: connection refused")
		}
	}},
	{35, "accepts and is silent: a failure at the timeout, since it may be busy", func(t *testing.T) {
		fullRun(t)
		evalFault(t, nil, `127.0.0.1:$PORT accepted the connection but did not answer "clone" within $TOOK; the server may be busy`, faulty(fakes.Silent()))
	}},
	{35, "resets in the middle of the evaluation, or of a message", func(t *testing.T) {
		evalFault(t, func(e *fakes.Expect) { e.Out("Testing\n").Drop() },
			"127.0.0.1:$PORT: the nREPL server closed the connection during eval, after $TOOK: it ended in the middle of a message")
		noREPL(t, func(w *world) { w.withREPL(faulty(fakes.DropMidFrame())) },
			"127.0.0.1:$PORT from .nrepl-port: the connection was closed without an answer; [::1]:$PORT from .nrepl-port: connection refused")
	}},
	{37, "prints 1 GB: bounded memory", func(t *testing.T) {
		fullRun(t)
		w := newFaultWorld(t, hooksEDN(eval("run-tests", "(run-tests)", ":timeout 120"), bash("look", notePeak)))
		// Most servers cut what is printed into messages of 1024 characters, some do not.
		script := w.withREPL().On("(run-tests)").OutRepeated(strings.Repeat("x", 1023)+"\n", 64<<10)
		part := fakes.Message{"out": strings.Repeat("x", 1<<20-1) + "\n"}
		for range 1024 - 64 {
			script.Message(part)
		}
		script.Out("END\n").Exception("java.lang.Exception", "failed")
		spec := w.spec("hook", "stop")
		spec.Limit = 100 * time.Second
		r := w.result(fakes.Run(t, spec, fakes.OneLine(w.stopEvent())))
		assert.Equal(t, r.exit, 1, "%.1000s", r.stderr)
		lessThan(t, w.peak(), 60)
		text := agentReads(t, r)
		assert.Assert(t, units(text) <= 9500 && strings.Contains(text, "\n| END\n"), "%d units", units(text))
	}},
	{37, "prints 64 MB without a line's end, or as one value: over the limit of a string, said as that", func(t *testing.T) {
		fullRun(t)
		for _, m := range []fakes.Message{{"out": strings.Repeat("x", 64_000_000)}, {"value": strings.Repeat("x", 64_000_000)}} {
			w := newFaultWorld(t, hooksEDN(eval("run-tests", "(run-tests)", ":timeout 60"), bash("look", notePeak)))
			w.withREPL().On("(run-tests)").Message(m)
			r := w.stop()
			first, _, _ := strings.Cut(r.stderr, "\n")
			assert.Check(t, r.exit == 1 && strings.Contains(first, "a string is longer than 16777216 bytes"), "exit %d\n%.1000s", r.exit, r.stderr)
			// It is a server that answered a clone, so this would send people to look for the wrong fault.
			assert.Check(t, !strings.Contains(first, "the port does not speak nREPL"), "%s", first)
			lessThan(t, w.peak(), 60)
		}
	}},
	{37, "an infinite loop is interrupted", func(t *testing.T) {
		fullRun(t)
		w := newFaultWorld(t, hooksEDN(eval("run-tests", "(run-tests)", ":timeout 1", ":required? true", retry)))
		server := w.scripted(func(e *fakes.Expect) { e.Hang() })
		stop, run := w.bothAtOnce()
		const why = "timed out after 1 s and was interrupted"
		stop.is(2, tellUser("brepl: 'run-tests' failed, attempt 1/10"), blocked("Hook 'run-tests' failed: "+why, "This stop is blocked: attempt 1 of 10. Fix the cause, then stop again."))
		run.is(1, "failed run-tests: "+why+" ($TOOK)\n0 passed, 1 failed, 0 skipped\n", "")
		assert.Assert(t, server.AwaitOp("interrupt", 2, waitLimit) && server.AwaitOp("close", 2, waitLimit))
		for _, s := range server.Sessions() {
			assert.Assert(t, s.Closed && !s.Running, "%+v", s)
		}
	}},
	{37, "an infinite loop that nothing interrupts", func(t *testing.T) {
		fullRun(t)
		evalFault(t, func(e *fakes.Expect) { e.HangUninterruptible() },
			"timed out after 1 s; the server did not confirm the interrupt, so the code may still be running")
	}},
	{37, "System/exit: the server goes away", func(t *testing.T) {
		evalFault(t, func(e *fakes.Expect) { e.Out("bye\n").Drop() },
			"127.0.0.1:$PORT: the nREPL server closed the connection during eval, after $TOOK: it ended in the middle of a message")
	}},
	{37, "the server is killed during the evaluation", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(eval("run-tests", "(run-tests)", ":timeout 60", ":required? true"), bash("after", leaveTrace)))
		server := w.withREPL()
		server.On("(run-tests)").Out("Testing\n").Hang()
		go func() {
			server.AwaitOp("eval", 1, waitLimit)
			server.Close()
		}()
		r := w.stop()
		first, _, _ := strings.Cut(r.stderr, "\n")
		assert.Equal(t, r.exit, 1)
		assert.Equal(t, first, "Hook 'run-tests' failed: 127.0.0.1:$PORT: the nREPL server closed the connection during eval, after $TOOK: it ended before the answer was complete")
		assert.Equal(t, w.trace(), "$SESSION\n") // a failure without a retry ends nothing
	}},
	{37, "a value that throws when it is printed", func(t *testing.T) {
		evalFault(t, func(e *fakes.Expect) {
			e.Thrown("Error printing return value (ExceptionInfo) at user/eval1 (REPL:1).\nboom\n", "class clojure.lang.ExceptionInfo", "class clojure.lang.ExceptionInfo")
		}, "Error printing return value (ExceptionInfo) at user/eval1 (REPL:1). boom")
		evalFault(t, func(e *fakes.Expect) { e.Status("nrepl.middleware.print/error") }, "the evaluation ended with status done nrepl.middleware.print/error")
	}},
	{38, "::1 only, 127.0.0.1 only", func(t *testing.T) {
		for _, options := range [][]fakes.NREPLOption{nil, {fakes.NREPLOnIPv6()}} {
			evalPasses(t, "1 test", func(e *fakes.Expect) { e.Value("{:test 1 :fail 0 :error 0}") }, options...)
		}
		for host, options := range map[string][]fakes.NREPLOption{"127.0.0.1": {fakes.NREPLOnIPv6()}, "::1": nil, "[::1]": nil} {
			noREPL(t, func(w *world) {
				w.withREPL(options...)
				w.env = append(w.env, "BREPL_HOST="+host)
			}, map[bool]string{true: "127.0.0.1:$PORT", false: "[::1]:$PORT"}[host == "127.0.0.1"]+" from .nrepl-port: nothing listens there, the file is stale")
		}
	}},
}

// pass is the script of an evaluation that passes, with output that a codec can break.
func pass(e *fakes.Expect) {
	e.Out("Testing é😀\nmore\n").Value("nil", "{:test 1 :fail 0 :error 0}")
}

var bencodeFaults = []fault{
	{36, "lengths and integers that bencode does not have", func(t *testing.T) {
		for _, f := range []fakes.Fault{
			fakes.HugeLength(),
			fakes.NegativeLength(),
			fakes.BadInteger(),
			fakes.DeepNesting(100_000),
			fakes.Garbage([]byte("\xff\xfe\x00")),
			fakes.Garbage([]byte("4:spam")),
			fakes.Garbage([]byte("le")),
			fakes.Garbage([]byte("i1e")),
			fakes.Garbage([]byte("d2:idi99999999999999999999999999e")),
			fakes.Garbage([]byte("di1e1:xe")),
			fakes.Garbage([]byte("d2:id00001:xe")),
			fakes.Garbage([]byte("d2:ide")),
			fakes.Garbage([]byte(strings.Repeat("l", 1_000_000))),
			fakes.Garbage([]byte(strings.Repeat("9", 1_000_000))),
		} {
			w := oneEval(t)
			w.withREPL(faulty(f))
			stop, run := w.bothWays()
			said := stop.stderr
			assert.Check(t, stop.exit == 1 && strings.HasPrefix(said, "Hook 'repl' requires nREPL but none available. Please start REPL and retry.\n"+
				"What was tried: no nREPL server: 127.0.0.1:$PORT from .nrepl-port: the port does not speak nREPL: "), "%v: exit %d\n%.1000s", f, stop.exit, said)
			assert.Check(t, run.exit == 1 && strings.HasPrefix(run.stdout, "failed repl: it is required and cannot run: no nREPL server: 127.0.0.1:$PORT from .nrepl-port: the port does not speak nREPL: "),
				"%v: exit %d\n%.1000s", f, run.exit, run.stdout)
			assert.Check(t, len(said) < 1000, "%v: %d bytes", f, len(said))
		}
	}},
	{36, "whatever the port speaks, the hooks around an edit let it pass", func(t *testing.T) {
		fullRun(t)
		for _, f := range []fakes.Fault{
			fakes.HTTPAnswer(), fakes.RedisAnswer(), fakes.SSHBanner(), fakes.ResetConnection(), fakes.HalfClosed(), fakes.DropMidFrame(), fakes.Silent(), fakes.NeverDone(),
			fakes.HugeLength(), fakes.NegativeLength(), fakes.BadInteger(), fakes.DeepNesting(100_000), fakes.Garbage([]byte("4:spam")), fakes.ForeignIDs(),
		} {
			w := newFaultWorld(t, "", fakes.WithFile("src/a.clj", "(ns a)\n", 0o644))
			server := w.withREPL(faulty(f))
			server.OnMatch("any evaluation", func(m fakes.Message) bool { return m.Op() == "eval" || m.Op() == "load-file" }).AnyTimes().Value("nil")
			file := w.project.Path("src/a.clj")
			options := []fakes.EventOption{fakes.InProject(w.dir), fakes.InSession(w.session)}
			r := w.atOnce(
				call{fakes.OneLine(fakes.PreEditEvent(file, "(ns a)", "(ns b)", options...).JSON()), []string{"validate"}},
				call{fakes.OneLine(fakes.PostWriteEvent(file, "(ns a)\n", options...).JSON()), []string{"eval", "--timeout", "1"}},
				call{fakes.DevNull(), []string{"eval", "--timeout", "1", file}},
			)
			r[0].is(0, "", "")
			assert.Check(t, r[1].exit == 0 && !strings.Contains(r[1].stdout, `"block"`), "%v: exit %d\n%s%s", f, r[1].exit, r[1].stdout, r[1].stderr)
			assert.Check(t, r[2].exit <= 1 && strings.HasPrefix(r[2].stdout, `{"continue":true`), "%v: exit %d\n%s%s", f, r[2].exit, r[2].stdout, r[2].stderr)
		}
	}},
	{36, "depth 100,000 and a huge length take little memory", func(t *testing.T) {
		for _, f := range []fakes.Fault{fakes.HugeLength(), fakes.DeepNesting(100_000), fakes.DeepNesting(5_000_000)} {
			w := newFaultWorld(t, hooksEDN(eval("repl", "1"), bash("look", notePeak)))
			w.withREPL(faulty(f))
			r := w.stop()
			assert.Check(t, r.exit == 0 && strings.Contains(r.stdout, "'repl' was skipped: no nREPL server"), "%d %s%s", r.exit, r.stdout, r.stderr)
			lessThan(t, w.peak(), 60)
		}
	}},
	{36, "unsorted and duplicate keys, a frame split at every byte, several in one, foreign ids, done twice, slow", func(t *testing.T) {
		fullRun(t)
		for _, f := range []fakes.Fault{
			fakes.UnsortedKeys(), fakes.DuplicateKeys(), fakes.SplitEveryByte(), fakes.Joined(), fakes.ForeignIDs(), fakes.DoneTwice(), fakes.SlowOutput(20 * time.Millisecond),
		} {
			evalPasses(t, "1 test in 1 namespace", pass, faulty(f))
		}
	}},
	{36, "foreign ids do not pass for our answers", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(eval("run-tests", "(run-tests)")))
		w.withREPL(faulty(fakes.ForeignIDs())).On("(run-tests)").Out("ours\n").Value("{:test 1 :fail 1 :error 0}")
		w.failed(w.stop(), "run-tests", "1 failure in 1 test", "ours", "=> {:test 1 :fail 1 :error 0}")
	}},
	{36, "done never", func(t *testing.T) {
		fullRun(t)
		evalFault(t, pass, "timed out after 1 s; the server did not confirm the interrupt, so the code may still be running", faulty(fakes.NeverDone()))
	}},
	{36, "need-input, unknown-op, namespace-not-found, interrupted, unknown-session", func(t *testing.T) {
		evalPasses(t, "", func(e *fakes.Expect) { e.NeedInput().NeedInput().Value("nil") })
		for status, why := range map[string]string{
			"unknown-op error done":          "the evaluation ended with status done error unknown-op",
			"namespace-not-found done error": "the evaluation ended with status done error namespace-not-found",
			"interrupted done":               "the evaluation ended with status done interrupted",
			"unknown-session error done":     "the evaluation ended with status done error unknown-session",
			"done error":                     "the evaluation ended with status done error",
		} {
			evalFault(t, func(e *fakes.Expect) { e.Status(strings.Fields(status)...) }, why)
		}
	}},
	{36, "a server that knows no clone", func(t *testing.T) {
		for _, required := range []bool{false, true} {
			w := newFaultWorld(t, hooksEDN(eval("run-tests", "(run-tests)", fmt.Sprintf(":required? %v", required))))
			w.withREPL().OnOp("clone").Times(2).Status("unknown-op", "error", "done")
			stop, run := w.bothWays()
			assert.Check(t, stop.exit == 1 && strings.HasPrefix(stop.stderr, `Hook 'run-tests' failed: the nREPL server does not know the op "clone"`+"\n"), "exit %d\n%s", stop.exit, stop.stderr)
			assert.Check(t, run.exit == 1 && strings.Contains(run.stdout, `the nREPL server does not know the op "clone"`), "exit %d\n%s", run.exit, run.stdout)
		}
	}},
	{36, "non-UTF-8, multi-byte characters split between messages", func(t *testing.T) {
		w := newFaultWorld(t, hooksEDN(eval("run-tests", "(run-tests)")))
		e := w.withREPL().On("(run-tests)")
		for _, part := range []string{"a\xff\xfeb\n", "\xf0\x9f", "\x98\x80 ", "\xc3", "\xa9\n", "\xed\xa0\x80\n", "\x00\x1b[31mred\x1b[0m\n"} {
			e.Message(fakes.Message{"out": part})
		}
		e.Value("{:test 1 :fail 1 :error 0}")
		w.failed(w.stop(), "run-tests", "1 failure in 1 test", "a\ufffd\ufffdb", "😀 é", "\ufffd\ufffd\ufffd", "red", "=> {:test 1 :fail 1 :error 0}")
	}},
	{36, "wrong types in an answer", func(t *testing.T) {
		for _, m := range []fakes.Message{
			{"value": 5, "out": []string{"x"}, "status": "done"},
			{"status": 7},
			{"status": []any{1, []string{"done"}}},
			{"ex": 5, "err": map[string]any{"a": 1}},
			{"value": map[string]any{}},
		} {
			evalPasses(t, "", func(e *fakes.Expect) { e.Message(m).Value("nil") })
		}
	}},
}
