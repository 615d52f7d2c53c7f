package config

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/terminal"
)

// An Env is everything outside the program that commands may use.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       Terminal
	Getenv         func(name string) string
	Getwd          func() (string, error)
	Now            func() time.Time // its location is the time zone of what is shown
	OS             string           // like runtime.GOOS
	Version        string           // of the program

	// Open opens the store of a file or a database. The caller closes it.
	Open func(ctx context.Context, place Place) (skein.Store, error)

	// Keys makes the terminal of Stdin deliver each key as it is pressed, also Ctrl-C,
	// without echo; restore undoes that. It is nil if that cannot be done.
	Keys func() (restore func() error, err error)

	// Wait waits between two attempts of a model request; nil means to really wait.
	Wait func(ctx context.Context, d time.Duration) error

	KeyRing KeyRing // nil if there is none

	// Detach starts this program with args, to run on after this process has ended. It
	// is nil if that cannot be done.
	Detach func(args ...string) error
}

// A Terminal says which streams are a terminal and how large it is.
type Terminal struct {
	In, Out, Err  bool
	Width, Height int // columns and lines; 0 if unknown
}

// A Place says where a store is.
type Place struct {
	Scheme string // sqlite, postgres, or https or http for a server
	Path   string // of a file its absolute path, of a server its URL, of a database its address, which may include a password
}

// Columns returns the width that output to stdout must fit in; 0 if there is no
// limit.
func (t Terminal) Columns() int {
	if !t.Out {
		return 0
	}
	return terminal.CmpOr(t.Width, 80)
}

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

// Secret returns a function that looks up keys in the key ring, nil if there is
// none.
func (e *Env) Secret() func(provider string) (string, error) {
	if e.KeyRing == nil {
		return nil
	}
	return e.KeyRing.Key
}
