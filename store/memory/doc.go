// Package memory is a [skein.Store] that forgets when the program ends.
//
// It is the shortest true reading of the Store's promises: the other stores
// are checked against it, and tests use it where the disk is not the point.
// Every call holds one lock; what a query asks is worked out from the events
// each time. It has no limits of its own and no speed to speak of.
package memory
