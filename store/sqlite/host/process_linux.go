package host

import (
	"os"
	"strings"
)

// ProcessStart returns when this process was started, in clock ticks after boot.
func ProcessStart() string {
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return ""
	}
	// The second field is the program in parentheses and may contain any
	// character; the start time is the 22nd.
	_, rest, _ := strings.Cut(string(b), ") ")
	if fields := strings.Fields(rest); len(fields) > 19 {
		return fields[19]
	}
	return ""
}

// BootID returns the ID of this boot.
func BootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
