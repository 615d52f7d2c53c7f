//go:build unix

package job

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the user ID of a file's owner; false if it is not known.
func ownerOf(info fs.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
