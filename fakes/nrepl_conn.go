package fakes

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
)

// nreplConn is one connection. One goroutine reads it; replies are written by
// that goroutine and by evaluations.
type nreplConn struct {
	srv   *NREPL
	net   net.Conn
	fault Fault

	write   sync.Mutex
	mute    bool   // guarded by write: nothing more is sent
	foreign int    // guarded by write: number of the last foreign id
	held    []byte // guarded by write: frames that a Joined connection holds back
}

func (c *nreplConn) serve() {
	defer func() {
		c.srv.mu.Lock()
		delete(c.srv.conns, c)
		c.srv.mu.Unlock()
		_ = c.net.Close() // closed twice when the server ends or a fault closes
	}()
	if c.fault.banner != nil {
		c.raw(c.fault.banner)
	}
	r := newBencodeReader(c.net)
	for first := true; ; first = false {
		m, err := r.message()
		if err != nil {
			c.readError(err)
			return
		}
		if first {
			c.spoil()
		}
		c.srv.dispatch(c, m)
	}
}

// readError reports what a correct client never does. A connection that ends
// between two messages, or that the server's side closed, is fine.
func (c *nreplConn) readError(err error) {
	if broken := (*bencodeError)(nil); errors.As(err, &broken) {
		c.srv.problem("the client sent what is %v", err)
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		c.srv.problem("the client closed the connection inside a message")
	}
}

// spoil does what the connection's fault does at the first message.
func (c *nreplConn) spoil() {
	if c.fault.instead != nil {
		c.raw(c.fault.instead)
	}
	c.write.Lock()
	c.mute = c.mute || c.fault.mute
	c.write.Unlock()
	tcp, ok := c.net.(*net.TCPConn)
	switch {
	case c.fault.end == endClose:
		c.shut()
	case c.fault.end == endReset && ok:
		_ = tcp.SetLinger(0) // the client may be gone already
		_ = tcp.Close()
	case c.fault.end == endHalved && ok:
		_ = tcp.CloseWrite()
	}
}

// shut ends the connection as a server does that says its last word: what was
// sent arrives, even if the client has sent more meanwhile.
func (c *nreplConn) shut() {
	c.write.Lock()
	c.mute = true
	c.write.Unlock()
	if tcp, ok := c.net.(*net.TCPConn); ok {
		_ = tcp.CloseWrite() // the client may be gone already
	}
}

// raw writes bytes as they are, or one by one where the fault says so.
func (c *nreplConn) raw(data []byte) {
	c.write.Lock()
	defer c.write.Unlock()
	c.rawLocked(data)
}

// rawLocked ignores write errors: a client that went away is no failure.
func (c *nreplConn) rawLocked(data []byte) {
	if c.mute {
		return
	}
	if !c.fault.split {
		_, _ = c.net.Write(data)
		return
	}
	for i := range data {
		if _, err := c.net.Write(data[i : i+1]); err != nil || !c.srv.sleep(splitPause) {
			return
		}
	}
}

// send writes one reply, with the faults of the connection.
func (c *nreplConn) send(m Message) {
	c.write.Lock()
	defer c.write.Unlock()
	if c.fault.foreign {
		c.foreign++
		id := fmt.Sprintf("foreign-%d", c.foreign)
		for _, f := range []Message{
			{"out": "foreign output\n"}, {"value": ":foreign", "ns": "user"}, {"status": []string{"done"}},
		} {
			f["id"], f["session"] = id, "foreign-session"
			c.rawLocked(f.encode(c.fault.order))
		}
	}
	frame := m.encode(c.fault.order)
	if c.fault.half {
		c.halfLocked(frame)
		return
	}
	if c.fault.joined {
		c.held = append(c.held, frame...)
		if !hasDone(m) {
			return
		}
		frame, c.held = c.held, nil
	}
	c.rawLocked(frame)
}

// halfLocked writes the first half of a frame and closes.
func (c *nreplConn) halfLocked(frame []byte) {
	c.rawLocked(frame[:len(frame)/2])
	c.mute = true
	if tcp, ok := c.net.(*net.TCPConn); ok {
		_ = tcp.CloseWrite() // the client may be gone already
	}
}

// reply answers request m with the fields of r.
func (s *NREPL) reply(c *nreplConn, m Message, r Message) {
	if id, ok := m["id"]; ok {
		r["id"] = id
	}
	r["session"] = s.replySession(m)
	c.send(r)
}

