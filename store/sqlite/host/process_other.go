//go:build !linux && !darwin && !windows

package host

// ProcessStart returns "": on this system, the start time is not queried.
func ProcessStart() string { return "" }

// BootID returns "": on this system, the boot ID is not queried.
func BootID() string { return "" }
