package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// Usage implements [skein.Store].
func (s *Store) Usage(ctx context.Context, q skein.UsageQuery) ([]skein.UsageRow, error) {
	return nil, errors.New("not built yet")
}
