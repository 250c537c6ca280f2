package triage

import (
	"time"

	"github.com/hookkit/brepl/hookkit/settings"
)

// programName is how the settings know our handlers.
const programName = "memory-triage"

// Hooks are memory-triage's: the seed's entry for the stop, and the end of the session.
func Hooks() settings.Hooks {
	return settings.Hooks{
		Program: programName, Events: []string{"Stop", "SessionEnd"},
		Own: ownHandler, Mentions: settings.Mentions(programName),
		Entries: func(s *settings.Site) ([]settings.Entry, error) {
			return []settings.Entry{
				{
					Event: "Stop", Matcher: "*", Command: s.Word + " hook",
					Timeout: 30 * time.Second, StatusMessage: "Evaluating session for memories...",
				},
				{Event: "SessionEnd", Matcher: "*", Command: s.Word + " session-end"},
			}, nil
		},
	}
}

// ownHandler recognises our handlers: the program bare, or with one of the commands that the host calls.
func ownHandler(h settings.Handler) bool {
	words, _ := h.Words()
	return settings.OwnCommand(programName)(h) && (len(words) == 1 || words[1] == "hook" || words[1] == "session-end")
}
