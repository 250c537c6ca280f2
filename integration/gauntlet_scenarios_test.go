//go:build unix

package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

const seed003 = "003_5e4a488485048954.txt"

// The parts of the seed with something to show, by heading; each item is a title.
const (
	outputScenarios = "Output Scenarios"
	stdinBehaviours = "Stdin Reading Strategy"
	loopGuards      = "Preventing Infinite Loops"
	infraErrors     = "Infrastructure Error Detection"
)

// gauntletScenarios is every title of the seed about the stop hook.
var gauntletScenarios = slices.Concat(gauntletOutput, gauntletStdin, gauntletLoops, gauntletFlow)

func TestGauntletScenarios(t *testing.T) {
	gauntletProgram(t) // built before anything runs in parallel
	t.Parallel()
	for _, s := range gauntletScenarios {
		t.Run(s.requirement+"/"+s.title, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
}

// TestGauntletScenariosAreComplete fails on a title without a test, on a test without a title, and on one that stands twice.
func TestGauntletScenariosAreComplete(t *testing.T) {
	text, err := os.ReadFile("testdata/seeds/" + seed003)
	assert.NilError(t, err)
	want := gauntletTitles(string(text))
	var got []string
	for _, s := range gauntletScenarios {
		got = append(got, s.requirement+": "+s.title)
	}
	slices.Sort(got)
	slices.Sort(want)
	assert.DeepEqual(t, got, want)
}

// gauntletTitles finds what the seed demands of the stop hook: the numbered scenarios, the key behaviours, the safeguards, the row of the
// infrastructure error, and the four ends of the decision flow.
func gauntletTitles(text string) []string {
	var titles []string
	heading, fenced, list := "", false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			if !fenced && list == "flow" {
				list = ""
			}
			continue
		}
		if title, ok := strings.CutPrefix(line, "## "); ok && !fenced {
			heading, list = title, ""
		}
		if title, ok := strings.CutPrefix(line, "### "); ok && !fenced {
			heading, list = title, ""
		}
		switch {
		case strings.HasPrefix(line, "**Key behaviors**"), line == "Three safeguards:", strings.HasPrefix(line, "| Error |"):
			list = "items"
			continue
		case strings.HasPrefix(line, "**Decision flow**"):
			list = "flow"
			continue
		case strings.HasPrefix(line, "**"):
			list = ""
		}
		switch {
		case heading == outputScenarios && strings.HasPrefix(line, "#### "):
			titles = append(titles, heading+": "+line[len("#### "):])
		case list == "items" && !fenced && (strings.HasPrefix(line, "- ") || len(line) > 3 && line[1:3] == ". "):
			titles = append(titles, heading+": "+strings.TrimLeft(line, "-123. "))
		case list == "items" && strings.HasPrefix(line, "| `"):
			titles = append(titles, heading+": "+strings.Split(line, "`")[1])
		case list == "flow" && strings.Contains(line, "► ") && strings.Contains(line, "stop"):
			titles = append(titles, heading+": "+strings.Join(strings.Fields(strings.Trim(line, " │├└─►")), " "))
		}
	}
	return titles
}

func TestGauntletTitles(t *testing.T) {
	text := "### Output Scenarios\n#### 1. A\n```\n#### no\n**x**\n```\n### S\n**Key behaviors**:\n- one\n- two\n### P\nno\n- no\n"
	assert.DeepEqual(t, gauntletTitles(strings.ReplaceAll(text, "#### no\n", "")), []string{"Output Scenarios: 1. A", "S: one", "S: two"})
	data, err := os.ReadFile("testdata/seeds/" + seed003)
	assert.NilError(t, err)
	assert.Equal(t, len(gauntletTitles(string(data))), 5+6+3+1+4)
}

