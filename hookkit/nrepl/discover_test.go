package nrepl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
)

// lookup returns a Lookup in a folder with the port file, unless that is "-",
// and with the environment in pairs.
func lookup(t *testing.T, portFile string, env ...string) Lookup {
	t.Helper()
	dir := t.TempDir()
	if portFile != "-" {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, ".nrepl-port"), []byte(portFile), 0o600))
	}
	return Lookup{Dir: dir, Getenv: func(name string) string {
		for i := 0; i < len(env); i += 2 {
			if env[i] == name {
				return env[i+1]
			}
		}
		return ""
	}}
}

// Fault 34, and the order of places in stop-semantics, "Running".
func TestTargets(t *testing.T) {
	for _, tt := range []struct {
		name     string
		lookup   Lookup
		targets  []Target
		problems string // with DIR for the folder
	}{
		{"nothing", lookup(t, "-"), nil, ""},
		{"no environment", Lookup{Dir: t.TempDir()}, nil, ""},
		{"file", lookup(t, "7888"), []Target{{Host: "localhost", Port: 7888, Source: ".nrepl-port"}}, ""},
		{"file with blanks", lookup(t, " 7888\r\n"), []Target{{Host: "localhost", Port: 7888, Source: ".nrepl-port"}}, ""},
		{"file, then variable", lookup(t, "7888", "BREPL_PORT", "7999"), []Target{{Host: "localhost", Port: 7888, Source: ".nrepl-port"}, {Host: "localhost", Port: 7999, Source: "BREPL_PORT"}}, ""},
		{"empty file", lookup(t, "", "BREPL_PORT", "7999"), []Target{{Host: "localhost", Port: 7999, Source: "BREPL_PORT"}}, "DIR/.nrepl-port: is empty, expected a port number"},
		{"abc", lookup(t, "abc"), nil, `DIR/.nrepl-port: "abc" is not a port number`},
		{"0", lookup(t, "0"), nil, "DIR/.nrepl-port: 0 is not a port, expected 1 to 65535"},
		{"70000", lookup(t, "70000"), nil, "DIR/.nrepl-port: 70000 is not a port, expected 1 to 65535"},
		{"+80", lookup(t, "+80"), nil, `DIR/.nrepl-port: "+80" is not a port number`},
		{"many digits", lookup(t, strings.Repeat("9", 100)), nil, "DIR/.nrepl-port: " + strings.Repeat("9", 100) + " is not a port, expected 1 to 65535"},
		{"large file", lookup(t, strings.Repeat(" ", 1<<20)+"7888"), nil, "DIR/.nrepl-port: is larger than 128 bytes, so it is no port file"},
		{"bad variable", lookup(t, "7888", "BREPL_PORT", "x"), []Target{{Host: "localhost", Port: 7888, Source: ".nrepl-port"}}, `BREPL_PORT: "x" is not a port number`},
		{"host variable", lookup(t, "7888", "BREPL_HOST", "devbox"), []Target{{Host: "devbox", Port: 7888, Source: ".nrepl-port"}}, ""},
	} {
		targets, problems := tt.lookup.Targets()
		assert.DeepEqual(t, targets, tt.targets)
		text := ""
		if err := errors.Join(problems...); err != nil {
			text = strings.ReplaceAll(err.Error(), tt.lookup.Dir, "DIR")
		}
		assert.Equal(t, text, tt.problems, tt.name)
	}

	l := lookup(t, "7888", "BREPL_PORT", "7999", "BREPL_HOST", "devbox")
	l.Port, l.Host = 1234, "[::1]"
	targets, problems := l.Targets()
	assert.DeepEqual(t, targets, []Target{{Host: "::1", Port: 1234, Source: "--port"}})
	assert.Equal(t, len(problems), 0)
	l.Port = 70000
	targets, problems = l.Targets()
	assert.Equal(t, len(targets), 0)
	assert.Error(t, errors.Join(problems...), "--port: 70000 is not a port, expected 1 to 65535")

	l = lookup(t, "-")
	assert.NilError(t, os.Mkdir(filepath.Join(l.Dir, ".nrepl-port"), 0o700))
	_, problems = l.Targets()
	assert.ErrorContains(t, errors.Join(problems...), ".nrepl-port: is not a regular file")
}

// listen serves each connection to a port of 127.0.0.1, and returns the port.
func listen(t *testing.T, serve func(nc net.Conn)) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			serve(nc)
			_ = nc.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().(*net.TCPAddr).Port
}

// nrepl answers a clone, one evaluation if there is one, and the close.
func nrepl(t *testing.T) func(nc net.Conn) {
	return func(nc net.Conn) {
		p := newPeer(t, nc)
		p.reply(p.expect("clone"), "d2:id1:111:new-session3:s-16:statusl4:doneee")
		p.expect("close")
		p.gone()
	}
}

// text sends a greeting or an answer in another protocol.
func text(answer string) func(nc net.Conn) {
	return func(nc net.Conn) {
		_, _ = nc.Read(make([]byte, 1000))
		_, _ = nc.Write([]byte(answer))
	}
}

func silent(t *testing.T) func(nc net.Conn) {
	return func(net.Conn) { <-t.Context().Done() }
}

// stalePort returns a port where nothing listens, for as long as the test runs.
func stalePort(t *testing.T) int {
	t.Helper()
	return fakes.NewNREPL(t, fakes.NREPLRefuseAfter(0)).Port()
}

