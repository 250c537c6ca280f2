package nrepl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Bounds of discovery.
const (
	discoverLimit = 250 * time.Millisecond // all of it
	surveyLimit   = 500 * time.Millisecond // for `brepl ls`, where a person waits for slow servers too
	// settleLimit is how long the others have to answer after the first server
	// did, so that two servers of one project are noticed. A server on this
	// machine needs 1 to 5 ms, a JVM for its first answer 40 ms.
	settleLimit = 50 * time.Millisecond
	askedAtOnce = 256 // connections
)

// maxAsked bounds what is read of all that a listener sends: some send without
// end. A description of the JVM with all of cider-nrepl is under 30 kB.
const maxAsked = 256 << 10

var describeLimits = decodeLimits{text: 64 << 10, message: maxAsked, depth: 16, items: 1 << 14}

// discovered is the source of a target that nobody named.
const discovered = "discovery"

// Server is an nREPL server that answered.
type Server struct {
	Target
	PID int    // of its process; 0: not known
	Dir string // where it runs; "": not known
	// Kind is "clojure", "babashka", "nbb", "let-go", "shadow-cljs", …: see
	// kindOf. shadow-cljs is a JVM like others, known by its port file.
	Kind string
	// Versions is what the server says about itself; "" where it does not know.
	Versions map[string]string
	// Chosen says that the search ends here, Why says why or why not. Only
	// Servers sets them.
	Chosen bool
	Why    string
}

// Name returns the kind with its version.
func (s *Server) Name() string {
	for _, name := range [...]string{s.Kind, s.Kind + ".nrepl", s.Kind + "-nrepl"} {
		if version := s.Versions[name]; version != "" {
			return s.Kind + " " + version
		}
	}
	return s.Kind
}

// String returns address, process and kind, for messages.
func (s *Server) String() string {
	if s.PID == 0 {
		return fmt.Sprintf("%s (%s)", s.Address(), s.Name())
	}
	return fmt.Sprintf("%s (pid %d, %s)", s.Address(), s.PID, s.Name())
}

// listener is a socket on which a process of this user listens.
type listener struct {
	Target        // what to dial
	inode  uint64 // Linux: the socket
	pid    int    // 0: not known
	dir    string // where the process runs; "": not known
	repl   bool   // the process may serve a REPL on a unix-domain socket, and did not start us
}

// String returns address and process, for messages.
func (l *listener) String() string {
	if l.pid == 0 {
		return l.Address()
	}
	return fmt.Sprintf("%s (pid %d)", l.Address(), l.pid)
}

// verdict is what asking a listener has shown.
type verdict uint8

const (
	noServer verdict = iota
	isServer
	noAnswer // until the context ended
)

// ask sends one message, describe, and where the folder is not known one small
// evaluation to what is a server for sure. Nothing else is sent to a port of
// which nobody said what it is, little is read from it, and it is closed at once.
//
// An error says why it is no server.
func (l *listener) ask(ctx context.Context) (server *Server, v verdict, err error) {
	for _, addr := range l.addresses() {
		server, found, failed := l.askAt(ctx, addr)
		if found == isServer {
			return server, found, nil
		}
		if v, err = max(v, found), cmp.Or(err, failed); !errors.Is(failed, syscall.ECONNREFUSED) {
			err = failed // says more than that nobody is at the other address
		}
	}
	return nil, v, err
}

func (l *listener) askAt(ctx context.Context, addr string) (*Server, verdict, error) {
	nc, err := dial(ctx, addr)
	if err != nil {
		if ctx.Err() != nil {
			return nil, noAnswer, err
		}
		return nil, noServer, err
	}
	c := NewConn(nc)
	c.dec = newDecoder(io.LimitReader(quickReader(nc), maxAsked), describeLimits)
	defer func() { _ = c.Close() }() // only asked
	server := &Server{Target: l.Target, PID: l.pid, Dir: l.dir, Versions: map[string]string{}}
	err = c.call(ctx, map[string]any{"op": "describe"}, func(m Message) {
		versions, _ := m["versions"].(map[string]any)
		for name, version := range versions {
			server.Versions[name] = versionText(version)
		}
	})
	var refused *OpError
	switch {
	case err == nil, errors.As(err, &refused): // a server that knows no describe is one
	case ctx.Err() != nil:
		return nil, noAnswer, err
	default:
		return nil, noServer, err
	}
	server.Kind = kindOf(server.Versions)
	if code := whereAmI(server.Kind); server.Dir == "" && code != "" {
		// Not known is fine, also where it takes too long.
		_ = c.call(ctx, map[string]any{"op": "eval", "code": code}, func(m Message) {
			if dir, err := strconv.Unquote(m.Text("value")); err == nil {
				server.Dir = physical(dir)
			}
		})
	}
	if server.Kind == "clojure" && isShadow(server) {
		server.Kind = "shadow-cljs"
	}
	return server, isServer, nil
}

// isShadow says whether shadow-cljs names this server in its port file.
func isShadow(s *Server) bool {
	if s.Dir == "" || s.Port == 0 {
		return false
	}
	port, _, err := readPortFile(filepath.Join(s.Dir, portFileNames[1]))
	return err == nil && port == s.Port
}

// askAll asks the listeners, all at once. With enough, it returns when a server
// is enough and the others had time to answer too; further sockets of that
// server's process are then not waited for. quiet are those that did not answer.
func askAll(ctx context.Context, list []*listener, enough func(*Server) bool) (servers []*Server, quiet []*listener) {
	type answer struct {
		at     int
		server *Server
		verdict
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer)
	slots := make(chan struct{}, askedAtOnce)
	waiting := map[int]int{} // processes, by what they are asked on
	for i, l := range list {
		waiting[i] = l.pid
		go func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
			}
			server, v, _ := l.ask(ctx)
			answers <- answer{i, server, v}
		}()
	}
	done := map[int]bool{} // processes of which nothing more is waited for
	var settled <-chan time.Time
	for range list {
		var a answer
		select {
		case a = <-answers:
		case <-settled:
			cancel() // what is left ends now
			a = <-answers
		}
		delete(waiting, a.at)
		switch a.verdict {
		case noServer:
		case noAnswer:
			quiet = append(quiet, list[a.at])
		case isServer:
			servers = append(servers, a.server)
			if enough != nil && enough(a.server) {
				done[a.server.PID] = true
				if settled == nil {
					settled = time.After(settleLimit)
				}
			}
		}
		if settled != nil && allDone(waiting, done) {
			cancel()
		}
	}
	return servers, quiet
}

func allDone(waiting map[int]int, done map[int]bool) bool {
	for _, pid := range waiting {
		if pid == 0 || !done[pid] {
			return false
		}
	}
	return true
}
