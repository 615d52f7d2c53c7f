package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// Scrub implements [skein.Store].
func (s *Store) Scrub(ctx context.Context, id skein.SessionID, secrets []string) (skein.Scrubbed, error) {
	return skein.Scrubbed{}, errors.New("not built yet")
}
