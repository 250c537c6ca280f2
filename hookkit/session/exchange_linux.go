package session

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange makes each of two files take the other's place, at one moment. Not
// every file system can.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// openHandle opens a file so that it stays, whatever its kind and mode, without
// access to its content.
func openHandle(path string) (*os.File, error) {
	return os.OpenFile(path, unix.O_PATH|unix.O_NOFOLLOW, 0)
}
