package sqlite_test

// childFaults are what only other systems can do.
var childFaults = map[string]func([]string) error{}
