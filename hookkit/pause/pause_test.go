package pause

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/cli"
	"github.com/hookkit/brepl/hookkit/session"
)

var errNobodyKnows = errors.New("nobody knows the project")

func gate() Gate {
	return Gate{
		Program: "p", What: "gates", Resume: "p resume", File: "p-pause", Kind: "p",
		Project: func(p *cli.Program) (string, error) {
			if p.Dir == "" {
				return "", errNobodyKnows
			}
			return p.Dir, nil
		},
	}
}

// person is somebody in a folder.
type person struct {
	dir string
	env []string
}

func (p person) types(t *testing.T, g Gate, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	program := cli.Program{Args: args, Dir: p.dir, Env: p.env, Stdout: &out, Stderr: &out, Name: "p"}
	if program.Main(t.Context(), cli.Command{Sub: g.Commands()}) != 0 {
		return "error: " + out.String()
	}
	return out.String()
}

func TestPause(t *testing.T) {
	t.Parallel()
	state, dir, link := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "link")
	assert.NilError(t, os.Symlink(dir, link))
	outside := person{dir, []string{"BREPL_STATE_DIR=" + state}}
	inside := person{dir, append(outside.env, "CLAUDE_CODE_SESSION_ID=s1")}
	env := func(name string) string { return map[string]string{"BREPL_STATE_DIR": state}[name] }
	now := time.Now()
	paused := func(id, dir string) bool {
		_, ok := gate().Paused(env, id, dir, now)
		return ok
	}
	g := gate()
	assert.Equal(t, outside.types(t, g, "resume"), "Gates were not paused.\n")
	assert.Equal(t, inside.types(t, g, "pause"), "Gates of this session are paused until `p resume`.\n")
	assert.Assert(t, paused("s1", dir) && !paused("s2", dir))

	// A session's pause was not to be ended where nobody knows the project: of two rules, one held it for a fault.
	assert.Equal(t, person{"", inside.env}.types(t, g, "resume"), "Gates run again.\n")
	assert.Equal(t, person{"", outside.env}.types(t, g, "resume"), "error: p: cannot resume: nobody knows the project\n")

	assert.Equal(t, outside.types(t, g, "pause"), "Gates of the project "+dir+" are paused until `p resume`.\n")
	assert.Assert(t, paused("s1", link) && paused("s2", dir) && !paused("s1", state), "by any path")
	other := gate()
	other.File = "q-pause"
	_, ok := other.Paused(env, "s1", dir, now)
	assert.Assert(t, !ok, "each program has its own")
	assert.Equal(t, inside.types(t, g, "resume"), "Gates run again.\n")
	assert.Assert(t, !paused("s1", dir))

	// With an end.
	g.WithSession = true
	assert.Equal(t, inside.types(t, g, "pause"), "Gates of this session are paused until it ends, or until `p resume`.\n")
	assert.Equal(t, outside.types(t, g, "pause"), "Gates of the project "+dir+" are paused until a session in it ends, or until `p resume`.\n")
	assert.Equal(t, g.Line(session.Pause{}, now), "p: gates are paused; `p resume` ends this")
	g.EndWithSession(env, link, now)
	assert.Assert(t, paused("s1", dir) && !paused("s2", dir))
	said := outside.types(t, g, "pause", "30m")
	assert.Assert(t, strings.HasPrefix(said, "Gates of the project "+dir+" are paused until ") && strings.HasSuffix(said, ", or until `p resume`.\n"), said)
	g.EndWithSession(env, dir, now)
	pause, ok := g.Paused(env, "s2", dir, now)
	assert.Assert(t, ok && pause.Until.After(now) && !pause.Until.After(time.Now().Add(30*time.Minute)), "a pause with an end of its own stays")
	_, ok = g.Paused(env, "s2", dir, pause.Until.Add(time.Second))
	assert.Assert(t, !ok)

	g.Project = func(*cli.Program) (string, error) { return "", nil }
	for _, command := range []string{"pause", "resume"} {
		assert.Equal(t, outside.types(t, g, command), "error: p: cannot "+command+": the current directory is not known; change to your project and try again\n")
	}
}

