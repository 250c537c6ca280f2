//go:build linux

package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// Issue 5: `brepl ls` shows every server with port, pid, directory, kind, versions, and why it would or would not be chosen.

const insideNamespace = "BREPL_TEST_INSIDE_NAMESPACE"

// alone says whether the test should go on here. `brepl ls` asks every listener of the user, those of tests that run at the same
// time too, which count who asks. So the test is run again as a process in a network of its own, where it is alone. Where that is not
// permitted, it goes on here.
func alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideNamespace) != "" {
		assert.NilError(t, loopbackUp())
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), insideNamespace+"=1")
	namespace, err := newNamespace()
	assert.NilError(t, err)
	cmd.SysProcAttr = namespace
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		t.Logf("no network namespace of our own: %v", err)
		return true
	}
	assert.NilError(t, err, "%s", out)
	assert.Assert(t, strings.Contains(string(out), "--- PASS: "+t.Name()+" "), "%s", out)
	return false
}

type lsOutput struct {
	Servers []lsServer
	Notes   []string
}

type lsServer struct {
	Address, Directory, Kind, Source, Why string
	Port, PID                             int
	Versions                              map[string]string
	Chosen                                bool
}

func (w *world) ls(args ...string) lsOutput {
	w.t.Helper()
	r := w.run(fakes.DevNull(), append([]string{"ls", "--json"}, args...)...)
	assert.Equal(w.t, r.exit, 0, r.stderr)
	assert.Equal(w.t, r.stderr, "")
	var out lsOutput
	assert.NilError(w.t, json.Unmarshal([]byte(r.raw.Stdout), &out), "%s", r.stdout)
	return out
}

// whys has what is said of each server, by process.
func (o lsOutput) whys() map[int]string {
	said := map[int]string{}
	for _, s := range o.Servers {
		said[s.PID] = strings.TrimSpace(map[bool]string{true: "* "}[s.Chosen] + s.Why)
	}
	return said
}

func TestLs(t *testing.T) {
	if !alone(t) {
		return
	}
	w := newWorld(t, "")
	w.mayChange = true
	here, there := w.project.Dir(), w.scratch
	w.run(fakes.DevNull(), "ls").is(0, "No nREPL server of yours runs on this machine.\n", "")
	assert.DeepEqual(t, w.ls(), lsOutput{Servers: []lsServer{}, Notes: []string{}})

	a := listenIn(t, here, "jvm-1.0.0")
	want := lsServer{
		Address: a.addrs[0], Port: a.port(0), PID: a.pid, Directory: here, Kind: "clojure", Source: "discovery", Chosen: true,
		Versions: map[string]string{"clojure": "1.11.1", "java": "17.0.15", "nrepl": "1.0.0"}, Why: "it runs in this project",
	}
	assert.DeepEqual(t, w.ls(), lsOutput{Servers: []lsServer{want}, Notes: []string{}})

	// One that runs elsewhere, and one that runs elsewhere and is named.
	other, named := listenIn(t, there, "nbb"), listenIn(t, there, "let-go@::1")
	w.project.Write(".nrepl-port", strconv.Itoa(named.port(0)))
	assert.DeepEqual(t, w.ls().whys(), map[int]string{
		a.pid:     "it runs in this project, but .nrepl-port comes first",
		other.pid: "it runs in another directory",
		named.pid: "* .nrepl-port names it; it runs in another directory",
	})
	w.env = append(w.env, "BREPL_PORT="+strconv.Itoa(a.port(0)))
	assert.Equal(t, w.ls().whys()[a.pid], "BREPL_PORT names it, but .nrepl-port comes first")

	// A file of another project.
	assert.NilError(t, os.MkdirAll(filepath.Join(there, "src"), 0o755))
	w.write("deps.edn", "{}")
	assert.DeepEqual(t, w.ls("-f", filepath.Join(there, "src", "a.clj")).whys(), map[int]string{
		a.pid:     "BREPL_PORT names it, but .nrepl-port comes first",
		other.pid: "2 servers run in " + there + ", but .nrepl-port comes first",
		named.pid: "* .nrepl-port names it",
	})

	// A stale file, then.
	w.project.Write(".nrepl-port", strconv.Itoa(w.stalePort()))
	out := w.ls()
	assert.Equal(t, out.whys()[a.pid], "* BREPL_PORT names it")
	assert.DeepEqual(t, out.Notes, []string{fmt.Sprintf("localhost:%s from .nrepl-port: nothing listens there, the file is stale", w.project.Read(".nrepl-port"))})
	w.env = w.env[:1]
	w.project.Remove(".nrepl-port")

	w.env = append(w.env, "BREPL_HOST=192.0.2.1")
	assert.Equal(t, w.ls().whys()[a.pid], "it runs in this project, but BREPL_HOST is another machine")
	w.env = w.env[:1]

	// Two.
	b := listenIn(t, here, "babashka", "silent")
	out = w.ls()
	assert.DeepEqual(t, out.whys(), map[int]string{
		a.pid: "2 servers run in " + here + ", but which one is not clear", b.pid: "2 servers run in " + here + ", but which one is not clear",
		other.pid: "it runs in another directory", named.pid: "it runs in another directory",
	})
	assert.DeepEqual(t, out.Notes, []string{fmt.Sprintf("127.0.0.1:%d (pid %d) in this project accepted a connection and did not answer within 500ms: no nREPL server, or a busy one", b.port(1), b.pid)})
}

