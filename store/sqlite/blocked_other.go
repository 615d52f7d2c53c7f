//go:build !linux

package sqlite

// writing and reading return nobody: these systems tell who has a file locked only to who
// opens it, and closing it again would drop SQLite's own locks.
func writing(string) []blocker { return nil }

func reading(string) []blocker { return nil }
