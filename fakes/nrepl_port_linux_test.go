package fakes_test

import (
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/hookkit/brepl/fakes"
	"gotest.tools/v3/assert"
)

// No other server is given the port on the other loopback address, or the port
// of a server that is gone: clients try both.
func TestNREPLHoldsItsPort(t *testing.T) {
	none := func(addr string) {
		t.Helper()
		_, err := net.Dial("tcp", addr)
		assert.ErrorIs(t, err, syscall.ECONNREFUSED)
		alone := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0) })
		}}
		_, err = alone.Listen(t.Context(), "tcp", addr)
		assert.ErrorIs(t, err, syscall.EADDRINUSE)
	}
	v4 := fakes.NewNREPL(t)
	none(fmt.Sprintf("[::1]:%d", v4.Port()))
	v6 := fakes.NewNREPL(t, fakes.NREPLOnIPv6())
	none(fmt.Sprintf("127.0.0.1:%d", v6.Port()))
	stale := fakes.NewNREPL(t, fakes.NREPLRefuseAfter(0))
	none(stale.Addr())
	stale.Close()
	ln, err := net.Listen("tcp", stale.Addr())
	assert.NilError(t, err, "a server that was closed holds its port")
	assert.NilError(t, ln.Close())
}
