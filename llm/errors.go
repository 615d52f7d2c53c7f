package llm

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// The errors that a caller can act on.
var (
	ErrBusy    = errors.New("model is busy")              // too many requests, or an error of the provider's: the same request may succeed later
	ErrCut     = errors.New("answer broke off")           // the connection failed, or its data was bad: the same request may succeed
	ErrNoWay   = errors.New("provider cannot be reached") // no connection was made: another URL, or the same one later, may succeed
	ErrTooLong = errors.New("request is too long")        // fewer messages may succeed
	ErrDenied  = errors.New("key was turned down")        // another key may succeed
	ErrNoKey   = errors.New("no key")                     // see NoKeyError
	ErrRequest = errors.New("request was turned down")    // the same request never succeeds
	ErrModel   = errors.New("no such model or provider")  // another name may succeed
)

// An Error is an error from a provider or from the connection to it.
type Error struct {
	Kind    error         // one of this package's error variables
	Status  int           // HTTP status; 0 if there was no response
	Message string        // in the provider's words, at most 4 KB
	Request string        // provider request ID; "" if not known
	After   time.Duration // how long the provider asked to wait; 0 if it did not say
	Err     error         // cause; may be nil
}

// Error implements error.
func (e *Error) Error() string {
	s := e.Kind.Error()
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// A NoKeyError says that a provider has no key. It wraps [ErrNoKey].
type NoKeyError struct {
	Provider  string
	Variables []string // environment variables, any of which is enough
}

// Error implements error.
func (e *NoKeyError) Error() string { return fmt.Sprintf("no key for %s", e.Provider) }

// Unwrap returns [ErrNoKey].
func (e *NoKeyError) Unwrap() error { return ErrNoKey }

// Again reports whether the request that failed with err may succeed if it is
// sent again, after at least the returned wait. If nothing listens at the
// address, it reports false, because that rarely changes within seconds.
func Again(err error) (wait time.Duration, ok bool) {
	if e := (*Error)(nil); errors.As(err, &e) {
		wait = e.After
	}
	return wait, errors.Is(err, ErrBusy) || errors.Is(err, ErrCut) || errors.Is(err, ErrNoWay) && !errors.Is(err, syscall.ECONNREFUSED)
}
