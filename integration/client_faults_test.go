//go:build unix

package integration

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
)

// told expects one error of the client: exit 1, nothing on stdout, a line that begins so.
func (r result) told(begins string) {
	r.t.Helper()
	assert.Check(r.t, r.exit == 1 && r.stdout == "" && strings.HasPrefix(r.stderr, "brepl: "+begins), "exit %d\n%s%.1000s\nwant %q", r.exit, r.stdout, r.stderr, begins)
}

// clientFaults are faults 34 to 40 for `brepl EXPR`, -f and -m.
var clientFaults = []fault{
	{1, "brepl: stdin has an end, or is no code", func(t *testing.T) {
		for _, in := range fakes.NoEventShapes() {
			w := newWorld(t, "")
			w.run(in).is(2, "", "brepl: nothing to evaluate: stdin is empty, and no expression, -e, -f or -m is given\nRun 'brepl --help' for usage.\n")
		}
		w := newWorld(t, "")
		w.withREPL().On("1").Value("1")
		w.run(fakes.EmptyOpen(), "1").is(0, "1\n", "") // stdin is not asked
	}},
	{34, "brepl: port file empty, abc, 0, 70000, stale", func(t *testing.T) {
		for content, said := range map[string]string{
			"":                        "is empty, expected a port number",
			"abc":                     `"abc" is not a port number`,
			"0":                       "0 is not a port, expected 1 to 65535",
			"70000":                   "70000 is not a port, expected 1 to 65535",
			strings.Repeat("1", 1000): "is larger than 128 bytes, so it is no port file",
		} {
			w := newWorld(t, "")
			w.project.Write(".nrepl-port", content)
			for _, args := range [][]string{{"1"}, {"-f", ".nrepl-port"}, {"-m", "{:op :describe}"}} {
				r := w.asks(args...)
				r.told("no nREPL server")
				assert.Check(t, cmp.Contains(r.stderr, said))
			}
		}
		w := newWorld(t, "")
		w.project.Write(".nrepl-port", fmt.Sprint(w.stalePort()))
		r := w.asks("1")
		r.told("no nREPL server")
		assert.Check(t, cmp.Contains(r.stderr, "localhost:$STALE from .nrepl-port: nothing listens there, the file is stale"))
		// The search goes on, and the stale file is named.
		server := fakes.NewNREPL(t)
		server.On("1").Value("1")
		w.env = append(w.env, fmt.Sprintf("BREPL_PORT=%d", server.Port()))
		r = w.asks("1")
		assert.Check(t, r.exit == 0 && r.stdout == "1\n", "exit %d\n%s", r.exit, r.stderr)
		assert.Check(t, cmp.Contains(r.stderr, ".nrepl-port"))
	}},
	{34, "brepl: -p that is none", func(t *testing.T) {
		w := newWorld(t, "")
		for _, port := range []string{"70000", "-1", "0", "abc", "99999999999999999999", "1e3"} {
			r := w.asks("1", "-p", port)
			assert.Check(t, r.exit == 2 && strings.HasPrefix(r.stderr, "brepl: "), "%q: exit %d\n%s", port, r.exit, r.stderr)
		}
	}},
	{35, "brepl: the port speaks HTTP, Redis, SSH, resets, is half open", func(t *testing.T) {
		for said, fault := range map[string]fakes.Fault{
			"the port speaks HTTP, not nREPL": fakes.HTTPAnswer(), "the port speaks Redis, not nREPL": fakes.RedisAnswer(),
			"the port speaks SSH, not nREPL": fakes.SSHBanner(), "the connection was closed without an answer": fakes.HalfClosed(),
		} {
			w := newWorld(t, "")
			w.withREPL(faulty(fault))
			r := w.asks("1")
			r.told("no nREPL server")
			assert.Check(t, cmp.Contains(r.stderr, said))
		}
	}},
	{35, "brepl: accepts and is silent", func(t *testing.T) {
		fullRun(t)
		w := newWorld(t, "")
		w.withREPL(faulty(fakes.Silent()))
		w.asks("1", "--timeout", "1").told(`127.0.0.1:$PORT accepted the connection but did not answer "clone" within `)
	}},
	{36, "brepl: what is not bencode", func(t *testing.T) {
		for _, f := range []fakes.Fault{
			fakes.HugeLength(), fakes.NegativeLength(), fakes.BadInteger(), fakes.DeepNesting(100_000), fakes.Garbage([]byte("4:spam")), fakes.DropMidFrame(),
		} {
			w := newWorld(t, "")
			w.withREPL(faulty(f))
			r := w.asks("1")
			r.told("no nREPL server")
			assert.Check(t, len(r.stderr) < 2000, "%d bytes", len(r.stderr))
		}
	}},
	{36, "brepl: unsorted and duplicate keys, split, joined, foreign ids, done twice, slow", func(t *testing.T) {
		fullRun(t)
		for _, f := range []fakes.Fault{
			fakes.UnsortedKeys(), fakes.DuplicateKeys(), fakes.SplitEveryByte(), fakes.Joined(), fakes.ForeignIDs(), fakes.DoneTwice(), fakes.SlowOutput(20 * time.Millisecond),
		} {
			w := newWorld(t, "")
			w.withREPL(faulty(f)).On("(f)").Out("é😀\nmore").Value("nil", ":v")
			w.asks("(f)").is(0, "é😀\nmore\nnil\n:v\n", "")
		}
	}},
	{36, "brepl: done never", func(t *testing.T) {
		fullRun(t)
		w := newWorld(t, "")
		w.withREPL(faulty(fakes.NeverDone())).On("(f)").Out("out\n").Value(":v")
		w.asks("(f)", "--timeout", "1").is(1, "out\n:v\n", "brepl: the evaluation timed out after $TOOK; the server did not confirm the interrupt, the code may still be running\n")
	}},
	{36, "brepl: need-input, unknown-op, namespace-not-found, interrupted, unknown-session, no clone", func(t *testing.T) {
		w := newWorld(t, "")
		server := w.withREPL()
		server.On("(f)").NeedInput().NeedInput().Value("nil")
		w.asks("(f)").is(0, "nil\n", "")
		for status, said := range map[string]string{
			"unknown-op error done":          "The server does not know this operation.",
			"namespace-not-found done error": "The server has no namespace of this name.",
			"interrupted done":               "The evaluation was interrupted.",
			"unknown-session error done":     "The server does not know the session any more.",
			"done error":                     "The server could not evaluate it (status done error).",
		} {
			server.On("(f)").Status(strings.Fields(status)...)
			r := w.asks("(f)")
			assert.Check(t, r.exit == 1 && r.stdout == "" && strings.HasPrefix(r.stderr, said), "exit %d\n%s%s", r.exit, r.stdout, r.stderr)
		}
		server.On("(read-line)").NeedInput()
		r := w.asks("-m", `{:op :eval :code "(read-line)"}`)
		assert.Check(t, r.exit == 1 && strings.Contains(r.stdout, `"status" ["need-input"]`), "exit %d\n%s", r.exit, r.stdout)
		assert.Equal(t, r.stderr, "brepl: the code reads standard input, and without a session it cannot be given any\n")
		server.OnOp("clone").Status("unknown-op", "error", "done")
		w.asks("1").told(`the nREPL server does not know the op "clone"`)
	}},
	{36, "brepl: non-UTF-8, multi-byte characters split between messages", func(t *testing.T) {
		w := newWorld(t, "")
		for _, shown := range []bool{true, false} {
			e := w.withREPL().On("(f)")
			for _, part := range []string{"a\xffb\n", "\xf0\x9f", "\x98\x80 ", "\xc3", "\xa9\n"} {
				e.Message(fakes.Message{"out": part})
			}
			if shown {
				w.asks("(f)").is(0, "a\xffb\n😀 é\n", "")
				continue
			}
			assert.Assert(t, cmp.Contains(w.asks("(f)", "--json").stdout, "\"out\":\"a\ufffdb\\n😀 é\\n\""))
		}
	}},
	{36, "brepl: wrong types in an answer", func(t *testing.T) {
		w := newWorld(t, "")
		for _, m := range []fakes.Message{
			{"value": 5, "out": []string{"x"}, "status": "done"},
			{"status": 7},
			{"status": []any{1, []string{"done"}}},
			{"ex": 5, "err": map[string]any{"a": 1}},
			{"value": map[string]any{}},
		} {
			w.withREPL().On("(f)").Message(m).Value("nil")
			w.asks("(f)").is(0, "nil\n", "")
		}
	}},
	{37, "brepl: prints 1 GB", func(t *testing.T) {
		fullRun(t)
		w := newWorld(t, "")
		script := w.withREPL().On("(f)").OutRepeated(strings.Repeat("x", 1023)+"\n", 64<<10)
		part := fakes.Message{"out": strings.Repeat("x", 1<<20-1) + "\n"}
		for range 1024 - 64 {
			script.Message(part)
		}
		exit, peak, printed := w.peakOf("(f)", "--timeout", "100")
		assert.Equal(t, exit, 0)
		assert.Equal(t, printed, int64(1<<30))
		lessThan(t, peak, 60)
	}},
	{37, "brepl: 64 MB in one message", func(t *testing.T) {
		fullRun(t)
		for _, m := range []fakes.Message{{"out": strings.Repeat("x", 64_000_000)}, {"value": strings.Repeat("x", 64_000_000)}} {
			w := newWorld(t, "")
			w.withREPL().On("(f)").Message(m)
			w.asks("(f)").told("the nREPL server sent a message that cannot be read: a string is longer than 16777216 bytes")
		}
	}},
	{37, "brepl: an infinite loop", func(t *testing.T) {
		fullRun(t)
		w := newWorld(t, "")
		w.withREPL().On("(f)").Hang()
		w.asks("(f)", "--timeout", "1").is(1, "", "brepl: the evaluation timed out after $TOOK and was interrupted\n")
	}},
	{37, "brepl: System/exit, the server is killed", func(t *testing.T) {
		w := newWorld(t, "")
		w.withREPL().On("(System/exit 0)").Out("bye\n").Drop()
		w.asks("(System/exit 0)").is(1, "bye\n", "brepl: 127.0.0.1:$PORT: the nREPL server closed the connection during eval, after $TOOK: it ended in the middle of a message\n")
		server := w.withREPL()
		server.On("(f)").Hang()
		go func() {
			server.AwaitOp("eval", 1, waitLimit)
			server.Close()
		}()
		w.asks("(f)").told("127.0.0.1:$PORT: the nREPL server closed the connection during eval, after ")
	}},
	{37, "brepl: a value that throws when it is printed", func(t *testing.T) {
		w := newWorld(t, "")
		explained(w.withREPL()).On("(f)").Thrown("Error printing return value (ExceptionInfo) at user/eval1 (REPL:1).\nboom\n", "class clojure.lang.ExceptionInfo", "class clojure.lang.ExceptionInfo")
		r := w.asks("(f)")
		assert.Check(t, r.exit == 1 && strings.Contains(r.stderr, "Error printing return value") && strings.Count(r.stderr, "boom") == 1, "exit %d\n%s", r.exit, r.stderr)
	}},
	{38, "brepl: ::1 only, 127.0.0.1 only", func(t *testing.T) {
		for _, options := range [][]fakes.NREPLOption{nil, {fakes.NREPLOnIPv6()}} {
			w := newWorld(t, "")
			w.withREPL(options...).On("1").Value("1")
			w.asks("1").is(0, "1\n", "")
		}
	}},
	{39, "brepl: two servers match: both are listed, and none is asked to evaluate", func(t *testing.T) {
		w := newWorld(t, "")
		a, b := listenIn(t, w.project.Dir(), "jvm-1.0.0"), listenIn(t, w.project.Dir(), "jvm-1.0.0")
		w.project.Write("a.clj", "(+ 1 2)")
		for _, args := range [][]string{{"(+ 1 2)"}, {"-f", "a.clj"}, {"-m", "{:op :describe}"}, {"--trace", "-e", "(+ 1 2)"}} {
			r := w.asks(args...)
			r.told("2 nREPL servers run in $PROJECT: 127.0.0.1:")
			for _, server := range []*running{a, b} {
				assert.Check(t, cmp.Contains(r.stderr, fmt.Sprintf("127.0.0.1:%d (", server.port(0))))
			}
			assert.Check(t, cmp.Contains(r.stderr, "Choose one with --port, or write its port into $PROJECT/.nrepl-port\n"))
		}
		r := w.asks("--json", "(+ 1 2)")
		assert.Check(t, r.exit == 1 && strings.HasPrefix(r.stdout, `{"ok":false,"values":[],"out":"","err":"","failure":{"message":"2 nREPL servers run in `), "exit %d\n%s", r.exit, r.stdout)
		w.asks("-p", fmt.Sprint(b.port(0)), "(+ 1 2)").is(0, "3\n", "")
	}},
	{40, "brepl: a server that starts later is found by the next call", func(t *testing.T) {
		w := newWorld(t, "")
		w.asks("1").told("no nREPL server")
		w.withREPL().On("1").Value("1")
		w.asks("1").is(0, "1\n", "")
		assert.NilError(t, os.Remove(w.project.Path(".nrepl-port")))
	}},
}
