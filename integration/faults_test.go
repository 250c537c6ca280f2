//go:build unix

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// fault is a number of testdata/faults.md, or a part of it, and what shows that every command it concerns stands it.
type fault struct {
	number int
	title  string
	run    func(*testing.T)
}

var faults = slices.Concat(inputFaults, pathFaults, settingsFaults, settingsPlaceFaults, configFaults, commandFaults, replFaults, bencodeFaults, clientFaults, stateFaults, repairFaults, evalFaults, gauntletFaults, triageFaults)

// otherFaults belong to programs and commands that are tested elsewhere.
var otherFaults = map[int]string{
	25: "belongs to another issue: trust in hooks.edn",
	41: "is retired",
}

func TestFaults(t *testing.T) {
	fullRun(t)
	brepl(t) // built before the first of them
	gauntletProgram(t)
	t.Parallel()
	for _, f := range faults {
		t.Run(fmt.Sprintf("%d %s", f.number, f.title), func(t *testing.T) {
			t.Parallel()
			f.run(t)
		})
	}
}

// TestFaultsAreComplete fails on a number without a row, on a row without a number, and on a number that has both a row and
// an excuse.
func TestFaultsAreComplete(t *testing.T) {
	text, err := os.ReadFile("testdata/faults.md")
	assert.NilError(t, err)
	numbers := faultNumbers(string(text))
	var all []int
	for i := range 54 {
		all = append(all, i+1)
	}
	assert.DeepEqual(t, numbers, all)
	rows, titles := map[int]int{}, map[string]int{}
	for _, f := range faults {
		rows[f.number]++
		titles[fmt.Sprintf("%d %s", f.number, f.title)]++
		assert.Check(t, slices.Contains(numbers, f.number), "the row %q has the number %d, which faults.md does not have", f.title, f.number)
	}
	for title, n := range titles {
		assert.Check(t, n == 1, "%q stands %d times in the table", title, n)
	}
	for _, n := range numbers {
		excuse, excused := otherFaults[n]
		switch {
		case rows[n] == 0 && !excused:
			t.Errorf("fault %d has no row", n)
		case rows[n] > 0 && excused:
			t.Errorf("fault %d has a row and %s", n, excuse)
		case excused:
			t.Logf("fault %d has no row: it %s", n, excuse)
		}
	}
	for n := range otherFaults {
		assert.Check(t, slices.Contains(numbers, n), "%d is excused and not in faults.md", n)
	}
}

// faultNumbers finds the numbers that begin a fault: after the bold name of a group, or after a full stop.
func faultNumbers(text string) []int {
	var list []int
	for _, m := range regexp.MustCompile(`(?:\*\*|[.)*]) (\d+) `).FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			list = append(list, n)
		}
	}
	return list
}

func TestFaultNumbers(t *testing.T) {
	assert.DeepEqual(t, faultNumbers("**A.** 1 one, 2 MB. 2 two: *exit*. 3 100 MB, 1.5 s. 4 (not used).\n**B.** 5 five 6.\n"), []int{1, 2, 3, 4, 5})
}

// newFaultWorld is a world that looks, at the end, for what a run has left behind.
func newFaultWorld(t *testing.T, hooks string, options ...fakes.ProjectOption) *world {
	t.Helper()
	w := newWorld(t, hooks, options...)
	t.Cleanup(func() { w.nothingLeft(w.project.Dir(), w.state, w.home) })
	return w
}

// newFaultProgram is a world whose PATH leads to the program, so that install writes plain brepl.
func newFaultProgram(t *testing.T, options ...fakes.ProjectOption) *world {
	t.Helper()
	w := newProgramWorld(t, options...)
	w.mayChange = false
	t.Cleanup(func() { w.nothingLeft(w.project.Dir(), w.home) })
	return w
}

// nothingLeft fails on files that only exist while brepl runs.
func (w *world) nothingLeft(dirs ...string) {
	w.t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
				return nil
			}
			if err != nil {
				return err
			}
			if name := d.Name(); strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, "event-") {
				w.t.Errorf("left behind: %s", path)
			}
			return nil
		})
		assert.Check(w.t, err)
	}
}

// reader is a command that reads an event, with one it likes and the answer to that.
type reader struct{ name, event, allowed string }

// readers are the commands that read an event. None of the events is one that a command has something to say about.
func (w *world) readers(options ...fakes.EventOption) []reader {
	options = append([]fakes.EventOption{fakes.InProject(w.dir), fakes.InSession(w.session)}, options...)
	return []reader{
		{"stop", fakes.StopEvent(options...).JSON(), approve},
		{"session-end", fakes.SessionEndEvent("other", options...).JSON(), ""},
		{"validate", fakes.PreWriteEvent(filepath.Join(w.dir, "src/a.clj"), "(ns a)\n", options...).JSON(), ""},
		{"eval", fakes.PostWriteEvent(filepath.Join(w.dir, "README.md"), "text\n", options...).JSON(), ""},
	}
}

