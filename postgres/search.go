package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// Search implements [skein.Store].
func (s *Store) Search(ctx context.Context, q skein.Query) (skein.Results, error) {
	return skein.Results{}, errors.New("not built yet")
}
