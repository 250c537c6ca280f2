package hookkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

func allHandlers(log *[]string) Handlers {
	note := func(e Event) {
		c := e.Base()
		*log = append(*log, fmt.Sprintf("%s %s %s", e.Name(), c.SessionID, c.CWD))
	}
	return Handlers{
		Stop: func(_ context.Context, e *Stop) (StopDecision, error) {
			note(e)
			return BlockStop("not yet").TellUser("blocked"), nil
		},
		SubagentStop: func(_ context.Context, e *SubagentStop) (StopDecision, error) {
			note(e)
			return AllowStop(), nil
		},
		PreToolUse: func(_ context.Context, e *PreToolUse) (PreToolUseDecision, error) {
			note(e)
			return AllowTool().TellUser("pre"), nil
		},
		PostToolUse: func(_ context.Context, e *PostToolUse) (PostToolUseDecision, error) {
			note(e)
			return AcceptResult().TellUser("post"), nil
		},
		PostToolUseFailure: func(_ context.Context, e *PostToolUseFailure) (PostToolUseDecision, error) {
			note(e)
			return AcceptResult().TellUser("failure"), nil
		},
		SessionStart: func(_ context.Context, e *SessionStart) (SessionStartDecision, error) {
			note(e)
			return AddContext("start"), nil
		},
		SessionEnd: func(_ context.Context, e *SessionEnd) error {
			note(e)
			return nil
		},
		UserPromptSubmit: func(_ context.Context, e *UserPromptSubmit) (UserPromptSubmitDecision, error) {
			note(e)
			return AllowPrompt().TellAgent("prompt"), nil
		},
		Other: func(_ context.Context, e *Other) (OtherDecision, error) {
			note(e)
			return PassEvent().TellUser("other"), nil
		},
	}
}

func TestRunDispatches(t *testing.T) {
	tests := []struct {
		input  string
		called string
		exit   int
		stdout string
		stderr string
	}{
		{`{"hook_event_name":"Stop","session_id":"s","cwd":"/c"}`, "Stop s /c", 2, `{"systemMessage":"blocked"}`, "not yet"},
		{`{"hook_event_name":"Stop"}`, "Stop unknown /dir", 2, `{"systemMessage":"blocked"}`, "not yet"},
		{`{"hook_event_name":"SubagentStop","session_id":"s"}`, "SubagentStop s /dir", 0, `{"decision":"approve"}`, ""},
		{`{"hook_event_name":"PreToolUse","session_id":"s"}`, "PreToolUse s /dir", 0, `{"systemMessage":"pre"}`, ""},
		{`{"hook_event_name":"PostToolUse","session_id":"s"}`, "PostToolUse s /dir", 0, `{"systemMessage":"post"}`, ""},
		{`{"hook_event_name":"PostToolUseFailure","session_id":"s"}`, "PostToolUseFailure s /dir", 0, `{"systemMessage":"failure"}`, ""},
		{`{"hook_event_name":"SessionStart","session_id":"s"}`, "SessionStart s /dir", 0, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"start"}}`, ""},
		{`{"hook_event_name":"SessionEnd","session_id":"s"}`, "SessionEnd s /dir", 0, "", ""},
		{`{"hook_event_name":"UserPromptSubmit","session_id":"s"}`, "UserPromptSubmit s /dir", 0, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"prompt"}}`, ""},
		{`{"hook_event_name":"PreCompact","session_id":"s"}`, "PreCompact s /dir", 0, `{"systemMessage":"other"}`, ""},
		{`{"hook_event_name":"NewlyMade"}`, "NewlyMade unknown /dir", 0, `{"systemMessage":"other"}`, ""},
		{`{"session_id":"s"}`, "", 0, "", "the event has no hook_event_name, and this hook serves several events: nothing was done"},
		{`{"hook_type":"postRequest","chat_id":"c"}`, "Stop c /dir", 2, "", "not yet"},
	}
	for _, c := range tests {
		t.Run(c.input, func(t *testing.T) {
			var log []string
			var out, errOut bytes.Buffer
			code := Run(t.Context(), IO{In: strings.NewReader(c.input), Out: &out, Err: &errOut, Dir: "/dir"}, allHandlers(&log))
			assert.Equal(t, code, c.exit)
			assert.Equal(t, strings.Join(log, ","), c.called)
			assert.Equal(t, out.String(), line(c.stdout))
			assert.Equal(t, errOut.String(), line(c.stderr))

			// Without a handler every event passes in silence.
			out.Reset()
			errOut.Reset()
			code = Run(t.Context(), IO{In: strings.NewReader(c.input), Out: &out, Err: &errOut}, Handlers{})
			assert.Equal(t, code, 0)
			assert.Equal(t, out.String()+errOut.String(), "")
		})
	}
}

