//go:build unix

package fakes

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// socketPair returns two connected unix sockets. Neither is inherited by
// accident, and ours can be closed while it is read or written.
func socketPair() (child, parent *os.File, err error) {
	syscall.ForkLock.RLock() // not every unix can set close-on-exec in the same call
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	if err := syscall.SetNonblock(fds[1], true); err != nil {
		_, _ = syscall.Close(fds[0]), syscall.Close(fds[1])
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "child's end"), os.NewFile(uintptr(fds[1]), "host's end"), nil
}

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the child and everything it left in its group. The group may
// be gone, which is what is wanted.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

func signalName(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}

func shellWithoutStdin() (string, error) { return exec.LookPath("sh") }
