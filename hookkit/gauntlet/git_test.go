package gauntlet

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// On a busy machine, git's words may come after its end. To lose them would let a stop pass that should be blocked.
func TestGitsLastWordsAreAwaited(t *testing.T) {
	t.Parallel()
	p := fakes.NewProject(t, map[string]string{"a": "1\n"}, fakes.WithGit())
	git, err := exec.LookPath("git")
	assert.NilError(t, err)
	slow := t.TempDir()
	script := "#!/bin/sh\n(sleep 0.4; exec " + git + " \"$@\") &\n"
	assert.NilError(t, os.WriteFile(filepath.Join(slow, "git"), []byte(script), 0o700))
	repo, err := openRepository(t.Context(), p.Dir(), append(p.GitEnv(), "PATH="+slow+":"+os.Getenv("PATH")))
	assert.NilError(t, err)
	assert.NilError(t, repo.learn())
	assert.Equal(t, repo.branch, "main")
}

// A snapshot is no affair of the user's hooks.
func TestSnapshotRunsNoHooks(t *testing.T) {
	t.Parallel()
	p, s := snapped(t)
	hook := p.Path(".git/hooks/post-index-change")
	assert.NilError(t, os.MkdirAll(filepath.Dir(hook), 0o755))
	assert.NilError(t, os.WriteFile(hook, []byte("#!/bin/sh\necho x >> "+p.Path(".git/ran")+"\n"), 0o700))
	p.Write("a", "changed\n")
	s.must(t)
	_, err := os.Stat(p.Path(".git/ran"))
	assert.Assert(t, os.IsNotExist(err))
}

// Long names of many files fit on no command line.
func TestDiffOfManyLongNames(t *testing.T) {
	t.Parallel()
	_, s := snapped(t)
	tree := s.must(t)
	var files []Change
	for i := range 1900 {
		files = append(files, Change{Path: strings.Repeat(strings.Repeat("d", 200)+"/", 10) + strconv.Itoa(i)})
	}
	_, err := s.diff(t.Context(), s.repo.head, tree, files)
	assert.NilError(t, err)
}
