package stop

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"

	"github.com/hookkit/brepl/hookkit"
	"github.com/hookkit/brepl/hookkit/cli"
)

func TestLimits(t *testing.T) {
	for _, row := range []struct{ host, own, grace time.Duration }{
		{600 * time.Second, 595 * time.Second, 2 * time.Second},
		{60 * time.Second, 55 * time.Second, 2 * time.Second},
		{25 * time.Second, 20 * time.Second, 2 * time.Second},
		{10 * time.Second, 8 * time.Second, time.Second},
		{time.Second, 800 * time.Millisecond, 100 * time.Millisecond},
	} {
		l := limitsFor(row.host)
		assert.Equal(t, l.own, row.own)
		assert.Equal(t, l.grace(), row.grace)
		assert.Assert(t, l.own+l.grace() < l.host, "there is time left for the answer")
	}
}

// The user's settings are found by the one rule for the home folder: on Windows no HOME is set, and the timeout in them was not seen.
func TestHostLimitsOfTheUser(t *testing.T) {
	const entry = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"brepl hook stop","timeout":100}]}]}}`
	home := fs.NewDir(t, "home", fs.WithDir(".claude", fs.WithFile("settings.json", entry)))
	for _, name := range []string{"HOME", "USERPROFILE"} {
		p := &cli.Program{Env: []string{name + "=" + home.Path()}}
		assert.Equal(t, hostLimits(hookkit.EventStop, p, t.TempDir()).host, 100*time.Second, name)
	}
}
