//go:build linux

package integration

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/hookkit/brepl/fakes"
)

// Issue 5, "Find the server": what no port file names is found by its directory.

// three evaluates (+ 1 2), which every server of these tests knows.
func (w *world) three(args ...string) result {
	w.t.Helper()
	return w.run(fakes.DevNull(), append(args, "(+ 1 2)")...)
}

// patience is how often discovery is asked again where a machine is too busy for the server to answer in the time that discovery has.
const patience = 10

func (w *world) found(args ...string) {
	w.t.Helper()
	w.threePatiently(args...).is(0, "3\n", "")
}

func (w *world) threePatiently(args ...string) result {
	w.t.Helper()
	r := w.three(args...)
	for range patience {
		if r.exit == 0 {
			break
		}
		r = w.three(args...)
	}
	return r
}

// repository makes the project a git repository, so that its root is known.
func (w *world) repository() {
	w.t.Helper()
	w.project.Write(".git/HEAD", "ref: refs/heads/main\n")
}

func TestDiscoverByDirectory(t *testing.T) {
	t.Parallel()
	for _, kind := range fakes.Presets() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			listenIn(t, w.project.Dir(), string(kind))
			w.found()
		})
	}
	t.Run("from a folder inside of the project", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.repository()
		w.project.Write("src/app/core.clj", "(ns app.core)\n")
		listenIn(t, w.project.Dir(), "jvm-1.0.0")
		w.dir = w.project.Path("src/app")
		w.found()
	})
	t.Run("through a symbolic link", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		listenIn(t, w.project.Dir(), "jvm-1.0.0")
		w.dir = filepath.Join(w.scratch, "link")
		assert.NilError(t, os.Symlink(w.project.Dir(), w.dir))
		w.found()
	})
	t.Run("the nearest one", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.repository()
		w.project.Write("part/deps.edn", "{}")
		listenIn(t, w.project.Dir(), "silent", "jvm-1.0.0")
		listenIn(t, w.project.Path("part"), "babashka")
		w.dir = w.project.Path("part")
		r := w.run(fakes.DevNull(), "-m", "{:op :describe}")
		assert.Assert(t, r.exit == 0 && strings.Contains(r.stdout, "babashka.nrepl"), "%s%s", r.stdout, r.stderr)
	})
	t.Run("the port file of a folder around this one", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		w.repository()
		w.project.Write("part/deps.edn", "{}")
		elsewhere := listenIn(t, w.scratch, "jvm-1.0.0")
		w.project.Write(".nrepl-port", strconv.Itoa(elsewhere.port(0)))
		w.dir = w.project.Path("part")
		w.found()
	})
	t.Run(".shadow-cljs/nrepl.port comes before BREPL_PORT", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "")
		elsewhere := listenIn(t, w.scratch, "jvm-1.0.0")
		w.project.Write(".shadow-cljs/nrepl.port", strconv.Itoa(elsewhere.port(0)))
		w.env = append(w.env, "BREPL_PORT="+strconv.Itoa(w.stalePort()))
		w.found()
	})
}

// Discovery asks nobody who runs elsewhere, not even where it finds nothing.
func TestDiscoverLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	listenIn(t, w.scratch, "jvm-1.0.0")
	other := fakes.NewNREPL(t) // in this process, which runs elsewhere
	w.three().is(1, "", "brepl: no nREPL server: no --port, no .nrepl-port, and BREPL_PORT is not set; and no server of yours runs in $PROJECT. "+
		"Start one there, or give --port; `brepl ls` shows all\n")
	assert.Equal(t, other.Connections(), 0)
}

