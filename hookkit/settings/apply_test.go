package settings

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/fs"

	"github.com/hookkit/brepl/hookkit/session"
)

// place is a project folder and a state folder.
type place struct {
	*fs.Dir
	path, state string
}

func newPlace(t *testing.T, ops ...fs.PathOp) place {
	t.Helper()
	dir := fs.NewDir(t, "apply", fs.WithDir("project", ops...))
	return place{dir, dir.Join("project", ".claude", "settings.local.json"), dir.Join("state")}
}

func claude(ops ...fs.PathOp) fs.PathOp { return fs.WithDir(".claude", ops...) }

func local(text string) fs.PathOp { return claude(fs.WithFile("settings.local.json", text)) }

func (p place) apply(t *testing.T, spec Spec) (Outcome, error) {
	t.Helper()
	return Apply(t.Context(), Job{Path: p.path, Spec: spec, StateDir: p.state})
}

func (p place) mustApply(t *testing.T, spec Spec) Outcome {
	t.Helper()
	out, err := p.apply(t, spec)
	assert.NilError(t, err)
	return out
}

func uninstall() Spec {
	spec := brepl()
	spec.Everywhere = true
	return spec
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	return string(data)
}

// spec/stop-semantics.md "Installing": uninstall gives back the original bytes.
func TestApplyThereAndBack(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"blank":         "\n",
		"BOM":           bom,
		"object":        "{}",
		"spread object": "{\n\n}\n",
		"empty hooks":   `{"hooks":{ }}`,
		"empty Stop":    "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"PreToolUse\": [ ]\n  }\n}\n",
		"seed, foreign": `{"hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "prettier"}]}]}, "n": 1.0}`,
		"comments":      "{\n  // nothing yet\n  \"hooks\": { /* none */ },\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, local(text))
			out := p.mustApply(t, allFour())
			assert.Equal(t, out.Written, true)
			once := readFile(t, p.path)
			assert.Equal(t, once, string(out.After))
			assert.Equal(t, p.mustApply(t, allFour()).Changed(), false)
			assert.Equal(t, readFile(t, p.path), once)
			assert.Equal(t, p.mustApply(t, uninstall()).Written, true)
			assert.Equal(t, readFile(t, p.path), text)
			assert.Equal(t, p.mustApply(t, uninstall()).Changed(), false)
		})
	}
}

// Where the host runs no hook of a file, the user is told.
func TestApplyToFilesWithoutEffect(t *testing.T) {
	for text, want := range map[string][]string{
		`{"a":1,}`:                     {" has comments or trailing commas: the agent ignores such a file, and hooks in it do not run"},
		`{"hooks":{"PreToolUse":{}}}`:  {" has a PreToolUse that is not an array: the agent drops every hook of such a file, and hooks in it do not run"},
		`{"disableAllHooks":true}`:     {` says "disableAllHooks": true: hooks in it do not run`},
		`{"hooks":{"PreToolUse":[]}}`:  nil,
		`{"disableAllHooks":false}`:    nil,
		`{"hooks":{"PostToolUse":{}}}`: nil, // nobody has seen what the host makes of it
	} {
		p := newPlace(t, local(text))
		install, remove := stopOnly(), uninstall()
		install.Events, remove.Events = []string{"Stop"}, []string{"Stop"} // what is ours to arrange must be well formed
		for range 2 {                                                      // also when nothing is to be changed
			out := p.mustApply(t, install)
			var got []string
			for _, w := range out.Warnings {
				got = append(got, strings.TrimPrefix(w, p.path))
			}
			assert.DeepEqual(t, got, want)
		}
		p.mustApply(t, remove)
		assert.Equal(t, readFile(t, p.path), text)
	}
}

