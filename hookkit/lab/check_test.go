package lab

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes/claudecode"
)

func TestFaultsTable(t *testing.T) {
	var ids []string
	for _, f := range Faults() {
		ids = append(ids, f.ID)
		assert.Assert(t, strings.HasSuffix(f.Meaning, "."), f.ID)
		assert.Assert(t, strings.HasSuffix(f.Mend, "."), f.ID)
	}
	sorted := slices.Sorted(slices.Values(ids))
	assert.DeepEqual(t, sorted, slices.Compact(slices.Clone(sorted)))
	// A fault of the output without a row would be a panic in a check.
	for _, id := range []string{
		claudecode.FaultTwoDocuments, claudecode.FaultTextAroundJSON, claudecode.FaultBadJSON, claudecode.FaultWrongValue,
		claudecode.FaultMissingEventName, claudecode.FaultForeignEventName, claudecode.FaultDowngrade, claudecode.FaultStreamHeld,
		claudecode.FaultBlockWithoutReason, claudecode.FaultBlockWithoutText, claudecode.FaultContinueFalse,
		claudecode.FaultTimedOut, claudecode.FaultNotStarted,
	} {
		assert.Assert(t, slices.Contains(ids, id), id)
	}
	for _, id := range ids {
		for _, implied := range impliedBy(id) {
			assert.Assert(t, slices.Contains(ids, implied), implied)
		}
		assert.Assert(t, strings.Contains(faultList(), "\n"+id+" (") || strings.HasPrefix(faultList(), id+" ("), id)
	}
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	hook := filepath.Join(dir, "my hook.sh")
	assert.NilError(t, os.WriteFile(hook, []byte("#!/bin/sh\n"), 0o700))
	for _, c := range []struct {
		command, argv []string
		shell         bool
	}{
		{[]string{"my hook.sh"}, []string{hook}, false},
		{[]string{hook}, []string{hook}, false},
		{[]string{"exit 2"}, []string{"exit 2"}, true},
		{[]string{"no-such"}, []string{"no-such"}, true},
		{[]string{"./my hook.sh", "--strict"}, []string{hook, "--strict"}, false},
		{[]string{"my hook.sh", "x"}, []string{"my hook.sh", "x"}, false}, // without a slash it is looked up on the PATH
		{[]string{"sh", "my hook.sh", "."}, []string{"sh", hook, "."}, false},
	} {
		argv, shell := resolve(c.command, dir)
		assert.DeepEqual(t, argv, c.argv)
		assert.Equal(t, shell, c.shell, "%q", c.command)
	}
}

func TestListingChanges(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	write("same", "1")
	write("changed", "1")
	write("gone", "1")
	before := listTree(dir)
	assert.Equal(t, len(before.changes(dir, listTree(dir))), 0)
	write("changed", "two")
	write("sub/new", "1")
	assert.NilError(t, os.Remove(filepath.Join(dir, "gone")))
	assert.DeepEqual(t, before.changes(dir, listTree(dir)), []string{"~ changed", "- gone", "+ sub", "+ sub/new"})
}

func TestCheckEnvironment(t *testing.T) {
	// What belongs to an agent around us, or leads to the user's own files, does not reach the hook under check.
	place := &checkPlace{root: "/r", project: "/p", home: "/r/home", temp: "/r/tmp"}
	env := place.env([]string{"PATH=/bin", "HOME=/home/me", "TMPDIR=/t", "XDG_CACHE_HOME=/c", "CLAUDE_PROJECT_DIR=/other", "CLAUDECODE=1"}, "s-1", "m.")
	assert.Assert(t, slices.Contains(env, "PATH=/bin"))
	assert.Assert(t, slices.Contains(env, "HOME=/r/home"))
	assert.Assert(t, slices.Contains(env, "TMPDIR=/r/tmp"))
	assert.Assert(t, slices.Contains(env, "CLAUDE_PROJECT_DIR=/p"))
	assert.Assert(t, slices.Contains(env, "CLAUDE_CODE_SESSION_ID=s-1"))
	for _, v := range env {
		for _, strange := range []string{"/home/me", "/t", "/c", "/other"} {
			assert.Assert(t, !strings.HasSuffix(v, "="+strange), v)
		}
	}
}

func TestConclude(t *testing.T) {
	// A child that holds the streams is a process that was left, and is named once.
	e := eventCheck{CheckedEvent: CheckedEvent{StartMS: []float64{3, 1, 2}}}
	e.find(faultLeftoverProcess, "a", "sleep")
	e.find(claudecode.FaultStreamHeld, "b", "held")
	e.find(claudecode.FaultStreamHeld, "c", "held again")
	e.conclude()
	assert.Equal(t, len(e.Findings), 1)
	assert.Equal(t, e.Findings[0].Fault, claudecode.FaultStreamHeld)
	assert.Equal(t, e.Findings[0].Step, "b")
	assert.DeepEqual(t, e.StartMS, []float64{1, 2, 3})
}

