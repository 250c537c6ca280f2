//go:build unix

package proc

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// groupAttr makes the command the leader of a new process group.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// alive reports whether the group has a member that we can signal and that is
// more than a zombie.
func (g group) alive() bool {
	return syscall.Kill(-g.id, 0) == nil && hasLiveMember(g.id)
}

// terminate asks the group to end. SIGCONT lets a stopped process act on it,
// for example one that stopped because it wanted to read from the terminal.
func (g group) terminate() {
	_ = syscall.Kill(-g.id, syscall.SIGTERM) // ESRCH: nobody left
	_ = syscall.Kill(-g.id, syscall.SIGCONT)
}

func (g group) kill() {
	_ = syscall.Kill(-g.id, syscall.SIGKILL) // ESRCH: nobody left
}

// deathSignal names the signal that ended a process, or is "".
func deathSignal(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	if name := unix.SignalName(status.Signal()); name != "" {
		return name
	}
	return status.Signal().String()
}

// signalName is "SIGKILL" for 9, "" for a number that is no signal.
func signalName(n int) string {
	return unix.SignalName(syscall.Signal(n))
}

func isTooBig(err error) bool {
	return errors.Is(err, syscall.E2BIG)
}

// drain reads what is in the pipe already, at most limit bytes, and never waits.
func drain(r *os.File, w io.Writer, limit int) error {
	raw, err := r.SyscallConn()
	if err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for limit > 0 {
		var n int
		var readErr error
		err = raw.Read(func(fd uintptr) bool {
			for {
				n, readErr = unix.Read(int(fd), buf)
				if !errors.Is(readErr, unix.EINTR) {
					return true
				}
			}
		})
		if err != nil || readErr != nil || n <= 0 {
			return nil //nolint:nilerr // empty or at its end: nothing more to keep
		}
		limit -= n
		if _, err = w.Write(buf[:n]); err != nil {
			return err
		}
	}
	return nil
}

// executable reports whether a file can be run.
func executable(info os.FileInfo) bool {
	return info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// candidates are the file names a program's name stands for.
func candidates(name string) []string { return []string{name} }

const foldEnv = false // names of variables are told apart by case
