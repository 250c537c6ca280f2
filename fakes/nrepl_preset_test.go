package fakes_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

// notReplayed names the recorded exchanges that have no transcript in testdata,
// and why. A server without a name stands for all.
var notReplayed = []struct{ transcript, servers, why string }{
	{"02-describe-verbose", "jvm-1.0.0 jvm-1.7", "10 kB of documentation of ops that no client of ours reads"},
	{"03-clone-ls-close", "jvm-1.0.0", "lists the sessions that other exchanges of that run left behind"},
	{"32-big-out-one-print", "", "1 MB; TestPresetOutput cuts as recorded"},
	{"33-big-out-lines", "", "1 MB in 16384 equal messages; 06-eval-out has the rule"},
	{"34-big-value", "", "1 MB in one message, which is what every value is"},
	{"36b-unicode-chunk-boundary", "", "8 kB; TestPresetOutput cuts as recorded"},
	{"43-pipelined", "nbb", "the errors of three evaluations interleave; the fake ends one before the next"},
	{"44-pipelined-sessionless", "nbb", "the errors of three evaluations interleave; the fake ends one before the next"},
	{"46-malformed-bencode", "", "TestPresetMalformedBencode has what becomes of the connection"},
	{"47-unsorted-keys", "", "all five accept them; the fake refuses what is not canonical, on purpose"},
	{"50-print-buffer-options", "", "the fake has no print middleware; script Expect.Message"},
	{"51-print-stream", "", "the fake has no print middleware; script Expect.Message"},
	{"52-eval-read-cond", "let-go", "the server's process ends; script NREPL.Close"},
	{"53-eval-read-cond-default", "let-go", "the server was gone"},
	{"55-completions-lookup", "", "no index of symbols; script NREPL.OnOp"},
	{"57-stack-overflow", "nbb", "ex has 655866 bytes"},
}

// behaviour is a script that says more than the recorded answer shows: what the
// code did that the server did not tell, or when. The other scripts are read
// from the answers, see derive.
type behaviour struct {
	transcript, id string
	servers        string // "" for all
	script         func(e *fakes.Expect)
}

const (
	arithmetic = "class java.lang.ArithmeticException"
	onJVM      = "jvm-1.0.0 jvm-1.7"
)

