//go:build unix

package settings

import (
	"io/fs"
	"syscall"
)

// linkCount returns how many names a file has; 1 when it cannot be told.
func linkCount(info fs.FileInfo) int {
	if info == nil {
		return 1
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink) //nolint:gosec // a count of names fits
	}
	return 1
}
