//go:build !linux && !darwin && !windows

package interop

// born returns when a file was made, in nanoseconds since 1970; 0 as the system
// does not tell.
func born(string) int64 { return 0 }
