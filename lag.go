package skein

import "context"

// A Lagger is a Store whose search index is fed after the append, and that can
// say how far behind it is. Search finds what waits all the same, by looking
// through it.
type Lagger interface {
	// Lag returns how far the index is behind what is stored, whoever's it is.
	// It takes no time by how much that is. Errors are the disk's.
	Lag(ctx context.Context) (Lag, error)
}

// A Lag is what a search index does not have yet. Its zero value says that the
// index has everything.
type Lag struct {
	Events int  // that wait; roughly, where they are more than 10,000
	Since  Time // when the oldest of them was stored, as far as the store knows, on its clock; 0 if none waits
}
