package nrepl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// dialTimeout bounds the wait for a connection, which on the same machine is
// made or refused at once.
const dialTimeout = 5 * time.Second

// Lookup says where to look for a server.
type Lookup struct {
	// Port is the port that the user asked for (--port), 0 if none. No other
	// place is looked at then, even if nothing listens there.
	Port int
	// Socket is the path of the unix-domain socket that the user asked for
	// instead of a port. See SetPort.
	Socket string
	// Host is the host that the user asked for (--host), or "nrepl+unix:PATH".
	// If empty, it is BREPL_HOST, and if that is empty, localhost in both
	// address families.
	Host string
	// Dir is the folder with the .nrepl-port file.
	Dir string
	// File is the file that is to be evaluated, if it is one: port files are
	// then looked for from its folder up to the project's root (see around),
	// and in Dir.
	File string
	// Discover also looks where nobody said that there is a server: into
	// .shadow-cljs/nrepl.port, the port files of the folders around Dir, and at
	// what this user's processes listen on.
	Discover bool
	// PathMap says how the folders here are called where a server runs.
	PathMap PathMap
	// Getenv looks up an environment variable; nil: there are none.
	Getenv func(string) string
	// Trace becomes Conn.Trace of every connection that is tried.
	Trace func(sent bool, m Message)
}

// SetPort takes the value of --port: a port, or "nrepl+unix:PATH", where a
// relative path is one in l.Dir. The error does not name the flag.
func (l *Lookup) SetPort(text string) (err error) {
	l.Port, l.Socket, err = parseAddress(text, l.Dir)
	return err
}

// Target is a place where a server may be.
type Target struct {
	Host   string // "localhost" means 127.0.0.1 and ::1
	Port   int    // 1 to 65535; 0 with a Socket
	Source string // where it is from: "--port", ".nrepl-port", a port file's path, "BREPL_PORT" or "discovery"
	Socket string // path of a unix-domain socket; Host is empty then
}

// Address returns host:port, or nrepl+unix:PATH.
func (t Target) Address() string {
	if t.Socket != "" {
		return unixScheme + t.Socket
	}
	return net.JoinHostPort(t.Host, strconv.Itoa(t.Port))
}

// String returns source and address, for messages.
func (t Target) String() string { return t.Address() + " (" + t.Source + ")" }

// Targets returns the places to try before any discovery, in order, and what is
// wrong with the places that name no server. A missing port file or variable is
// no problem.
func (l Lookup) Targets() (targets []Target, problems []error) {
	host := l.host()
	if socket, ok, err := parseSocket(l.Host, l.Dir); ok {
		if err != nil {
			return nil, []error{fmt.Errorf("--host: %w", err)}
		}
		return []Target{{Socket: socket, Source: "--host"}}, nil
	}
	if l.Socket != "" {
		return []Target{{Socket: l.Socket, Source: "--port"}}, nil
	}
	if l.Port != 0 {
		if err := checkPort(l.Port); err != nil {
			return nil, []error{fmt.Errorf("--port: %w", err)}
		}
		return []Target{{Host: host, Port: l.Port, Source: "--port"}}, nil
	}
	for _, dir := range l.portFolders() {
		found, wrong := l.portFiles(host, dir)
		targets, problems = append(targets, found...), append(problems, wrong...)
	}
	if text := l.getenv("BREPL_PORT"); text != "" {
		port, socket, err := parseAddress(text, l.Dir)
		if err != nil {
			problems = append(problems, fmt.Errorf("BREPL_PORT: %w", err))
		} else {
			targets = append(targets, target(host, port, socket, "BREPL_PORT"))
		}
	}
	return targets, problems
}

func target(host string, port int, socket, source string) Target {
	if socket != "" {
		host = ""
	}
	return Target{Host: host, Port: port, Socket: socket, Source: source}
}

func (l Lookup) getenv(name string) string {
	if l.Getenv == nil {
		return ""
	}
	return strings.TrimSpace(l.Getenv(name))
}

func (l Lookup) host() string {
	host := l.Host
	if host == "" {
		host = l.getenv("BREPL_HOST")
	}
	if host == "" {
		return "localhost"
	}
	// An IPv6 address may come in the brackets that a URL needs.
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	return host
}

// Connect returns a connection to the first target that accepts and answers a
// clone in bencode. That session is what the first Conn.Clone returns.
//
// A target that refuses, that cannot be reached, that closes without an answer
// or that answers in another protocol is passed over. If none is left the error
// is a *NoServerError, or with Lookup.Discover a *AmbiguousError where several
// servers would do. A target that accepts and is silent until the context ends
// is no reason to go on: it may be a busy server, and the error is a
// *TimeoutError. Nothing waits for a server that is about to start: the next
// call finds it.
func Connect(ctx context.Context, l Lookup) (*Conn, error) {
	ctx, cancel := withTimeout(ctx, opTimeout)
	defer cancel()
	s := search{lookup: l}
	if c, err := s.try(ctx, l.named()); c != nil || err != nil {
		return c, err
	}
	none := &NoServerError{}
	if l.discovers() {
		none.Dir = l.Dir
		found, quiet := l.discover(ctx)
		for _, step := range l.nearby(found) {
			if c, err := s.try(ctx, step); c != nil || err != nil {
				return c, err
			}
		}
		s.tried = append(s.tried, quiet...)
	}
	none.Tried = s.tried
	return nil, none
}

