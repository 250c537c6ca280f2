package settings_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/hookkit/brepl/hookkit/gauntlet"
	"github.com/hookkit/brepl/hookkit/install"
	"github.com/hookkit/brepl/hookkit/lab"
	"github.com/hookkit/brepl/hookkit/settings"
	"github.com/hookkit/brepl/hookkit/triage"
)

// What each program installs goes again, and every byte of others stays: of files with foreign handlers alone, with lines that only look
// like ours, and with handlers of ours from earlier.
func TestSurgeryOfPrograms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hooks         settings.Hooks
		foreign, ours []string
	}{
		{install.Brepl(nil).Hooks, []string{"brepl hook stop | cat", "brepl balance"}, []string{"brepl hook stop", "/a/brepl hooks eval"}},
		{gauntlet.Hooks(), []string{"cd x && agent-gauntlet stop-hook", "agent-gauntlet run"}, []string{"agent-gauntlet stop-hook", "go run ./cmd/agent-gauntlet stop-hook"}},
		{triage.Hooks(), []string{"memory-triage hook | tee log", "memory-triage explain"}, []string{"/a/memory-triage", "memory-triage session-end"}},
		{lab.Recorder(), []string{"hookkit record -- brepl hook stop", "hookkit check"}, []string{"hookkit record event", "/a/hookkit record event --dir /x"}},
	} {
		t.Run(c.hooks.Program, func(t *testing.T) {
			t.Parallel()
			site := settings.Site{Word: c.hooks.Program, Root: "../..", Env: settings.Env{Dir: t.TempDir(), Getenv: func(string) string { return "/h" }}}
			want, err := c.hooks.Entries(&site)
			assert.NilError(t, err)
			for _, e := range want {
				own := settings.Handler{Event: e.Event, Command: e.Command}
				assert.Assert(t, c.hooks.Own(own) && slices.Contains(c.hooks.Events, e.Event), "%+v", e)
			}
			foreign := append([]string{"prettier"}, c.foreign...)
			for _, commands := range [][]string{foreign, slices.Concat(foreign, c.ours)} {
				rapid.Check(t, func(t *rapid.T) {
					in := []byte(settings.RandomFile(t, commands...))
					settings.CheckSurgery(t, in, settings.Spec{Own: c.hooks.Own, Events: c.hooks.Events, Want: want})
				})
			}
		})
	}
}
