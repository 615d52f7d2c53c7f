package fileid

import "golang.org/x/sys/unix"

// Born returns when a file was created, in nanoseconds since 1970; 0 if the system
// does not say.
func Born(path string) int64 {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &s)
	if err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return s.Btime.Sec*1e9 + int64(s.Btime.Nsec)
}