// step is one step of the search: places that were named, or else servers of
// which there must not be two.
type step struct {
	targets  []Target
	problems []error // places that name no server
	dir      string  // where the servers run
	servers  []*Server
}

func (l Lookup) named() step { return l.places(l.Targets()) }

// places is the step of the named places. A socket that takes messages for an
// agent is none, whoever names it.
func (l Lookup) places(targets []Target, problems []error) step {
	targets = slices.DeleteFunc(targets, func(t Target) bool {
		name := l.messageSocket(t.Socket)
		if name != "" {
			problems = append(problems, fmt.Errorf("%s from %s: %s says that it takes messages for an agent", t.Address(), t.Source, name))
		}
		return name != ""
	})
	return step{targets: targets, problems: problems}
}

// search is what a Connect has tried so far.
type search struct {
	lookup Lookup
	tried  []string
}

// try returns a connection, or an error that ends the search, or neither.
func (s *search) try(ctx context.Context, at step) (*Conn, error) {
	for _, problem := range at.problems {
		s.tried = append(s.tried, problem.Error())
	}
	if len(at.servers) > 1 {
		return nil, &AmbiguousError{Dir: at.dir, Servers: at.servers}
	}
	targets := at.targets
	for _, server := range at.servers {
		targets = append(targets, server.Target)
	}
	for _, t := range targets {
		c, refusals, err := s.connect(ctx, t)
		if err != nil {
			return nil, err
		}
		if c != nil {
			c.target = t
			c.passed = s.tried // without refusals: a server on one of localhost's addresses was found where it should be
			return c, nil
		}
		s.tried = append(s.tried, refusals...)
	}
	return nil, nil //nolint:nilnil // there is none here, and the search goes on
}

// connect tries the addresses of a target. The refusals say why there is no
// connection; an error ends the search.
func (s *search) connect(ctx context.Context, t Target) (c *Conn, refusals []string, err error) {
	stale := s.lookup.Discover || s.lookup.File != "" // who looks only where told needs no judgement, `hook stop` promises the words
	for _, addr := range t.addresses() {
		if c, err = t.connect(ctx, addr, s.lookup.Trace); err == nil {
			return c, nil, nil
		}
		if !passOver(ctx, err) {
			return nil, nil, err
		}
		stale = stale && t.isStale(err)
		refusals = append(refusals, fmt.Sprintf("%s from %s: %s", addr, t.Source, short(err)))
	}
	if stale {
		refusals = []string{t.Address() + " from " + t.Source + ": " + staleFile}
	}
	return nil, refusals, nil
}

const staleFile = "nothing listens there, the file is stale"

// fromFile says whether a port file names the target.
func (t Target) fromFile() bool {
	return strings.HasSuffix(t.Source, portFileNames[0]) || strings.HasSuffix(t.Source, portFileNames[1])
}

// isStale says whether a port file names the target, and nothing listens there.
func (t Target) isStale(err error) bool {
	return t.fromFile() && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist))
}

// addresses returns what to dial, in order. A server on localhost may listen in
// one address family only; where none listens the refusal comes at once.
func (t Target) addresses() []string {
	if t.Host == "localhost" {
		port := strconv.Itoa(t.Port)
		return []string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("::1", port)}
	}
	return []string{t.Address()}
}

// dial connects to an address of the form host:port or nrepl+unix:PATH.
func dial(ctx context.Context, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	if path, ok := strings.CutPrefix(addr, unixScheme); ok {
		return dialer.DialContext(ctx, "unix", path)
	}
	return dialer.DialContext(ctx, "tcp", addr)
}

// connect dials and clones a session, which tells whether this is a server.
func (t Target) connect(ctx context.Context, addr string, trace func(bool, Message)) (*Conn, error) {
	start := time.Now()
	nc, err := dial(ctx, addr)
	if err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() || ctx.Err() != nil {
			cause := context.DeadlineExceeded
			if ctx.Err() != nil {
				cause = ctx.Err()
			}
			return nil, &TimeoutError{Op: "connect", Addr: addr, After: time.Since(start), cause: cause}
		}
		return nil, err
	}
	if err = t.stranger(addr); err != nil {
		_ = nc.Close() // nothing was sent
		return nil, err
	}
	c := NewConn(nc)
	if t.Socket != "" {
		c.addr = addr
	}
	c.Trace = trace
	c.spare, err = c.clone(ctx)
	if err != nil {
		_ = c.Close() // err is the one to tell
		return nil, err
	}
	return c, nil
}

// passOver says whether the error of connect means that there is no server.
func passOver(ctx context.Context, err error) bool {
	var protocol *ProtocolError
	var dial *net.OpError
	var stranger *strangerError
	switch {
	case ctx.Err() != nil || errors.Is(err, ErrTimeout):
		return false
	case errors.As(err, &protocol), errors.Is(err, ErrClosed), errors.As(err, &stranger):
		return true
	}
	return errors.As(err, &dial)
}

// short says in a few words why a target was passed over.
func short(err error) string {
	var protocol *ProtocolError
	var dns *net.DNSError
	switch {
	case errors.As(err, &protocol):
		return protocol.Error()
	case errors.Is(err, ErrClosed):
		return "the connection was closed without an answer"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &dns):
		return dns.Err
	}
	if syscallErr, ok := errors.AsType[*os.SyscallError](err); ok {
		return syscallErr.Err.Error()
	}
	return err.Error()
}
