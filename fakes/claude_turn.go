package fakes

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookkit/brepl/fakes/claudecode"
)

// Turn is what came of one thing that the agent or the user did.
type Turn struct {
	Action string // such as "Write src/a.clj", for people

	// Skipped says why nothing happened at all: the agent has nothing to work
	// on since a hook refused the prompt, or, without a test to fail, the
	// script asks for what cannot be.
	Skipped string

	Events []EventRun // in the order in which they were fired
	Hooks  []HookRun  // of all events, in the order in which they completed

	Blocked bool // the stop, the tool or the prompt did not go on
	GoesOn  bool // Stop: the agent gets another turn, by a block or by additionalContext
	Ended   bool // continue:false: the agent's work ended

	Told  []claudecode.Text // what the hooks made the agent read
	Shown []claudecode.Text // what they made the user see

	Files []FileChange // what landed on disk

	ToolRan    bool
	ToolFailed bool            // the result is an error
	ToolResult string          // what the agent got as the tool's result
	ToolInput  json.RawMessage // what the tool was called with, after a rewrite
	Asked      bool            // the user was asked for permission

	TaskID string    // of a background command or a sub-agent
	Agent  *Subagent // of [Claude.Subagent]
}

// FileChange is a file that a turn changed.
type FileChange struct {
	Path          string // relative to the start folder, with slashes; absolute outside of it
	Before, After string
	Created       bool
	Removed       bool
	ByHook        bool // a hook changed it after the tool
}

// ToldText returns what the agent read, text after text.
func (t *Turn) ToldText() string { return joinTexts(t.Told) }

// ShownText returns what the user saw, text after text.
func (t *Turn) ShownText() string { return joinTexts(t.Shown) }

func joinTexts(texts []claudecode.Text) string {
	each := make([]string, len(texts))
	for i, t := range texts {
		each[i] = t.Text
	}
	return strings.Join(each, "\n")
}

// Event returns the first run of an event in this turn, nil if it was not
// fired.
func (t *Turn) Event(name string) *EventRun {
	for i := range t.Events {
		if t.Events[i].Event == name {
			return &t.Events[i]
		}
	}
	return nil
}

// add takes an event over into the turn.
func (t *Turn) add(run EventRun, headless bool) {
	t.Events = append(t.Events, run)
	t.Hooks = append(t.Hooks, run.Hooks...)
	t.Told = append(t.Told, run.Reaction.Told...)
	for _, s := range run.Reaction.Shown {
		if s.As != claudecode.AsScreen || !headless {
			t.Shown = append(t.Shown, s)
		}
	}
	t.Ended = t.Ended || run.Reaction.Ended
}

func (c *Claude) newTurn(action string) *Turn {
	t := &Turn{Action: action}
	c.turns = append(c.turns, t)
	return t
}

// skip is a turn in which nothing happens.
func (c *Claude) skip(action, why string) *Turn {
	t := c.newTurn(action + " (skipped: " + why + ")")
	t.Skipped = why
	return t
}

// idle is the turn of an agent that has nothing to work on, nil if it has.
func (c *Claude) idle(a *actor, action string) *Turn {
	switch {
	case a.working:
		return nil
	case a.id != "":
		return c.misuse("%s: the sub-agent %s has stopped", action, a.id)
	case c.refused:
		return c.skip(action, "the prompt was refused")
	}
	return c.skip(action, "the agent's work has ended")
}

// misuse is the script's own mistake: it ends the test. Without a test nothing
// happens, and the turn says why.
func (c *Claude) misuse(format string, args ...any) *Turn {
	why := fmt.Sprintf(format, args...)
	if c.t != nil {
		c.t.Helper()
		c.t.Fatalf("fakes: claude: %s", why)
	}
	return c.skip("misuse", why)
}

// relative is the path of a file as a [FileChange] has it.
func (c *Claude) relative(path string) string {
	rel, err := filepath.Rel(c.dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}

// fileState is a file's content at one moment.
type fileState struct {
	content string
	exists  bool
}

func stateOf(path string) fileState {
	data, err := os.ReadFile(path)
	return fileState{string(data), err == nil}
}

// changed notes what became of a file.
func (t *Turn) changed(path string, before, after fileState, byHook bool) {
	if before != after {
		t.Files = append(t.Files, FileChange{
			Path: path, Before: before.content, After: after.content,
			Created: !before.exists, Removed: !after.exists, ByHook: byHook,
		})
	}
}
