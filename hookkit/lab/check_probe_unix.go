//go:build unix

package lab

import (
	"errors"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (p *probe) terminate() bool { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM) == nil }

func (p *probe) kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) } // nobody left is fine

// groupAlive reports whether the hook's group still has a member.
func (p *probe) groupAlive() bool { return syscall.Kill(-p.cmd.Process.Pid, 0) == nil }

// processAlive reports whether there is such a process, ours or not.
func processAlive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func killProcess(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) } // gone is fine