var behaviours = []behaviour{
	{"06-eval-out", "1", "jvm-1.0.0 jvm-1.7 babashka nbb", func(e *fakes.Expect) {
		e.Out("a").Out("b\n0\n1\n2\nno newline").Value(":v")
	}},
	{"07-eval-err", "1", "", func(e *fakes.Expect) { e.Err("to err\n").Value(":e") }},
	{"08-eval-out-err", "1", "", func(e *fakes.Expect) { e.Out("o1\n").Err("e1\n").Out("o2\n").Value("nil") }},
	{"11-eval-multi", "1", "", func(e *fakes.Expect) {
		e.Value("1", `"two"`, ":three").Out("four\n").Value("nil", "nil")
	}},
	{"12-eval-multi-error-mid", "1", onJVM, func(e *fakes.Expect) {
		e.Out("first\n").Value("nil", "1").Thrown("Execution error (ArithmeticException) at user/eval2374 (REPL:1).\nDivide by zero\n",
			arithmetic, arithmetic).Out("never\n").Value("nil", "2")
	}},
	{"12-eval-multi-error-mid", "1", "babashka", func(e *fakes.Expect) {
		e.Out("first\n").Value("nil", "1").Thrown("java.lang.ArithmeticException: Divide by zero user REPL:1:21\n",
			arithmetic, arithmetic).Out("never\n").Value("nil", "2")
	}},
	{"12-eval-multi-error-mid", "1", "let-go", func(e *fakes.Expect) {
		e.Out("first\n").Value("nil", "1").Thrown("\x1b[1;31merror:\x1b[0m divide by zero\n  \x1b[1;34m-->\x1b[0m <default>:1:21\n"+
			"   \x1b[1;34m|\x1b[0m\n \x1b[1;34m1\x1b[0m \x1b[1;34m|\x1b[0m (println \"first\") 1 (/ 1 0) (println \"never\") 2\n"+
			"   \x1b[1;34m|\x1b[0m                     \x1b[1;31m^^^\x1b[0m\n\n\x1b[1mstack trace:\x1b[0m\n  at / (<default>:1:21)\n\n",
			"let-go.lang.Error", "let-go.lang.Error").Out("never\n").Value("nil", "2")
	}},
	{"14-eval-extra-closer", "1", onJVM, func(e *fakes.Expect) {
		e.Value("3").ReadError("Syntax error reading source at (REPL:1:9).\nUnmatched delimiter: )\n",
			"class clojure.lang.ExceptionInfo", "class java.lang.RuntimeException").Value("5")
	}},
	{"23-namespace-not-found", "1", "", func(e *fakes.Expect) { e.NoSuchNs().Value("1") }},
	{"25-interrupt", "1", "jvm-1.0.0 jvm-1.7 babashka", func(e *fakes.Expect) {
		e.Out("start\n").Delay(time.Minute).Value(":never")
	}},
	// Sent, and never read by the server that sleeps.
	{"25-interrupt", "3", "babashka", func(e *fakes.Expect) { e.AnyTimes() }},
	{"26-interrupt-busy-loop", "1", onJVM, func(e *fakes.Expect) { e.Hang() }},
	{"28-interrupt-mismatch", "1", "jvm-1.0.0 jvm-1.7 babashka", func(e *fakes.Expect) {
		e.Delay(100 * time.Millisecond).Value("nil")
	}},
	{"29-need-input", "1", onJVM, func(e *fakes.Expect) { e.NeedInput().Value(`["hello there" (a b)]`) }},
	{"30-need-input-eof", "1", "jvm-1.0.0", func(e *fakes.Expect) { e.NeedInput().Value("nil") }},
	{"30-need-input-eof", "1", "jvm-1.7", func(e *fakes.Expect) {
		e.NeedInput().Thrown("Execution error (ClassCastException) at nrepl.in.QueuePollingReader/read (QueuePollingReader.java:35).\n"+
			"class java.lang.Long cannot be cast to class java.lang.Character (java.lang.Long and java.lang.Character are in module java.base of loader 'bootstrap')\n",
			"class java.lang.ClassCastException", "class java.lang.ClassCastException")
	}},
	{"31-need-input-unanswered-no-session", "1", onJVM, func(e *fakes.Expect) { e.NeedInput() }},
	{"59-need-input-sessionless-with", "1", "jvm-1.0.0", func(e *fakes.Expect) { e.NeedInput() }},
	{"59-need-input-sessionless-without", "1", "jvm-1.0.0", func(e *fakes.Expect) { e.NeedInput() }},
	// The values of the forms before the last are not told, but by nbb.
	{"37-load-file", "1", "jvm-1.0.0 jvm-1.7 babashka let-go", func(e *fakes.Expect) {
		e.Ns("lf.core").Value("nil", "#'lf.core/f").Out("loading\n").Value("nil", "42")
	}},
	{"44-pipelined-sessionless", "0", onJVM, func(e *fakes.Expect) { e.Delay(300 * time.Millisecond).Value("0") }},
	{"44-pipelined-sessionless", "1", onJVM, func(e *fakes.Expect) { e.Delay(200 * time.Millisecond).Value("1") }},
	{"44-pipelined-sessionless", "2", onJVM, func(e *fakes.Expect) { e.Delay(100 * time.Millisecond).Value("2") }},
	{"44-pipelined-sessionless", "0", "babashka", func(e *fakes.Expect) { e.Delay(30 * time.Millisecond).Value("0") }},
	{"45-async-out-after-done", "1", onJVM, func(e *fakes.Expect) { e.Value(":ret").Async(20*time.Millisecond, "late\n") }},
}

// problemsOf are the transcripts whose client does what the fake calls a
// problem.
var problemsOf = map[string][]string{
	"17-eval-file-line-as-strings": {"never answers that, it must be an integer"},
	"19-no-op":                     {"a message without op"},
	"20-no-code":                   {`eval without "code"`},
}

// TestPresetsAnswerAsRecorded replays what was sent to the five real servers.
// With a script that says what the code did, each preset answers byte for byte
// what its server did, session ids and the numbers of Clojure's eval functions
// apart.
func TestPresetsAnswerAsRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	var mu sync.Mutex
	used := map[int]bool{}
	t.Run("replay", func(t *testing.T) {
		for _, preset := range fakes.Presets() {
			for _, transcript := range sections(t, string(preset)) {
				t.Run(string(preset)+"/"+transcript.name, func(t *testing.T) {
					t.Parallel() // each waits a while for what must not come
					replayPreset(t, preset, transcript, func(i int) {
						mu.Lock()
						defer mu.Unlock()
						used[i] = true
					})
				})
			}
		}
	})
	for i, b := range behaviours {
		assert.Check(t, used[i], "no request takes the script of %s, id %s, %s", b.transcript, b.id, b.servers)
	}
}

