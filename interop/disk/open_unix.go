//go:build unix

package disk

import (
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep an open from waiting for a FIFO's writer and from following
// a link that replaced a file.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW

func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
