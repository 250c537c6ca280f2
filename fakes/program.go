package fakes

import (
	"os"
	"syscall"
)

// WriteProgram writes an executable file that can be started at once, also by
// a program that starts others at the same moment. A process forked while the
// file is open for writing holds it open until its own exec, and nobody can
// start a program that is open for writing: "text file busy". So nothing is
// forked between open and close.
func WriteProgram(path, content string) error { return writeUnforked(path, content, 0o755) }

// writeUnforked writes a file while this process forks nothing. The mode is
// that of a new file, less the umask.
func writeUnforked(path, content string, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(content), mode)
}
