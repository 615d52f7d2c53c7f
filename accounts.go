package skein

import (
	"context"
	"crypto/sha256"
)

// An Account is a user of a store that many share.
type Account struct {
	User        User  `json:"user"`
	Created     Time  `json:"created_at,omitzero"`
	MaxSessions int64 `json:"max_sessions,omitempty"` // how many sessions there may be at most; 0 for no bound
	MaxBytes    int64 `json:"max_bytes,omitempty"`    // how many bytes they may take; 0 for no bound
	Sessions    int64 `json:"sessions"`               // that there are, in the bin too
	Bytes       int64 `json:"bytes"`                  // that they take
}

// An Access is what a store knows of a token that a server lets in.
type Access struct {
	Name    string // unique in the store
	User    User   // whose sessions it is for; "" for everybody's
	Scope   string // read, write or admin
	Created Time
	Expires Time              // 0 for never
	Hash    [sha256.Size]byte // of the token
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
	RemoveUser(ctx context.Context, u User) error

	// AddAccess adds a token. The error wraps [ErrExists] if there is one of
	// that name, [ErrNotFound] if its user has no account.
	AddAccess(ctx context.Context, a Access) error

	// Accesses returns all tokens, by name.
	Accesses(ctx context.Context) ([]Access, error)

	// RemoveAccess takes a token away. The error wraps [ErrNotFound].
	RemoveAccess(ctx context.Context, name string) error

	// FindAccess returns the token with this hash, and AccessNamed that of this
	// name, expired or not. The error wraps [ErrNotFound].
	FindAccess(ctx context.Context, hash [sha256.Size]byte) (Access, error)
	AccessNamed(ctx context.Context, name string) (Access, error)

	// LoginSecret returns what signs the logins of browsers, the same for all
	// servers on the store.
	LoginSecret(ctx context.Context) (string, error)
}
