package main

import (
	"time"

	"golang.org/x/sys/windows"
)

// spent returns the CPU time that this process has used, with that of the system
// for it.
func spent() time.Duration {
	var began, ended, system, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &began, &ended, &system, &user) != nil {
		return 0
	}
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(100 * (ticks(system) + ticks(user)))
}
