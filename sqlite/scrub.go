package sqlite

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// Scrub implements [skein.Store].
func (s *Store) Scrub(ctx context.Context, id skein.SessionID, secrets []string) (done skein.Scrubbed, err error) {
	defer skein.Wrapf(&err, "sqlite: scrub %s", id)
	return done, errors.New("not built yet")
}
