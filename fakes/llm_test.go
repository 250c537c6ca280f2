package fakes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

// post posts to a fake and returns status, Retry-After and body.
func post(url, body string) (status int, retry, answer string, err error) {
	client := http.Client{Timeout: time.Minute}
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, "", "", err
	}
	request.Header.Set("X-Api-Key", "k1")
	response, err := client.Do(request)
	if err != nil {
		return 0, "", "", err
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header.Get("Retry-After"), string(data), err
}

func TestLLMAnswersInTheShapeOfItsPath(t *testing.T) {
	llm := fakes.NewLLM(t)
	llm.On(fakes.AnthropicPath).Header("x-api-key", "").Header("X-Api-Key", "k1").Contains("which", "one").Answer("yes \"x\"")
	llm.On(fakes.OpenAIPath).Confirm("A", "B")
	llm.On("/proxy" + fakes.OpenAIPath).Deny("A")

	status, _, body, err := post(llm.URL()+fakes.AnthropicPath, `{"q":"which one"}`)
	assert.NilError(t, err)
	assert.Equal(t, status, 200)
	var message struct {
		Type, Role string
		Content    []struct{ Type, Text string }
	}
	assert.NilError(t, json.Unmarshal([]byte(body), &message))
	assert.Equal(t, fmt.Sprint(message), `{message assistant [{text yes "x"}]}`)

	for path, want := range map[string]string{
		fakes.OpenAIPath:            `[{{assistant {"confirm":["A","B"],"deny":[]}}}]`,
		"/proxy" + fakes.OpenAIPath: `[{{assistant {"confirm":[],"deny":["A"]}}}]`,
	} {
		_, _, body, err = post(llm.URL()+path, "{}")
		assert.NilError(t, err)
		var chat struct {
			Choices []struct {
				Message struct{ Role, Content string }
			}
		}
		assert.NilError(t, json.Unmarshal([]byte(body), &chat))
		assert.Equal(t, fmt.Sprint(chat.Choices), want)
	}
	requests := llm.Requests()
	assert.Equal(t, len(requests), 3)
	assert.Equal(t, requests[0].Body, `{"q":"which one"}`)
	assert.Equal(t, requests[0].Header.Get("X-Api-Key"), "k1")
	assert.Equal(t, requests[0].Method+" "+requests[0].Path, "POST /v1/messages")
}

func TestLLMFaults(t *testing.T) {
	llm := fakes.NewLLM(t)
	url := llm.URL() + fakes.AnthropicPath
	llm.On(fakes.AnthropicPath).RateLimited(1500*time.Millisecond).RateLimited(0).ServerError().HTML().InvalidJSON().
		Truncated(strings.Repeat("long ", 100)).Reset().Slow(30*time.Millisecond, "late").Smuggle("run rm -rf", "TECH_DEBT")

	status, retry, body, err := post(url, "")
	assert.NilError(t, err)
	assert.Equal(t, fmt.Sprintf("%d %q", status, retry), `429 "2"`)
	assert.Assert(t, cmp.Contains(body, "rate_limit_error"))
	status, retry, _, err = post(url, "")
	assert.NilError(t, err)
	assert.Equal(t, fmt.Sprintf("%d %q", status, retry), `429 ""`)
	status, _, body, err = post(url, "")
	assert.NilError(t, err)
	assert.Equal(t, status, 500)
	assert.Assert(t, cmp.Contains(body, "api_error"))
	status, _, body, err = post(url, "")
	assert.NilError(t, err)
	assert.Equal(t, status, 200)
	assert.Assert(t, strings.HasPrefix(body, "<!DOCTYPE html>"))
	_, _, body, err = post(url, "")
	assert.NilError(t, err)
	assert.Assert(t, !json.Valid([]byte(body)))
	_, _, body, err = post(url, "")
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Assert(t, cmp.Contains(body, "long long"))
	_, _, _, err = post(url, "")
	assert.ErrorContains(t, err, "reset")
	start := time.Now()
	_, _, body, err = post(url, "")
	assert.NilError(t, err)
	assert.Assert(t, time.Since(start) >= 30*time.Millisecond)
	assert.Assert(t, cmp.Contains(body, "late"))
	_, _, body, err = post(url, "")
	assert.NilError(t, err)
	assert.Equal(t, strings.Count(body, "run rm -rf"), 4)
	assert.Assert(t, cmp.Contains(body, "TECH_DEBT"))
}

func TestLLMHangsUntilItEnds(t *testing.T) {
	llm, err := fakes.StartLLM()
	assert.NilError(t, err)
	llm.On("/x").Hang()
	failed := make(chan error, 1)
	go func() {
		_, _, _, err := post(llm.URL()+"/x", "")
		failed <- err
	}()
	assert.Assert(t, eventually(func() bool { return len(llm.Requests()) == 1 }))
	llm.Close()
	assert.Assert(t, <-failed != nil)
	llm.Close()
	assert.Equal(t, len(llm.Problems()), 0)
}

func TestLLMIsStrict(t *testing.T) {
	r := newRecorder(t)
	llm := fakes.NewLLM(r)
	llm.On("/a").Header("X-Missing", "").Answer("1")
	llm.On("/a").Header("X-Api-Key", "other").Answer("2")
	llm.On("/a").Contains("needle").Answer("3").Answer("4")
	llm.On("/empty")
	llm.On("/any").Answer("5").AnyTimes()
	for range 2 {
		status, _, _, err := post(llm.URL()+"/any", "")
		assert.NilError(t, err)
		assert.Equal(t, status, 200)
	}
	status, _, _, err := post(llm.URL()+"/a", "a needle")
	assert.NilError(t, err)
	assert.Equal(t, status, 200)
	status, _, _, err = post(llm.URL()+"/a", "hay")
	assert.NilError(t, err)
	assert.Equal(t, status, http.StatusTeapot)
	response, err := http.Get(llm.URL() + "/b")
	assert.NilError(t, err)
	assert.NilError(t, response.Body.Close())
	assert.DeepEqual(t, r.finish(), []string{
		`fakes.LLM: no expectation for POST /a with body "hay": POST /a: no header X-Missing; ` +
			`POST /a: header X-Api-Key is not "other"; POST /a: the body has no "needle"; POST /any: the path differs`,
		`fakes.LLM: no expectation for GET /b with body "": POST /a: the method is GET; POST /a: the method is GET; ` +
			`POST /a: the method is GET; POST /any: the method is GET`,
		"fakes.LLM: expectation not used: POST /a: expected once, used 0 times",
		"fakes.LLM: expectation not used: POST /a: expected once, used 0 times",
		"fakes.LLM: expectation not used: POST /a: expected 2 times, used once",
		"fakes.LLM: expectation not used: POST /empty: it has no reply",
	})
}

// A request larger than the bound is no request that a client has reason to
// send.
func TestLLMBoundsTheBody(t *testing.T) {
	llm, err := fakes.StartLLM()
	assert.NilError(t, err)
	defer llm.Close()
	_, _, _, _ = post(llm.URL()+"/x", strings.Repeat("x", 9<<20)) // it may hang up while we send
	assert.Assert(t, eventually(func() bool { return len(llm.Problems()) == 1 }))
	assert.Assert(t, cmp.Contains(llm.Problems()[0], "a request to /x that cannot be read"))
}
