package fakes_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

// Faults 35 and 36: what the connection sends in place of replies, byte for
// byte, and how it ends.
func TestNREPLFaultBytes(t *testing.T) {
	tests := []struct {
		fault fakes.Fault
		want  string
		open  bool // the connection stays open
	}{
		{fakes.Silent(), "", true},
		{fakes.Garbage([]byte{0, 0xff, '\n'}), "\x00\xff\n", true},
		{fakes.HTTPAnswer(), "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request", false},
		{fakes.RedisAnswer(), "-ERR unknown command 'd2:id1:1', with args beginning with: \r\n", true},
		{fakes.SSHBanner(), "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", true},
		{fakes.HugeLength(), "d2:id99999999999:", true},
		{fakes.NegativeLength(), "d2:id-1:", true},
		{fakes.BadInteger(), "d2:idi-0ee", true},
		{fakes.DeepNesting(3), "d1:xllleeee", true},
		{fakes.HalfClosed(), "", false},
	}
	for _, test := range tests {
		t.Run(test.fault.String(), func(t *testing.T) {
			srv := fakes.NewNREPL(t, fakes.NREPLFault(test.fault))
			c := dial(t, srv)
			c.send(dict("id", "1", "op", "clone"))
			got := make([]byte, len(test.want))
			_, err := io.ReadFull(c.r, got)
			assert.NilError(t, err)
			assert.Equal(t, string(got), test.want)
			if test.open {
				assert.Assert(t, c.silent())
				c.send(dict("id", "2", "op", "describe"))
				assert.Assert(t, c.silent())
			} else {
				rest, err := c.rest()
				assert.NilError(t, err)
				assert.Equal(t, rest, "")
				c.send(dict("id", "2", "op", "describe")) // still read
			}
			assert.Assert(t, srv.AwaitOp("describe", 1, time.Minute), "the fake goes on recording")
		})
	}
}

