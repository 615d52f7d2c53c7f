//go:build unix

package sqlite_test

// childFaults are the child functions that only Unix systems support.
var childFaults = map[string]func([]string) error{"fill": childFill, "stop": childStop, "occupy": childOccupy}