// replySession is the session named in the request, else a fresh one.
func (s *NREPL) replySession(m Message) string {
	if id, ok := m["session"].(string); ok {
		return id
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.freshID()
}

// dispatch answers one message. Evaluations run in goroutines of their own.
func (s *NREPL) dispatch(c *nreplConn, m Message) {
	e, sess, known := s.arrive(m)
	evaluates := known && (e != nil || m.Op() == "eval" || m.Op() == "load-file")
	if !evaluates {
		s.settle(m) // before the reply: an interrupt may wait long for its own
	} else {
		defer s.settle(m) // when the session knows of it
	}
	switch {
	case !known:
		s.reply(c, m, Message{"status": s.dialect.unknownSession})
	case m.Op() == "":
		s.problem("a message without op: %v", m)
		s.reply(c, m, Message{"op": []string{}, "status": s.dialect.unknownOp})
	case m.Op() == "eval" || m.Op() == "load-file":
		s.evaluate(c, m, e, sess)
	case e != nil:
		s.start(c, m, e, sess)
	default:
		s.builtin(c, m, sess)
	}
}

// arrive records a message and finds its expectation and session.
func (s *NREPL) arrive(m Message) (*Expect, *nreplSession, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, m)
	var sess *nreplSession
	if id, ok := m["session"]; ok {
		i := slices.IndexFunc(s.sessions, func(n *nreplSession) bool { return n.id == id && !n.closed })
		if i < 0 {
			return nil, nil, false
		}
		sess = s.sessions[i]
	}
	if sess != nil && m.Op() == "close" {
		sess.closed = true
	}
	for _, e := range s.expects {
		if (e.most < 0 || e.used < e.most) && e.match(m) {
			e.used++
			return e, sess, true
		}
	}
	return nil, sess, true
}

// settle counts a message for AwaitOp.
func (s *NREPL) settle(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled[m.Op()]++
	close(s.changed)
	s.changed = make(chan struct{})
}

// builtin answers the ops that need no script.
func (s *NREPL) builtin(c *nreplConn, m Message, sess *nreplSession) {
	d := &s.dialect
	switch op := m.Op(); {
	case !slices.Contains(d.ops, op):
		s.reply(c, m, Message{"op": op, "status": d.unknownOp})
	case op == "clone":
		s.mu.Lock()
		n := newNREPLSession(s.freshID())
		s.sessions = append(s.sessions, n)
		s.mu.Unlock()
		s.reply(c, m, Message{"new-session": n.id, "status": d.done})
	case op == "describe":
		ops := map[string]any{}
		for _, o := range d.ops {
			ops[o] = map[string]any{}
		}
		s.reply(c, m, Message{"aux": d.describeAux, "ops": ops, "status": d.done, "versions": d.versions})
	case op == "ls-sessions":
		ids := []string{}
		for _, n := range s.Sessions() {
			if !n.Closed {
				ids = append(ids, n.ID)
			}
		}
		s.reply(c, m, Message{"sessions": ids, "status": d.done})
	case op == "stdin":
		s.reply(c, m, Message{"status": d.done}) // goes out before what the input sets free
		if sess != nil {
			sess.feed(m.Text("stdin"))
		}
	case op == "interrupt":
		s.interrupt(c, m, sess)
	case op == "close":
		if sess == nil {
			s.problem("close without a session: %v", m)
		} else if run := s.running(sess); run != nil {
			run.stop()
		}
		s.reply(c, m, Message{"status": d.closed})
	default:
		s.problem("no script for op %q; it arrived as %v", op, m)
		s.reply(c, m, Message{"status": []string{"done", "error"}})
	}
}

// interrupt stops what runs in the session: the evaluation's "done
// interrupted" goes out first, then the "done" of the interrupt.
func (s *NREPL) interrupt(c *nreplConn, m Message, sess *nreplSession) {
	if sess == nil {
		s.reply(c, m, Message{"status": s.dialect.sessionEphemeral})
		return
	}
	run := s.running(sess)
	if run == nil {
		s.reply(c, m, Message{"status": s.dialect.sessionIdle})
		return
	}
	if id, ok := m["interrupt-id"]; ok && id != run.request["id"] {
		s.reply(c, m, Message{"status": s.dialect.interruptOther})
		return
	}
	run.stop()
	s.reply(c, m, Message{"status": s.dialect.interruptDone})
}
