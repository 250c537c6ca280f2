package fakes

import (
	"slices"
	"strings"
)

// HostEnv returns the variables that Claude Code 2.1.329 adds to a hook's
// environment in an interactive session. Append them to the rest of an
// environment: HostEnv has no PATH and no HOME. There are none for the file,
// the session or the content of a tool call, which some documents claim.
// CLAUDE_ENV_FILE, which only SessionStart hooks get, is left out.
func HostEnv(projectDir, sessionID string) []string {
	return []string{
		"CLAUDECODE=1",
		"CLAUDE_CODE_CHILD_SESSION=1",
		"CLAUDE_CODE_ENTRYPOINT=cli",
		"CLAUDE_CODE_SESSION_ATTENDED=1",
		"CLAUDE_CODE_SESSION_ID=" + sessionID,
		"CLAUDE_EFFORT=medium",
		"CLAUDE_PID=4242",
		"CLAUDE_PROJECT_DIR=" + projectDir,
	}
}

// WithoutHostEnv returns env without the variables of a host: a test that
// itself runs under an agent must not hand them on.
func WithoutHostEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, "CLAUDE")
	})
}
