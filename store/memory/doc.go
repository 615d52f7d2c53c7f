// Package memory is a [skein.Store] that keeps everything in memory, until the
// program ends.
//
// It is the simplest correct implementation of a Store: the other stores are
// checked against it, and tests use it when the disk does not matter. Every call
// holds one lock, and every query is answered from the events. It has no limits of
// its own, and it is slow.
package memory
