package lab

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// RecordingVersion is the version of the format that this package writes. It reads this one, and recordings without a header.
const RecordingVersion = 1

// What stands for the recorded project and the home folder in every recording.
const (
	ProjectDir = "/project"
	HomeDir    = "/home/dev"
)

// A Recording is what passed between an agent and its hooks, and the transcripts of the sessions. docs/recordings.md describes the files.
type Recording struct {
	Name     string // of the file, without .jsonl
	Path     string // of the file
	Header   Header // zero when the file has none
	Calls    []Call // in the order in which the hooks started
	Settings json.RawMessage

	transcripts map[string][]string // by session id, or "agent-" and the sub-agent's id; lines with their ends
}

// A Header is the first line of a recording's file. It is optional.
type Header struct {
	Version  int             `json:"hookkit_recording"`
	Client   string          `json:"client,omitempty"`
	Note     string          `json:"note,omitempty"`
	Settings json.RawMessage `json:"settings.local.json,omitempty"`
}

// A Call is one run of one hook.
type Call struct {
	Seq     int     `json:"seq"`
	Event   string  `json:"event"`
	Command string  `json:"command"` // as configured
	TMS     float64 `json:"t_ms"`    // since the first event
	Cwd     string  `json:"cwd"`

	// Stdin is the object that the hook read, byte for byte but for the stand-ins. What is no JSON is in StdinText.
	Stdin                json.RawMessage   `json:"stdin,omitempty"`
	StdinText            string            `json:"stdin_text,omitempty"`
	StdinBytes           int               `json:"stdin_bytes"` // on the wire, before stand-ins were put in
	StdinEndsWithNewline bool              `json:"stdin_ends_with_newline"`
	StdinEOF             bool              `json:"stdin_eof"` // the host closed it while the hook ran
	Transcript           TranscriptMark    `json:"transcript_at_start"`
	Env                  map[string]string `json:"env"` // CLAUDE* only
	Hook                 Answer            `json:"hook"`

	Dropped string `json:"dropped,omitempty"` // why nothing else of the call was recorded

	// Client and ClientDetail say what the client then did. Only a recorder that sits in the client's place can tell.
	Client       string          `json:"client,omitempty"`
	ClientDetail json.RawMessage `json:"client_detail,omitempty"`
}

// A TranscriptMark says how far the transcript's file had got when the hook started.
type TranscriptMark struct {
	Exists           bool  `json:"exists"`
	HasLastAssistant *bool `json:"has_last_assistant,omitempty"`
	Lines            int   `json:"lines,omitempty"`
}

// An Answer is what a hook printed and how it ended.
type Answer struct {
	Stdout      string  `json:"stdout"`
	Stderr      string  `json:"stderr"`
	Exit        *int    `json:"exit"` // nil when a signal or the client's timeout ended it
	Signal      string  `json:"signal,omitempty"`
	TimedOut    bool    `json:"timed_out,omitempty"`
	StreamsHeld bool    `json:"streams_held,omitempty"` // a child of the hook still had them after its exit
	DurationMS  float64 `json:"duration_ms,omitempty"`

	// WouldHaveSaid is for scripted hooks that were cut off by the timeout.
	WouldHaveSaid json.RawMessage `json:"would_have_said,omitempty"`
}

// silentPrefix begins the command of a call that nobody's hook answered: a logger that prints nothing.
const silentPrefix = "recorder "

// Silent reports whether the call was only logged.
func (c Call) Silent() bool { return strings.HasPrefix(c.Command, silentPrefix) }

// fields are what this package needs of an event.
type fields struct {
	SessionID           string          `json:"session_id"`
	PromptID            string          `json:"prompt_id"`
	TranscriptPath      string          `json:"transcript_path"`
	AgentTranscriptPath string          `json:"agent_transcript_path"`
	AgentID             string          `json:"agent_id"`
	Cwd                 string          `json:"cwd"`
	Event               string          `json:"hook_event_name"`
	ToolName            string          `json:"tool_name"`
	ToolInput           json.RawMessage `json:"tool_input"`
	ToolResponse        json.RawMessage `json:"tool_response"`
	Source              string          `json:"source"`
	Reason              string          `json:"reason"`
	Trigger             string          `json:"trigger"`
	NotificationType    string          `json:"notification_type"`
	AgentType           string          `json:"agent_type"`
}

// fields decodes what it can; a field of a wrong type is as if it were not there.
func (c Call) fields() fields { return eventFields(c.Stdin) }