// A Stop: [] that was there is remembered over a second install with other
// commands, and over what the user adds in between.
func TestApplyRemembersOverTime(t *testing.T) {
	p := newPlace(t, local(`{"hooks":{"Stop":[]}}`))
	p.mustApply(t, allFour())
	p.mustApply(t, brepl(Entry{Event: "Stop", Command: "brepl hook stop --debug"}))
	assert.Equal(t, readFile(t, p.path), `{"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop --debug"}]}]}}`)
	text := strings.Replace(readFile(t, p.path), `{"hooks"`, `{"model":"x","hooks"`, 1)
	assert.NilError(t, os.WriteFile(p.path, []byte(text), 0o600))
	p.mustApply(t, uninstall())
	assert.Equal(t, readFile(t, p.path), `{"model":"x","hooks":{"Stop":[]}}`)
}

// What was empty once and was removed by the user since is ours when install
// makes it again.
func TestApplyForgets(t *testing.T) {
	p := newPlace(t, local(`{"a":1,"hooks":{"Stop":[]}}`))
	p.mustApply(t, allFour())
	assert.NilError(t, os.WriteFile(p.path, []byte(`{"a":1,"hooks":{"x":[]}}`), 0o600))
	p.mustApply(t, allFour())
	p.mustApply(t, uninstall())
	assert.Equal(t, readFile(t, p.path), `{"a":1,"hooks":{"x":[]}}`)

	p = newPlace(t, local(`{"a":1,"hooks":{"Stop":[]}}`))
	p.mustApply(t, allFour())
	assert.NilError(t, os.WriteFile(p.path, []byte(`{"a":1}`), 0o600))
	p.mustApply(t, allFour())
	p.mustApply(t, uninstall())
	assert.Equal(t, readFile(t, p.path), `{"a":1}`)

	// the user has written an object where nothing was
	for _, text := range []string{"{}\n", "{\n}", `{"hooks":{}}`, `{"hooks":{"Stop":[]}}`} {
		p = newPlace(t, local(""))
		p.mustApply(t, allFour())
		assert.NilError(t, os.WriteFile(p.path, []byte(text), 0o600))
		p.mustApply(t, allFour())
		p.mustApply(t, uninstall())
		assert.Equal(t, readFile(t, p.path), text)
	}
	// but another install over ours is no user
	p = newPlace(t, local("\n"))
	p.mustApply(t, allFour())
	p.mustApply(t, brepl(Entry{Event: "Stop", Command: "brepl hook stop --debug"}))
	p.mustApply(t, uninstall())
	assert.Equal(t, readFile(t, p.path), "\n")

	p = newPlace(t, local("\n"))
	p.mustApply(t, allFour())
	assert.NilError(t, os.Remove(p.path))
	p.mustApply(t, allFour())
	assert.Equal(t, p.mustApply(t, uninstall()).Deleted, true)
}

func TestApplyFileAndFolderGoAgain(t *testing.T) {
	p := newPlace(t)
	out := p.mustApply(t, allFour())
	assert.Equal(t, out.Existed, false)
	assert.Equal(t, out.Written, true)
	out = p.mustApply(t, uninstall())
	assert.Equal(t, out.Deleted, true)
	assert.Assert(t, out.After == nil)
	_, err := os.Lstat(filepath.Dir(p.path))
	assert.ErrorIs(t, err, os.ErrNotExist)

	// the folder was there, or something else came into it: it stays
	p = newPlace(t, claude())
	p.mustApply(t, allFour())
	p.mustApply(t, uninstall())
	_, err = os.Lstat(filepath.Dir(p.path))
	assert.NilError(t, err)
	p = newPlace(t)
	p.mustApply(t, allFour())
	assert.NilError(t, os.WriteFile(filepath.Join(filepath.Dir(p.path), "x"), nil, 0o600))
	p.mustApply(t, uninstall())
	_, err = os.Lstat(filepath.Dir(p.path))
	assert.NilError(t, err)
}

// The folder that install made is gone; the user has made one in its place.
func TestApplyForgetsItsFolder(t *testing.T) {
	p := newPlace(t)
	p.mustApply(t, allFour())
	assert.NilError(t, os.RemoveAll(filepath.Dir(p.path)))
	assert.NilError(t, os.Mkdir(filepath.Dir(p.path), 0o700))
	p.mustApply(t, allFour())
	assert.Equal(t, p.mustApply(t, uninstall()).Deleted, true)
	_, err := os.Lstat(filepath.Dir(p.path))
	assert.NilError(t, err)
}

