//go:build unix

package fakes

import (
	"os"
	"syscall"
)

// termGroup asks the child and everything in its group to end.
func termGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// groupAlive reports whether the ended child left a process in its group.
func groupAlive(p *os.Process) bool { return syscall.Kill(-p.Pid, 0) == nil }
