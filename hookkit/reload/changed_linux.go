package reload

import (
	"io/fs"
	"syscall"
	"time"
)

// changedAt is when a file came to hold what it holds: mv and cp -p leave the time of its content as it was, but not that of its inode.
func changedAt(info fs.FileInfo) time.Time {
	at := info.ModTime()
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		if inode := time.Unix(stat.Ctim.Unix()); inode.After(at) {
			at = inode
		}
	}
	return at
}
