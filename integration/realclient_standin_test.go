//go:build unix

package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/hookkit/brepl/fakes"
	"github.com/hookkit/brepl/fakes/claudecode"
)

// standInCommand makes this test binary behave like the client's command line, as far as the rows need it: fakes.Claude, with a model behind
// an API instead of a script. It is there to try the runner. Its first argument is a standInFault or "-".
const standInCommand = "stand-in-client"

// standInFault is a rule that the stand-in gets wrong on purpose.
type standInFault string

const (
	ignoresExit2      standInFault = "ignores-exit-2"
	ignoresOtherCodes standInFault = "ignores-json-at-other-codes"
	tellsOnce         standInFault = "tells-a-json-block-once"
	ignoresRewrites   standInFault = "ignores-rewrites"
	losesContext      standInFault = "loses-additional-context"
	hasNoCap          standInFault = "has-no-cap"
)

// standIn is the client's command line.
type standIn struct {
	fault  standInFault
	prompt string
	mode   string
	allow  []string
	dir    string
	env    []string
	ask    func(context.Context, []byte) (apiContent, error)
	out    io.Writer
}

func standInMain(args []string) int {
	if slices.Contains(args, "--version") {
		fmt.Println(claudecode.Version + " (a stand-in on fakes.Claude)")
		return 0
	}
	fault := func(err error) int {
		fmt.Fprintln(os.Stderr, "stand-in-client:", err)
		return 1
	}
	dir, err := os.Getwd()
	if err != nil {
		return fault(err)
	}
	s := &standIn{fault: standInFault(args[0]), dir: dir, env: os.Environ(), out: os.Stdout, ask: askAPI(os.Getenv("ANTHROPIC_BASE_URL"), os.Getenv("ANTHROPIC_API_KEY"))}
	if err := s.parse(args[1:]); err != nil {
		return fault(err)
	}
	if err := s.run(context.Background()); err != nil {
		return fault(err)
	}
	return 0
}

// parse is strict: what the rows pass must be what this stand-in plays.
func (s *standIn) parse(args []string) error {
	for len(args) > 0 {
		name := args[0]
		value := ""
		if name != "--verbose" {
			if len(args) < 2 {
				return fmt.Errorf("%s has no value", name)
			}
			value = args[1]
			args = args[1:]
		}
		args = args[1:]
		switch name {
		case "--verbose":
		case "-p":
			s.prompt = value
		case "--permission-mode":
			s.mode = value
		case "--allowedTools":
			s.allow = strings.Split(value, ",")
		case "--output-format":
			if value != "stream-json" {
				return fmt.Errorf("--output-format %s", value)
			}
		default:
			return fmt.Errorf("unknown argument %s", name)
		}
	}
	return nil
}

// run plays one session: the prompt, and what the model answers until a stop is let go.
func (s *standIn) run(ctx context.Context) error {
	env := s.env
	if s.fault == hasNoCap {
		env = append(slices.Clone(env), claudecode.CapVariable+"=0")
	}
	claude, err := fakes.StartClaude(s.dir, fakes.ClaudeEnv(env), fakes.ClaudeMode(s.mode), fakes.ClaudeAllow(s.allow...), fakes.ClaudeHeadless())
	if err != nil {
		return err
	}
	defer claude.Close()
	start := claude.Start("startup")
	prompt := claude.Prompt(s.prompt)
	s.show(start, prompt)
	result := "completed"
	if !prompt.Blocked && !start.Ended && !prompt.Ended {
		messages := s.tell([]apiMessage{{Role: "user", Content: apiContent{{Type: "text", Text: s.prompt}}}}, start, prompt)
		if result, err = s.work(ctx, claude, messages); err != nil {
			return err
		}
	}
	s.show(claude.Exit("other"))
	s.line(map[string]any{"type": "result", "subtype": "success", "is_error": false, "terminal_reason": result})
	return nil
}

// work is the agent's loop. It returns why the work ended.
func (s *standIn) work(ctx context.Context, claude *fakes.Claude, messages []apiMessage) (string, error) {
	for range 100 {
		body, err := json.Marshal(map[string]any{
			"model": "claude-opus-5-5", "max_tokens": 1000, "stream": true, "messages": messages, "tools": []any{map[string]string{"name": "Write"}},
		})
		if err != nil {
			return "", err
		}
		content, err := s.ask(ctx, body)
		if err != nil {
			return "", err
		}
		messages = append(messages, apiMessage{Role: "assistant", Content: content})
		block := content[len(content)-1]
		if block.Type != "tool_use" {
			stop := s.stop(claude, block.Text)
			if !stop.GoesOn {
				if stop.Ended {
					return "stop_hook_prevented", nil
				}
				return "completed", nil
			}
			messages = s.tell(messages, stop)
			continue
		}
		turn, err := s.tool(claude, block)
		if err != nil {
			return "", err
		}
		s.show(turn)
		if turn.Ended {
			return "hook_stopped", nil
		}
		messages = append(messages, apiMessage{Role: "user", Content: apiContent{{
			Type: "tool_result", ToolUseID: block.ID, IsError: turn.ToolFailed, Content: apiContent{{Type: "text", Text: turn.ToolResult}},
		}}})
		messages = s.tell(messages, turn)
	}
	return "", errors.New("the agent does not come to an end")
}

