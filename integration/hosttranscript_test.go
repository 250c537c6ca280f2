//go:build unix

package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// hookLine is a line of a transcript as far as it is about hooks.
type hookLine struct {
	UUID       string          `json:"uuid"`
	IsMeta     bool            `json:"isMeta"`
	Sidechain  bool            `json:"isSidechain"`
	Subtype    string          `json:"subtype"`
	Attachment json.RawMessage `json:"attachment"`
	Message    struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`

	// Of the summary of a Stop.
	Count     json.RawMessage `json:"hookCount"`
	Infos     json.RawMessage `json:"hookInfos"`
	Errors    json.RawMessage `json:"hookErrors"`
	Failed    json.RawMessage `json:"failedHookErrorIndexes"`
	Prevented json.RawMessage `json:"preventedContinuation"`
	Reason    json.RawMessage `json:"stopReason"`
	HasOutput json.RawMessage `json:"hasOutput"`
}

// hookLines returns what a transcript says about hooks: what the agent reads at a stop that does not stand, the attachments, the summaries.
// Lines that an earlier transcript holds too, as after a fork, are left out.
func hookLines(t *testing.T, path string, seen map[string]bool) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	var lines []string
	for text := range strings.Lines(string(data)) {
		var l hookLine
		assert.NilError(t, json.Unmarshal([]byte(text), &l))
		if l.UUID != "" && seen[l.UUID] {
			continue
		}
		seen[l.UUID] = true
		side := ""
		if l.Sidechain {
			side = "sub-agent "
		}
		switch {
		case strings.HasPrefix(string(l.Attachment), `{"type":"hook_`):
			lines = append(lines, side+ordered(t, l.Attachment))
		case l.IsMeta && strings.HasPrefix(string(l.Message.Content), `"Stop hook feedback`):
			lines = append(lines, side+string(l.Message.Content))
		case l.Subtype == "stop_hook_summary":
			parts := [][]byte{l.Count, l.Infos, l.Errors, l.Failed, l.Prevented, l.Reason, l.HasOutput}
			summary := side + "summary"
			for _, part := range parts {
				summary += " " + ordered(t, part)
			}
			lines = append(lines, summary)
		}
	}
	return lines
}

var (
	tookMs      = regexp.MustCompile(`(durationMs": )\d+`)
	lineID      = regexp.MustCompile(`33333333-3333-4333-8333-\d+`)
	clientWords = regexp.MustCompile(`(Hook JSON output validation failed — )[^\n]*`)
)

// compareTranscripts holds what the transcripts say about hooks against the recorded ones: the same lines with the same fields in the same order,
// in the file of the agent or of the sub-agent.
func (p *play) compareTranscripts(name string) {
	p.t.Helper()
	mine := filepath.Dir(p.claude.Transcript())
	ours := map[string]string{name + ".transcript.jsonl": filepath.Join(mine, p.claude.Sessions()[0]+".jsonl")}
	if sessions := p.claude.Sessions(); len(sessions) > 1 {
		ours[name+".2.transcript.jsonl"] = filepath.Join(mine, sessions[1]+".jsonl")
	}
	if p.agent != nil {
		agent := "agent-" + p.agent.ID
		ours[name+".agent-a4324c120aab8b848.transcript.jsonl"] = filepath.Join(mine, p.claude.SessionID(), "subagents", agent+".jsonl")
	}
	files, err := filepath.Glob(filepath.Join("testdata", "replay", name+".*transcript.jsonl"))
	assert.NilError(p.t, err)
	assert.Equal(p.t, len(files), len(ours))
	theirsSeen, oursSeen := map[string]bool{}, map[string]bool{}
	slices.SortFunc(files, func(a, b string) int { return len(a) - len(b) }) // the first session first
	for _, file := range files {
		same := func(lines []string) []string {
			for i, l := range lines {
				l = tookMs.ReplaceAllString(lineID.ReplaceAllString(p.recorded(l), "UUID"), "${1}N")
				lines[i] = clientWords.ReplaceAllString(l, "$1")
			}
			return lines
		}
		theirs := same(hookLines(p.t, file, theirsSeen))
		assert.DeepEqual(p.t, same(hookLines(p.t, ours[filepath.Base(file)], oursSeen)), theirs)
	}
}
