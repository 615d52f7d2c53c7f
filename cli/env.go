package cli

import (
	"context"
	"io"
	"time"

	"github.com/skein-dev/skein"
)

// An Env is all that commands may touch of the world.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       Terminal
	Getenv         func(name string) string
	Getwd          func() (string, error)
	Now            func() time.Time // its location is the zone that times are shown in
	OS             string           // as runtime.GOOS
	Version        string           // of the program

	// Open opens the store of a file or a database. Whoever opened it closes it.
	Open func(ctx context.Context, place Place) (skein.Store, error)

	// Keys makes the terminal of Stdin give each key as it is pressed, Ctrl-C
	// too, and show none; restore undoes that. Nil: it cannot be done.
	Keys func() (restore func() error, err error)

	// Wait waits between two tries of a model request; nil really does.
	Wait func(ctx context.Context, d time.Duration) error

	KeyRing KeyRing // nil: there is none

	// Detach starts this program with args, to go on when this one has ended;
	// nil: it cannot be done.
	Detach func(args ...string) error
}

// A Terminal says which streams are a terminal and how large it is.
type Terminal struct {
	In, Out, Err  bool
	Width, Height int // columns and lines; 0 if not known
}

// A Place says where a store is.
type Place struct {
	Scheme string // sqlite; postgres; https or http: a server has it
	Path   string // absolute path of its file; of a server its URL, of a database its address, which may have a password in it
}

// columns returns the width that output for stdout must fit in; 0 if any does.
func (t Terminal) columns() int {
	if !t.Out {
		return 0
	}
	return cmpOr(t.Width, 80)
}