func TestRunFailuresAreNeverABlock(t *testing.T) {
	// Pins "Never 2 by accident": every failure of our own ends with 1, or 0, and says why.
	stop := func(d StopDecision, err error) Handlers {
		return Handlers{Stop: func(context.Context, *Stop) (StopDecision, error) { return d, err }}
	}
	const event = `{"hook_event_name":"Stop"}`
	tests := []struct {
		name, input string
		handlers    Handlers
		options     []Option
		exit        int
		stderr      string
	}{
		{"not JSON", "nonsense", stop(BlockStop("x"), nil), nil, 1, "the event is not a JSON object: unexpected 'n' at byte 1, where an object should start with {\n"},
		{"half", `{"a`, stop(BlockStop("x"), nil), nil, 1, "the event is not a JSON object: the input ended too early: 3 bytes arrived, ending in \"{\\\"a\"\n"},
		{"half, discreetly", `{"a`, stop(BlockStop("x"), nil), []Option{Discreet()}, 1, "the event is not a JSON object: the input ended too early: 3 bytes arrived, ending in … (3 bytes of the event are not shown)\n"},
		{"no JSON, discreetly", `{"a":secret`, stop(BlockStop("x"), nil), []Option{Discreet()}, 1, "the event is not a JSON object: unexpected … (1 byte of the event is not shown) at byte 6, where a value should start\n"},
		{"an array", `[]`, stop(BlockStop("x"), nil), nil, 1, "the event is not a JSON object: an array where an object should start with {\n"},
		{"too large", event, stop(BlockStop("x"), nil), []Option{Limit(ReadLimits{Bytes: 5})}, 1, "the event is too large: more than 5 bytes\n"},
		{"nothing, and no telling for which event", "", Handlers{}, nil, 1, "no event on stdin\n"},
		{"error", event, stop(BlockStop("x"), errors.New("disk full")), nil, 1, "disk full\n"},
		{"error that chooses 2", event, stop(BlockStop("x"), &ExitError{Code: 2, Err: errors.New("e")}), nil, 1, "e\n"},
		{"error that chooses 0", event, stop(BlockStop("x"), fmt.Errorf("wrapped: %w", &ExitError{Code: 0, Err: errors.New("e")})), nil, 0, "wrapped: e\n"},
		{"error without text", event, stop(BlockStop("x"), &ExitError{Code: 7}), nil, 1, "exit status 7\n"},
		{"fail open, not JSON", "nonsense", stop(BlockStop("x"), nil), []Option{FailOpen()}, 0, "the event is not a JSON object: unexpected 'n' at byte 1, where an object should start with {\n"},
		{"fail open, error", event, stop(BlockStop("x"), errors.New("disk full")), []Option{FailOpen()}, 0, "disk full\n"},
		{"SessionEnd error", `{"hook_event_name":"SessionEnd"}`, Handlers{SessionEnd: func(context.Context, *SessionEnd) error { return errors.New("e") }}, nil, 1, "e\n"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := Run(t.Context(), IO{In: strings.NewReader(c.input), Out: &out, Err: &errOut}, c.handlers, c.options...)
			assert.Equal(t, code, c.exit)
			assert.Equal(t, out.String(), "")
			assert.Equal(t, errOut.String(), c.stderr)
		})
	}
}

func TestRunPanic(t *testing.T) {
	// Pins "recover at the one command boundary".
	var out, errOut bytes.Buffer
	code := Run(t.Context(), IO{In: strings.NewReader(`{"hook_event_name":"Stop"}`), Out: &out, Err: &errOut}, Handlers{
		Stop: func(context.Context, *Stop) (StopDecision, error) { panic("kaboom") },
	})
	assert.Equal(t, code, 1)
	assert.Equal(t, out.String(), "")
	first, rest, _ := strings.Cut(errOut.String(), "\n")
	assert.Equal(t, first, "internal error, nothing was decided: panic: kaboom")
	top, _, _ := strings.Cut(rest, "\n")
	assert.Assert(t, strings.Contains(top, "TestRunPanic"), "the stack should start at the panic: %s", rest)
	assert.Assert(t, strings.Count(rest, "\n") <= 16, "the stack is long:\n%s", rest)
}

