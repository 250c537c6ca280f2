package fakes

import (
	"strings"
	"unicode/utf8"
)

// dialect is what differs between real nREPL servers, as data. The values of
// each preset are in nrepl_preset.go.
type dialect struct {
	name       string
	ops        []string
	versions   map[string]any
	aux        map[string]any // in the answer to describe; nil: absent
	middleware []string       // in the answer to describe; nil: absent

	// An out or err message holds at most chunk UTF-16 units; 0 is no bound.
	// With splitsPairs a character outside the basic plane that falls on the
	// edge becomes "?" at the end of one message and "?" at the start of the
	// next. With newlineAlone the end of a line is a message of its own.
	chunk        int
	splitsPairs  bool
	newlineAlone bool
	stderrAsOut  bool // what the code prints to stderr comes as out
	outAtEnd     bool // one message for all output, before the value or the error

	// Of several values of one evaluation only the last is sent.
	lastValue     bool // by eval
	lastValueLoad bool // by load-file
	nsWithLoad    bool // values of load-file name the ns
	nsWithDone    bool // the final message names the ns
	nsGlobal      bool // the current ns is the server's, not the session's
	missingNs     missingNs
	failedNs      Message // what missingNsThrows throws; {ns} is the ns

	afterError   afterError
	evalError    []string // nil: an error has no status of its own
	errorInOne   bool     // err and ex travel in one message
	errorNamesNs bool     // the message with ex names the ns
	noRootEx     bool
	// What Exception sends. {short} is the class without its package; {class},
	// {message} and {quoted}, the message in quotes, stand for what they say.
	exceptionErr string
	exceptionEx  string

	session        sessionRule
	cloneSession   sessionRule // of the answer to a clone without a session
	looseSessions  bool        // an unknown session is evaluated as if it were there
	missingID      any         // the id of an answer to a message without one; nil: absent
	idAsText       bool        // an integer id comes back as a string
	turns          turns
	interrupts     interruptRule
	malformed      malformedRule
	textLineHangs  bool // a line or column that is a string is never answered
	unknownOpNames bool // the answer to an unknown op names it

	// The statuses of one message each, in the order of the real server.
	done             []string
	needInput        []string // nil: input is never asked for
	unknownOp        []string
	unknownSession   []string
	unknownNs        []string
	closed           []string
	interrupted      []string // for the id of the evaluation; comes first
	interruptDone    []string // for the id of the interrupt
	sessionIdle      []string
	interruptOther   []string // the interrupt-id is not what is running
	sessionEphemeral []string // an interrupt without a session

	noCode []Message // the answer to an eval without code
}

// missingNs is what a server does with an eval in a namespace that is not there.
type missingNs uint8

const (
	missingNsRefused missingNs = iota // answered with the statuses of unknownNs
	missingNsThrows                   // an error like any other
	missingNsIgnored                  // evaluated in the current namespace; ns has no effect at all
)

// afterError is what happens to the forms that follow one that threw.
type afterError uint8

const (
	afterErrorGoesOn afterError = iota
	afterErrorStops
)

// sessionRule is what "session" is in an answer to a message without one.
type sessionRule struct {
	kind sessionKind
	name string
}

type sessionKind uint8

const (
	sessionFresh sessionKind = iota // an id nobody has seen
	sessionNamed                    // always the same name
	sessionNone                     // there is none
)

// turns is what waits for a running evaluation.
type turns uint8

const (
	turnsSession    turns = iota // evaluations of the same session
	turnsConnection              // everything on the connection
	turnsServer                  // everything, on every connection
)

// interruptRule is what an interrupt does.
type interruptRule uint8

const (
	interruptStops   interruptRule = iota
	interruptUnknown               // an unknown op
	interruptIdle                  // answered as in an idle session, without effect
)

// malformedRule is what bytes do that are no bencode.
type malformedRule uint8

const (
	malformedCloses  malformedRule = iota // the connection is closed
	malformedDead                         // the connection stays open and is never answered again
	malformedCrashes                      // the server's process ends
)

// chunks cuts printed text into the messages in which the server sends it.
// Bytes that are not UTF-8 pass unchanged and count one unit each.
func (d *dialect) chunks(text string) []string {
	if line, found := strings.CutSuffix(text, "\n"); found && line != "" && d.newlineAlone {
		return append(d.chunks(line), "\n")
	}
	if d.chunk <= 0 && text != "" {
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
