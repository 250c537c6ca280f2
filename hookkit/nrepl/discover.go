package nrepl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// dialTimeout bounds the wait for a connection, which on the same machine is
// made or refused at once.
const dialTimeout = 5 * time.Second

// maxPortFile bounds a port file, which holds five digits.
const maxPortFile = 128

// Lookup says where to look for a server.
type Lookup struct {
	// Port is the port that the user asked for (--port), 0 if none. No other
	// place is looked at then, even if nothing listens there.
	Port int
	// Host is the host that the user asked for (--host). If empty, it is
	// BREPL_HOST, and if that is empty, localhost in both address families.
	Host string
	// Dir is the folder with the .nrepl-port file.
	Dir string
	// Getenv looks up an environment variable; nil: there are none.
	Getenv func(string) string
}

// Target is a place where a server may be.
type Target struct {
	Host   string // "localhost" means 127.0.0.1 and ::1
	Port   int    // 1 to 65535
	Source string // where the port is from: "--port", ".nrepl-port" or "BREPL_PORT"
}

// String returns source, host and port, for messages.
func (t Target) String() string {
	return fmt.Sprintf("%s (%s)", net.JoinHostPort(t.Host, strconv.Itoa(t.Port)), t.Source)
}

// Targets returns the places to try, in order, and what is wrong with the
// places that name no port. A missing port file or variable is no problem.
func (l Lookup) Targets() (targets []Target, problems []error) {
	host := l.host()
	if l.Port != 0 {
		if err := checkPort(l.Port); err != nil {
			return nil, []error{fmt.Errorf("--port: %w", err)}
		}
		return []Target{{host, l.Port, "--port"}}, nil
	}
	path := filepath.Join(l.Dir, ".nrepl-port")
	switch port, err := readPortFile(path); {
	case err == nil:
		targets = append(targets, Target{host, port, ".nrepl-port"})
	case !errors.Is(err, fs.ErrNotExist):
		problems = append(problems, fmt.Errorf("%s: %w", path, err))
	}
	if text := l.getenv("BREPL_PORT"); text != "" {
		port, err := parsePort(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("BREPL_PORT: %w", err))
		} else {
			targets = append(targets, Target{host, port, "BREPL_PORT"})
		}
	}
	return targets, problems
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

// readPortFile reads a port from a regular file. Something else under the name
// (a FIFO, a device) is not opened for long enough to hang.
func readPortFile(path string) (int, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, plain(err)
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("is not a regular file")
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, plain(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPortFile+1))
	if err != nil {
		return 0, plain(err)
	}
	if len(text) > maxPortFile {
		return 0, fmt.Errorf("is larger than %d bytes, so it is no port file", maxPortFile)
	}
	return parsePort(string(text))
}

// plain takes the path out of a file error: the caller says it.
func plain(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

func parsePort(text string) (int, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, errors.New("is empty, expected a port number")
	}
	for i := range len(text) { // no sign, which Atoi takes
		if !isDigit(text[i]) {
			return 0, fmt.Errorf("%q is not a port number", text)
		}
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s is not a port, expected 1 to 65535", text)
	}
	return port, checkPort(port)
}

func checkPort(port int) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("%d is not a port, expected 1 to 65535", port)
	}
	return nil
}

// Connect returns a connection to the first target that accepts and answers a
// clone in bencode. That session is what the first Conn.Clone returns.
//
// A target that refuses, that cannot be reached, that closes without an answer
// or that answers in another protocol is passed over. If none is left the error
// is a *NoServerError. A target that accepts and is silent until the context
// ends is no reason to go on: it may be a busy server, and the error is a
// *TimeoutError.
func Connect(ctx context.Context, l Lookup) (*Conn, error) {
	ctx, cancel := withTimeout(ctx, opTimeout)
	defer cancel()
	targets, problems := l.Targets()
	var tried []string
	for _, problem := range problems {
		tried = append(tried, problem.Error())
	}
	for _, t := range targets {
		var refusals []string
		for _, addr := range t.addresses() {
			c, err := t.connect(ctx, addr)
			if err == nil {
				c.target = t
				c.passed = tried // without refusals: a server on one of localhost's addresses was found where it should be
				return c, nil
			}
			if !passOver(ctx, err) {
				return nil, err
			}
			refusals = append(refusals, fmt.Sprintf("%s from %s: %s", addr, t.Source, short(err)))
		}
		tried = append(tried, refusals...)
	}
	return nil, &NoServerError{Tried: tried}
}

// addresses returns what to dial, in order. A server on localhost may listen in
// one address family only; where none listens the refusal comes at once.
func (t Target) addresses() []string {
	port := strconv.Itoa(t.Port)
	if t.Host == "localhost" {
		return []string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("::1", port)}
	}
	return []string{net.JoinHostPort(t.Host, port)}
}

// connect dials and clones a session, which tells whether this is a server.
func (t Target) connect(ctx context.Context, addr string) (*Conn, error) {
	start := time.Now()
	dialer := net.Dialer{Timeout: dialTimeout}
	nc, err := dialer.DialContext(ctx, "tcp", addr)
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
	c := NewConn(nc)
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
	switch {
	case ctx.Err() != nil || errors.Is(err, ErrTimeout):
		return false
	case errors.As(err, &protocol), errors.Is(err, ErrClosed):
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
