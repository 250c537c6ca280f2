package fakes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// initialNs is where every server starts.
const initialNs = "user"

// nreplSession is a cloned session. Its evaluations run one after the other.
type nreplSession struct {
	id    string
	input chan string

	// Guarded by NREPL.mu.
	closed bool
	left   bool // the client was gone before its close was answered
	evals  int
	queue  []*evaluation // what runs, then what waits for it
	ns     string        // the current one, where it is the session's
}

func newNREPLSession(id string) *nreplSession {
	return &nreplSession{id: id, input: make(chan string, 64), ns: initialNs}
}

// feed hands text to a waiting or later read. More than 64 unread texts are
// dropped: no client has reason to send them.
func (n *nreplSession) feed(text string) {
	select {
	case n.input <- text:
	default:
	}
}

func (s *NREPL) running(n *nreplSession) *evaluation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(n.queue) == 0 {
		return nil
	}
	return n.queue[0]
}

// evaluation is one eval or load-file, or another scripted op, on its way
// through the steps of its expectation.
type evaluation struct {
	srv     *NREPL
	conn    *nreplConn
	sess    *nreplSession // nil when the request named no session
	request Message
	session *string // in all replies
	ns      string  // the current one

	// What a server holds back until the end. Only the goroutine of the
	// evaluation touches it.
	heldOut   strings.Builder
	heldValue Message
	failed    bool // the code threw
	unread    bool // the code could not be read

	once        sync.Once
	interrupted chan struct{}
	ended       chan struct{}
	deaf        bool // an interrupt does not reach it
	async       []func()
}

// stop interrupts the evaluation and waits until it has answered, unless it
// cannot be interrupted.
func (e *evaluation) stop() {
	if e.deaf {
		return
	}
	e.once.Do(func() { close(e.interrupted) })
	select {
	case <-e.ended:
	case <-e.srv.closing:
	}
}

// evaluate checks an eval or load-file as strictly as the fake can and starts
// it.
func (s *NREPL) evaluate(c *nreplConn, m Message, expect *Expect, sess *nreplSession) <-chan struct{} {
	field := "code"
	if m.Op() == "load-file" {
		field = "file"
	}
	if _, ok := m[field].(string); !ok {
		s.problem("%s without %q: %v", m.Op(), field, m)
		for _, r := range s.dialect.noCode {
			r = maps.Clone(r)
			if _, names := r["ns"]; names {
				s.mu.Lock()
				r["ns"] = s.ns
				s.mu.Unlock()
			}
			s.reply(c, m, r)
		}
		return nil
	}
	for _, key := range []string{"line", "column"} {
		if v, ok := m[key].(string); ok {
			s.problem("%q is the string %q: nREPL on the JVM never answers that, it must be an integer", key, v)
			if s.dialect.textLineHangs {
				return nil
			}
			break // one problem is enough
		}
	}
	if expect == nil {
		expect = s.unscripted(m)
	}
	return s.start(c, m, expect, sess)
}

// unscripted is the answer to what no expectation foresaw.
func (s *NREPL) unscripted(m Message) *Expect {
	e := &Expect{srv: s}
	if s.cfg.relaxed {
		return e.Value("nil")
	}
	s.mu.Lock()
	var open []string
	for _, x := range s.expects {
		if x.most < 0 || x.used < x.most {
			open = append(open, x.what)
		}
	}
	s.mu.Unlock()
	if len(open) == 0 {
		open = []string{"nothing"}
	}
	s.problem("no script for %s; it arrived as %v; still expected: %s", summary(m), m, strings.Join(open, ", "))
	return e.Thrown("fakes: no script for this evaluation\n", "class fakes.NoScript", "class fakes.NoScript")
}

func summary(m Message) string {
	if m.Op() == "load-file" {
		return fmt.Sprintf("load-file %q", m.Text("file-path"))
	}
	return fmt.Sprintf("eval %q", m.Text("code"))
}

