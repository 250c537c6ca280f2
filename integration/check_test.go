//go:build unix

package integration

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	stdflag "flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/lab"
)

// checkSlots bounds how many checks run at once: they measure times, and mostly wait.
var checkSlots = sync.OnceValue(func() chan struct{} { return make(chan struct{}, 8) })

// startCheck starts what `hookkit check` with these flags does, beside the test and beside others, and returns what waits for the report.
func startCheck(t *testing.T, command []string, flags string) (wait func(t *testing.T) *lab.CheckReport) {
	t.Helper()
	set := stdflag.NewFlagSet("check", stdflag.ContinueOnError)
	options := lab.CheckOptions{Command: command, Dir: realTempDir(t), Env: os.Environ()}
	set.DurationVar(&options.Timeout, "timeout", 0, "")
	set.DurationVar(&options.StartLimit, "start-limit", 5*time.Second, "")
	set.StringVar(&options.Project, "dir", "", "")
	events := set.String("event", "Stop", "")
	assert.NilError(t, set.Parse(strings.Fields(flags)))
	options.Events = strings.Split(*events, ",")
	var report *lab.CheckReport
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		checkSlots() <- struct{}{}
		defer func() { <-checkSlots() }()
		report, err = lab.Check(t.Context(), options)
	}()
	return func(t *testing.T) *lab.CheckReport {
		t.Helper()
		<-done
		assert.NilError(t, err)
		return report
	}
}

// found lists the faults and the warnings of a report, each once, sorted.
func found(r *lab.CheckReport) (faults, warnings []string) {
	for _, e := range r.Events {
		for _, f := range e.Findings {
			if f.Warning {
				warnings = append(warnings, f.Fault)
			} else {
				faults = append(faults, f.Fault)
			}
		}
	}
	slices.Sort(faults)
	slices.Sort(warnings)
	return slices.Compact(faults), slices.Compact(warnings)
}

// fixture is a hook whose head says what a check must find in it.
type fixture struct {
	path                                  string
	faults, warnings                      []string
	events, flags, systems, command, name string
}

func fixtures(t *testing.T, dir string) []fixture {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.*"))
	assert.NilError(t, err)
	assert.Assert(t, len(paths) > 0, "no hook in %s", dir)
	var all []fixture
	for _, path := range paths {
		data, err := os.ReadFile(path)
		assert.NilError(t, err)
		full, err := filepath.Abs(path)
		assert.NilError(t, err)
		f := fixture{path: full, name: filepath.Base(path), events: "Stop"}
		for line := range strings.Lines(string(data)) {
			key, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "#")), ":")
			value = strings.TrimSpace(value)
			switch key {
			case "faults":
				f.faults = slices.Sorted(slices.Values(strings.Fields(value)))
			case "warnings":
				f.warnings = slices.Sorted(slices.Values(strings.Fields(value)))
			case "events":
				f.events = value
			case "flags":
				f.flags = value
			case "systems":
				f.systems = value
			case "command":
				f.command = value
			}
		}
		all = append(all, f)
	}
	return all
}

// start checks a hook beside the test; what it returns compares faults and warnings, all of them, with the hook's head.
func (f fixture) start(t *testing.T) (compare func(t *testing.T)) {
	t.Helper()
	if f.systems != "" && !slices.Contains(strings.Fields(f.systems), runtime.GOOS) {
		return func(t *testing.T) {
			t.Helper()
			t.Skipf("SKIPPED: this fault does not show on %s, only on %s", runtime.GOOS, f.systems)
		}
	}
	command := []string{f.path}
	if strings.HasSuffix(f.path, ".py") {
		program, err := python(t)
		if err != nil {
			return func(t *testing.T) {
				t.Helper()
				skipOrFail(t, "no python3 for %s: %v", f.name, err)
			}
		}
		command = []string{program, f.path}
	}
	if f.command != "" {
		command = []string{f.command}
	}
	wait := startCheck(t, command, "--timeout 3s --event "+f.events+" "+f.flags)
	return func(t *testing.T) {
		t.Helper()
		report := wait(t)
		faults, warnings := found(report)
		assert.DeepEqual(t, faults, f.faults)
		assert.DeepEqual(t, warnings, f.warnings)
		assert.Equal(t, report.Clean(), len(f.faults) == 0)
	}
}

// python is a Python without a wrapper in front of it, whose start would be measured.
func python(t *testing.T) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(out)), err
}

// Pins issue 3, 4: the check names the fault of each of the deliberately broken hooks, and no other.
func TestCheckNamesEachFault(t *testing.T) {
	fullRun(t)
	t.Parallel()
	named := map[string]bool{}
	compare := map[string]func(*testing.T){}
	hooks := fixtures(t, "brokenhooks")
	for _, f := range hooks {
		assert.Assert(t, len(f.faults) > 0, "%s does not say what is wrong with it", f.name)
		for _, id := range f.faults {
			named[id] = true
		}
		compare[f.name] = f.start(t)
	}
	for _, f := range hooks {
		t.Run(f.name, compare[f.name])
	}
	for _, fault := range lab.Faults() {
		if !fault.Warning && !named[fault.ID] {
			t.Errorf("no broken hook shows the fault %s", fault.ID)
		}
	}
}

