package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/skein-dev/skein"
)

// Watch implements [skein.Store].
func (s *Store) Watch(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) { yield(skein.Event{}, errors.New("not built yet")) }
}
