package accounts

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"github.com/skein-dev/skein"
)

// A SharedLink is a link by which anybody can read a part of a session, without an account.
type SharedLink struct {
	ID      string            // a few letters, for people
	Hash    [sha256.Size]byte // of the secret in the link, which is not stored
	User    skein.User        // who owns the session
	Session skein.SessionID
	Shows   json.RawMessage // which part of the session, and what is left out of it: an object that package share writes
	By      string          // name of the token that made it, or of the command
	Created skein.Time
	Expires skein.Time
	Views   int64      // how often it was opened
	Viewed  skein.Time // when that was last; 0: never
}

// Shares is a Store that keeps links to sessions. It covers all users: on a view, its
// methods fail with an error that wraps [skein.ErrRefused]. When a session is purged,
// its links are too.
type Shares interface {
	// AddShare adds a link. The error wraps [skein.ErrNotFound] if its user has no such
	// session, [skein.ErrExists] if the ID or the hash is taken.
	AddShare(ctx context.Context, s SharedLink) error

	// Shares returns the links to a session, or to all if session is "", of one user or of
	// all if that is "", the latest first.
	Shares(ctx context.Context, user skein.User, session skein.SessionID) ([]SharedLink, error)

	// FindShare returns the link with this hash, expired or not. The error wraps
	// [skein.ErrNotFound].
	FindShare(ctx context.Context, hash [sha256.Size]byte) (SharedLink, error)

	// CountView notes that a link was opened. If there is no such link, it does nothing.
	CountView(ctx context.Context, id string, at skein.Time) error

	// RemoveShare ends a link of this user, or of any if that is "". The error wraps
	// [skein.ErrNotFound].
	RemoveShare(ctx context.Context, user skein.User, id string) error
}
