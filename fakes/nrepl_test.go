package fakes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

// reply is what the fake answers to a request with id 1, in a session, as
// bencode: the keys between "id" and "session", and those after.
func reply(session, between, after string) string {
	return fmt.Sprintf("d2:id1:1%s7:session%d:%s%se", between, len(session), session, after)
}

const doneStatus = "6:statusl4:donee"

func TestNREPLSessionsAreTracked(t *testing.T) {
	srv := fakes.NewNREPL(t)
	srv.On("1").Value("1").Times(2)
	c := dial(t, srv)
	first, second := c.clone(), c.clone()
	assert.Assert(t, first != second)
	c.ask("code", "1", "id", "1", "op", "eval", "session", first)
	c.ask("code", "1", "id", "1", "op", "eval", "session", first)
	list := c.ask("id", "1", "op", "ls-sessions")[0]
	assert.Assert(t, cmp.Contains(list, "8:sessionsl36:"+first+"36:"+second+"e"))

	assert.DeepEqual(t, c.ask("id", "1", "op", "close", "session", first),
		[]string{reply(first, "", "6:statusl4:done14:session-closede")})
	list = c.ask("id", "1", "op", "ls-sessions")[0]
	assert.Assert(t, cmp.Contains(list, "8:sessionsl36:"+second+"e"))
	assert.DeepEqual(t, c.ask("code", "1", "id", "1", "op", "eval", "session", first),
		[]string{reply(first, "", "6:statusl4:done15:unknown-session5:errore")})

	assert.DeepEqual(t, srv.Sessions(), []fakes.SessionInfo{{ID: first, Evals: 2, Closed: true}, {ID: second}})
	assert.Equal(t, srv.Connections(), 1)
	received := srv.Received()
	assert.Equal(t, len(received), 8)
	assert.DeepEqual(t, received[2], fakes.Message{"code": "1", "id": "1", "op": "eval", "session": first})
	assert.Equal(t, received[2].Op(), "eval")
	assert.Equal(t, received[2].Text("code"), "1")
	assert.Equal(t, received[2].Text("absent"), "")
}

func TestNREPLRunsOneSessionInOrderAndOthersSideBySide(t *testing.T) {
	srv := fakes.NewNREPL(t)
	srv.On("slow").Hang()
	srv.On("quick").Value("quick").Times(2)
	c := dial(t, srv)
	session := c.clone()
	c.send(dict("code", "slow", "id", "1", "op", "eval", "session", session))
	c.send(dict("code", "quick", "id", "2", "op", "eval", "session", session))
	assert.Assert(t, c.silent(), "the second waits for the first")
	assert.DeepEqual(t, srv.Sessions(), []fakes.SessionInfo{{ID: session, Evals: 2, Running: true}})
	sideBySide := c.ask("code", "quick", "id", "3", "op", "eval")
	assert.Assert(t, cmp.Contains(sideBySide[0], "2:id1:3"))
	assert.Assert(t, cmp.Contains(sideBySide[0], "5:value5:quick"))

	c.send(dict("id", "4", "op", "interrupt", "session", session))
	got := []string{c.next(), c.next(), c.next(), c.next()}
	all := strings.Join(got, "\n")
	assert.Assert(t, strings.Contains(got[0], "2:id1:1") && strings.Contains(got[0], "l4:done11:interruptede"), all)
	assert.Assert(t, strings.Contains(all, "2:id1:4") && strings.Contains(all, "5:value5:quick"), all)
	assert.DeepEqual(t, srv.Sessions(), []fakes.SessionInfo{{ID: session, Evals: 2}})
}

