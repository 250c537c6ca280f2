package nrepl

import (
	"fmt"
	"net"
	"strconv"
)

// strangerError says that another user listens where a port file leads. A port file outlives its server, and then the port may be
// anybody's: code that is sent there is given away, and what is answered from there proves nothing.
type strangerError struct{ uid int }

func (e *strangerError) Error() string {
	return fmt.Sprintf("another user (uid %d) listens there, so it is not used; --port takes it all the same", e.uid)
}

// stranger returns a *strangerError where another user than this one and root is known to listen at an address of a target that a port file
// names. Who gives an address by hand has said whom to trust.
func (t Target) stranger(addr string) error {
	if !t.fromFile() {
		return nil
	}
	uid, known := 0, false
	if t.Socket != "" {
		uid, known = socketOwner(t.Socket)
	} else if isLocal(t.Host) {
		host, port, _ := net.SplitHostPort(addr)
		number, _ := strconv.Atoi(port) // an address of ours has both
		uid, known = portOwner(host, number)
	}
	if !known || trusted(uid) {
		return nil
	}
	return &strangerError{uid}
}
