package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/skein-dev/skein"
)

// Feed implements [skein.Store].
func (s *Store) Feed(ctx context.Context, after skein.Cursor) iter.Seq2[skein.Fed, error] {
	return func(yield func(skein.Fed, error) bool) { yield(skein.Fed{}, errors.New("not built yet")) }
}