// The kinds, by what the recorded servers say of themselves, and shadow-cljs by its port file.
func TestLsKinds(t *testing.T) {
	if !alone(t) {
		return
	}
	w := newWorld(t, "")
	kinds, versions := map[string]string{}, map[string]string{}
	for _, preset := range fakes.Presets() {
		server := listenIn(t, w.scratch, string(preset))
		for _, s := range w.ls().Servers {
			if s.PID == server.pid {
				kinds[string(preset)] = s.Kind
				for name, version := range s.Versions {
					versions[string(preset)+" "+name] = version
				}
			}
		}
	}
	assert.DeepEqual(t, kinds, map[string]string{"jvm-1.0.0": "clojure", "jvm-1.7": "clojure", "babashka": "babashka", "nbb": "nbb", "let-go": "let-go"})
	assert.DeepEqual(t, versions, map[string]string{
		"jvm-1.0.0 clojure": "1.11.1", "jvm-1.0.0 java": "17.0.15", "jvm-1.0.0 nrepl": "1.0.0",
		"jvm-1.7 clojure": "1.11.1", "jvm-1.7 java": "17.0.15", "jvm-1.7 nrepl": "",
		"babashka babashka.nrepl": "0.0.6-SNAPSHOT", "nbb nbb-nrepl": "", "nbb node": "v20.20.2", "let-go let-go": "1.0", "let-go nrepl": "1.0",
	})
	page, err := os.ReadFile("../docs/nrepl-servers.md")
	assert.NilError(t, err)
	for i, kind := range pageRow(t, string(page), "kind in `brepl ls`") {
		assert.Equal(t, kinds[string(fakes.Presets()[i])], kind)
	}
	server := listenIn(t, w.project.Dir(), "jvm-1.0.0")
	w.project.Write(".shadow-cljs/nrepl.port", strconv.Itoa(server.port(0)))
	for _, s := range w.ls().Servers {
		if s.PID == server.pid {
			assert.Equal(t, s.Kind, "shadow-cljs")
			assert.Equal(t, s.Why, ".shadow-cljs/nrepl.port names it")
		}
	}
}

