//go:build !linux

package sqlite

// writing and reading return nil: these systems report who has a file locked only to
// a process that opens it, and closing it again would drop SQLite's own locks.
func writing(string) []blocker { return nil }

func reading(string) []blocker { return nil }
