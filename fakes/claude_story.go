package fakes

import (
	"fmt"
	"strings"
)

// Story tells the session for people: every turn, the hooks that ran, what
// the agent was told and the user saw. It holds no times and no durations, so
// that two runs of one script tell the same story if the hooks do.
func (c *Claude) Story() string {
	var b strings.Builder
	for _, t := range c.turns {
		t.tell(&b)
	}
	return b.String()
}

// String tells one turn as [Claude.Story] does.
func (t *Turn) String() string {
	var b strings.Builder
	t.tell(&b)
	return b.String()
}

func (t *Turn) tell(b *strings.Builder) {
	fmt.Fprintf(b, "* %s\n", t.Action)
	for _, e := range t.Events {
		for _, h := range e.Hooks {
			fmt.Fprintf(b, "    %s  %s  %s\n", e.Event, firstLine(h.Command), h.ending())
			if h.Reaction.Note != "" {
				fmt.Fprintf(b, "      note: %s\n", h.Reaction.Note)
			}
		}
	}
	for _, f := range t.Files {
		fmt.Fprintf(b, "    %s %s\n", f.what(), f.Path)
	}
	if t.ToolFailed && !t.Blocked {
		tellText(b, "the tool failed: ", t.ToolResult)
	}
	if line := t.verdict(); line != "" {
		fmt.Fprintf(b, "    %s\n", line)
	}
	for _, text := range t.Told {
		tellText(b, "the agent reads ("+text.As+"): ", text.Text)
	}
	for _, text := range t.Shown {
		tellText(b, "the user sees ("+text.As+"): ", text.Text)
	}
}

func (h HookRun) ending() string {
	switch {
	case h.NotStarted:
		return "not started"
	case h.TimedOut:
		return "ran into its timeout"
	case h.Signal != "":
		return "ended by " + h.Signal
	}
	return fmt.Sprintf("exit %d", h.Exit)
}

func (f FileChange) what() string {
	who := ""
	if f.ByHook {
		who = "a hook "
	}
	switch {
	case f.Created:
		return who + "created"
	case f.Removed:
		return who + "removed"
	}
	return who + "changed"
}

func (t *Turn) verdict() string {
	switch {
	case t.Ended:
		return "=> the agent's work ended here"
	case t.Blocked && t.GoesOn:
		return "=> blocked: the agent goes on"
	case t.Blocked:
		return "=> blocked"
	case t.GoesOn:
		return "=> not blocked, but the agent gets another turn"
	}
	return ""
}

// maxStoryLines is how many lines of a text a story shows.
const maxStoryLines = 12

func tellText(b *strings.Builder, label, text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > maxStoryLines {
		left := len(lines) - maxStoryLines
		lines = append(lines[:maxStoryLines], fmt.Sprintf("… %d more lines", left))
	}
	fmt.Fprintf(b, "    %s%s\n", label, strings.Join(lines, "\n      "))
}