var gauntletOutput = []scenario{
	{seed003, outputScenarios, "1. Gauntlet Passed (allow stop)", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "whole\n")
		w.stop().is(0, "", saysPassed)
	}},
	{seed003, outputScenarios, "2. Gauntlet Failed (block stop)", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		w.stop().is(0, blockedBy(1, 4, brokenTests...), saysFailed)

		// The seed's own object, which ends the agent's work, is sent only where the configuration asks for it.
		w = newChecked(t, "stop_hook:\n  output: literal\n")
		w.project.Write("src/b.txt", "BROKEN\n")
		r := w.stop()
		assert.Equal(t, r.stdout, `{"continue":false,"stopReason":"Gauntlet gates did not pass. Please fix the issues before stopping."}`+"\n")
		assert.Equal(t, r.stderr, saysFailed)
		assert.Equal(t, r.exit, 0)
	}},
	{seed003, outputScenarios, "3. No .gauntlet/config.yml (allow stop - not a gauntlet project)", func(t *testing.T) {
		w := newGauntlet(t, nil)
		w.stop().is(0, "", saysNoConfig)
		// Also while active: on_active is in the configuration, so it is looked for first.
		w.stop(fakes.Set("stop_hook_active", true)).is(0, "", saysNoConfig)
		// What cannot be looked at is no missing configuration, as with brepl: the gates went away without a word.
		assert.NilError(t, os.Symlink(".gauntlet", w.project.Path(".gauntlet")))
		assert.Assert(t, strings.Contains(w.stop().stdout, "the gates did not run, the configuration cannot be used"))
	}},
	{seed003, outputScenarios, "4. Already in stop hook (prevent infinite loop)", func(t *testing.T) {
		w := newChecked(t, "stop_hook:\n  on_active: allow\n")
		w.project.Write("src/b.txt", "BROKEN\n")
		w.stop(fakes.Set("stop_hook_active", true)).is(0, "", saysActive)
		w.stop().is(0, blockedBy(1, 4, brokenTests...), saysFailed)

		// Without that setting the gates run again: the first repair is verified.
		w = newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		w.stop(fakes.Set("stop_hook_active", true)).is(0, blockedBy(1, 4, brokenTests...), saysFailed)
	}},
	{seed003, outputScenarios, "5. Infrastructure error (allow stop)", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		release := w.holdLock()
		w.stop().is(0, "", saysInfra)
		release()
		w.stop().is(0, blockedBy(1, 4, brokenTests...), saysFailed)
	}},
}

var gauntletStdin = []scenario{
	{seed003, stdinBehaviours, "Returns immediately when newline is detected (Claude Code protocol)", func(t *testing.T) {
		w := newChecked(t)
		for _, in := range []fakes.Stdin{fakes.HeldOpen(w.stopEvent()), fakes.HeldOpenNoNewline(w.stopEvent()), fakes.OneLine(w.stopEvent())} {
			r := w.stopWith(in)
			r.is(0, "", saysNothing)
		}
		// Beyond the seed: done at the closing brace, so an event of many lines is read whole.
		w.stopWith(fakes.Pretty(w.stopEvent())).is(0, "", saysNothing)
	}},
	{seed003, stdinBehaviours, "Times out after 5 seconds if stdin stays open with no data", func(t *testing.T) {
		fullRun(t)
		w := newGauntlet(t, nil)
		r := w.stopWith(fakes.EmptyOpen())
		r.is(0, "", saysNoConfig)
		assert.Assert(t, r.raw.Elapsed >= stdinTimeout, "%v", r.raw.Elapsed)
	}},
	{seed003, stdinBehaviours, "On `end` event, returns accumulated data (trimmed)", func(t *testing.T) {
		w := newChecked(t)
		w.stopWith(fakes.Bytes([]byte("  \n "+w.stopEvent()+" \t "))).is(0, "", saysNothing)
		w.stopWith(fakes.NoNewline(w.stopEvent())).is(0, "", saysNothing)
		// Nothing at all is an event without fields: the project is where the hook runs.
		w.stopWith(fakes.EOF()).is(0, "", saysNothing)
	}},
	{seed003, stdinBehaviours, "On error, returns empty string (allows stop gracefully)", func(t *testing.T) {
		w := newGauntlet(t, nil)
		w.stopWith(fakes.Closed()).is(0, "", saysNoConfig)
		w = newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		for _, text := range []string{"no json\n", "[1]\n", `{"session_id":`, "\xff\xfe{"} {
			r := w.stopWith(fakes.Bytes([]byte(text)))
			assert.Equal(t, r.exit, 0)
			assert.Equal(t, r.stdout, "")
			matches(t, r.stderr, `(?s)\A\[gauntlet\] Starting gauntlet validation\.\.\.\n.*allowing stop\n\z`)
		}
	}},
	{seed003, stdinBehaviours, "Cleans up listeners to prevent memory leaks", func(t *testing.T) {
		// What is left behind by a process is what it leaves running or open: nothing holds its streams, and it ends by itself.
		w := newChecked(t)
		w.project.Write(".gauntlet/checks/tests.yml", "command: sleep 20000 & exit 0\n")
		r := w.stop()
		r.is(0, "", saysPassed)
		assert.Assert(t, !r.raw.StreamsHeld)
	}},
	{seed003, stdinBehaviours, "Never blocks indefinitely", func(t *testing.T) {
		fullRun(t)
		w := newGauntlet(t, nil)
		for _, in := range []fakes.Stdin{fakes.Half(w.stopEvent()), fakes.BlankLine()} {
			r := w.stopWith(in)
			assert.Equal(t, r.exit, 0)
			assert.Equal(t, r.stdout, "")
		}
	}},
}

