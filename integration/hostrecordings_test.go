//go:build unix

package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// recordedEvent is one line of a recording of the real client, as far as these tests read it.
type recordedEvent struct {
	Seq     int             `json:"seq"`
	Event   string          `json:"event"`
	Command string          `json:"command"`
	Stdin   json.RawMessage `json:"stdin"`
	Hook    struct {
		Stdout   string `json:"stdout"`
		Stderr   string `json:"stderr"`
		Exit     *int   `json:"exit"`
		TimedOut bool   `json:"timed_out"`
	} `json:"hook"`
	Env    map[string]string `json:"env"`
	Client string            `json:"client"`
	Detail struct {
		NextUser   string          `json:"next_request_text"`
		NextSystem string          `json:"next_request_system_text"`
		Told       string          `json:"told_claude"`
		Input      json.RawMessage `json:"effective_tool_input"`
		ToolResult *struct {
			IsError bool            `json:"is_error"`
			Content json.RawMessage `json:"content"`
		} `json:"tool_result"`
		Shown       []string `json:"shown_to_user"`
		Stderr      string   `json:"stderr"`
		Attachments []struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
			Message string          `json:"message"`
		} `json:"transcript_attachments"`
	} `json:"client_detail"`

	// in is what stdin says.
	in struct {
		ToolName       string          `json:"tool_name"`
		ToolInput      json.RawMessage `json:"tool_input"`
		ToolResponse   json.RawMessage `json:"tool_response"`
		ToolUseID      string          `json:"tool_use_id"`
		Source         string          `json:"source"`
		Reason         string          `json:"reason"`
		Prompt         string          `json:"prompt"`
		PermissionMode string          `json:"permission_mode"`
		AgentID        string          `json:"agent_id"`
		AgentType      string          `json:"agent_type"`
		Active         bool            `json:"stop_hook_active"`
		LastMessage    string          `json:"last_assistant_message"`
		Error          string          `json:"error"`
		CWD            string          `json:"cwd"`
	}
}

// value is what the event's matchers are held against.
func (e *recordedEvent) value() string {
	for _, v := range []string{e.in.ToolName, e.in.Source, e.in.Reason} {
		if v != "" {
			return v
		}
	}
	return ""
}

// recordings names the recorded sessions.
func recordings(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "replay", "*.jsonl"))
	assert.NilError(t, err)
	var names []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(filepath.Base(f), ".jsonl"); ok && !strings.HasSuffix(name, ".transcript") {
			names = append(names, name)
		}
	}
	return names
}

func readRecording(t *testing.T, name string) []recordedEvent {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "replay", name+".jsonl"))
	assert.NilError(t, err)
	var events []recordedEvent
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte(`"hookkit_recording"`)) {
			continue
		}
		var e recordedEvent
		assert.NilError(t, json.Unmarshal(lines.Bytes(), &e), "%s", name)
		assert.NilError(t, json.Unmarshal(e.Stdin, &e.in), "%s", name)
		events = append(events, e)
	}
	assert.NilError(t, lines.Err())
	return events
}

// firstRecordings are the 27 of the real client 2.1.329; later ones may come from elsewhere.
const firstRecordings = 27

// Every reaction of the real client that a recording holds must come out of the rules: what the agent read, what the user saw, whether
// the action went on, and the input with which the tool ran.
func TestRecordedReactions(t *testing.T) {
	names := recordings(t)
	assert.Assert(t, len(names) >= firstRecordings, "the recordings are missing in testdata/replay: found %d", len(names))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			blocks := map[string]*claudecode.Cap{}
			active := map[string]bool{}
			var told []string // system messages since the agent last did something else
			for _, e := range readRecording(t, name) {
				r := claudecode.Combine(e.Event, []claudecode.Reaction{claudecode.Judge(e.run())})
				limit := blocks[e.in.AgentID]
				if limit == nil {
					limit = claudecode.NewCap("")
					blocks[e.in.AgentID] = limit
				}
				switch {
				case e.Event == "UserPromptSubmit":
					limit.Prompted()
					active[e.in.AgentID] = false
				case claudecode.IsToolEvent(e.Event):
					limit.ToolUsed()
					told = nil
				case claudecode.IsStop(e.Event):
					assert.Equal(t, e.in.Active, active[e.in.AgentID], "seq %d: stop_hook_active", e.Seq)
					if r.GoesOn && !limit.Block() {
						r.Blocked, r.GoesOn, r.Told = false, false, nil
						r.Shown = append(r.Shown, claudecode.Text{As: claudecode.AsNotice, Text: limit.Notice()})
					}
					active[e.in.AgentID] = active[e.in.AgentID] || r.GoesOn
				}
				if e.Event == "Stop" && !r.GoesOn {
					told = nil
				}
				e.compare(t, r, &told)
			}
		})
	}
}

