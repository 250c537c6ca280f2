package pause

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/hookkit/cli"
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
	assert.Equal(t, g.Line(time.Time{}, now), "p: gates are paused; `p resume` ends this")
	g.EndWithSession(env, link, now)
	assert.Assert(t, paused("s1", dir) && !paused("s2", dir))
	said := outside.types(t, g, "pause", "30m")
	assert.Assert(t, strings.HasPrefix(said, "Gates of the project "+dir+" are paused until ") && strings.HasSuffix(said, ", or until `p resume`.\n"), said)
	g.EndWithSession(env, dir, now)
	until, ok := g.Paused(env, "s2", dir, now)
	assert.Assert(t, ok && until.After(now) && !until.After(time.Now().Add(30*time.Minute)), "a pause with an end of its own stays")
	_, ok = g.Paused(env, "s2", dir, until.Add(time.Second))
	assert.Assert(t, !ok)

	g.Project = func(*cli.Program) (string, error) { return "", nil }
	for _, command := range []string{"pause", "resume"} {
		assert.Equal(t, outside.types(t, g, command), "error: p: cannot "+command+": the current directory is not known; change to your project and try again\n")
	}
}
