//go:build unix

package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// tempVars name the system's folder for temporary files.
var tempVars = []string{"TMPDIR"}

// Flags that keep an open from following a symbolic link, and from waiting for
// the other end of a FIFO.
const safeOpen = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// privateName is the folder that holds the private folders of one user.
func privateName() string { return "brepl-" + strconv.Itoa(os.Geteuid()) }

// owner returns the user and group of a file.
func owner(info fs.FileInfo) (uid, gid int) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid), int(st.Gid)
	}
	return -1, -1
}

func ownedByUs(info fs.FileInfo) bool {
	uid, _ := owner(info)
	return uid == os.Geteuid()
}

// believed reports whether a file's owner is us, or root, who can do anything
// anyway.
func believed(info fs.FileInfo) bool {
	uid, _ := owner(info)
	return uid == os.Geteuid() || uid == 0
}

func ownerText(info fs.FileInfo) string {
	uid, _ := owner(info)
	return fmt.Sprintf("user id %d, ours is %d", uid, os.Geteuid())
}

// exposed reports whether others than the owner have any access.
func exposed(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// isLinkError reports whether an open failed because of O_NOFOLLOW.
func isLinkError(err error) bool {
	return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK)
}

// processGone reports whether there is no process with this id.
func processGone(pid int) bool {
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
