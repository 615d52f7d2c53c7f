package sqlite_test

// childFaults is empty: Windows supports none of these functions.
var childFaults = map[string]func([]string) error{}
