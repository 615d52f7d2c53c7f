package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// Blob implements [skein.Store].
func (s *Store) Blob(ctx context.Context, id skein.SessionID, h skein.Hash) ([]byte, error) {
	return nil, errors.New("not built yet")
}