// Discovery among 50 listeners that are no servers. That one of many is found at all is shown in hookkit/nrepl, and how long it takes by
// scripts/bench.
func TestDiscoverAmongStrangers(t *testing.T) {
	fullRun(t)
	var fifty []string
	for kind := range foreigners {
		fifty = append(fifty, kind)
	}
	slices.Sort(fifty)
	for len(fifty) < 50 {
		fifty = append(fifty, fifty[len(fifty)-len(foreigners)])
	}
	const three, quiet = "3\n", " more in this project accepted a connection and did not answer within $TOOK: no nREPL server, or a busy one; and no server of yours runs in $PROJECT. "
	for _, c := range []struct {
		name, want string
		make       func(w *world, strangers []string)
	}{
		{"in other folders", three, func(w *world, strangers []string) {
			listenIn(t, w.scratch, strangers...)
			listenIn(t, w.project.Dir(), "jvm-1.0.0")
		}},
		{"in the project", three, func(w *world, strangers []string) {
			listenIn(t, w.project.Dir(), strangers...)
			listenIn(t, w.project.Dir(), "jvm-1.0.0")
		}},
		{"in the server's process", three, func(w *world, strangers []string) {
			listenIn(t, w.project.Dir(), append(slices.Clone(strangers), "jvm-1.0.0")...)
		}},
		{"in the project, and no server", quiet, func(w *world, strangers []string) { listenIn(t, w.project.Dir(), strangers...) }},
	} {
		said := ""
		for n := len(fifty); n > len(foreigners) && !strings.Contains(said, c.want); n -= 10 { // fewer for a machine that is too busy
			w := newWorld(t, "")
			c.make(w, fifty[:n])
			for try := 0; try <= patience && !strings.Contains(said, c.want); try++ {
				r := w.three()
				said = r.stdout + r.stderr
			}
			t.Logf("%s, of %d: %q", c.name, n, said)
		}
		assert.Check(t, strings.Contains(said, c.want), "%s:\n%s", c.name, said)
	}
}

// Fault 39: two servers match.
func TestDiscoverTwoServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	a, b := listenIn(t, w.project.Dir(), "jvm-1.0.0"), listenIn(t, w.project.Dir(), "babashka")
	said := []string{
		fmt.Sprintf("127.0.0.1:%d (pid %d, clojure 1.11.1)", a.port(0), a.pid),
		fmt.Sprintf("127.0.0.1:%d (pid %d, babashka 0.0.6-SNAPSHOT)", b.port(0), b.pid),
	}
	if a.port(0) > b.port(0) {
		slices.Reverse(said)
	}
	w.three().is(1, "", "brepl: 2 nREPL servers run in $PROJECT: "+strings.Join(said, ", ")+
		". Choose one with --port, or write its port into $PROJECT/.nrepl-port\n")
	// A stop does not choose either, and its hook does not run.
	w.mayChange = true
	w.project.Write(".brepl/hooks.edn", hooksEDN(eval("three", "(+ 1 2)")))
	w.stop().is(0, approveTelling("brepl: 'three' was skipped: 2 nREPL servers run in $PROJECT: "+strings.Join(said, ", ")+
		". Choose one with --port, or write its port into $PROJECT/.nrepl-port"), "")
	w.stop().is(0, approve, "")
	w.found("-p", strconv.Itoa(a.port(0)))
	w.mayChange = true
	w.project.Write(".nrepl-port", strconv.Itoa(b.port(0)))
	w.found()
}

// Issue 5, "Remote and containers": a server that calls this project's folder otherwise is this project's.
func TestDiscoverThroughPathMap(t *testing.T) { // not beside tests that count connections: ls asks every server
	w := newWorld(t, "")
	remote := filepath.Join(w.scratch, "app")
	assert.NilError(t, os.Mkdir(remote, 0o755))
	listenIn(t, remote, "jvm-1.0.0")
	assert.Equal(t, w.three().exit, 1)
	w.found("--path-map", w.project.Dir()+"="+remote)
	w.found("--path-map", ".="+remote)
	listed := w.run(fakes.DevNull(), "ls", "--path-map", ".="+remote)
	assert.Assert(t, listed.exit == 0 && strings.Contains(listed.stdout, "it runs in this project"), "%s%s", listed.stdout, listed.stderr)
	w.env = append(w.env, "BREPL_PATH_MAP="+w.project.Dir()+"="+remote)
	w.found()
}

// Two ports of one process lead to the same runtime: that is no choice.
func TestDiscoverOneProcessTwoPorts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	listenIn(t, w.project.Dir(), "jvm-1.0.0", "jvm-1.0.0", "jvm-1.0.0@::1")
	w.found()
}

// Fault 34: a stale port file is named as one, and the search goes on.
func TestDiscoverPastStaleFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.project.Write(".nrepl-port", strconv.Itoa(w.stalePort()))
	const stale = "localhost:$STALE from .nrepl-port: nothing listens there, the file is stale"
	w.three().is(1, "", "brepl: no nREPL server: "+stale+"; and no server of yours runs in $PROJECT. Start one there, or give --port; `brepl ls` shows all\n")
	listenIn(t, w.project.Dir(), "jvm-1.0.0")
	r := w.three()
	assert.Equal(t, r.exit, 0)
	assert.Equal(t, r.stdout, "3\n")
	assert.Assert(t, strings.Contains(r.stderr, stale), r.stderr)

	// A stop goes the same way.
	w.mayChange = true
	w.project.Write(".brepl/hooks.edn", hooksEDN(eval("three", "(+ 1 2)", ":required? true")))
	stop := w.stop()
	for range patience {
		if stop.exit == 0 {
			break
		}
		stop = w.stop()
	}
	stop.is(0, approve, "brepl: passed over "+stale+"\n")
}

