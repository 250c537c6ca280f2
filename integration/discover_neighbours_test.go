package integration

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// neighboursCommand makes the test binary a process that listens: what discovery finds is told apart by process and directory.
const neighboursCommand = "neighbours"

// neighbours listens on a socket for each argument until stdin ends, and prints their addresses, one to a line. An argument is
// the name of a preset of fakes.NREPL, one of the names in foreigners, or unix:PATH for an nREPL server on that path. "@::1" at its
// end listens on that address instead of 127.0.0.1. messages:PATH is a socket that is no server, and PATH.got then has what it got;
// run:PROGRAM runs brepl as a child of this process, and prints what that printed, quoted.
func neighbours(args []string) int {
	for _, arg := range args {
		address, err := neighbour(arg)
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			return 1
		}
		_, _ = fmt.Println(address)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
	return 0
}

func neighbour(arg string) (string, error) {
	if path, ok := strings.CutPrefix(arg, "messages:"); ok {
		return path, takeMessages(path)
	}
	if program, ok := strings.CutPrefix(arg, "run:"); ok {
		out, _ := exec.Command(program, "(+ 1 2)").CombinedOutput() // what it printed says how it ended
		return strconv.Quote(string(out)), nil
	}
	kind, host, ipv6 := strings.Cut(arg, "@")
	if serve, ok := foreigners[kind]; ok {
		if !ipv6 {
			host = "127.0.0.1"
		}
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return "", err
		}
		go serveAll(l, serve)
		return l.Addr().String(), nil
	}
	options := []fakes.NREPLOption{fakes.NREPLRelaxed()}
	if path, ok := strings.CutPrefix(kind, "unix:"); ok {
		options = append(options, fakes.NREPLOnSocket(path))
	} else {
		options = append(options, fakes.NREPLPreset(fakes.Preset(kind)))
	}
	if ipv6 {
		options = append(options, fakes.NREPLOnIPv6())
	}
	server, err := fakes.StartNREPL(options...)
	if err != nil {
		return "", err
	}
	server.On("(+ 1 2)").AnyTimes().Value("3")
	return server.Addr(), nil
}

// takeMessages writes down who connects, and what comes.
func takeMessages(path string) error {
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	go serveAll(l, func(nc net.Conn) {
		got, err := os.OpenFile(path+".got", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		defer func() { _ = got.Close() }()
		_, _ = io.WriteString(got, "connected\n")
		_, _ = io.Copy(got, nc)
	})
	return nil
}

// foreigners are listeners that are no nREPL servers.
var foreigners = map[string]func(nc net.Conn){
	"silent": func(nc net.Conn) { _, _ = io.Copy(io.Discard, nc) },
	// A web server waits for the end of the line, which our message does not have.
	"web": func(nc net.Conn) {
		if _, err := bufio.NewReader(nc).ReadString('\n'); err == nil {
			_, _ = io.WriteString(nc, "HTTP/1.1 400 Bad Request\r\n\r\n")
		}
	},
	"http": func(nc net.Conn) {
		_, _ = nc.Read(make([]byte, 1))
		_, _ = io.WriteString(nc, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
	},
	"reset": func(nc net.Conn) { _ = nc.(*net.TCPConn).SetLinger(0) },
	"ssh":   func(nc net.Conn) { _, _ = io.WriteString(nc, "SSH-2.0-OpenSSH_9.2p1\r\n") },
	// Bencode, but no answer to what was asked; and never enough of it.
	"torrent": func(nc net.Conn) { _, _ = io.WriteString(nc, "d1:rd2:id20:aaaaaaaaaaaaaaaaaaaae1:t2:aa1:y1:re") },
	"endless": func(nc net.Conn) {
		for {
			if _, err := io.WriteString(nc, "d3:out5:helloe"); err != nil {
				return
			}
		}
	},
}

func serveAll(l net.Listener, serve func(nc net.Conn)) {
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = nc.Close() }()
			serve(nc)
		}()
	}
}

// running is a process of neighbours.
type running struct {
	pid   int
	addrs []string
	end   func()
}

// port is the port of the nth listener.
func (r *running) port(n int) int {
	_, text, _ := strings.Cut(r.addrs[n][strings.LastIndexByte(r.addrs[n], ':'):], ":")
	number, _ := strconv.Atoi(text) // an address of a listener of ours
	return number
}

// listenIn starts a process in dir that listens as the arguments say, and ends with the test.
func listenIn(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	return listenAs(t, "", dir, args...)
}

// listenAs is listenIn with a program of that name.
func listenAs(t *testing.T, name, dir string, args ...string) *running {
	t.Helper()
	program, err := os.Executable()
	assert.NilError(t, err)
	if name != "" {
		link := filepath.Join(t.TempDir(), name)
		assert.NilError(t, os.Symlink(program, link))
		program = link
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{neighboursCommand}, args...)...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	assert.NilError(t, err)
	stdout, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	r := &running{pid: cmd.Process.Pid, end: func() {
		_ = stdin.Close()
		_ = cmd.Wait() // its status says nothing
	}}
	t.Cleanup(r.end)
	lines := bufio.NewScanner(stdout)
	for range args {
		if !lines.Scan() {
			t.Fatalf("the listeners in %s did not start: %v", dir, lines.Err())
		}
		r.addrs = append(r.addrs, lines.Text())
	}
	return r
}
