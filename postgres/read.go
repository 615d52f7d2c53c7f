package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/skein-dev/skein"
)

// Session implements [skein.Store].
func (s *Store) Session(ctx context.Context, id skein.SessionID) (x skein.Session, err error) {
	return x, errors.New("not built yet")
}

// Events implements [skein.Store].
func (s *Store) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) { yield(skein.Event{}, errors.New("not built yet")) }
}