// Fault 38: ::1 only, 127.0.0.1 only; by discovery, which knows the address.
func TestDiscoverFamilies(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"jvm-1.0.0", "jvm-1.0.0@::1"} {
		w := newWorld(t, "")
		listenIn(t, w.project.Dir(), kind)
		w.found()
	}
}

// Fault 40: a server that does not listen yet is not waited for, and the next call finds it; one that listens is.
func TestDiscoverServerStarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	port := w.stalePort()
	w.project.Write(".nrepl-port", strconv.Itoa(port)) // written before the server listens
	assert.Equal(t, w.three().exit, 1)
	server := fakes.NewNREPL(t, fakes.NREPLOnPort(port))
	server.On("(+ 1 2)").AnyTimes().Value("3")
	w.found()

	// One that listens already and answers when it is ready is waited for, where a place names it: it may be busy as well.
	early, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	t.Cleanup(func() { _ = early.Close() })
	w.project.Write(".nrepl-port", strconv.Itoa(early.Addr().(*net.TCPAddr).Port))
	start := time.Now()
	go func() {
		time.Sleep(2 * time.Second / 3)
		serveAll(early, func(nc net.Conn) {
			ready, failed := net.Dial("tcp", server.Addr())
			if failed != nil {
				return
			}
			go func() {
				_, _ = io.Copy(nc, ready)
				_ = nc.Close()
			}()
			_, _ = io.Copy(ready, nc)
			_ = ready.Close()
		})
	}()
	w.found()
	assert.Assert(t, time.Since(start) > 500*time.Millisecond)
}

// --port, and a host that is not this machine, are final.
func TestDiscoverOnlyWhereNobodySaidWhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	listenIn(t, w.project.Dir(), "jvm-1.0.0")
	w.three("-p", strconv.Itoa(w.stalePort())).is(1, "", "brepl: no nREPL server: 127.0.0.1:$STALE from --port: connection refused; "+
		"[::1]:$STALE from --port: connection refused\n")
	w.env = append(w.env, "BREPL_HOST=192.0.2.1")
	w.three().is(1, "", "brepl: no nREPL server: no --port, no .nrepl-port file, and BREPL_PORT is not set. Start a REPL, or give --port\n")
}

// A server on a unix-domain socket, in every place that names a server, and discovered.
func TestUnixSocket(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.mayChange = true
	dir := t.TempDir() // the test's name is short: a socket's path has at most 107 bytes
	path := filepath.Join(dir, "my repl")
	url := "nrepl+unix:" + strings.ReplaceAll(path, " ", "%20")
	server := listenIn(t, w.scratch, "unix:"+path)
	w.found("-p", url)
	w.found("-p", "nrepl+unix:"+path)
	w.found("-h", url)
	w.project.Write(".nrepl-port", url+"\n")
	w.found()
	w.project.Remove(".nrepl-port")
	w.env = append(w.env, "BREPL_PORT="+url)
	w.found()

	server.end()
	w.three("-p", url).is(1, "", "brepl: no nREPL server: nrepl+unix:"+path+" from --port: connection refused\n")
	w.env = w.env[:1]
	w.project.Write(".nrepl-port", url)
	w.three().is(1, "", "brepl: no nREPL server: nrepl+unix:"+path+" from .nrepl-port: nothing listens there, the file is stale; "+
		"and no server of yours runs in $PROJECT. Start one there, or give --port; `brepl ls` shows all\n")
	assert.NilError(t, os.Remove(path))
	w.three("-p", url).is(1, "", "brepl: no nREPL server: nrepl+unix:"+path+" from --port: no such file or directory\n")

	// nREPL leaves an empty port file beside such a server.
	w.project.Write(".nrepl-port", "")
	listenAs(t, "java", w.project.Dir(), "unix:"+path)
	r := w.threePatiently()
	assert.Equal(t, r.exit, 0, r.stderr)
	assert.Equal(t, r.stdout, "3\n")
}

