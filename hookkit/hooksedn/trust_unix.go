//go:build unix

package hooksedn

import (
	"io/fs"
	"os"
	"syscall"
)

func worldWritable(info fs.FileInfo) bool { return info.Mode().Perm()&0o002 != 0 }

// foreignOwner reports a file that is neither ours nor root's. Root itself trusts every owner: in containers
// it works on checkouts that belong to a user outside.
func foreignOwner(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	uid := os.Geteuid()
	return ok && uid != 0 && stat.Uid != 0 && int(stat.Uid) != uid
}
