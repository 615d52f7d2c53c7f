//go:build unix && !linux

package child

// seal marks all descriptors but the first three as not inheritable: Go marks those
// that it opens, but the process that started us may have left others.
func seal() error { return sealEach("/dev/fd") }
