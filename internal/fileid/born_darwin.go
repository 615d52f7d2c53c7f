package fileid

import (
	"os"
	"syscall"
)

// Born returns when a file was created, in nanoseconds since 1970; 0 if the system
// does not say.
func Born(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Birthtimespec.Nano()
	}
	return 0
}
