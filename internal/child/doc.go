// Package child starts other programs that are to know nothing of us: they
// inherit no descriptors, no secrets and no terminal, and are ended together
// with all that they started.
package child
