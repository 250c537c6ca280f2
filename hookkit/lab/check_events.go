package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookkit/brepl/fakes"
)

// checkFile is the file that the events of tool calls name. It exists in the scratch project.
const (
	checkFile        = "src/demo.clj"
	checkFileContent = "(ns demo)\n\n(defn greet [name]\n  (str \"Hello, \" name))\n"
)

// unknownValue stands in a field that no version of the client sends.
const unknownValue = "of no version known today"

// checkCase is one event that a hook is asked about.
type checkCase struct {
	label string // "" or what tells it from others of the event: the tool
	value string // what a matcher would see
	// event makes the event. text is the part of it that can be of any length.
	event func(text string, opts ...fakes.EventOption) fakes.Event
	text  string
}

// checkEvents are the events that a hook can be checked for.
func checkEvents() []string {
	return []string{
		"Stop", "SubagentStop", "PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SessionEnd",
	}
}

// checkCases returns what is asked about an event. file is the absolute path of a file in the project.
func checkCases(event, file string) []checkCase {
	type options = []fakes.EventOption
	message := func(stop func(...fakes.EventOption) fakes.Event) func(string, ...fakes.EventOption) fakes.Event {
		return func(text string, opts ...fakes.EventOption) fakes.Event {
			return stop(append(options{fakes.Set("last_assistant_message", text)}, opts...)...)
		}
	}
	const before, after = `"Hello, "`, `"Good day, "`
	switch event {
	case "Stop":
		return []checkCase{{event: message(fakes.StopEvent), text: "Done."}}
	case "SubagentStop":
		return []checkCase{{event: message(fakes.SubagentStopEvent), text: "Done.", value: "general-purpose"}}
	case "PreToolUse":
		return []checkCase{
			{"Write", "Write", func(text string, opts ...fakes.EventOption) fakes.Event {
				return fakes.PreWriteEvent(file, text, opts...)
			}, checkFileContent},
			{"Edit", "Edit", func(text string, opts ...fakes.EventOption) fakes.Event {
				return fakes.PreEditEvent(file, before, text, opts...)
			}, after},
			{"Bash", "Bash", fakes.PreBashEvent, "true"},
		}
	case "PostToolUse":
		return []checkCase{
			{"Write", "Write", func(text string, opts ...fakes.EventOption) fakes.Event {
				return fakes.PostWriteEvent(file, text, opts...)
			}, checkFileContent},
			{"Edit", "Edit", func(text string, opts ...fakes.EventOption) fakes.Event {
				return fakes.PostEditEvent(file, before, text, checkFileContent, opts...)
			}, after},
			{"Bash", "Bash", func(text string, opts ...fakes.EventOption) fakes.Event {
				return fakes.PostBashEvent("make", text, opts...)
			}, "built\n"},
		}
	case "PostToolUseFailure":
		return []checkCase{{"Bash", "Bash", func(text string, opts ...fakes.EventOption) fakes.Event {
			return fakes.BashFailureEvent("make", "Exit code 3\n"+text, opts...)
		}, "no rule"}}
	case "UserPromptSubmit":
		return []checkCase{{event: fakes.UserPromptSubmitEvent, text: "Please greet the user."}}
	case "SessionStart":
		return []checkCase{{value: "startup", event: padded(func(opts ...fakes.EventOption) fakes.Event {
			return fakes.SessionStartEvent("startup", opts...)
		})}}
	case "SessionEnd":
		return []checkCase{{value: "other", event: padded(func(opts ...fakes.EventOption) fakes.Event {
			return fakes.SessionEndEvent("other", opts...)
		})}}
	}
	return nil
}

// padded carries the text of an event that has no place for any.
func padded(event func(...fakes.EventOption) fakes.Event) func(string, ...fakes.EventOption) fakes.Event {
	return func(text string, opts ...fakes.EventOption) fakes.Event {
		if text != "" {
			opts = append(opts, fakes.Set("padding", text))
		}
		return event(opts...)
	}
}

// parseEvents reads the value of --event.
func parseEvents(list string) ([]string, error) {
	var events []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(checkEvents(), name) {
			return nil, fmt.Errorf("--event: %q is no event that can be checked; these are: %s", name, strings.Join(checkEvents(), ", "))
		}
		if !slices.Contains(events, name) {
			events = append(events, name)
		}
	}
	return events, nil
}
