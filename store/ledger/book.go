package ledger

import (
	"crypto/sha256"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// A Head is a session as an append finds it and leaves it.
type Head struct {
	skein.Session
	Said    skein.Seq // of the last said event, including a fork's parent's; 0 if there is none
	Prompts walk.Prompts
	Altered bool // its stored texts were not what had been written; the session has those of its events
	Lost    bool // what was stored cannot be read, so the session has everything from its events; implies Altered
}

// A Tomb is the hash of a deleted session's ID or origin.
type Tomb = [sha256.Size]byte

// A Place is where a session has an event.
type Place struct {
	Seq  skein.Seq // 0 if the session does not have it
	Hash []byte    // nil if the event was scrubbed, or deleted outside skein: it equals any other
}

// A Target is an event that another event amends.
type Target struct {
	Kind skein.Kind // "" if the session has no such event of its own
	Role skein.Role // of a said event
	Gone bool       // it was withdrawn before, even if it was restored later
}

// A Base is what a fork shows of its parent.
type Base struct {
	Shown   skein.Shown
	Said    skein.Seq
	Prompts walk.Prompts
}

// A Row is a new event as it is to be written.
type Row struct {
	*Event                // with its Seq
	Now      *skein.Facts // what search finds: the event's own facts, or, if it amends another event, those of that event's new payload
	Prior    skein.Prior
	Added    skein.Added
	Prev     skein.Seq // seq of the said event before it
	Imported bool
	Shakes   bool // it may change which messages of the session are live, or the words that name it
}

// A Book answers the questions of [Append] about one batch of one session, and writes
// what Append decides.
// Its errors are the store's own. Its answers take account of the rows that were
// put before.
type Book interface {
	// Event returns the i-th event of the batch. The first has its facts.
	Event(i int) *Event

	// Read computes the facts of the i-th event, which is new or will be healed, unless
	// it has them.
	Read(i int) error

	// Place looks up the client ID of the i-th event in what the session shows,
	// including its parents' events. It is not called for events without a client
	// ID, and needs no facts.
	Place(i int) (Place, error)

	// Joins reports whether a message with this ID is live in what the session shows.
	Joins(message string) (bool, error)

	// Charged returns what was counted for a request of the session's user.
	Charged(request string) (skein.Usage, error)

	// Target looks up one of the session's own events.
	Target(seq skein.Seq) (Target, error)

	// Lease returns the session's newest lease, or the zero Lease if there was none,
	// and, if fence is 0, whether it is held now.
	Lease(fence skein.Fence) (l skein.Lease, held bool, err error)

	// TakeKey reports whether the session, which had the key was, may have its new
	// key, that is, whether no other live session of its user has it.
	TakeKey(was string) (bool, error)

	// HasTombstone reports whether the user u, or, if u is "", any user, has the
	// tombstone.
	HasTombstone(u skein.User, t Tomb) (bool, error)

	// Parent returns another session, which a fork of u's names as its parent, or
	// nil if the view does not show a session with this ID.
	Parent(id skein.SessionID, u skein.User) (*skein.Session, error)

	// Shown looks up what a fork at p shows. Parent was called for p.Session before,
	// and that session has an event at p.Seq.
	Shown(p skein.Parent) (Base, error)

	// Lift removes a tombstone.
	Lift(u skein.User, t Tomb) error

	// Begin writes the session, which has begun. If it is a fork, Shown was called
	// before.
	Begin() error

	// TakeBlob keeps a blob that the next row refers to, and reports whether it
	// exists: in the call, or referred to by an event of the same user.
	TakeBlob(h skein.Hash) (bool, error)

	// Heal puts those of the blobs of the i-th event that came with the call in the
	// place of what is damaged or missing of them. The event is stored at seq, as it is
	// in the batch.
	Heal(i int, seq skein.Seq, blobs []skein.Hash) error

	// Put writes the i-th event.
	Put(i int, r *Row) error
}
