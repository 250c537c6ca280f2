package lab

import (
	"errors"
	"flag"
	"fmt"

	"github.com/hookkit/brepl/hookkit/settings"
)

// program is the name by which our handlers are known in settings files.
const program = "hookkit"

// recordedEvents are all events that the client has.
func recordedEvents() []string {
	return []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PermissionDenied", "PostToolUse", "PostToolUseFailure",
		"Notification", "SubagentStart", "SubagentStop", "Stop", "StopFailure", "PreCompact", "PostCompact", "SessionEnd",
	}
}

// Recorder is the silent handler on all events.
func Recorder() settings.Hooks {
	var dir string
	var given bool
	return settings.Hooks{
		Program: program, Events: recordedEvents(), Own: ownRecorder,
		Flags: func(set *flag.FlagSet) {
			dir, given = "", false
			set.Func("dir", "write recordings to this `folder`", func(text string) error {
				dir, given = text, true
				return nil
			})
		},
		Entries: func(s *settings.Site) (list []settings.Entry, err error) {
			if ours := s.Present(ownRecorder); !given && len(ours) > 0 {
				dir, _ = ours[0].Flag("dir")
			}
			place := recordDir(s.Getenv, s.Dir, dir)
			if place == "" {
				return nil, errors.New("no folder for recordings: give --dir, or set HOME or XDG_STATE_HOME")
			}
			command := s.Word + " record event"
			switch {
			case dir == "":
			case s.Scope == settings.Project:
				return nil, errors.New("--dir is a folder of this machine and has no place in settings that others share; each can set " + dirVariable)
			default:
				command += " --dir " + settings.ShellQuote(place)
			}
			for _, event := range recordedEvents() {
				list = append(list, settings.Entry{Event: event, Command: command})
			}
			s.Notes = append(s.Notes, fmt.Sprintf("recordings go to %s; end with: %s record uninstall", place, program))
			return list, nil
		},
	}
}

// ownRecorder recognises the silent handler. A hook that somebody has wrapped (hookkit record -- COMMAND) is theirs.
func ownRecorder(h settings.Handler) bool {
	words, _ := h.Words()
	return settings.OwnCommand(program, "record")(h) && len(words) > 2 && words[2] == "event"
}