func TestNREPLFaultSSHSpeaksFirst(t *testing.T) {
	srv := fakes.NewNREPL(t, fakes.NREPLFault(fakes.SSHBanner()))
	line, err := dial(t, srv).r.ReadString('\n')
	assert.NilError(t, err)
	assert.Equal(t, line, "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
}

func TestNREPLFaultReset(t *testing.T) {
	srv := fakes.NewNREPL(t, fakes.NREPLFault(fakes.ResetConnection()))
	c := dial(t, srv)
	c.send(dict("id", "1", "op", "clone"))
	_, err := c.rest()
	assert.Assert(t, errors.Is(err, syscall.ECONNRESET), "%v", err)
}

func TestNREPLFaultDropMidFrame(t *testing.T) {
	srv := fakes.NewNREPL(t, fakes.NREPLFault(fakes.DropMidFrame()))
	c := dial(t, srv)
	c.send(dict("id", "1", "op", "clone"))
	rest, err := c.rest()
	assert.NilError(t, err)
	assert.Equal(t, rest, "d2:id1:111:new-session36:5e551000-0000-4000-8000-0000000000017:", "half of the frame")
}

func TestNREPLFaultKeys(t *testing.T) {
	srv := fakes.NewNREPL(t, fakes.NREPLFault(fakes.UnsortedKeys()), fakes.NREPLFaultOnConnection(2, fakes.DuplicateKeys()))
	srv.On("1").Value("1").Times(2)
	session := unsortedClone(t, dial(t, srv))
	second := dial(t, srv)
	third := dial(t, srv)
	request := []string{"code", "1", "id", "1", "op", "eval", "session", session}
	id := "7:session36:" + session
	assert.DeepEqual(t, second.ask(request...), []string{
		"d2:id1:12:id1:12:ns4:user2:ns4:user" + id + id + "5:value1:15:value1:1e",
		"d2:id1:12:id1:1" + id + id + "6:statusl4:donee6:statusl4:doneee",
	})
	assert.DeepEqual(t, third.ask(request...), []string{
		"d5:value1:1" + id + "2:ns4:user2:id1:1e",
		"d6:statusl4:donee" + id + "2:id1:1e",
	})
}

// unsortedClone opens a session where the keys of replies are reversed.
func unsortedClone(t *testing.T, c *rawClient) string {
	t.Helper()
	r := c.ask("id", "1", "op", "clone")[0]
	assert.Assert(t, strings.HasPrefix(r, "d6:statusl4:donee7:session36:"), r)
	_, after, _ := strings.Cut(r, "11:new-session36:")
	return after[:36]
}

// Fault 36: a frame split at every byte. Every byte is a write of its own.
func TestNREPLFaultSplitEveryByte(t *testing.T) {
	srv := fakes.NewNREPL(t, fakes.NREPLFault(fakes.SplitEveryByte()))
	srv.On("é").Value(`"é"`)
	c := dial(t, srv)
	c.send(dict("code", "é", "id", "1", "op", "eval"))
	buf := make([]byte, 512)
	n, err := c.net.Read(buf)
	assert.NilError(t, err)
	rest := string(buf[:n])
	assert.Assert(t, !strings.Contains(rest, "4:done"), "all came in one read")
	for !strings.Contains(rest, "4:done") {
		n, err := c.net.Read(buf)
		assert.NilError(t, err)
		rest += string(buf[:n])
	}
	assert.Assert(t, cmp.Contains(rest, `5:value4:"é"e`))
}

func TestNREPLFaultsOfDone(t *testing.T) {
	t.Run("never", func(t *testing.T) {
		srv := fakes.NewNREPL(t, fakes.NREPLFault(fakes.NeverDone()))
		srv.On("1").Value("1")
		c := dial(t, srv)
		session := c.clone()
		c.send(dict("code", "1", "id", "1", "op", "eval", "session", session))
		assert.Equal(t, c.next(), reply(session, "2:ns4:user", "5:value1:1"))
		assert.Assert(t, c.silent())
	})
	t.Run("twice", func(t *testing.T) {
		srv := fakes.NewNREPL(t, fakes.NREPLFault(fakes.DoneTwice()))
		srv.On("1").Value("1")
		c := dial(t, srv)
		session := c.clone()
		c.ask("code", "1", "id", "1", "op", "eval", "session", session)
		assert.Equal(t, c.next(), reply(session, "", doneStatus))
		assert.Assert(t, c.silent())
	})
}

// Fault 36: several frames in one.
func TestNREPLFaultJoined(t *testing.T) {
	srv := fakes.NewNREPL(t, fakes.NREPLFault(fakes.Joined()))
	srv.On("p").Out("a\nb\n").Value("nil")
	c := dial(t, srv)
	session := c.clone()
	c.send(dict("code", "p", "id", "1", "op", "eval", "session", session))
	buf := make([]byte, 4096)
	n, err := c.net.Read(buf)
	assert.NilError(t, err)
	assert.Equal(t, string(buf[:n]), reply(session, "3:out2:a\n", "")+reply(session, "3:out2:b\n", "")+
		reply(session, "2:ns4:user", "5:value3:nil")+reply(session, "", doneStatus))
}

// Fault 37: endless output, interrupted.
func TestNREPLRepeatedOutput(t *testing.T) {
	srv := fakes.NewNREPL(t)
	srv.On("three").OutRepeated("x\n", 3)
	srv.On("endless").OutRepeated("x\n", 1<<40)
	c := dial(t, srv)
	session := c.clone()
	assert.Equal(t, len(c.ask("code", "three", "id", "1", "op", "eval", "session", session)), 4)
	c.send(dict("code", "endless", "id", "1", "op", "eval", "session", session))
	assert.Equal(t, c.next(), reply(session, "3:out2:x\n", ""))
	c.send(dict("id", "2", "op", "interrupt", "session", session))
	replies := c.untilDone()
	assert.Equal(t, replies[len(replies)-1], reply(session, "", "6:statusl4:done11:interruptede"))
}

func TestNREPLFaultForeignIDs(t *testing.T) {
	srv := fakes.NewNREPL(t, fakes.NREPLFault(fakes.ForeignIDs()))
	c := dial(t, srv)
	c.send(dict("id", "1", "op", "clone"))
	for _, want := range []string{
		"d2:id9:foreign-13:out15:foreign output\n7:session15:foreign-sessione",
		"d2:id9:foreign-12:ns4:user7:session15:foreign-session5:value8::foreigne",
		"d2:id9:foreign-17:session15:foreign-session6:statusl4:doneee",
	} {
		assert.Equal(t, c.next(), want)
	}
	assert.Assert(t, cmp.Contains(c.next(), "11:new-session36:"))
}

func TestNREPLFaultSlowOutput(t *testing.T) {
	srv := fakes.NewNREPL(t, fakes.NREPLFault(fakes.SlowOutput(20*time.Millisecond)))
	srv.On("p").Out("a\nb\n")
	c := dial(t, srv)
	began := time.Now()
	assert.Equal(t, len(c.ask("code", "p", "id", "1", "op", "eval")), 3)
	took := time.Since(began)
	assert.Assert(t, took >= 60*time.Millisecond, "three messages took %v", took)

	// An interrupt ends it between two messages.
	srv.On("long").Out(strings.Repeat("x\n", 10_000))
	session := c.clone()
	c.send(dict("code", "long", "id", "1", "op", "eval", "session", session))
	c.next()
	c.send(dict("id", "2", "op", "interrupt", "session", session))
	replies := c.untilDone()
	assert.Assert(t, len(replies) < 100, "%d replies", len(replies))
	assert.Equal(t, replies[len(replies)-1], reply(session, "", "6:statusl4:done11:interruptede"))
}

// A fault of one connection leaves the others alone.
func TestNREPLFaultOnOneConnection(t *testing.T) {
	srv := fakes.NewNREPL(t, fakes.NREPLFaultOnConnection(1, fakes.HTTPAnswer()))
	first := dial(t, srv)
	first.send(dict("id", "1", "op", "clone"))
	rest, err := first.rest()
	assert.NilError(t, err)
	assert.Assert(t, strings.HasPrefix(rest, "HTTP/1.1 400"))
	dial(t, srv).clone()
	assert.Equal(t, srv.Connections(), 2)
}

// A client that never reads must not keep the server from ending.
func TestNREPLEndsWithAClientThatNeverReads(t *testing.T) {
	srv, err := fakes.StartNREPL()
	assert.NilError(t, err)
	srv.On("much").Raw(make([]byte, 64<<20))
	c, err := net.Dial("tcp", srv.Addr())
	assert.NilError(t, err)
	defer func() { assert.NilError(t, c.Close()) }()
	_, err = fmt.Fprint(c, dict("code", "much", "id", "1", "op", "eval"))
	assert.NilError(t, err)
	assert.Assert(t, srv.AwaitOp("eval", 1, time.Minute))
	time.Sleep(20 * time.Millisecond)
	srv.Close()
	assert.DeepEqual(t, srv.Problems(), []string(nil))
}
