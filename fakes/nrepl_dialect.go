package fakes

import "unicode/utf8"

// dialect is what differs between real nREPL servers, as data.
type dialect struct {
	ops         []string
	versions    map[string]any
	describeAux map[string]any

	// An out or err message holds at most chunk UTF-16 units. With splitsPairs
	// a character outside the basic plane that falls on the edge becomes "?" at
	// the end of one message and "?" at the start of the next.
	chunk       int
	splitsPairs bool

	// The statuses of one message each, in the order of the real server.
	done             []string
	evalError        []string
	needInput        []string
	unknownOp        []string
	unknownSession   []string
	noCode           []string
	closed           []string
	interrupted      []string // for the id of the evaluation; comes first
	interruptDone    []string // for the id of the interrupt
	sessionIdle      []string
	interruptOther   []string // the interrupt-id is not what is running
	sessionEphemeral []string // an interrupt without a session
}

// jvm100 is nREPL 1.0.0 with Clojure 1.11.1, as recorded.
func jvm100() dialect {
	return dialect{
		ops: []string{
			"add-middleware", "clone", "close", "completions", "describe", "eval", "interrupt", "load-file",
			"lookup", "ls-middleware", "ls-sessions", "sideloader-provide", "sideloader-start", "stdin", "swap-middleware",
		},
		versions: map[string]any{
			"clojure": map[string]any{"incremental": 1, "major": 1, "minor": 11, "version-string": "1.11.1"},
			"java":    map[string]any{"incremental": "15", "major": "17", "minor": "0", "version-string": "17.0.15"},
			"nrepl":   map[string]any{"incremental": 0, "major": 1, "minor": 0, "version-string": "1.0.0"},
		},
		describeAux:      map[string]any{"current-ns": "user"},
		chunk:            1024,
		splitsPairs:      true,
		done:             []string{"done"},
		evalError:        []string{"eval-error"},
		needInput:        []string{"need-input"},
		unknownOp:        []string{"done", "unknown-op", "error"},
		unknownSession:   []string{"done", "unknown-session", "error"},
		noCode:           []string{"done", "no-code", "error"},
		closed:           []string{"done", "session-closed"},
		interrupted:      []string{"done", "interrupted"},
		interruptDone:    []string{"done"},
		sessionIdle:      []string{"done", "session-idle"},
		interruptOther:   []string{"done", "interrupt-id-mismatch", "error"},
		sessionEphemeral: []string{"done", "session-ephemeral", "error"},
	}
}

// chunks cuts printed text into the messages in which the server sends it.
// Bytes that are not UTF-8 pass unchanged and count one unit each.
func (d *dialect) chunks(text string) []string {
	if d.chunk <= 0 {
		return []string{text}
	}
	var out []string
	var cur []byte
	units := 0
	flush := func() {
		out = append(out, string(cur))
		cur, units = cur[:0], 0
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		char := text[:size]
		text = text[size:]
		width := 1
		if r > 0xFFFF {
			width = 2
		}
		if width == 2 && units == d.chunk-1 {
			if d.splitsPairs {
				cur = append(cur, '?')
				flush()
				cur = append(cur, '?')
				units = 1
				continue
			}
			flush()
		}
		cur = append(cur, char...)
		if units += width; units >= d.chunk {
			flush()
		}
	}
	if units > 0 {
		flush()
	}
	return out
}
