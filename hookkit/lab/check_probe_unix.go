//go:build unix

package lab

import (
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (p *probe) terminate() bool { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM) == nil }

func (p *probe) kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) } // nobody left is fine

// groupAlive reports whether the hook's group still has a member.
func (p *probe) groupAlive() bool { return syscall.Kill(-p.cmd.Process.Pid, 0) == nil }

func killProcess(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) } // gone is fine
