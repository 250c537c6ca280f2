package settings_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"
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

// What one program finds empty and fills, another may be the last to leave: in any order the file, and its folder, are as they were.
func TestProgramsShareAFile(t *testing.T) {
	t.Parallel()
	programs := []settings.Hooks{install.Brepl(nil).Hooks, gauntlet.Hooks(), triage.Hooks(), lab.Recorder()}
	const none = "there is no file"
	for _, text := range []string{none, "", " \n", "{}", "{ }\n", `{"hooks": { }}`, `{"hooks": {"Stop": [ ]}}`, `{"hooks": {"Stop": [], "SessionEnd": []}, "x": 1}`} {
		for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}} {
			dir := fs.NewDir(t, "programs", fs.WithDir("home"), fs.WithDir("project", fs.WithDir(".git", fs.WithFile("HEAD", ""))))
			path := dir.Join("project", ".claude", "settings.local.json")
			if text != none {
				assert.NilError(t, os.Mkdir(filepath.Dir(path), 0o700))
				assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
			}
			before := fs.ManifestFromDir(t, dir.Join("project"))
			site := func(h *settings.Hooks) settings.Site {
				s, err := settings.Env{
					Dir: dir.Join("project"), Executable: "/bin/" + h.Program,
					Getenv: func(name string) string { return map[string]string{"HOME": dir.Join("home")}[name] },
				}.Site(settings.Local)
				assert.NilError(t, err)
				return s
			}
			for i := range programs {
				s := site(&programs[i])
				_, err := s.Install(t.Context(), &programs[i], false)
				assert.NilError(t, err)
			}
			for _, i := range order {
				s := site(&programs[i])
				_, err := s.Uninstall(t.Context(), &programs[i], path, false)
				assert.NilError(t, err)
			}
			assert.Assert(t, fs.Equal(dir.Join("project"), before), "%q, uninstalled in the order %v", text, order)
		}
	}
}
