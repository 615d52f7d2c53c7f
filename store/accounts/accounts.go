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
	MaxSessions int64      `json:"max_sessions,omitempty"` // how many sessions it may have at most; 0 for no limit
	MaxBytes    int64      `json:"max_bytes,omitempty"`    // how many bytes they may take; 0 for no limit
	Sessions    int64      `json:"sessions"`               // how many it has, including the bin
	Bytes       int64      `json:"bytes"`                  // how many they take
}

// An Access is what a store knows about a token that a server accepts.
type Access struct {
	Name    string     // unique in the store
	User    skein.User // whose sessions it gives access to; "" for all users'
	Scope   string     // read, answer, write or admin
	Created skein.Time
	Expires skein.Time        // 0 for never
	Hash    [sha256.Size]byte // of the token
}

// A Login is a browser that servers accept by a token, until the login or the token
// ends.
type Login struct {
	ID      string            // a few letters, for people
	Hash    [sha256.Size]byte // of the secret that the browser presents
	Access  Access            // the token
	Device  string            // what the browser says it is
	Address string            // the address from which it came last
	Created skein.Time
	Used    skein.Time // last, to about a minute
	Expires skein.Time
}

// A Registry is a Store that keeps who may log in. It covers all users: on a view,
// its methods fail with an error that wraps [ErrRefused].
type Registry interface {
	// AddUser adds an account. The error wraps [ErrExists], or [ErrInvalid] if
	// its name is not valid for a user.
	AddUser(ctx context.Context, a Account) error

	// SetUser changes the limits of an account. The error wraps [ErrNotFound].
	SetUser(ctx context.Context, a Account) error

	// Users returns all accounts, by name.
	Users(ctx context.Context) ([]Account, error)

	// RemoveUser removes an account, its tokens and its links; its sessions stay. The
	// error wraps [ErrNotFound].
	RemoveUser(ctx context.Context, u skein.User) error

	// AddAccess adds a token. The error wraps [ErrExists] if the name is taken,
	// [ErrNotFound] if its user has no account.
	AddAccess(ctx context.Context, a Access) error

	// Accesses returns all tokens, by name.
	Accesses(ctx context.Context) ([]Access, error)

	// SetAccess changes the scope of the token a.Name. The error wraps [ErrNotFound].
	SetAccess(ctx context.Context, a Access) error

	// RemoveAccess removes a token. The error wraps [ErrNotFound].
	RemoveAccess(ctx context.Context, name string) error

	// FindAccesses returns the tokens with these hashes, as far as they exist,
	// expired or not.
	FindAccesses(ctx context.Context, hashes [][sha256.Size]byte) ([]Access, error)

	// AccessNamed returns the token with this name, expired or not. The error wraps
	// [ErrNotFound].
	AccessNamed(ctx context.Context, name string) (Access, error)

	// AddLogin adds a login with the token that l.Access names; it is removed with
	// the token. For each token, the [MaxLogins] used last are kept, without those
	// that have expired. The error wraps [ErrNotFound] if the token does not exist.
	AddLogin(ctx context.Context, l Login) error

	// Logins returns all logins, those used last first.
	Logins(ctx context.Context) ([]Login, error)

	// FindLogins returns the logins with these hashes, as far as they exist,
	// expired or not.
	FindLogins(ctx context.Context, hashes [][sha256.Size]byte) ([]Login, error)

	// UseLogin records when a login was used last, and from which address. If the
	// login does not exist, it does nothing.
	UseLogin(ctx context.Context, hash [sha256.Size]byte, at skein.Time, address string) error

	// RemoveLogins ends logins by their IDs, and returns how many there were.
	RemoveLogins(ctx context.Context, ids []string) (int, error)
}

// MaxLogins is the most logins that one token has.
const MaxLogins = 100