func TestNREPLSessionsSurviveTheirConnection(t *testing.T) {
	srv := fakes.NewNREPL(t)
	srv.On("hang").Hang()
	c := dial(t, srv)
	session := c.clone()
	c.send(dict("code", "hang", "id", "1", "op", "eval", "session", session))
	assert.Assert(t, srv.AwaitOp("eval", 1, time.Minute))
	assert.NilError(t, c.net.Close())
	assert.DeepEqual(t, srv.Sessions(), []fakes.SessionInfo{{ID: session, Evals: 1, Running: true}})

	again := dial(t, srv)
	again.send(dict("id", "9", "op", "close", "session", session))
	assert.Assert(t, cmp.Contains(again.next(), "session-closed"))
	assert.DeepEqual(t, srv.Sessions(), []fakes.SessionInfo{{ID: session, Evals: 1, Closed: true}})
}

func TestNREPLUninterruptibleEvaluation(t *testing.T) {
	srv := fakes.NewNREPL(t)
	srv.On("loop").HangUninterruptible()
	c := dial(t, srv)
	session := c.clone()
	c.send(dict("code", "loop", "id", "1", "op", "eval", "session", session))
	assert.DeepEqual(t, c.ask("id", "1", "op", "interrupt", "session", session), []string{reply(session, "", doneStatus)})
	assert.Assert(t, c.silent())
	assert.DeepEqual(t, srv.Sessions(), []fakes.SessionInfo{{ID: session, Evals: 1, Running: true}})
}

func TestNREPLSessionlessEvaluationCannotBeInterrupted(t *testing.T) {
	srv := fakes.NewNREPL(t)
	srv.On("hang").Hang()
	c := dial(t, srv)
	c.send(dict("code", "hang", "id", "1", "op", "eval"))
	assert.Assert(t, cmp.Contains(c.ask("id", "2", "op", "interrupt")[0], "6:statusl4:done17:session-ephemeral5:errore"))
	assert.Assert(t, c.silent())
}

// Output is cut in messages of 1024 UTF-16 units; a pair on the edge becomes
// two question marks, as nREPL 1.0.0 does it.
func TestNREPLCutsLongOutput(t *testing.T) {
	tests := []struct {
		name, out string
		want      []string
	}{
		{"exactly one", strings.Repeat("x", 1024), []string{strings.Repeat("x", 1024)}},
		{"one more", strings.Repeat("x", 1025), []string{strings.Repeat("x", 1024), "x"}},
		{"two-byte characters count once", strings.Repeat("é", 1024), []string{strings.Repeat("é", 1024)}},
		{"pair on the edge", strings.Repeat("x", 1023) + "🐴y", []string{strings.Repeat("x", 1023) + "?", "?y"}},
		{"pair before the edge", strings.Repeat("x", 1022) + "🐴y", []string{strings.Repeat("x", 1022) + "🐴", "y"}},
		{"bytes that are no UTF-8", "a\xffb\n\xfe", []string{"a\xffb\n", "\xfe"}},
		{"lines", "a\n\nb", []string{"a\n", "\n", "b"}},
		{"nothing", "", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			srv := fakes.NewNREPL(t)
			srv.On("p").Out(test.out)
			c := dial(t, srv)
			session := c.clone()
			var want []string
			for _, w := range test.want {
				want = append(want, reply(session, fmt.Sprintf("3:out%d:%s", len(w), w), ""))
			}
			want = append(want, reply(session, "", doneStatus))
			assert.DeepEqual(t, c.ask("code", "p", "id", "1", "op", "eval", "session", session), want)
		})
	}
}