func (e *recordedEvent) run() claudecode.Run {
	run := claudecode.Run{
		Event: e.Event, Value: e.value(), Command: e.Command,
		Stdout: []byte(e.Hook.Stdout), Stderr: []byte(e.Hook.Stderr), TimedOut: e.Hook.TimedOut,
	}
	if e.Hook.Exit != nil {
		run.Exit = *e.Hook.Exit
	}
	return run
}

// goesOn reports whether the recorded stop did not stand. After compact's first stop the next request was the one for the summary.
func (e *recordedEvent) goesOn() bool {
	return strings.HasPrefix(e.Client, "continued") && !strings.HasPrefix(e.Detail.NextUser, "[client text left out")
}

func (e *recordedEvent) compare(t *testing.T, r claudecode.Reaction, told *[]string) {
	t.Helper()
	at := func(what string) string { return e.Event + " " + what + ": " + e.Client }
	if claudecode.IsStop(e.Event) {
		assert.Equal(t, r.GoesOn, e.goesOn(), at("goes on"))
		assert.Equal(t, r.Ended, strings.Contains(e.Client, "stop_hook_prevented"), at("ended"))
	}
	if e.Event == "PreToolUse" {
		assert.Equal(t, r.Blocked, strings.HasPrefix(e.Client, "did not run the tool"), at("blocked"))
	}
	if r.GoesOn {
		assert.Equal(t, textsOf(r.Told, claudecode.AsUser), e.Detail.NextUser, at("user text"))
		// The request repeats what was told at earlier stops when nothing came in between.
		if system := textsOf(r.Told, claudecode.AsSystem); system != "" {
			*told = append(*told, system)
		}
		assert.Equal(t, strings.Join(*told, "\n"), e.Detail.NextSystem, at("system text"))
	} else {
		assert.Equal(t, textsOf(r.Told, claudecode.AsSystem), e.Detail.Told, at("told"))
	}
	if r.Blocked && e.Event == "PreToolUse" {
		assert.Assert(t, e.Detail.ToolResult != nil && e.Detail.ToolResult.IsError, at("tool result"))
		assert.Equal(t, textsOf(r.Told, claudecode.AsResult), jsonString(t, e.Detail.ToolResult.Content), at("tool result"))
	}
	if len(r.UpdatedInput) > 0 || len(e.Detail.Input) > 0 {
		assert.Equal(t, canonical(t, string(r.UpdatedInput)), canonical(t, string(e.Detail.Input)), at("rewritten input"))
	}
	assert.DeepEqual(t, e.shown(t), shownHeadless(r.Shown))
}

// shown is what the user saw. An interactive session has no stream to record; there the transcript tells.
func (e *recordedEvent) shown(t *testing.T) []string {
	t.Helper()
	shown := slices.Clone(e.Detail.Shown)
	if e.Detail.Stderr != "" {
		shown = append(shown, strings.TrimSuffix(e.Detail.Stderr, "\n"))
	}
	for _, a := range e.Detail.Attachments {
		if a.Type == "hook_system_message" && len(e.Detail.Shown) == 0 {
			shown = append(shown, e.Event+" says: "+jsonString(t, a.Content))
		}
	}
	return shown
}

func shownHeadless(texts []claudecode.Text) []string {
	var shown []string
	for _, s := range texts {
		if s.As != claudecode.AsScreen {
			shown = append(shown, s.Text)
		}
	}
	return shown
}

func textsOf(texts []claudecode.Text, as string) string {
	var each []string
	for _, text := range texts {
		if text.As == as {
			each = append(each, text.Text)
		}
	}
	return strings.Join(each, "\n")
}

func jsonString(t *testing.T, data json.RawMessage) string {
	t.Helper()
	var s string
	assert.NilError(t, json.Unmarshal(data, &s), "%s", data)
	return s
}
