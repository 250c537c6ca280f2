package fakes

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// NREPL is a scripted nREPL server on a loopback port. It behaves like nREPL
// 1.0.0 on the JVM, or like the server chosen with [NREPLPreset]: clone, close,
// describe, ls-sessions, interrupt and stdin answer by themselves, eval and
// load-file follow the script made with [NREPL.On] and its sisters, any other
// op answers "unknown-op".
//
// It is strict. An evaluation without a script fails the test at once and
// answers an error; an expectation that nothing used fails it at the end; so
// does a client whose bencode is not canonical (see [NREPL.Problems]).
//
// All methods may be called from any goroutine.
type NREPL struct {
	t       T // nil outside of tests
	cfg     nreplConfig
	dialect dialect
	ln      port
	addr    net.Addr
	closing chan struct{}
	wg      sync.WaitGroup

	mu        sync.Mutex
	changed   chan struct{} // closed and replaced whenever settled changes
	closed    bool
	conns     map[*nreplConn]struct{}
	accepted  int
	sessions  []*nreplSession
	lastID    int
	received  []Message
	settled   map[string]int // messages by op whose effect on sessions is in place
	expects   []*Expect
	problems  []string
	unchecked bool   // expectations were not yet checked for use
	ns        string // the current one, where it is the server's

	turn chan struct{} // holds a value while a server with turnsServer is busy
}

type nreplConfig struct {
	preset      Preset
	address     string
	socket      string // path of a unix-domain socket; instead of address
	relaxed     bool
	refuseAfter int // -1: never
	fault       Fault
	faults      map[int]Fault // by number of the connection, from 1
	slowClose   time.Duration
}

// NREPLOption changes how a fake server starts.
type NREPLOption func(*nreplConfig)

// NREPLOnIPv6 listens on ::1 only. Without it the server listens on 127.0.0.1
// only.
func NREPLOnIPv6() NREPLOption {
	return func(c *nreplConfig) { c.address = "[::1]:0" }
}

