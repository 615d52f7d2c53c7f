package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// Bin implements [skein.Store].
func (s *Store) Bin(ctx context.Context, id skein.SessionID) error {
	return errors.New("not built yet")
}

// Restore implements [skein.Store].
func (s *Store) Restore(ctx context.Context, id skein.SessionID) error {
	return errors.New("not built yet")
}