func (s *standIn) stop(claude *fakes.Claude, message string) *fakes.Turn {
	turn := claude.Stop(message)
	s.show(turn)
	for _, h := range turn.Hooks {
		asJSON := strings.HasPrefix(h.Stdout, "{")
		if s.fault == ignoresExit2 && h.Exit == 2 && !asJSON || s.fault == ignoresOtherCodes && h.Exit != 0 && asJSON {
			turn.GoesOn = false
		}
	}
	return turn
}

func (s *standIn) tool(claude *fakes.Claude, block apiBlock) (*fakes.Turn, error) {
	var in struct {
		FilePath   string `json:"file_path"`
		Content    string `json:"content"`
		OldString  string `json:"old_string"`
		NewString  string `json:"new_string"`
		ReplaceAll bool   `json:"replace_all"`
		Command    string `json:"command"`
	}
	if err := json.Unmarshal(block.Input, &in); err != nil {
		return nil, fmt.Errorf("the input of %s: %w", block.Name, err)
	}
	switch block.Name {
	case "Write":
		turn := claude.Write(in.FilePath, in.Content)
		if s.fault == ignoresRewrites && turn.ToolRan {
			return turn, os.WriteFile(in.FilePath, []byte(in.Content), 0o600)
		}
		return turn, nil
	case "Edit":
		if in.ReplaceAll {
			return claude.Edit(in.FilePath, in.OldString, in.NewString, fakes.ReplaceAll()), nil
		}
		return claude.Edit(in.FilePath, in.OldString, in.NewString), nil
	case "Read":
		return claude.Read(in.FilePath), nil
	case "Bash":
		return claude.Bash(in.Command), nil
	}
	return nil, fmt.Errorf("no tool %q", block.Name)
}

// tell puts what the hooks told into the conversation, where the client puts it.
func (s *standIn) tell(messages []apiMessage, turns ...*fakes.Turn) []apiMessage {
	for _, turn := range turns {
		for _, text := range turn.Told {
			role, words := "system", text.Text
			switch text.As {
			case claudecode.AsResult:
				continue // it is the tool's result
			case claudecode.AsUser:
				role = "user"
			case claudecode.AsReminder:
				role, words = "user", "<system-reminder>\n"+words+"\n</system-reminder>"
			}
			if s.fault == tellsOnce && role == "system" && turn.GoesOn || s.fault == losesContext && strings.Contains(words, "additional context: ") {
				continue
			}
			messages = append(messages, apiMessage{Role: role, Content: apiContent{{Type: "text", Text: words}}})
		}
	}
	return messages
}

func (s *standIn) show(turns ...*fakes.Turn) {
	for _, turn := range turns {
		for _, text := range turn.Shown {
			s.line(map[string]any{"type": "system", "subtype": "informational", "content": text.Text})
		}
	}
}

func (s *standIn) line(value any) { _ = json.NewEncoder(s.out).Encode(value) } // nobody reads: nothing to be done

// askAPI asks the model behind an address, with a stream for an answer.
func askAPI(url, key string) func(context.Context, []byte) (apiContent, error) {
	return func(ctx context.Context, body []byte) (apiContent, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/messages?beta=true", bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Anthropic-Version", "2023-06-01")
		request.Header.Set("X-Api-Key", key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(response.Body) // what there is of it
			return nil, fmt.Errorf("the API says %s: %s", response.Status, text)
		}
		return readStream(response.Body)
	}
}

// readStream puts a streamed answer together.
func readStream(r io.Reader) (apiContent, error) {
	var content apiContent
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string   `json:"type"`
			Block apiBlock `json:"content_block"`
			Delta struct {
				Type    string `json:"type"`
				Text    string `json:"text"`
				Partial string `json:"partial_json"`
			} `json:"delta"`
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return nil, fmt.Errorf("an event of the stream: %w", err)
		}
		switch e.Type {
		case "content_block_start":
			e.Block.Input = nil
			content = append(content, e.Block)
		case "content_block_delta":
			last := &content[len(content)-1]
			last.Text += e.Delta.Text
			last.Input = append(last.Input, e.Delta.Partial...)
		case "message_stop":
			if len(content) == 0 {
				return nil, errors.New("an answer without content")
			}
			return content, nil
		}
	}
	return nil, fmt.Errorf("the stream ended without message_stop (%w)", cmpErr(lines.Err()))
}

// cmpErr is io.ErrUnexpectedEOF for a stream that just ended.
func cmpErr(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}
