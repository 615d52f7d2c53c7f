package sqlite

import (
	"strconv"
	"time"

	"golang.org/x/sys/windows"
)

// processStart returns when this process was started: nanoseconds since 1970.
func processStart() string {
	var start, exit, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &start, &exit, &kernel, &user); err != nil {
		return ""
	}
	return strconv.FormatInt(start.Nanoseconds(), 10)
}

// bootID returns what tells this boot from another: its second since 1970, which
// may be told as the one beside it.
func bootID() string {
	return strconv.FormatInt(time.Now().Add(-windows.DurationSinceBoot()).Unix(), 10)
}
