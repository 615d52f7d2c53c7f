package host

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// FreeSpace returns how many bytes are available to us on the disk with dir.
func FreeSpace(dir string) (bytes int64, known bool) {
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

// OthersMay returns false: on Windows, the mode does not hold the rights.
func OthersMay(fs.FileInfo) bool { return false }
