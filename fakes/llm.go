package fakes

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// The paths at which real model servers answer.
const (
	// AnthropicPath is the Messages API. [LLMExpect.Answer] there has its shape.
	AnthropicPath = "/v1/messages"
	// OpenAIPath is the Chat Completions API, which many servers speak.
	OpenAIPath = "/v1/chat/completions"
)

// maxLLMBody bounds the request that the fake reads; a client has no reason to
// send more.
const maxLLMBody = 8 << 20

// LLM is a scripted model server: HTTP on a loopback port. Give its [LLM.URL]
// to the program under test in place of the provider's address.
//
// It is strict. A request that no expectation foresees fails the test at once
// and is answered with status 418; a reply that no request asked for fails it
// at the end. All methods may be called from any goroutine.
type LLM struct {
	t       T // nil outside of tests
	ln      net.Listener
	server  *http.Server
	closing chan struct{}
	wg      sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	expects  []*LLMExpect
	requests []LLMRequest
	problems []string
}

// LLMRequest is one request as it arrived.
type LLMRequest struct {
	Method string
	Path   string // with the query
	Header http.Header
	Body   string
}

// NewLLM starts a server that ends with the test.
func NewLLM(t T) *LLM {
	t.Helper()
	l, err := startLLM(t)
	if err != nil {
		t.Fatalf("fakes: cannot start the model server: %v", err)
		return nil
	}
	t.Cleanup(l.Close)
	return l
}

// StartLLM starts a server outside of a test. Ask [LLM.Problems] for what would
// have failed a test, and end it with [LLM.Close].
func StartLLM() (*LLM, error) { return startLLM(nil) }

func startLLM(t T) (*LLM, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &LLM{t: t, ln: ln, closing: make(chan struct{})}
	l.server = &http.Server{Handler: http.HandlerFunc(l.serve), ReadHeaderTimeout: 10 * time.Second}
	l.wg.Go(func() { _ = l.server.Serve(ln) }) // ends with http.ErrServerClosed
	return l, nil
}

// URL returns the server's address, "http://127.0.0.1:4711", without a slash at
// its end.
func (l *LLM) URL() string { return "http://" + l.ln.Addr().String() }

// Close ends the server, running requests included, and then reports the
// replies that nothing asked for. Closing twice is fine.
func (l *LLM) Close() {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if !first {
		return
	}
	close(l.closing)
	_ = l.server.Close() // connections that are gone are no loss
	l.wg.Wait()
	for _, e := range l.expects {
		if len(e.replies) == 0 {
			l.problem("expectation not used: %s: it has no reply", e)
		} else if e.used < len(e.replies) && !e.any {
			l.problem("expectation not used: %s: expected %s, used %s", e, times(len(e.replies)), times(e.used))
		}
	}
}

// Requests returns what arrived so far, in order, also what was not foreseen.
func (l *LLM) Requests() []LLMRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.requests)
}

// Problems returns what was wrong so far: requests that nothing foresaw and,
// after [LLM.Close], replies that nothing asked for. With a T each was reported
// as an error too.
func (l *LLM) Problems() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.problems)
}

func (l *LLM) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.mu.Lock()
	l.problems = append(l.problems, text)
	l.mu.Unlock()
	if l.t != nil {
		l.t.Errorf("fakes.LLM: %s", text)
	}
}

func (l *LLM) serve(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.wg.Add(1) // Close waits for what it reports
	l.mu.Unlock()
	defer l.wg.Done()

	request, err := readLLMRequest(w, r)
	l.mu.Lock()
	l.requests = append(l.requests, request)
	var reply llmReply
	var why []string
	if err == nil {
		reply, why = l.match(request)
	}
	l.mu.Unlock()
	switch {
	case err != nil:
		l.problem("a request to %s that cannot be read: %v", request.Path, err)
		w.WriteHeader(http.StatusTeapot)
	case reply == nil:
		if len(why) == 0 {
			why = []string{"nothing is expected any more"}
		}
		l.problem("no expectation for %s %s with body %s: %s", request.Method, request.Path, clipped(request.Body), strings.Join(why, "; "))
		w.WriteHeader(http.StatusTeapot)
	default:
		reply(llmExchange{l: l, w: w, r: r})
	}
}

// match finds the reply to a request, or why each expectation that is left does
// not want it. l.mu is held.
func (l *LLM) match(r LLMRequest) (llmReply, []string) {
	var why []string
	for _, e := range l.expects {
		if len(e.replies) == 0 || e.used >= len(e.replies) && !e.any {
			continue
		}
		if miss := e.miss(r); miss != "" {
			why = append(why, fmt.Sprintf("%s: %s", e, miss))
			continue
		}
		i := min(e.used, len(e.replies)-1)
		e.used++
		return e.replies[i], nil
	}
	return nil, why
}

// clipped is text for a failure message.
func clipped(text string) string {
	const most = 2000
	if len(text) > most {
		return fmt.Sprintf("%q… (%d bytes)", text[:most], len(text))
	}
	return fmt.Sprintf("%q", text)
}
