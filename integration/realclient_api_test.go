//go:build unix

package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// modelReply is one answer of the scripted model: a text, which ends the agent's turn, or the call of a tool.
type modelReply struct {
	Text  string
	Tool  string
	Input json.RawMessage `json:",omitempty"`
}

// scriptedModel answers a client's requests by a script, and keeps them. Where the script is at its end, the model has nothing more to do.
type scriptedModel struct {
	prompt  string // tells the requests of the session from those that the client makes for itself, such as for a title
	replies []modelReply

	mu       sync.Mutex
	requests []json.RawMessage // of the session
	others   []string          // what else was asked for: method and path
}

// apiMessage is a message of a conversation, in a request or as an answer.
type apiMessage struct {
	Role    string     `json:"role"`
	Content apiContent `json:"content"`
}

// apiBlock is a part of a message, as far as it is used here.
type apiBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Content   apiContent      `json:"content,omitempty"`
}

// apiContent is a list of blocks; a string stands for one block of text.
type apiContent []apiBlock

func (c *apiContent) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*c = apiContent{{Type: "text"}}
		return json.Unmarshal(data, &(*c)[0].Text)
	}
	return json.Unmarshal(data, (*[]apiBlock)(c))
}

// text is all text of a content.
func (c apiContent) text() string {
	each := make([]string, len(c))
	for i, b := range c {
		each[i] = b.Text
	}
	return strings.Join(each, "\n")
}

// apiRequest is a request for the next message, as far as it is read here.
type apiRequest struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Messages []apiMessage      `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

// ask returns the script's next answer for a request of the session, and a word for any other.
func (m *scriptedModel) ask(body []byte) (modelReply, apiRequest, error) {
	var r apiRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return modelReply{}, r, fmt.Errorf("a request that is no Messages API: %w", err)
	}
	if len(r.Messages) == 0 {
		return modelReply{}, r, errors.New("a request without messages")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(r.Tools) == 0 || !strings.Contains(r.Messages[0].Content.text(), m.prompt) {
		m.others = append(m.others, "a request of the client's own")
		return modelReply{Text: "Nothing."}, r, nil
	}
	m.requests = append(m.requests, json.RawMessage(body))
	n := len(m.requests)
	if n > len(m.replies) {
		return modelReply{Text: "Done."}, r, nil
	}
	return m.replies[n-1], r, nil
}

// serve answers on a loopback port until stop is called.
func (m *scriptedModel) serve() (url string, stop func(), err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(ln) }() // ends with http.ErrServerClosed
	return "http://" + ln.Addr().String(), func() { _ = server.Close() }, nil
}

func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := func(status int, value any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(value) // a client that went away is none of our business
	}
	refuse := func(status int, kind, text string) {
		answer(status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}})
	}
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		reply, request, err := m.ask(body)
		if err != nil {
			refuse(http.StatusBadRequest, "invalid_request_error", err.Error())
			return
		}
		message := reply.message(request.Model, len(body))
		if request.Stream {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, stream(message))
			return
		}
		answer(http.StatusOK, message)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		answer(http.StatusOK, map[string]int{"input_tokens": 100})
	default:
		m.mu.Lock()
		m.others = append(m.others, r.Method+" "+r.URL.Path)
		m.mu.Unlock()
		refuse(http.StatusNotFound, "not_found_error", "the scripted model has no "+r.URL.Path)
	}
}

// apiReply is a whole answer of the Messages API.
type apiReply struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Role         string         `json:"role"`
	Model        string         `json:"model"`
	Content      apiContent     `json:"content"`
	StopReason   *string        `json:"stop_reason"`
	StopSequence *string        `json:"stop_sequence"`
	Usage        map[string]int `json:"usage"`
}

// message is the answer in the API's form. number makes its ids differ from those of other answers.
func (r modelReply) message(model string, number int) apiReply {
	block, reason := apiBlock{Type: "text", Text: r.Text}, "end_turn"
	if r.Tool != "" {
		block, reason = apiBlock{Type: "tool_use", ID: fmt.Sprintf("toolu_01Fake%018d", number), Name: r.Tool, Input: r.Input}, "tool_use"
	}
	return apiReply{
		ID: fmt.Sprintf("msg_01Fake%018d", number), Type: "message", Role: "assistant", Model: model,
		Content: apiContent{block}, StopReason: &reason, Usage: map[string]int{"input_tokens": 100, "output_tokens": 10},
	}
}

// stream is an answer as server-sent events, its content in two pieces.
func stream(message apiReply) string {
	var b strings.Builder
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		data, _ := json.Marshal(fields) // plain values
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, data)
	}
	block, reason := message.Content[0], message.StopReason
	text, delta, key := block.Text, "text_delta", "text"
	if block.Type == "tool_use" {
		text, delta, key = string(block.Input), "input_json_delta", "partial_json"
	}
	started := map[string]any{"type": block.Type, "text": ""}
	if block.Type == "tool_use" {
		started = map[string]any{"type": block.Type, "id": block.ID, "name": block.Name, "input": map[string]any{}}
	}
	message.Content, message.StopReason = apiContent{}, nil
	send("message_start", map[string]any{"message": message})
	send("content_block_start", map[string]any{"index": 0, "content_block": started})
	half := len(text) / 2
	for half > 0 && text[half]&0xC0 == 0x80 { // not within a character
		half--
	}
	for _, piece := range []string{text[:half], text[half:]} {
		send("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": delta, key: piece}})
	}
	send("content_block_stop", map[string]any{"index": 0})
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": map[string]int{"output_tokens": 10},
	})
	send("message_stop", map[string]any{})
	return b.String()
}