// eachReader runs check for each of the commands that read an event, with a hook that notes its session.
func eachReader(t *testing.T, check func(t *testing.T, w *world, c reader)) {
	t.Helper()
	for i := range 4 {
		w := newFaultWorld(t, hooksEDN(bash("tests", leaveTrace)))
		c := w.readers()[i]
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w.t = t
			check(t, w, c)
		})
	}
}

// unreadable expects an input that is no event: `hook stop` reports the reason, the others let the event pass and say it.
// Never 2, and no hook runs.
func (w *world) unreadable(c reader, in fakes.Stdin, reason string) {
	w.t.Helper()
	exit := 0
	if c.name == "stop" {
		exit = 1
	}
	w.run(in, "hook", c.name).is(exit, "", reason+"\n")
	assert.Equal(w.t, w.wrote("trace"), "absent")
}

// ourCommands are the commands that people type, with arguments that work in every project that has hooks.
var ourCommands = [][]string{
	{"check"},
	{"check", "--json"},
	{"run"},
	{"stop", "--dry-run"},
	{"pause", "1h"},
	{"resume"},
	{"install", "--dry-run"},
	{"uninstall", "--dry-run"},
	{"validate", "a.clj", "(ns a)"},
	{"eval", "README.md"},
	{"session-end", "some-session"},
}

// native is a run that fakes.Run cannot do: as another user, with an endless input, with its memory watched.
type native struct {
	stdin        io.Reader
	unprivileged bool // as nobody where we are root
	limit        time.Duration
}

// ended is what became of a native run.
type ended struct {
	exit           int
	stdout, stderr string
	peak           int // resident memory in KiB, 0 where it cannot be told
	elapsed        time.Duration
}

// nobody is the user that owns nothing.
const nobody = 65534

// native runs a program in the world's environment.
func (w *world) native(o native, name string, args ...string) ended {
	w.t.Helper()
	if o.limit == 0 {
		o.limit = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), o.limit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = w.dir, w.environment(), o.stdin, &stdout, &stderr
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if o.unprivileged && os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	began := time.Now()
	assert.NilError(w.t, cmd.Start())
	peak, stop := make(chan int), make(chan struct{})
	go func() { peak <- watchMemory(cmd.Process.Pid, stop) }()
	err := cmd.Wait()
	close(stop)
	e := ended{exit: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), peak: <-peak, elapsed: time.Since(began)}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) && !errors.Is(err, syscall.EPIPE) || ctx.Err() != nil || e.exit < 0 {
		w.t.Errorf("%q: %v, %v after %v\nstdout: %s\nstderr: %s", args, err, cmd.ProcessState, e.elapsed, e.stdout, e.stderr)
	}
	e.stdout, e.stderr = normalize(e.stdout, w.names(), measured()), normalize(e.stderr, w.names(), measured())
	return e
}

// is compares all that can be compared.
func (e ended) is(t *testing.T, exit int, stdout, stderr string) {
	t.Helper()
	type outcome struct {
		Exit           int
		Stdout, Stderr string
	}
	assert.DeepEqual(t, outcome{e.exit, e.stdout, e.stderr}, outcome{exit, stdout, stderr})
}

// watchMemory follows the peak of a process's memory until stop. The system keeps a peak for waiting parents too, but that one
// begins with the memory of the parent itself.
func watchMemory(pid int, stop <-chan struct{}) int {
	if runtime.GOOS != "linux" {
		<-stop
		return 0
	}
	peak := 0
	for {
		peak = max(peak, peakMemory(pid))
		select {
		case <-stop:
			return peak
		case <-time.After(200 * time.Microsecond):
		}
	}
}

// peakMemory is the peak of a running process's resident memory in KiB, 0 when it is not known.
func peakMemory(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	return memoryLine(string(status))
}

func memoryLine(status string) int {
	_, rest, _ := strings.Cut(status, "VmHWM:")
	for field := range strings.FieldsSeq(rest) {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0
		}
		return n
	}
	return 0
}

// notePeak is a command that writes the peak of brepl's memory, its parent, to $WORLD/peak.
const notePeak = `test ! -e /proc/$PPID/status || grep VmHWM /proc/$PPID/status > "$WORLD/peak"`

// peak is what notePeak has noted, in KiB.
func (w *world) peak() int { return memoryLine(readOr(w.t, filepath.Join(w.scratch, "peak"), "")) }

// lessThan fails on memory above a limit in MiB, and on Linux when nothing was measured.
func lessThan(t *testing.T, peak, limit int) {
	t.Helper()
	assert.Assert(t, peak > 0 || runtime.GOOS != "linux", "the memory was not measured")
	assert.Assert(t, peak < limit<<10, "the peak was %d MiB, want less than %d", peak>>10, limit)
}

