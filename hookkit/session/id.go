package session

import (
	"cmp"
	"path/filepath"
	"slices"

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
// manual) stand for the project. That is the git work tree of the folder that CLAUDE_PROJECT_DIR names, else of the current one, dir; outside
// of git its [project.Root]. So a cd of the agent within the work tree changes nothing.
func IDIn(id string, env func(string) string, dir string) string {
	id = cmp.Or(id, hookkit.SessionManual)
	if id != hookkit.SessionManual && id != hookkit.SessionUnknown {
		return id
	}
	dir = cmp.Or(env("CLAUDE_PROJECT_DIR"), dir)
	root, ok := project.GitRoot(dir)
	if !ok {
		root, ok = project.Root(dir)
	}
	if ok && filepath.IsAbs(dir) {
		dir = root
	}
	return ProjectID(id, dir)
}

// HostID is [IDOf] the events of the agent's session in which a command was started in dir, "" outside of one.
func HostID(env func(string) string, dir string) string {
	id := env("CLAUDE_CODE_SESSION_ID")
	if id == "" || id == hookkit.SessionManual { // the host's own word
		return id
	}
	return IDIn(id, env, dir)
}

// InAgent reports whether a command was started in the shell of a coding agent: by the variables that agents set there, each its own.
func InAgent(env func(string) string) bool {
	return slices.ContainsFunc([]string{
		"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "GEMINI_CLI", "QWEN_CODE", "COPILOT_AGENT_SESSION_ID", "OPENCODE", "PI_CODING_AGENT",
	}, func(name string) bool { return env(name) != "" })
}
