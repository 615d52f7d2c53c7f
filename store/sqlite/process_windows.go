package sqlite

import (
	"strconv"
	"time"

	"golang.org/x/sys/windows"
)

// processStart returns when this process was started, in nanoseconds since 1970.
func processStart() string {
	var start, exit, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &start, &exit, &kernel, &user); err != nil {
		return ""
	}
	return strconv.FormatInt(start.Nanoseconds(), 10)
}

// bootID returns the second since 1970 when the system was booted, which
// identifies this boot. It may be off by one second.
func bootID() string {
	return strconv.FormatInt(time.Now().Add(-windows.DurationSinceBoot()).Unix(), 10)
}
