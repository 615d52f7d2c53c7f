//go:build !linux

package sqlite

import (
	"os"
	"strconv"

	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/process"
)

// processStart returns when this process was started: milliseconds since 1970.
func processStart() string {
	p, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return ""
	}
	ms, err := p.CreateTime()
	if err != nil {
		return ""
	}
	return strconv.FormatInt(ms, 10)
}

// bootID returns what tells this boot from another: its second since 1970.
func bootID() string {
	s, err := host.BootTime()
	if err != nil {
		return ""
	}
	return strconv.FormatUint(s, 10)
}
