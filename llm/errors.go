package llm

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// The errors that a caller can do something about.
var (
	ErrBusy    = errors.New("model is busy")              // too many requests, or the provider's own trouble: the same request may do later
	ErrCut     = errors.New("answer broke off")           // the connection, or what came over it: the same request may do
	ErrNoWay   = errors.New("provider cannot be reached") // no connection came about: another URL, or the same one later, may do
	ErrTooLong = errors.New("request is too long")        // fewer messages may do
	ErrDenied  = errors.New("key was turned down")        // another key may do
	ErrNoKey   = errors.New("no key")                     // see NoKeyError
	ErrRequest = errors.New("request was turned down")    // the same one never does
	ErrModel   = errors.New("no such model or provider")  // another name may do
)

// An Error is what a provider, or the way to it, answered in place of a model.
type Error struct {
	Kind    error         // one of this package's errors
	Status  int           // HTTP status; 0 if none came
	Message string        // in the provider's words, at most 4 KB
	Request string        // provider request ID; "" if not known
	After   time.Duration // how long the provider wants to be left alone; 0 if it did not say
	Err     error         // what it came from; nil if nothing
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
	Variables []string // of the environment, any of which would do
}

// Error implements error.
func (e *NoKeyError) Error() string { return fmt.Sprintf("no key for %s", e.Provider) }

// Unwrap returns [ErrNoKey].
func (e *NoKeyError) Unwrap() error { return ErrNoKey }

// Again reports whether the request that failed with err may do if it is sent
// again, after at least the wait that it returns. Where nothing listens, nothing
// will in a few seconds.
func Again(err error) (wait time.Duration, ok bool) {
	if e := (*Error)(nil); errors.As(err, &e) {
		wait = e.After
	}
	return wait, errors.Is(err, ErrBusy) || errors.Is(err, ErrCut) || errors.Is(err, ErrNoWay) && !errors.Is(err, syscall.ECONNREFUSED)
}
