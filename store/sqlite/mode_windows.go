package sqlite

// readOnlyFS reports whether err says that the file system is read-only.
func readOnlyFS(error) bool { return false }