// Faults 18: what a killed installer has left goes with the next call, whatever that has to do.
func TestApplyRemovesStrays(t *testing.T) {
	stray := func(p place) string { return filepath.Join(filepath.Dir(p.path), ".settings.local.json.4194999-1.tmp") }
	calls := map[string]func(p place){
		"install with nothing to do": func(p place) { p.mustApply(t, allFour()) },
		"install with changes":       func(p place) { p.mustApply(t, stopOnly()) },
		"uninstall":                  func(p place) { p.mustApply(t, uninstall()) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.mustApply(t, allFour())
			assert.NilError(t, os.WriteFile(stray(p), nil, 0o600))
			_, err := Apply(t.Context(), Job{Path: p.path, Spec: allFour(), StateDir: p.state, DryRun: true})
			assert.NilError(t, err)
			_, err = os.Lstat(stray(p))
			assert.NilError(t, err) // a dry run touches nothing
			call(p)
			_, err = os.Lstat(stray(p))
			assert.ErrorIs(t, err, os.ErrNotExist)
			p.mustApply(t, uninstall())
			_, err = os.Lstat(filepath.Dir(p.path))
			assert.ErrorIs(t, err, os.ErrNotExist)
		})
	}
	t.Run("killed before there was a file", func(t *testing.T) {
		p := newPlace(t)
		p.mustApply(t, allFour())
		assert.NilError(t, os.Rename(p.path, stray(p)))
		p.mustApply(t, uninstall())
		_, err := os.Lstat(filepath.Dir(p.path))
		assert.ErrorIs(t, err, os.ErrNotExist)
	})
}

// A warning about the state folder names no variable that it does not depend on.
func TestApplyStateFolderRefused(t *testing.T) {
	p := newPlace(t, local("{}"))
	assert.NilError(t, os.WriteFile(p.state, nil, 0o600))
	out := p.mustApply(t, stopOnly())
	assert.DeepEqual(t, out.Warnings, []string{
		p.path + " is not locked, and what stood in it before is not remembered: mkdir " + p.state + ": not a directory",
	})
}

func TestApplyWithoutMemory(t *testing.T) {
	p := newPlace(t)
	p.mustApply(t, allFour())
	assert.NilError(t, os.RemoveAll(p.state))
	assert.Equal(t, p.mustApply(t, uninstall()).Deleted, true)

	p = newPlace(t, local("{}"))
	out, err := Apply(t.Context(), Job{Path: p.path, Spec: stopOnly()})
	assert.NilError(t, err)
	assert.Equal(t, len(out.Warnings), 1)
	assert.ErrorContains(t, errors.New(out.Warnings[0]), "there is no state folder; set HOME or XDG_STATE_HOME")
	assert.Equal(t, out.Written, true)
}

func TestApplyDryRun(t *testing.T) {
	p := newPlace(t, local(`{"a":1}`))
	before := fs.ManifestFromDir(t, p.Path())
	out, err := Apply(t.Context(), Job{Path: p.path, Spec: stopOnly(), StateDir: p.state, DryRun: true})
	assert.NilError(t, err)
	assert.Equal(t, out.Written, true)
	assert.Equal(t, string(out.After), `{"a":1,"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]}]}}`)
	assert.Assert(t, fs.Equal(p.Path(), before))

	// a dry run of uninstall knows what install has found, and forgets nothing
	p = newPlace(t, local(`{}`))
	p.mustApply(t, stopOnly())
	before = fs.ManifestFromDir(t, p.Path())
	for range 2 {
		out, err = Apply(t.Context(), Job{Path: p.path, Spec: uninstall(), StateDir: p.state, DryRun: true})
		assert.NilError(t, err)
		assert.Equal(t, string(out.After), "{}")
	}
	assert.Assert(t, fs.Equal(p.Path(), before))
}

