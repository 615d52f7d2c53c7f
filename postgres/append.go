package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// Append implements [skein.Store].
func (s *Store) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	return nil, errors.New("not built yet")
}
