package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/skein-dev/skein"
)

// Sessions implements [skein.Store].
func (s *Store) Sessions(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	return func(yield func(skein.Session, error) bool) { yield(skein.Session{}, errors.New("not built yet")) }
}
