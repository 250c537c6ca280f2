//go:build unix

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// Every recorded session, played by fakes.Claude with hooks that answer as the recorded ones did, must fire the recorded events in the
// recorded order with the recorded input and environment, and must react as the real client did.
func TestRecordedSessionsPlayed(t *testing.T) {
	fullRun(t)
	t.Parallel()
	for _, name := range recordings(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, name)
			p.playAll()
			p.compare()
			p.compareTranscripts(name)
		})
	}
}

// play is one recorded session and the simulator that plays it.
type play struct {
	t       *testing.T
	events  []recordedEvent
	claude  *fakes.Claude
	root    string // stands for /project
	answers string
	turns   []*fakes.Turn
	task    string
	agent   *fakes.Subagent
	ids     [][2]string // what is written for what is not the same twice
}

// answering is the hook: it answers as the recorded one did at the same place of the session.
const answering = `#!/bin/sh
n=$(cat "$ANSWERS/next"); echo $((n+1)) >"$ANSWERS/next"
cat >"$ANSWERS/$n.in"
env | grep '^CLAUDE' >"$ANSWERS/$n.env"
test -e "$ANSWERS/$n.out" || exit 99
test -e "$ANSWERS/$n.hang" && exec sleep 60
cat "$ANSWERS/$n.out"; cat "$ANSWERS/$n.err" >&2; exit "$(cat "$ANSWERS/$n.exit")"
`

func newPlay(t *testing.T, name string) *play {
	t.Helper()
	p := &play{t: t, events: readRecording(t, name), root: realTempDir(t), answers: realTempDir(t)}
	// The client notifies a user who does not answer for six seconds; the simulator's users answer at once.
	p.events = slices.DeleteFunc(p.events, func(e recordedEvent) bool { return e.Event == "Notification" })
	index := readIndex(t, name)
	bin := realTempDir(t)
	for _, program := range []string{"brepl", "recorder", "agent-gauntlet", "memory-triage"} {
		assert.NilError(t, fakes.WriteProgram(filepath.Join(bin, program), answering))
	}
	p.file("next", "0")
	for i := range p.events {
		e := &p.events[i]
		e.Detail.Input = json.RawMessage(p.here(string(e.Detail.Input)))
		p.file(strconv.Itoa(i)+".out", p.here(e.Hook.Stdout))
		p.file(strconv.Itoa(i)+".err", e.Hook.Stderr)
		p.file(strconv.Itoa(i)+".exit", strconv.Itoa(e.run().Exit))
		if e.Hook.TimedOut {
			p.file(strconv.Itoa(i)+".hang", "")
		}
	}
	p.project(index.Settings)
	home := realTempDir(t)
	options := []fakes.ClaudeOption{
		fakes.ClaudeHome(home), fakes.ClaudeSession(fakes.DefaultSessionID),
		fakes.ClaudeEnv([]string{"PATH=" + bin + ":" + os.Getenv("PATH"), "ANSWERS=" + p.answers}),
	}
	if slices.Contains(index.Args, "-p") {
		options = append(options, fakes.ClaudeHeadless())
	}
	for i, arg := range index.Args {
		switch arg {
		case "--permission-mode":
			options = append(options, fakes.ClaudeMode(index.Args[i+1]), fakes.ClaudeAllow())
		case "--dangerously-skip-permissions":
			options = append(options, fakes.ClaudeMode("bypassPermissions"))
		case "--allowedTools":
			options = append(options, fakes.ClaudeAllow(strings.Split(index.Args[i+1], ",")...))
		}
	}
	p.claude = fakes.NewClaude(t, strings.Replace(p.events[0].in.CWD, "/project", p.root, 1), options...)
	p.ids = [][2]string{{p.root, "/project"}, {strings.ReplaceAll(p.root, "/", "-"), "-project"}, {home, "/home/dev"}}
	return p
}

type recordingIndex struct {
	Name     string          `json:"name"`
	Args     []string        `json:"args"`
	Settings json.RawMessage `json:"settings.local.json"`
}

