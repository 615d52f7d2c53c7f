//go:build !linux && !darwin && !windows

package sqlite

// processStart returns "": the system is not asked when this process was started.
func processStart() string { return "" }

// bootID returns "": the system is not asked for it.
func bootID() string { return "" }
