//go:build !linux

package nrepl

import (
	"io"
	"net"
)

// quickReader is for Linux: elsewhere there is no TCP_QUICKACK.
func quickReader(nc net.Conn) io.Reader { return nc }
