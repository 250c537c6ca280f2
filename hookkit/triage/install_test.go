package triage

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/settings"
)

// Ours are the program alone, by any path, and the two commands that the host calls; what somebody wrote around them is theirs.
func TestOwnHandler(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		handler        settings.Handler
		own, mentioned bool
	}{
		{settings.Handler{Command: "memory-triage hook"}, true, true},
		{settings.Handler{Command: "memory-triage session-end"}, true, true},
		{settings.Handler{Command: "/old/memory-triage"}, true, true},
		{settings.Handler{Command: "'/opt/my tools/memory-triage' hook --debug"}, true, true},
		{settings.Handler{Command: "/bin/memory-triage", Args: []string{"hook"}}, true, true},
		{settings.Handler{Command: "/bin/memory-triage", Args: []string{}}, true, true},
		{settings.Handler{Command: "memory-triage explain x"}, false, true},
		{settings.Handler{Command: "memory-triage hook | tee log"}, false, true},
		{settings.Handler{Command: "brepl hook stop"}, false, false},
	} {
		assert.Equal(t, Hooks().Own(row.handler), row.own, "%+v", row.handler)
		assert.Equal(t, Hooks().Mentions(row.handler), row.mentioned, "%+v", row.handler)
	}
}