// Fault 38: a server in one address family only.
func TestConnectFamilies(t *testing.T) {
	for host, options := range map[string][]fakes.NREPLOption{"127.0.0.1": nil, "::1": {fakes.NREPLOnIPv6()}} {
		t.Run(host, func(t *testing.T) {
			server := fakes.NewNREPL(t, options...)
			c, err := Connect(t.Context(), Lookup{Port: server.Port()})
			assert.NilError(t, err)
			assert.DeepEqual(t, c.Target(), Target{Host: "localhost", Port: server.Port(), Source: "--port"})
			assert.Equal(t, c.Addr(), net.JoinHostPort(host, strconv.Itoa(server.Port())))
			s, err := c.Clone(t.Context())
			assert.NilError(t, err)
			assert.Equal(t, s.ID(), server.Sessions()[0].ID)
			assert.NilError(t, c.Close())
		})
	}
}

// Faults 34 and 35: what is no server is named, and the search goes on.
func TestConnectPassesOver(t *testing.T) {
	stale := stalePort(t)
	refused := fmt.Sprintf("127.0.0.1:%d from .nrepl-port: connection refused", stale)
	for _, tt := range []struct {
		name, portFile, want string
	}{
		{"refused", strconv.Itoa(stale), refused},
		{"malformed", "abc", `.nrepl-port: "abc" is not a port number`},
		{"HTTP", strconv.Itoa(listen(t, text("HTTP/1.1 400 Bad Request\r\n\r\n"))), "the port speaks HTTP, not nREPL"},
		{"Redis", strconv.Itoa(listen(t, text("-ERR unknown command\r\n"))), "the port speaks Redis, not nREPL"},
		{"SSH", strconv.Itoa(listen(t, text("SSH-2.0-OpenSSH_9.2\r\n"))), "the port speaks SSH, not nREPL"},
		{"no answer", strconv.Itoa(listen(t, text(""))), "the connection was closed without an answer"},
		{"reset", strconv.Itoa(listen(t, func(nc net.Conn) {
			_, _ = nc.Read(make([]byte, 1))
			_ = nc.(*net.TCPConn).SetLinger(0)
		})), "the connection was closed without an answer"},
		{"no clone", strconv.Itoa(listen(t, text("d2:id1:16:statusl4:doneee"))), "the answer to clone has no new-session"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Connect(t.Context(), lookup(t, tt.portFile))
			var none *NoServerError
			assert.Assert(t, errors.As(err, &none) && errors.Is(err, ErrNoServer), "%v", err)
			assert.Assert(t, !errors.Is(err, ErrTimeout) && !errors.Is(err, ErrClosed))
			assert.ErrorContains(t, err, "no nREPL server: ")
			assert.ErrorContains(t, err, tt.want)

			port := listen(t, nrepl(t))
			c, err := Connect(t.Context(), lookup(t, tt.portFile, "BREPL_PORT", strconv.Itoa(port)))
			assert.NilError(t, err)
			assert.Equal(t, c.Target().Source, "BREPL_PORT")
			assert.Assert(t, strings.Contains(c.PassedOver()[0], tt.want), "%q", c.PassedOver())
			assert.NilError(t, c.Close())
		})
	}
}

// --port never falls through.
func TestConnectPortIsFinal(t *testing.T) {
	good := listen(t, nrepl(t))
	l := lookup(t, strconv.Itoa(good), "BREPL_PORT", strconv.Itoa(good))
	l.Port = stalePort(t)
	_, err := Connect(t.Context(), l)
	assert.Assert(t, errors.Is(err, ErrNoServer), "%v", err)
	assert.Error(t, err, fmt.Sprintf("no nREPL server: 127.0.0.1:%d from --port: connection refused; [::1]:%[1]d from --port: connection refused", l.Port))
}

func TestConnectNothingKnown(t *testing.T) {
	_, err := Connect(t.Context(), lookup(t, "-"))
	assert.Assert(t, errors.Is(err, ErrNoServer))
	assert.Error(t, err, "no nREPL server: no --port, no .nrepl-port file, and BREPL_PORT is not set. Start a REPL, or give --port")
}

// Fault 35: accepted but silent is not "no server", and the search ends there.
func TestConnectSilent(t *testing.T) {
	quiet := listen(t, silent(t))
	good := listen(t, nrepl(t))
	var err error
	for limit := 50 * time.Millisecond; limit < time.Minute; limit *= 2 { // a busy machine may not connect in time
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err = Connect(ctx, lookup(t, strconv.Itoa(quiet), "BREPL_PORT", strconv.Itoa(good)))
		cancel()
		if err != nil && strings.Contains(err.Error(), "accepted") {
			break
		}
	}
	assert.Assert(t, errors.Is(err, ErrTimeout) && !errors.Is(err, ErrNoServer), "%v", err)
	assert.ErrorContains(t, err, fmt.Sprintf(`127.0.0.1:%d accepted the connection but did not answer "clone" within `, quiet))
}

// A server that knows no clone is a server: the failure is not passed over.
func TestConnectRefusedOp(t *testing.T) {
	port := listen(t, text("d2:id1:16:statusl5:error10:unknown-op4:doneee"))
	_, err := Connect(t.Context(), Lookup{Port: port})
	assert.Error(t, err, `the nREPL server does not know the op "clone"`)
}

func TestConnectCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Connect(ctx, Lookup{Port: stalePort(t)})
	assert.Assert(t, errors.Is(err, context.Canceled), "%v", err)
}
