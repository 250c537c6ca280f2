package fakes_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

func TestNREPLFailsAtOnceWithoutAScript(t *testing.T) {
	r := newRecorder(t)
	srv := fakes.NewNREPL(r)
	srv.On("(+ 1 2)").Value("3")
	c := dial(t, srv)
	replies := c.ask("code", "(+ 1 3)", "id", "1", "op", "eval")
	assert.Equal(t, len(replies), 3)
	assert.Assert(t, cmp.Contains(replies[1], "10:eval-error"))
	c.ask("file", "(ns a)", "file-path", "src/a.clj", "id", "2", "op", "load-file")
	want := []string{
		`no script for eval "(+ 1 3)"; it arrived as map[code:(+ 1 3) id:1 op:eval]; still expected: eval "(+ 1 2)"`,
		`no script for load-file "src/a.clj"; it arrived as map[file:(ns a) file-path:src/a.clj id:2 op:load-file]; still expected: eval "(+ 1 2)"`,
	}
	assert.DeepEqual(t, srv.Problems(), want)
	want = append(want, `expectation not used: eval "(+ 1 2)": expected once, used 0 times`)
	got := r.finish()
	for i := range got {
		got[i] = got[i][strings.Index(got[i], ": ")+2:]
	}
	assert.DeepEqual(t, got, want)
	srv.Close()
	assert.Equal(t, len(srv.Problems()), len(want), "unused expectations are reported once")
}

func TestNREPLCountsUses(t *testing.T) {
	tests := []struct {
		name   string
		script func(e *fakes.Expect)
		evals  int
		want   []string
	}{
		{"once", func(*fakes.Expect) {}, 1, nil},
		{"twice is too much", func(*fakes.Expect) {}, 2, []string{`no script for eval "x"; it arrived as map[code:x id:1 op:eval]; still expected: nothing`}},
		{"exactly two", func(e *fakes.Expect) { e.Times(2) }, 2, nil},
		{"one of two", func(e *fakes.Expect) { e.Times(2) }, 1, []string{`expectation not used: eval "x": expected 2 times, used once`}},
		{"never", func(e *fakes.Expect) { e.Times(0) }, 0, nil},
		{"not never", func(e *fakes.Expect) { e.Times(0) }, 1, []string{`no script for eval "x"; it arrived as map[code:x id:1 op:eval]; still expected: nothing`}},
		{"any, none", func(e *fakes.Expect) { e.AnyTimes() }, 0, nil},
		{"any, three", func(e *fakes.Expect) { e.AnyTimes() }, 3, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			srv, err := fakes.StartNREPL()
			assert.NilError(t, err)
			defer srv.Close()
			test.script(srv.On("x").Value("1"))
			c := dial(t, srv)
			for range test.evals {
				c.ask("code", "x", "id", "1", "op", "eval")
			}
			srv.Close()
			assert.DeepEqual(t, srv.Problems(), test.want)
		})
	}
}

func TestNREPLRelaxed(t *testing.T) {
	srv := fakes.NewNREPL(t, fakes.NREPLRelaxed())
	srv.On("unused")
	c := dial(t, srv)
	session := c.clone()
	assert.DeepEqual(t, c.ask("code", "anything", "id", "1", "op", "eval", "session", session), []string{
		reply(session, "2:ns4:user", "5:value3:nil"), reply(session, "", doneStatus),
	})
}

