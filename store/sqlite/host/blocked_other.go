//go:build !linux

package host

// writers returns nil: these systems report who has a file locked only to a process
// that opens it, and closing it again would drop SQLite's own locks.
func writers(string) []Blocker { return nil }

// Readers returns nil, as writers does.
func Readers(string) []Blocker { return nil }
