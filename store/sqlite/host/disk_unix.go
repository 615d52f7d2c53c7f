//go:build unix

package host

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// FreeSpace returns how many bytes are available to us on the disk with dir.
func FreeSpace(dir string) (bytes int64, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true //nolint:unconvert // the types differ between systems
}

// OthersMay reports whether anybody but the owner has any right.
func OthersMay(st fs.FileInfo) bool { return st.Mode().Perm()&0o077 != 0 }
