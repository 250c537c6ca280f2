package lab

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestReportsSpeakSnakeCase pins that all keys of a simulation are written in one way.
func TestReportsSpeakSnakeCase(t *testing.T) {
	sim, err := Simulate(t.Context(), "s", "write a.txt x\nstop\n-- .claude/settings.json --\n"+
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo why >&2; exit 2"}]}]}}`+"\n",
		SimulateOptions{Env: []string{"PATH=" + os.Getenv("PATH")}})
	assert.NilError(t, err)
	line, err := encodeLine(sim)
	assert.NilError(t, err)
	text := string(line)
	for _, want := range []string{`"goes_on":true`, `"as":"`, `"duration_ms":`, `"stderr":"why\n"`, `"path":"a.txt"`, `"created":true`} {
		assert.Assert(t, strings.Contains(text, want), "%s is not in %s", want, text)
	}
	for _, other := range []string{`"As"`, `"Text"`, `"Exit"`, `"Path"`, `"Blocked"`} {
		assert.Assert(t, !strings.Contains(text, other), "%s is in %s", other, text)
	}
}