func replayPreset(t *testing.T, preset fakes.Preset, transcript section, use func(behaviour int)) {
	t.Helper()
	srv, err := fakes.StartNREPL(fakes.NREPLPreset(preset))
	assert.NilError(t, err)
	defer srv.Close()
	sharesNs := preset == fakes.NBB || preset == fakes.LetGo
	for _, request := range derive(t, transcript.text, sharesNs) {
		e := request.expect(srv)
		i := slices.IndexFunc(behaviours, func(b behaviour) bool {
			return b.transcript == transcript.name && b.id == request.id &&
				(b.servers == "" || slices.Contains(strings.Fields(b.servers), string(preset)))
		})
		if i < 0 {
			request.script(e)
			continue
		}
		use(i)
		behaviours[i].script(e)
	}
	replay(t, dial(t, srv), transcript.text)
	srv.Close()
	problems, want := srv.Problems(), problemsOf[transcript.name]
	assert.Equal(t, len(problems), len(want), "%q", problems)
	for i := range want {
		assert.Assert(t, cmp.Contains(problems[i], want[i]))
	}
}

// TestPresetTranscriptsAreAccountedFor pins the list of what is not replayed: a
// transcript is either in testdata or there with its reason, never both.
func TestPresetTranscriptsAreAccountedFor(t *testing.T) {
	count := 0
	for _, preset := range fakes.Presets() {
		for _, transcript := range sections(t, string(preset)) {
			count++
			for _, n := range notReplayed {
				mine := n.servers == "" || slices.Contains(strings.Fields(n.servers), string(preset))
				assert.Check(t, n.transcript != transcript.name || !mine, "%s of %s is replayed", transcript.name, preset)
			}
		}
	}
	for _, n := range notReplayed {
		assert.Check(t, n.why != "", n.transcript)
	}
	t.Logf("%d transcripts of five servers are replayed, %d kinds are not", count, len(notReplayed))
	assert.Equal(t, count, 234)
}

// section is one transcript.
type section struct{ name, text string }

// sections returns the transcripts of one server.
func sections(t *testing.T, server string) []section {
	t.Helper()
	var all []section
	for part := range strings.SplitSeq(testdata(t, "nrepl", server+".txt"), "\n## ") {
		if head, text, _ := strings.Cut(part, "\n"); !strings.HasPrefix(part, "# ") {
			name, _, _ := strings.Cut(head, ": ")
			all = append(all, section{name, text})
		}
	}
	return all
}

// transcript returns one transcript.
func transcript(t *testing.T, server, name string) string {
	t.Helper()
	all := sections(t, server)
	i := slices.IndexFunc(all, func(s section) bool { return s.name == name })
	assert.Assert(t, i >= 0, "no transcript %s of %s", name, server)
	return all[i].text
}

// evalRequest is one recorded eval or load-file, and what its answers say that
// the code did.
type evalRequest struct {
	id     string
	fields fakes.Message
	steps  []func(*fakes.Expect)
}

func (r *evalRequest) expect(srv *fakes.NREPL) *fakes.Expect {
	if r.fields.Op() == "load-file" {
		return srv.OnLoadFileContains(r.fields.Text("file"))
	}
	return srv.On(r.fields.Text("code"))
}

func (r *evalRequest) script(e *fakes.Expect) {
	for _, step := range r.steps {
		step(e)
	}
}

func (r *evalRequest) add(step func(*fakes.Expect)) { r.steps = append(r.steps, step) }

// derive reads what the code did from the answers: what it printed, in one
// piece; its values; what it threw. How that is cut, where it stands and which
// statuses go with it is left to the preset.
func derive(t *testing.T, text string, sharesNs bool) []*evalRequest {
	t.Helper()
	var requests []*evalRequest
	var out, thrown string
	ns := "user"
	for line := range strings.Lines(text) {
		direction, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
		if direction == "" {
			continue
		}
		frame, err := strconv.Unquote(quoted)
		assert.NilError(t, err, "%s", quoted)
		value, _ := decode(t, frame)
		m := fakes.Message(value.(map[string]any))
		if direction == ">" {
			evaluates := m.Op() == "eval" && m["code"] != nil || m.Op() == "load-file"
			if _, hangs := m["line"].(string); evaluates && (!hangs || strings.Count(text, "\n< ") > 1) {
				id, _ := m["id"].(string)
				requests = append(requests, &evalRequest{id: id, fields: m})
			}
			continue
		}
		id, _ := m["id"].(string)
		i := slices.IndexFunc(requests, func(r *evalRequest) bool { return r.id == id || r.id == "" })
		if i < 0 || m["new-session"] != nil {
			continue // an answer to another op
		}
		r := requests[i]
		if statuses, _ := m["status"].([]any); slices.Contains(statuses, any("unknown-session")) {
			requests = slices.Delete(requests, i, i+1) // refused before anything was evaluated
			continue
		}
		flush := func() {
			if printed := out; printed != "" {
				r.add(func(e *fakes.Expect) { e.Out(printed) })
			}
			out = ""
		}
		if s := m.Text("out"); s != "" {
			out += s
			continue
		}
		flush()
		if s := m.Text("ns"); sharesNs && s != "" && s != ns && (m["ex"] == nil || r.fields.Op() == "eval") {
			ns = s
			r.add(func(e *fakes.Expect) { e.Ns(s) })
		}
		thrown += m.Text("err")
		if v, ok := m["value"].(string); ok {
			r.add(func(e *fakes.Expect) { e.Value(v) })
		}
		if m["ex"] != nil {
			text := thrown
			r.add(func(e *fakes.Expect) { e.Thrown(text, m.Text("ex"), m.Text("root-ex")) })
			thrown = ""
		} else if thrown != "" && m["err"] == nil {
			text := thrown
			r.add(func(e *fakes.Expect) { e.Err(text) })
			thrown = ""
		}
	}
	return requests
}