// Faults 16.
func TestApplyKindsOfFiles(t *testing.T) {
	t.Run("mode 0600 stays", func(t *testing.T) {
		p := newPlace(t, claude(fs.WithFile("settings.local.json", "{}", fs.WithMode(0o600))))
		p.mustApply(t, stopOnly())
		info, err := os.Stat(p.path)
		assert.NilError(t, err)
		assert.Equal(t, info.Mode().Perm(), os.FileMode(0o600))
	})
	t.Run("read-only is refused", func(t *testing.T) {
		p := newPlace(t, claude(fs.WithFile("settings.local.json", "{}", fs.WithMode(0o400))))
		out, err := p.apply(t, stopOnly())
		assert.ErrorIs(t, err, session.ErrReadOnly)
		assert.Equal(t, out.Changed(), false)
		assert.Equal(t, readFile(t, p.path), "{}")
	})
	t.Run("symbolic link stays", func(t *testing.T) {
		p := newPlace(t, claude(fs.WithFile("real.json", "{}"), fs.WithSymlink("settings.local.json", "real.json")))
		p.mustApply(t, stopOnly())
		info, err := os.Lstat(p.path)
		assert.NilError(t, err)
		assert.Equal(t, info.Mode().Type(), os.ModeSymlink)
		assert.Equal(t, len(Handlers(filepath.Join(filepath.Dir(p.path), "real.json"))), 1)
		assert.NilError(t, os.RemoveAll(p.state)) // without memory the target is emptied, not the link deleted
		p.mustApply(t, uninstall())
		assert.Equal(t, readFile(t, p.path), "{}")
		info, err = os.Lstat(p.path)
		assert.NilError(t, err)
		assert.Equal(t, info.Mode().Type(), os.ModeSymlink)
	})
	t.Run("dangling symbolic link: what install made goes, the link stays", func(t *testing.T) {
		for _, link := range []string{"real.json", "../real.json", "other.json"} {
			p := newPlace(t, claude())
			assert.NilError(t, os.Symlink(link, p.path))
			assert.NilError(t, os.Symlink("real.json", filepath.Join(filepath.Dir(p.path), "other.json")))
			before := fs.ManifestFromDir(t, p.Join("project"))
			for range 2 {
				assert.Equal(t, p.mustApply(t, allFour()).Written, true)
				assert.Equal(t, len(Handlers(p.path)), 4)
				p.mustApply(t, brepl(Entry{Event: "Stop", Command: "brepl hook stop --debug"}))
				assert.Equal(t, p.mustApply(t, uninstall()).Deleted, true)
				assert.Assert(t, fs.Equal(p.Join("project"), before), link)
			}
		}
	})
	t.Run("hard link is named", func(t *testing.T) {
		p := newPlace(t, claude(fs.WithFile("settings.local.json", "{}"), fs.WithHardlink("other", "settings.local.json")))
		out := p.mustApply(t, stopOnly())
		if runtime.GOOS != "windows" {
			assert.DeepEqual(t, out.Warnings, []string{p.path + " had 2 hard links: the other names keep the old content"})
		}
		assert.Equal(t, readFile(t, filepath.Join(filepath.Dir(p.path), "other")), "{}")
	})
	t.Run("folder is refused", func(t *testing.T) {
		p := newPlace(t, claude(fs.WithDir("settings.local.json")))
		_, err := p.apply(t, stopOnly())
		assert.ErrorIs(t, err, session.ErrNotRegular)
	})
	t.Run(".claude is a file", func(t *testing.T) {
		p := newPlace(t, fs.WithFile(".claude", ""))
		_, err := p.apply(t, stopOnly())
		assert.ErrorContains(t, err, "not a directory")
	})
	t.Run("malformed is left alone", func(t *testing.T) {
		p := newPlace(t, local("{\n  \"a\" 1\n}"))
		_, err := p.apply(t, stopOnly())
		assert.Error(t, err, p.path+":2:7: not valid JSON: invalid character '1' after object name")
		assert.Equal(t, readFile(t, p.path), "{\n  \"a\" 1\n}")
	})
	t.Run("an error is one line", func(t *testing.T) {
		for _, text := range []string{"{\"a\": t\nru\x1be}", "{\"a\": \"\n\"}", "{\"a\": 1\u20282}", "{\"a\": \x1b}", "{\"a\" \r\n:: 1}", "{\"a\": nul\n}"} {
			p := newPlace(t, local(text))
			_, err := p.apply(t, stopOnly())
			assert.ErrorContains(t, err, ": not valid JSON: ")
			assert.Assert(t, !strings.ContainsAny(err.Error(), "\n\r\x1b\u2028"), "%q", err)
		}
	})
}

