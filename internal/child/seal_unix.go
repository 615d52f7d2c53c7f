//go:build unix && !linux

package child

// seal marks all descriptors but the first three as not to be inherited: Go
// marks those that it opens, whoever started us may have left others.
func seal() error { return sealEach("/dev/fd") }
