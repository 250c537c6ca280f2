//go:build unix

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

// clientRow is a fact of the page as a session that any client can be put through: settings and hooks, what the model does, and what must
// come of it. fakes.Claude and a real client are held to the same.
//
// In its texts {project} stands for the project's folder, {home} for the home folder, and {ID} for the command of the hook with that id.
type clientRow struct {
	fact    string // of hostRows
	variant string // tells two rows of one fact apart

	files   map[string]string // of the project
	hooks   []clientHook
	dir     string // the start folder, within the project
	mode    string // --permission-mode; acceptEdits if it is left out
	allow   string // --allowedTools; "Bash,Agent" if it is left out
	env     []string
	replies []modelReply

	// marker is in every text of a hook that is looked for; because-hk if it is left out, a word that no client writes. Texts without
	// it are the client's own.
	marker string
	first  []claudecode.Text   // told with the prompt
	told   [][]claudecode.Text // what each request after the first told; there must be as many
	mute   bool                // no request at all
	calls  map[string]int      // of hooks, by id
	disk   map[string]string   // files of the project in the end; "" for one that is not there
	shown  []string            // the user saw these
	unseen []string            // and not these
	fields bool                // the hooks' input has the recorded fields
	more   func(o *clientOutcome) error
}

// clientHook is a hook of a row: a command of this test binary that answers as it is told to.
type clientHook struct {
	id      string
	event   string // "": in no settings by itself
	matcher string
	file    string // .claude/settings.local.json if it is left out
	more    string // further fields of the handler
	args    []string
	answers []hookAnswer
}

// clientOutcome is what came of a row's session.
type clientOutcome struct {
	clientResult
	project  string
	home     string
	hookDirs map[string]string
	commands map[string]string
	calls    map[string][]hookCall
	tails    [][]claudecode.Text // by request: what came after the model's last answer
	failed   []bool              // by request: the tool result there is an error
	shown    string
}

func (r *clientRow) name() string {
	if r.variant == "" {
		return r.fact
	}
	return r.fact + "/" + r.variant
}

// prepare puts everything in place, below base.
func (r *clientRow) prepare(t *testing.T, base string) (clientJob, *clientOutcome) {
	t.Helper()
	base, err := os.MkdirTemp(base, "r") //nolint:usetesting // its path must be short: clients make sockets in it
	assert.NilError(t, err)
	o := &clientOutcome{
		project: filepath.Join(base, "project"), home: filepath.Join(base, "home"),
		hookDirs: map[string]string{}, commands: map[string]string{}, calls: map[string][]hookCall{},
	}
	program, err := os.Executable()
	assert.NilError(t, err)
	for i, h := range r.hooks {
		if o.hookDirs[h.id] == "" {
			o.hookDirs[h.id] = filepath.Join(base, fmt.Sprintf("hook%d", i))
			o.commands[h.id] = shellQuote(program) + " " + clientHookCommand + " " + shellQuote(o.hookDirs[h.id])
		}
	}
	write := func(path, content string) {
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, fakes.WriteProgram(path, content)) // some are programs
	}
	for _, h := range r.hooks {
		answers := slices.Clone(h.answers)
		for i := range answers {
			a := &answers[i]
			a.Stdout, a.Stderr, a.Wait = o.fill(a.Stdout), o.fill(a.Stderr), o.fill(a.Wait)
			a.Write = slices.Clone(a.Write)
			for j := range a.Write {
				a.Write[j] = o.fill(a.Write[j])
			}
		}
		data, marshal := json.Marshal(answers)
		assert.NilError(t, marshal)
		write(filepath.Join(o.hookDirs[h.id], "answers.json"), string(data))
	}
	for path, content := range r.settings(t, o) {
		write(filepath.Join(o.project, path), content)
	}
	for path, content := range r.files {
		write(filepath.Join(o.project, path), o.fill(content))
	}
	trust, err := json.Marshal(map[string]any{"hasCompletedOnboarding": true, "projects": map[string]any{o.project: map[string]any{"hasTrustDialogAccepted": true}}})
	assert.NilError(t, err)
	write(filepath.Join(o.home, ".claude.json"), string(trust))
	assert.NilError(t, os.MkdirAll(filepath.Join(o.project, r.dir), 0o700))
	assert.NilError(t, os.MkdirAll(filepath.Join(base, "tmp"), 0o700))
	return r.job(o, filepath.Join(base, "tmp")), o
}