func TestCheckFindsNoFaultInGoodHooks(t *testing.T) {
	fullRun(t)
	t.Parallel()
	program := filepath.Join(t.TempDir(), "gohook")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/goodhooks/gohook").CombinedOutput()
	assert.NilError(t, err, "%s", out)
	compare := map[string]func(*testing.T){"gohook": expectClean(startCheck(t, []string{program}, ""))}
	for _, f := range fixtures(t, "goodhooks") {
		assert.Equal(t, len(f.faults), 0, f.name)
		compare[f.name] = f.start(t)
	}
	for name, result := range compare {
		t.Run(name, result)
	}
}

// expectClean expects neither a fault nor a warning.
func expectClean(wait func(*testing.T) *lab.CheckReport) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		r := wait(t)
		if faults, warnings := found(r); len(faults)+len(warnings) > 0 {
			t.Error(r)
		}
	}
}

// Pins issue 3, 4: our own programs pass, without a warning.
func TestCheckFindsNothingInOurHooks(t *testing.T) {
	fullRun(t)
	t.Parallel()
	compare := map[string]func(*testing.T){}
	for _, c := range []struct{ hook, event string }{
		{"stop", "Stop"}, {"stop", "SubagentStop"}, {"session-end", "SessionEnd"}, {"validate", "PreToolUse"}, {"eval", "PostToolUse"},
	} {
		compare[c.hook+" at "+c.event] = expectClean(startCheck(t, []string{brepl(t), "hook", c.hook}, "--event "+c.event))
	}
	// With hooks that pass, that retry, and that report.
	for name, hooks := range map[string]string{
		"passes":  bash("tests", "true"),
		"retries": bash("tests", "echo 'No such file or directory'; exit 1", ":retry-on-failure? true"),
		"reports": bash("tests", "exit 1"),
	} {
		w := newWorld(t, hooksEDN(hooks))
		compare["stop that "+name] = expectClean(startCheck(t, []string{brepl(t), "hook", "stop"}, "--dir "+w.project.Dir()))
	}
	for name, result := range compare {
		t.Run(name, result)
	}
}

// runHookkit runs the program's commands in this process, and nothing of the environment reaches them but PATH.
func runHookkit(t *testing.T, dir string, args ...string) (exit int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := cli.Program{Args: args, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Name: "hookkit"}
	exit = p.Main(t.Context(), cli.Command{Sub: lab.Commands(nil)})
	return exit, out.String(), errs.String()
}

func TestCheckCommand(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	assert.NilError(t, fakes.WriteProgram(filepath.Join(dir, "hook"), "#!/bin/sh\necho '{\"decision\":\"allow\"}'\n"))
	exit, stdout, stderr := runHookkit(t, dir, "check", "--junit", "report.xml", "--json", "--", "./hook")
	assert.Equal(t, exit, 1)
	assert.Equal(t, stderr, "")
	var report lab.CheckReport
	assert.NilError(t, json.Unmarshal([]byte(stdout), &report))
	assert.Equal(t, report.Version, 1)
	faults, _ := found(&report)
	assert.DeepEqual(t, faults, []string{"wrong-value"})
	data, err := os.ReadFile(filepath.Join(dir, "report.xml"))
	assert.NilError(t, err)
	var suites struct {
		Suites []struct {
			Failures int `xml:"failures,attr"`
			Tests    int `xml:"tests,attr"`
		} `xml:"testsuite"`
	}
	assert.NilError(t, xml.Unmarshal(data, &suites))
	assert.Equal(t, len(suites.Suites), 1)
	assert.Equal(t, suites.Suites[0].Failures, 1)
	assert.Equal(t, suites.Suites[0].Tests, len(report.Events[0].Steps))

	// The text form of a clean hook: what a person reads, and the project as it was.
	exit, stdout, stderr = runHookkit(t, dir, "check", "--", "true && exit 0")
	assert.Equal(t, exit, 0, stdout)
	assert.Equal(t, stderr, "")
	assert.Assert(t, strings.HasSuffix(stdout, "\n0 faults, 0 warnings\n"), stdout)
	entries, err := os.ReadDir(dir)
	assert.NilError(t, err)
	assert.Equal(t, len(entries), 2, "the check left something in the folder that it was called from")
}

func TestCheckUsage(t *testing.T) {
	for _, c := range []struct{ args, stderr string }{
		{"check", "hookkit check: expected -- COMMAND\nRun 'hookkit check --help' for usage.\n"},
		{"check --event Stopp -- true", "hookkit check: --event: \"Stopp\" is no event that can be checked; these are: Stop, SubagentStop, PreToolUse, PostToolUse, " +
			"PostToolUseFailure, UserPromptSubmit, SessionStart, SessionEnd\nRun 'hookkit check --help' for usage.\n"},
		{"check --timeout 0s -- true", "hookkit check: --timeout and --start-limit are durations above 0, such as 10s\nRun 'hookkit check --help' for usage.\n"},
		{"check --dir nowhere -- true", "hookkit check: --dir: stat $DIR/nowhere: no such file or directory\nRun 'hookkit check --help' for usage.\n"},
	} {
		dir := realTempDir(t)
		exit, stdout, stderr := runHookkit(t, dir, strings.Fields(c.args)...)
		assert.Equal(t, exit, 1)
		assert.Equal(t, stdout, "")
		assert.Equal(t, strings.ReplaceAll(stderr, dir, "$DIR"), c.stderr)
	}
}
