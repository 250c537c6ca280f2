package fakes

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
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
		if !c.srv.take() {
			return
		}
		ended := c.srv.dispatch(c, m)
		if c.srv.dialect.turns != turnsSession && !c.srv.over(ended) {
			return
		}
		c.srv.pass()
	}
}

// readError reports what a correct client never does. A connection that ends
// between two messages, or that the server's side closed, is fine.
func (c *nreplConn) readError(err error) {
	if broken := (*bencodeError)(nil); errors.As(err, &broken) {
		c.srv.problem("the client sent what is %v", err)
		switch c.srv.dialect.malformed {
		case malformedCloses:
		case malformedDead:
			_, _ = io.Copy(io.Discard, c.net) // until the client has had enough
		case malformedCrashes:
			c.srv.crash()
		}
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
	if half, ok := c.net.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the client may be gone already
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
	if half, ok := c.net.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the client may be gone already
	}
}

// take waits for the turn of a message where the server has one for all. It
// reports false when the server ends.
func (s *NREPL) take() bool {
	if s.dialect.turns != turnsServer {
		return true
	}
	select {
	case s.turn <- struct{}{}:
		return true
	case <-s.closing:
		return false
	}
}

// pass ends the turn that take began.
func (s *NREPL) pass() {
	if s.dialect.turns == turnsServer {
		<-s.turn
	}
}

// over waits for the end of an evaluation, if there is one. It reports false
// when the server ends before.
func (s *NREPL) over(ended <-chan struct{}) bool {
	if ended == nil {
		return true
	}
	select {
	case <-ended:
		return true
	case <-s.closing:
		return false
	}
}

// reply answers request m with the fields of r.
func (s *NREPL) reply(c *nreplConn, m Message, r Message) {
	s.address(r, m, s.replySession(m))
	c.send(r)
}

// address puts id and session into r, an answer to m.
func (s *NREPL) address(r, m Message, session *string) {
	id, ok := m["id"]
	if n, integer := id.(int64); integer && s.dialect.idAsText {
		id = strconv.FormatInt(n, 10)
	}
	if !ok {
		id = s.dialect.missingID
	}
	if id != nil {
		r["id"] = id
	}
	if session != nil {
		r["session"] = *session
	}
}

// replySession is the session named in the request, else what the server names
// instead; nil for none.
func (s *NREPL) replySession(m Message) *string {
	if id, ok := m["session"].(string); ok {
		return &id
	}
	rule := s.dialect.session
	if m.Op() == "clone" {
		rule = s.dialect.cloneSession
	}
	switch rule.kind {
	case sessionNone:
		return nil
	case sessionNamed:
		return &rule.name
	case sessionFresh:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.freshID()
	return &id
}

// dispatch answers one message. Evaluations run in goroutines of their own; the
// channel closes when this one has ended, and is nil for other messages.
func (s *NREPL) dispatch(c *nreplConn, m Message) <-chan struct{} {
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
		s.unknownOp(c, m, []string{})
	case m.Op() == "eval" || m.Op() == "load-file":
		return s.evaluate(c, m, e, sess)
	case e != nil:
		return s.start(c, m, e, sess)
	default:
		s.builtin(c, m, sess)
	}
	return nil
}

func (s *NREPL) unknownOp(c *nreplConn, m Message, op any) {
	r := Message{"status": s.dialect.unknownOp}
	if s.dialect.unknownOpNames {
		r["op"] = op
	}
	s.reply(c, m, r)
}

// arrive records a message and finds its expectation and session.
func (s *NREPL) arrive(m Message) (*Expect, *nreplSession, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, m)
	var sess *nreplSession
	if id, ok := m["session"]; ok {
		i := slices.IndexFunc(s.sessions, func(n *nreplSession) bool { return n.id == id && !n.closed })
		if i < 0 && !s.dialect.looseSessions {
			return nil, nil, false
		}
		if i >= 0 {
			sess = s.sessions[i]
		}
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
	case op == "interrupt" && d.interrupts == interruptIdle: // not among the ops of describe
		s.reply(c, m, Message{"status": d.sessionIdle})
	case !d.has(op):
		s.unknownOp(c, m, op)
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
		r := Message{"ops": ops, "status": d.done, "versions": d.versions}
		if d.aux != nil {
			r["aux"] = d.aux
		}
		if d.middleware != nil {
			r["middleware"] = d.middleware
		}
		s.reply(c, m, r)
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
		if _, named := m["session"]; !named {
			s.problem("close without a session: %v", m)
		} else if sess == nil {
			s.problem("close of a session that is not there: %v", m) // only where any session will do
		} else if run := s.running(sess); run != nil {
			run.stop()
		}
		s.farewell(c, m, sess)
	default:
		s.problem("no script for op %q; it arrived as %v", op, m)
		s.reply(c, m, Message{"status": []string{"done", "error"}})
	}
}

// farewell answers a close, after a while where the server is slow.
func (s *NREPL) farewell(c *nreplConn, m Message, sess *nreplSession) {
	answer := func() {
		s.mu.Lock()
		if _, there := s.conns[c]; !there && sess != nil {
			sess.left = true
		}
		s.mu.Unlock()
		s.reply(c, m, Message{"status": s.dialect.closed})
	}
	if s.cfg.slowClose == 0 {
		answer()
		return
	}
	s.wg.Go(func() {
		if s.sleep(s.cfg.slowClose) {
			answer()
		}
	})
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
