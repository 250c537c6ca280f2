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
	"gotest.tools/v3/assert/cmp"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

func settingsRows() []hostRow {
	return []hostRow{
		{"- `.claude/settings.local.json`: found from a sub-directory", []string{"start-in-subdir"}, []hostFact{
			{"only the local file is found from a sub-folder, and all files merge", func(t *testing.T) {
				project := fakes.NewProject(t, map[string]string{
					".git/HEAD": "", "sub/.claude/settings.json": settingsFor(t, hooks{"Stop": "echo sub"}),
					".claude/settings.json":       settingsFor(t, hooks{"Stop": "echo project"}),
					".claude/settings.local.json": settingsFor(t, hooks{"Stop": "echo local"}),
				})
				for dir, want := range map[string]int{"": 2, "sub": 2, "sub/.claude": 1} {
					turn := fakes.NewClaude(t, project.Path(dir)).Stop()
					assert.Equal(t, len(turn.Hooks), want, "%q: %s", dir, turn)
					assert.Equal(t, strings.Contains(turn.String(), "echo project"), dir == "")
				}
			}},
			{"a comment or a trailing comma drops the file, a byte order mark does not", func(t *testing.T) {
				whole := settingsFor(t, hooks{"Stop": "x"})
				for text, want := range map[string]int{
					"\ufeff" + whole: 1, "// note\n" + whole: 0, strings.TrimSuffix(whole, "}") + ",}": 0, "": 0, "[]": 0,
				} {
					assert.Equal(t, len(loaded(t, text)), want, text)
				}
				project := fakes.NewProject(t, map[string]string{".claude/settings.json": "{\n  // note\n}"})
				dropped := fakes.NewClaude(t, project.Dir()).Dropped()
				assert.Equal(t, len(dropped), 1)
				assert.Assert(t, cmp.Contains(dropped[0].Why, "line 2"))
			}},
		}},
		{"- Matcher:", []string{"write-clean", "start-in-subdir", "gauntlet-gate"}, []hostFact{
			{"matchers", func(t *testing.T) {
				for _, c := range []struct {
					matcher, value string
					want           bool
				}{
					{"", "Edit", true},
					{"*", "Edit", true},
					{"Edit|Write", "Write", true},
					{"Edit,Write", "Write", true},
					{"Edit, Write", "Write", true},
					{"Edit", "MultiEdit", false},
					{"edit", "Edit", false},
					{"Edi.", "MultiEdit", true},
					{"^Edi.$", "MultiEdit", false},
					{"mcp__.*", "mcp__x__y", true},
					{"(", "Edit", false},
				} {
					assert.Equal(t, claudecode.Match(c.matcher, c.value), c.want, "%q, %q", c.matcher, c.value)
				}
			}},
			{"a matcher is ignored on Stop, and held against SessionEnd's reason", nil},
		}},
		{"- An entry without `hooks`", nil, []hostFact{
			{"what drops an entry, a handler, a file", func(t *testing.T) {
				good := `{"hooks":[{"type":"command","command":"x"}]}`
				for text, want := range map[string]int{
					`{"hooks":{"Stop":[{"matcher":""},` + good + `]}}`:                             1,
					`{"hooks":{"Stopp":[` + good + `],"Stop":[` + good + `]}}`:                     1,
					`{"hooks":{"Stop":[{"hooks":[{"type":"shell","command":"x"}]},` + good + `]}}`: 1,
					`{"hooks":{"Stop":[` + good + `],"PreToolUse":{}}}`:                            0,
					`{"hooks":{"Stop":[` + good + `],"PreToolUse":"x"}}`:                           0,
					`{"hooks":[]}`: 0,
				} {
					assert.Equal(t, len(loaded(t, text)), want, text)
				}
			}},
			{"changes are picked up within a session", func(t *testing.T) {
				h := newHost(t, nil)
				assert.Equal(t, len(h.Stop().Hooks), 0)
				h.project.Write(".claude/settings.json", settingsFor(t, hooks{"Stop": "true"}))
				assert.Equal(t, len(h.Stop().Hooks), 1)
			}},
		}},
		{"- Hooks' PATH is the client's", nil, []hostFact{
			{"a hook is looked up on the client's PATH", nil},
		}},
		{"`~/.claude/projects/<cwd", []string{"stop-blocked-twice", "clear-and-continue", "memory-triage"}, []hostFact{
			{"the transcript's path", nil},
			{"the transcript's lines", transcriptLines},
		}},
		{"The client adds 15–50 ms", nil, []hostFact{
			{overheadFact, func(t *testing.T) {
				h := newHost(t, hooks{"PostToolUse": ":"})
				var added time.Duration
				costs(t, 5, func() time.Duration {
					began := time.Now()
					run := h.Write("a", began.String()).Hooks[0]
					added = time.Since(began) - run.Duration
					return run.Duration
				}, func() time.Duration { return added })
			}},
		}},
	}
}

// transcriptLines holds the kinds of lines and the marks of what is not human against the recorded transcripts.
func transcriptLines(t *testing.T) {
	h := newHost(t, hooks{"Stop": "test -e ok && exit 0; echo no >&2; exit 2"})
	h.Prompt("Please do")
	h.Write("ok2", "x")
	h.Stop("First")
	h.Bash("touch ok")
	h.Stop("Second")
	h.Exit("other")
	data, err := os.ReadFile(h.Transcript())
	assert.NilError(t, err)
	recordedTypes := map[string]bool{}
	files, err := filepath.Glob(filepath.Join("testdata", "replay", "*.transcript.jsonl"))
	assert.NilError(t, err)
	for _, f := range files {
		theirs, err := os.ReadFile(f)
		assert.NilError(t, err)
		for line := range strings.Lines(string(theirs)) {
			recordedTypes[lineType(t, line)] = true
		}
	}
	human := 0
	for line := range strings.Lines(string(data)) {
		kind := lineType(t, line)
		assert.Assert(t, recordedTypes[kind], "no recorded transcript has a line of type %s", kind)
		var l struct {
			Type          string          `json:"type"`
			IsMeta        bool            `json:"isMeta"`
			ToolUseResult json.RawMessage `json:"toolUseResult"`
			Message       struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		assert.NilError(t, json.Unmarshal([]byte(line), &l))
		if l.Type == "user" && !l.IsMeta && l.ToolUseResult == nil {
			human++
			assert.Equal(t, string(l.Message.Content), `"Please do"`)
		}
		if strings.Contains(line, "Stop hook feedback") && l.Type == "user" {
			assert.Assert(t, l.IsMeta)
		}
	}
	assert.Equal(t, human, 1)
}

// lineType is a line's type, with that of what it attaches.
func lineType(t *testing.T, line string) string {
	t.Helper()
	var l struct {
		Type       string `json:"type"`
		Subtype    string `json:"subtype"`
		Attachment struct {
			Type string `json:"type"`
		} `json:"attachment"`
	}
	assert.NilError(t, json.Unmarshal([]byte(line), &l), "%s", line)
	return strings.Join([]string{l.Type, l.Subtype, l.Attachment.Type}, "/")
}
