//go:build unix

package sqlite_test

// childFaults are what only these systems can do.
var childFaults = map[string]func([]string) error{"fill": childFill, "stop": childStop, "occupy": childOccupy}
