//go:build !linux && !darwin && !windows

package sqlite

// processStart returns "": on this system, the start time is not queried.
func processStart() string { return "" }

// bootID returns "": on this system, the boot ID is not queried.
func bootID() string { return "" }
