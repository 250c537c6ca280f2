//go:build unix

package proc

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// group is the process group of a command. Its id is the pid of the command; the
// system does not give it to another process while the group has a member.
type group struct{ id int }

// child is a process by its number, which is ours until wait returns. The os package would first try whether the kernel
// knows process descriptors, by starting a process: 0.1 ms of a hook's 4.
type child struct{ pid int }

// startChild starts a command as the leader of a new process group.
func startChild(path string, argv []string, dir string, env []string, in, out *os.File) (child, error) {
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Dir:   dir,
		Env:   env,
		Files: []uintptr{in.Fd(), out.Fd(), out.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return child{}, &os.PathError{Op: "fork/exec", Path: path, Err: err}
	}
	return child{pid}, nil
}

func (c child) group() group { return group{c.pid} }

// wait returns when the process has ended, and not before it may be forgotten.
func (c child) wait() (ending, error) {
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(c.pid, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return ending{code: -1}, err
		case status.Signaled():
			return ending{code: -1, signal: deathSignal(status.Signal())}, nil
		case status.Exited():
			return ending{code: status.ExitStatus()}, nil
		}
	}
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

// deathSignal names the signal that ended a process.
func deathSignal(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
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