// The fake accepts canonical bencode only: what real servers forgive in a
// client may not survive the next one.
func TestNREPLRefusesBencodeThatIsNotCanonical(t *testing.T) {
	tests := []struct{ name, sent, want string }{
		{"unsorted keys", "d2:op5:clone2:id1:1e", `key "id" after "op": keys must be sorted (byte 15 of the connection)`},
		{"key twice", "d2:id1:12:id1:1e", `key "id" twice (byte 11 of the connection)`},
		{"length with a leading zero", "d02:id1:1e", `string length "02" (byte 3 of the connection)`},
		{"integer with a leading zero", "d2:idi01ee", `integer "01" (byte 8 of the connection)`},
		{"minus zero", "d2:idi-0ee", `integer "-0" (byte 8 of the connection)`},
		{"empty integer", "d2:idiee", `integer "" (byte 6 of the connection)`},
		{"integer too long", "d2:idi999999999999999999999e", "a number of more than 20 digits (byte 26 of the connection)"},
		{"integer over 64 bits", "d2:idi9223372036854775808ee", `integer "9223372036854775808" (byte 25 of the connection)`},
		{"letters in a number", "d2:idi1x", `'x' inside a number (byte 7 of the connection)`},
		{"huge string", "d2:id99999999999:", "a string of 99999999999 bytes (byte 16 of the connection)"},
		{"no dictionary", "l4:evale", `a message starts with 'l' instead of 'd' (byte 0 of the connection)`},
		{"no bencode", "hello", `a message starts with 'h' instead of 'd' (byte 0 of the connection)`},
		{"key no string", "di1e1:xe", `a key starts with 'i' (byte 1 of the connection)`},
		{"value no value", "d2:idxe", `a value starts with 'x' (byte 5 of the connection)`},
		{"nested too deep", "d2:id" + strings.Repeat("l", 100), "nested deeper than 64 (byte 68 of the connection)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRecorder(t)
			srv := fakes.NewNREPL(r)
			c := dial(t, srv)
			c.send(test.sent)
			_, _ = c.rest() // the server closes, as the real one does
			got := srv.Problems()
			assert.DeepEqual(t, got, []string{"the client sent what is not canonical bencode: " + test.want})
			assert.Equal(t, len(r.finish()), 1)
		})
	}
}

func TestNREPLSeesAMessageCutShort(t *testing.T) {
	srv, err := fakes.StartNREPL()
	assert.NilError(t, err)
	defer srv.Close()
	c := dial(t, srv)
	c.send("d2:id1:12:op5:clo")
	assert.NilError(t, c.net.Close())
	whole := dial(t, srv)
	whole.clone()
	assert.NilError(t, whole.net.Close())
	assert.Assert(t, eventually(func() bool { return len(srv.Problems()) > 0 }))
	srv.Close()
	assert.DeepEqual(t, srv.Problems(), []string{"the client closed the connection inside a message"})
}

// nREPL 1.0.0 never answers a line that is a string; the fake says so.
func TestNREPLNamesALineThatIsAString(t *testing.T) {
	srv, err := fakes.StartNREPL()
	assert.NilError(t, err)
	defer srv.Close()
	srv.On("1").Value("1")
	c := dial(t, srv)
	c.send(dict("code", "1", "id", "1", "line", "100", "op", "eval"))
	assert.Assert(t, c.silent())
	assert.DeepEqual(t, srv.Problems(),
		[]string{`"line" is the string "100": nREPL on the JVM never answers that, it must be an integer`})
}

func TestNREPLReportsOddOps(t *testing.T) {
	srv, err := fakes.StartNREPL()
	assert.NilError(t, err)
	defer srv.Close()
	c := dial(t, srv)
	c.ask("id", "1", "op", "close")
	c.ask("id", "1", "op", "completions")
	assert.DeepEqual(t, srv.Problems(), []string{
		"close without a session: map[id:1 op:close]",
		`no script for op "completions"; it arrived as map[id:1 op:completions]`,
	})
}

func TestNREPLStartFailures(t *testing.T) {
	srv := fakes.NewNREPL(t)
	r := newRecorder(t)
	during(func() { fakes.NewNREPL(r, fakes.NREPLOnPort(srv.Port())) })
	got := r.finish()
	assert.Equal(t, len(got), 1)
	assert.Assert(t, cmp.Contains(got[0], "fatal: fakes: cannot start the nREPL server: listen tcp"))

	alone, err := fakes.StartNREPL()
	assert.NilError(t, err)
	defer alone.Close()
	alone.WritePortFile(filepath.Join(t.TempDir(), "absent"))
	assert.Equal(t, len(alone.Problems()), 1)
	assert.Assert(t, cmp.Contains(alone.Problems()[0], "cannot write the port file"))
}

func eventually(cond func() bool) bool {
	for end := time.Now().Add(2 * time.Minute); !cond(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
