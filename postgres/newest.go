package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// Newest implements [skein.Store].
func (s *Store) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) ([]skein.Entry, error) {
	return nil, errors.New("not built yet")
}
