package fakes

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// LLMExpect is one kind of request that is foreseen, and the replies to it. Each
// reply answers one request, in the order of the calls:
//
//	llm.On(fakes.AnthropicPath).RateLimited(time.Second).Confirm("TECH_DEBT")
//
// foresees two requests, the second a retry. Several expectations for the same
// request are used in the order in which they were made.
type LLMExpect struct {
	llm      *LLM
	path     string
	headers  [][2]string // name and value; an empty value: any
	contains []string
	replies  []llmReply
	used     int
	any      bool
}

type llmReply func(llmExchange)

// llmExchange is one request on its way to an answer.
type llmExchange struct {
	l *LLM
	w http.ResponseWriter
	r *http.Request
}

// On expects a POST to exactly this path, the query included.
func (l *LLM) On(path string) *LLMExpect {
	e := &LLMExpect{llm: l, path: path}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expects = append(l.expects, e)
	return e
}

// Header demands a header with this value; an empty value demands only that it
// is there, for a key that the test does not know.
func (e *LLMExpect) Header(name, value string) *LLMExpect {
	e.llm.mu.Lock()
	defer e.llm.mu.Unlock()
	e.headers = append(e.headers, [2]string{name, value})
	return e
}

// Contains demands that the body has each of these texts, as they stand in the
// JSON.
func (e *LLMExpect) Contains(parts ...string) *LLMExpect {
	e.llm.mu.Lock()
	defer e.llm.mu.Unlock()
	e.contains = append(e.contains, parts...)
	return e
}

// AnyTimes allows any number of requests, also none. The last reply answers all
// that follow.
func (e *LLMExpect) AnyTimes() *LLMExpect {
	e.llm.mu.Lock()
	defer e.llm.mu.Unlock()
	e.any = true
	return e
}

// String names the expectation in failure messages.
func (e *LLMExpect) String() string { return "POST " + e.path }

// miss says why the request is another one. l.mu is held.
func (e *LLMExpect) miss(r LLMRequest) string {
	if r.Method != http.MethodPost {
		return "the method is " + r.Method
	}
	if r.Path != e.path {
		return "the path differs"
	}
	for _, h := range e.headers {
		got := r.Header.Values(h[0])
		if len(got) == 0 {
			return "no header " + h[0]
		}
		if h[1] != "" && got[0] != h[1] {
			return fmt.Sprintf("header %s is not %q", h[0], h[1]) // what it is may be a key
		}
	}
	for _, part := range e.contains {
		if !strings.Contains(r.Body, part) {
			return fmt.Sprintf("the body has no %q", part)
		}
	}
	return ""
}

func (e *LLMExpect) reply(do llmReply) *LLMExpect {
	e.llm.mu.Lock()
	defer e.llm.mu.Unlock()
	e.replies = append(e.replies, do)
	return e
}

// Answer replies with text that the model says, status 200. At [OpenAIPath], or
// any path that ends in /chat/completions, it has the shape of a chat
// completion, elsewhere that of an Anthropic message.
func (e *LLMExpect) Answer(text string) *LLMExpect {
	body := e.shape(text)
	return e.Reply(http.StatusOK, "application/json", body)
}

// Confirm answers with a JSON object that confirms these names and denies no
// other: {"confirm":["TECH_DEBT"],"deny":[]}.
func (e *LLMExpect) Confirm(names ...string) *LLMExpect { return e.Answer(verdictJSON(names, nil)) }

// Deny answers with a JSON object that denies these names:
// {"confirm":[],"deny":["TECH_DEBT"]}.
func (e *LLMExpect) Deny(names ...string) *LLMExpect { return e.Answer(verdictJSON(nil, names)) }

// Smuggle confirms the names and puts words beside them that must not reach the
// agent: in front of the object, in a key of it, in a name, and after it. A
// client that takes only the verdict shows none of the words.
func (e *LLMExpect) Smuggle(words string, names ...string) *LLMExpect {
	object := mustJSON(map[string]any{"confirm": append([]string{words}, names...), "deny": []string{}, "message": words})
	return e.Answer(words + "\n" + object + "\n" + words)
}

// Reply answers with this status, type and body.
func (e *LLMExpect) Reply(status int, contentType, body string) *LLMExpect {
	return e.reply(func(x llmExchange) { x.write(status, contentType, body) })
}

