//go:build unix

package integration

import (
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// Much output, time limits, and the end of the server itself; the cases of TestRealStop.

const megabyteLines = 16384 // of 64 bytes

var realOutputs = []realStop{
	{name: "1 MB in lines: the end goes to the agent and more of it to the log", run: func(w *realWorld) {
		w.hooks(runTests(`(dotimes [i 16384] (println (format "%07d %s" i (apply str (repeat 55 \x)))))`+failing, retry))
		r := w.stop()

		var printed []string
		for i := range megabyteLines {
			printed = append(printed, fmt.Sprintf("%07d %s", i, strings.Repeat("x", 55)))
		}
		printed = append(printed, failingValue)
		end := func(n int, prefix string) string {
			return prefix + strings.Join(printed[len(printed)-n:], "\n"+prefix) + "\n"
		}

		const inLog = 3200 // lines of 64 bytes make 200 KB, and the value takes the place of one
		assert.Equal(w.t, w.log("run-tests"), fmt.Sprintf("[%d lines, %d bytes left out]\n", megabyteLines+1-inLog, (megabyteLines+1-inLog)*64)+end(inLog, ""))

		kept := leftOver(w.t, r.stderr)
		label := strings.Replace(outputOf("run-tests"), "; log:", fmt.Sprintf("; the last %d lines, %d lines before them left out; log:", kept, megabyteLines+1-kept), 1)
		r.is(2, tellUser("brepl: 'run-tests' failed, attempt 1/10"), blocked(
			"Hook 'run-tests' failed: "+failingWhy,
			"This stop is blocked: attempt 1 of 10. Fix the cause, then stop again.",
			label,
			strings.TrimSuffix(end(kept, "| "), "\n")))
		// As much as fits: one line more would be too much.
		length := len(utf16.Encode([]rune(r.raw.Stderr)))
		assert.Assert(w.t, length <= 9500 && length > 9500-2*66, "%d", length)
	}},
	{name: "1 MB in one line", run: func(w *realWorld) {
		w.hooks(runTests(`(println (apply str (repeat 1048576 \x)))`+failing, retry))
		r := w.stop()
		const tail = "\n" + failingValue + "\n"
		const kept = 200 << 10
		assert.Assert(w.t, w.log("run-tests") == fmt.Sprintf("[0 lines, %d bytes left out]\n", megabyte+len(tail)-kept)+
			strings.Repeat("x", kept-len(tail))+tail, "%.300s", w.log("run-tests"))
		assert.Equal(w.t, r.exit, 2)
		length := len(utf16.Encode([]rune(r.raw.Stderr)))
		assert.Assert(w.t, length <= 9500, "%d", length)
		assert.Assert(w.t, strings.HasSuffix(r.stderr, "\n| "+failingValue+"\n\n"+pauseHint+"\n"), "%s", r.stderr)
	}},
	{name: "a value of 1 MB", run: func(w *realWorld) {
		w.hooks(runTests(`(apply str (repeat 1048576 \y))`))
		w.passes()
		assert.Assert(w.t, len(w.log("run-tests")) <= 200<<10+100, "%d", len(w.log("run-tests")))
	}},
	{name: "text of all planes", run: func(w *realWorld) {
		w.hooks(runTests(`(println "λ → 日本 😀 e\u0301") {:test 1, :fail 1, :λ "😀"}`))
		w.reports(failingWhy, "λ → 日本 😀 e\u0301", `=> {:test 1, :fail 1, :λ "😀"}`)
	}},
	{name: "escape sequences and controls are removed, and stay in the log", run: func(w *realWorld) {
		w.hooks(runTests(`(println "\u001b[31mred\u001b[0m\u0007 \u001b]0;title\u0007plain\u202e") (println "10%\r100%")` + failing))
		w.reports(failingWhy, "red plain", "100%", failingValue)
		assert.Equal(w.t, w.log("run-tests"), "\x1b[31mred\x1b[0m\a \x1b]0;title\aplain\u202e\n10%\r100%\n"+failingValue+"\n")
	}},
	{name: "stderr is kept, in its place", run: func(w *realWorld) {
		w.hooks(runTests(`(println "a") (binding [*out* *err*] (println "b")) (println "c")` + failing))
		w.reports(failingWhy, "a", "b", "c", failingValue)
	}},
	{name: "stderr alone is no failure", run: func(w *realWorld) {
		w.hooks(runTests(`(binding [*out* *err*] (println "Execution error (Warning) at x (REPL:1).")) :ok`, retry))
		w.passes()
		assert.Equal(w.t, w.log("run-tests"), "Execution error (Warning) at x (REPL:1).\n=> :ok\n")
	}},
	{name: "a hook without output", run: func(w *realWorld) {
		w.hooks(runTests("(comment)"))
		w.passes()
		assert.Equal(w.t, w.log("run-tests"), "absent")
	}},
}

// leftOver is how many lines the label says that there are.
func leftOver(t *testing.T, text string) int {
	t.Helper()
	_, rest, _ := strings.Cut(text, "; the last ")
	digits, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(digits)
	assert.NilError(t, err, "%.500s", text)
	return n
}

const timedOut = "timed out after 3 s and was interrupted"

// endsWithin says that a stop with one hook of :timeout 3 took these seconds.
func (w *realWorld) endsWithin(r result) {
	w.t.Helper()
	assert.Assert(w.t, r.raw.Elapsed > 2900*time.Millisecond, "%v", r.raw.Elapsed)
}

var realTimeouts = []realStop{
	{name: "an endless loop is interrupted and leaves the server usable", alone: true, run: func(w *realWorld) {
		leavesNoSession(w.t, w.server, func() {
			w.hooks(runTests("(loop [] (recur))", ":timeout 3", retry))
			w.endsWithin(w.blocks(timedOut))
			w.hooks(runTests("(+ 1 2)", ":timeout 60", retry))
			w.passes()
		})
	}},
	{name: "a loop that counts has ended, not only its evaluation", run: func(w *realWorld) {
		w.repl("(create-ns 'NS) (intern 'NS 'ticks (atom 0))")
		w.hooks(runTests(w.code(`(println "counting") (loop [] (Thread/yield) (swap! NS/ticks inc) (recur))`), ":timeout 3"))
		w.endsWithin(w.reports(timedOut, "counting"))
		// nREPL waits 5 s for a thread that was interrupted before it stops it.
		for w.repl("(let [before @NS/ticks] (Thread/sleep 100) (and (pos? before) (= before @NS/ticks)))") != "true" {
			time.Sleep(100 * time.Millisecond)
		}
	}},
	{name: "a sleep is interrupted and leaves the server usable", alone: true, run: func(w *realWorld) {
		leavesNoSession(w.t, w.server, func() {
			w.hooks(runTests("(Thread/sleep 100000)", ":timeout 3"))
			w.endsWithin(w.reports(timedOut,
				"Execution error (InterruptedException) at java.lang.Thread/sleep (Thread.java:-2).", "sleep interrupted"))
			w.hooks(runTests("(+ 1 2)", ":timeout 60"))
			w.passes()
		})
	}},
	{name: "our own deadline interrupts the evaluation too", alone: true, run: func(w *realWorld) {
		leavesNoSession(w.t, w.server, func() {
			w.repl("(create-ns 'NS) (intern 'NS 'end (promise))")
			w.hooks(runTests(w.code("(try (Thread/sleep 100000) (finally (deliver NS/end :interrupted)))"), retry))
			w.settings(3)
			r := w.blocks("timed out: the host gives the stop hook 3 s in all; run `brepl hook install` again, which raises that",
				"Execution error (InterruptedException) at java.lang.Thread/sleep (Thread.java:-2).", "sleep interrupted")
			assert.Assert(w.t, r.raw.Elapsed > 2300*time.Millisecond, "%v", r.raw.Elapsed)
			assert.Equal(w.t, w.repl("(deref NS/end 10000 :running)"), ":interrupted")
			w.hooks(runTests("(+ 1 2)"))
			w.passes()
		})
	}},
	{name: "a hook that gets TERM interrupts the evaluation", run: func(w *realWorld) {
		w.repl("(create-ns 'NS) (intern 'NS 'begun (promise)) (intern 'NS 'end (promise))")
		w.hooks(runTests(w.code("(do (deliver NS/begun :begun) (try (Thread/sleep 100000) (finally (deliver NS/end :interrupted))))"), retry))
		var stdout, stderr strings.Builder
		cmd := exec.CommandContext(w.ctx, brepl(w.t), "hook", "stop")
		cmd.Dir, cmd.Env = w.dir, w.environment()
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(w.stopEvent()), &stdout, &stderr
		assert.NilError(w.t, cmd.Start())
		assert.Equal(w.t, w.repl("(deref NS/begun 30000 :never)"), ":begun")
		assert.NilError(w.t, cmd.Process.Signal(syscall.SIGTERM))
		_ = cmd.Wait() // its exit code is compared below
		text, _ := reported(
			"Hook 'run-tests' was not run: it was interrupted",
			outputOf("run-tests"),
			"| Execution error (InterruptedException) at java.lang.Thread/sleep (Thread.java:-2).",
			"| sleep interrupted",
		)
		w.result(fakes.Outcome{Exit: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}).
			is(1, tellUser("brepl: 'run-tests' was not run: it was interrupted"), text)
		assert.Equal(w.t, w.repl("(deref NS/end 10000 :running)"), ":interrupted")
		assert.Equal(w.t, w.counts(), "absent")
	}},
}

// goneTexts is what a connection can say of its end, by the moment at which it broke.
const goneTexts = `(?:it ended before the answer was complete|it ended in the middle of a message|read tcp \S+: read: connection reset by peer)`

// withoutServer says what stops do once the server has gone. The count of before stays. Who was told of this hook's
// failure already is not told again.
func (w *realWorld) withoutServer(counts string, told bool) {
	w.t.Helper()
	// Docker's proxy may hold the port a moment longer.
	addr := net.JoinHostPort(w.server.Host, strconv.Itoa(w.server.Port))
	assert.Assert(w.t, eventually(func() bool {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}), "%s still accepts", addr)

	w.hooks(runTests("(+ 1 2)", retry))
	const gone = "no nREPL server: localhost:$PORT from .nrepl-port: nothing listens there, the file is stale" + nowhere
	w.stop().is(0, approveTelling("brepl: 'run-tests' was skipped: "+gone), "")
	w.stop().is(0, approve, "")
	assert.Equal(w.t, w.counts(), counts)

	w.hooks(runTests("(+ 1 2)", retry, ":required? true"))
	stderr, agent := pausing(
		"Hook 'run-tests' requires nREPL but none available. Please start REPL and retry.",
		"What was tried: "+gone,
		"Pause and tell the user.",
	)
	const user = "brepl: 'run-tests' requires nREPL but none is available"
	stdout := tellBoth(user, agent)
	if told {
		stdout = tellUser(user)
	}
	w.stop().is(1, stdout, stderr)
	assert.Equal(w.t, w.counts(), counts)
}

var realEnds = []realStop{
	{name: "a server that is killed in the middle of a hook", kills: true, run: func(w *realWorld) {
		w.rules = append(w.rules, rule{regexp.MustCompile(goneTexts), "$$GONE"})
		w.repl("(create-ns 'NS) (intern 'NS 'begun (promise))")
		w.hooks(runTests(w.code(`(do (println "begun") (deliver NS/begun true) (Thread/sleep 60000))`), retry, ":required? true"))
		watcher := session(w.ctx, w.t, w.server)
		killed := make(chan string, 1)
		go func() {
			got, err := watcher.Eval(w.ctx, nrepl.Request{Code: w.code("(deref NS/begun 30000 :never)")}, nil)
			w.server.Kill()
			killed <- fmt.Sprint(got.Values, err)
		}()
		w.blocks("127.0.0.1:$PORT: the nREPL server closed the connection during eval, after $TOOK: $GONE", "begun")
		assert.Equal(w.t, <-killed, "[true] <nil>")
		w.withoutServer("{\"run-tests\" 1}\n", false)
	}},
	{name: "a hook that ends the server", kills: true, run: func(w *realWorld) {
		w.rules = append(w.rules, rule{regexp.MustCompile(goneTexts), "$$GONE"})
		w.hooks(runTests(`(do (println "bye") (System/exit 1))`))
		w.reports("127.0.0.1:$PORT: the nREPL server closed the connection during eval, after $TOOK: $GONE", "bye")
		w.withoutServer("absent", true)
	}},
	{name: "a stop and a run leave no stack trace on the server's console", kills: true, local: true, run: func(w *realWorld) {
		w.hooks(runTests(`1`), eval("twice", "2"))
		for range 3 {
			w.stop().is(0, approve, "")
			assert.Equal(w.t, w.hook("run").exit, 0)
		}
		time.Sleep(500 * time.Millisecond) // the server prints 100 ms after a session was closed
		assert.Equal(w.t, strings.Count(w.server.Console.String(), "Exception"), 0, "%s", w.server.Console)
	}},
}
