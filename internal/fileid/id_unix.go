//go:build unix

package fileid

import (
	"fmt"
	"os"
	"syscall"
)

// ID returns what a file or folder keeps when it is renamed: device, inode and, because
// inodes are used again, the time at which it was made. It is "" if there is no such
// file, or the system does not say.
func ID(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d", s.Dev, s.Ino, Born(path))
}
