package door

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// registryTime bounds how long a look into the registry may take.
const registryTime = 10 * time.Second

// In lets in those with a token in r, too, beside those of the file. Call it
// before t is used.
func (t *Tokens) In(r skein.Registry) { t.registry = r }

// tokenOf returns what a registry knows of a token.
func tokenOf(a skein.Access) Token {
	return Token{Name: a.Name, Scope: a.Scope, User: a.User, Expires: a.Expires, Hash: hex.EncodeToString(a.Hash[:])}
}

// registered returns the registry's token with this hash. What cannot be looked
// up lets nobody in.
func (t *Tokens) registered(token string) (Token, bool) {
	if t.registry == nil || !strings.HasPrefix(token, prefix) {
		return Token{}, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), registryTime)
	defer cancel()
	a, err := t.registry.FindAccess(ctx, sha256.Sum256([]byte(token)))
	if err != nil {
		return Token{}, false
	}
	found := tokenOf(a)
	// Logins go by the name: one that the file has too would be mistaken for it.
	return found, !t.inFileNamed(a.Name) && t.lives(found) && scopeOf(found.Scope) != Open
}

// inFileNamed reports whether the file has a token of that name.
func (t *Tokens) inFileNamed(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil || name == First {
		return true
	}
	return slices.ContainsFunc(t.more, func(m Token) bool { return m.Name == name })
}

// registeredAs returns the registry's token of this name, and what signs its
// logins.
func (t *Tokens) registeredAs(name string) (_ Token, signer string, ok bool) {
	if t.registry == nil || t.inFileNamed(name) {
		return Token{}, "", false
	}
	ctx, cancel := context.WithTimeout(context.Background(), registryTime)
	defer cancel()
	a, err := t.registry.AccessNamed(ctx, name)
	if err != nil {
		return Token{}, "", false
	}
	if signer, err = t.registry.LoginSecret(ctx); err != nil {
		return Token{}, "", false
	}
	found := tokenOf(a)
	return found, signer, t.lives(found) && scopeOf(found.Scope) != Open
}

// Register makes a token of the name, scope, user and expiry of a in r, and
// returns it: it cannot be seen again.
//
// The error wraps [skein.ErrExists], [skein.ErrInvalid], or
// [skein.ErrNotFound] if the user has no account.
func Register(ctx context.Context, r skein.Registry, a Token) (token string, err error) {
	if err := checkToken(a); err != nil {
		return "", err
	}
	if a.Name == First {
		return "", fmt.Errorf("token %q: %w: it is in the file of each server", a.Name, skein.ErrExists)
	}
	token = newToken()
	return token, r.AddAccess(ctx, skein.Access{Name: a.Name, User: a.User, Scope: a.Scope, Expires: a.Expires, Hash: sha256.Sum256([]byte(token))})
}

// Registered returns what is known of all tokens in r, by name.
//
// Errors are those of reading it.
func Registered(ctx context.Context, r skein.Registry) (all []Token, err error) {
	as, err := r.Accesses(ctx)
	for _, a := range as {
		all = append(all, tokenOf(a))
	}
	return all, err
}
