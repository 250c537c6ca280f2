package nrepl

import (
	"context"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxProcNet bounds how much of a table of sockets is read. Linux lists the
// listening ones first, so thousands of connections do not hide a server; a
// megabyte holds 6,900 sockets.
const maxProcNet = 1 << 20

// listening returns the TCP sockets on which this user listens, and all
// unix-domain sockets with a path on which somebody listens. What cannot be read
// is left out: a container may hide it.
func listening(context.Context) []*listener {
	var list []*listener
	for _, name := range [...]string{"tcp", "tcp6"} {
		list = append(list, parseTCP(proc("net/"+name, maxProcNet), os.Geteuid())...)
	}
	return append(list, parseUnix(proc("net/unix", maxProcNet))...)
}

// proc returns the beginning of a file in /proc, "" if it cannot be read.
func proc(name string, limit int64) string {
	f, err := os.Open("/proc/" + name)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, limit)) // what was read before an error is good
	return string(text)
}

// parseTCP reads /proc/net/tcp or tcp6:
//
//	sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …
func parseTCP(table string, uid int) []*listener {
	var list []*listener
	for line := range strings.Lines(table) {
		if !strings.Contains(line, " 0A ") { // TCP_LISTEN
			continue
		}
		if l, owner := parseTCPRow(line); l != nil && owner == uid {
			list = append(list, l)
		}
	}
	return list
}

// parseTCPRow reads one row of the table, and whose socket it is; nil where
// nobody listens.
func parseTCPRow(line string) (l *listener, uid int) {
	fields := strings.Fields(line)
	if len(fields) < 10 || fields[3] != "0A" {
		return nil, 0
	}
	host, port, ok := parseProcAddress(fields[1])
	inode, err := strconv.ParseUint(fields[9], 10, 64)
	uid, uidErr := strconv.Atoi(fields[7])
	if !ok || err != nil || uidErr != nil {
		return nil, 0
	}
	return &listener{Target: Target{Host: host, Port: port, Source: discovered}, inode: inode}, uid
}

// parseProcAddress reads "0100007F:1F90": an address as words of 32 bits in the
// byte order of the machine, which is little-endian wherever JVMs run.
func parseProcAddress(text string) (host string, port int, ok bool) {
	address, portText, _ := strings.Cut(text, ":")
	words, err := hex.DecodeString(address)
	n, portErr := strconv.ParseUint(portText, 16, 16)
	if err != nil || portErr != nil || n == 0 || len(words)%4 != 0 {
		return "", 0, false
	}
	for i := 0; i < len(words); i += 4 {
		words[i], words[i+1], words[i+2], words[i+3] = words[i+3], words[i+2], words[i+1], words[i]
	}
	addr, ok := netip.AddrFromSlice(words)
	if !ok {
		return "", 0, false
	}
	addr = addr.Unmap()
	if addr.IsUnspecified() {
		return "localhost", int(n), true
	}
	return addr.String(), int(n), true
}

// parseUnix reads /proc/net/unix:
//
//	Num: RefCount Protocol Flags Type St Inode Path
func parseUnix(table string) []*listener {
	const accepts, stream = "00010000", "0001" // __SO_ACCEPTCON, SOCK_STREAM
	var list []*listener
	for line := range strings.Lines(table) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(fields) < 4 || fields[3] == "" || !strings.HasPrefix(fields[3], accepts+" "+stream+" ") {
			continue
		}
		// The inode is padded with blanks, and the path may have some.
		_, rest, _ := strings.Cut(fields[3], " "+stream+" ")
		_, rest, _ = strings.Cut(rest, " ")
		number, path, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
		inode, err := strconv.ParseUint(number, 10, 64)
		if err == nil && path != "" && path[0] != '@' { // an abstract name is no path
			list = append(list, &listener{Target: Target{Socket: path, Source: discovered}, inode: inode})
		}
	}
	return list
}

// attribute finds the processes behind the listeners whose process is not known
// yet, by the files that the processes have open, and where they run. Only
// processes in wanted folders are looked at, all if it is nil: reading one link
// of a process is cheap, a server may have thousands of open files.
func attribute(ctx context.Context, list []*listener, wanted func(dir string) bool) {
	sought := map[string]int{}
	for i, l := range list {
		if l.pid == 0 {
			sought["socket:["+strconv.FormatUint(l.inode, 10)+"]"] = i
		}
	}
	for _, name := range names("/proc") {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if len(sought) == 0 || ctx.Err() != nil {
			return
		}
		process := "/proc/" + name
		dir, err := os.Readlink(process + "/cwd") // of another user's process: not permitted
		if err != nil || wanted != nil && !wanted(dir) {
			continue
		}
		for _, fd := range names(process + "/fd") {
			link, err := os.Readlink(process + "/fd/" + fd)
			if err != nil {
				continue
			}
			if i, ok := sought[link]; ok {
				delete(sought, link)
				list[i].pid, list[i].dir = pid, dir
				if list[i].Socket != "" {
					list[i].Socket = filepath.Clean(absolute(dir, list[i].Socket))
					list[i].repl = isREPL(proc(name+"/cmdline", 4096)) && !startedUs(pid)
				}
			}
		}
	}
}

// isREPL says whether a command line, with a NUL after each argument, is that of
// a program whose nREPL server may listen on a unix-domain socket. nbb is a
// script, which node runs.
func isREPL(commandLine string) bool {
	program, rest, _ := strings.Cut(commandLine, "\x00")
	if filepath.Base(program) == "node" {
		program, _, _ = strings.Cut(rest, "\x00")
	}
	return slices.Contains([]string{"java", "bb", "nbb", "lg"}, filepath.Base(program))
}

// startedUs says whether a process is this one, or its parent, or that one's, …
func startedUs(pid int) bool {
	for at := os.Getpid(); at != pid; {
		stat := proc(strconv.Itoa(at)+"/stat", 4096) // pid (name) state parent …
		fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 || digits(fields[1]) == 0 {
			return false
		}
		at = digits(fields[1])
	}
	return true
}

// names returns what is in a folder, in the order of the system, which for /proc
// is that of the numbers: a parent comes before its children.
func names(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(-1) // what was read before an error is good
	return list
}
