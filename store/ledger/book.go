package ledger

import (
	"crypto/sha256"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// A Head is a session as an append finds it and leaves it.
type Head struct {
	skein.Session
	Said    skein.Seq // place of the last said event, a fork's parent's included; 0 if there is none
	Prompts walk.Prompts
}

// A Tomb is the hash of a deleted session's ID or origin.
type Tomb = [sha256.Size]byte

// A Place is where a session has an event.
type Place struct {
	Seq  skein.Seq // 0: nowhere
	Hash []byte    // nil: of an event that was scrubbed, or deleted outside skein, and equals any
}

// A Target is an event that another one amends.
type Target struct {
	Kind skein.Kind // "" if the session has no such event of its own
	Role skein.Role // of a said event
	Gone bool       // it was withdrawn before, though it may have been put back
}

// A Base is what a fork shows of its parent.
type Base struct {
	Shown   skein.Shown
	Said    skein.Seq
	Prompts walk.Prompts
}

// A Row is a new event as it is to be written.
type Row struct {
	*Event                // Seq is its place
	Now      *skein.Facts // what is to be found by it: the event's own facts, or, if it amends another, those of what stands in the other's place
	Prior    skein.Prior
	Added    skein.Added
	Prev     skein.Seq // place of the said event before it
	Imported bool
	Shakes   bool // it may change which messages of the session stand, or what a session is called by
}

// A Book is what [Append] asks, and tells, about one batch, for one session. Its
// errors are the store's own. What it answers takes account of the rows that it
// was told of before.
type Book interface {
	// Event returns the i-th event of the batch. The first has its facts.
	Event(i int) *Event

	// Read sees to it that the i-th event, which is new, has its facts.
	Read(i int) error

	// Place looks up the client ID of the i-th event in what the session shows, of
	// its parents too. It is not asked about events without one, and needs no
	// facts.
	Place(i int) (Place, error)

	// Joins reports whether a message with this ID stands in what the session shows.
	Joins(message string) (bool, error)

	// Charged returns what was counted for a request of the session's user.
	Charged(request string) (skein.Usage, error)

	// Target looks up one of the session's own events.
	Target(seq skein.Seq) (Target, error)

	// Lease returns the session's newest lease, zero if there was none, and, if
	// fence is 0, whether it is held now.
	Lease(fence skein.Fence) (l skein.Lease, held bool, err error)

	// TakeKey reports whether the session, which had the key was, may have the key
	// that it has now: no other live session of its user has it.
	TakeKey(was string) (bool, error)

	// Buried reports whether a user has a tombstone, or, if u is "", anybody.
	HasTombstone(u skein.User, t Tomb) (bool, error)

	// Parent returns another session for a fork of u's, nil if the view does not
	// show any with this ID.
	Parent(id skein.SessionID, u skein.User) (*skein.Session, error)

	// Shown looks up what a fork at p shows. Parent was asked about it before, and
	// it has an event at p.Seq.
	Shown(p skein.Parent) (Base, error)

	// Lift takes away a tombstone.
	Lift(u skein.User, t Tomb) error

	// Begin writes the session, which has begun. If it is a fork, Shown was asked
	// before.
	Begin() error

	// TakeBlob keeps a blob that the next row refers to, and reports whether there
	// is one: brought by the call, or referred to by an event of the same user.
	TakeBlob(h skein.Hash) (bool, error)

	// Put writes the i-th event.
	Put(i int, r *Row) error
}
