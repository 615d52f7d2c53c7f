package write

import (
	"time"

	"golang.org/x/sys/windows"
)

// processorTime returns how long this process has used processors.
func processorTime() time.Duration {
	var created, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user) != nil {
		return 0
	}
	return (span(kernel) + span(user)) * 100 // a unit is 100 ns
}

// span returns a duration that Windows gives in two halves.
func span(f windows.Filetime) time.Duration {
	return time.Duration(uint64(f.HighDateTime)<<32 | uint64(f.LowDateTime))
}

// giveWay makes this process one that runs when no other wants to.
func giveWay() {
	_ = windows.SetPriorityClass(windows.CurrentProcess(), windows.BELOW_NORMAL_PRIORITY_CLASS)
}