// The table is that of the manual; there are no escapes where stdout is no terminal.
func TestLsTable(t *testing.T) {
	if !alone(t) {
		return
	}
	w := newWorld(t, "")
	shop, tools := filepath.Join(w.home, "shop"), filepath.Join(w.home, "tools")
	assert.NilError(t, os.Mkdir(shop, 0o755))
	assert.NilError(t, os.Mkdir(tools, 0o755))
	w.dir = shop
	a, b := listenIn(t, shop, "jvm-1.0.0"), listenIn(t, tools, "babashka")
	r := w.run(fakes.DevNull(), "ls")
	manual, err := os.ReadFile("../docs/brepl.md")
	assert.NilError(t, err)
	_, example, _ := strings.Cut(string(manual), "$ brepl ls\n")
	example, _, _ = strings.Cut(example, "```")
	example = strings.NewReplacer("127.0.0.1:40123", a.addrs[0], "41210", strconv.Itoa(a.pid), "127.0.0.1:40124", b.addrs[0], "41377", strconv.Itoa(b.pid)).Replace(example)
	sorted := func(table string) (rows []string) {
		for line := range strings.Lines(table) {
			rows = append(rows, strings.Join(strings.Fields(line), " "))
		}
		slices.Sort(rows) // by port, which is not always in the order of the start
		return rows
	}
	assert.DeepEqual(t, sorted(r.raw.Stdout), sorted(example))
	column := func(text string) (at []int) {
		for line := range strings.Lines(r.raw.Stdout) {
			if i := strings.Index(line, text); i >= 0 {
				at = append(at, i)
			}
		}
		return at
	}
	assert.DeepEqual(t, slices.Compact(append(column("DIRECTORY"), column("~/")...)), column("DIRECTORY"))
	w.run(fakes.DevNull(), "ls", "x").is(2, "", "brepl ls: unexpected argument \"x\"\nRun 'brepl ls --help' for usage.\n")
}

// Faults 35 and 36: whatever listens, `brepl ls` and discovery end in time and say nothing wrong.
func TestLsFaults(t *testing.T) {
	if !alone(t) {
		return
	}
	w := newWorld(t, "")
	w.dir, _ = os.Getwd() // the fakes run in this process
	for _, f := range []fakes.Fault{
		fakes.HTTPAnswer(), fakes.RedisAnswer(), fakes.SSHBanner(), fakes.ResetConnection(), fakes.HalfClosed(), fakes.DropMidFrame(), fakes.Silent(), fakes.NeverDone(),
		fakes.HugeLength(), fakes.NegativeLength(), fakes.BadInteger(), fakes.DeepNesting(100_000), fakes.Garbage([]byte("4:spam")), fakes.Garbage([]byte("l")), fakes.ForeignIDs(),
		fakes.UnsortedKeys(), fakes.DuplicateKeys(), fakes.Joined(), fakes.DoneTwice(),
	} {
		server, err := fakes.StartNREPL(fakes.NREPLFault(f))
		assert.NilError(t, err)
		// A describe is answered well with the last two: they are faults of evaluations.
		good := slices.Contains([]string{"unsorted keys", "duplicate keys", "several frames in one", "done twice", "never done", "foreign ids"}, f.String())
		listed := w.ls().Servers
		for try := 0; good && len(listed) == 0 && try < patience; try++ {
			listed = w.ls().Servers
		}
		assert.Check(t, len(listed) == map[bool]int{true: 1}[good], "%s: %v", f, listed)
		server.Close()
	}
}

// In containers and on servers: thousands of files and processes do not slow the search down.
func TestLsAmongThousands(t *testing.T) {
	fullRun(t)
	if !alone(t) {
		return
	}
	w := newWorld(t, "")
	dir := t.TempDir()
	listenIn(t, w.project.Dir(), "jvm-1.0.0")
	search := func() time.Duration {
		start := time.Now()
		w.found()
		return time.Since(start)
	}
	var files []*os.File
	closeAll := func() {
		for _, f := range files {
			_ = f.Close()
		}
		files = nil
	}
	defer closeAll()
	var own *fakes.NREPL
	costs(t, 10, search, func() time.Duration {
		closeAll()
		for i := range 5000 {
			f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)))
			if err != nil {
				t.Logf("%d open files is the most here: %v", i, err)
				break
			}
			files = append(files, f)
		}
		if own == nil {
			own = fakes.NewNREPL(t, fakes.NREPLRelaxed()) // behind all these files
		}
		return search()
	})
	found := 0
	for _, s := range w.ls().Servers {
		if s.Port == own.Port() && s.PID == os.Getpid() {
			found++
		}
	}
	assert.Equal(t, found, 1)
}
