package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit"
)

// eventOf is the common part of the event that a hook gets, started in dir.
func eventOf(t *testing.T, text, dir string, terminal bool, env ...string) (base *hookkit.Common) {
	t.Helper()
	streams := hookkit.IO{In: strings.NewReader(text), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Dir: dir, Terminal: terminal, Env: env}
	hookkit.Run(t.Context(), streams, hookkit.Handlers{Stop: func(_ context.Context, e *hookkit.Stop) (hookkit.StopDecision, error) {
		base = e.Base()
		return hookkit.AllowStop(), nil
	}})
	assert.Assert(t, base != nil)
	return base
}

func TestIDOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sub := filepath.Join(dir, "src", "a")
	assert.NilError(t, os.MkdirAll(sub, 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "deps.edn"), nil, 0o600))
	link := filepath.Join(t.TempDir(), "link")
	assert.NilError(t, os.Symlink(dir, link))
	plain := t.TempDir()
	unknown, manual := ProjectID("unknown", dir), ProjectID("manual", dir)
	for _, row := range []struct {
		name, event, dir string
		terminal         bool
		env, want        string
	}{
		{"the host's", `{"session_id":"s/1"}`, dir, false, "", "s/1"},
		{"the host's, whatever it is", `{"session_id":"manual"}`, dir, false, "", "manual"},
		{"none", `{}`, dir, false, "", unknown},
		{"empty", `{"session_id":""}`, dir, false, "", unknown},
		{"no event", ``, dir, false, "", unknown},
		{"in a sub-directory", `{}`, sub, false, "", unknown},
		{"the agent has gone to one", `{"cwd":"` + sub + `"}`, plain, false, "", unknown},
		{"by another path", `{}`, link, false, "", unknown},
		{"the host names the project", `{}`, plain, false, "CLAUDE_PROJECT_DIR=" + dir, unknown},
		{"nothing marks a project", `{}`, plain, false, "", ProjectID("unknown", plain)},
		{"a terminal", ``, sub, true, "", manual},
	} {
		assert.Equal(t, IDOf(eventOf(t, row.event, row.dir, row.terminal, row.env)), row.want, row.name)
	}
	assert.Equal(t, IDOf(&hookkit.Common{CWD: dir}), unknown)

	// A module's build file does not part it from its work tree: the agent's cd there would start new counts.
	assert.NilError(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, ".git", "HEAD"), nil, 0o600))
	assert.NilError(t, os.WriteFile(filepath.Join(sub, "deps.edn"), nil, 0o600))
	assert.Equal(t, IDOf(eventOf(t, `{}`, sub, false)), unknown)

	for id, want := range map[string]string{"": "", "s": "s", "manual": "manual", "unknown": unknown} {
		own := func(name string) string { return map[string]string{"CLAUDE_CODE_SESSION_ID": id}[name] }
		assert.Equal(t, HostID(own, dir), want)
		if id != "" {
			assert.Equal(t, IDOf(eventOf(t, `{"session_id":"`+id+`"}`, dir, false)), want, "as the events of that session")
		}
	}

	env := func(name string) string { return map[string]string{"CLAUDE_PROJECT_DIR": link}[name] }
	for id, want := range map[string]string{"s": "s", "": manual, "manual": manual, "unknown": unknown} {
		assert.Equal(t, IDIn(id, env, plain), want, id)
		assert.Equal(t, IDIn(id, func(string) string { return "" }, sub), want, id)
	}
}
