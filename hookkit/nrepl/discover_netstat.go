package nrepl

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// parseNetstat reads what netstat prints of TCP sockets and returns the
// listening ones, of all users. The columns are those of Windows:
//
//	Proto  Local Address    Foreign Address  State      PID
//	TCP    127.0.0.1:7888   0.0.0.0:0        LISTENING  4711
//
// or of the BSDs and macOS, where -v adds the process, in a column that moves
// with the version; macOS 26 writes it together with a name that may have blanks:
//
//	Proto Recv-Q Send-Q  Local Address   Foreign Address  (state)  … pid  epid …
//	tcp4       0      0  127.0.0.1.7888  *.*              LISTEN   … 4711 0    …
//	tcp46      0      0  *.9630          *.*              LISTEN   … My App:4711 …
func parseNetstat(text string) []*listener {
	var list []*listener
	var columns []string // after the state, of BSD
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if i := slices.IndexFunc(fields, func(s string) bool { return strings.EqualFold(s, "(state)") }); i >= 0 {
			columns = fields[i+1:]
			continue
		}
		var address, port string
		var pid int
		switch {
		case len(fields) >= 5 && fields[0] == "TCP" && (fields[2] == "0.0.0.0:0" || fields[2] == "[::]:0"): // the word for listening is translated
			address, port, _ = net.SplitHostPort(fields[1]) // no address is no listener
			pid = digits(fields[len(fields)-1])
		case len(fields) >= 6 && strings.HasPrefix(fields[0], "tcp") && fields[5] == "LISTEN":
			at := max(strings.LastIndexByte(fields[3], '.'), 0)
			address, port = fields[3][:at], fields[3][at:]
			pid = bsdProcess(columns, fields[6:])
		}
		number := digits(strings.TrimPrefix(port, "."))
		if host := hostToDial(address); host != "" && checkPort(number) == nil {
			list = append(list, &listener{Target: Target{Host: host, Port: number, Source: discovered}, pid: pid})
		}
	}
	return list
}

// hostToDial returns the host under which a listening address is reached:
// "localhost" for all addresses; "" if it is none.
func hostToDial(address string) string {
	if address == "*" {
		return "localhost"
	}
	addr, err := netip.ParseAddr(address)
	switch {
	case err != nil:
		return ""
	case addr.Unmap().IsUnspecified():
		return "localhost"
	}
	return addr.Unmap().String()
}

// bsdProcess finds the process in what follows the state; 0 where it is not.
func bsdProcess(columns, fields []string) int {
	if i := slices.Index(columns, "pid"); i >= 0 && i < len(fields) {
		return digits(fields[i])
	}
	if i := slices.Index(columns, "process:pid"); i >= 0 && i < len(fields) {
		for _, field := range fields[i:] {
			if _, pid, ok := strings.Cut(field, ":"); ok && digits(pid) > 0 {
				return digits(pid)
			}
		}
	}
	return 0
}

// digits returns the number, 0 if it is none.
func digits(s string) int {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}
