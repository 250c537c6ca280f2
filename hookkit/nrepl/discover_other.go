//go:build !linux

package nrepl

import (
	"context"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// listening returns the TCP sockets on which this user listens, as netstat and
// ps tell, which every system has. Windows does not tell whose they are.
func listening(ctx context.Context) []*listener {
	if runtime.GOOS == "windows" {
		return parseNetstat(output(ctx, "netstat", "-ano"))
	}
	own := make(chan string, 1)
	go func() { own <- output(ctx, "/bin/ps", "-x", "-o", "pid=") }()
	list := parseNetstat(output(ctx, "netstat", "-anv", "-p", "tcp"))
	pids := map[int]bool{0: true} // a system that does not tell the process: asking is the only way
	for _, field := range strings.Fields(<-own) {
		pids[digits(field)] = true
	}
	return slices.DeleteFunc(list, func(l *listener) bool { return !pids[l.pid] })
}

// output returns what a program prints, "" if it cannot run.
func output(ctx context.Context, name string, args ...string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		path = "/usr/sbin/" + name // where macOS has netstat, not on every PATH
	}
	text, _ := exec.CommandContext(ctx, path, args...).Output() // what was printed before an error is good
	return string(text)
}

// attribute does nothing: these systems do not tell where another process runs,
// so the servers are asked.
func attribute(context.Context, []*listener, func(string) bool) {}

// portOwner knows nothing: what netstat prints has no users, and asking it takes longer than a hook should.
func portOwner(string, int) (uid int, known bool) { return 0, false }

func socketOwner(string) (uid int, known bool) { return 0, false }

func trusted(int) bool { return true }
