package cli

import "errors"

// A KeyRing stores the keys of a person's providers, encrypted, outside of skein.
type KeyRing interface {
	// Key returns a provider's key, "" if it has none. Errors are the system's.
	Key(provider string) (string, error)

	// SetKey stores a provider's key, in place of an earlier one. The error wraps
	// [ErrNoKeyRing], or is the system's.
	SetKey(provider, key string) error

	// DropKey removes a provider's key; it is not an error if there is none. Errors are
	// as for SetKey.
	DropKey(provider string) error
}

// ErrNoKeyRing says that this system has no key ring, or that it is not running.
var ErrNoKeyRing = errors.New("there is no key ring here")

// secret returns a function that looks up keys in the key ring, nil if there is
// none.
func (e *Env) secret() func(provider string) (string, error) {
	if e.KeyRing == nil {
		return nil
	}
	return e.KeyRing.Key
}
