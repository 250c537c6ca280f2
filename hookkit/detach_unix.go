//go:build unix

package hookkit

import (
	"os"

	"golang.org/x/sys/unix"
)

// detached is the same stream behind a descriptor above 2, which no child inherits. Where there is none left, or the stream
// is closed, it is the file itself.
func detached(f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return f
	}
	return os.NewFile(uintptr(fd), f.Name())
}
