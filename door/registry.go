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

// registered returns the registry's token with this hash.
func (t *Tokens) registered(token string) (Token, error) {
	if t.registry == nil || !strings.HasPrefix(token, prefix) {
		return Token{}, skein.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(context.Background(), registryTime)
	defer cancel()
	a, err := t.registry.FindAccess(ctx, sha256.Sum256([]byte(token)))
	if err != nil {
		return Token{}, err
	}
	// Logins go by the name: one that the file has too would be mistaken for it.
	there, err := t.inFileNamed(a.Name)
	if err == nil && there {
		err = skein.ErrNotFound
	}
	if err != nil {
		return Token{}, err
	}
	return t.living(tokenOf(a))
}

// inFileNamed reports whether the file has a token of that name.
func (t *Tokens) inFileNamed(name string) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return false, err
	}
	return name == First || slices.ContainsFunc(t.more, func(m Token) bool { return m.Name == name }), nil
}

// registeredAs returns the registry's token of this name, which the file does
// not have, and what signs its logins.
func (t *Tokens) registeredAs(name string) (_ Token, signer string, err error) {
	if t.registry == nil {
		return Token{}, "", skein.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(context.Background(), registryTime)
	defer cancel()
	a, err := t.registry.AccessNamed(ctx, name)
	if err != nil {
		return Token{}, "", err
	}
	if signer, err = t.registry.LoginSecret(ctx); err != nil {
		return Token{}, "", err
	}
	found, err := t.living(tokenOf(a))
	return found, signer, err
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