// decode reads one bencode value and returns what follows it.
func decode(t *testing.T, s string) (any, string) {
	t.Helper()
	switch s[0] {
	case 'd':
		m := map[string]any{}
		for s = s[1:]; s[0] != 'e'; {
			var key, value any
			key, s = decode(t, s)
			value, s = decode(t, s)
			m[key.(string)] = value
		}
		return m, s[1:]
	case 'l':
		list := []any{}
		for s = s[1:]; s[0] != 'e'; {
			var value any
			value, s = decode(t, s)
			list = append(list, value)
		}
		return list, s[1:]
	case 'i':
		digits, rest, _ := strings.Cut(s[1:], "e")
		n, err := strconv.ParseInt(digits, 10, 64)
		assert.NilError(t, err)
		return n, rest
	}
	digits, rest, _ := strings.Cut(s, ":")
	n, err := strconv.Atoi(digits)
	assert.NilError(t, err)
	return rest[:n], rest[n:]
}

// What becomes of the connection, and of the server, after "hello world", as in
// the recordings 46-malformed-bencode.
func TestPresetMalformedBencode(t *testing.T) {
	tests := map[fakes.Preset]struct{ dead, crashed bool }{
		fakes.JVM1_0: {}, fakes.JVM1_7: {}, fakes.LetGo: {},
		fakes.Babashka: {dead: true}, fakes.NBB: {crashed: true},
	}
	for _, preset := range fakes.Presets() {
		t.Run(string(preset), func(t *testing.T) {
			want, listed := tests[preset]
			assert.Assert(t, listed)
			srv, err := fakes.StartNREPL(fakes.NREPLPreset(preset))
			assert.NilError(t, err)
			defer srv.Close()
			c := dial(t, srv)
			c.send("hello world")
			if want.dead {
				c.send(dict("id", "2", "op", "describe"))
				assert.Assert(t, c.silent())
			} else {
				_, err := c.r.ReadByte()
				assert.Assert(t, err != nil, "an answer to no bencode")
			}
			if want.crashed {
				assert.Assert(t, eventually(func() bool { return tryDial(srv) != nil }), "the server still listens")
			} else {
				assert.NilError(t, tryDial(srv))
			}
			assert.Equal(t, len(srv.Problems()), 1)
		})
	}
}

// How a long line is cut, as in the recordings 32-big-out-one-print and
// 36b-unicode-chunk-boundary.
func TestPresetOutput(t *testing.T) {
	tests := map[fakes.Preset][]string{
		fakes.JVM1_0:   {strings.Repeat("x", 1023) + "?", "?y", "\n"},
		fakes.JVM1_7:   {strings.Repeat("x", 1023), "🐴y", "\n"},
		fakes.Babashka: {strings.Repeat("x", 1023) + "?", "?y", "\n"},
		fakes.NBB:      {strings.Repeat("x", 1023) + "🐴y", "\n"},
		fakes.LetGo:    {strings.Repeat("x", 1023) + "🐴y\nz\n"},
	}
	for preset, want := range tests {
		t.Run(string(preset), func(t *testing.T) {
			srv := fakes.NewNREPL(t, fakes.NREPLPreset(preset))
			srv.On("p").Out(strings.Repeat("x", 1023) + "🐴y\n").Out("z\n")
			var outs []string
			for _, reply := range dial(t, srv).ask("code", "p", "id", "1", "op", "eval") {
				m, _ := decode(t, reply)
				if out, ok := m.(map[string]any)["out"].(string); ok {
					outs = append(outs, out)
				}
			}
			switch preset {
			case fakes.LetGo:
			case fakes.NBB:
				want = append(want, "z", "\n")
			default:
				want[1] += "\n"
				want = append(want[:2:2], "z\n")
			}
			assert.DeepEqual(t, outs, want)
		})
	}
}