func eventFields(event []byte) fields {
	var f fields
	_ = json.Unmarshal(event, &f) // what cannot be read stays zero
	return f
}

// value is what a matcher is compared with.
func (f fields) value() string {
	switch f.Event {
	case "SessionStart":
		return f.Source
	case "SessionEnd":
		return f.Reason
	case "PreCompact", "PostCompact":
		return f.Trigger
	case "Notification":
		return f.NotificationType
	case "SubagentStart", "SubagentStop":
		return f.AgentType
	default:
		return f.ToolName
	}
}

// ReadRecording reads NAME.jsonl, the transcripts beside it, and the settings: from the header, else from index.json in the same folder.
// Errors name the line.
func ReadRecording(path string) (*Recording, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the recording: %w", err)
	}
	name, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	if !ok || strings.HasSuffix(name, ".transcript") {
		return nil, fmt.Errorf("%s: a recording is called NAME.jsonl, and its transcripts NAME.transcript.jsonl", path)
	}
	r := &Recording{Name: name, Path: path}
	if err = r.parse(data); err != nil {
		return nil, err
	}
	if r.Settings = r.Header.Settings; r.Settings == nil {
		if r.Settings, err = indexedSettings(filepath.Join(filepath.Dir(path), "index.json"), name); err != nil {
			return nil, err
		}
	}
	return r, r.readTranscripts()
}

func (r *Recording) parse(data []byte) error {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		at := func(err error) error { return fmt.Errorf("%s:%d: %w", r.Path, number, err) }
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if number == 1 && bytes.Contains(line, []byte(`"hookkit_recording"`)) {
			if err := json.Unmarshal(line, &r.Header); err != nil {
				return at(err)
			}
			if r.Header.Version != RecordingVersion {
				return at(fmt.Errorf("the recording has version %d; this program reads version %d", r.Header.Version, RecordingVersion))
			}
			continue
		}
		var c Call
		if err := json.Unmarshal(line, &c); err != nil {
			return at(err)
		}
		if c.Event == "" || c.Seq < 1 {
			return at(errors.New("a call needs a seq from 1 on and an event"))
		}
		r.Calls = append(r.Calls, c)
	}
	if len(r.Calls) == 0 {
		return fmt.Errorf("%s: the recording holds no call of a hook", r.Path)
	}
	slices.SortStableFunc(r.Calls, func(a, b Call) int { return cmp.Compare(a.Seq, b.Seq) })
	for i := range r.Calls[1:] {
		if r.Calls[i].Seq == r.Calls[i+1].Seq {
			return fmt.Errorf("%s: two calls have seq %d", r.Path, r.Calls[i].Seq)
		}
	}
	return nil
}

// indexedSettings finds the settings of a recording in an index, nil where there is none.
func indexedSettings(path, name string) (json.RawMessage, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var index []struct {
		Name     string          `json:"name"`
		Settings json.RawMessage `json:"settings.local.json"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, entry := range index {
		if entry.Name == name {
			return entry.Settings, nil
		}
	}
	return nil, nil
}

// readTranscripts reads NAME.transcript.jsonl for the first session, NAME.2.transcript.jsonl for the second, and
// NAME.agent-ID.transcript.jsonl for a sub-agent.
func (r *Recording) readTranscripts() error {
	r.transcripts = map[string][]string{}
	base := strings.TrimSuffix(r.Path, ".jsonl")
	for i, id := range r.Sessions() {
		part := ""
		if i > 0 {
			part = fmt.Sprintf(".%d", i+1)
		}
		if err := r.readTranscript(id, base+part); err != nil {
			return err
		}
	}
	agents := map[string]bool{}
	for _, c := range r.Calls {
		if id := c.fields().AgentID; id != "" {
			agents["agent-"+filepath.Base(id)] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(agents)) {
		if err := r.readTranscript(id, base+"."+id); err != nil {
			return err
		}
	}
	return nil
}

func (r *Recording) readTranscript(key, base string) error {
	data, err := os.ReadFile(base + ".transcript.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		r.transcripts[key] = slices.Collect(strings.Lines(string(data)))
	}
	return err
}

// Sessions lists the ids of the recorded sessions in the order in which they appear.
func (r *Recording) Sessions() []string {
	var ids []string
	for _, c := range r.Calls {
		if id := c.fields().SessionID; id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// encodeLine writes a value as one line of JSON and leaves <, > and & as they are.
func encodeLine(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return b.Bytes(), err
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond)) / float64(time.Millisecond)
}
