package gauntlet

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/hookkit/brepl/fakes"
)

// Fault 53: what is changed in a submodule and not committed there changes nothing that a tree of the project could hold.
func TestSubmodule(t *testing.T) {
	t.Parallel()
	part := fakes.NewProject(t, map[string]string{"f": "1\n"}, fakes.WithGit())
	p, r, _ := reviewedProject(t)
	p.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", part.Dir(), "part")
	p.Git("commit", "-qm", "a submodule")
	assert.Equal(t, r.again(t).Status, StatusNoChanges)
	for _, file := range []string{"part/f", "part/untracked"} {
		p.Write(file, "changed\n")
		for range 2 { // nobody knows whether it is as it was
			s := r.again(t)
			assert.Equal(t, s.Status, StatusPassed, file)
			assert.Equal(t, len(s.Changes.Files), 1)
			assert.Equal(t, s.Changes.Files[0].Path, "part")
			assert.Assert(t, strings.Contains(strings.Join(s.Notes, "\n"), "part is a submodule with changes"), "%q", s.Notes)
		}
		p.Git("-C", "part", "add", "-A")
		p.Git("-C", "part", "commit", "-qm", file)
		assert.Equal(t, r.again(t).Status, StatusPassed, "its commit is new")
		assert.Equal(t, r.again(t).Status, StatusNoChanges)
	}
}

// A failure in a submodule can be mended there, though nothing that has a name changes.
func TestSubmoduleAtTheRetryLimit(t *testing.T) {
	t.Parallel()
	part := fakes.NewProject(t, map[string]string{"f": "1\n"}, fakes.WithGit())
	p, r, s := reviewedProject(t)
	p.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", part.Dir(), "part")
	p.Git("commit", "-qm", "a submodule")
	r.config.MaxRetries = 0
	p.Write("part/f", "broken\n")
	s.answer = says(Failed, "broken")
	assert.Equal(t, r.again(t).Status, StatusFailed)
	assert.Equal(t, r.again(t).Status, StatusRetryLimitExceeded)
	s.answer = says(Passed, "")
	p.Write("part/f", "mended\n")
	assert.Equal(t, r.again(t).Status, StatusPassed)
}
