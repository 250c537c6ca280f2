package nrepl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Bounds for a call whose context has no deadline.
const (
	opTimeout   = 30 * time.Second
	evalTimeout = 10 * time.Minute
)

// Conn is a connection to an nREPL server. Its methods may be called from any
// goroutine; operations that wait for an answer run one after the other.
//
// Messages are read by the call that waits for them, so nothing is read, and
// no goroutine runs, between calls. After a timeout, a ProtocolError or
// ErrClosed the connection is closed: part of a message may have been lost.
type Conn struct {
	// Limits bounds the evaluations that start after it is set.
	Limits Limits
	// Trace is called with each message that is sent or was received, those
	// that nobody waits for included; never twice at the same time. It must not
	// change the message. Set it before the first call, or in Lookup.Trace.
	Trace func(sent bool, m Message)

	nc     net.Conn
	dec    *decoder
	addr   string
	target Target
	passed []string

	op    chan struct{} // held by the operation that reads
	write chan struct{} // held by whoever writes

	tracing sync.Mutex // held while Trace runs

	mu       sync.Mutex
	lastID   int
	sessions []*Session // open ones, closed with the connection
	closing  []string   // ids of the closes that are not answered yet
	spare    *Session   // cloned by Connect, not yet given out
	dead     error      // why the connection is closed
}

// NewConn returns a client on an open connection, which it then owns. It sends
// nothing. Connect is the usual way to a Conn.
func NewConn(nc net.Conn) *Conn {
	return &Conn{
		nc:    nc,
		dec:   newDecoder(quickReader(nc), defaultLimits),
		addr:  nc.RemoteAddr().String(),
		op:    make(chan struct{}, 1),
		write: make(chan struct{}, 1),
	}
}

// Target returns where Connect found the server; zero for a NewConn.
func (c *Conn) Target() Target { return c.target }

// Addr returns the address of the server, host:port.
func (c *Conn) Addr() string { return c.addr }

// PassedOver returns one line for each place that Connect tried before it found
// this server, for example a stale port file. The user may want to know.
func (c *Conn) PassedOver() []string { return slices.Clone(c.passed) }

// Clone makes a session: evaluations in it can be interrupted and given input,
// and keep *1, *e and in-ns to themselves. The first Clone after Connect costs
// no round trip.
func (c *Conn) Clone(ctx context.Context) (*Session, error) {
	c.mu.Lock()
	spare, dead := c.spare, c.dead
	c.spare = nil
	c.mu.Unlock()
	if spare != nil && dead == nil {
		return spare, nil
	}
	return c.clone(ctx)
}

func (c *Conn) clone(ctx context.Context) (*Session, error) {
	var id string
	err := c.call(ctx, map[string]any{"op": "clone"}, func(m Message) {
		if s := m.Text("new-session"); s != "" {
			id = s
		}
	})
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, &ProtocolError{Reason: "the answer to clone has no new-session"}
	}
	s := &Session{conn: c, id: id}
	c.mu.Lock()
	c.sessions = append(c.sessions, s)
	c.mu.Unlock()
	return s, nil
}

// Description is what a server says about itself.
type Description struct {
	Versions map[string]string // for example "clojure": "1.11.1", "nrepl": "1.0.0"
	Ops      []string          // sorted
}

// Has says whether the server knows the op.
func (d Description) Has(op string) bool {
	_, found := slices.BinarySearch(d.Ops, op)
	return found
}

// Describe asks the server for its versions and ops.
func (c *Conn) Describe(ctx context.Context) (Description, error) {
	d := Description{Versions: map[string]string{}}
	err := c.call(ctx, map[string]any{"op": "describe"}, func(m Message) {
		versions, _ := m["versions"].(map[string]any)
		for name, version := range versions {
			switch v := version.(type) {
			case string: // babashka.nrepl, let-go
				d.Versions[name] = v
			case map[string]any:
				d.Versions[name] = Message(v).Text("version-string")
			}
		}
		ops, _ := m["ops"].(map[string]any)
		for op := range ops {
			d.Ops = append(d.Ops, op)
		}
	})
	slices.Sort(d.Ops)
	return d, err
}

// LsSessions returns the ids of all sessions of the server, of other clients
// too.
func (c *Conn) LsSessions(ctx context.Context) ([]string, error) {
	var ids []string
	err := c.call(ctx, map[string]any{"op": "ls-sessions"}, func(m Message) {
		sessions, _ := m["sessions"].([]any)
		for _, s := range sessions {
			if id, ok := s.(string); ok {
				ids = append(ids, id)
			}
		}
	})
	return ids, err
}

// Close tells the server that the open sessions are no longer needed and closes
// the connection. It takes at most Limits.Grace and Limits.Linger. Closing twice
// is fine.
func (c *Conn) Close() error {
	select {
	case c.op <- struct{}{}:
		defer func() { <-c.op }()
		return c.end(errors.New("it was closed by the client"), true)
	default: // a call is running, and ends with ErrClosed
		return c.end(errors.New("it was closed by the client"), false)
	}
}

// end closes the sessions and the connection. mayRead says that the caller has
// the op lock and stands between two messages.
func (c *Conn) end(why error, mayRead bool) error {
	c.mu.Lock()
	open := slices.Clone(c.sessions)
	c.mu.Unlock()
	for _, s := range open {
		// The connection is closed all the same, and an error there says more.
		_ = s.Close()
	}
	if mayRead {
		c.linger()
	}
	return c.shut(why)
}

