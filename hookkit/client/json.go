package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/hookkit/brepl/hookkit/failure"
	"github.com/hookkit/brepl/hookkit/nrepl"
	"github.com/hookkit/brepl/hookkit/text"
)

// answer is what --json prints. Control characters and escape sequences are taken out of everything that the server sent.
type answer struct {
	OK     bool     `json:"ok"`
	Values []string `json:"values"`
	Ns     string   `json:"ns,omitempty"`
	Out    string   `json:"out"`
	Err    string   `json:"err"`
	// OutDropped and ErrDropped are how many bytes before Out and Err were not kept.
	OutDropped int64 `json:"outDropped,omitempty"`
	ErrDropped int64 `json:"errDropped,omitempty"`
	// ValuesDropped is how many values were cut or not kept.
	ValuesDropped int              `json:"valuesDropped,omitempty"`
	Failure       *failure.Failure `json:"failure,omitempty"`
	Interrupted   bool             `json:"interrupted,omitempty"`
	TimedOut      bool             `json:"timedOut,omitempty"`
	Server        string           `json:"server,omitempty"`
	MS            int64            `json:"ms"`
}

// printJSON prints the one object of --json. What err says is its failure.
func (r *run) printJSON(ctx context.Context, result nrepl.Result, report *report, err error) {
	a := answer{
		OK: err == nil && !result.Failed, Ns: result.Ns, Out: text.Clean(result.Out.Text), Err: text.Clean(result.Err.Text),
		OutDropped: result.Out.Dropped, ErrDropped: result.Err.Dropped, ValuesDropped: result.ValuesDropped,
		Interrupted: result.Interrupted, TimedOut: errors.Is(err, nrepl.ErrTimeout), MS: time.Since(r.start).Milliseconds(),
		Values: []string{},
	}
	for _, value := range result.Values {
		a.Values = append(a.Values, text.Clean(value))
	}
	if result.Status["nrepl.middleware.print/truncated"] {
		a.ValuesDropped = max(a.ValuesDropped, 1)
	}
	if report != nil {
		a.Failure = report.failure
	}
	if err != nil {
		a.Failure = &failure.Failure{Message: r.ended(ctx, err)}
	}
	if r.conn != nil {
		a.Server = r.conn.Target().Address()
	}
	r.show.line(jsonLine(a))
}

// hookAnswer is what brepl 2.7 prints with --hook.
type hookAnswer struct {
	Continue       bool     `json:"continue"`
	Decision       string   `json:"decision,omitempty"`
	SuppressOutput bool     `json:"suppressOutput"`
	StopReason     string   `json:"stopReason,omitempty"`
	Reason         string   `json:"reason,omitempty"`
	Warnings       []string `json:"warnings,omitempty"`
}

// printHook prints the answer of --hook. Code that throws or does not end in time blocks; where nothing was evaluated nothing is blocked.
func (r *run) printHook(ctx context.Context, result nrepl.Result, err error) {
	a := hookAnswer{Continue: true, SuppressOutput: true}
	timeout, _ := errors.AsType[*nrepl.TimeoutError](err)
	late := timeout != nil && timeout.Evaluating() && errors.Is(err, nrepl.ErrTimeout)
	switch {
	case err != nil && !late:
		a.Warnings = []string{r.ended(ctx, err)} // a decision other than block is no answer for the host
	case late || result.Failed:
		var parts []string
		if late {
			parts = append(parts, r.ended(ctx, err))
		}
		for _, part := range []string{result.Ex, result.Err.Text, result.Out.Text} {
			if part = strings.TrimSpace(text.Clean(part)); part != "" {
				parts = append(parts, part)
			}
		}
		if parts == nil {
			parts = []string{"Evaluation error occurred"}
		}
		a.Decision, a.StopReason = "block", strings.Join(parts, " | ")
		a.Reason = "Code evaluation failed:\n" + strings.Join(parts, "\n")
	}
	r.show.line(jsonLine(a))
}

func jsonLine(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	// Strings, numbers, booleans, lists and maps of them: they always encode.
	_ = encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
