package door

import (
	"context"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
)

// A KnownToken is what is known of a token, and of its use.
type KnownToken struct {
	Token
	Used skein.Time `json:"used_at,omitzero"` // last; 0: not as far as the audit goes back
}

// Known returns all tokens: the first one, those of the file, and those of the registry.
//
// The error is that of reading them.
func (t *Tokens) Known(ctx context.Context) (all []KnownToken, err error) {
	tokens, err := t.All()
	if err != nil {
		return nil, err
	}
	if t.registry != nil {
		more, err := Registered(ctx, t.registry)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, more...)
	}
	used, err := t.audit.lastUses(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range tokens {
		all = append(all, KnownToken{one, used[one.Name]})
	}
	return all, nil
}

// Issue makes a token with the name, scope, user and expiry of a, in the registry if there
// is one and in the file otherwise, and returns it: it cannot be read again.
//
// The error wraps [skein.ErrExists], [skein.ErrInvalid], or [skein.ErrNotFound] if the user
// has no account in the registry.
func (t *Tokens) Issue(ctx context.Context, a Token) (string, error) {
	if t.registry != nil {
		return Register(ctx, t.registry, a)
	}
	return t.Add(a)
}

// Revoke removes a token, which ends its logins. The first token of the file is not removed.
//
// The error wraps [skein.ErrNotFound], or [skein.ErrInvalid] for the first token.
func (t *Tokens) Revoke(ctx context.Context, name string) error {
	switch {
	case name == First:
		return fmt.Errorf("token %q: %w: it belongs to the server; replace it with: skein token rm %s", name, skein.ErrInvalid, name)
	case t.registry != nil && !t.has(name):
		return t.registry.RemoveAccess(ctx, name)
	}
	return t.Remove(name)
}

// Accounts returns the registry; nil if there is none.
func (t *Tokens) Accounts() accounts.Registry { return t.registry }