// Issue 14: whoever read that stops were paused could not know that the agent had done it, and nobody could forbid it.
func TestPauseByAgent(t *testing.T) {
	t.Parallel()
	state, dir, home, other := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	env := []string{"BREPL_STATE_DIR=" + state, "HOME=" + home}
	g := gate()
	line := func() string {
		s, err := session.Open(func(name string) string { return map[string]string{"BREPL_STATE_DIR": state}[name] }, session.ProjectID(g.Kind, dir))
		assert.NilError(t, err)
		pause, ok := s.Paused(g.File, time.Now())
		assert.Assert(t, ok)
		return g.Line(pause, time.Now())
	}
	inAgent := append(slices.Clip(env), "GEMINI_CLI=1")
	const paused, byAgent = "p: gates are paused; `p resume` ends this", "p: gates are paused by the agent; `p resume` ends this"
	said := "Gates of the project " + dir + " are paused until `p resume`.\n"
	assert.Equal(t, person{dir, env}.types(t, g, "pause"), said)
	assert.Equal(t, line(), paused)
	assert.Equal(t, person{dir, inAgent}.types(t, g, "pause"), said)
	assert.Equal(t, line(), byAgent)
	person{dir, inAgent}.types(t, g, "pause", "1h")
	assert.Assert(t, strings.HasPrefix(line(), "p: gates are paused by the agent until "), line())
	assert.Equal(t, person{dir, inAgent}.types(t, g, "resume"), "Gates run again.\n")

	config := filepath.Join(home, ".config", "brepl", "config.edn")
	assert.NilError(t, os.MkdirAll(filepath.Dir(config), 0o700))
	set := func(content string, mode os.FileMode) {
		assert.NilError(t, os.WriteFile(config, []byte(content), 0o600))
		assert.NilError(t, os.Chmod(config, mode))
	}
	refused := "error: p: cannot pause: only the user may, in a terminal of their own; " + config + " says `:pause :user-only`. Tell the user what cannot pass\n"
	set("{:pause :user-only :later 1}", 0o644)
	assert.Equal(t, person{dir, inAgent}.types(t, g, "pause"), refused)
	// A project can set XDG_CONFIG_HOME for the agent's shell: what it names counts beside the home, not instead of it.
	assert.Equal(t, person{dir, append(inAgent, "XDG_CONFIG_HOME="+other)}.types(t, g, "pause"), refused)
	assert.Equal(t, person{dir, []string{env[0], "HOME=" + other, "CLAUDECODE=1", "XDG_CONFIG_HOME=" + filepath.Join(home, ".config")}}.types(t, g, "pause"), refused)
	assert.Equal(t, person{dir, inAgent}.types(t, g, "resume"), "Gates were not paused.\n")
	assert.Equal(t, person{dir, env}.types(t, g, "pause"), said)
	assert.Equal(t, line(), paused)

	// What others can write says nothing, and brepl says so.
	set("{:pause :user-only}", 0o646)
	assert.Equal(t, person{dir, inAgent}.types(t, g, "pause"), "p: "+config+" can be written by every user of this machine, so what it says does not count; `chmod o-w "+config+"`\n"+said)
	// A file with a fault may mean to forbid it.
	set("{:pause :user}", 0o600)
	assert.Equal(t, person{dir, inAgent}.types(t, g, "pause"), "error: p: cannot pause: whether an agent may is not known: "+config+
		":1:9: :pause must be :user-only, found the keyword :user\n1 | {:pause :user}\n  |         ^\n")
	set("{:pauze :user-only}", 0o600)
	said = person{dir, inAgent}.types(t, g, "pause")
	assert.Assert(t, strings.Contains(said, ":1:2: :pause is missing (there is `:pauze`; did you mean `:pause`?)"), said)
	set("{:later 1}", 0o600)
	assert.Equal(t, person{dir, inAgent}.types(t, g, "pause"), "Gates of the project "+dir+" are paused until `p resume`.\n")
}