// sampleReport has a clean step, a fault, a warning and a skipped step.
func sampleReport() *CheckReport {
	e := eventCheck{CheckedEvent: CheckedEvent{Event: "Stop", StartMS: []float64{1.25, 2.5, 3}, Steps: []CheckStep{
		{
			Name: oneLine, MS: 2.5, Exit: 2, Follows: "exit 2: the agent must go on",
			Told:  []Text{{As: claudecode.AsUser, Text: "Stop hook feedback:\n[hook]: The tests fail."}},
			Shown: []Text{{As: claudecode.AsMessage, Text: "Stop says: <1/10>"}},
		},
		{Name: "stdin held open", MS: 10000, Exit: -1, Follows: "no answer; the host kills it and goes on"},
		{Name: "in pieces", Skipped: notOpen},
		{Name: "8 at once", MS: 4, Exit: 2, Follows: "exit 2: the agent must go on"},
	}}}
	e.find(faultWaitsForEOF, "stdin held open", "no answer within 10s")
	e.find(warnToldTwice, oneLine, "the reason is in 2 texts to the agent")
	return &CheckReport{
		Version: 1, Client: "Claude Code 2.1.329", Command: []string{"./hook.sh", "--strict"}, Floor: "/bin/true", FloorMS: 0.5,
		Events: []CheckedEvent{e.CheckedEvent},
	}
}

func TestCheckTable(t *testing.T) {
	r := sampleReport()
	assert.Assert(t, !r.Clean())
	eof, twice := faultByID(faultWaitsForEOF), faultByID(warnToldTwice)
	assert.Equal(t, r.String(), `./hook.sh --strict, in a scratch project, by the rules of Claude Code 2.1.329

Stop
  warning as Claude Code sends it              2.5 ms  exit 2: the agent must go on
            the agent reads: Stop hook feedback: [hook]: The tests fail.
            the user sees:   Stop says: <1/10>
  FAULT   stdin held open                    10000.0 ms  no answer; the host kills it and goes on
  skipped in pieces                                    it waits for the end of stdin
  ok      8 at once                            4.0 ms  exit 2: the agent must go on
  start: 1.2 ms at the least, 2.5 ms in the middle of 3 runs; /bin/true takes 0.5 ms
  FAULT waits-for-eof (stdin held open): no answer within 10s
    `+eof.Meaning+`
    Mend: `+eof.Mend+`
  warning told-twice (as Claude Code sends it): the reason is in 2 texts to the agent
    `+twice.Meaning+`
    Mend: `+twice.Mend+`

1 fault, 1 warning
`)
	r.Events[0].Findings = r.Events[0].Findings[1:]
	assert.Assert(t, r.Clean(), "a warning is no fault")
}

func TestCheckJUnit(t *testing.T) {
	data, err := sampleReport().JUnit()
	assert.NilError(t, err)
	var read junitSuites
	assert.NilError(t, xml.Unmarshal(data, &read))
	assert.Equal(t, len(read.Suites), 1)
	s := read.Suites[0]
	assert.Equal(t, s.Name, "hookkit check ./hook.sh --strict Stop")
	assert.Equal(t, s.Tests, 4)
	assert.Equal(t, s.Failures, 1)
	assert.Equal(t, s.Skipped, 1)
	assert.Equal(t, s.Cases[0].Seconds, "0.0025")
	assert.Equal(t, len(s.Cases[0].Failures), 0)
	assert.Equal(t, s.Cases[1].Failures[0].Type, faultWaitsForEOF)
	assert.Equal(t, s.Cases[1].Failures[0].Message, "waits-for-eof: no answer within 10s")
	assert.Equal(t, s.Cases[2].Skipped.Message, notOpen)
}

// TestCheckJUnitHoldsEveryFault pins that a fault is in the report whatever its step: of a tool's event, and one that no step shows.
func TestCheckJUnitHoldsEveryFault(t *testing.T) {
	r := sampleReport()
	e := eventCheck{CheckedEvent: r.Events[0]}
	e.find(faultLeavesFiles, "no such step", "x")
	r.Events[0] = e.CheckedEvent
	data, err := r.JUnit()
	assert.NilError(t, err)
	var read junitSuites
	assert.NilError(t, xml.Unmarshal(data, &read))
	s := read.Suites[0]
	assert.Equal(t, s.Tests, 5)
	assert.Equal(t, s.Failures, 2)
	assert.Equal(t, s.Cases[4].Name, "no such step")
	assert.Equal(t, s.Cases[4].Failures[0].Type, faultLeavesFiles)
}

func TestIncompleteInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.clj")
	assert.NilError(t, os.WriteFile(file, []byte("(old)\n"), 0o600))
	for _, c := range []struct{ tool, input, want string }{
		{"Write", `{"file_path":"/x","content":""}`, ""},
		{"Write", `{"content":"x"}`, "Write needs the text file_path, and updatedInput has none"},
		{"Write", `{"file_path":"/x","content":1}`, "Write needs the text content, and updatedInput has none"},
		{"Write", `[]`, "updatedInput is no object"},
		{"Bash", `{"description":"x"}`, "Bash needs the text command, and updatedInput has none"},
		{"Edit", `{"file_path":"` + file + `","old_string":"(old)","new_string":"x"}`, ""},
		{"Edit", `{"file_path":"` + file + `","old_string":"(new)","new_string":"x"}`, "Edit cannot find the old_string of updatedInput in the file"},
		{"Edit", `{"file_path":"/none","old_string":"a","new_string":"x"}`, ""},
		{"Task", `{}`, ""},
	} {
		assert.Equal(t, incompleteInput(c.tool, claudecode.Reaction{UpdatedInput: []byte(c.input)}), c.want)
	}
	assert.Equal(t, incompleteInput("Bash", claudecode.Reaction{UpdatedInput: []byte("{}"), Permission: "deny"}), "")
	assert.Equal(t, incompleteInput("Bash", claudecode.Reaction{}), "")
}

func TestParseEvents(t *testing.T) {
	events, err := parseEvents("Stop, PreToolUse,Stop")
	assert.NilError(t, err)
	assert.DeepEqual(t, events, []string{"Stop", "PreToolUse"})
	_, err = parseEvents("Stop,")
	assert.ErrorContains(t, err, `--event: "" is no event that can be checked; these are: Stop, `)
	for _, event := range checkEvents() {
		cases := checkCases(event, "/p/src/demo.clj")
		assert.Assert(t, len(cases) > 0, event)
		for _, c := range cases {
			// The long text must be in the event, or the 10 MB would not be sent.
			text := c.event("a text of any length").JSON()
			assert.Assert(t, strings.Contains(text, "a text of any length"), text)
			assert.Assert(t, strings.Contains(text, `"hook_event_name":"`+event+`"`), text)
		}
	}
}

func TestConsequence(t *testing.T) {
	for _, c := range []struct {
		event, want string
		r           claudecode.Reaction
	}{
		{"Stop", "the agent can stop", claudecode.Reaction{}},
		{"Stop", "the agent must go on", claudecode.Reaction{Blocked: true, GoesOn: true}},
		{"SubagentStop", "the agent gets one more turn", claudecode.Reaction{GoesOn: true}},
		{"Stop", "the agent's work ends", claudecode.Reaction{Ended: true}},
		{"PreToolUse", "the tool runs", claudecode.Reaction{}},
		{"PreToolUse", "the tool does not run", claudecode.Reaction{Blocked: true, Permission: "deny"}},
		{"PreToolUse", "the tool runs, and the user is not asked", claudecode.Reaction{Permission: "allow"}},
		{"PreToolUse", "the user is asked", claudecode.Reaction{Permission: "ask"}},
		{"PreToolUse", "the tool runs with other input", claudecode.Reaction{UpdatedInput: []byte("{}")}},
		{"UserPromptSubmit", "the prompt is dropped", claudecode.Reaction{Blocked: true}},
		{"PostToolUse", "the agent is told, and goes on", claudecode.Reaction{Told: []claudecode.Text{{}}}},
		{"SessionEnd", "the agent goes on", claudecode.Reaction{}},
	} {
		assert.Equal(t, consequence(c.event, c.r), c.want)
	}
}

// docTable is the table of faults as docs/hookkit.md has it.
func docTable() string {
	var b strings.Builder
	b.WriteString("| fault | meaning |\n|---|---|\n")
	for _, f := range Faults() {
		id := "`" + f.ID + "`"
		if f.Warning {
			id += " (warning)"
		}
		b.WriteString("| " + id + " | " + f.Meaning + " |\n")
	}
	return b.String()
}

func TestFaultsAreInTheManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/hookkit.md")
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(manual), "\n\n"+docTable()+"\n"), "the table of faults in docs/hookkit.md must be:\n%s", docTable())
}

func TestVisible(t *testing.T) {
	// Pins that what a hook prints cannot steer the terminal of who reads a table.
	assert.Equal(t, visible("a\x1b[2Jb\r\u202ec\u009b\n\té"), `a\x1b[2Jb\r\u202ec\u009b`+"\n\té")
	r := sampleReport()
	r.Events[0].Steps[0].Told[0].Text = "x\x1b[31m"
	r.Events[0].Findings[0].Detail = "\x07"
	assert.Assert(t, !strings.ContainsAny(r.String(), "\x1b\x07"))
}
