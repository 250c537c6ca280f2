//go:build unix

package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

const seed004 = "004_e8aad3d4d5f80871.txt"

// triageScenarios is what the seed of memory-triage demands, by its titles.
var triageScenarios = []scenario{
	{seed004, "Processing Pipeline", "Parse stdin JSON", func(t *testing.T) {
		w := decided(t)
		w.run(fakes.Pretty(w.event())).asksFor("DECISION " + saysDecision)
	}},
	{seed004, "Processing Pipeline", "Check for `stop_hook_active` flag (prevent infinite loops)", func(t *testing.T) {
		decided(t).stop("stop_hook_active", "true").allows()
	}},
	{seed004, "Processing Pipeline", "Read transcript from `transcript_path`", func(t *testing.T) {
		w := decided(t)
		elsewhere := filepath.Join(w.home, "copy.jsonl")
		assert.NilError(t, os.Rename(w.transcript, elsewhere))
		w.stop("transcript_path", quoted(elsewhere)).asksFor("DECISION " + saysDecision)
	}},
	{seed004, "Processing Pipeline", "Extract last N messages (configurable, default 50)", func(t *testing.T) {
		w := decided(t)
		for range 24 {
			w.user("And where is the parser?").agent("It is in the folder of the reader.")
		}
		w.stop().asksFor("DECISION " + saysDecision) // 50 messages with it
		w = decided(t)
		for range 25 {
			w.user("And where is the parser?").agent("It is in the folder of the reader.")
		}
		w.stop().allows() // the 51st and 52nd
		w.config(`{"triage":{"max_transcript_messages":52}}`)
		w.stop().asksFor("DECISION " + saysDecision)
	}},
	{seed004, "Processing Pipeline", "Run keyword heuristic pass for all 6 categories", func(t *testing.T) {
		w := newTriageWorld(t)
		w.user(saysDecision).user("The vendor's API allows only 20 calls per minute.").user("From now on always use pnpm, never npm.")
		w.agent("The crash was caused by a stale lock file; deleting it fixed it.").agent(saysDebt)
		for _, name := range []string{"a.go", "b.go", "c.go"} {
			w.tool("Edit", map[string]any{"file_path": "/project/" + name, "old_string": "a", "new_string": "b"})
		}
		w.agent("All three files are changed and the tests pass.")
		w.stop().asksFor(
			"DECISION "+saysDecision, "RUNBOOK The crash was caused by a stale lock file; deleting it fixed it.",
			"CONSTRAINT The vendor's API allows only 20 calls per minute.", "TECH_DEBT "+saysDebt,
			"PREFERENCE From now on always use pnpm, never npm.", "SESSION_SUMMARY 3 files changed: a.go, b.go, c.go")
	}},
	{seed004, "Processing Pipeline", "If strong signals found AND external LLM API key available:", func(t *testing.T) {
		w, server := doubtful(t)
		server.On(fakes.AnthropicPath).Header("X-Api-Key", "key-of-the-test").Confirm("DECISION")
		w.stop().asksFor("DECISION " + saysDoubtful)
		w, server = doubtful(t) // no key: nobody is asked
		w.env = nil
		w.stop().allows()
		assert.Equal(t, len(server.Requests()), 0)
	}},
	{seed004, "Processing Pipeline", "Generate output:", func(t *testing.T) {
		decided(t).stop().asksFor("DECISION " + saysDecision)
		newTriageWorld(t).user("What time is it?").agent("Ten.").stop().allows()
	}},
	{seed004, "Error Handling", "All exceptions caught at top level -> exit 0 (fail open, never block user)", func(t *testing.T) {
		w := decided(t)
		w.env = []string{"BREPL_STATE_DIR=not/absolute"}
		r := w.stop()
		assert.Equal(t, r.exit, 0)
		assert.Assert(t, strings.Count(r.stderr, "\n") == 1 && strings.Contains(r.stderr, "BREPL_STATE_DIR"), r.stderr)
	}},
	{seed004, "Error Handling", "LLM API failure -> fall back to heuristic result", func(t *testing.T) {
		w, server := doubtful(t)
		server.On(fakes.AnthropicPath).ServerError().ServerError()
		w.stop().allows()
	}},
	{seed004, "Error Handling", "Transcript read failure -> exit 0", func(t *testing.T) {
		w := decided(t)
		r := w.stop("transcript_path", quoted(w.project))
		r.is(0, "", "memory-triage: $PROJECT: the transcript is not a regular file\n")
	}},
	{seed004, "Error Handling", "Invalid stdin -> exit 0", func(t *testing.T) {
		w := decided(t)
		for _, in := range []fakes.Stdin{fakes.OneLine("{"), fakes.OneLine("no json"), fakes.OneLine("[]"), fakes.DevNull()} {
			r := w.run(in)
			assert.Equal(t, r.exit, 0, r.stderr)
			assert.Equal(t, r.stdout, "")
		}
	}},
	{seed004, "memory_triage.py Design", "Stop Hook Active Check", func(t *testing.T) {
		w := decided(t)
		w.stop().asksFor("DECISION " + saysDecision)
		assert.Equal(t, content(t, w.flag()), w.session+"\n")
		w.agent("We decided to put the cache into Redis instead of memcached.")
		w.stop().allows() // the flag is up
		assert.Equal(t, content(t, w.flag()), "absent")
		w.stop().asksFor("DECISION We decided to put the cache into Redis instead of memcached.")
		for _, text := range []string{"", "another-session\n"} { // neither empty nor foreign says anything
			w = decided(t)
			w.file(w.flag(), text)
			w.stop().asksFor("DECISION " + saysDecision)
		}
		w = decided(t)
		w.file(w.flag(), w.session+"\n")
		age(t, w.flag(), 6*time.Minute)
		w.stop().asksFor("DECISION " + saysDecision)
		w = decided(t) // without .claude the flag is in the state folder, and nothing is made in the project
		assert.NilError(t, os.Remove(filepath.Join(w.project, ".claude")))
		w.stop().asksFor("DECISION " + saysDecision)
		assert.Equal(t, content(t, w.flag()), "absent")
		w.agent("We decided to put the cache into Redis instead of memcached.").stop().allows()
	}},
	{seed004, "memory_triage.py Design", "Output Format", func(t *testing.T) {
		w := newTriageWorld(t).user(saysDecision).agent(saysDebt)
		w.stop().asksFor("DECISION "+saysDecision, "TECH_DEBT "+saysDebt)
		w = decided(t).config(`{"triage":{"instruction":"Write them into docs/memory.md."}}`)
		r := w.stop()
		assert.Equal(t, r.stderr, "Save the following memories before stopping:\n- [DECISION] "+saysDecision+"\n\nWrite them into docs/memory.md.\n")
		// A host that reads only JSON.
		w = decided(t)
		r = w.run(fakes.OneLine(w.event()), "hook", "--host", "portable")
		assert.Assert(t, r.exit == 2 && strings.HasPrefix(r.stdout, `{"decision":"block","reason":"Save the following`), r.stdout)
	}},
	{seed004, "memory_triage.py Design", "Configuration", func(t *testing.T) {
		w := decided(t).config(`{"triage":{"mode":"off"}}`)
		w.stop().allows()
		w.env = []string{"MEMORY_TRIAGE_MODE=heuristic"} // the environment counts more than a file
		w.stop().asksFor("DECISION " + saysDecision)
		w = decided(t).config(`{"triage":{"heuristic_threshold":1,"thresholds":{"TECH_DEBT":0.2}}}`)
		w.stop().allows()
		w = decided(t)
		w.userConfig(`{"triage":{"mode":"off"}}`)
		w.stop().allows()
		w.file(filepath.Join(w.project, ".claude", "memory", "memory-config.json"), `{"triage":{"mode":"heuristic"}}`)
		w.stop().asksFor("DECISION " + saysDecision)
		w = decided(t).config("{\"triage\":\n {\"mode\":\"heuristic\",\"heuristic_threshold\":7,\"blocking\":\"yes\",\"llm_endpoint\":\"http://localhost\"}}")
		// What is wrong with the settings is for the user: beside a block stderr is the agent's.
		const asks = "Save the following memories before stopping:\n- [DECISION] " + saysDecision + "\n" + triageEnd
		const saving = "memory-triage: worth saving: DECISION\n"
		const second = "memory-triage: $PROJECT/.claude/memory-config.json: blocking is \"yes\": give true or false; it is ignored"
		w.stop().is(2, tellUser(saving+second+" (and 2 more: see memory-triage explain)"), asks)
		w = decided(t).config("{\"triage\":\n {\"mode\" \"off\"}}")
		r := w.stop()
		assert.Equal(t, r.stderr, asks)
		assert.Assert(t, strings.Contains(r.stdout, `worth saving: DECISION\nmemory-triage: $PROJECT/.claude/memory-config.json:2:10: `), r.stdout)
		// Where the agent may stop stderr has all lines, and the user one; nobody is told twice in a row.
		const first = "memory-triage: $PROJECT/.claude/memory-config.json: heuristic_threshold is 7: give a number over 0, up to 1; it is ignored"
		const other = "memory-triage: $PROJECT/.claude/memory-config.json: mode is 7: give hybrid, heuristic or off; it is ignored"
		w = newTriageWorld(t).user("What time is it?").config(`{"triage":{"mode":7,"heuristic_threshold":7}}`)
		w.stop().is(0, tellUser(first+" (and 1 more: see memory-triage explain)"), first+"\n"+other+"\n")
		w.stop("stop_hook_active", "true").is(0, "", first+"\n"+other+"\n")
	}},
	{seed004, "Key Design Decisions", "Blocking is configurable", func(t *testing.T) {
		w := decided(t).config(`{"triage":{"blocking":false}}`)
		r := w.stop()
		assert.Equal(t, r.exit, 0)
		assert.Equal(t, r.stderr, "")
		var out struct{ SystemMessage string }
		assert.NilError(t, json.Unmarshal([]byte(r.stdout), &out))
		assert.Equal(t, out.SystemMessage, "Save the following memories before stopping:\n- [DECISION] "+saysDecision+"\n"+triageEnd)
		w.stop().allows() // once is enough
	}},
	{seed004, "Risks and Mitigations", "Transcript file not found", func(t *testing.T) {
		w := newTriageWorld(t)
		w.stop("last_assistant_message", quoted(saysDecision)).allows()
	}},
	{seed004, "Risks and Mitigations", "Stale transcript path", func(t *testing.T) {
		w := decided(t)
		stale := filepath.Join(filepath.Dir(w.transcript), "gone.jsonl")
		w.stop("transcript_path", quoted(stale)).asksFor("DECISION " + saysDecision)
		w = decided(t) // the newest file of another session is not taken
		other := filepath.Join(filepath.Dir(w.transcript), "other.jsonl")
		assert.NilError(t, os.Rename(w.transcript, other))
		w.stop().allows()
	}},
	{seed004, "Risks and Mitigations", "LLM API key missing", func(t *testing.T) {
		w := decided(t).config(`{"triage":{"mode":"hybrid","llm_provider":"gemini-flash"}}`)
		w.stop().asksFor("DECISION " + saysDecision)
	}},
	{seed004, "Risks and Mitigations", "Heuristic false positives", func(t *testing.T) {
		w := decided(t).config(`{"triage":{"thresholds":{"DECISION":1}}}`)
		w.stop().allows()
		w, server := doubtful(t)
		server.On(fakes.AnthropicPath).Deny("DECISION")
		w.stop().allows()
	}},
	{seed004, "Risks and Mitigations", "Infinite loop (block/stop cycle)", func(t *testing.T) {
		w := decided(t)
		w.stop().asksFor("DECISION " + saysDecision)
		assert.NilError(t, os.Remove(w.flag()))
		w.stop().allows() // what was asked for once is not asked for again
		w = decided(t)    // nor what the agent has written down since
		w.tool("Write", map[string]any{"file_path": "/project/.claude/memory/decisions.md", "content": "Postgres"}).agent("Saved.")
		w.stop().allows()
	}},
	{seed004, "Risks and Mitigations", "Script crash", func(t *testing.T) {
		w := decided(t)
		w.stop("session_id", `"../../x\n"`) // a hostile id is no path
		for _, text := range []string{`{"message":`, "null\n", "[[[[[[\n", `{"type":"user","message":{"content":[{"type":"text","text":1e400}]}}` + "\n", "\x00\xff\xfe\n", `{"type":7,"message":[]}` + "\n"} {
			w = newTriageWorld(t).raw(text + "\n")
			w.user(saysDecision).raw(text)
			w.stop().asksFor("DECISION " + saysDecision)
		}
	}},
}

