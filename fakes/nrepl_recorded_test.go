package fakes_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
)

// TestNREPLAnswersAsRecorded replays byte transcripts of nREPL 1.0.0 against
// the fake: with the right script it sends the same bytes in the same order,
// session ids and the numbers of Clojure's eval functions apart.
func TestNREPLAnswersAsRecorded(t *testing.T) {
	const interruptedSleep = "(do (println \"start\") (Thread/sleep 60000) :never)"
	const divided = "Execution error (ArithmeticException) at user/eval2374 (REPL:1).\nDivide by zero\n"
	tests := []struct {
		file     string
		script   func(s *fakes.NREPL)
		problems []string
	}{
		{file: "01-describe"},
		{file: "04-eval-value", script: func(s *fakes.NREPL) { s.On("(+ 1 2)").Value("3") }},
		{file: "06-eval-out", script: func(s *fakes.NREPL) {
			s.OnContains("no newline").Out("a").Out("b\n0\n1\n2\nno newline").Value(":v")
		}},
		{file: "07-eval-err", script: func(s *fakes.NREPL) { s.OnContains("to err").Err("to err\n").Value(":e") }},
		{file: "09-eval-exception", script: func(s *fakes.NREPL) {
			s.On("(/ 1 0)").Exception("java.lang.ArithmeticException", "Divide by zero")
		}},
		{file: "11-eval-multi", script: func(s *fakes.NREPL) {
			s.OnContains("four").Value("1", `"two"`, ":three").Out("four\n").Value("nil", "nil")
		}},
		{file: "12-eval-multi-error-mid", script: func(s *fakes.NREPL) {
			s.OnContains("never").Out("first\n").Value("nil", "1").
				Thrown(divided, arithmetic, arithmetic).Out("never\n").Value("nil", "2")
		}},
		{file: "18-unknown-op"},
		{file: "19-no-op", problems: []string{"a message without op: map[code:1 id:1]"}},
		{file: "20-no-code", problems: []string{`eval without "code": map[id:1 op:eval]`}},
		{file: "21-no-id", script: func(s *fakes.NREPL) { s.On("(+ 1 1)").Value("2") }},
		{file: "22-unknown-session"},
		{file: "23-namespace-not-found", script: func(s *fakes.NREPL) {
			s.On("1").Status("namespace-not-found", "done", "error")
		}},
		{file: "24-eval-in-ns", script: func(s *fakes.NREPL) {
			s.On("*ns*").Value(`#object[clojure.lang.Namespace 0x69a0f01e "clojure.string"]`)
		}},
		{file: "25-interrupt", script: func(s *fakes.NREPL) {
			s.On(interruptedSleep).Out("start\n").Delay(60e9).Value(":never")
			s.On(":alive").Value(":alive")
		}},
		{file: "26-interrupt-busy-loop", script: func(s *fakes.NREPL) {
			s.OnContains("recur").Hang()
			s.On("(do :alive)").Value(":alive")
		}},
		{file: "27-interrupt-idle"},
		{file: "28-interrupt-mismatch", script: func(s *fakes.NREPL) {
			s.On("(Thread/sleep 1500)").Delay(100e6).Value("nil")
		}},
		{file: "29-need-input", script: func(s *fakes.NREPL) {
			s.OnContains("read-line").NeedInput().Value(`["hello there" (a b)]`)
		}},
		{file: "30-need-input-eof", script: func(s *fakes.NREPL) { s.On("(read-line)").NeedInput().Value("nil") }},
		{file: "37-load-file", script: func(s *fakes.NREPL) {
			s.OnLoadFile("/tmp/lf/src/lf/core.clj").Out("loading\n").Value("42")
			s.OnContains("lf.core/f").Value(`[#object[clojure.lang.Namespace 0x1376ecfa "user"] 2 "/tmp/lf/src/lf/core.clj" 2]`)
		}},
		{file: "38-load-file-syntax-error", script: func(s *fakes.NREPL) {
			s.OnLoadFileContains("(ns lf.bad)").Thrown(
				"Syntax error reading source at (/tmp/lf/src/lf/bad.clj:5:1).\nEOF while reading, starting at line 3\n",
				"class clojure.lang.Compiler$CompilerException", "class clojure.lang.Compiler$CompilerException")
		}},
		{file: "45-async-out-after-done", script: func(s *fakes.NREPL) {
			s.OnContains("future").Value(":ret").Async(20e6, "late\n")
		}},
		{file: "48-empty-code", script: func(s *fakes.NREPL) {
			s.On("")
			s.On("; only a comment")
		}},
		{file: "49-id-integer", script: func(s *fakes.NREPL) { s.On("1").Value("1") }},
		{file: "59-need-input-sessionless-with", script: func(s *fakes.NREPL) { s.On("(read-line)").NeedInput() }},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			srv, err := fakes.StartNREPL()
			assert.NilError(t, err)
			defer srv.Close()
			if test.script != nil {
				test.script(srv)
			}
			replay(t, dial(t, srv), transcript(t, "jvm-1.0.0", test.file))
			srv.Close()
			assert.DeepEqual(t, srv.Problems(), test.problems)
		})
	}
}

// replay sends the recorded requests and compares the answers. Recorded
// session ids become those of the fake, in order of appearance.
func replay(t *testing.T, c *rawClient, text string) {
	t.Helper()
	id := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	evalNumber := regexp.MustCompile(`eval\d{4} `)
	ids := map[string]string{}
	translate := func(s string) string {
		return evalNumber.ReplaceAllString(id.ReplaceAllStringFunc(s, func(u string) string {
			if v, ok := ids[u]; ok {
				return v
			}
			return u
		}), "evalNNNN ")
	}
	steps := 0
	for line := range strings.Lines(text) {
		direction, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
		if direction == "" {
			continue
		}
		frame, err := strconv.Unquote(quoted)
		assert.NilError(t, err, "%s", quoted)
		steps++
		if direction == ">" {
			c.send(translate(frame))
			continue
		}
		got := c.next()
		want, have := id.FindAllString(frame, -1), id.FindAllString(got, -1)
		for i := range min(len(want), len(have)) {
			if _, ok := ids[want[i]]; !ok {
				ids[want[i]] = have[i]
			}
		}
		assert.Equal(t, evalNumber.ReplaceAllString(got, "evalNNNN "), translate(frame))
	}
	assert.Assert(t, steps > 1, "an empty transcript")
	assert.Assert(t, c.silent(), "the fake sent more than was recorded")
}
