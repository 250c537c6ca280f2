package nrepl

import (
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// peer is the server's end of a connection, driven by a test line by line.
type peer struct {
	t   *testing.T
	nc  net.Conn
	dec *decoder
}

func newPeer(t *testing.T, nc net.Conn) *peer {
	t.Helper()
	return &peer{t: t, nc: nc, dec: newDecoder(nc, defaultLimits)}
}

// pipe returns a client and its peer, which share nothing with the network.
func pipe(t *testing.T) (*Conn, *peer) {
	t.Helper()
	client, server := net.Pipe()
	return NewConn(client), newPeer(t, server)
}

// session returns a client's session "s-1" on a pipe. The peer's script runs on
// a goroutine of its own, and must have ended before the test does.
func session(t *testing.T, script func(p *peer)) *Session {
	t.Helper()
	c, p := pipe(t)
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = c.nc.Close()
		<-done
	})
	go func() {
		defer close(done)
		defer p.nc.Close()
		p.expect("clone")
		p.send("d2:id1:111:new-session3:s-16:statusl4:doneee")
		script(p)
	}()
	s, err := c.Clone(t.Context())
	assert.NilError(t, err)
	return s
}

// expect reads a request and checks its op.
func (p *peer) expect(op string) Message {
	v, err := p.dec.decode()
	if err != nil {
		p.t.Errorf("peer expected %q: %v", op, err)
		return Message{}
	}
	m := Message(v.(dict))
	if m.Text("op") != op {
		p.t.Errorf("peer expected %q, got %v", op, m)
	}
	return m
}

// gone checks that the client closed the connection and said nothing more.
func (p *peer) gone() {
	rest, err := io.ReadAll(p.dec.r)
	if err != nil || len(rest) > 0 {
		p.t.Errorf("peer expected the end, got %q, %v", rest, err)
	}
}

func (p *peer) send(frames ...string) {
	if _, err := io.WriteString(p.nc, strings.Join(frames, "")); err != nil {
		p.t.Errorf("peer: %v", err)
	}
}

// reply sends frames recorded with the id "1" as an answer to the request.
func (p *peer) reply(request Message, frames ...string) {
	id := request.Text("id")
	text := strings.ReplaceAll(strings.Join(frames, ""), "2:id1:1", "2:id"+strconv.Itoa(len(id))+":"+id)
	p.send(text)
}