func TestNREPLScriptSteps(t *testing.T) {
	srv := fakes.NewNREPL(t)
	srv.On("message").Message(fakes.Message{"x": []any{int64(1), fakes.Message{"y": "z"}}})
	srv.On("message ends").Message(fakes.Message{"status": []string{"done", "odd"}}).Value("never sent")
	srv.On("raw").Raw([]byte("de"))
	srv.OnMatch("an eval with a line", func(m fakes.Message) bool { return m["line"] == int64(7) }).Value("seven")
	srv.OnOp("clone").Status("error", "done")
	srv.On("twice").Value("1")
	srv.On("twice").Value("2")
	c := dial(t, srv)
	assert.Assert(t, cmp.Contains(c.ask("id", "1", "op", "clone")[0], "6:statusl5:error4:donee"))
	session := c.clone()
	eval := func(code string) []string {
		return c.ask("code", code, "id", "1", "op", "eval", "session", session)
	}
	done := reply(session, "", doneStatus)
	assert.DeepEqual(t, eval("message"), []string{reply(session, "", "1:xli1ed1:y1:zee"), done})
	assert.DeepEqual(t, eval("message ends"), []string{reply(session, "", "6:statusl4:done3:odde")})
	assert.DeepEqual(t, eval("raw"), []string{"de", done})
	c.send("d4:code1:x2:id1:14:linei7e2:op4:eval7:session36:" + session + "e")
	assert.DeepEqual(t, c.untilDone(), []string{reply(session, "2:ns4:user", "5:value5:seven"), done})
	assert.DeepEqual(t, eval("twice"), []string{reply(session, "2:ns4:user", "5:value1:1"), done})
	assert.DeepEqual(t, eval("twice"), []string{reply(session, "2:ns4:user", "5:value1:2"), done})
}

func TestNREPLDropsInTheMiddleOfAnEvaluation(t *testing.T) {
	srv := fakes.NewNREPL(t)
	srv.On("x").Out("before\n").Drop()
	c := dial(t, srv)
	c.send(dict("code", "x", "id", "1", "op", "eval"))
	assert.Assert(t, cmp.Contains(c.next(), "3:out7:before\n"))
	rest, err := c.rest()
	assert.NilError(t, err)
	assert.Assert(t, rest != "" && !strings.HasSuffix(rest, "e"), rest)
}

// Fault 37: the server is killed in the middle of an evaluation.
func TestNREPLCloseEndsARunningEvaluation(t *testing.T) {
	srv := fakes.NewNREPL(t)
	srv.On("x").Hang()
	c := dial(t, srv)
	c.send(dict("code", "x", "id", "1", "op", "eval"))
	assert.Assert(t, srv.AwaitOp("eval", 1, time.Minute))
	assert.Assert(t, !srv.AwaitOp("eval", 2, time.Millisecond))
	srv.Close()
	rest, _ := c.rest() // an orderly end or a reset, both are what a killed server gives
	assert.Equal(t, rest, "")
	err := tryDial(srv)
	assert.ErrorContains(t, err, "refused")
}

func TestNREPLIPv6(t *testing.T) {
	srv, err := fakes.StartNREPL(fakes.NREPLOnIPv6())
	if err != nil {
		t.Skipf("this machine has no ::1, the IPv6 server was not tested: %v", err)
	}
	defer srv.Close()
	assert.Equal(t, srv.Host(), "::1")
	assert.Equal(t, srv.Addr(), fmt.Sprintf("[::1]:%d", srv.Port()))
	dial(t, srv).clone()
}

func TestNREPLPortFile(t *testing.T) {
	srv := fakes.NewNREPL(t)
	dir := t.TempDir()
	path := srv.WritePortFile(dir)
	assert.Equal(t, path, filepath.Join(dir, ".nrepl-port"))
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Equal(t, string(data), fmt.Sprint(srv.Port()))
	assert.Equal(t, srv.Host(), "127.0.0.1")
}

// Fault 34, a stale port; fault 40, the server starts while we wait.
func TestNREPLRefusesAndComesBackOnItsPort(t *testing.T) {
	stale := fakes.NewNREPL(t, fakes.NREPLRefuseAfter(0))
	err := tryDial(stale)
	assert.ErrorContains(t, err, "refused")

	once := fakes.NewNREPL(t, fakes.NREPLRefuseAfter(1))
	c := dial(t, once)
	c.clone()
	err = tryDial(once)
	assert.ErrorContains(t, err, "refused")
	c.clone() // the first connection lives on

	back := fakes.NewNREPL(t, fakes.NREPLOnPort(stale.Port()))
	assert.Equal(t, back.Port(), stale.Port())
	dial(t, back).clone()
}
