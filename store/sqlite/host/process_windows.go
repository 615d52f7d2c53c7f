package host

import (
	"strconv"
	"time"

	"golang.org/x/sys/windows"
)

// ProcessStart returns when this process was started, in nanoseconds since 1970.
func ProcessStart() string {
	var start, exit, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &start, &exit, &kernel, &user); err != nil {
		return ""
	}
	return strconv.FormatInt(start.Nanoseconds(), 10)
}

// BootID returns the second since 1970 when the system was booted, which
// identifies this boot. It may be off by one second.
func BootID() string {
	return strconv.FormatInt(time.Now().Add(-windows.DurationSinceBoot()).Unix(), 10)
}
