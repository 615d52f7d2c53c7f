// Package child starts other programs in isolation: they inherit no descriptors, no
// secrets and no terminal, and are ended together with everything that they started.
package child
