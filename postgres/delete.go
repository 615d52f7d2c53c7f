package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// Delete implements [skein.Store].
func (s *Store) Delete(ctx context.Context, id skein.SessionID, d skein.Deletion) (skein.Deleted, error) {
	return skein.Deleted{}, errors.New("not built yet")
}
