package erase

import (
	"context"
	"crypto/sha256"
	"iter"

	"github.com/skein-dev/skein"
)

// A Tombstone keeps a session that was deleted, or the file that it came from,
// from coming back. It bars its user's only: another user may have a session with
// the same ID, or import the same file.
type Tombstone struct {
	User skein.User        // whose the session was
	Hash [sha256.Size]byte // of what stands in it: see [TombOfID] and [TombOfOrigin]
	At   skein.Time        // when the session was deleted
}

// TombOfID returns the hash of a deleted session's tombstone: SHA-256 of "id"
// and the ID, each with a NUL behind it.
func TombOfID(id skein.SessionID) [sha256.Size]byte {
	return sha256.Sum256([]byte("id\x00" + id + "\x00"))
}

// TombOfOrigin returns the hash of the tombstone of where a deleted session
// came from: SHA-256 of "origin", its format, path and ID, each with a NUL
// behind it.
func TombOfOrigin(o skein.Origin) [sha256.Size]byte {
	return sha256.Sum256([]byte("origin\x00" + o.Format + "\x00" + o.Path + "\x00" + o.ID + "\x00"))
}

// A Tombstones is a Store whose tombstones can be carried to another one. All
// stores make the same ones.
type Tombstones interface {
	// Tombstones yields all tombstones, by hash; of a view, its user's.
	Tombstones(ctx context.Context) iter.Seq2[Tombstone, error]

	// PutTombstones stores tombstones, for the view's user, else for the one that
	// each names, or [Local] if it names none. Those that there are stay as
	// they are.
	PutTombstones(ctx context.Context, stones ...Tombstone) error
}