func readIndex(t *testing.T, name string) recordingIndex {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "replay", "index.json"))
	assert.NilError(t, err)
	var all []recordingIndex
	assert.NilError(t, json.Unmarshal(data, &all))
	at := slices.IndexFunc(all, func(r recordingIndex) bool { return r.Name == name })
	assert.Assert(t, at >= 0, "%s is not in index.json", name)
	return all[at]
}

func (p *play) file(name, content string) {
	p.t.Helper()
	assert.NilError(p.t, os.WriteFile(filepath.Join(p.answers, name), []byte(content), 0o600))
}

// here makes a recorded path one of this play.
func (p *play) here(text string) string { return strings.ReplaceAll(text, "/project", p.root) }

// project makes the files as they were when the session started: as the first tool that touched each of them found it.
func (p *play) project(settings []byte) {
	p.t.Helper()
	write := func(path, content string) {
		assert.NilError(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(p.t, os.WriteFile(path, []byte(content), 0o644))
	}
	write(filepath.Join(p.root, ".claude", "settings.local.json"), string(settings))
	assert.NilError(p.t, os.MkdirAll(filepath.Join(p.root, ".git"), 0o755))
	seen := map[string]bool{}
	for _, e := range p.events {
		var in struct {
			FilePath string `json:"file_path"`
		}
		var out struct {
			OriginalFile *string `json:"originalFile"`
			File         struct {
				Content string `json:"content"`
			} `json:"file"`
		}
		if e.Event != "PostToolUse" || json.Unmarshal(e.in.ToolInput, &in) != nil || in.FilePath == "" || seen[in.FilePath] {
			continue
		}
		seen[in.FilePath] = true
		assert.NilError(p.t, json.Unmarshal(e.in.ToolResponse, &out))
		switch {
		case e.in.ToolName == "Read":
			write(p.here(in.FilePath), out.File.Content)
		case out.OriginalFile != nil:
			write(p.here(in.FilePath), *out.OriginalFile)
		}
	}
}

// playAll scripts the agent from the recorded events.
func (p *play) playAll() {
	p.t.Helper()
	for i := 0; i < len(p.events); {
		e := &p.events[i]
		turn := p.play(e)
		assert.Assert(p.t, turn != nil, "no turn plays seq %d, %s", e.Seq, e.Event)
		p.turns = append(p.turns, turn)
		fired := 0
		for _, run := range turn.Events {
			fired += len(run.Hooks)
		}
		assert.Assert(p.t, fired > 0, "seq %d, %s: no hook ran\n%s", e.Seq, e.Event, p.claude.Story())
		i += fired
	}
}

func (p *play) play(e *recordedEvent) *fakes.Turn {
	p.t.Helper()
	switch e.Event {
	case "SessionStart":
		return p.claude.Start(e.in.Source)
	case "UserPromptSubmit":
		if strings.HasPrefix(e.in.Prompt, "<task-notification>") {
			return p.claude.Report(p.task)
		}
		return p.claude.Prompt(e.in.Prompt)
	case "Stop":
		return p.claude.Stop(e.in.LastMessage)
	case "StopFailure":
		return p.claude.Fail(e.in.LastMessage)
	case "SubagentStop":
		return p.agent.Stop(e.in.LastMessage)
	case "PreCompact":
		turn := p.claude.Compact(p.events[slices.IndexFunc(p.events, func(x recordedEvent) bool { return x.Event == "SubagentStop" })].in.LastMessage)
		var agent struct {
			ID string `json:"agent_id"`
		}
		assert.NilError(p.t, json.Unmarshal([]byte(turn.Event("SubagentStop").Input), &agent))
		p.ids = append(p.ids, [2]string{agent.ID, "acb104fb2f87787ce"})
		return turn
	case "SessionEnd":
		if e.in.Reason == "clear" {
			return p.claude.Clear()
		}
		return p.claude.Exit(e.in.Reason)
	case "SubagentStart":
		return p.tool(p.next(e, "Agent"))
	}
	return p.tool(e)
}

// next is the first event after e that belongs to a tool.
func (p *play) next(e *recordedEvent, tool string) *recordedEvent {
	at := slices.IndexFunc(p.events, func(x recordedEvent) bool { return x.Seq > e.Seq && x.in.ToolName == tool })
	return &p.events[at]
}

func (p *play) tool(e *recordedEvent) *fakes.Turn {
	p.t.Helper()
	var in struct {
		FilePath    string `json:"file_path"`
		Content     string `json:"content"`
		OldString   string `json:"old_string"`
		NewString   string `json:"new_string"`
		Command     string `json:"command"`
		Description string `json:"description"`
		Background  bool   `json:"run_in_background"`
		Prompt      string `json:"prompt"`
		Type        string `json:"subagent_type"`
	}
	assert.NilError(p.t, json.Unmarshal(e.in.ToolInput, &in))
	switch e.in.ToolName {
	case "Write":
		return p.claude.Write(p.here(in.FilePath), in.Content)
	case "Edit":
		return p.claude.Edit(p.here(in.FilePath), in.OldString, in.NewString)
	case "Read":
		return p.claude.Read(p.here(in.FilePath))
	case "Agent":
		turn := p.claude.Subagent(in.Type, in.Description, in.Prompt)
		p.task, p.agent = turn.TaskID, turn.Agent
		p.ids = append(p.ids, [2]string{turn.TaskID, "a4324c120aab8b848"})
		return turn
	}
	p.testProgram(e, in.Command)
	if in.Background {
		turn := p.claude.Background(in.Command, in.Description)
		p.task = turn.TaskID
		p.ids = append(p.ids, [2]string{turn.TaskID, "bgi1hbes6"})
		return turn
	}
	if e.in.AgentID != "" {
		return p.agent.Bash(in.Command, in.Description)
	}
	return p.claude.Bash(in.Command, in.Description)
}

// testProgram makes bin/test print what it printed then.
func (p *play) testProgram(e *recordedEvent, command string) {
	p.t.Helper()
	if !strings.Contains(command, "bin/test") {
		return
	}
	script := "exit 1\n"
	for _, x := range p.events {
		if x.in.ToolUseID != e.in.ToolUseID || x.Event == "PreToolUse" {
			continue
		}
		var out struct {
			Stdout string `json:"stdout"`
		}
		_ = json.Unmarshal(x.in.ToolResponse, &out) // a failure has none
		text, code := out.Stdout, "0"
		if rest, failed := strings.CutPrefix(x.in.Error, "Exit code "); failed {
			code, text, _ = strings.Cut(rest, "\n")
		}
		if text != "" {
			script = "cat <<'END'\n" + text + "\nEND\nexit " + code + "\n"
		}
	}
	assert.NilError(p.t, os.MkdirAll(filepath.Join(p.root, "bin"), 0o755))
	assert.NilError(p.t, os.WriteFile(filepath.Join(p.root, "bin", "test"), []byte(script), 0o644))
}

// compare holds every event that was fired against the recorded one.
func (p *play) compare() {
	p.t.Helper()
	n := 0
	var told []string
	for _, turn := range p.turns {
		for _, run := range turn.Events {
			for range run.Hooks {
				assert.Assert(p.t, n < len(p.events), "more events than recorded:\n%s", p.claude.Story())
				e := &p.events[n]
				assert.Equal(p.t, run.Event, e.Event, "seq %d\n%s", e.Seq, p.claude.Story())
				p.compareInput(n, e)
				r := run.Reaction
				switch e.Event {
				case "PostToolUse", "PostToolUseFailure", "PreToolUse":
					if e.Event != "PreToolUse" || !r.Blocked {
						told = nil
					}
					p.compareResult(turn, e)
				case "Stop", "SubagentStop":
					if e.in.AgentType != "" || e.Event == "Stop" {
						r.Blocked, r.GoesOn, r.Told, r.Shown = turn.Blocked, turn.GoesOn, turn.Told, turn.Shown
					}
					if !r.GoesOn {
						told = nil
					}
				}
				e.compare(p.t, r, &told)
				n++
			}
		}
	}
	assert.Equal(p.t, n, len(p.events), "fewer events than recorded:\n%s", p.claude.Story())
}

// notPlayed are what a recording holds and the simulator does not know: times, sizes, costs, the client's own suggestions.
var notPlayed = []string{
	"duration_ms", "seconds_since_last_response", "context_tokens", "prompt_cache_likely_expired", "estimated_cache_write_usd",
	"permission_suggestions", "custom_instructions", "compact_summary", "model",
}

func (p *play) compareInput(n int, e *recordedEvent) {
	p.t.Helper()
	in, err := os.ReadFile(filepath.Join(p.answers, strconv.Itoa(n)+".in"))
	assert.NilError(p.t, err)
	assert.Assert(p.t, bytes.HasSuffix(in, []byte("}\n")) && bytes.Count(in, []byte("\n")) == 1, "one line and a newline: %q", in)
	assert.Equal(p.t, p.recorded(ordered(p.t, in)), p.recorded(ordered(p.t, e.Stdin)), "seq %d, %s", e.Seq, e.Event)

	env, err := os.ReadFile(filepath.Join(p.answers, strconv.Itoa(n)+".env"))
	assert.NilError(p.t, err)
	var names []string
	for line := range strings.Lines(string(env)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		names = append(names, name)
		if name == "CLAUDE_PROJECT_DIR" || name == "CLAUDE_CODE_SESSION_ID" || name == "CLAUDE_CODE_ENTRYPOINT" {
			assert.Equal(p.t, p.recorded(value), e.Env[name], "seq %d, %s", e.Seq, name)
		}
	}
	want := slices.Sorted(maps.Keys(e.Env))
	// It was set around the recorded client, which then hands it on.
	want = slices.DeleteFunc(want, func(v string) bool { return v == "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC" })
	slices.Sort(names)
	assert.DeepEqual(p.t, names, want)
}

// usage is what a sub-agent's notification says of tokens and time.
var usage = regexp.MustCompile(`<(subagent_tokens|duration_ms)>\d+<`)

// recorded writes the play's ids and paths as the recording has them.
func (p *play) recorded(text string) string {
	for _, id := range p.ids {
		text = strings.ReplaceAll(text, id[0], id[1])
	}
	for _, id := range p.claude.Sessions()[1:] {
		text = strings.ReplaceAll(text, id, "11111111-1111-4111-8111-000000000002")
	}
	text = strings.ReplaceAll(text, "/home/dev/.claude/tmp/", "/tmp/claude-1000/")
	text = usage.ReplaceAllString(text, "<$1>N<")
	return text
}

func (p *play) compareResult(turn *fakes.Turn, e *recordedEvent) {
	p.t.Helper()
	if e.Detail.ToolResult == nil || e.in.ToolName == "Agent" {
		return
	}
	assert.Equal(p.t, p.recorded(turn.ToolResult), jsonString(p.t, e.Detail.ToolResult.Content), "seq %d", e.Seq)
	assert.Equal(p.t, turn.ToolFailed, e.Detail.ToolResult.IsError, "seq %d", e.Seq)
}

// ordered writes JSON in one way and keeps the order of keys. What the simulator does not play is left out.
func ordered(t *testing.T, data []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	var b strings.Builder
	var value func()
	value = func() {
		tok, err := dec.Token()
		assert.NilError(t, err)
		switch tok {
		case json.Delim('{'):
			b.WriteString("{")
			for dec.More() {
				key, err := dec.Token()
				assert.NilError(t, err)
				if slices.Contains(notPlayed, fmt.Sprint(key)) {
					var skipped json.RawMessage
					assert.NilError(t, dec.Decode(&skipped))
					continue
				}
				fmt.Fprintf(&b, "\n%q: ", key)
				value()
			}
			_, err := dec.Token()
			assert.NilError(t, err)
			b.WriteString("}")
		case json.Delim('['):
			b.WriteString("[")
			for dec.More() {
				value()
				b.WriteString(",")
			}
			_, err := dec.Token()
			assert.NilError(t, err)
			b.WriteString("]")
		default:
			fmt.Fprintf(&b, "%#v", tok)
		}
	}
	value()
	return b.String()
}
