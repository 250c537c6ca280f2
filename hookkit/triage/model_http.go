package triage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// provider is how one kind of API is spoken to.
type provider struct {
	url     string
	headers map[string]string
	body    func(question string) any
	// text finds what the model said in an answer.
	text func(data []byte) (string, error)
}

// Bases of the providers' APIs, and their models.
const (
	geminiBase     = "https://generativelanguage.googleapis.com"
	geminiModel    = "gemini-2.5-flash"
	anthropicBase  = "https://api.anthropic.com"
	anthropicModel = "claude-haiku-4-5"
	openaiModel    = "gpt-4o-mini"
	maxAnswer      = 1 << 20
	answerTokens   = 300
)

// newModel makes the model of the configuration; nil when there is none to ask: no key, or no endpoint.
func newModel(c *Config, env func(string) string) Model {
	first := func(names ...string) string {
		for _, name := range names {
			if key := strings.TrimSpace(env(name)); key != "" {
				return key
			}
		}
		return ""
	}
	base := func(standard string) string {
		if c.Endpoint != "" && c.EndpointOf == c.Provider {
			return strings.TrimRight(c.Endpoint, "/")
		}
		return standard
	}
	name := func(standard string) string {
		if c.Model != "" && c.ModelOf == c.Provider {
			return c.Model
		}
		return standard
	}
	switch c.Provider {
	case "gemini-flash":
		if key := first("GEMINI_API_KEY", "GOOGLE_API_KEY"); key != "" {
			return httpModel{gemini(base(geminiBase), key, name(geminiModel))}
		}
	case "claude-haiku":
		if key := first("ANTHROPIC_API_KEY"); key != "" {
			return httpModel{anthropic(base(anthropicBase), key, name(anthropicModel))}
		}
	case "openai":
		if url := base(""); url != "" { // a server of one's own needs no key
			return httpModel{openai(url, first("MEMORY_TRIAGE_API_KEY", "OPENAI_API_KEY"), name(openaiModel))}
		}
	}
	return nil
}

func gemini(base, key, model string) provider {
	return provider{
		url: base + "/v1beta/models/" + model + ":generateContent", headers: map[string]string{"x-goog-api-key": key},
		body: func(q string) any {
			return map[string]any{
				"contents":         []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": q}}}},
				"generationConfig": map[string]any{"temperature": 0, "maxOutputTokens": answerTokens, "responseMimeType": "application/json"},
			}
		},
		text: func(data []byte) (string, error) {
			var answer struct {
				Candidates []struct {
					Content struct{ Parts []struct{ Text string } }
				}
			}
			if err := json.Unmarshal(data, &answer); err != nil || len(answer.Candidates) == 0 || len(answer.Candidates[0].Content.Parts) == 0 {
				return "", errAnswer
			}
			return answer.Candidates[0].Content.Parts[0].Text, nil
		},
	}
}

func anthropic(base, key, model string) provider {
	return provider{
		url: base + "/v1/messages", headers: map[string]string{"x-api-key": key, "anthropic-version": "2023-06-01"},
		body: func(q string) any {
			return map[string]any{"model": model, "max_tokens": answerTokens, "temperature": 0, "messages": []any{map[string]any{"role": "user", "content": q}}}
		},
		text: func(data []byte) (string, error) {
			var answer struct{ Content []struct{ Type, Text string } }
			if err := json.Unmarshal(data, &answer); err != nil {
				return "", errAnswer
			}
			for _, block := range answer.Content {
				if block.Type == "text" {
					return block.Text, nil
				}
			}
			return "", errAnswer
		},
	}
}

func openai(base, key, model string) provider {
	url := base
	switch {
	case strings.HasSuffix(base, "/chat/completions"):
	case strings.HasSuffix(base, "/v1"):
		url += "/chat/completions"
	default:
		url += "/v1/chat/completions"
	}
	headers := map[string]string{}
	if key != "" {
		headers["Authorization"] = "Bearer " + key
	}
	return provider{
		url: url, headers: headers,
		body: func(q string) any {
			return map[string]any{"model": model, "max_tokens": answerTokens, "temperature": 0, "messages": []any{map[string]any{"role": "user", "content": q}}}
		},
		text: func(data []byte) (string, error) {
			var answer struct {
				Choices []struct{ Message struct{ Content string } }
			}
			if err := json.Unmarshal(data, &answer); err != nil || len(answer.Choices) == 0 {
				return "", errAnswer
			}
			return answer.Choices[0].Message.Content, nil
		},
	}
}

// httpModel asks over HTTP, with one retry on 429, 5xx and a lost or late answer.
type httpModel struct{ provider }

var (
	errRetry   = errors.New("worth a second try")
	errRefused = errors.New("the model cannot be asked") // and will not be able to be next time: the user should know
)

// retryPause is the pause before the second try where the server names none.
const retryPause = 200 * time.Millisecond

// Ask sends the question. The first try may take two thirds of the time that is left.
func (m httpModel) Ask(ctx context.Context, question string) (string, error) {
	body, err := json.Marshal(m.body(question))
	if err != nil {
		return "", err
	}
	first, cancel := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		first, cancel = context.WithTimeout(ctx, time.Until(deadline)*2/3)
	}
	text, pause, err := m.try(first, body)
	cancel()
	if !errors.Is(err, errRetry) || ctx.Err() != nil {
		return text, err
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
		return "", fmt.Errorf("%w, but not within the time left", err)
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	text, _, err = m.try(ctx, body)
	return text, err
}

func (m httpModel) try(ctx context.Context, body []byte) (text string, pause time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return "", 0, fmt.Errorf("%w: %w", errRefused, withoutURL(err))
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range m.headers {
		if strings.ContainsFunc(value, unicode.IsControl) {
			return "", 0, fmt.Errorf("%w: its key holds a control character", errRefused)
		}
		request.Header.Set(name, value)
	}
	client := http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key stays with its server
	}
	response, err := client.Do(request)
	if err != nil {
		return "", retryPause, fmt.Errorf("%w: %w", errRetry, withoutURL(err))
	}
	defer func() { _ = response.Body.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusRequestTimeout || response.StatusCode >= http.StatusInternalServerError:
		pause = retryPause
		if seconds, numErr := strconv.Atoi(response.Header.Get("Retry-After")); numErr == nil && seconds >= 0 {
			pause = time.Duration(min(seconds, 60)) * time.Second
		}
		return "", pause, fmt.Errorf("%w: the model's server answered %d", errRetry, response.StatusCode)
	case response.StatusCode != http.StatusOK:
		return "", 0, fmt.Errorf("%w: its server answered %d %s", errRefused, response.StatusCode, http.StatusText(response.StatusCode))
	case err != nil:
		return "", retryPause, fmt.Errorf("%w: %w", errRetry, err)
	}
	text, err = m.text(data)
	return text, 0, err
}

// withoutURL is an error of the client without the address, which may hold a secret of the user's.
func withoutURL(err error) error {
	type wrapper interface{ Unwrap() error }
	if w, ok := err.(wrapper); ok {
		return w.Unwrap()
	}
	return err
}
