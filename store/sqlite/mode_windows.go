package sqlite

// readOnlyFS reports whether err says that the file system takes no writes.
func readOnlyFS(error) bool { return false }
