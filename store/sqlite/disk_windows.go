package sqlite

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// freeSpace returns how many bytes the disk that dir is on has left for us.
func freeSpace(dir string) (bytes int64, known bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(free), true
}

// othersMay reports nothing here: rights are not in the mode.
func othersMay(fs.FileInfo) bool { return false }
