package nrepl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrNoServer says that there is nothing to talk to: no port is known, the
	// connection was refused, or what answered does not speak bencode.
	ErrNoServer = errors.New("no nREPL server")
	// ErrClosed says that the server went away: it closed or reset the
	// connection before the answer was complete.
	ErrClosed = errors.New("the nREPL server closed the connection")
	// ErrTimeout says that the context's deadline passed before the answer was
	// complete. The server may be busy.
	ErrTimeout = errors.New("the nREPL server did not answer in time")
)

// NoServerError is ErrNoServer with the places that were looked at.
type NoServerError struct {
	// Tried has one line for each place, in the order in which they were
	// tried: what it was and why it did not do.
	Tried []string
	// Dir is the project for which a server was looked for among the running
	// ones too, "" if that was not asked for.
	Dir string
}

func (e *NoServerError) Error() string {
	if e.Dir != "" {
		tried := e.Tried
		if len(tried) == 0 {
			tried = []string{"no --port, no .nrepl-port, and BREPL_PORT is not set"}
		}
		return fmt.Sprintf("no nREPL server: %s; and no server of yours runs in %s. Start one there, or give --port; `brepl ls` shows all", strings.Join(tried, "; "), e.Dir)
	}
	if len(e.Tried) == 0 {
		return "no nREPL server: no --port, no .nrepl-port file, and BREPL_PORT is not set. Start a REPL, or give --port"
	}
	return "no nREPL server: " + strings.Join(e.Tried, "; ")
}

// Is makes errors.Is(err, ErrNoServer) true.
func (e *NoServerError) Is(target error) bool { return target == ErrNoServer }

// TimeoutError says which call ended because of its context, and after how
// long. errors.Is finds ErrTimeout in it when the deadline passed, and
// context.Canceled when the caller gave up.
type TimeoutError struct {
	Op    string // "eval", "load-file", "clone", …; "raw eval" and the like for Conn.Raw
	Addr  string // address of the server
	After time.Duration
	// Stopped says that an evaluation is known to have ended, because the
	// server confirmed it after the interrupt. If false, the code may still run.
	Stopped bool
	waiting bool  // another call on the same connection was still running
	cause   error // context.DeadlineExceeded or context.Canceled
}

func (e *TimeoutError) Error() string {
	op, after := strings.TrimPrefix(e.Op, "raw "), e.After.Round(time.Millisecond)
	switch {
	case e.waiting:
		return fmt.Sprintf("%s: %s was not sent within %s, another call on the connection was running", e.Addr, op, after)
	case e.Op == "connect":
		return fmt.Sprintf("%s did not accept the connection within %s", e.Addr, after)
	}
	if e.Evaluating() {
		verb := "timed out"
		if errors.Is(e.cause, context.Canceled) {
			verb = "was canceled"
		}
		if e.Stopped {
			return fmt.Sprintf("the evaluation %s after %s and was interrupted", verb, after)
		}
		return fmt.Sprintf("the evaluation %s after %s; the server did not confirm the interrupt, the code may still be running", verb, after)
	}
	if errors.Is(e.cause, context.Canceled) {
		return fmt.Sprintf("%s: %s was canceled after %s", e.Addr, op, after)
	}
	return fmt.Sprintf("%s accepted the connection but did not answer %q within %s; the server may be busy", e.Addr, op, after)
}

// Evaluating says whether code was sent to be evaluated in a session, and may
// have run.
func (e *TimeoutError) Evaluating() bool {
	return !e.waiting && (e.Op == "eval" || e.Op == "load-file")
}

// Is makes errors.Is(err, ErrTimeout) true when the deadline passed.
func (e *TimeoutError) Is(target error) bool {
	return target == ErrTimeout && !errors.Is(e.cause, context.Canceled)
}

func (e *TimeoutError) Unwrap() error { return e.cause }

// OpError is a server's refusal of an operation that is not an evaluation.
type OpError struct {
	Op     string
	Status Status // for example "unknown-op", "error", "done"
}

func (e *OpError) Error() string {
	if e.Status["unknown-op"] {
		return fmt.Sprintf("the nREPL server does not know the op %q", e.Op)
	}
	return fmt.Sprintf("the nREPL server refused the op %q: status %s", e.Op, e.Status)
}

// ProtocolError says that the peer sent something that is not bencode, or is
// bencode over our limits. The connection cannot be used after it.
type ProtocolError struct {
	// Head holds the first bytes of the offending message, at most 48; empty
	// where the bytes are bencode but what they say is not an answer.
	Head string
	// Reason says what is wrong with it.
	Reason string
	// later says that there were good messages before: it is a server.
	later bool
}

func (e *ProtocolError) Error() string {
	if name := speaks(e.Head); name != "" && !e.later {
		return fmt.Sprintf("the port speaks %s, not nREPL (it sent %q)", name, e.Head)
	}
	text := "the port does not speak nREPL: " + e.Reason
	if e.later {
		text = "the nREPL server sent a message that cannot be read: " + e.Reason
	}
	if e.Head != "" {
		text += fmt.Sprintf(" (it sent %q)", e.Head)
	}
	return text
}

// speaks names the protocol that begins like head, or returns "". These are
// the ones that end up in a port file or a --port by mistake.
func speaks(head string) string {
	for _, p := range []struct{ prefix, name string }{
		{"HTTP/", "HTTP"},
		{"SSH-", "SSH"},
		{"-ERR", "Redis"},
		{"-NOAUTH", "Redis"},
		{"-DENIED", "Redis"},
		{"220 ", "SMTP or FTP"},
		{"220-", "SMTP or FTP"},
		{"\x15\x03", "TLS"},
		{"{:tag", "pREPL"},
	} {
		if strings.HasPrefix(head, p.prefix) {
			return p.name
		}
	}
	// A socket REPL greets with its prompt: "user=> ".
	if ns, _, found := strings.Cut(head, "=> "); found && ns != "" && !strings.ContainsAny(ns, " :\r\n") {
		return "a plain text socket REPL"
	}
	return ""
}
