package session

import (
	"errors"
	"io/fs"
	"testing"

	"gotest.tools/v3/assert"
)

func TestFindDoesNotMakeTheFolder(t *testing.T) {
	root := t.TempDir()
	env := func(name string) string {
		if name == "BREPL_STATE_DIR" {
			return root
		}
		return ""
	}
	s, err := Open(env, "id")
	assert.NilError(t, err)
	_, err = s.Find()
	assert.Assert(t, errors.Is(err, fs.ErrNotExist))
	_, err = s.Find()
	assert.Assert(t, errors.Is(err, fs.ErrNotExist), "looking twice made it")

	made, err := s.Dir()
	assert.NilError(t, err)
	found, err := s.Find()
	assert.NilError(t, err)
	assert.Equal(t, found, made)
}