func TestRunWithoutAnEvent(t *testing.T) {
	tests := []struct {
		name    string
		io      IO
		options []Option
		want    string
		exit    int
	}{
		{"fault 3: empty", IO{In: strings.NewReader("")}, []Option{Expect(EventStop)}, "Stop unknown /dir", 2},
		{"fault 3: a blank line", IO{In: strings.NewReader("\n")}, []Option{Expect(EventStop)}, "Stop unknown /dir", 2},
		{"fault 3: no stdin", IO{}, []Option{Expect(EventStop)}, "Stop unknown /dir", 2},
		{"a terminal is not read", IO{In: forbidden{t}, Terminal: true}, []Option{Expect(EventStop)}, "Stop manual /dir", 2},
		{"a terminal, and no telling for which event", IO{In: forbidden{t}, Terminal: true}, nil, "", 1},
		{"an event without a name", IO{In: strings.NewReader(`{"session_id":"s","cwd":"/c"}`)}, []Option{Expect(EventStop)}, "Stop s /c", 2},
		{"a name beats the expectation", IO{In: strings.NewReader(`{"session_id":"s","hook_event_name":"SessionEnd"}`)}, []Option{Expect(EventStop)}, "SessionEnd s /dir", 0},
		{"an event without a type", IO{In: strings.NewReader("")}, []Option{Expect(EventNotification)}, "Notification unknown /dir", 0},
		{"host given", IO{In: strings.NewReader("")}, []Option{Expect(EventStop), ForHost(Portable)}, "Stop unknown /dir", 2},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			var log []string
			c.io.Dir = "/dir"
			assert.Equal(t, Run(t.Context(), c.io, allHandlers(&log), c.options...), c.exit)
			assert.Equal(t, strings.Join(log, ","), c.want)
		})
	}
}

func TestRunInfersTheEventOfItsOneHandler(t *testing.T) {
	called := false
	code := Run(t.Context(), IO{}, Handlers{Stop: func(_ context.Context, e *Stop) (StopDecision, error) {
		called = true
		assert.Equal(t, e.SessionID, SessionUnknown)
		return AllowStop(), nil
	}})
	assert.Equal(t, code, 0)
	assert.Assert(t, called)
}

func TestRunOtherAlone(t *testing.T) {
	// A handler for all events without a type names none: nothing on stdin is no event, and an event without a name is handed over.
	for input, want := range map[string]struct {
		exit   int
		called bool
		stderr string
	}{
		"":                                      {1, false, "no event on stdin\n"},
		`{"session_id":"s"}`:                    {0, true, ""},
		`{"hook_event_name":"Stop"}`:            {0, false, ""},
		`{"hook_event_name":"PreCompact"}`:      {0, true, ""},
		`{"hook_event_name":"", "cwd":"/else"}`: {0, true, ""},
	} {
		called := false
		var errOut bytes.Buffer
		code := Run(t.Context(), IO{In: strings.NewReader(input), Err: &errOut}, Handlers{
			Other: func(context.Context, *Other) (OtherDecision, error) { called = true; return PassEvent(), nil },
		})
		assert.Equal(t, code, want.exit, input)
		assert.Equal(t, called, want.called, input)
		assert.Equal(t, errOut.String(), want.stderr, input)
	}
}

func TestRunHostOverride(t *testing.T) {
	var log []string
	var out bytes.Buffer
	code := Run(t.Context(), IO{In: strings.NewReader(`{"hook_event_name":"Stop"}`), Out: &out}, allHandlers(&log), ForHost(Portable))
	assert.Equal(t, code, 2)
	assert.Equal(t, out.String(), `{"decision":"block","reason":"not yet","systemMessage":"blocked"}`+"\n")
}