// nbb has one thread: a busy loop blocks every connection. On babashka and
// let-go it blocks its own.
func TestPresetBusyLoop(t *testing.T) {
	for _, preset := range []fakes.Preset{fakes.Babashka, fakes.NBB, fakes.LetGo} {
		t.Run(string(preset), func(t *testing.T) {
			srv := fakes.NewNREPL(t, fakes.NREPLPreset(preset))
			srv.On("loop").Hang()
			busy, other := dial(t, srv), dial(t, srv)
			busy.send(dict("code", "loop", "id", "1", "op", "eval"))
			assert.Assert(t, srv.AwaitOp("eval", 1, time.Minute))
			busy.send(dict("id", "2", "op", "describe"))
			assert.Assert(t, busy.silent())
			other.send(dict("id", "1", "op", "describe"))
			assert.Equal(t, other.silent(), preset == fakes.NBB)
		})
	}
}

func TestPresetExceptions(t *testing.T) {
	tests := map[fakes.Preset][2]string{
		fakes.JVM1_0:   {"Execution error (ArithmeticException) at user/eval2366 (REPL:1).\nDivide by zero\n", arithmetic},
		fakes.JVM1_7:   {"Execution error (ArithmeticException) at user/eval2366 (REPL:1).\nDivide by zero\n", arithmetic},
		fakes.Babashka: {"java.lang.ArithmeticException: Divide by zero user REPL:1:1\n", arithmetic},
		fakes.NBB: {
			"Divide by zero\n",
			`#error {:message "Divide by zero", :data {:type :sci/error, :line 1, :column 1, :message "Divide by zero"}}`,
		},
		fakes.LetGo: {"\x1b[1;31merror:\x1b[0m Divide by zero\n\n", "let-go.lang.Error"},
	}
	for preset, want := range tests {
		t.Run(string(preset), func(t *testing.T) {
			srv := fakes.NewNREPL(t, fakes.NREPLPreset(preset))
			srv.On("(/ 1 0)").Exception("java.lang.ArithmeticException", "Divide by zero")
			var got [2]string
			for _, reply := range dial(t, srv).ask("code", "(/ 1 0)", "id", "1", "op", "eval") {
				m, _ := decode(t, reply)
				message := fakes.Message(m.(map[string]any))
				got[0] += message.Text("err")
				got[1] += message.Text("ex")
			}
			assert.Equal(t, got, want)
		})
	}
}

// (ns …) in an eval stays in the session, in a load-file it does not.
func TestNREPLKeepsTheNamespace(t *testing.T) {
	srv := fakes.NewNREPL(t)
	srv.On("(ns a)").Ns("a").Value("nil")
	srv.OnLoadFile("b.clj").Ns("b").Value("nil")
	srv.On("1").Value("1").Times(2)
	c := dial(t, srv)
	session := c.clone()
	c.ask("code", "(ns a)", "id", "1", "op", "eval", "session", session)
	c.ask("file", "(ns b)", "file-path", "b.clj", "id", "2", "op", "load-file", "session", session)
	in := c.ask("code", "1", "id", "3", "op", "eval", "session", session)
	assert.Assert(t, cmp.Contains(in[0], "2:ns1:a"))
	without := c.ask("code", "1", "id", "4", "op", "eval")
	assert.Assert(t, cmp.Contains(without[0], "2:ns4:user"))
}

func TestPresetProblems(t *testing.T) {
	_, err := fakes.StartNREPL(fakes.NREPLPreset("cider"))
	assert.Error(t, err, `no nREPL preset "cider"; there are jvm-1.0.0, jvm-1.7, babashka, nbb, let-go`)

	srv, err := fakes.StartNREPL(fakes.NREPLPreset(fakes.NBB))
	assert.NilError(t, err)
	defer srv.Close()
	srv.On("(read-line)").NeedInput()
	c := dial(t, srv)
	c.ask("code", "(read-line)", "id", "1", "op", "eval")
	c.ask("id", "2", "op", "close", "session", "gone")
	assert.DeepEqual(t, srv.Problems(), []string{
		"the script says NeedInput, but nbb never asks for input; script the error it answers",
		"close of a session that is not there: map[id:2 op:close session:gone]",
	})
}