// stdinTimeout is the seed's STDIN_TIMEOUT_MS.
const stdinTimeout = 5 * time.Second

var gauntletLoops = []scenario{
	{seed003, loopGuards, "**`stop_hook_active` check**: If the hook already triggered continuation, don't block again", func(t *testing.T) {
		w := newChecked(t, "stop_hook:\n  on_active: allow\n")
		w.project.Write("src/b.txt", "BROKEN\n")
		w.stop().is(0, blockedBy(1, 4, brokenTests...), saysFailed)
		w.stop(fakes.Set("stop_hook_active", true)).is(0, "", saysActive)
	}},
	{seed003, loopGuards, "**Retry limit in gauntlet**: `max_retries` config prevents endless retries (default: 3)", func(t *testing.T) {
		w := newChecked(t)
		for attempt := 1; attempt <= 4; attempt++ {
			w.project.Write("src/b.txt", "BROKEN\n"+strings.Repeat("x\n", attempt))
			w.stop(fakes.Set("stop_hook_active", attempt > 1)).is(0, blockedBy(attempt, 4, brokenTests...), saysFailed)
		}
		w.project.Write("src/b.txt", "BROKEN\nstill\n")
		w.stop(fakes.Set("stop_hook_active", true)).is(0, tellUser("agent-gauntlet: the gates still fail after 5 attempts, and the stop is let through: "+
			"check tests. `agent-gauntlet status` says more, `agent-gauntlet clean` starts anew."), saysLimit)
		// A pass ends it.
		w.project.Write("src/b.txt", "whole\n")
		w.stop().is(0, "", saysPassed)
		w.project.Write("src/b.txt", "BROKEN\n")
		w.stop().is(0, blockedBy(1, 4, brokenTests...), saysFailed)
	}},
	{seed003, loopGuards, "**Explicit termination conditions**: \"Retry limit exceeded\" allows stop after max attempts", func(t *testing.T) {
		w := newChecked(t, "max_retries: 0\n")
		w.project.Write("src/b.txt", "BROKEN\n")
		w.stop().is(0, blockedBy(1, 1, brokenTests...), saysFailed)
		// Nothing has changed, so nothing is run again.
		r := w.stop()
		assert.Equal(t, r.stderr, saysLimit)
		assert.Equal(t, r.stdout, tellUser("agent-gauntlet: the gates still fail after 1 attempt, and the stop is let through: "+
			"check tests. `agent-gauntlet status` says more, `agent-gauntlet clean` starts anew."))
		out := w.gauntlet("run")
		assert.Equal(t, out.exit, 1)
		assert.Assert(t, strings.Contains(out.stdout, "Status: Retry limit exceeded"), out.stdout)
	}},
}

