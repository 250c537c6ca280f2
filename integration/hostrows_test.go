//go:build unix

package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

// The contract between the rules of the real client and the simulator that stands for it. testdata/host-protocol.md holds what was
// observed on the client; every row of it is a row here, with the checks that hold fakes.Claude to it.

// hostRow is one line of the page: a paragraph, a bullet, or a row of a table.
type hostRow struct {
	starts   string   // how the line starts; names the row
	recorded []string // the recordings that show it or most of it; none: it is observed, in the page only
	facts    []hostFact
}

// hostFact is one thing that a row says. check holds fakes.Claude to it; nil: the client rows of this name do, which a real client can be
// put through too.
type hostFact struct {
	name  string
	check func(t *testing.T)
}

// notRows are sections of the page that are not about this client, and lines that say nothing about it.
var notRows = []string{
	"A page under spec/", "Observed on the real client", "| event | adds |", "| the seed says",
}

// pageRows returns the lines of the page that are rows, by section.
func pageRows(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "host-protocol.md"))
	assert.NilError(t, err)
	section := ""
	var rows []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = name
		}
		starts := func(s string) bool { return strings.HasPrefix(line, s) }
		if line == "" || starts("#") || starts("|--") || section == "Other hosts" || slices.ContainsFunc(notRows, starts) {
			continue
		}
		rows = append(rows, line)
	}
	return rows
}

// overheadFact measures a time, so nothing runs beside it.
const overheadFact = "the simulator adds less than the client"

func TestHostRowsOverhead(t *testing.T) {
	measured := false
	for _, row := range hostRows() {
		for _, fact := range row.facts {
			if fact.name == overheadFact {
				measured = true
				t.Run(fact.name, fact.check)
			}
		}
	}
	assert.Assert(t, measured, "no fact is named %q", overheadFact)
}

func TestHostRows(t *testing.T) {
	t.Parallel()
	rows := hostRows()
	recorded, facts := 0, 0
	for _, row := range rows {
		facts += len(row.facts)
		if len(row.recorded) > 0 {
			recorded++
		}
	}
	t.Logf("Claude Code %s: %d rows, %d recorded, %d observed; %d facts", claudecode.Version, len(rows), recorded, len(rows)-recorded, facts)
	for _, row := range rows {
		for _, fact := range row.facts {
			if fact.check == nil || fact.name == overheadFact {
				continue // TestClientRows, TestHostRowsOverhead
			}
			t.Run(fact.name, func(t *testing.T) {
				t.Parallel()
				fact.check(t)
			})
		}
	}
}

// A line of the page without a row here, a row without a line, and a row that checks nothing are faults.
func TestHostRowsAreComplete(t *testing.T) {
	page := pageRows(t)
	rows := hostRows()
	known := recordings(t)
	names := map[string]bool{}
	for _, line := range page {
		n := 0
		for _, row := range rows {
			if strings.HasPrefix(line, row.starts) {
				n++
			}
		}
		assert.Equal(t, n, 1, "rows for this line of the page: %s", line)
	}
	for _, row := range rows {
		at := func(line string) bool { return strings.HasPrefix(line, row.starts) }
		assert.Assert(t, slices.ContainsFunc(page, at), "the page has no line that starts with %q", row.starts)
		assert.Assert(t, len(row.facts) > 0, "%q checks nothing", row.starts)
		for _, name := range row.recorded {
			assert.Assert(t, slices.Contains(known, name), "%q: no recording %q", row.starts, name)
		}
		for _, fact := range row.facts {
			assert.Assert(t, !names[fact.name], "two facts named %q", fact.name)
			names[fact.name] = true
		}
	}
}

// host is a project, its hooks, and the agent in it.
type host struct {
	*fakes.Claude
	t       *testing.T
	project *fakes.Project
}

// hooks are shell commands by event, of settings.local.json.
type hooks map[string]string

func newHost(t *testing.T, h hooks, options ...fakes.ClaudeOption) *host {
	t.Helper()
	project := fakes.NewProject(t, map[string]string{".claude/settings.local.json": settingsFor(t, h)})
	return &host{fakes.NewClaude(t, project.Dir(), options...), t, project}
}

func settingsFor(t *testing.T, h hooks) string {
	t.Helper()
	entries := map[string]any{}
	for event, command := range h {
		entries[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}}}
	}
	data, err := json.Marshal(map[string]any{"hooks": entries})
	assert.NilError(t, err)
	return string(data)
}

// says is a shell command that answers like this.
func says(exit, stdout, stderr string) string {
	command := ""
	if stdout != "" {
		command += "printf %s " + shellQuote(stdout) + "; "
	}
	if stderr != "" {
		command += "printf %s " + shellQuote(stderr) + " >&2; "
	}
	return command + "exit " + exit
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// stopAfter is what a Stop hook with this answer makes of a stop.
func stopAfter(t *testing.T, command string) *fakes.Turn {
	t.Helper()
	return newHost(t, hooks{"Stop": command}).Stop()
}

// told is a text as the agent reads it.
func told(as, text string) claudecode.Text { return claudecode.Text{As: as, Text: text} }

// keys are the names of all fields in an object and in the objects within, in their order.
func keys(t *testing.T, data []byte) string {
	t.Helper()
	var names []string
	for line := range strings.Lines(ordered(t, data)) {
		if name, _, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(name, `"`) {
			names = append(names, strings.Trim(name, `"`))
		}
	}
	return strings.Join(names, " ")
}

// sameKeysAsRecorded holds the events of a session against every recorded event of the same kind: one of them must have the same fields in the same
// order.
func sameKeysAsRecorded(t *testing.T, event string, input string) {
	t.Helper()
	var seen []string
	mine := keys(t, []byte(input))
	for _, name := range recordings(t) {
		for _, e := range readRecording(t, name) {
			if e.Event != event {
				continue
			}
			theirs := keys(t, e.Stdin)
			if theirs == mine {
				return
			}
			if !slices.Contains(seen, theirs) {
				seen = append(seen, theirs)
			}
		}
	}
	t.Errorf("no recorded %s has these fields:\n%s\nrecorded are:\n%s", event, mine, strings.Join(seen, "\n"))
}
