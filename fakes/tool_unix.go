//go:build unix

package fakes

import (
	"strings"
	"syscall"
	"time"
)

// toolScript is the executable: the program once more, in the same process.
func toolScript(self, socket, _ string) (string, error) {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	return "#!/bin/sh\nexec " + quote(self) + " " + quote(toolMarker+socket) + ` "$@"` + "\n", nil
}

// killItself ends the process as the kernel does when memory is short.
func killItself() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	time.Sleep(time.Minute) // the signal is on its way
}
