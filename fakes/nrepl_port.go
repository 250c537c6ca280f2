package fakes

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
)

// port is what a server listens on.
type port struct {
	net.Listener
	release func() // gives back what was held beside it; more than once is fine
}

// portTries bounds how many free ports are asked for, until one is free on both
// loopback addresses.
const portTries = 100

// listen takes the server's port, and holds the same port of the other loopback
// address. Otherwise the kernel may give that one to another test's server, and
// a client that tries 127.0.0.1 and ::1 would find it instead of a refusal.
func (c nreplConfig) listen() (port, error) {
	if c.socket != "" {
		ln, err := net.Listen("unix", c.socket)
		return port{ln, func() {}}, err
	}
	free := strings.HasSuffix(c.address, ":0")
	for range portTries {
		ln, err := net.Listen("tcp", c.address)
		if err != nil {
			return port{}, err
		}
		p, err := c.hold(ln)
		if err == nil || !free && errors.Is(err, syscall.EADDRINUSE) {
			return p, nil // a port that was asked for is taken as it is
		}
		_ = ln.Close() // err is the one to tell
		if !errors.Is(err, syscall.EADDRINUSE) {
			return port{}, err
		}
	}
	return port{}, fmt.Errorf("no port of %d is free on both 127.0.0.1 and ::1", portTries)
}

// hold holds what stands beside the listener, and for a server that is gone from
// the start its own port too.
func (c nreplConfig) hold(ln net.Listener) (port, error) {
	own := *ln.Addr().(*net.TCPAddr)
	other := own
	other.IP = net.IPv6loopback
	if own.IP.To4() == nil {
		other.IP = net.IPv4(127, 0, 0, 1)
	}
	held := []net.TCPAddr{other}
	if c.refuseAfter == 0 {
		if err := ln.Close(); err != nil {
			return port{}, err
		}
		held = append(held, own)
	}
	var files []*os.File
	release := func() {
		for _, f := range files {
			_ = f.Close() // it is closed, or was
		}
	}
	for _, addr := range held {
		f, err := holdPort(addr)
		switch {
		case err == nil && f != nil:
			files = append(files, f)
		case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT): // this machine has one family only
		case err != nil:
			release()
			return port{ln, func() {}}, err
		}
	}
	return port{ln, release}, nil
}
