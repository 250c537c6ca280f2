package gauntlet

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/settings"
)

func TestOwnEntry(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		handler    settings.Handler
		own, calls bool
	}{
		{settings.Handler{Command: "agent-gauntlet stop-hook"}, true, true},
		{settings.Handler{Command: "'/opt/my tools/agent-gauntlet' stop-hook --host codex"}, true, true},
		{settings.Handler{Command: "/bin/agent-gauntlet", Args: []string{"stop-hook"}}, true, true},
		{settings.Handler{Command: "go run ./cmd/agent-gauntlet stop-hook"}, true, true},
		{settings.Handler{Command: "go run -trimpath /src/cmd/agent-gauntlet/ stop-hook"}, true, true},
		{settings.Handler{Command: "go", Args: []string{"run", "./cmd/agent-gauntlet", "stop-hook"}}, true, true},
		{settings.Handler{Command: "go run ./cmd/agent-gauntlet run"}, false, false},
		{settings.Handler{Command: "go run ./cmd/other stop-hook"}, false, false},
		{settings.Handler{Command: "agent-gauntlet run"}, false, false},
		{settings.Handler{Command: "cd x && agent-gauntlet stop-hook || true"}, false, true},
		{settings.Handler{Command: "brepl hook stop"}, false, false},
	} {
		assert.Equal(t, ownEntry(row.handler), row.own, "%+v", row.handler)
		assert.Equal(t, callsUs(row.handler), row.calls, "%+v", row.handler)
	}
}