func (r *clientRow) job(o *clientOutcome, tmp string) clientJob {
	or := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	job := clientJob{Name: r.name(), Dir: filepath.Join(o.project, r.dir), Prompt: "Please play the scripted row."}
	job.Args = []string{
		"-p", job.Prompt, "--output-format", "stream-json", "--verbose",
		"--permission-mode", or(r.mode, "acceptEdits"), "--allowedTools", or(r.allow, "Bash,Agent"),
	}
	job.Env = []string{
		"HOME=" + o.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + tmp, "SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=dumb",
		"ANTHROPIC_API_KEY=scripted", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"DISABLE_AUTOUPDATER=1", quickExit,
	}
	for _, v := range r.env {
		job.Env = append(job.Env, o.fill(v))
	}
	for _, reply := range r.replies {
		reply.Input = json.RawMessage(o.fill(string(reply.Input)))
		job.Replies = append(job.Replies, reply)
	}
	return job
}

// settings are the files that hold the row's hooks.
func (r *clientRow) settings(t *testing.T, o *clientOutcome) map[string]string {
	t.Helper()
	files := map[string]map[string][]any{}
	for _, h := range r.hooks {
		if h.event == "" {
			continue
		}
		handler := map[string]any{"type": "command", "command": o.commands[h.id]}
		if h.args != nil {
			program, err := os.Executable()
			assert.NilError(t, err)
			handler["command"], handler["args"] = program, append([]string{clientHookCommand, o.hookDirs[h.id]}, h.args...)
		}
		if h.more != "" {
			assert.NilError(t, json.Unmarshal([]byte("{"+h.more+"}"), &handler))
		}
		if h.file == "" {
			h.file = ".claude/settings.local.json"
		}
		if files[h.file] == nil {
			files[h.file] = map[string][]any{}
		}
		files[h.file][h.event] = append(files[h.file][h.event], map[string]any{"matcher": h.matcher, "hooks": []any{handler}})
	}
	texts := map[string]string{}
	for name, events := range files {
		data, err := json.Marshal(map[string]any{"hooks": events})
		assert.NilError(t, err)
		texts[name] = string(data)
	}
	return texts
}

// fill puts the session's own paths and commands into a text.
func (o *clientOutcome) fill(text string) string {
	text = strings.NewReplacer("{project}", o.project, "{home}", o.home).Replace(text)
	for id, command := range o.commands {
		text = strings.ReplaceAll(text, "{"+id+"}", command)
	}
	return text
}

// read takes over what a client said, and what the hooks found.
func (o *clientOutcome) read(result clientResult) error {
	o.clientResult = result
	if result.Fault != "" {
		return fmt.Errorf("%s\n%s", result.Fault, result.Stderr)
	}
	for id, dir := range o.hookDirs {
		calls, err := readCalls(dir)
		if err != nil {
			return err
		}
		o.calls[id] = calls
	}
	for _, body := range result.Requests {
		var request apiRequest
		if err := json.Unmarshal(body, &request); err != nil {
			return err
		}
		tail, failed := request.tail()
		o.tails, o.failed = append(o.tails, tail), append(o.failed, failed)
	}
	var err error
	o.shown, err = shownText(result.Stdout)
	o.shown += result.Stderr
	return err
}

// aside is how a text is told that is no plain user text: as a system message or as a reminder. A client may wrap either way.
const aside = "aside"

// tail is what the request tells since the model's last answer.
func (r *apiRequest) tail() (texts []claudecode.Text, failed bool) {
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			texts, failed = nil, false
			continue
		}
		for _, b := range m.Content {
			text := claudecode.Text{As: claudecode.AsUser, Text: b.Text}
			switch {
			case b.Type == "tool_result":
				text = claudecode.Text{As: claudecode.AsResult, Text: b.Content.text()}
				failed = failed || b.IsError
			case m.Role == "system", strings.HasPrefix(strings.TrimSpace(b.Text), "<system-reminder>"):
				text.As = aside
			}
			texts = append(texts, text)
		}
	}
	return texts, failed
}