func TestRunWritesStderrFirst(t *testing.T) {
	// Pins: a closed stdout cannot lose a block, nor can a closed stderr.
	var order []string
	streams := IO{
		In:  strings.NewReader(`{"hook_event_name":"Stop"}`),
		Out: writer(func([]byte) (int, error) { order = append(order, "stdout"); return 0, io.ErrClosedPipe }),
		Err: writer(func([]byte) (int, error) { order = append(order, "stderr"); return 0, io.ErrClosedPipe }),
	}
	var log []string
	assert.Equal(t, Run(t.Context(), streams, allHandlers(&log)), 2)
	assert.DeepEqual(t, order, []string{"stderr", "stdout"})
}

func TestRunObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []Observation
		Run(t.Context(), IO{In: slow{strings.NewReader(`{"hook_event_name":"Stop","session_id":"s"}`)}}, Handlers{
			Stop: func(context.Context, *Stop) (StopDecision, error) {
				time.Sleep(3 * time.Second)
				return BlockStop("r"), nil
			},
		}, Observe(func(o Observation) { seen = append(seen, o) }))
		assert.Equal(t, len(seen), 1)
		assert.Equal(t, seen[0].Event.Base().SessionID, "s")
		assert.Equal(t, seen[0].Output.Exit, 2)
		assert.NilError(t, seen[0].Err)
		assert.Equal(t, seen[0].Read, time.Second)
		assert.Equal(t, seen[0].Handling, 3*time.Second)
	})
}

func TestRunObservesAfterWriting(t *testing.T) {
	// An observer that panics changes neither what the host reads nor the exit code.
	var out, errOut bytes.Buffer
	code := Run(t.Context(), IO{In: strings.NewReader(`{"hook_event_name":"Stop"}`), Out: &out, Err: &errOut}, Handlers{
		Stop: func(context.Context, *Stop) (StopDecision, error) { return BlockStop("no"), nil },
	}, Observe(func(Observation) {
		assert.Check(t, out.String() == "{}\n" && errOut.String() == "no\n", "%q %q", out.String(), errOut.String())
		panic("in the observer")
	}))
	assert.Equal(t, code, 2)
	assert.Equal(t, out.String(), "{}\n")
	assert.Equal(t, errOut.String(), "no\n")
}

func TestRunGivesTheEnvironment(t *testing.T) {
	env := []string{"A=1", "CLAUDE_PROJECT_DIR=/project", "A=2=3"}
	for _, input := range []string{`{"hook_event_name":"Stop","cwd":"/c"}`, ""} {
		asked := false
		Run(t.Context(), IO{In: strings.NewReader(input), Env: env}, Handlers{Stop: func(_ context.Context, e *Stop) (StopDecision, error) {
			asked = true
			assert.Equal(t, e.Getenv("A"), "2=3")
			assert.Equal(t, e.Getenv("B"), "")
			assert.Equal(t, e.ProjectDir(), "/project")
			return AllowStop(), nil
		}})
		assert.Assert(t, asked)
	}
	c := Common{CWD: "/c"}
	assert.Equal(t, c.ProjectDir(), "/c")
}

func TestRunKnowsClaudeByItsEnvironment(t *testing.T) {
	// CLAUDECODE=1 settles what the fields leave open: not what is another host's own format, nor Codex's transcript.
	tests := []struct {
		input string
		want  Host
	}{
		{`{"hook_event_name":"Stop","turn_id":"t","model":"m"}`, Claude},
		{`{"hook_event_name":"Stop","timestamp":1,"stop_reason":"end_turn"}`, Claude},
		{`{"hook_event_name":"Stop","turn_id":"t","model":"m","transcript_path":"/h/.codex/sessions/r.jsonl"}`, Codex},
		{`{"hook_event_name":"AfterAgent"}`, Gemini},
		{`{"hook_type":"postRequest"}`, ECA},
	}
	for _, c := range tests {
		var got Host
		Run(t.Context(), IO{In: strings.NewReader(c.input), Env: []string{"CLAUDECODE=1"}}, Handlers{
			Stop: func(_ context.Context, e *Stop) (StopDecision, error) { got = e.Host; return AllowStop(), nil },
		})
		assert.Equal(t, got, c.want, c.input)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// forbidden is a stdin that must not be read.
type forbidden struct{ t *testing.T }

func (f forbidden) Read([]byte) (int, error) {
	f.t.Error("stdin was read")
	return 0, io.EOF
}

// slow answers each read after a second.
type slow struct{ r io.Reader }

func (s slow) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return s.r.Read(p)
}