// start runs the steps, after what the session still has to do. Without a
// session evaluations run side by side.
func (s *NREPL) start(c *nreplConn, m Message, expect *Expect, sess *nreplSession) <-chan struct{} {
	e := &evaluation{
		srv: s, conn: c, sess: sess, request: m, session: s.replySession(m),
		interrupted: make(chan struct{}), ended: make(chan struct{}),
	}
	var before *evaluation
	s.mu.Lock()
	steps := slices.Clone(expect.steps)
	e.deaf = expect.deaf
	if sess != nil {
		sess.evals++
		if n := len(sess.queue); n > 0 {
			before = sess.queue[n-1]
		}
		sess.queue = append(sess.queue, e)
	}
	s.mu.Unlock()
	s.wg.Go(func() {
		defer close(e.ended)
		defer e.leave()
		if before != nil {
			select {
			case <-before.ended:
			case <-s.closing:
				return
			}
		}
		e.enterNs()
		e.run(steps)
	})
	return e.ended
}

// enterNs finds the namespace in which the code is evaluated.
func (e *evaluation) enterNs() {
	e.srv.mu.Lock()
	defer e.srv.mu.Unlock()
	switch asked := e.request.Text("ns"); {
	case asked != "" && e.srv.dialect.missingNs != missingNsIgnored:
		e.ns = asked
	case e.srv.dialect.nsGlobal || e.sess == nil:
		e.ns = e.srv.ns
	default:
		e.ns = e.sess.ns
	}
}

// switchNs is what (ns …) does in the code.
func (e *evaluation) switchNs(ns string) {
	e.srv.mu.Lock()
	defer e.srv.mu.Unlock()
	e.ns = ns
	switch {
	case e.srv.dialect.nsGlobal:
		e.srv.ns = ns
	case e.sess != nil && e.request.Op() == "eval": // load-file gives the ns back at its end
		e.sess.ns = ns
	}
}

func (e *evaluation) run(steps []step) {
	finished := true
	for _, st := range steps {
		if (e.unread || e.failed && e.srv.dialect.afterError == afterErrorStops) && !st.always {
			continue // the code stopped at its error
		}
		if e.wasInterrupted() && !st.waits {
			finished = e.stopped()
			break
		}
		if finished = st.do(e); !finished {
			break
		}
	}
	if finished && !e.wasInterrupted() {
		e.release()
		r := Message{"status": e.srv.dialect.done}
		if e.srv.dialect.nsWithDone {
			r["ns"] = e.ns
		}
		e.send(r)
	} else if finished {
		e.stopped()
	}
	for _, late := range e.async {
		e.srv.wg.Go(late)
	}
}

// release sends what the server has held back: the output, then the value.
func (e *evaluation) release() {
	if out := e.heldOut.String(); out != "" {
		e.heldOut.Reset()
		e.send(Message{"out": out})
	}
	if value := e.heldValue; value != nil {
		e.heldValue = nil
		e.send(value)
	}
}

func (e *evaluation) wasInterrupted() bool {
	select {
	case <-e.interrupted:
		return true
	default:
		return false
	}
}

// leave makes the session idle. It comes before the final message, so that a
// client that has read it finds the session idle.
func (e *evaluation) leave() {
	e.srv.mu.Lock()
	defer e.srv.mu.Unlock()
	if e.sess != nil && len(e.sess.queue) > 0 && e.sess.queue[0] == e {
		e.sess.queue = e.sess.queue[1:]
	}
}

// send answers with the request's id and session, and with the faults that
// concern evaluations.
func (e *evaluation) send(r Message) {
	if f := e.conn.fault; f.slow > 0 && !e.srv.sleep(f.slow) {
		return
	}
	e.srv.address(r, e.request, e.session)
	done := hasDone(r)
	if done {
		e.leave()
		if e.conn.fault.noDone {
			return
		}
	}
	e.conn.send(r)
	if done && e.conn.fault.twice {
		e.conn.send(r)
	}
}

func hasDone(r Message) bool {
	status, _ := r["status"].([]string)
	return slices.Contains(status, "done")
}

// wait lets d pass, or for ever where d is negative. It reports false when the
// evaluation was interrupted or the server ended.
func (e *evaluation) wait(d time.Duration) bool {
	var after <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
		return true
	case <-e.interrupted:
		return false
	case <-e.srv.closing:
		return false
	}
}

// stopped answers an interrupt, unless it was the server that ended. It
// reports false: the evaluation is over.
func (e *evaluation) stopped() bool {
	if e.wasInterrupted() {
		e.send(Message{"status": e.srv.dialect.interrupted})
	}
	return false
}
