package accounts

import (
	"context"
	"crypto/sha256"

	"github.com/skein-dev/skein"
)

// An Account is a user of a store that many share.
type Account struct {
	User        skein.User `json:"user"`
	Created     skein.Time `json:"created_at,omitzero"`
	MaxSessions int64      `json:"max_sessions,omitempty"` // how many sessions there may be at most; 0 for no bound
	MaxBytes    int64      `json:"max_bytes,omitempty"`    // how many bytes they may take; 0 for no bound
	Sessions    int64      `json:"sessions"`               // that there are, in the bin too
	Bytes       int64      `json:"bytes"`                  // that they take
}

// An Access is what a store knows of a token that a server lets in.
type Access struct {
	Name    string     // unique in the store
	User    skein.User // whose sessions it is for; "" for everybody's
	Scope   string     // read, write or admin
	Created skein.Time
	Expires skein.Time        // 0 for never
	Hash    [sha256.Size]byte // of the token
}

// A Login is a browser that servers let in with a token, until the login or the
// token ends.
type Login struct {
	ID      string            // a few letters, for people
	Hash    [sha256.Size]byte // of what the browser shows
	Access  Access            // the token
	Device  string            // what the browser says that it is
	Address string            // from which it came last
	Created skein.Time
	Used    skein.Time // last, to about a minute
	Expires skein.Time
}

// A Registry is a Store that keeps who may log in. It is that of everybody: a
// view has no right to it, and its methods fail with an error that wraps
// [ErrRefused].
type Registry interface {
	// AddUser adds an account. The error wraps [ErrExists], or [ErrInvalid] if
	// it cannot be anybody's name.
	AddUser(ctx context.Context, a Account) error

	// SetUser changes the bounds of an account. The error wraps [ErrNotFound].
	SetUser(ctx context.Context, a Account) error

	// Users returns all accounts, by name.
	Users(ctx context.Context) ([]Account, error)

	// RemoveUser takes an account and its tokens away; its sessions stay. The
	// error wraps [ErrNotFound].
	RemoveUser(ctx context.Context, u skein.User) error

	// AddAccess adds a token. The error wraps [ErrExists] if there is one of
	// that name, [ErrNotFound] if its user has no account.
	AddAccess(ctx context.Context, a Access) error

	// Accesses returns all tokens, by name.
	Accesses(ctx context.Context) ([]Access, error)

	// RemoveAccess takes a token away. The error wraps [ErrNotFound].
	RemoveAccess(ctx context.Context, name string) error

	// FindAccesses returns those of the tokens with these hashes that there are,
	// expired or not.
	FindAccesses(ctx context.Context, hashes [][sha256.Size]byte) ([]Access, error)

	// AccessNamed returns the token of this name, expired or not. The error wraps
	// [ErrNotFound].
	AccessNamed(ctx context.Context, name string) (Access, error)

	// AddLogin adds a login with the token of the name that l.Access has; with the
	// token it goes. Of one token the [MaxLogins] used last are kept, and none that
	// has expired. The error wraps [ErrNotFound] if there is no such token.
	AddLogin(ctx context.Context, l Login) error

	// Logins returns all logins, those used last first.
	Logins(ctx context.Context) ([]Login, error)

	// FindLogins returns those of the logins with these hashes that there are,
	// expired or not.
	FindLogins(ctx context.Context, hashes [][sha256.Size]byte) ([]Login, error)

	// UseLogin notes when a login was used last, and from which address. Of one
	// that there is not it notes nothing.
	UseLogin(ctx context.Context, hash [sha256.Size]byte, at skein.Time, address string) error

	// RemoveLogins ends logins by their IDs, and returns how many there were.
	RemoveLogins(ctx context.Context, ids []string) (int, error)
}

// MaxLogins is how many logins there are at most of one token.
const MaxLogins = 100
