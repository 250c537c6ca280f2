package session

import (
	"cmp"
	"path/filepath"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/project"
)

// IDOf is the id under which the state of an event's session is kept, by every hook of every program. It is the host's; an event without
// one, and a person at a terminal, share the state of their project: see [IDIn].
func IDOf(e *hookkit.Common) string {
	switch {
	case e.SessionID == "":
		return IDIn(hookkit.SessionUnknown, e.Getenv, e.CWD)
	case e.SessionID == hookkit.SessionManual && e.Bytes() != nil:
		return e.SessionID // the host's own word
	}
	return IDIn(e.SessionID, e.Getenv, e.CWD)
}

// IDIn is [IDOf] for a command that a person or a script gives an id: [hookkit.SessionUnknown], [hookkit.SessionManual] and "" (which is
// manual) stand for the project. That is the folder that CLAUDE_PROJECT_DIR names, else the current one, dir, and of it the
// [project.Root]: a cd of the agent in its project changes nothing.
func IDIn(id string, env func(string) string, dir string) string {
	id = cmp.Or(id, hookkit.SessionManual)
	if id != hookkit.SessionManual && id != hookkit.SessionUnknown {
		return id
	}
	dir = cmp.Or(env("CLAUDE_PROJECT_DIR"), dir)
	if root, ok := project.Root(dir); ok && filepath.IsAbs(dir) {
		dir = root
	}
	return ProjectID(id, dir)
}

// HostID is the id of the agent's session that a command was started in, "" outside of one.
func HostID(env func(string) string) string { return env("CLAUDE_CODE_SESSION_ID") }
