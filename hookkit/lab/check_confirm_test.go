//go:build unix

package lab

import (
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestConfirmed pins that an answer counts only when the plain event still gets the first one, and quickly: otherwise the step is skipped.
func TestConfirmed(t *testing.T) {
	if testing.Short() {
		t.Skip("only in the full run, without -short")
	}
	t.Parallel()
	for _, c := range []struct {
		command, skipped string
		found            int
		confirmed        bool
		limit            time.Duration
	}{
		{"exit 0", "", 0, true, 2 * time.Minute},
		{"sleep 20000", "the plain event gets no quick answer now either", 0, false, 300 * time.Millisecond},
		{"echo why >&2; exit 2", "it answers the same event in different ways", 1, false, 2 * time.Minute},
	} {
		place, err := newCheckPlace("")
		assert.NilError(t, err)
		e := eventCheck{
			checker: &checker{
				CheckOptions: CheckOptions{Command: []string{c.command}, Env: []string{"PATH=" + os.Getenv("PATH")}, Timeout: c.limit},
				place:        place, argv: []string{c.command}, shell: true, prefix: newMarker(),
			},
			CheckedEvent: CheckedEvent{Event: "Stop"}, cases: checkCases("Stop", place.file),
		}
		e.step("in pieces", e.base, false)
		assert.Equal(t, e.confirmed(), c.confirmed, c.command)
		assert.Assert(t, strings.HasPrefix(e.Steps[0].Skipped, c.skipped), e.Steps[0].Skipped)
		assert.Equal(t, len(e.Findings), c.found)
		assert.Equal(t, e.inconsistent(), c.found == 1)
		assert.NilError(t, place.remove())
	}
}