// openWorld is a world that every user of the machine can use, and the path of a brepl there.
func openWorld(t *testing.T, hooks string) (w *world, program string) {
	t.Helper()
	root := realTempDir(t)
	for _, dir := range []string{filepath.Dir(root), root} { // the first is the test's own, too
		assert.NilError(t, os.Chmod(dir, 0o755))
	}
	w = newWorld(t, "")
	for _, d := range []struct {
		path *string
		name string
	}{{&w.dir, "project"}, {&w.state, "state"}, {&w.home, "home"}, {&w.scratch, "scratch"}} {
		*d.path = filepath.Join(root, d.name)
		assert.NilError(t, os.Mkdir(*d.path, 0o700))
		w.giveAway(*d.path)
	}
	w.env = append(w.env, "BREPL_STATE_DIR="+w.state, "CLAUDE_PROJECT_DIR="+w.dir)
	w.rules = append(w.rules, literal(w.dir, "$$DIR"))
	if hooks != "" {
		assert.NilError(t, os.Mkdir(filepath.Join(w.dir, ".brepl"), 0o755))
		assert.NilError(t, os.WriteFile(filepath.Join(w.dir, ".brepl/hooks.edn"), []byte(hooks), 0o644))
	}
	program = filepath.Join(root, "brepl")
	// Copied by another process: a child that is forked while we write would hold the file, and then it cannot be run.
	said, err := exec.CommandContext(t.Context(), "cp", brepl(t), program).CombinedOutput()
	assert.NilError(t, err, "%s", said)
	assert.NilError(t, os.Chmod(program, 0o755))
	w.rules = append(w.rules, literal(program, "$$BREPL"))
	return w, program
}

// giveAway makes nobody the owner where we are root.
func (w *world) giveAway(paths ...string) {
	w.t.Helper()
	for _, path := range paths {
		if os.Geteuid() == 0 {
			assert.NilError(w.t, os.Lchown(path, nobody, nobody))
		}
	}
}

// needRoot skips, aloud, what only root can prepare.
func needRoot(t *testing.T, what string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("SKIPPED: only root can %s", what) // also in CI, which need not run as root
	}
}

// call is a run that is about to be: brepl with these arguments and this input.
type call struct {
	in   fakes.Stdin
	args []string
}

// atOnce runs them side by side, for those that have to wait, and returns what became of each. Without this the waiting of all
// tests would take more than a minute.
func (w *world) atOnce(calls ...call) []result {
	w.t.Helper()
	before := w.project.Snapshot()
	outcomes, errs := make([]fakes.Outcome, len(calls)), make([]error, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		all.Go(func() { outcomes[i], errs[i] = w.spec(append([]string{"hook"}, c.args...)...).Run(c.in) })
	}
	all.Wait()
	assert.NilError(w.t, errors.Join(errs...))
	if changes := before.Changes(w.project.Snapshot()); changes != nil {
		w.t.Errorf("%v changed the project: %v", calls, changes)
	}
	var results []result
	for _, o := range outcomes {
		results = append(results, w.result(o))
	}
	return results
}

// bothWays runs the hooks as a stop and by hand, one after the other.
func (w *world) bothWays() (stop, run result) {
	w.t.Helper()
	return w.stop(), w.hook("run")
}

// bothAtOnce is bothWays for hooks that take their time.
func (w *world) bothAtOnce() (stop, run result) {
	w.t.Helper()
	r := w.atOnce(call{fakes.OneLine(w.stopEvent()), []string{"stop"}}, call{fakes.DevNull(), []string{"run"}})
	return r[0], r[1]
}

// through is a spec that starts brepl by a line of shell, in which it is "$@".
func (w *world) through(line string, args ...string) fakes.Spec {
	spec := w.spec()
	spec.Path, spec.Args = "sh", slices.Concat([]string{"-c", line, "sh", spec.Path}, args)
	return spec
}

// noted is the process id that a command has written to a file in $WORLD.
func (w *world) noted(name string) int {
	w.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(readOr(w.t, filepath.Join(w.scratch, name), "absent")))
	assert.NilError(w.t, err)
	return pid
}

// logOf is where a hook's output is kept.
func (w *world) logOf(name string) string {
	_, path, _ := strings.Cut(outputOf(name), "log: ")
	path = strings.TrimSuffix(path, "):")
	return strings.ReplaceAll(strings.ReplaceAll(path, "$$", "$"), "$PRIVATE", w.private())
}

// trace is what hooks have noted in $WORLD/trace, with the hashes in the names of sessions that have no id.
func (w *world) trace() string {
	return regexp.MustCompile(`(?m)^(unknown|manual)-[0-9a-f]{16}$`).ReplaceAllString(w.wrote("trace"), "$1-$$HASH")
}
