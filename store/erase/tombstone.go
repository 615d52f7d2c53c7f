package erase

import (
	"context"
	"crypto/sha256"
	"iter"

	"github.com/skein-dev/skein"
)

// A Tombstone keeps a session that was deleted, or the file that it came from,
// from coming back. It applies only to its user: another user may have a session
// with the same ID, or import the same file.
type Tombstone struct {
	User skein.User        // who owned the session
	Hash [sha256.Size]byte // see [TombOfID] and [TombOfOrigin]
	At   skein.Time        // when the session was deleted
}

// TombOfID returns the hash of a deleted session's tombstone: SHA-256 of "id"
// and the ID, each followed by a NUL.
func TombOfID(id skein.SessionID) [sha256.Size]byte {
	return sha256.Sum256([]byte("id\x00" + id + "\x00"))
}

// TombOfOrigin returns the hash of the tombstone of a deleted session's origin:
// SHA-256 of "origin", its format, path and ID, each followed by a NUL.
func TombOfOrigin(o skein.Origin) [sha256.Size]byte {
	return sha256.Sum256([]byte("origin\x00" + o.Format + "\x00" + o.Path + "\x00" + o.ID + "\x00"))
}

// Tombs returns the hashes of the tombstones of a deleted session: of its ID, and of its
// origin o, if it has one.
func Tombs(id skein.SessionID, o *skein.Origin) [][sha256.Size]byte {
	tombs := [][sha256.Size]byte{TombOfID(id)}
	if o != nil && o.Format != "" {
		tombs = append(tombs, TombOfOrigin(*o))
	}
	return tombs
}

// A Tombstones is a Store whose tombstones can be copied to another store. All
// stores make the same tombstones.
type Tombstones interface {
	// Tombstones yields all tombstones, by hash; for a view, its user's.
	Tombstones(ctx context.Context) iter.Seq2[Tombstone, error]

	// PutTombstones stores tombstones, for the view's user, else for the user that
	// each names, or [Local] if it names none. Existing tombstones are not changed.
	PutTombstones(ctx context.Context, stones ...Tombstone) error
}
