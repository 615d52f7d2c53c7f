package cli

import "errors"

// A KeyRing keeps the keys of a person's providers, encrypted, outside of
// skein.
type KeyRing interface {
	// Key returns a provider's key, "" if it has none. Errors are the system's.
	Key(provider string) (string, error)

	// SetKey keeps a provider's key in place of one it had. The error wraps
	// [ErrNoKeyRing], or is the system's.
	SetKey(provider, key string) error

	// DropKey forgets a provider's key; one that it has not is fine. Errors as
	// SetKey.
	DropKey(provider string) error
}

// ErrNoKeyRing says that this system has no key ring, or none that runs.
var ErrNoKeyRing = errors.New("there is no key ring here")

// secret returns what looks up keys in the key ring, nil if there is none.
func (e *Env) secret() func(provider string) (string, error) {
	if e.KeyRing == nil {
		return nil
	}
	return e.KeyRing.Key
}