// host-protocol, "What three of our tools together showed": a coding agent listens in the project on a socket for messages. No byte
// gets there, and no word is said of it.
func TestDiscoverLeavesMessageSocketsAlone(t *testing.T) { // not beside tests that count connections: ls asks every server
	const none = "brepl: no nREPL server: no --port, no .nrepl-port, and BREPL_PORT is not set; and no server of yours runs in $PROJECT. " +
		"Start one there, or give --port; `brepl ls` shows all\n"
	messages := func(t *testing.T) (path string) {
		t.Helper()
		path = filepath.Join(clientBase(t), "4711.sock")
		t.Cleanup(func() {
			got, err := os.ReadFile(path + ".got")
			assert.Check(t, errors.Is(err, os.ErrNotExist), "%v: %q", err, got)
		})
		return path
	}
	unasked := func(w *world) {
		w.t.Helper()
		w.three().is(1, "", none)
		listed := w.run(fakes.DevNull(), "ls") // other tests' servers
		assert.Assert(w.t, listed.exit == 0 && !strings.Contains(listed.stdout+listed.stderr, "4711.sock"), "%s%s", listed.stdout, listed.stderr)
	}
	t.Run("of a process that is no REPL's", func(t *testing.T) {
		w := newWorld(t, "")
		listenIn(t, w.project.Dir(), "messages:"+messages(t))
		unasked(w)
	})
	for _, name := range []string{"CLAUDE_CODE_MESSAGING_SOCKET", "QWEN_CODE_MESSAGING_SOCKET"} {
		t.Run("of "+name, func(t *testing.T) {
			w := newWorld(t, "")
			w.mayChange = true
			path := messages(t)
			listenAs(t, "java", w.project.Dir(), "messages:"+path)
			w.env = append(w.env, name+"="+path)
			unasked(w)
			refused := "nrepl+unix:" + path + " from %s: " + name + " says that it takes messages for an agent"
			w.three("-p", "nrepl+unix:"+path).is(1, "", "brepl: no nREPL server: "+fmt.Sprintf(refused, "--port")+"\n")
			w.project.Write(".nrepl-port", "nrepl+unix:"+path)
			w.three().is(1, "", "brepl: no nREPL server: "+fmt.Sprintf(refused, ".nrepl-port")+"; and no server of yours runs in $PROJECT. "+
				"Start one there, or give --port; `brepl ls` shows all\n")
		})
	}
	t.Run("of a process that started us", func(t *testing.T) {
		w := newWorld(t, "")
		agent := listenAs(t, "java", w.project.Dir(), "messages:"+messages(t), "run:"+brepl(t))
		assert.Equal(t, agent.addrs[1], strconv.Quote(strings.ReplaceAll(none, "$PROJECT", w.project.Dir())))
	})
	t.Run("and a server is found beside it", func(t *testing.T) {
		for _, program := range []string{"java", "bb", "nbb", "lg"} {
			w := newWorld(t, "")
			listenIn(t, w.project.Dir(), "messages:"+messages(t))
			listenAs(t, program, w.project.Dir(), "unix:"+filepath.Join(clientBase(t), "repl"))
			w.found()
		}
	})
}

// Issue 5, "Shown by": a real JVM is discovered by its directory, with no port file.
func TestDiscoverJVM(t *testing.T) {
	server := jvmREPL(t)
	assert.NilError(t, os.RemoveAll(filepath.Join(server.Dir, ".nrepl-port")))
	w := newWorld(t, "")
	w.dir = server.Dir
	w.run(fakes.DevNull(), `(System/getProperty "user.dir")`).is(0, quoted(server.Dir)+"\n", "")
}

// A real JVM on a unix-domain socket: by the address that it prints, and discovered.
func TestUnixSocketJVM(t *testing.T) {
	needJVM(t)
	dir := realTempDir(t)
	path := filepath.Join(dir, "a b")
	t.Run("is found", func(t *testing.T) {
		line, end, err := runJVM(dir, nil, nil, "--socket", path)
		t.Cleanup(end)
		assert.NilError(t, err)
		foundOnSocket(t, dir, line)
	})
	poll.WaitOn(t, func(poll.LogT) poll.Result { // no JVM outlives its test
		_, err := net.Dial("unix", path)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return poll.Success()
		}
		return poll.Continue("it still listens: %v", err)
	})
}

// foundOnSocket says that the server, which runs in dir and printed the line, is found.
func foundOnSocket(t *testing.T, dir, line string) {
	t.Helper()
	_, url, _ := strings.Cut(strings.TrimSpace(line), "on socket ")
	w := newWorld(t, "")
	w.found("-p", url)
	w.dir = dir
	r := w.three()
	assert.Equal(t, r.exit, 0, r.stderr)
	assert.Equal(t, r.stdout, "3\n")
}
