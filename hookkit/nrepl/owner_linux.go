package nrepl

import (
	"encoding/binary"
	"net/netip"
	"os"
	"strings"
	"syscall"
)

// overflowUID is what the kernel shows for a user that has no number in this user namespace, as in a container without root.
const overflowUID = 65534

// trusted says whether listeners of a user may be used: this user's, root's, and those of which it cannot be told whose they are.
func trusted(uid int) bool {
	return uid == os.Geteuid() || uid == 0 || uid == overflowUID && !allUsers(proc("self/uid_map", 4096))
}

// allUsers says whether a map of user ids is that of the machine itself, in which all users have their numbers.
func allUsers(uidMap string) bool {
	return strings.Join(strings.Fields(uidMap), " ") == "0 0 4294967295"
}

// portOwner returns whose the listener is that a connection to a port of this machine reaches.
func portOwner(host string, port int) (uid int, known bool) {
	uid, known, ok := askPortOwner(host, port)
	if ok {
		return uid, known
	}
	for _, name := range tables(host, "tcp6", "tcp") {
		if uid, known = ownerIn(proc("net/"+name, maxProcNet), host, port); known {
			return uid, true
		}
	}
	return 0, false
}

// tables returns where listeners stand that a connection to host may reach: a JVM listens on IPv6 for both families.
func tables[T any](host string, v6, v4 T) []T {
	if strings.Contains(host, ":") {
		return []T{v6}
	}
	return []T{v6, v4}
}

// ownerIn looks for a listener in one of the kernel's tables. Beside one for all addresses there is none for a single one.
func ownerIn(table, host string, port int) (uid int, known bool) {
	for line := range strings.Lines(table) {
		if l, owner := parseTCPRow(line); l != nil && l.Port == port && (l.Host == host || l.Host == "localhost") {
			return owner, true
		}
	}
	return 0, false
}

// askPortOwner asks the kernel for the listeners on one port (sock_diag(7)). That takes 20 µs; the tables of /proc hold every connection too,
// and take milliseconds. ok is false where it gives no answer, as in a sandbox.
func askPortOwner(host string, port int) (uid int, known, ok bool) {
	const (
		netlinkSockDiag  = 4
		sockDiagByFamily = 20
		listening        = 1 << 10 // TCP_LISTEN
		header, question = 16, 56
	)
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		return 0, false, false
	}
	defer func() { _ = syscall.Close(fd) }()                                                             // only asked
	_ = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: 1}) // the kernel answers at once
	order := binary.NativeEndian
	for _, family := range tables[byte](host, syscall.AF_INET6, syscall.AF_INET) {
		ask := make([]byte, header+question) // nlmsghdr, inet_diag_req_v2
		order.PutUint32(ask[0:], header+question)
		order.PutUint16(ask[4:], sockDiagByFamily)
		order.PutUint16(ask[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
		ask[16], ask[17] = family, syscall.IPPROTO_TCP
		order.PutUint32(ask[20:], listening)
		binary.BigEndian.PutUint16(ask[24:], uint16(port)) //nolint:gosec // 1 to 65535
		if err = syscall.Sendto(fd, ask, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
			return 0, false, false
		}
		if uid, known, ok = readPortOwner(fd, host, port); known || !ok {
			return uid, known, ok
		}
	}
	return 0, false, true
}

// readPortOwner reads the answer, to its end.
func readPortOwner(fd int, host string, port int) (uid int, known, ok bool) {
	const portAt, addressAt, uidAt, size = 4, 8, 64, 72 // of inet_diag_msg
	for page := make([]byte, 32<<10); ; {
		n, _, err := syscall.Recvfrom(fd, page, 0)
		if err != nil {
			return 0, false, false
		}
		messages, err := syscall.ParseNetlinkMessage(page[:n])
		if err != nil || len(messages) == 0 {
			return 0, false, false
		}
		for _, m := range messages {
			switch {
			case m.Header.Type == syscall.NLMSG_DONE:
				return uid, known, true
			case m.Header.Type == syscall.NLMSG_ERROR || len(m.Data) < size:
				return 0, false, false
			case int(binary.BigEndian.Uint16(m.Data[portAt:])) != port:
				continue // of a kernel that does not choose by port
			}
			address := m.Data[addressAt : addressAt+4]
			if m.Data[0] == syscall.AF_INET6 {
				address = m.Data[addressAt : addressAt+16]
			}
			addr, _ := netip.AddrFromSlice(address)
			if addr = addr.Unmap(); addr.IsUnspecified() || addr.String() == host {
				uid, known = int(binary.NativeEndian.Uint32(m.Data[uidAt:])), true
			}
		}
	}
}

func socketOwner(path string) (uid int, known bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
