package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// Window implements [skein.Store].
func (s *Store) Window(ctx context.Context, id skein.SessionID, n int) ([]skein.Event, error) {
	return nil, errors.New("not built yet")
}