var gauntletFlow = []scenario{
	{seed003, infraErrors, "A gauntlet run is already in progress", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "whole\n")
		release := w.holdLock()
		defer release()
		r := w.gauntlet("run", "--wait=false")
		assert.Equal(t, r.exit, 75)
		assert.Equal(t, r.stdout, "")
		matches(t, r.stderr, `\AA gauntlet run is already in progress \(pid \d+, host \S+, started \S+, run \S+\)\n\z`)
		w.stop().is(0, "", saysInfra)
	}},
	{seed003, infraErrors, "Exit 0 ──────────────────► Allow stop (passed)", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "whole\n")
		r := w.gauntlet("run")
		r.is(0, "passed      check tests ($TOOK)\nStatus: Passed\n", "")
		w.project.Write("src/b.txt", "whole, and more\n")
		w.stop().is(0, "", saysPassed)
	}},
	{seed003, infraErrors, "Has termination condition ──► Allow stop", func(t *testing.T) {
		w := newChecked(t, "max_retries: 0\n")
		w.project.Write("src/b.txt", "BROKEN\n")
		assert.Equal(t, w.gauntlet("run").exit, 1)
		r := w.stop()
		assert.Equal(t, r.stderr, saysLimit)
		assert.Assert(t, !strings.Contains(r.stdout, "decision"), r.stdout)
	}},
	{seed003, infraErrors, "Has infrastructure error ───► Allow stop", func(t *testing.T) {
		// The words in a check's own output are no infrastructure error.
		w := newChecked(t)
		w.project.Write(".gauntlet/checks/tests.yml", "command: echo 'A gauntlet run is already in progress'; exit 1\n")
		w.blocks(w.stop(), "| A gauntlet run is already in progress")
		w.project.Write(".gauntlet/checks/tests.yml", "command: no-such-command-anywhere\n")
		w.stop().is(0, tellUser("agent-gauntlet: the gates could not all run, and the stop is let through: "+
			"check tests: the command no-such-command-anywhere was not found or cannot be executed"), saysInfra)
	}},
	{seed003, infraErrors, "Regular failure ────────────► Block stop", func(t *testing.T) {
		w := newChecked(t)
		w.project.Write("src/b.txt", "BROKEN\n")
		r := w.gauntlet("run")
		assert.Equal(t, r.exit, 1)
		assert.Equal(t, r.stdout, "FAILED      check tests ($TOOK): exit 1\n\n"+strings.Join(brokenTests, "\n")+"\nStatus: Failed (attempt 1 of 4)\n")
		w.stop().is(0, blockedBy(2, 4, brokenTests...), saysFailed)
	}},
}

// holdLock lets another run be in progress until the function it returns is called.
func (w *gauntletWorld) holdLock() (release func()) {
	w.t.Helper()
	w.project.Write("src/slow.txt", "slow\n")
	hold := filepath.Join(w.scratch, "hold")
	before := w.project.Read(".gauntlet/checks/tests.yml")
	w.project.Write(".gauntlet/checks/tests.yml", "command: 'touch \"$WORLD/held\"; while test -e \"$WORLD/hold\"; do sleep 0.05; done; exit 75'\n")
	w.write("hold", "")
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, gauntletProgram(w.t), "run", "--wait=false")
	cmd.Dir, cmd.Env = w.dir, w.environment()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	assert.NilError(w.t, cmd.Start())
	w.t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	await(w.t, func() bool { _, err := os.Stat(filepath.Join(w.scratch, "held")); return err == nil })
	w.project.Write(".gauntlet/checks/tests.yml", before)
	return func() {
		w.t.Helper()
		assert.NilError(w.t, os.Remove(hold))
		_ = cmd.Wait() // exit 75: the check could not run
		w.project.Remove("src/slow.txt")
	}
}

// await waits until something holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to hold within 2 minutes")
		}
	}
}