// NREPLOnPort listens on this port of 127.0.0.1 instead of a free one, for
// example to start a server where one was refused before.
func NREPLOnPort(port int) NREPLOption {
	return func(c *nreplConfig) { c.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
}

// NREPLOnSocket listens on a unix-domain socket with this path, as `nrepl.cmdline
// --socket` does, and on no port. [ResetConnection] and [HalfClosed] do nothing
// on it.
func NREPLOnSocket(path string) NREPLOption {
	return func(c *nreplConfig) { c.socket = path }
}

// NREPLRelaxed answers evaluations without a script with nil instead of
// failing, and lets expectations go unused. The codec stays strict.
func NREPLRelaxed() NREPLOption {
	return func(c *nreplConfig) { c.relaxed = true }
}

// NREPLFault gives every connection this fault.
func NREPLFault(f Fault) NREPLOption {
	return func(c *nreplConfig) { c.fault = f }
}

// NREPLFaultOnConnection gives the nth connection, counted from 1, this fault.
// It wins over [NREPLFault].
func NREPLFaultOnConnection(n int, f Fault) NREPLOption {
	return func(c *nreplConfig) { c.faults[n] = f }
}

// NREPLSlowClose answers a close only after this time, as nREPL 1.0 does, which
// takes 100 ms. See [SessionInfo].Left.
func NREPLSlowClose(d time.Duration) NREPLOption {
	return func(c *nreplConfig) { c.slowClose = d }
}

// NREPLRefuseAfter stops listening after n accepted connections, so that the
// next one is refused. 0 makes the port of a server that is gone: a stale port
// file.
func NREPLRefuseAfter(n int) NREPLOption {
	return func(c *nreplConfig) { c.refuseAfter = n }
}

// NewNREPL starts a server that ends with the test.
func NewNREPL(t T, opts ...NREPLOption) *NREPL {
	t.Helper()
	s, err := startNREPL(t, opts)
	if err != nil {
		t.Fatalf("fakes: cannot start the nREPL server: %v", err)
		return nil
	}
	t.Cleanup(s.Close)
	return s
}

// StartNREPL starts a server outside of a test. Ask [NREPL.Problems] for what
// would have failed a test, and end it with [NREPL.Close].
func StartNREPL(opts ...NREPLOption) (*NREPL, error) { return startNREPL(nil, opts) }

func startNREPL(t T, opts []NREPLOption) (*NREPL, error) {
	cfg := nreplConfig{address: "127.0.0.1:0", refuseAfter: -1, faults: map[int]Fault{}}
	for _, o := range opts {
		o(&cfg)
	}
	server, err := cfg.preset.dialect()
	if err != nil {
		return nil, err
	}
	ln, err := cfg.listen()
	if err != nil {
		return nil, err
	}
	s := &NREPL{
		t: t, cfg: cfg, dialect: server, ln: ln, addr: ln.Addr(),
		closing: make(chan struct{}), changed: make(chan struct{}),
		conns: map[*nreplConn]struct{}{}, settled: map[string]int{}, unchecked: true,
		ns: initialNs, turn: make(chan struct{}, 1),
	}
	if cfg.refuseAfter == 0 {
		return s, nil
	}
	s.wg.Go(s.accept)
	return s, nil
}

// Port returns the port the server listens on, 0 with [NREPLOnSocket].
func (s *NREPL) Port() int {
	if tcp, ok := s.addr.(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}

// Host returns the address without the port: "127.0.0.1" or "::1"; "" with
// [NREPLOnSocket].
func (s *NREPL) Host() string {
	if tcp, ok := s.addr.(*net.TCPAddr); ok {
		return tcp.IP.String()
	}
	return ""
}

// Addr returns host and port in the form that net.Dial takes, or the path of the
// socket.
func (s *NREPL) Addr() string { return s.addr.String() }

// WritePortFile writes .nrepl-port into dir as nREPL does, without a newline,
// and returns its path. With [NREPLOnSocket] it is empty, as nREPL leaves it.
func (s *NREPL) WritePortFile(dir string) string {
	path := filepath.Join(dir, ".nrepl-port")
	content := strconv.Itoa(s.Port())
	if s.cfg.socket != "" {
		content = ""
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.problem("cannot write the port file: %v", err)
	}
	return path
}

// Close ends the server as a killed process would: all connections close in
// whatever state they are, and the port is refused. It returns when nothing of
// the server runs any more, and then reports the expectations that were not
// used. Closing twice is fine.
func (s *NREPL) Close() {
	s.crash()
	s.wg.Wait()
	s.checkUnused()
}

// crash ends the server and does not wait for what it leaves behind.
func (s *NREPL) crash() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	conns := make([]*nreplConn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	if first {
		close(s.closing)
		_ = s.ln.Close() // already closed after NREPLRefuseAfter
		s.ln.release()
	}
	for _, c := range conns {
		_ = c.net.Close() // the client may have closed it before
	}
}

func (s *NREPL) checkUnused() {
	s.mu.Lock()
	var unused []string
	if s.unchecked && !s.cfg.relaxed {
		for _, e := range s.expects {
			if e.used < e.least {
				unused = append(unused, fmt.Sprintf("%s: expected %s, used %s", e.what, times(e.least), times(e.used)))
			}
		}
	}
	s.unchecked = false
	s.mu.Unlock()
	for _, u := range unused {
		s.problem("expectation not used: %s", u)
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// Problems returns what was wrong so far, in the order in which it happened:
// evaluations without a script, messages that are not canonical bencode,
// messages that a real server would choke on, and, after [NREPL.Close],
// expectations that were not used. With a T each was reported as an error too.
func (s *NREPL) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

func (s *NREPL) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	s.problems = append(s.problems, text)
	s.mu.Unlock()
	if s.t != nil {
		s.t.Errorf("fakes.NREPL on %s: %s", s.where(), text)
	}
}

func (s *NREPL) where() string {
	if s.cfg.socket != "" {
		return s.cfg.socket
	}
	return "port " + strconv.Itoa(s.Port())
}

// Received returns all messages that arrived so far, in order of arrival.
func (s *NREPL) Received() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// Connections returns how many connections were accepted so far.
func (s *NREPL) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// SessionInfo is what became of one cloned session.
type SessionInfo struct {
	ID      string
	Evals   int  // evaluations sent to it, load-file included
	Running bool // an evaluation has neither ended nor been interrupted
	Closed  bool // the client closed it
	// Left says that the client was gone before its close was answered: nREPL 1.0
	// prints a stack trace on its console then.
	Left bool
}

// Sessions returns the sessions that clients cloned, in order. A session that
// is not Closed at the end is a zombie on a real server, which keeps it for
// ever.
func (s *NREPL) Sessions() []SessionInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	infos := make([]SessionInfo, 0, len(s.sessions))
	for _, n := range s.sessions {
		infos = append(infos, SessionInfo{ID: n.id, Evals: n.evals, Running: len(n.queue) > 0, Closed: n.closed, Left: n.left})
	}
	return infos
}

// AwaitOp waits until at least n messages with this op have arrived, at most
// for limit, and reports whether they have. Use it for a message the client
// sends without waiting for the answer, and before a [NREPL.Close] that is to
// hit a running evaluation. [NREPL.Sessions] knows of a message that was waited
// for.
func (s *NREPL) AwaitOp(op string, n int, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		s.mu.Lock()
		count, changed := s.settled[op], s.changed
		s.mu.Unlock()
		if count >= n {
			return true
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		}
	}
}

func (s *NREPL) accept() {
	for {
		nc, err := s.ln.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				s.problem("accept: %v", err)
			}
			return
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			_ = nc.Close() // nobody is told: the server is gone
			return
		}
		s.accepted++
		number := s.accepted
		c := &nreplConn{srv: s, net: nc, fault: s.cfg.fault}
		if f, ok := s.cfg.faults[number]; ok {
			c.fault = f
		}
		s.conns[c] = struct{}{}
		last := s.cfg.refuseAfter > 0 && number >= s.cfg.refuseAfter
		s.mu.Unlock()
		if last {
			_ = s.ln.Close() // Accept returns net.ErrClosed next
		}
		s.wg.Go(c.serve)
		if last {
			return
		}
	}
}

// freshID returns an id in the form of the real server's. s.mu is held.
func (s *NREPL) freshID() string {
	s.lastID++
	return fmt.Sprintf("5e551000-0000-4000-8000-%012d", s.lastID)
}

// sleep waits for d and reports false when the server ends before.
func (s *NREPL) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.closing:
		return false
	}
}
