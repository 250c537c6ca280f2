package fakes

import (
	"net"
	"os"
	"syscall"
)

// holdPort binds a port and does not listen on it: a connection is refused, and
// nobody who asks for a free port is given this one. Who names it gets it all the
// same, as [NREPLOnPort] must.
func holdPort(addr net.TCPAddr) (*os.File, error) {
	family, to := syscall.AF_INET6, syscall.Sockaddr(&syscall.SockaddrInet6{Port: addr.Port, Addr: [16]byte(addr.IP.To16())})
	if v4 := addr.IP.To4(); v4 != nil {
		family, to = syscall.AF_INET, &syscall.SockaddrInet4{Port: addr.Port, Addr: [4]byte(v4)}
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	f := os.NewFile(uintptr(fd), addr.String())
	if err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err == nil {
		err = syscall.Bind(fd, to)
	}
	if err != nil {
		_ = f.Close() // err is the one to tell
		return nil, os.NewSyscallError("bind", err)
	}
	return f, nil
}