// RateLimited answers 429 with Retry-After in whole seconds, rounded up; without
// the header where after is 0.
func (e *LLMExpect) RateLimited(after time.Duration) *LLMExpect {
	return e.reply(func(x llmExchange) {
		if after > 0 {
			x.w.Header().Set("Retry-After", strconv.Itoa(int((after+time.Second-1)/time.Second)))
		}
		x.write(http.StatusTooManyRequests, "application/json", errorBody("rate_limit_error", "Number of requests has exceeded your rate limit"))
	})
}

// ServerError answers 500 with a JSON error.
func (e *LLMExpect) ServerError() *LLMExpect {
	return e.Reply(http.StatusInternalServerError, "application/json", errorBody("api_error", "Internal server error"))
}

// HTML answers 200 with a web page, as a captive portal or a proxy does.
func (e *LLMExpect) HTML() *LLMExpect {
	return e.Reply(http.StatusOK, "text/html; charset=utf-8", "<!DOCTYPE html>\n<html><body><h1>Sign in to the network</h1></body></html>\n")
}

// InvalidJSON answers 200 with what begins as an answer and is no JSON.
func (e *LLMExpect) InvalidJSON() *LLMExpect {
	return e.Reply(http.StatusOK, "application/json", `{"content": [{"type": "text", "text": oops}`)
}

// Slow waits before it answers with text.
func (e *LLMExpect) Slow(d time.Duration, text string) *LLMExpect {
	body := e.shape(text)
	return e.reply(func(x llmExchange) {
		x.wait(d)
		x.write(http.StatusOK, "application/json", body)
	})
}

// Hang never answers. The connection stays open until the client or the server
// ends.
func (e *LLMExpect) Hang() *LLMExpect {
	return e.reply(func(x llmExchange) { x.wait(-1) })
}

// Truncated promises the whole answer, sends half of it and closes.
func (e *LLMExpect) Truncated(text string) *LLMExpect {
	body := e.shape(text)
	return e.reply(func(x llmExchange) {
		x.hijack(func(c *net.TCPConn) {
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				len(body), body[:len(body)/2])
		})
	})
}

// Reset resets the connection without a word: the client reads ECONNRESET.
func (e *LLMExpect) Reset() *LLMExpect {
	return e.reply(func(x llmExchange) {
		x.hijack(func(c *net.TCPConn) { _ = c.SetLinger(0) })
	})
}

// shape puts text into the answer that belongs to the path.
func (e *LLMExpect) shape(text string) string {
	path, _, _ := strings.Cut(e.path, "?")
	if strings.HasSuffix(path, "/chat/completions") {
		return mustJSON(map[string]any{
			"id": "chatcmpl-fake", "object": "chat.completion", "created": 1700000000, "model": "fake",
			"choices": []any{map[string]any{
				"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text},
			}},
			"usage": map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
		})
	}
	return mustJSON(map[string]any{
		"id": "msg_fake", "type": "message", "role": "assistant", "model": "fake",
		"content":     []any{map[string]any{"type": "text", "text": text}},
		"stop_reason": "end_turn", "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	})
}

func verdictJSON(confirm, deny []string) string {
	return mustJSON(map[string]any{"confirm": append([]string{}, confirm...), "deny": append([]string{}, deny...)})
}

func errorBody(kind, message string) string {
	return mustJSON(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
}

// mustJSON encodes what cannot fail: strings, numbers, maps and lists of them.
func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("fakes: %v", err))
	}
	return string(data)
}

// write ignores errors: a client that went away is no failure.
func (x llmExchange) write(status int, contentType, body string) {
	x.w.Header().Set("Content-Type", contentType)
	x.w.WriteHeader(status)
	_, _ = io.WriteString(x.w, body)
}

// wait lets d pass, or for ever where d is negative. When the client or the
// server has ended before, nothing is answered.
func (x llmExchange) wait(d time.Duration) {
	var after <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
		return
	case <-x.r.Context().Done():
	case <-x.l.closing:
	}
	panic(http.ErrAbortHandler) // net/http knows it: the connection closes without an answer
}

// hijack takes the connection from the HTTP server and closes it after do.
func (x llmExchange) hijack(do func(*net.TCPConn)) {
	hijacker, ok := x.w.(http.Hijacker)
	if !ok {
		x.l.problem("the connection cannot be taken from the HTTP server")
		return
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		x.l.problem("the connection cannot be taken from the HTTP server: %v", err)
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		do(tcp)
	}
	_ = conn.Close() // the client may be gone already
}

func readLLMRequest(w http.ResponseWriter, r *http.Request) (LLMRequest, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLLMBody))
	return LLMRequest{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: string(body)}, err
}