func TestTriageScenarios(t *testing.T) {
	built(t, "memory-triage")
	t.Parallel()
	for _, s := range triageScenarios {
		t.Run(s.requirement+"/"+s.title, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
}

// TestTriageScenariosAreComplete fails on a title of the seed without a test and on a test without a title.
func TestTriageScenariosAreComplete(t *testing.T) {
	text, err := os.ReadFile("testdata/seeds/" + seed004)
	assert.NilError(t, err)
	want := triageTitles(string(text))
	var got []string
	for _, s := range triageScenarios {
		got = append(got, s.requirement+": "+s.title)
	}
	for _, title := range want {
		assert.Check(t, count(got, title) == 1, "%d tests for %q", count(got, title), title)
	}
	for _, title := range got {
		assert.Check(t, count(want, title) == 1, "the test %q has %d titles in the seed", title, count(want, title))
	}
}

// triageTitles are the steps of the pipeline, the rules of error handling, the sections that say what is written where, the switch
// for blocking, and the rows of the risks.
func triageTitles(text string) []string {
	var titles []string
	section, part := "", ""
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		switch {
		case strings.HasPrefix(line, "## "), strings.HasPrefix(line, "### "):
			section, part = strings.TrimLeft(line, "# "), ""
			if section == "Stop Hook Active Check" || section == "Output Format" || section == "Configuration" {
				titles = append(titles, "memory_triage.py Design: "+section)
			}
		case strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**:"):
			part = strings.Trim(line, "*:")
		case part == "Processing Pipeline" && line != "" && line[0] >= '1' && line[0] <= '9':
			_, step, _ := strings.Cut(line, ". ")
			titles = append(titles, part+": "+step)
		case part == "Error Handling" && strings.HasPrefix(line, "- "):
			titles = append(titles, part+": "+line[2:])
		case section == "Key Design Decisions" && strings.Contains(line, "**Blocking is configurable**"):
			titles = append(titles, section+": Blocking is configurable")
		case section == "Risks and Mitigations" && strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| Risk "):
			title, _, _ := strings.Cut(line[2:], " |")
			titles = append(titles, section+": "+title)
		}
	}
	return titles
}