// linger reads until each closed session is confirmed, at most Limits.Linger.
func (c *Conn) linger() {
	if c.Limits.Linger <= 0 || c.nc.SetReadDeadline(time.Now().Add(c.Limits.Linger)) != nil {
		return
	}
	for c.farewells() > 0 {
		if _, err := c.receive(); err != nil {
			return
		}
	}
}

// farewells returns how many closes are not answered yet.
func (c *Conn) farewells() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead != nil {
		return 0
	}
	return len(c.closing)
}

// shut closes the connection and remembers why. Later calls keep the first
// reason.
func (c *Conn) shut(why error) error {
	c.mu.Lock()
	first := c.dead == nil
	if first {
		c.dead = why
	}
	c.mu.Unlock()
	if !first {
		return nil
	}
	// The half-close lets the server read our last words even where it has
	// answers under way that we will not read.
	if half, ok := c.nc.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	return c.nc.Close()
}

// call sends a request that is no evaluation and gives each message of its
// answer to each, until "done".
func (c *Conn) call(ctx context.Context, request map[string]any, each func(Message)) error {
	op := Message(request).Text("op")
	start := time.Now()
	ctx, cancel := withTimeout(ctx, opTimeout)
	defer cancel()
	release, err := c.begin(ctx, op, start)
	if err != nil {
		return err
	}
	defer release()

	id := c.nextID()
	request["id"] = id
	if err = c.send(ctx, request); err != nil {
		return c.fail(ctx, op, start, err)
	}
	defer guard(ctx, c.nc.SetReadDeadline)()
	status := Status{}
	for !status["done"] {
		var m Message
		if m, err = c.receive(); err != nil {
			return c.fail(ctx, op, start, err)
		}
		if m.Text("id") != id {
			continue
		}
		each(m)
		for word := range m.Status() {
			if len(status) < maxStatus || word == "done" {
				status[word] = true
			}
		}
	}
	if status["error"] || status["unknown-op"] {
		return &OpError{Op: op, Status: status}
	}
	return nil
}

// begin waits until no other operation reads.
func (c *Conn) begin(ctx context.Context, op string, start time.Time) (release func(), err error) {
	select {
	case c.op <- struct{}{}:
	case <-ctx.Done():
		return nil, &TimeoutError{Op: op, Addr: c.addr, After: time.Since(start), waiting: true, cause: ctx.Err()}
	}
	return func() { <-c.op }, nil
}

// send writes one request, bounded by the context.
func (c *Conn) send(ctx context.Context, request map[string]any) error {
	frame, err := appendDict(nil, request)
	if err != nil {
		return err
	}
	select {
	case c.write <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.write }()
	c.mu.Lock()
	dead := c.dead
	c.mu.Unlock()
	if dead != nil {
		return dead
	}
	c.trace(true, request)
	defer guard(ctx, c.nc.SetWriteDeadline)()
	n, err := c.nc.Write(frame)
	if err != nil && n > 0 {
		// Half a frame is out: whatever follows would be read as its rest.
		_ = c.shut(err)
	}
	return err
}

// receive reads one message. A message that is no dict is a *ProtocolError.
func (c *Conn) receive() (Message, error) {
	v, err := c.dec.decode()
	if err != nil {
		return nil, err
	}
	dict, ok := v.(map[string]any)
	if !ok {
		return nil, c.dec.errorf("a message must be a dict")
	}
	c.dec.whole++
	m := Message(dict)
	c.trace(false, m)
	c.mu.Lock()
	if i := slices.Index(c.closing, m.Text("id")); i >= 0 && m.Status()["done"] {
		c.closing = slices.Delete(c.closing, i, i+1)
	}
	c.mu.Unlock()
	return m, nil
}

func (c *Conn) trace(sent bool, m Message) {
	if c.Trace != nil {
		c.tracing.Lock()
		defer c.tracing.Unlock()
		c.Trace(sent, m)
	}
}

// fail turns what ended a call into the error to return, and closes the
// connection: it may stand in the middle of a message.
func (c *Conn) fail(ctx context.Context, op string, start time.Time, err error) error {
	c.mu.Lock()
	dead := c.dead
	c.mu.Unlock()
	var protocol *ProtocolError
	switch {
	case errors.As(err, &protocol):
	case ctx.Err() != nil:
		err = &TimeoutError{Op: op, Addr: c.addr, After: time.Since(start), cause: ctx.Err()}
		_ = c.end(err, false)
	case dead != nil:
		err = fmt.Errorf("%s: %w earlier: %v", c.addr, ErrClosed, dead) //nolint:errorlint // the reason is an event of the past, not this error
	default:
		err = fmt.Errorf("%s: %w during %s, after %s: %w", c.addr, ErrClosed, op, time.Since(start).Round(time.Millisecond), gone(err))
	}
	_ = c.shut(err)
	return err
}

// gone puts "EOF" into words.
func gone(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ended in the middle of a message")
	case errors.Is(err, io.EOF):
		return errors.New("it ended before the answer was complete")
	}
	return err
}

func (c *Conn) nextID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	return strconv.Itoa(c.lastID)
}

// guard makes a read or write on the connection end when the context does. The
// caller must call release, which leaves no deadline that is still to be set.
func guard(ctx context.Context, setDeadline func(time.Time) error) (release func()) {
	// A connection that takes no deadline is closed, and says so when used.
	_ = setDeadline(time.Time{})
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = setDeadline(time.Unix(1, 0))
		close(fired)
	})
	return func() {
		if !stop() {
			<-fired
		}
	}
}

// withTimeout gives the context a deadline if it has none.
func withTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}
