package door

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
)

// In also accepts the tokens in r, besides those of the file. Call it before t
// is used.
func (t *Tokens) In(r accounts.Registry) { t.registry = r }

// tokenOf returns a token of a registry.
func tokenOf(a accounts.Access) Token {
	return Token{Name: a.Name, Scope: a.Scope, User: a.User, Expires: a.Expires, Hash: hex.EncodeToString(a.Hash[:])}
}

// Register makes a token with the name, scope, user and expiry of a in r, and
// returns it: it cannot be read again.
//
// The error wraps [skein.ErrExists], [skein.ErrInvalid], or
// [skein.ErrNotFound] if the user has no account.
func Register(ctx context.Context, r accounts.Registry, a Token) (token string, err error) {
	if err := checkToken(a); err != nil {
		return "", err
	}
	if a.Name == First {
		return "", fmt.Errorf("token %q %w: it is in the file of each server", a.Name, skein.ErrExists)
	}
	token = newToken()
	return token, r.AddAccess(ctx, accounts.Access{Name: a.Name, User: a.User, Scope: usual(a.Scope), Expires: a.Expires, Hash: sha256.Sum256([]byte(token))})
}

// SetScope changes the scope of the token of that name in r.
//
// The error wraps [skein.ErrNotFound] or [skein.ErrInvalid].
func SetScope(ctx context.Context, r accounts.Registry, name, scope string) error {
	if err := checkToken(Token{Name: name, Scope: scope}); err != nil {
		return err
	}
	return r.SetAccess(ctx, accounts.Access{Name: name, Scope: usual(scope)})
}

// Registered returns what is known of all tokens in r, by name.
//
// The error is that of reading it.
func Registered(ctx context.Context, r accounts.Registry) (all []Token, err error) {
	as, err := r.Accesses(ctx)
	for _, a := range as {
		all = append(all, tokenOf(a))
	}
	return all, err
}