// shownText is all text of a stream of JSON lines that is no message of the conversation.
func shownText(stdout string) (string, error) {
	var b strings.Builder
	for line := range strings.Lines(stdout) {
		var value map[string]any
		if err := json.Unmarshal([]byte(line), &value); err != nil {
			return "", fmt.Errorf("standard output is no stream of JSON lines: %w: %.200q", err, line)
		}
		if value["type"] == "user" || value["type"] == "assistant" {
			continue
		}
		allStrings(value, &b)
	}
	return b.String(), nil
}

func allStrings(value any, b *strings.Builder) {
	switch v := value.(type) {
	case string:
		b.WriteString(v + "\n")
	case []any:
		for _, x := range v {
			allStrings(x, b)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			allStrings(v[key], b)
		}
	}
}

// faults are what is not as the row says, one in a line.
func (r *clientRow) faults(o *clientOutcome) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if o.Exit != 0 {
		fault("the client ended with %d: %s", o.Exit, o.Stderr)
	}
	want := append([][]claudecode.Text{r.first}, r.told...)
	if r.mute {
		want = nil
	}
	if len(o.tails) != len(want) {
		fault("%d requests to the model, not %d", len(o.tails), len(want))
	}
	for i := range min(len(want), len(o.tails)) {
		faults = append(faults, r.compareTold(o, i, want[i])...)
	}
	for id, n := range r.calls {
		if len(o.calls[id]) != n {
			fault("the hook %q was called %d times, not %d", id, len(o.calls[id]), n)
		}
	}
	for path, content := range r.disk {
		data, err := os.ReadFile(filepath.Join(o.project, path))
		switch {
		case content == "" && !os.IsNotExist(err):
			fault("%s is there: %q", path, data)
		case content != "" && string(data) != content:
			fault("%s is %q, not %q", path, data, content)
		}
	}
	for _, text := range r.shown {
		if !strings.Contains(o.shown, o.fill(text)) {
			fault("the user did not see %q but: %.2000s", text, o.shown)
		}
	}
	for _, text := range r.unseen {
		if strings.Contains(o.shown, o.fill(text)) {
			fault("the user saw %q", text)
		}
	}
	if r.more != nil && len(faults) == 0 {
		if err := r.more(o); err != nil {
			fault("%v", err)
		}
	}
	return faults
}

// compareTold looks for each text in a request, in order, and for the marker in what is left.
func (r *clientRow) compareTold(o *clientOutcome, request int, want []claudecode.Text) []string {
	var faults []string
	left := slices.Clone(o.tails[request])
	from := map[string]int{}
	for _, w := range want {
		if w.As == claudecode.AsSystem || w.As == claudecode.AsReminder {
			w.As = aside
		}
		text, found := o.fill(w.Text), false
		for i := from[w.As]; i < len(left) && !found; i++ {
			if left[i].As != w.As {
				continue
			}
			if before, after, ok := strings.Cut(left[i].Text, text); ok {
				left[i].Text, from[w.As], found = before+after, i, true
			}
		}
		if !found {
			faults = append(faults, fmt.Sprintf("request %d does not tell as %s: %.500q", request+1, w.As, text))
		}
	}
	marker := r.marker
	if marker == "" {
		marker = "because-hk"
	}
	for _, text := range left {
		if strings.Contains(text.Text, marker) {
			faults = append(faults, fmt.Sprintf("request %d tells as %s what it should not: %.500q", request+1, text.As, text.Text))
		}
	}
	return faults
}

// stopEvent is the input of the Stop hook's nth call.
func (o *clientOutcome) stopEvent(n int) (map[string]any, error) {
	var event map[string]any
	if n >= len(o.calls["stop"]) {
		return nil, fmt.Errorf("the Stop hook was not called %d times", n+1)
	}
	err := json.Unmarshal([]byte(o.calls["stop"][n].Stdin), &event)
	return event, err
}

// has looks for pieces of text in a hook's nth input.
func has(id string, n int, pieces ...string) func(*clientOutcome) error {
	return func(o *clientOutcome) error {
		if n >= len(o.calls[id]) {
			return fmt.Errorf("the hook %q was not called %d times", id, n+1)
		}
		for _, piece := range pieces {
			if stdin := o.calls[id][n].Stdin; !strings.Contains(stdin, o.fill(piece)) {
				return fmt.Errorf("call %d of the hook %q does not hold %s: %s", n, id, o.fill(piece), stdin)
			}
		}
		return nil
	}
}