// Faults 19: two installers at once.
func TestApplyConcurrently(t *testing.T) {
	p := newPlace(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			assert.Check(t, installAs(p.path, p.state, "agent"+strconv.Itoa(i)))
		})
	}
	wg.Wait()
	assert.Equal(t, len(Handlers(p.path)), 8)
	left, err := os.ReadDir(filepath.Dir(p.path))
	assert.NilError(t, err)
	assert.Equal(t, len(left), 1) // no stray temporary file
}

// installAs is one installer of several, for a program of its own.
func installAs(path, state, program string) error {
	_, err := Apply(context.Background(), Job{Path: path, StateDir: state, Spec: Spec{
		Own: OwnCommand(program), Events: []string{"Stop"}, Want: []Entry{{Event: "Stop", Command: program + " stop"}},
	}})
	return err
}

// Faults 19, as processes: this test runs itself again.
func TestApplyProcesses(t *testing.T) {
	if job := os.Getenv("SETTINGS_TEST_INSTALL"); job != "" {
		fields := strings.Split(job, "|")
		assert.NilError(t, installAs(fields[0], fields[1], fields[2]))
		return
	}
	p := newPlace(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestApplyProcesses$")
			cmd.Env = append(os.Environ(), "SETTINGS_TEST_INSTALL="+p.path+"|"+p.state+"|agent"+strconv.Itoa(i))
			out, err := cmd.CombinedOutput()
			assert.Check(t, err, string(out))
		})
	}
	wg.Wait()
	assert.Equal(t, len(Handlers(p.path)), 4)
}

// Faults 19: the agent, which knows no lock, rewrites the file while we plan.
func TestApplyWhileAgentWrites(t *testing.T) {
	foreign := func(n int) string {
		return fmt.Sprintf(`{"n":%d,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`, n)
	}
	tests := map[string]struct {
		writes int
		err    error
	}{
		"once":        {1, nil},
		"three times": {3, nil},
		"always":      {1000, session.ErrChanged},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, local(foreign(0)))
			spec := stopOnly()
			own, n := spec.Own, 0
			spec.Own = func(h Handler) bool { // is called between reading and writing
				if n < tt.writes {
					n++
					assert.NilError(t, os.WriteFile(p.path, []byte(foreign(n)), 0o600))
				}
				return own(h)
			}
			out, err := p.apply(t, spec)
			if tt.err != nil {
				assert.ErrorIs(t, err, tt.err)
				assert.Equal(t, out.Changed(), false)
				assert.Equal(t, readFile(t, p.path), foreign(n))
				return
			}
			assert.NilError(t, err)
			assert.Equal(t, readFile(t, p.path), strings.Replace(foreign(tt.writes), `}]}]`, `}]},{"matcher":"","hooks":[{"type":"command","command":"brepl hook stop"}]}]`, 1))
		})
	}
	t.Run("while install creates", func(t *testing.T) {
		p := newPlace(t, local(foreign(1)))
		out := Outcome{Path: p.path, After: []byte("{}")} // read before the file was there
		err := Job{Path: p.path, Spec: stopOnly()}.write(&out, nil, known{})
		assert.ErrorIs(t, err, session.ErrChanged)
		assert.Equal(t, readFile(t, p.path), foreign(1))
	})
	t.Run("while uninstall deletes", func(t *testing.T) {
		p := newPlace(t)
		p.mustApply(t, stopOnly())
		spec := uninstall()
		own, once := spec.Own, false
		spec.Own = func(h Handler) bool {
			if !once {
				once = true
				assert.NilError(t, os.WriteFile(p.path, []byte(`{"n":1}`), 0o600))
			}
			return own(h)
		}
		out := p.mustApply(t, spec)
		assert.Equal(t, out.Changed(), false)
		assert.Equal(t, readFile(t, p.path), `{"n":1}`)
	})
}
