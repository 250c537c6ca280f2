package nrepl

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// Whose a listener is, as the kernel's tables tell, and whom a port file may lead to.
func TestPortOwner(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		table, host string
		port        int
		uid         int
		known       bool
	}{
		{tcpTable, "127.0.0.1", 7888, 1000, true},
		{tcpTable, "127.0.0.1", 22, 0, true},
		{tcpTable, "127.0.0.1", 9630, 1000, true}, // on all addresses
		{tcpTable, "127.0.0.1", 41138, 0, false},  // a connection
		{tcpTable, "127.0.0.1", 7889, 0, false},   // on another address
		{tcp6Table, "::1", 7890, 1000, true},
		{tcp6Table, "127.0.0.1", 7892, 1000, true},
		{tcp6Table, "::1", 7891, 1000, true},
		{"", "::1", 7891, 0, false},
	} {
		uid, known := ownerIn(row.table, row.host, row.port)
		assert.Check(t, uid == row.uid && known == row.known, "%s:%d: %d %v", row.host, row.port, uid, known)
	}
	// The kernel says the same, asked for one port. It may be that it does not answer here.
	for _, at := range [][2]string{{"127.0.0.1:0", "127.0.0.1"}, {"[::]:0", "127.0.0.1"}, {"[::]:0", "::1"}, {"[::1]:0", "::1"}, {"0.0.0.0:0", "127.0.0.1"}} {
		ln, err := net.Listen("tcp", at[0])
		assert.NilError(t, err)
		port := ln.Addr().(*net.TCPAddr).Port
		uid, known, ok := askPortOwner(at[1], port)
		assert.Check(t, !ok || known && uid == os.Geteuid(), "%v: %d %v", at, uid, known)
		uid, known = portOwner(at[1], port)
		assert.Check(t, known && uid == os.Geteuid(), "%v: %d %v", at, uid, known)
		assert.NilError(t, ln.Close())
		_, known = portOwner(at[1], port)
		assert.Check(t, !known, "%v", at)
	}
	assert.Assert(t, trusted(os.Geteuid()) && trusted(0) && !trusted(12345))
	assert.Assert(t, allUsers("         0          0 4294967295\n") && !allUsers("0 1000 1\n"))
}

// A port file whose port another user's process took leads to nobody, and nothing is sent there. An address given by hand is taken.
func TestStranger(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can listen as another user")
	}
	ln := listenAs(t, 12345)
	port := ln.Addr().(*net.TCPAddr).Port
	got := make(chan int)
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			n, _ := nc.Read(make([]byte, 100)) // how much is what is asked
			_ = nc.Close()
			got <- n
		}
	}()
	dir, text := t.TempDir(), strconv.Itoa(port)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, ".nrepl-port"), []byte(text), 0o600))
	_, err := Connect(t.Context(), Lookup{Dir: dir})
	assert.Error(t, err, "no nREPL server: 127.0.0.1:"+text+" from .nrepl-port: another user (uid 12345) listens there, so it is not used; "+
		"--port takes it all the same; [::1]:"+text+" from .nrepl-port: connection refused")
	assert.Equal(t, <-got, 0)
	_, notes := Servers(t.Context(), Lookup{Dir: dir})
	assert.Assert(t, len(notes) == 1 && strings.Contains(notes[0], "another user (uid 12345)"), notes)
	_, err = Connect(t.Context(), Lookup{Dir: dir, Port: port, Host: "127.0.0.1"})
	assert.ErrorContains(t, err, "the connection was closed without an answer")
	assert.Assert(t, <-got > 0)
}

// listenAs makes a listener that belongs to another user: the kernel takes the file system's idea of the user.
func listenAs(t *testing.T, uid uintptr) net.Listener {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uid, 0, 0) // the tables show whether it worked
	defer func() { _, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(os.Geteuid()), 0, 0) }()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

// What the check costs where a port file names a server, on IPv6 as a JVM does and on IPv4.
func BenchmarkPortOwner(b *testing.B) {
	for _, addr := range []string{"[::]:0", "127.0.0.1:0"} {
		ln, err := net.Listen("tcp", addr)
		assert.NilError(b, err)
		b.Run(addr, func(b *testing.B) {
			for range b.N {
				if _, known := portOwner("127.0.0.1", ln.Addr().(*net.TCPAddr).Port); !known {
					b.Fatal("not found")
				}
			}
		})
		_ = ln.Close()
	}
}
