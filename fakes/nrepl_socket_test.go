package fakes_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
)

// A server on a unix-domain socket answers as one on a port does, and leaves the empty port file of nREPL.
func TestNREPLOnSocket(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a b")
	s := fakes.NewNREPL(t, fakes.NREPLOnSocket(path))
	s.On("(+ 1 2)").Value("3")
	assert.Equal(t, s.Port(), 0)
	assert.Equal(t, s.Host(), "")
	assert.Equal(t, s.Addr(), path)
	content, err := os.ReadFile(s.WritePortFile(dir))
	assert.NilError(t, err)
	assert.Equal(t, string(content), "")

	nc, err := net.Dial("unix", path)
	assert.NilError(t, err)
	defer nc.Close()
	_, err = nc.Write([]byte("d4:code7:(+ 1 2)2:id1:12:op4:evale"))
	assert.NilError(t, err)
	answer := make([]byte, 1000)
	n, err := nc.Read(answer)
	assert.NilError(t, err)
	assert.Assert(t, n > 0 && answer[0] == 'd', "%q", answer[:n])
	assert.Equal(t, s.Connections(), 1)

	s.Close()
	_, err = net.Dial("unix", path)
	assert.Assert(t, err != nil)
	s, err = fakes.StartNREPL(fakes.NREPLOnSocket(filepath.Join(dir, "no", "such", "folder")))
	assert.Assert(t, s == nil && err != nil)
}
